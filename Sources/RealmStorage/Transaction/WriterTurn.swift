#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A process's turn with the writer's lock: how long it is, and who comes next.
///
/// The system lets whoever asks first have a lock that was given up, and that is the one that is running, not the one
/// that was waiting and has to wake. So who has had the lock waits a moment for those who wait already.
struct WriterTurn {
  private var versions = 0
  private var start: UInt64 = 0
  /// Others waited when the lock was given up last.
  private var owesTurn = false

  private static let mostVersions = 64
  private static let longest: UInt64 = 20_000_000
  /// After so long whoever said that it waits is taken for gone.
  private static let patience: UInt64 = 5_000_000

  /// Others have waited for long enough.
  var isOver: Bool { versions >= Self.mostVersions || Clock.now &- start > Self.longest }

  mutating func lock(_ storage: any Storage, _ held: HeldVersions) throws(StorageError) {
    if owesTurn { letOthersGo(storage, held) }
    if try !storage.lock(.writer, waits: false) {
      held.participants.setWaiting(true, held.participant)
      defer { held.participants.setWaiting(false, held.participant) }
      _ = try storage.lock(.writer, waits: true)
    }
    versions = 0
    start = Clock.now
  }

  private func letOthersGo(_ storage: any Storage, _ held: HeldVersions) {
    let deadline = Clock.now &+ Self.patience
    while held.participants.othersWait(than: held.participant) {
      // One of them has it: the lock itself is to be waited for.
      if storage.isHeldElsewhere(.writer) { return }
      guard Clock.now < deadline else { return held.strikeOffTheDead() }
      sched_yield()
    }
  }

  mutating func end(_ storage: any Storage, _ held: HeldVersions) {
    owesTurn = held.participants.othersWait(than: held.participant)
    storage.unlock(.writer)
  }

  mutating func countVersion() { versions += 1 }
}
