import RealmStorage

/// Write transactions that begin later.
extension RealmSession {
  /// The transactions that begin later.
  var asyncWrites: AsyncWrites {
    if let pendingWrites { return pendingWrites }
    let made = AsyncWrites()
    pendingWrites = made
    return made
  }

  /// Begins a transaction where nobody has to be waited for; answers whether it did.
  ///
  /// - Parameter isTurn: it is for a waiter that was called, which may take the lock that was asked for.
  func beginIfFree(isTurn: Bool, whereVersions most: UInt?) throws -> Bool {
    guard transaction == nil else { return false }
    return try passingOnFailure {
      try checkActiveVersions(most)
      observers?.willWrite()
      guard transaction == nil else { return false }
      return try begin { () throws(StorageError) in
        if isTurn { return try pendingWrites?.takeTurn() }
        return pendingWrites?.isFree ?? true ? try file.database.beginWriteIfFree() : nil
      }
    }
  }

  /// Commits so that all see it; it is not sure yet to survive a loss of power.
  func commitRelaxed() throws { try commitWrite(file.isInMemory ? .full : .relaxed) }

  /// Where a transaction does not begin, the next that waits does.
  @discardableResult
  func passingOnFailure<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch {
      pendingWrites?.passOn(self)
      throw error
    }
  }
}
