import Synchronization

/// Admits one transaction at a time, which makes its nodes in memory, and holds the lock *writer* of the file for it.
///
/// The gate takes the lock when a transaction begins, and gives it up when no commit is in progress. The arena of nodes
/// is emptied only inside the gate and only when nothing is sealed or being written, because the leader of commits
/// reads sealed nodes there. docs/locks.md gives the order in which locks are taken.
final class TransactionGate: Sendable {
  let context: WriterContext
  private let pages: GatedState<PageWriter>
  private let leader: CommitLeader
  private let state: GatedState<State>
  private let key: [UInt8]?
  private let (clusterRows, givenBackBytes): (Int, Int)
  private let tables: SharedTables
  /// The number of threads that wait to enter and begin a transaction.
  private let waiting = Atomic<Int>(0)
  private let closed = Atomic<Bool>(false)

  private struct State {
    let editor: NodeEditor
    let givenNestedIDs = GivenNestedIDs()
    var mover: Mover
    var kept = KeptTables()
    /// The commit that the open transaction builds on, if it was in progress when the transaction began; nil otherwise.
    var basis: CommitGroup.Pending?
    /// Whether the open transaction builds on sealed transactions.
    var isOnSealed = false
    /// Whether the open transaction has begun to write nodes before its commit.
    var hasSpilled = false
    /// Whether recovery is writing a version again (rule 5 of `Recovery`).
    var isRewriting = false
    /// Whether marks of a dead or failed writer were found and the file is not yet recovered.
    var owesRecovery = false
    /// Whether this handle holds the lock of the file.
    var isLocked = false
    /// Whether a line of transactions has begun since the lock was taken. If so, the page map is that of the newest
    /// version. If not, other processes may have written to places that the map shows as the end of the file.
    var knowsPages = false
    var turn = WriterTurn()
  }

  /// The bytes of nodes above which a transaction becomes a version of its own and writes that version itself.
  private static let largestSealed = 512 << 10

  init(
    _ context: WriterContext, _ editor: NodeEditor, _ pages: GatedState<PageWriter>, _ leader: CommitLeader,
    _ tables: SharedTables, key: [UInt8]?, _ options: DatabaseOptions
  ) {
    self.context = context
    self.pages = pages
    self.leader = leader
    self.tables = tables
    self.key = key
    (clusterRows, givenBackBytes) = (options.clusterRows, options.givenBackBytes)
    state = GatedState(State(editor: editor, mover: Mover(options.compaction)))
    editor.onSpill(above: options.spillBytes) { [unowned self] (roots) throws(StorageError) in
      try spill(roots)
    }
  }

  private var storage: any Storage { context.storage }
  private var held: HeldVersions { context.held }
  private var control: ControlBlock { context.control }
  private var group: CommitGroup { context.group }

  // MARK: - In and out

  /// Enters the gate, and waits for other threads if necessary. Reports show how many threads wait.
  func enter() {
    if state.tryEnter() { return }
    held.participants.setWaitingThreads(waiting.wrappingAdd(1, ordering: .relaxed).newValue, held.participant)
    state.enter()
    held.participants.setWaitingThreads(
      waiting.wrappingSubtract(1, ordering: .relaxed).newValue, held.participant)
  }

  /// Enters for work that is no transaction. Reports count only the threads that wait for a transaction.
  func enterUncounted() { state.enter() }

  /// Enters if no thread is inside, the lock of the file is free, and nobody waits for either. Returns whether it
  /// entered.
  func enterIfFree() throws(StorageError) -> Bool {
    guard state.tryEnter() else { return false }
    do throws(StorageError) {
      if try state.inside({ (state) throws(StorageError) in try takeLockIfFree(&state) }) { return true }
    } catch {
      leaveAndRest()
      throw error
    }
    leaveAndRest()
    return false
  }

  /// Lets the next transaction begin. The lock of the file stays held until the commits have reached the disk. The
  /// caller must call `rest` afterwards.
  func leave() { state.leave() }

  func leaveAndRest() {
    leave()
    rest()
  }

  /// Gives the lock up if no commit is in progress and no thread is inside the gate. Each thread calls this after it
  /// has left the gate or learnt the fate of its version, so that the last of them finds the writer idle.
  func rest() {
    guard !storage.isForked else { return }
    while group.isIdle, state.tryEnter() {
      let isIdle = group.isIdle
      state.inside { state in
        guard isIdle, state.isLocked else { return }
        if !context.isPoisoned, state.knowsPages {
          pages.with { pages in
            if pages.hasGrown { pages.growAhead() }
            pages.makeSmaller()
          }
        }
        release(&state)
      }
      state.leave()
      if isIdle { return }
    }
  }

  // MARK: - Beginning

  /// Starts a transaction on the newest version. The caller is inside the gate.
  ///
  /// - Throws: `.poisoned`, `.forked`, `.closed`, `.controlReplaced`, `.truncated`, `.limitExceeded(.versions)`; the
  ///   errors of recovery after another writer died; the reason why the space of the file can't be determined.
  func begin() throws(StorageError) -> Begun {
    try state.inside { (state) throws(StorageError) in
      do throws(StorageError) {
        try takeLock(&state)
        return Begun(
          base: try beginLocked(&state), editor: state.editor, givenNestedIDs: state.givenNestedIDs,
          clusterRows: clusterRows, givenBackBytes: givenBackBytes)
      } catch {
        release(&state)
        throw error
      }
    }
  }

  /// The version that a transaction starts from, and the objects that it works with while it is inside.
  struct Begun {
    let base: Version
    let editor: NodeEditor
    let givenNestedIDs: GivenNestedIDs
    /// The largest number of rows in a cluster.
    let clusterRows: Int
    let givenBackBytes: Int
  }

  private func beginLocked(_ state: inout State) throws(StorageError) -> Version {
    if let base = try beginOnSealed(&state) { return base }
    return try beginLine(&state)
  }

  /// Begins a transaction on the sealed transactions that wait to be written. Returns nil if there are none, or if the
  /// arena is used up; in the latter case they are written first.
  private func beginOnSealed(_ state: inout State) throws(StorageError) -> Version? {
    guard case .sealed(let root, let last) = group.newest else { return nil }
    guard !state.editor.arena.isUsedUp else {
      leader.waitUntilIdle()
      return nil
    }
    try context.checkPoison()
    state.isOnSealed = true
    state.hasSpilled = false
    state.basis = last
    state.editor.resume(birth: try giveNumber(&state))
    return Version(number: last.number, root: root, pageCount: 0)
  }

  /// Begins a transaction on a version whose nodes are in the file.
  ///
  /// - Parameter recovered: the version that recovery writes again, which need not be published; nil for the newest
  ///   version.
  private func beginLine(
    _ state: inout State, on recovered: Version? = nil
  ) throws(StorageError) -> Version {
    // The group is read before the published version, because a version moves from the group to the published one. A
    // version that fails poisons the writer before it leaves the group, so the poison is checked between the two reads.
    try pages.with { (pages) throws(StorageError) in
      let newest = group.newest
      try context.checkPoison()
      let base: Version
      if case .written(let version, let pending) = newest {
        (base, state.basis) = (version, pending)
      } else {
        if let recovered { base = recovered } else { base = try held.published() }
        state.basis = nil
      }
      let length = try storage.length()
      guard length >= base.end else {
        throw StorageError.truncated(path: storage.path, length: length, needed: base.end)
      }
      try context.store.reserve(length)
      let written = try pages.beginLine(on: base, fileLength: length)
      state.knowsPages = true
      state.isOnSealed = false
      state.hasSpilled = false
      state.kept.note(written, of: base)
      try state.editor.begin(birth: try giveNumber(&state), end: base.end)
      return base
    }
  }

  private func giveNumber(_ state: inout State) throws(StorageError) -> UInt64 {
    guard control.greatest < MetaPage.maximumVersion else {
      throw .limitExceeded(.versions, path: storage.path)
    }
    control.greatest += 1
    state.turn.countVersion()
    return control.greatest
  }

  // MARK: - The open transaction

  /// The commit that the open transaction builds on, if it was in progress when the transaction began; nil otherwise.
  var basis: CommitGroup.Pending? { state.inside { $0.basis } }

  /// The tables as the last transaction left them, if it made the version `base`; nil otherwise. The caller owns them
  /// then.
  func takeTables(of base: Version) -> OpenTables? { state.inside { $0.kept.take(of: base.number) } }

  /// Waits until the commits that the open transaction builds on are finished.
  func waitForSealed() throws(StorageError) {
    try waitForSealed(isOnSealed: state.inside { $0.isOnSealed })
  }

  private func waitForSealed(isOnSealed: Bool) throws(StorageError) {
    try context.checkFork()
    leader.waitUntilIdle()
    try context.checkPoison()
    if isOnSealed, let failure = group.failure { throw failure }
  }

  /// Writes subtrees of a large transaction before it commits. Returns the refs that name them from then on.
  private func spill(_ roots: [Ref]) throws(StorageError) -> [Ref] {
    try state.inside { (state) throws(StorageError) in
      // The subtrees may lead to sealed nodes, which must be written first.
      try waitForSealed(isOnSealed: state.isOnSealed)
      state.hasSpilled = true
      let editor = state.editor
      return try pages.with { (pages) throws(StorageError) in
        guard let spilled = try pages.spill(roots, birth: editor.arena.birth) else { return roots }
        for node in spilled.nodes { editor.arena.free(node) }
        editor.extend(to: spilled.end)
        return spilled.refs
      }
    }
  }

  // MARK: - Committing

  /// Ends the transaction, whose changes lead to `root`, so that they become part of the next version. The caller is
  /// inside the gate. `CommitLeader.finish` waits for the fate of the changes outside.
  ///
  /// - Parameter added: the number of rows and entries now, less their number before the transaction.
  func seal(
    root: Ref, tables: OpenTables?, added: Int, durability: Durability
  ) throws(StorageError) -> CommitGroup.Pending {
    try state.inside { (state) throws(StorageError) in
      try seal(&state, root: root, tables: tables, added: added, durability: durability)
    }
  }

  private func seal(
    _ state: inout State, root: Ref, tables: OpenTables?, added: Int, durability: Durability
  ) throws(StorageError) -> CommitGroup.Pending {
    // Only a forged tree is so high. A node above level 128 could not be read again.
    guard root.level <= Ref.maximumLevel else { throw context.store.corrupted(.structure, root) }
    try context.checkFork()
    try context.checkPoison()
    let editor = state.editor
    let pending = CommitGroup.Pending(editor.arena.birth, durability)
    let isLarge = state.hasSpilled || state.isRewriting || editor.arena.liveBytes > Self.largestSealed
    let named = try endNamed(below: root, &state)
    let (moved, didMove) =
      state.hasSpilled || state.isRewriting ? (named, false) : moveNodes(below: named, &state)
    let bytes = editor.arena.liveBytes
    let sealed = CommitGroup.Sealed(
      root: moved, freed: editor.seal(), added: added, bytes: bytes, members: [pending],
      isRewriting: state.isRewriting)
    if isLarge {
      try writeAlone(sealed, isOnSealed: state.isOnSealed)
    } else {
      try group.add(sealed)
      // The tables know moved nodes by their old refs, so they are kept only if no node was moved.
      if let tables, !didMove, named == root { state.kept.keep(tables, of: pending.number) }
    }
    context.counters.commits.wrappingAdd(1, ordering: .relaxed)
    return pending
  }

  /// Writes a large transaction at once, so that its nodes do not stay in memory until a leader takes them.
  private func writeAlone(_ sealed: CommitGroup.Sealed, isOnSealed: Bool) throws(StorageError) {
    try waitForSealed(isOnSealed: isOnSealed)
    try pages.with { (pages) throws(StorageError) in
      let draft = try pages.writeNodes(of: sealed, isAlone: true)
      let isSynced = draft.isSynced
      let written = pages.note(draft, isNamed: false)
      // No thread leads, because no other commit is in progress.
      if isSynced { try leader.syncNodes(keepsMark: sealed.isRewriting) }
      group.add(written)
    }
  }

  /// Gives up the oldest named version, before a transaction is sealed, if named versions kept too many bytes when a
  /// version was last written. If the transaction itself drops that version or moves its name on, no other version is
  /// given up instead. Returns the root to commit.
  ///
  /// - Throws: `.corrupted`.
  private func endNamed(below root: Ref, _ state: inout State) throws(StorageError) -> Ref {
    let excess = context.namedLimit.excess.load(ordering: .relaxed)
    guard !state.isRewriting, excess != 0 else { return root }
    let version = context.namedLimit.excess.exchange(0, ordering: .relaxed)
    let editor = state.editor
    var catalogue = try Catalogue(slotsOf: root, editor.access())
    guard try VersionSlots.end(version, in: &catalogue, editor) else { return root }
    editor.free(root)
    return catalogue.write(editor)
  }

  /// Makes some unchanged nodes part of a commit before its nodes are written, so that they are written elsewhere.
  /// Returns the root to commit instead. If this transaction made the root, the ref stays the same, even if nodes were
  /// moved.
  private func moveNodes(below root: Ref, _ state: inout State) -> (root: Ref, didMove: Bool) {
    guard state.mover.isDue(context.pressure.load(ordering: .relaxed), pinned: longestPin) else {
      return (root, false)
    }
    return pages.with { pages in
      guard var map = pages.space.map else { return (root, false) }
      pages.space.map = nil
      let before = state.mover.movedNodes
      // Sealed transactions that wait to be written need their own share of the holes.
      let moved = state.mover.run(root, editor: state.editor, map: &map, waiting: group.sealedBytes) {
        map, count in
        (try? context.write(zeros: count, to: &map)) != nil
      }
      pages.space.map = map
      pages.notePressure()
      context.counters.movedBytes.store(state.mover.movedBytes, ordering: .relaxed)
      return (moved, state.mover.movedNodes != before)
    }
  }

  /// A pin of a version that is older than the published one by more than this is likely to stay.
  private static let longPin: UInt64 = 16

  /// The newest of the versions whose pins or names are likely to stay; 0 if there is none.
  private var longestPin: UInt64 {
    let published = control.current.number
    var pinned: UInt64 = 0
    func note(_ version: UInt64) {
      if version &+ Self.longPin < published { pinned = max(pinned, version) }
    }
    held.readers.forEachPin { note($0.version) }
    for version in held.named.withLock({ $0.newestNames?.versions ?? [] }) { note(version.number) }
    return pinned
  }

  /// The number of nodes that this handle has moved. The caller is inside the gate.
  var movedNodes: Int { state.inside { $0.mover.movedNodes } }

  // MARK: - The lock of the file

  private func takeLock(_ state: inout State) throws(StorageError) {
    if try isLockHere(state) { return }
    // Other processes have waited for long. The commits in progress are finished first, then the others get the lock.
    if state.isLocked {
      leader.waitUntilIdle()
      release(&state)
    }
    try state.turn.lock(storage, held)
    try didLock(&state)
  }

  /// Takes the lock if that needs no waiting for other processes. Returns whether this handle has it and may keep it.
  private func takeLockIfFree(_ state: inout State) throws(StorageError) -> Bool {
    if try isLockHere(state) { return true }
    if state.isLocked { return false }
    guard try state.turn.lockIfFree(storage, held) else { return false }
    try didLock(&state)
    return true
  }

  /// Whether this handle already holds the lock and may keep it.
  private func isLockHere(_ state: borrowing State) throws(StorageError) -> Bool {
    try context.checkFork()
    guard !isClosed else { throw .closed(path: storage.path) }
    return state.isLocked && !(state.turn.isOver && held.participants.othersWait(than: held.participant))
  }

  private func didLock(_ state: inout State) throws(StorageError) {
    (state.isLocked, state.knowsPages) = (true, false)
    // This comes before anything throws, because `release` must clear only the marks of this handle's own writing.
    state.owesRecovery = control.needsRecovery && !context.isPoisoned
    guard storage.isControlInPlace else { throw .controlReplaced(path: storage.path) }
    if state.owesRecovery { try recover(&state) }
  }

  private func release(_ state: inout State) {
    guard state.isLocked, group.isIdle else { return }
    // If the outcome of a commit is unknown, the mark stays for the next writer.
    if !context.isPoisoned, !state.owesRecovery { control.inWrite = false }
    state.isLocked = false
    state.turn.end(storage, held)
  }

  // MARK: - Making all durable

  /// Waits for the commits in progress and makes the published version durable. No newer version is in progress then.
  /// The caller is inside the gate.
  ///
  /// - Throws: the errors of `begin`.
  func makeDurable() throws(StorageError) {
    try state.inside { (state) throws(StorageError) in
      do throws(StorageError) {
        try takeLock(&state)
        leader.waitUntilIdle()
        try context.checkPoison()
        try leader.syncPublished()
      } catch {
        release(&state)
        throw error
      }
    }
  }

  private var isClosed: Bool { closed.load(ordering: .acquiring) }

  /// Waits for the commits in progress, makes them durable, and stops all further writing. The caller is inside the
  /// gate. The last handle that has the file open marks it clean. A failure here loses nothing that a crash would not
  /// lose.
  func close(isLast: Bool) {
    state.inside { state in
      leader.waitUntilIdle()
      release(&state)
      guard !isClosed else { return }
      closed.store(true, ordering: .releasing)
      guard !context.isPoisoned, (try? storage.lock(.writer, waits: true)) == true else { return }
      defer { storage.unlock(.writer) }
      guard control.isDirty, !control.needsRecovery, storage.isControlInPlace else { return }
      if isLast { try? leader.markClean() } else { try? leader.syncPublished() }
    }
  }

  // MARK: - Recovery

  /// Recovers the file after another writer died or failed. Other participants may be reading.
  private func recover(_ state: inout State) throws(StorageError) {
    // Other participants read by this block, so it must not be made anew meanwhile.
    guard control.belongs(to: storage.identity, boot: storage.boot) else {
      throw .controlReplaced(path: storage.path)
    }
    let meta = try MetaPair(storage: storage, key: key)
    guard meta.constants == context.meta.constants else { throw .notARealmFile(path: storage.path) }
    try context.store.reserve(storage.length())
    let recovery = Recovery(storage: storage, store: context.store, meta: meta)
    let found = try recovery.recover(tables, .others(held))
    held.named.withLock { $0 = NamedVersions() }
    held.wake()
    if let stamp = found.stamp { context.meta.noteRecovery(stamp) }
    try finish(found, &state)
    state.owesRecovery = false
  }

  /// Writes again, as a new version, what no sync is known to have reached, and makes it durable (rule 5 of
  /// `Recovery`). Until then no new reader gets it.
  ///
  /// The new pages are behind the end of the file, because a meta page that vouches for itself may come back after a
  /// power loss. What it names may have been written again twice since, so that nobody holds its pages any more.
  ///
  /// This is for a writer that finds a sync that was begun and whose outcome was never noted. It may have failed, and
  /// nobody may have seen the error; the cache then holds nodes that the disk lacks. The system reports such an error
  /// at the next sync, so the versions that others have pinned expire only if there was an error.
  private func finish(_ found: Recovery.Recovered, _ state: inout State) throws(StorageError) {
    guard let durable = found.rewritesAfter else { return }
    state.isRewriting = true
    defer { state.isRewriting = false }
    control.noteRewriting(after: durable.number)
    let base = try beginLine(&state, on: found.version)
    let root = try state.editor.copy(base.root, bornAfter: durable.number)
    _ = try leader.finish(seal(&state, root: root, tables: nil, added: 0, durability: .full))
    control.sync = .none
  }

  /// Does the same for a handle that has just opened the file, alone, and holds the lock for the writer.
  func finishRecovery(_ found: Recovery.Recovered) throws(StorageError) {
    try state.with { (state) throws(StorageError) in
      guard found.rewritesAfter != nil else { return }
      try finish(found, &state)
      control.inWrite = false
    }
  }
}
