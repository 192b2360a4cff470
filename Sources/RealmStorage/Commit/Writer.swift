import Synchronization

/// How sure a commit is when it returns.
public enum Durability: Sendable {
  /// Survives power loss.
  case full
  /// Survives the death of the process; power loss may take it, and with it only commits after it. Becomes durable
  /// with the next full commit, or when the database closes.
  case relaxed
}

/// Writes versions: the one place that changes a file.
///
/// Rules (FORMAT.md, "Commit"):
/// 1. A commit writes its nodes, then the meta page that does not name the durable version, then syncs once. Over
///    1 MiB of nodes of one transaction are synced before the version is pending; a meta page that names exactly this
///    version then vouches for itself, and the commit is durable when it returns, whatever was asked.
/// 2. The meta page of the durable version is not written before a newer version is durable, and no meta page is
///    written while a sync is in flight.
/// 3. A full commit is published after its sync, a relaxed one when its meta page is written.
/// 4. A write of nodes that fails fails its transaction and changes nothing. A meta page or a sync that fails leaves
///    the outcome of all pending versions unknown: the writer is poisoned until recovery.
/// 5. The lock of the file is taken to begin a transaction and given up when nothing is on its way. Under it one thread
///    at a time is inside the gate and makes nodes in memory; one leads, writes what was sealed and the meta page
///    (`CommitGroup`). Who writes nodes or asks for the space of the file stands at the desk.
final class Writer: @unchecked Sendable {
  // Sendable: what is changed is changed inside the gate only, or at the desk, but for what is atomic and `group`.
  let store: NodeStore
  let held: HeldVersions
  let editor: NodeEditor
  /// Lets in who makes a transaction, or rests the writer.
  let gate = Gate()
  /// Lets in who writes nodes. Nobody waits for anything while at it.
  let desk = Gate()
  let storage: any Storage
  let tables: SharedTables
  let control: ControlBlock
  let key: [UInt8]?
  let constants: MetaPage.Constants
  let group = CommitGroup()
  let counters = WriteCounters()
  /// How much too large the file was when the map was last looked at; of the desk, for who is inside the gate.
  let pressure = Atomic(Mover.Pressure.none)

  // MARK: At the desk

  let run: RunBuffer
  @exclusivity(unchecked) var space: TrackedSpace
  /// Versions that someone may read or build on, ascending: as they were when nodes were written last, or a line of
  /// transactions began. Who comes after reads what was published then, or later, which is among them.
  @exclusivity(unchecked) var holders: [UInt64] = []
  /// Nothing was written since they were looked for.
  var holdersAreNew = false
  /// The version whose nodes were written last.
  @exclusivity(unchecked) var written: Version?
  /// What of the arena was written.
  @exclusivity(unchecked) var writtenRefs = WrittenRefs()
  /// The file was made longer by a commit: there is to be room for the next.
  var hasGrown = false
  /// Of the commit that is being written; kept for the room of its lists.
  @exclusivity(unchecked) var nodesToWrite = CommitNodes()
  /// What the open transaction, or one cancelled since, has written before its commit.
  @exclusivity(unchecked) var spilled: [WrittenNodes] = []

  // MARK: Inside the gate

  /// Makes the file smaller where it is far larger than what is held in it.
  @exclusivity(unchecked) var compaction: Compaction
  let namedLimit: NamedLimit
  @exclusivity(unchecked) private var kept = KeptTables()
  /// The open transaction builds on what is sealed.
  private var isOnSealed = false
  /// It has written nodes already.
  var hasSpilled = false
  /// What it builds on, where that is on its way.
  @exclusivity(unchecked) private(set) var basis: CommitGroup.Pending?
  @exclusivity(unchecked) var recovery: (time: UInt64, version: UInt64)
  /// Threads that wait to enter the gate, to begin a transaction.
  private let waiting = Atomic<Int>(0)
  private let poison = Atomic<Bool>(false)
  private let closed = Atomic<Bool>(false)
  private var isLocked = false
  /// Recovery rule 5 is on its way: the mark that it is to be done stays until it is done, whatever is synced meanwhile.
  var isRewriting = false
  /// What a dead writer left was found and is not yet recovered.
  var owesRecovery = false
  @exclusivity(unchecked) private var turn = WriterTurn()
  /// Rows of a cluster, at most.
  let clusterRows: Int
  let givenNestedIDs: GivenNestedIDs

  /// Transactions of more bytes of nodes than this become a version of their own, that they write themselves.
  private static let largestSealed = 512 << 10
  /// In nanoseconds.
  private static let strikeInterval: UInt64 = 100_000_000

  init(
    store: NodeStore, held: HeldVersions, tables: SharedTables, meta: MetaPair, key: [UInt8]?,
    recovery: (time: UInt64, version: UInt64), options: DatabaseOptions
  ) throws(StorageError) {
    self.store = store
    self.held = held
    self.tables = tables
    self.key = key
    self.recovery = recovery
    control = tables.block
    constants = meta.constants
    clusterRows = options.clusterRows
    givenNestedIDs = GivenNestedIDs()
    storage = store.storage
    run = RunBuffer(store: store, adopts: true)
    compaction = Compaction(options.compaction)
    namedLimit = NamedLimit(options.namedVersionLimit)
    space = TrackedSpace(store: store, ring: tables.ring, slack: compaction.slack)
    editor = NodeEditor(store: store, arena: NodeArena(refWidth: store.refWidth, capacity: 1 << 36))
    editor.onSpill(above: options.spillBytes) { [unowned self] (roots) throws(StorageError) in
      try spill(roots)
    }
  }

  var isPoisoned: Bool { poison.load(ordering: .acquiring) }
  var isClosed: Bool { closed.load(ordering: .acquiring) }

  /// Enters the gate behind others; those who ask are told how many wait.
  func enterGate() {
    held.participants.setWaitingThreads(waiting.wrappingAdd(1, ordering: .relaxed).newValue, held.participant)
    gate.enter()
    held.participants.setWaitingThreads(
      waiting.wrappingSubtract(1, ordering: .relaxed).newValue, held.participant)
  }

  /// Starts a transaction on the newest version there is, inside the gate.
  ///
  /// - Throws: `.poisoned`, `.forked`, `.controlReplaced`, `.truncated`, `.limitExceeded(.versions)`; what recovery
  ///   throws after another writer died; why the space of the file can't be told.
  func begin() throws(StorageError) -> Version {
    do {
      try takeLock()
      return try beginLocked()
    } catch {
      release()
      throw error
    }
  }

  func beginLocked() throws(StorageError) -> Version {
    if let base = try beginOnSealed() { return base }
    desk.enter()
    defer { desk.leave() }
    return try beginLine()
  }

  /// Builds on what waits to be written; nil where nothing does, or it is better written first.
  private func beginOnSealed() throws(StorageError) -> Version? {
    guard case .sealed(let root, let last) = group.newest else { return nil }
    guard !editor.arena.isUsedUp else {
      group.waitUntilIdle(lead: lead)
      return nil
    }
    guard !isPoisoned else { throw .poisoned(path: storage.path) }
    isOnSealed = true
    hasSpilled = false
    basis = last
    editor.resume(birth: try giveNumber())
    return Version(number: last.number, root: root, pageCount: 0)
  }

  /// Begins with a version whose nodes stand in the file.
  private func beginLine() throws(StorageError) -> Version {
    // Before what is published is looked at: a version goes from the one to the other. One that fails poisons the writer
    // before it goes, so that is looked at between.
    let newest = group.newest
    guard !isPoisoned else { throw .poisoned(path: storage.path) }
    let base: Version
    if case .written(let version, let pending) = newest {
      (base, basis) = (version, pending)
    } else {
      (base, basis) = (try held.published(), nil)
    }
    let length = try storage.length()
    guard length >= base.end else { throw .truncated(path: storage.path, length: length, needed: base.end) }
    try store.reserve(length)
    discardSpilled()
    try noteNames(of: base)
    lookForHolders()
    try space.follow(base, fileLength: length, held: held, holders: holders)
    space.settle(holders: holders)
    notePressure()
    // Where others are always on their way nobody finds the writer at rest.
    if hasGrown, !group.isIdle { growAhead() }
    if space.hasWaitingPages { held.strikeOffTheDead(atMostEvery: Self.strikeInterval) }
    isOnSealed = false
    hasSpilled = false
    group.beginLine()
    written = base
    kept.note(writtenRefs, of: base)
    writtenRefs.removeAll()
    try editor.begin(birth: try giveNumber(), end: base.end)
    return base
  }

  private func giveNumber() throws(StorageError) -> UInt64 {
    guard control.greatest < MetaPage.maximumVersion else {
      throw .limitExceeded(.versions, path: storage.path)
    }
    control.greatest += 1
    turn.countVersion()
    return control.greatest
  }

  /// Ends the transaction, whose changes lead to `root`: they become part of the next version. Inside the gate; `finish`
  /// waits for their fate outside.
  ///
  /// - Parameter added: rows and entries that there are more than before.
  func seal(
    root: Ref, tables: OpenTables?, added: Int, durability: Durability
  ) throws(StorageError) -> CommitGroup.Pending {
    // Only a forged tree is so high; what stands above 128 could not be read again.
    guard root.level <= Ref.maximumLevel else { throw store.corrupted(.structure, root) }
    guard !storage.isForked else { throw .forked(path: storage.path) }
    guard !isPoisoned else { throw .poisoned(path: storage.path) }
    let pending = CommitGroup.Pending(editor.arena.birth, durability)
    let isLarge = hasSpilled || isRewriting || editor.arena.liveBytes > Self.largestSealed
    let named = try endNamed(below: root)
    let (moved, didMove) = hasSpilled || isRewriting ? (named, false) : moveNodes(below: named)
    let bytes = editor.arena.liveBytes
    let sealed = CommitGroup.Sealed(
      root: moved, freed: editor.seal(), added: added, bytes: bytes, members: [pending])
    if isLarge {
      try writeAlone(sealed)
    } else {
      try group.add(sealed)
      // What was moved they know by the refs from before.
      if let tables, !didMove, named == root { kept.keep(tables, of: pending.number) }
    }
    counters.commits.wrappingAdd(1, ordering: .relaxed)
    return pending
  }

  /// What is large is not kept in memory until it is its turn.
  private func writeAlone(_ sealed: CommitGroup.Sealed) throws(StorageError) {
    try waitForSealed()
    desk.enter()
    defer { desk.leave() }
    let written = try write(sealed, isAlone: true)
    if written.isSynced {
      // One sync at a time: the system tells of a failed one only once. Nobody leads: nothing else is on its way.
      do { try sync() } catch { throw fail(error) }
    }
    group.add(written)
  }

  /// Waits until what the open transaction builds on stands in the file.
  func waitForSealed() throws(StorageError) {
    guard !storage.isForked else { throw .forked(path: storage.path) }
    group.waitUntilIdle(lead: lead)
    guard !isPoisoned else { throw .poisoned(path: storage.path) }
    if isOnSealed, let failure = group.failure { throw failure }
  }

  /// What the last transaction knew of the tables, where it made what `base` is; the caller's then.
  func takeTables(of base: Version) -> OpenTables? { kept.take(of: base.number) }

  /// Waits until the transaction's version is durable or published, as was asked; outside the gate. Answers its number.
  func finish(_ pending: CommitGroup.Pending) throws(StorageError) -> UInt64 {
    guard !storage.isForked else { throw .forked(path: storage.path) }
    return try group.finish(pending, lead: lead)
  }

  /// Waits until it is known what became of what a transaction was built on that changed nothing: it tells the number of
  /// a version that shows what it has seen.
  func waitForFate(of basis: CommitGroup.Pending) throws(StorageError) -> UInt64 {
    guard !storage.isForked else { throw .forked(path: storage.path) }
    return try group.fate(of: basis, lead: lead)
  }

  // MARK: - Leading

  /// Takes what is on its way to disk. One thread at a time.
  private func lead() {
    writeSealed()
    do throws(StorageError) {
      try publish(group.written)
      group.settle(.success(()))
    } catch {
      group.settle(.failure(fail(error)))
    }
  }

  private func writeSealed() {
    guard let sealed = group.takeSealed() else { return }
    desk.enter()
    defer { desk.leave() }
    do throws(StorageError) {
      group.note(try write(sealed))
    } catch {
      group.fail(error)
    }
  }

  /// Makes versions durable, where one of their transactions asks for it, and current for readers.
  private func publish(_ covered: [CommitGroup.Written]) throws(StorageError) {
    guard let newest = covered.last else { return }
    guard !isPoisoned else { throw .poisoned(path: storage.path) }
    let before = control.unsyncedBytes
    control.unsyncedBytes += covered.reduce(0) { $0 + $1.unsyncedBytes }
    if let naming = newest.naming {
      try naming.get()
    } else {
      try writeMeta(
        of: newest.version, durable: newest.isSynced ? newest.version.number : control.durable.number)
    }
    let syncs = covered.contains { $0.mustSync || $0.isFull }
    if syncs { try sync() } else { startWriting(after: before, below: newest.version.end) }
    let named = try held.publish(newest.version, also: group.holders)
    if syncs { held.setDurable(named, page: nextMetaPage) }
  }

  // MARK: - The lock of the file

  private func takeLock() throws(StorageError) {
    if try isLockHere() { return }
    // Others have waited for long: what is pending goes first, then they.
    if isLocked {
      group.waitUntilIdle(lead: lead)
      release()
    }
    try turn.lock(storage, held)
    try didLock()
  }

  /// Takes the lock where that needs no waiting for other processes; inside the gate. Answers whether it was taken.
  func takeLockIfFree() throws(StorageError) -> Bool {
    if try isLockHere() { return true }
    if isLocked { return false }
    guard try turn.lockIfFree(storage, held) else { return false }
    try didLock()
    return true
  }

  /// The lock is held already, and may be kept.
  private func isLockHere() throws(StorageError) -> Bool {
    guard !storage.isForked else { throw .forked(path: storage.path) }
    guard !isClosed else { throw .closed(path: storage.path) }
    return isLocked && !(turn.isOver && held.participants.othersWait(than: held.participant))
  }

  private func didLock() throws(StorageError) {
    isLocked = true
    guard storage.isControlInPlace else { throw .controlReplaced(path: storage.path) }
    owesRecovery = control.needsRecovery && !isPoisoned
    if owesRecovery { try recover() }
  }

  /// Gives the lock up where nothing is pending and nobody writes. Called by whoever has left the gate, or has seen
  /// the fate of its version: the last of them finds the writer at rest.
  func rest() {
    guard !storage.isForked else { return }
    while group.isIdle, gate.tryEnter() {
      let isIdle = group.isIdle
      if isIdle, isLocked {
        if !isPoisoned {
          desk.enter()
          if hasGrown { growAhead() }
          makeSmaller()
          desk.leave()
        }
        release()
      }
      gate.leave()
      if isIdle { return }
    }
  }

  private func release() {
    guard isLocked, group.isIdle else { return }
    // Where an outcome is unknown the mark stays for whoever writes next.
    if !isPoisoned, !owesRecovery { control.inWrite = false }
    isLocked = false
    turn.end(storage, held)
  }

  /// Lets nobody write any more, and nobody vouch for what was written.
  func shut() { poison.store(true, ordering: .releasing) }

  /// Waits for what is on its way, makes all durable, and lets nobody write any more; inside the gate. The last who has
  /// the file open marks it clean. What goes wrong loses nothing that a crash would not.
  func close(isLast: Bool) {
    group.waitUntilIdle(lead: lead)
    release()
    guard !isClosed else { return }
    closed.store(true, ordering: .releasing)
    guard !isPoisoned, (try? storage.lock(.writer, waits: true)) == true else { return }
    defer { storage.unlock(.writer) }
    guard control.isDirty, !control.needsRecovery, storage.isControlInPlace else { return }
    if isLast { try? markClean() } else { try? syncPublished() }
  }

  /// Waits for what is on its way and makes the published version durable; inside the gate. Then nothing newer is on its way.
  ///
  /// - Throws: as `begin`.
  func makeDurable() throws(StorageError) {
    do throws(StorageError) {
      try takeLock()
      group.waitUntilIdle(lead: lead)
      guard !isPoisoned else { throw .poisoned(path: storage.path) }
      try syncPublished()
    } catch {
      release()
      throw error
    }
  }

  /// The meta page that does not name D names the published version, where that is another.
  private func syncPublished() throws(StorageError) {
    guard control.current.number != control.durable.number else { return }
    do { try sync() } catch { throw fail(error) }
    held.setDurable(control.current, page: nextMetaPage)
  }

  /// Makes both meta pages name the published version, and marks them clean.
  private func markClean() throws(StorageError) {
    let published = try held.published()
    let other = nextMetaPage
    do {
      control.inWrite = true
      try writeMeta(published, on: other, durable: control.durable.number, isClean: true)
      try sync()
      held.setDurable(control.current, page: other)
      try writeMeta(published, on: 1 - other, durable: published.number, isClean: true)
      try sync()
    } catch {
      throw fail(error)
    }
    control.isDirty = false
    control.inWrite = false
  }

  // MARK: - Meta pages and syncs

  /// The meta page that does not name D.
  var nextMetaPage: Int { 1 - control.durable.page }

  func writeMeta(of version: Version, durable: UInt64) throws(StorageError) {
    control.isDirty = true
    try writeMeta(version, on: nextMetaPage, durable: durable, isClean: false)
  }

  private func writeMeta(_ version: Version, on page: Int, durable: UInt64, isClean: Bool)
    throws(StorageError)
  {
    let meta = MetaPage(
      constants: constants, version: version, greatest: control.greatest, durable: durable, isClean: isClean,
      time: Clock.now,
      identity: storage.identity, recoveryTime: recovery.time, recoveredTo: recovery.version)
    try storage.write(meta.encoded(cipher: store.cipher), at: UInt64(page * FilePlace.page))
    counters.metaBytes.wrappingAdd(FilePlace.page, ordering: .relaxed)
  }

  /// One at a time: by who leads, or inside the gate where nothing is pending.
  func sync() throws(StorageError) {
    // The system tells of a failure once: the next sync would succeed, and prove nothing.
    guard control.sync != .failed else { throw .poisoned(path: storage.path) }
    control.sync = .inFlight
    do {
      try storage.sync(.data)
    } catch {
      control.sync = .failed
      control.noteFailure(after: control.durable.number)
      throw error
    }
    if !isRewriting { control.sync = .none }
    control.unsyncedBytes = 0
  }

  private func fail(_ error: StorageError) -> StorageError {
    poison.store(true, ordering: .releasing)
    return error
  }
}
