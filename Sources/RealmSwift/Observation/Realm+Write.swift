import RealmStorage

extension Realm {
  /// The kinds of failure that a commit survives once it has returned. Each commit survives the death of its process, and
  /// every realm of every process sees it.
  public enum Durability: Sendable {
    /// The commit survives a loss of power. It waits for the disk.
    case full
    /// The commit does not wait for the disk. A loss of power may take it back, and with it all commits after it: the
    /// file then holds the last version that was durable, and never a mixture of two. The commit becomes durable with
    /// the next `full` one, with `Realm.flush()`, or when a process closes its last realm of the file.
    case relaxed

    fileprivate var ofEngine: RealmStorage.Durability {
      switch self {
      case .full: .full
      case .relaxed: .relaxed
      }
    }
  }

  /// Calls `block` in a write transaction on the newest version, and commits the transaction, which then survives a
  /// loss of power. If `block` throws, nothing is changed and the error is thrown on. `block` may commit or cancel the
  /// transaction by itself.
  ///
  /// The call waits for the transactions of other threads. Before the transaction begins, observers of this realm are
  /// told what others have written.
  ///
  /// - Parameter tokens: tokens of observers of this realm that are not told of the transaction.
  /// - Throws: what `block` throws; `Realm.Error` if the transaction could not be begun or committed: then nothing of
  ///   it is kept.
  @discardableResult
  public func write<Result>(
    withoutNotifying tokens: [NotificationToken] = [], _ block: () throws -> Result
  ) throws -> Result {
    try write(.full, withoutNotifying: tokens, block)
  }

  /// Calls `block` in a write transaction as `write(withoutNotifying:_:)` does, and commits the transaction with the
  /// durability that is named.
  ///
  /// - Parameters:
  ///   - durability: `.relaxed` is for writes that can be made again, for example a cache or a position in a list: the
  ///     call does not wait for the disk.
  ///   - tokens: tokens of observers of this realm that are not told of the transaction.
  /// - Throws: what `block` throws; `Realm.Error` if the transaction could not be begun or committed: then nothing of
  ///   it is kept.
  @discardableResult
  public func write<Result>(
    _ durability: Durability, withoutNotifying tokens: [NotificationToken] = [], _ block: () throws -> Result
  ) throws -> Result {
    try session.beginWrite(whereVersions: view.configuration.maximumNumberOfActiveVersions)
    let result: Result
    do {
      result = try block()
    } catch {
      if isInWriteTransaction { session.cancelWrite() }
      throw error
    }
    if isInWriteTransaction { try commitWrite(durability, withoutNotifying: tokens) }
    return result
  }

  /// Commits the open write transaction. The commit survives a loss of power when this has returned.
  ///
  /// - Parameter tokens: tokens of observers of this realm that are not told of the transaction.
  /// - Throws: `Realm.Error`; nothing of the transaction is then kept.
  /// - Precondition: a write transaction is open; else the program stops.
  public func commitWrite(withoutNotifying tokens: [NotificationToken] = []) throws {
    try commitWrite(.full, withoutNotifying: tokens)
  }

  /// Commits the open write transaction with the durability that is named.
  ///
  /// - Parameter tokens: tokens of observers of this realm that are not told of the transaction.
  /// - Throws: `Realm.Error`; nothing of the transaction is then kept.
  /// - Precondition: a write transaction is open; else the program stops.
  public func commitWrite(
    _ durability: Durability, withoutNotifying tokens: [NotificationToken] = []
  ) throws {
    try session.commitWrite(durability.ofEngine, passing: tokens)
  }

  /// Makes all commits of this realm's file durable, also `relaxed` ones and those of other processes: they survive a
  /// loss of power when this has returned. The call waits for the transactions of other threads and processes, and for
  /// the disk. It does nothing if all commits are durable, for a realm in memory, and for one that is opened for
  /// reading only.
  ///
  /// - Throws: `Realm.Error` if the disk fails. Whether the commits that were not durable are kept is then known when
  ///   the file is opened again.
  /// - Precondition: no write transaction of this file is open on this thread. If it is one of this realm, the program
  ///   stops; else the call never returns.
  public func flush() throws { try session.flush() }
}

extension RealmSession {
  /// Commits without calling the observers of some tokens.
  fileprivate func commitWrite(_ durability: Durability, passing tokens: [NotificationToken]) throws {
    let passed = tokens.compactMap { $0.observation }.filter { $0.life.session === self }
    let durability = file.isInMemory ? .full : durability
    if passed.isEmpty { return try commitWrite(durability) }
    let hub = file.hub
    try watched(by: hub).passing { try hub.pass(passed, self) { try commitWrite(durability) } }
  }

  fileprivate func flush() throws {
    check()
    guard transaction == nil else {
      raise(
        "Write transaction open",
        "flush waits for the end of write transactions: commit or cancel this one before.")
    }
    guard !file.isInMemory else { return }
    do throws(StorageError) {
      try file.database.flush()
    } catch {
      throw Realm.Error(unsureCommit: error)
    }
  }
}
