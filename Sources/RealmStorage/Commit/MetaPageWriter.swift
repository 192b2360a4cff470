import Synchronization

extension MetaPage {
  /// Writes the meta page to an existing file. This is the only place that does so; a new file is made with both pages.
  func write(on page: Int, of storage: any Storage, cipher: NodeCipher?) throws(StorageError) {
    try storage.write(encoded(cipher: cipher), at: UInt64(page * FilePlace.page))
  }
}

/// Writes the meta pages of an open file. Its caller is the leader of commits, or a thread that is inside the gate
/// while no commit is in progress.
final class MetaPageWriter: Sendable {
  let constants: MetaPage.Constants
  private let recovery: Mutex<RecoveryStamp>

  init(_ constants: MetaPage.Constants, _ last: RecoveryStamp) {
    self.constants = constants
    recovery = Mutex(last)
  }

  /// Notes that this process has recovered the file.
  func noteRecovery(_ stamp: RecoveryStamp) { recovery.withLock { $0 = stamp } }

  /// - Parameter durable: the number of the version that the page names as durable. The disk must surely hold this
  ///   version if it holds the page.
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
  /// The last recovery that the pages record.
  var lastRecovery: RecoveryStamp {
    let last = pages.compactMap { $0 }.max { $0.recoveryTime < $1.recoveryTime }
    return RecoveryStamp(time: last?.recoveryTime ?? 0, version: last?.recoveredTo ?? 0)
  }
}

/// The time of the last recovery that passed over a meta page, in nanoseconds since 1970, and the version that it
/// opened. Both are zero if there was none.
struct RecoveryStamp: Sendable {
  var time: UInt64
  var version: UInt64
}
