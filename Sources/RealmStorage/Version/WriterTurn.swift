#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A process's turn with the writer's lock: how long it is, and who comes next.
///
/// If a lock is given up, the system gives it to the process that asks first. That is the process that is running, not
/// the process that was waiting and has to wake up. So a process that has had the lock waits a moment for those that
/// wait already.
struct WriterTurn {
  private var versions = 0
  private var start: UInt64 = 0
  /// Whether others waited when the lock was last given up.
  private var owesTurn = false

  private static let mostVersions = 64
  private static let longest: UInt64 = 20_000_000
  /// The time after which a participant that said that it waits is taken for dead or stopped, in nanoseconds. It is
  /// then not waited for again for the time `disregard`.
  private static let patience: UInt64 = 5_000_000
  private static let disregard: UInt64 = 1_000_000_000
  private var ignoresUntil: UInt64 = 0

  /// Whether others have waited long enough.
  var isOver: Bool { versions >= Self.mostVersions || Clock.steady &- start > Self.longest }

  mutating func lock(_ storage: any Storage, _ held: HeldVersions) throws(StorageError) {
    if owesTurn { letOthersGo(storage, held) }
    if try !storage.lock(.writer, waits: false) {
      held.participants.setWaiting(true, held.participant)
      defer { held.participants.setWaiting(false, held.participant) }
      _ = try storage.lock(.writer, waits: true)
    }
    begin()
  }

  /// Takes the lock if nobody has it and no participant that is owed the turn waits for it. Returns whether it was
  /// taken.
  mutating func lockIfFree(_ storage: any Storage, _ held: HeldVersions) throws(StorageError) -> Bool {
    if owesTurn, held.participants.othersWait(than: held.participant) { return false }
    guard try storage.lock(.writer, waits: false) else { return false }
    begin()
    return true
  }

  private mutating func begin() {
    versions = 0
    start = Clock.steady
  }

  private mutating func letOthersGo(_ storage: any Storage, _ held: HeldVersions) {
    guard Clock.steady >= ignoresUntil else { return }
    let deadline = Clock.steady &+ Self.patience
    while held.participants.othersWait(than: held.participant) {
      // One of the others has the lock, so the lock itself must be waited for.
      if storage.isHeldElsewhere(.writer) { return }
      guard Clock.steady < deadline else {
        ignoresUntil = Clock.steady &+ Self.disregard
        return held.strikeOffTheDead()
      }
      sched_yield()
    }
  }

  mutating func end(_ storage: any Storage, _ held: HeldVersions) {
    owesTurn = held.participants.othersWait(than: held.participant)
    storage.unlock(.writer)
  }

  mutating func countVersion() { versions += 1 }
}
