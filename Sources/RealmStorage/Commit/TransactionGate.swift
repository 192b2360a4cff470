import Synchronization

/// Lets one transaction at a time be made in memory, and holds the lock of the file for it.
///
/// The lock is taken to begin a transaction and given up when nothing is on its way. The arena of nodes is emptied inside the gate only, when nothing is sealed or being
/// written: who leads reads sealed nodes there. Locks are taken in the order that docs/locks.md tells.
final class TransactionGate: Sendable {
  let context: WriterContext
  private let pages: GatedState<PageWriter>
  private let leader: CommitLeader
  private let state: GatedState<State>
  private let key: [UInt8]?
  private let (clusterRows, givenBackBytes): (Int, Int)
  private let tables: SharedTables
  /// Threads that wait to enter, to begin a transaction.
  private let waiting = Atomic<Int>(0)
  private let closed = Atomic<Bool>(false)

  private struct State {
    let editor: NodeEditor
    let givenNestedIDs = GivenNestedIDs()
    var mover: Mover
    var kept = KeptTables()
    /// The commit that the open transaction builds on, while that is on its way to the disk; nil otherwise.
    var basis: CommitGroup.Pending?
    /// The open transaction builds on what is sealed.
    var isOnSealed = false
    /// It has written nodes already.
    var hasSpilled = false
    /// Recovery rule 5 is on its way.
    var isRewriting = false
    /// A dead writer's marks were found, and the file is not yet recovered.
    var owesRecovery = false
    /// The lock of the file is held.
    var isLocked = false
    /// A line of transactions has begun since the lock was taken: the map of pages is that of the newest version. Else others may have written where it shows the end of the file.
    var knowsPages = false
    var turn = WriterTurn()
  }

  /// Transactions of more bytes of nodes than this become a version of their own, that they write themselves.
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

  /// Enters behind others; those who ask are told how many wait.
  func enter() {
    if state.tryEnter() { return }
    held.participants.setWaitingThreads(waiting.wrappingAdd(1, ordering: .relaxed).newValue, held.participant)
    state.enter()
    held.participants.setWaitingThreads(
      waiting.wrappingSubtract(1, ordering: .relaxed).newValue, held.participant)
  }

  /// Enters for what is no transaction: those who ask are told of transactions only.
  func enterUncounted() { state.enter() }

  /// Enters where nobody is inside, the lock of the file is free, and nobody waits for either. Answers whether it did.
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

  /// The next may begin. The lock of the file stays until what was committed has reached the disk: `rest` is to follow.
  func leave() { state.leave() }

  func leaveAndRest() {
    leave()
    rest()
  }

  /// Gives the lock up where nothing is pending and nobody writes. Called by whoever has left the gate, or has seen
  /// the fate of its version: the last of them finds the writer at rest.
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

  /// Starts a transaction on the newest version there is; inside.
  ///
  /// - Throws: `.poisoned`, `.forked`, `.controlReplaced`, `.truncated`, `.limitExceeded(.versions)`; what recovery
  ///   throws after another writer died; why the space of the file can't be told.
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
    /// Rows of a cluster, at most.
    let clusterRows: Int
    let givenBackBytes: Int
  }

  private func beginLocked(_ state: inout State) throws(StorageError) -> Version {
    if let base = try beginOnSealed(&state) { return base }
    return try beginLine(&state)
  }

  /// Builds on what waits to be written; nil where nothing does, or it is better written first.
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

  /// Begins with a version whose nodes stand in the file.
  ///
  /// - Parameter recovered: the version that recovery is to write again, which need not be published; nil for the newest.
  private func beginLine(
    _ state: inout State, on recovered: Version? = nil
  ) throws(StorageError) -> Version {
    // Before what is published is looked at: a version goes from the one to the other. One that fails poisons the writer
    // before it goes, so that is looked at between.
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

  /// The commit that the open transaction builds on, while that is on its way to the disk; nil otherwise.
  var basis: CommitGroup.Pending? { state.inside { $0.basis } }

  /// The tables as the last transaction left them, where it made the version `base`; nil otherwise. They belong to the caller then.
  func takeTables(of base: Version) -> OpenTables? { state.inside { $0.kept.take(of: base.number) } }

  /// Waits until what it builds on stands in the file.
  func waitForSealed() throws(StorageError) {
    try waitForSealed(isOnSealed: state.inside { $0.isOnSealed })
  }

  private func waitForSealed(isOnSealed: Bool) throws(StorageError) {
    try context.checkFork()
    leader.waitUntilIdle()
    try context.checkPoison()
    if isOnSealed, let failure = group.failure { throw failure }
  }

  /// Writes subtrees of a large transaction before it commits; answers the refs that name them from then on.
  private func spill(_ roots: [Ref]) throws(StorageError) -> [Ref] {
    try state.inside { (state) throws(StorageError) in
      // What they lead to may be sealed, and is written first.
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

  /// Ends the transaction, whose changes lead to `root`: they become part of the next version. Inside; `CommitLeader.finish`
  /// waits for their fate outside.
  ///
  /// - Parameter added: rows and entries that there are more than before.
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
    // Only a forged tree is so high; what stands above 128 could not be read again.
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
      // What was moved they know by the refs from before.
      if let tables, !didMove, named == root { state.kept.keep(tables, of: pending.number) }
    }
    context.counters.commits.wrappingAdd(1, ordering: .relaxed)
    return pending
  }

  /// Writes a large transaction at once: its nodes are not kept in memory until a leader takes them.
  private func writeAlone(_ sealed: CommitGroup.Sealed, isOnSealed: Bool) throws(StorageError) {
    try waitForSealed(isOnSealed: isOnSealed)
    try pages.with { (pages) throws(StorageError) in
      let draft = try pages.writeNodes(of: sealed, isAlone: true)
      let isSynced = draft.isSynced
      let written = pages.note(draft, isNamed: false)
      // Nobody leads: nothing else is on its way.
      if isSynced { try leader.syncNodes(keepsMark: sealed.isRewriting) }
      group.add(written)
    }
  }

  /// Before a transaction is sealed: it gives up the version that was the oldest where too much was kept for
  /// names. Where the transaction drops that version itself, or moves its name on, no other goes in its place. Answers the root to
  /// commit.
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

  /// Before the nodes of a commit are written: some that did not change become part of it, to be written elsewhere.
  /// Answers the root to commit instead: the same one where it was made by this transaction, also when
  /// nodes were moved.
  private func moveNodes(below root: Ref, _ state: inout State) -> (root: Ref, didMove: Bool) {
    guard state.mover.isDue(context.pressure.load(ordering: .relaxed), pinned: longestPin) else {
      return (root, false)
    }
    return pages.with { pages in
      guard var map = pages.space.map else { return (root, false) }
      pages.space.map = nil
      let before = state.mover.movedNodes
      // What waits for its turn needs its own share of the holes.
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

  /// A pin so many versions old is likely to stay.
  private static let longPin: UInt64 = 16

  /// The newest of the versions that are likely to stay; 0 where there is none.
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

  /// Nodes this handle has moved; inside.
  var movedNodes: Int { state.inside { $0.mover.movedNodes } }

  // MARK: - The lock of the file

  private func takeLock(_ state: inout State) throws(StorageError) {
    if try isLockHere(state) { return }
    // Others have waited for long: what is pending goes first, then they.
    if state.isLocked {
      leader.waitUntilIdle()
      release(&state)
    }
    try state.turn.lock(storage, held)
    try didLock(&state)
  }

  /// Takes the lock where that needs no waiting for other processes. Answers whether it was taken.
  private func takeLockIfFree(_ state: inout State) throws(StorageError) -> Bool {
    if try isLockHere(state) { return true }
    if state.isLocked { return false }
    guard try state.turn.lockIfFree(storage, held) else { return false }
    try didLock(&state)
    return true
  }

  /// The lock is held already, and may be kept.
  private func isLockHere(_ state: borrowing State) throws(StorageError) -> Bool {
    try context.checkFork()
    guard !isClosed else { throw .closed(path: storage.path) }
    return state.isLocked && !(state.turn.isOver && held.participants.othersWait(than: held.participant))
  }

  private func didLock(_ state: inout State) throws(StorageError) {
    (state.isLocked, state.knowsPages) = (true, false)
    // Before anything throws: who gives the lock up clears the marks of its own writing only.
    state.owesRecovery = control.needsRecovery && !context.isPoisoned
    guard storage.isControlInPlace else { throw .controlReplaced(path: storage.path) }
    if state.owesRecovery { try recover(&state) }
  }

  private func release(_ state: inout State) {
    guard state.isLocked, group.isIdle else { return }
    // Where an outcome is unknown the mark stays for whoever writes next.
    if !context.isPoisoned, !state.owesRecovery { control.inWrite = false }
    state.isLocked = false
    state.turn.end(storage, held)
  }

  // MARK: - Making all durable

  /// Waits for what is on its way and makes the published version durable; inside. Then nothing newer is on its way.
  ///
  /// - Throws: as `begin`.
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

  /// Waits for what is on its way, makes all durable, and lets nobody write any more; inside. The last who has
  /// the file open marks it clean. What goes wrong loses nothing that a crash would not.
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

  /// Another writer died, or failed, since this one wrote last. Others may be reading.
  private func recover(_ state: inout State) throws(StorageError) {
    // Others read by this block: it is not to be made anew under them.
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

  /// Recovery rule 5: writes again what no sync is known to have reached, as a new version, and makes it durable. Until then nobody reads it, but who did before.
  ///
  /// The pages are behind the end of the file: a meta page that vouches for itself may come back that names what was
  /// written again before, and then again, and whose pages nobody holds any more.
  ///
  /// For a successor that finds a sync begun and its outcome never noted: an error may have been seen by nobody, and
  /// the cache then holds nodes that the disk does not. The system tells the next sync of an error that nobody saw, so
  /// that what others have pinned expires only where there was one.
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

  /// The same for who has just opened the file, alone, and holds the lock for the writer.
  func finishRecovery(_ found: Recovery.Recovered) throws(StorageError) {
    try state.with { (state) throws(StorageError) in
      guard found.rewritesAfter != nil else { return }
      try finish(found, &state)
      control.inWrite = false
    }
  }
}
