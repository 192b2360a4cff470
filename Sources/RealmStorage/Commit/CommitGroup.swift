/// The transactions that were committed and are on their way to the disk, and the one thread that leads them there.
///
/// A thread that commits leaves its changes sealed in memory, so that the next transaction can build on them. Then the
/// first of the threads that wait becomes the leader. It writes all that is sealed as one version, then the meta page
/// that names this version, syncs once, and tells each transaction its fate. Transactions that are sealed meanwhile
/// wait for the next leader. So each of many threads pays for its own changes, and only one of them pays for the disk.
final class CommitGroup: Sendable {
  /// A transaction that was committed and may still be on its way to the disk.
  final class Pending: @unchecked Sendable {
    // Sendable: `fate` and `side` are accessed only under the group's lock, and all else never changes.
    /// The number that the transaction got when it began. Its version has this number, or a later one if other
    /// transactions were sealed upon it.
    let number: UInt64
    let durability: Durability
    /// The number of the version that the transaction is part of, or the error of its commit; nil while it is not
    /// known.
    fileprivate var fate: Result<UInt64, StorageError>?
    /// The index of the group's signal that the transaction's thread waits for.
    fileprivate var side = 0

    init(_ number: UInt64, _ durability: Durability) {
      self.number = number
      self.durability = durability
    }
  }

  /// Transactions that were sealed one upon another and whose nodes are not written yet. They become one version.
  struct Sealed: Sendable {
    /// The root that the newest transaction made, in memory.
    var root: Ref
    /// The nodes that the transactions no longer reach, both nodes of the file and nodes that were sealed before.
    var freed: [Ref]
    /// The number of rows and entries after the transactions, less their number before.
    var added: Int
    /// The bytes of the nodes that the transactions made, including nodes that a later one of them no longer reaches.
    var bytes: Int
    /// The transactions, oldest first.
    var members: [Pending]
    /// Whether recovery writes a version again (`Recovery`, rule 5). The mark that this must be done then stays,
    /// whatever is synced meanwhile.
    var isRewriting = false

    var number: UInt64 { members.last?.number ?? 0 }
  }

  /// A version whose nodes are written.
  struct Written: Sendable {
    let version: Version
    let members: [Pending]
    let bytes: Int
    /// Whether the nodes of the version, and all nodes they lead to, are synced before its meta page is written.
    let isSynced: Bool
    var unsyncedBytes: Int { isSynced ? 0 : bytes }
    /// Whether the version must be synced whatever durability was asked for. The reasons are that its nodes were synced
    /// before its meta page, that too much would wait for a sync otherwise, or that a sync frees pages that are needed.
    let mustSync: Bool
    /// Whether a meta page that names the version was written.
    let isNamed: Bool
    /// See `Sealed.isRewriting`.
    let isRewriting: Bool
  }

  private struct State {
    var sealed: Sealed?
    /// The transactions whose nodes the leader is writing.
    var writing: Sealed?
    /// The written versions that are not published yet, oldest first.
    var written: [Written] = []
    var isLed = false
    /// The index of the signal for the transactions that are added from now on.
    var side = 0
    /// The error of a failed write, after which nothing can be built on the transactions that were sealed.
    var failure: StorageError?

    var isIdle: Bool { sealed == nil && writing == nil && written.isEmpty && !isLed }
  }
  private let state = Monitor(State())
  /// The signals on which threads wait until the fate of their transaction is known or it is their turn to lead. The
  /// threads whose transactions are being written wait on one signal, and the threads that came since wait on the
  /// other. So one call wakes all threads of a version, and most often no other threads.
  private let signals = [Signal(), Signal()]

  /// The version that the next transaction builds on, if a commit is in progress.
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
  /// The numbers of the versions that are written and not yet published. Nothing that they reach is overwritten.
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
  /// The bytes of nodes that stay in memory until they are written.
  var sealedBytes: Int { state.withLock { ($0.sealed?.bytes ?? 0) + ($0.writing?.bytes ?? 0) } }
  /// The bytes of nodes that are written and that no sync has reached.
  var unsyncedBytes: Int { state.withLock { $0.written.reduce(0) { $0 + $1.unsyncedBytes } } }
  /// The versions that are next to be published, oldest first.
  var written: [Written] { state.withLock { $0.written } }

  /// Waits until no commit is in progress, and leads if no other thread does.
  func waitUntilIdle(lead: () -> Void) { wait(lead) { $0.isIdle } }

  /// Waits for the fate of a transaction that another thread may be waiting for, too. Returns the number of its
  /// version.
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

  /// Begins a line of transactions that builds on nothing sealed.
  func beginLine() { state.withLock { $0.failure = nil } }

  /// The reason why the sealed transactions of this line were not written; nil while no write has failed.
  var failure: StorageError? { state.withLock { $0.failure } }

  /// Adds a transaction to the sealed ones.
  ///
  /// - Throws: the error of a failed write of the transactions that it was built on.
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

  /// Adds a version that the thread of its transaction wrote itself.
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

  /// Waits for a transaction's fate, and leads if no other thread does. Returns the number of its version.
  ///
  /// `lead` takes the commits in progress to the disk, and ends with a call of `settle`.
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

  /// Takes the transactions that the leader must write; nil if there are none. Transactions that are sealed from now on
  /// belong to the next leader.
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

  /// Notes that the taken transactions could not be written. They fail, and so do the transactions that were sealed
  /// upon them.
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

  /// Tells the transactions of all written versions their fate, and lets the next thread lead.
  func settle(_ fate: Result<Void, StorageError>) {
    let (ends, next) = state.change { state in
      // One bit for each signal, because a list would be allocated for each commit.
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
    // The thread that leads next is woken first.
    if let next, ends & 1 << next == 0 { signals[next].raise(wakes: .one) }
    for side in signals.indices where ends & 1 << side != 0 { signals[side].raise(wakes: .all) }
  }
}
