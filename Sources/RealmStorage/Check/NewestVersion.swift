/// The version that the newest sound meta page names, whether it is whole or not.
///
/// Opening a database takes an older version, or none, where the newest is damaged and may have been cut short by a crash. Who
/// wants to salvage what the newest one holds reads it as it is: each node is verified when it is touched, as ever.
package final class NewestVersion: NodeReader {
  private let storage: FileStorage
  private let store: NodeStore
  private let version: Version
  /// The offset below which nodes are read: the end of the version, or of the file where that is shorter.
  private let end: UInt64

  /// - Throws: as opening a database, but for damage of what the meta pages name.
  package static func open(path: String, key: [UInt8]?) throws(StorageError) -> NewestVersion {
    let storage = try FileStorage(path: path, readOnly: true)
    let opened = Result { () throws(StorageError) in try NewestVersion(storage, key: key) }
    if case .failure = opened { leave(storage) }
    return try opened.get()
  }

  private init(_ storage: FileStorage, key: [UInt8]?) throws(StorageError) {
    self.storage = storage
    // It is in no table of readers, so that who writes must take no page that was in use.
    _ = try storage.lock(.unlistedReader, waits: true)
    let meta = try MetaPair(storage: storage, key: key)
    let newest = meta.pages.compactMap { $0?.version }.max { $0.number < $1.number }
    guard let newest else { throw MetaPair.noPage(.metaPages, path: storage.path) }
    version = newest
    let length = try storage.length()
    end = min(newest.end, length - length % UInt64(FilePlace.page))
    store = try NodeStore(
      storage: storage, cipher: meta.cipher, validators: .all, decryptedLimit: SystemMemory.bytes / 4)
    try store.reserve(end)
  }

  deinit { Self.leave(storage) }

  /// Nothing stays beside the file that was not there.
  private static func leave(_ storage: FileStorage) {
    storage.removeOwnCompanions()
    storage.close()
  }

  package var root: Ref { version.root }

  @_lifetime(borrow self)
  package func access() -> NodeAccess { NodeAccess(store.reach(below: end), keptBy: self) }
}
