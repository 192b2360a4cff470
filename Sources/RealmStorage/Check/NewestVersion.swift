/// The version that the newest sound meta page names, even if nodes of it are damaged.
///
/// If the newest version is damaged, a crash may have cut it short, and opening the database takes an older version or
/// fails. To salvage the content of the newest version, this class reads it as it is. Each node is verified when it is
/// touched, as usual.
package final class NewestVersion: NodeReader {
  private let storage: FileStorage
  private let store: NodeStore
  private let version: Version
  /// The offset below which nodes are read: the end of the version, or of the file if the file is shorter.
  private let end: UInt64

  /// - Throws: The errors of opening a database, except for damage of the nodes that the meta pages lead to.
  package static func open(path: String, key: [UInt8]?) throws(StorageError) -> NewestVersion {
    let storage = try FileStorage(path: path, readOnly: true)
    let opened = Result { () throws(StorageError) in try NewestVersion(storage, key: key) }
    if case .failure = opened { leave(storage) }
    return try opened.get()
  }

  private init(_ storage: FileStorage, key: [UInt8]?) throws(StorageError) {
    self.storage = storage
    // This reader is in no table of readers. While it holds this lock, a writer takes no page that was in use.
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

  /// Removes the files that this reader made beside the database, and closes it.
  private static func leave(_ storage: FileStorage) {
    storage.removeOwnCompanions()
    storage.close()
  }

  package var root: Ref { version.root }

  @_lifetime(borrow self)
  package func access() -> NodeAccess { NodeAccess(store.reach(below: end), keptBy: self) }
}
