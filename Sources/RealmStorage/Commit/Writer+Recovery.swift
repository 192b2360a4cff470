import Synchronization

/// A writer recovers the file here after another writer has died, or failed.
extension Writer {
  /// Another writer died, or failed, since this one wrote last. Others may be reading.
  func recover() throws(StorageError) {
    let meta = try MetaPair(storage: storage, key: key)
    guard meta.constants == constants else { throw .notARealmFile(path: storage.path) }
    let recovery = Recovery(storage: storage, store: store, meta: meta)
    try store.reserve(storage.length())
    let found = try recovery.run(tables, isAlone: false)
    try recovery.publish(found, in: tables, holders: held.holders)
    held.named.withLock { $0 = NamedVersions() }
    held.wake()
    if found.rejectedPage { self.recovery = (Clock.now, found.version.number) }
    if found.mustRewrite { try rewrite(bornAfter: found.durable) }
    owesRecovery = false
  }

  /// Writes what was born after `durable` again, as a new version, and makes it durable.
  ///
  /// The pages are behind the end of the file: a meta page that vouches for itself may come back that names what was
  /// written again before, and then again, and whose pages nobody holds any more.
  ///
  /// For a successor that finds a sync begun and its outcome never noted: an error may have been seen by nobody, and
  /// the cache then holds nodes that the disk does not. The system tells the next sync of an error that nobody saw, so
  /// that what others have pinned expires only where there was one.
  private func rewrite(bornAfter durable: Version) throws(StorageError) {
    isRewriting = true
    defer { isRewriting = false }
    control.noteRewriting(after: durable.number)
    let base = try beginLocked()
    let root = try editor.copy(base.root, bornAfter: durable.number)
    _ = try finish(seal(root: root, tables: nil, added: 0, durability: .full))
    control.sync = .none
  }

  /// The same for who has just opened the file, alone, and holds the lock for the writer.
  func finishRecovery(_ found: Recovery.Outcome) throws(StorageError) {
    gate.enter()
    defer { gate.leave() }
    try rewrite(bornAfter: found.durable)
    control.inWrite = false
  }
}
