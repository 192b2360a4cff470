/// Transactions that were committed and are on their way to disk, and the one thread that leads them there.
///
/// A thread that commits leaves its changes in memory, sealed, and lets the next one build on them. Then the first of
/// those that wait leads: it writes all that is sealed as one version and the meta page that names it, syncs once, and
/// tells each its fate; what is sealed meanwhile waits for the next leader. So of many threads each pays for its own
/// changes, and one of them for the disk.
final class CommitGroup: Sendable {
  /// A transaction on its way.
  final class Pending: @unchecked Sendable {
    // Sendable: `fate` and `side` are reached under the group's lock only, all else never changes.
    /// Given to it when it began; its version has this number or, where others were sealed upon it, a later one.
    let number: UInt64
    let durability: Durability
    /// The version it is part of.
    fileprivate var fate: Result<UInt64, StorageError>?
    /// Which of the group's signals its thread waits for.
    fileprivate var side = 0

    init(_ number: UInt64, _ durability: Durability) {
      self.number = number
      self.durability = durability
    }
  }

  /// Transactions one upon another that nobody has begun to write: they become one version.
  struct Sealed: Sendable {
    /// What the newest made of the tree, in memory.
    var root: Ref
    /// Nodes that they no longer reach, of the file and of what was sealed before.
    var freed: [Ref]
    /// Rows and entries that there are more than before.
    var added: Int
    /// Of the nodes they made, those included that a later one no longer reaches.
    var bytes: Int
    /// Oldest first.
    var members: [Pending]
    /// Recovery writes a version again (`Recovery`, rule 5): the mark that this is to be done stays, whatever is synced meanwhile.
    var isRewriting = false

    var number: UInt64 { members.last?.number ?? 0 }
  }

  /// A version whose nodes are written.
  struct Written: Sendable {
    let version: Version
    let members: [Pending]
    let bytes: Int
    /// Its nodes, and all they lead to, were synced before.
    let isSynced: Bool
    var unsyncedBytes: Int { isSynced ? 0 : bytes }
    /// It must be synced whatever was asked, or too much would wait for a sync.
    let mustSync: Bool
    /// A meta page was written that names it.
    let isNamed: Bool
    /// See `Sealed.isRewriting`.
    let isRewriting: Bool
  }

  private struct State {
    var sealed: Sealed?
    /// What the leader is writing.
    var writing: Sealed?
    /// Oldest first.
    var written: [Written] = []
    var isLed = false
    /// Of what is added from now on.
    var side = 0
    /// Why nothing can be built on what was sealed, after a write that failed.
    var failure: StorageError?

    var isIdle: Bool { sealed == nil && writing == nil && written.isEmpty && !isLed }
  }
  private let state = Monitor(State())
  /// Threads wait until the fate of their transaction is known, or it is their turn to lead: those whose transactions are
  /// being written for one signal, those that came since for the other. So all of a version are woken by one call, and most
  /// often no others.
  private let signals = [Signal(), Signal()]

  /// What the next transaction builds on, where something is on its way.
  enum Newest {
    case sealed(root: Ref, Pending)
    case written(Version, Pending?)
  }

  var newest: Newest? {
    state.withLock { state in
      if let sealed = state.sealed ?? state.writing, let last = sealed.members.last {
        return .sealed(root: sealed.root, last)
      }
      return state.written.last.map { .written($0.version, $0.members.last) }
    }
  }
  /// Numbers of the versions on their way: nothing they reach is overwritten.
  var holders: [UInt64] {
    var holders: [UInt64] = []
    addHolders(to: &holders)
    return holders
  }
  func addHolders(to holders: inout [UInt64]) {
    state.withLock { state in
      for written in state.written { holders.append(written.version.number) }
    }
  }
  var isIdle: Bool { state.withLock { $0.isIdle } }
  /// Bytes of nodes that are in memory until it is their turn.
  var sealedBytes: Int { state.withLock { ($0.sealed?.bytes ?? 0) + ($0.writing?.bytes ?? 0) } }
  /// Bytes of nodes that are written and that no sync has reached.
  var unsyncedBytes: Int { state.withLock { $0.written.reduce(0) { $0 + $1.unsyncedBytes } } }
  /// The versions that are next to be published, oldest first.
  var written: [Written] { state.withLock { $0.written } }

  /// Waits until nothing is on its way, and leads where nobody does.
  func waitUntilIdle(lead: () -> Void) { wait(lead) { $0.isIdle } }

  /// Waits for the fate of a transaction that another thread may be waiting for; answers its version.
  func fate(of pending: Pending, lead: () -> Void) throws(StorageError) -> UInt64 {
    wait(lead) { _ in pending.fate != nil }
    return try state.withLock { _ in pending.fate }?.get() ?? pending.number
  }

  private func wait(_ lead: () -> Void, until isOver: (State) -> Bool) {
    while true {
      let leads = state.wait { (state: inout State) -> Bool? in
        if isOver(state) { return false }
        guard !state.isLed else { return nil }
        state.isLed = true
        return true
      }
      guard leads else { return }
      lead()
    }
  }

  // MARK: - Coming

  /// A line of transactions begins that builds on nothing sealed.
  func beginLine() { state.withLock { $0.failure = nil } }

  /// Why what was sealed in this line was not written; nil while nothing has failed.
  var failure: StorageError? { state.withLock { $0.failure } }

  /// Adds a transaction to what is sealed; throws where what it was built on could not be written.
  func add(_ made: Sealed) throws(StorageError) {
    let failure = state.withLock { state -> StorageError? in
      if let failure = state.failure { return failure }
      for member in made.members { member.side = state.side }
      guard var sealed = state.sealed else {
        state.sealed = made
        return nil
      }
      state.sealed = nil
      sealed.root = made.root
      sealed.freed += made.freed
      sealed.added += made.added
      sealed.bytes += made.bytes
      sealed.members += made.members
      state.sealed = sealed
      return nil
    }
    if let failure { throw failure }
  }

  /// Adds a version that was written by who made it.
  func add(_ written: Written) {
    state.withLock { state in
      for member in written.members { member.side = state.side }
      state.written.append(written)
    }
  }

  // MARK: - Leading

  private enum Turn {
    case known(Result<UInt64, StorageError>)
    case leads
    case waits(Signal, since: UInt32)
  }

  /// Waits for a transaction's fate, and leads where nobody does; answers its version.
  ///
  /// `lead` takes what is on its way to disk, and ends by `settle`.
  func finish(_ own: Pending, lead: () -> Void) throws(StorageError) -> UInt64 {
    while true {
      switch turn(of: own) {
      case .known(let fate): return try fate.get()
      case .leads: lead()
      case .waits(let signal, let count): signal.wait(since: count)
      }
    }
  }

  private func turn(of own: Pending) -> Turn {
    state.withLock { state in
      if let fate = own.fate { return .known(fate) }
      guard state.isLed else {
        state.isLed = true
        return .leads
      }
      return .waits(signals[own.side], since: signals[own.side].count)
    }
  }

  /// What the leader is to write, if anything: what is sealed from now on is the next one's.
  func takeSealed() -> Sealed? {
    state.withLock { state in
      state.writing = state.sealed
      state.sealed = nil
      state.side = 1 - state.side
      return state.writing
    }
  }

  func note(_ written: Written) {
    state.withLock { state in
      state.writing = nil
      state.written.append(written)
    }
  }

  /// What was taken could not be written: nor can what was sealed upon it.
  func fail(_ error: StorageError) {
    state.change { state in
      let failed = (state.writing?.members ?? []) + (state.sealed?.members ?? [])
      for pending in failed { pending.fate = .failure(error) }
      state.writing = nil
      state.sealed = nil
      state.failure = error
    }
    for signal in signals { signal.raise(wakes: .all) }
  }

  /// Tells those whose versions were written their fate; the next may lead.
  func settle(_ fate: Result<Void, StorageError>) {
    let (ends, next) = state.change { state in
      // A bit for each of the signals: a list would be allocated for each commit.
      var ends = 0
      for written in state.written {
        for pending in written.members {
          pending.fate = fate.map { written.version.number }
          ends |= 1 << pending.side
        }
      }
      state.written.removeAll(keepingCapacity: true)
      state.isLed = false
      return (ends, state.sealed?.members.first?.side)
    }
    // The next to lead first.
    if let next, ends & 1 << next == 0 { signals[next].raise(wakes: .one) }
    for side in signals.indices where ends & 1 << side != 0 { signals[side].raise(wakes: .all) }
  }
}
