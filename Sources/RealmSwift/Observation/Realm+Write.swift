extension Realm {
  /// Calls `block` in a write transaction on the newest version, and commits it; where `block` throws, nothing is changed
  /// and the error is thrown on. `block` may commit or cancel by itself.
  ///
  /// Waits for the transactions of other threads. Before it begins, observers of this realm are told of what others have written.
  ///
  /// - Parameter tokens: of observers of this realm that are not told of the transaction.
  /// - Throws: what `block` throws; `Realm.Error` when the transaction could not be begun or committed: then nothing of
  ///   it is kept.
  @discardableResult
  public func write<Result>(
    withoutNotifying tokens: [NotificationToken] = [], _ block: () throws -> Result
  ) throws -> Result {
    try session.beginWrite(whereVersions: view.configuration.maximumNumberOfActiveVersions)
    let result: Result
    do {
      result = try block()
    } catch {
      if isInWriteTransaction { session.cancelWrite() }
      throw error
    }
    if isInWriteTransaction { try commitWrite(withoutNotifying: tokens) }
    return result
  }

  /// Commits the open write transaction. What returned survives a loss of power.
  ///
  /// - Throws: `Realm.Error`; nothing of the transaction is then kept.
  ///
  /// - Parameter tokens: of observers of this realm that are not told of the transaction.
  public func commitWrite(withoutNotifying tokens: [NotificationToken] = []) throws {
    try session.commitWrite(passing: tokens)
  }
}

extension RealmSession {
  /// Commits, of which some observers are not told.
  fileprivate func commitWrite(passing tokens: [NotificationToken]) throws {
    let passed = tokens.compactMap { $0.observation }.filter { $0.life.session === self }
    if passed.isEmpty { return try commitWrite() }
    let hub = file.hub
    try watched(by: hub).passing { try hub.pass(passed, self) { try commitWrite() } }
  }
}
