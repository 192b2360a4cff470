/// Whether a file is synced, which is decided when it is made, and who syncs it.
extension Database {
  /// Whether what is written to the file is recorded for others (`DatabaseOptions.History`).
  ///
  /// - Throws: what `snapshot` throws; `.corrupted`.
  public func isSynced() throws(StorageError) -> Bool {
    let snapshot = try snapshot()
    return try snapshot.changelog() != nil
  }

  /// Makes an empty file a synced one, where that is asked for; throws where the file is not what it is opened as.
  func begin(_ history: DatabaseOptions.History) throws(StorageError) {
    guard history != .any else { return }
    do throws(StorageError) {
      if history == .synced, writer != nil, try held.published().root.isNull {
        let transaction = try beginWrite()
        defer { transaction.cancel() }
        if transaction.base.root.isNull {
          try transaction.becomeSynced()
          try transaction.commit(.relaxed)
        }
      }
      guard let isSynced = newestIsSynced(), isSynced != (history == .synced) else { return }
      throw .otherHistory(isSynced: isSynced, path: path)
    } catch {
      abandon()
      throw error
    }
  }

  /// Whether the newest version is of a synced file; nil of an empty file, and where that can't be read, which is told by who reads it. Holds no version, as who opens a file
  /// has held none so far: one that is given up meanwhile may read as damage.
  private func newestIsSynced() -> Bool? {
    for _ in 0..<Self.mostLooks {
      guard let version = try? held.published(), !version.root.isNull else { return nil }
      let found = try? isSynced(version)
      if held.block.current.number == version.number { return found }
    }
    return try? isSynced()
  }
  private static let mostLooks = 4

  /// Makes this handle the one that has a session with the file's server, until it resigns or is closed; answers false where another handle is, of this process or
  /// another. To its server a file is one client, whoever has it open.
  ///
  /// - Throws: `.forked`; `.system`.
  package func becomeSyncAgent() throws(StorageError) -> Bool {
    guard !isForked else { throw .forked(path: path) }
    return try store.storage.lock(.syncAgent, waits: false)
  }

  /// Another handle may become the one that has a session. Those that wait for commits are woken, so that they can try it.
  package func resignAsSyncAgent() {
    guard !isForked else { return }
    store.storage.unlock(.syncAgent)
    wakeWaiting()
  }

  private func isSynced(_ version: Version) throws(StorageError) -> Bool {
    try store.reserve(version.end)
    let access = store.access(below: version.end)
    return try StoredChangelog(Catalogue(version.root, access), access) != nil
  }
}

extension Snapshot {
  /// The changesets that are not acknowledged yet; nil for a file that is not synced.
  ///
  /// - Throws: `.corrupted`.
  package func changelog() throws(StorageError) -> StoredChangelog? {
    try StoredChangelog(Catalogue(root, access()), access())
  }
}
