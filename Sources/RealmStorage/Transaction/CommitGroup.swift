/// The versions whose nodes are written and that no meta page names yet, and the one thread that leads them to disk.
///
/// A thread that has made its version pending lets the next one write. Then the first of those that wait leads: it
/// writes the meta page of the newest pending version, syncs once for all that are before it, and tells each its fate;
/// what became pending meanwhile waits for the next leader.
final class CommitGroup: Sendable {
  /// A version on its way.
  final class Pending: @unchecked Sendable {
    // Sendable: `fate` is reached under the group's lock only, all else never changes.
    let version: Version
    let durability: Durability
    /// Its nodes, and all they lead to, were synced before.
    let isSynced: Bool
    /// It must be synced whatever was asked, or too much would wait for a sync.
    let mustSync: Bool
    let bytes: Int
    fileprivate var fate: Result<Void, StorageError>?

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

  /// Waits for a version's fate; leads where nobody does.
  ///
  /// `lead` makes what it is given durable and published, as far as each asks, or tells why it could not.
  func finish(_ own: Pending, lead: ([Pending]) -> Result<Void, StorageError>) throws(StorageError) {
    let covered: [Pending] = state.wait { state in
      if own.fate != nil { return [] }
      guard !state.isLed else { return nil }
      state.isLed = true
      return state.pending
    }
    if !covered.isEmpty {
      let fate = lead(covered)
      state.change { state in
        for pending in covered { pending.fate = fate }
        state.pending.removeFirst(covered.count)
        state.isLed = false
      }
    }
    try own.fate?.get()
  }
}
