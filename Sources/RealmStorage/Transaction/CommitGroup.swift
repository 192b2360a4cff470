/// The versions whose nodes are written and that no meta page names yet, and the one thread that leads them to disk.
///
/// A thread that has made its version pending lets the next one write. Then the first of those that wait leads: it
/// writes the meta page of the newest pending version, syncs once for all that are before it, and tells each its fate;
/// what became pending meanwhile waits for the next leader.
final class CommitGroup: Sendable {
  /// A version on its way.
  final class Pending: @unchecked Sendable {
    // Sendable: `fate` and `call` are reached under the group's lock only, all else never changes.
    let version: Version
    let durability: Durability
    /// Its nodes, and all they lead to, were synced before.
    let isSynced: Bool
    /// It must be synced whatever was asked, or too much would wait for a sync.
    let mustSync: Bool
    let bytes: Int
    fileprivate var fate: Result<Void, StorageError>?
    /// Where its thread waits: until the fate is known, or it is its turn to lead.
    fileprivate var call: Monitor<Bool>?

    init(_ version: Version, _ durability: Durability, isSynced: Bool, mustSync: Bool, bytes: Int) {
      self.version = version
      self.durability = durability
      self.isSynced = isSynced
      self.mustSync = mustSync
      self.bytes = bytes
    }
  }

  private struct State {
    /// Oldest first.
    var pending: [Pending] = []
    var isLed = false
  }
  private let state = Monitor(State())

  /// The newest version on its way, which the next transaction builds on.
  var newest: Version? { state.withLock { $0.pending.last?.version } }
  /// Numbers of the versions on their way: nothing they reach is overwritten.
  var holders: [UInt64] { state.withLock { $0.pending.map { $0.version.number } } }
  var isIdle: Bool { state.withLock { $0.pending.isEmpty && !$0.isLed } }
  /// Bytes on their way that no sync has reached.
  var bytes: Int { state.withLock { $0.pending.reduce(0) { $0 + $1.bytes } } }

  func add(_ pending: Pending) { state.withLock { $0.pending.append(pending) } }

  /// Waits until nothing is on its way.
  func waitUntilIdle() { state.wait { $0.pending.isEmpty && !$0.isLed ? () : nil } }

  /// Waits until a version is not on its way any more.
  func waitUntilGone(_ version: UInt64) {
    state.wait { state in state.pending.contains { $0.version.number == version } ? nil : () }
  }

  private enum Turn {
    case known
    case leads([Pending])
    case waits(Monitor<Bool>)
  }

  /// Waits for a version's fate; leads where nobody does.
  ///
  /// `lead` makes what it is given durable and published, as far as each asks, or tells why it could not. Each thread is
  /// woken by itself: of many that wait, most would find that nothing has changed for them.
  func finish(_ own: Pending, lead: ([Pending]) -> Result<Void, StorageError>) throws(StorageError) {
    while true {
      switch turn(of: own) {
      case .known: return try own.fate?.get() ?? ()
      case .leads(let covered): settle(covered, lead(covered))
      case .waits(let call): call.wait { (isCalled: inout Bool) -> Void? in isCalled ? () : nil }
      }
    }
  }

  private func turn(of own: Pending) -> Turn {
    state.withLock { state in
      if own.fate != nil { return .known }
      guard state.isLed else {
        state.isLed = true
        return .leads(state.pending)
      }
      let call = Monitor(false)
      own.call = call
      return .waits(call)
    }
  }

  private func settle(_ covered: [Pending], _ fate: Result<Void, StorageError>) {
    let calls = state.change { state in
      for pending in covered { pending.fate = fate }
      state.pending.removeFirst(covered.count)
      state.isLed = false
      // The next to lead first.
      return (state.pending.prefix(1) + covered).compactMap { $0.call }
    }
    for call in calls { call.change { $0 = true } }
  }
}
