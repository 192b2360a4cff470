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
///    1 MiB of nodes are synced before the version is pending; a meta page that names exactly this version then vouches
///    for itself, and the commit is durable when it returns, whatever was asked.
/// 2. The meta page of the durable version is not written before a newer version is durable, and no meta page is
///    written while a sync is in flight.
/// 3. A full commit is published after its sync, a relaxed one when its meta page is written.
/// 4. A write of nodes that fails fails its transaction and changes nothing. A meta page or a sync that fails leaves
///    the outcome of all pending versions unknown: the writer is poisoned until recovery.
/// 5. The lock of the file is taken to begin a transaction and given up when nothing is pending. Under it one thread
///    at a time is inside the gate and writes nodes; one leads and writes meta pages (`CommitGroup`).
final class Writer: @unchecked Sendable {
  // Sendable: all but `poison`, `closed` and `group` is touched inside the gate only.
  let store: NodeStore
  let held: HeldVersions
  let editor: NodeEditor
  /// Lets in who writes nodes, or rests the writer.
  let gate = Gate()
  private let storage: any Storage
  private let tables: SharedTables
  private let control: ControlBlock
  private let key: [UInt8]?
  private let constants: MetaPage.Constants
  private let run: RunBuffer
  private let group = CommitGroup()
  let counters = WriteCounters()
  var space: TrackedSpace
  /// The tables as the last commit left them, for the next transaction that starts from it.
  private var kept: (version: UInt64, tables: OpenTables)?
  /// Makes the file smaller where it is far larger than what is held in it.
  var compaction: Compaction
  /// Versions that someone may read or build on, ascending: as they were when the open transaction began, or spilled
  /// last. Who comes after reads what was published then, or later, which is among them.
  private var holders: [UInt64] = []
  /// What the open transaction, or one cancelled since, has written before its commit.
  private var spilled: [WrittenNodes] = []
  private var recovery: (time: UInt64, version: UInt64)
  private let poison = Atomic<Bool>(false)
  private let closed = Atomic<Bool>(false)
  private var isLocked = false
  /// Recovery rule 5 is on its way: the mark that it is to be done stays until it is done, whatever is synced meanwhile.
  private var isRewriting = false
  /// What a dead writer left was found and is not yet recovered.
  private var owesRecovery = false
  private var turn = WriterTurn()
  /// The file was made longer by a commit: there is to be room for the next.
  var hasGrown = false
  /// Rows of a cluster, at most.
  let clusterRows: Int

  /// Nodes beyond this are synced before their meta page is written.
  private static let largeCommit = 1 << 20
  private static let maximumUnsynced = 16 << 20
  /// In nanoseconds.
  private static let strikeInterval: UInt64 = 100_000_000

  init(
    store: NodeStore, held: HeldVersions, tables: SharedTables, meta: MetaPair, key: [UInt8]?,
    recovery: (time: UInt64, version: UInt64), options: Database.Options
  ) throws(StorageError) {
    self.store = store
    self.held = held
    self.tables = tables
    self.key = key
    self.recovery = recovery
    control = tables.block
    constants = meta.constants
    clusterRows = options.clusterRows
    storage = store.storage
    run = RunBuffer(store: store)
    compaction = Compaction(options.compaction)
    space = TrackedSpace(store: store, ring: tables.ring, slack: compaction.slack)
    let arena = try NodeArena(refWidth: store.refWidth, capacity: 1 << 36, path: storage.path)
    editor = NodeEditor(store: store, arena: arena)
    editor.onSpill(above: options.spillBytes) { [unowned self] (roots) throws(StorageError) in
      try spill(roots)
    }
  }

  var isPoisoned: Bool { poison.load(ordering: .acquiring) }
  var isClosed: Bool { closed.load(ordering: .acquiring) }

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

  private func beginLocked() throws(StorageError) -> Version {
    // Before what is published is looked at: a version goes from the one to the other. One that fails poisons the writer
    // before it goes, so that is looked at between.
    let pending = group.newest
    guard !isPoisoned else { throw .poisoned(path: storage.path) }
    let base: Version
    if let pending { base = pending } else { base = try held.published() }
    let length = try storage.length()
    guard length >= base.end else { throw .truncated(path: storage.path, length: length, needed: base.end) }
    try store.reserve(length)
    discardSpilled()
    lookForHolders()
    try space.follow(base, fileLength: length, held: held, holders: holders)
    space.settle(holders: holders)
    // Where others are always on their way nobody finds the writer at rest.
    if hasGrown, !group.isIdle { growAhead() }
    guard control.greatest < MetaPage.maximumVersion else {
      throw .limitExceeded(.versions, path: storage.path)
    }
    if space.hasWaitingPages { held.strikeOffTheDead(atMostEvery: Self.strikeInterval) }
    try held.makeRoom(beside: holders.count)
    control.greatest += 1
    turn.countVersion()
    editor.begin(birth: control.greatest, end: base.end)
    return base
  }

  /// Writes the transaction's nodes and makes `root` the root of the next version, which is pending then. Inside the
  /// gate; `finish` waits for its fate outside.
  func prepare(
    root: Ref, base: Version, tables: OpenTables?, durability: Durability
  ) throws(StorageError) -> CommitGroup.Pending {
    // Only a forged tree is so high; what stands above 128 could not be read again.
    guard root.level <= Ref.maximumLevel else { throw store.corrupted(.structure, root) }
    guard !storage.isForked else { throw .forked(path: storage.path) }
    // What a large transaction wrote before is left alone: no page of it counts as live yet.
    let movedBefore = movedNodes
    let root = spilled.isEmpty && !isRewriting ? moveNodes(below: root) : root
    let pagesBefore = space.pageCount
    spilled.append(try writeNodes(below: root))
    let all = spilled
    spilled = []
    if durability == .full, group.isIdle { startWriting(all) }
    let bytes = all.reduce(0) { $0 + $1.bytes }
    let isSynced = bytes > Self.largeCommit
    if isSynced {
      // One sync at a time: the system tells of a failed one only once.
      group.waitUntilIdle()
      guard !isPoisoned else { throw .poisoned(path: storage.path) }
      do { try sync() } catch { throw fail(error) }
    }
    guard !isPoisoned else { throw .poisoned(path: storage.path) }
    let final = root.isDirty ? all.last?.refs.last ?? root : root
    for written in all { claim(written) }
    // All that the version reaches lies below, and what it frees besides.
    let version = Version(number: editor.arena.birth, root: final, pageCount: space.usedEnd)
    space.commit(version, after: base, freed: editor.freed, holders: holders)
    // What was moved they know by the refs from before.
    if let tables, movedNodes == movedBefore, all.count == 1 { keep(tables, of: version, all[0]) }
    if !isSynced, version.pageCount > pagesBefore { hasGrown = true }
    // A page that vouches for itself is not verified, so nothing may be written over what it names before it is durable.
    let waiting =
      control.unsyncedBytes + group.bytes + space.waitingBytes(for: control.durable.number)
    let pending = CommitGroup.Pending(
      version, durability, isSynced: isSynced, mustSync: isSynced || waiting + bytes > unsyncedLimit,
      bytes: isSynced ? 0 : bytes)
    counters.commits.wrappingAdd(1, ordering: .relaxed)
    counters.recycledPages.store(space.recycledPages, ordering: .relaxed)
    group.add(pending)
    return pending
  }

  private func keep(_ tables: OpenTables, of version: Version, _ written: WrittenNodes) {
    guard let refs = WrittenRefs(written.nodes, writtenAs: written.refs), tables.settle(refs) else { return }
    kept = (version.number, tables)
  }

  /// What the last transaction knew of the tables, where it made `version`; the caller's then.
  func takeTables(of version: Version) -> OpenTables? {
    defer { kept = nil }
    return kept?.version == version.number ? kept?.tables : nil
  }

  /// Waits until the version is durable or published, as was asked; outside the gate.
  func finish(_ pending: CommitGroup.Pending) throws(StorageError) {
    try group.finish(pending) { covered in
      do throws(StorageError) {
        try lead(covered)
        return .success(())
      } catch {
        return .failure(fail(error))
      }
    }
  }

  /// Waits until it is known what became of a version that was pending, for who has read it.
  func waitForFate(of version: UInt64) throws(StorageError) {
    group.waitUntilGone(version)
    if isPoisoned, held.block.current.number < version { throw .poisoned(path: storage.path) }
  }

  /// Takes pending versions to disk. One thread at a time.
  private func lead(_ covered: [CommitGroup.Pending]) throws(StorageError) {
    guard !isPoisoned else { throw .poisoned(path: storage.path) }
    guard let newest = covered.last else { return }
    control.unsyncedBytes += covered.reduce(0) { $0 + $1.bytes }
    let page = 1 - control.durable.page
    let durable = newest.isSynced ? newest.version.number : control.durable.number
    control.isDirty = true
    try writeMeta(newest.version, on: page, durable: durable, isClean: false)
    let syncs = covered.contains { $0.durability == .full || $0.mustSync }
    if syncs { try sync() }
    let named = try held.publish(newest.version, also: group.holders)
    if syncs { held.setDurable(named, page: page) }
  }

  // MARK: - The lock of the file

  private func takeLock() throws(StorageError) {
    guard !storage.isForked else { throw .forked(path: storage.path) }
    guard !isClosed else { throw .closed(path: storage.path) }
    if isLocked {
      guard turn.isOver, held.participants.othersWait(than: held.participant) else { return }
      // Others have waited for long: what is pending goes first, then they.
      group.waitUntilIdle()
      release()
    }
    try turn.lock(storage, held)
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
          if hasGrown { growAhead() }
          makeSmaller()
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

  /// Another writer died, or failed, since this one wrote last. Others may be reading.
  private func recover() throws(StorageError) {
    let meta = try MetaPair(storage: storage, key: key)
    guard meta.constants == constants else { throw .notARealmFile(path: storage.path) }
    let recovery = Recovery(storage: storage, store: store, meta: meta)
    try store.reserve(storage.length())
    let found = try recovery.run(tables, isAlone: false)
    try recovery.publish(found, in: tables, holders: held.holders)
    held.wake()
    if found.rejectedPage { self.recovery = (Clock.now, found.version.number) }
    if found.mustRewrite { try rewrite(bornAfter: found.durable) }
    owesRecovery = false
  }

  /// Writes what was born after `durable` again, as a new version at free pages, and makes it durable.
  ///
  /// The pages are behind the end of the file: a meta page that vouches for itself may come back that names what was
  /// written again before, and then again, and whose pages nobody holds any more.
  ///
  /// For a successor that finds a sync begun and its outcome never noted: an error may have been seen by nobody, and
  /// the cache then holds nodes that the disk does not. The system tells the next sync of an error that nobody saw, so
  /// that what others have pinned expires only where there was one.
  private func rewrite(bornAfter durable: Version) throws(StorageError) {
    isRewriting = true
    defer { isRewriting = false }
    let base = try beginLocked()
    let root = try editor.copy(base.root, bornAfter: durable.number)
    try finish(prepare(root: root, base: base, tables: nil, durability: .full))
    control.sync = .none
  }

  /// The same for who has just opened the file, alone, and holds the lock for the writer.
  func finishRecovery(_ found: Recovery.Outcome) throws(StorageError) {
    gate.enter()
    defer { gate.leave() }
    try rewrite(bornAfter: found.durable)
    control.inWrite = false
  }

  /// Pages this handle has written that had held something before.
  var recycledPages: Int { space.recycledPages }
  /// Nodes this handle has moved.
  var movedNodes: Int { compaction.mover.movedNodes }
  /// Times this handle has made the file shorter.
  var truncations: Int { compaction.truncations }

  /// Lets nobody write any more, and nobody vouch for what was written.
  func shut() { poison.store(true, ordering: .releasing) }

  /// Waits for what is on its way, makes all durable, and lets nobody write any more; inside the gate. The last who has
  /// the file open marks it clean. What goes wrong loses nothing that a crash would not.
  func close(isLast: Bool) {
    group.waitUntilIdle()
    release()
    guard !isClosed else { return }
    closed.store(true, ordering: .releasing)
    guard !isPoisoned, (try? storage.lock(.writer, waits: true)) == true else { return }
    defer { storage.unlock(.writer) }
    guard control.isDirty, !control.needsRecovery, storage.isControlInPlace else { return }
    if isLast { try? markClean() } else { try? syncPublished() }
  }

  /// The meta page that does not name D names the published version, where that is another.
  private func syncPublished() throws(StorageError) {
    guard control.current.number != control.durable.number else { return }
    let page = 1 - control.durable.page
    do { try sync() } catch { throw fail(error) }
    held.setDurable(control.current, page: page)
  }

  /// Makes both meta pages name the published version, and marks them clean.
  private func markClean() throws(StorageError) {
    let published = try held.published()
    let other = 1 - control.durable.page
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

  // MARK: - Nodes

  private func writeNodes(below root: Ref) throws(StorageError) -> WrittenNodes {
    var nodes = CommitNodes()
    try nodes.collect(root, editor)
    return try write(nodes)
  }

  /// Writes subtrees of a large transaction before it commits, so that it needs no memory for them; answers the refs
  /// that name them in the file. Where the transaction is cancelled, their pages are given back.
  private func spill(_ roots: [Ref]) throws(StorageError) -> [Ref] {
    var nodes = CommitNodes()
    var places: [Int?] = []
    for root in roots { places.append(try nodes.collect(root, editor)) }
    lookForHolders()
    space.settle(holders: holders)
    let written = try write(nodes)
    spilled.append(written)
    for node in nodes.order { editor.arena.free(node) }
    editor.extend(to: UInt64(written.end * FilePlace.page))
    return zip(roots, places).map { root, place in place.map { written.refs[$0] } ?? root }
  }

  /// Gives the pages of a transaction that was not committed back.
  private func discardSpilled() {
    for written in spilled { for piece in written.pieces { space.giveBack(piece) } }
    spilled = []
  }

  /// Writes nodes, children before parents, to free pages.
  private func write(_ nodes: CommitNodes) throws(StorageError) -> WrittenNodes {
    guard !nodes.order.isEmpty else { return WrittenNodes() }
    let sizes = nodes.order.map { ref in
      (units: store.units(ofLength: ref.length), isShortLived: ref.kind?.isShortLived ?? true)
    }
    // A version that failed is held by nobody any more, and may be on disk all the same.
    guard !isPoisoned else { throw .poisoned(path: storage.path) }
    let layout = RunLayout(
      sizes, candidates: space.candidates(RunLayout.pageCount(sizes), atEnd: isRewriting))
    var written = WrittenNodes(nodes: nodes.order, pieces: layout.pieces)
    for piece in layout.pieces { space.take(piece) }
    control.inWrite = true
    do {
      try store.reserve(UInt64(written.end * FilePlace.page))
      written.refs = try write(nodes, layout)
      counters.nodeBytes.wrappingAdd(written.bytes, ordering: .relaxed)
    } catch {
      for piece in layout.pieces { space.giveBack(piece) }
      throw error
    }
    for index in sizes.indices { written.claims.append((Int(layout.units[index]), sizes[index].units)) }
    return written
  }

  /// Where nobody else commits the disk works on the nodes while the meta page is made.
  private func startWriting(_ all: [WrittenNodes]) {
    for written in all {
      for piece in written.pieces {
        storage.startWriting(
          piece.count * FilePlace.page, at: UInt64(piece.lowerBound * FilePlace.page))
      }
    }
  }

  /// Notes nodes written as live in the version they were written for.
  private func claim(_ written: WrittenNodes) {
    for (unit, units) in written.claims {
      guard space.claim(unit: unit, units: units, birth: editor.arena.birth) else {
        preconditionFailure("a commit's nodes overlap")
      }
    }
  }

  /// Seals the nodes children first, so that each parent vouches for what was written, and writes piece by piece.
  private func write(_ nodes: CommitNodes, _ layout: RunLayout) throws(StorageError) -> [Ref] {
    var final: [Ref] = []
    final.reserveCapacity(nodes.order.count)
    var images: [(piece: Range<Int>, buffer: RunBuffer)] = []
    for piece in layout.pieces {
      let buffer = images.isEmpty ? run : RunBuffer(store: store)
      buffer.begin(page: piece.lowerBound, pages: piece.count)
      images.append((piece, buffer))
    }
    for (index, dirty) in nodes.order.enumerated() {
      for child in nodes.children(of: index) {
        editor.arena.setRef(child.place, of: dirty, to: final[child.index])
      }
      let page = Int(layout.units[index]) / FilePlace.unitsPerPage
      guard let image = images.first(where: { $0.piece.contains(page) }) else {
        preconditionFailure("a node outside of its commit's pages")
      }
      final.append(image.buffer.place(dirty, of: editor.arena, at: layout.units[index]))
    }
    for image in images {
      try storage.write(
        image.buffer.bytes(pages: 0..<image.piece.count), at: UInt64(image.piece.lowerBound * FilePlace.page))
    }
    for (ref, dirty) in zip(final, nodes.order) { store.adopt(ref, from: dirty, of: editor.arena) }
    return final
  }

  /// What is on its way is looked at first: it goes from there to what is published. Who can't be listed is looked for
  /// after the holders: it begins with what is published then, or later.
  private func lookForHolders() {
    holders = group.holders + held.holders
    holders.sortWithoutRepeats()
    space.recycles = !storage.isHeldElsewhere(.unlistedReader)
  }

  // MARK: - Meta pages and syncs

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
  private func sync() throws(StorageError) {
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

  private var unsyncedLimit: Int { min(Self.maximumUnsynced, max(1 << 20, space.liveBytes / 4)) }
}
