/// Functions that tell whether a file is synced, which is decided when the file is made, and that choose the handle
/// which syncs it.
extension Database {
  /// Whether the file is synced: its changes are recorded for other files (`DatabaseOptions.History`).
  ///
  /// - Throws: what `snapshot()` throws; `.corrupted`.
  public func isSynced() throws(StorageError) -> Bool {
    let snapshot = try snapshot()
    return try snapshot.changelog() != nil
  }

  /// Makes an empty file a synced one if the options ask for that.
  ///
  /// - Throws: `.otherHistory` if the file is not what the options say.
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

  /// Whether the newest version belongs to a synced file; nil for an empty file, and if the version can't be read: the
  /// readers of the damaged part get the error. An opening handle pins no version yet, and this function pins one only
  /// at its last try. So a version whose pages are reused meanwhile may look damaged. Then the function reads again.
  private func newestIsSynced() -> Bool? {
    for _ in 0..<Self.mostLooks {
      guard let version = try? held.published(), !version.root.isNull else { return nil }
      let found = try? isSynced(version)
      if held.block.current.number == version.number { return found }
    }
    return try? isSynced()
  }
  private static let mostLooks = 4

  /// Makes this handle the one that has the session with the file's server, until it resigns or is closed. To its server a file
  /// is one client, whichever handles have it open.
  ///
  /// - Returns: false if another handle, of this process or another one, has the session.
  /// - Throws: `.forked`; `.system`.
  package func becomeSyncAgent() throws(StorageError) -> Bool {
    guard !isForked else { throw .forked(path: path) }
    return try store.storage.lock(.syncAgent, waits: false)
  }

  /// Lets another handle take over the session. A handle of a synced file tries it whenever its wait for a commit ends, which is
  /// at least once a second.
  package func resignAsSyncAgent() {
    guard !isForked else { return }
    store.storage.unlock(.syncAgent)
  }

  private func isSynced(_ version: Version) throws(StorageError) -> Bool {
    try store.reserve(version.end)
    let access = store.access(below: version.end)
    return try StoredChangelog(Catalogue(version.root, access), access) != nil
  }
}

extension Snapshot {
  /// The changesets that are not acknowledged yet; nil if the file is not synced.
  package func changelog() throws(StorageError) -> StoredChangelog? {
    try StoredChangelog(Catalogue(root, access()), access())
  }
}
