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

  /// Begins a transaction if that is possible without waiting. Returns whether it has begun one.
  ///
  /// - Parameter isTurn: whether a waiter was called, which may take the lock that was asked for.
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

  /// Commits so that all realms see the changes. They may not survive a loss of power yet.
  func commitRelaxed() throws { try commitWrite(file.isInMemory ? .full : .relaxed) }

  /// Calls `body`, which begins a transaction. If it throws, the next transaction that waits may begin.
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
