import Synchronization

extension MetaPage {
  /// The one place where a meta page is written to a file that there is; a new file begins with both.
  func write(on page: Int, of storage: any Storage, cipher: NodeCipher?) throws(StorageError) {
    try storage.write(encoded(cipher: cipher), at: UInt64(page * FilePlace.page))
  }
}

/// Writes the meta pages of a file that is open: by who leads commits, or is inside the gate while nothing is on its way.
final class MetaPageWriter: Sendable {
  let constants: MetaPage.Constants
  private let recovery: Mutex<RecoveryStamp>

  init(_ constants: MetaPage.Constants, _ last: RecoveryStamp) {
    self.constants = constants
    recovery = Mutex(last)
  }

  /// The file was recovered by this process.
  func noteRecovery(_ stamp: RecoveryStamp) { recovery.withLock { $0 = stamp } }

  /// - Parameter durable: the version that is surely on the disk then.
  func write(
    _ version: Version, on page: Int, durable: UInt64, isClean: Bool, _ context: WriterContext
  ) throws(StorageError) {
    let stamp = recovery.withLock { $0 }
    let meta = MetaPage(
      constants: constants, version: version, greatest: context.control.greatest, durable: durable,
      isClean: isClean, time: Clock.now, identity: context.storage.identity, recoveryTime: stamp.time,
      recoveredTo: stamp.version)
    try meta.write(on: page, of: context.storage, cipher: context.store.cipher)
    context.counters.metaBytes.wrappingAdd(FilePlace.page, ordering: .relaxed)
  }
}

extension MetaPair {
  /// The last recovery that the pages tell of.
  var lastRecovery: RecoveryStamp {
    let last = pages.compactMap { $0 }.max { $0.recoveryTime < $1.recoveryTime }
    return RecoveryStamp(time: last?.recoveryTime ?? 0, version: last?.recoveredTo ?? 0)
  }
}

/// When a file was recovered last, by passing over a meta page, and to which version; zero for never.
struct RecoveryStamp: Sendable {
  var time: UInt64
  var version: UInt64
}
