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
///    1 MiB of nodes are synced before the meta page is written, which then vouches for itself; such a commit is
///    durable when it returns, whatever was asked.
/// 2. The meta page of the durable version is not written before a newer version is durable.
/// 3. A full commit is published after its sync, a relaxed one when its meta page is written.
/// 4. A write of nodes that fails fails its transaction and changes nothing. A meta page or a sync that fails leaves
///    the outcome unknown: the writer is poisoned until recovery.
///
/// Used by one thread at a time: whoever is inside the database's gate.
final class Writer: @unchecked Sendable {
  // Sendable: all but `poison` is touched inside the gate only.
  let store: NodeStore
  let held: HeldVersions
  let editor: NodeEditor
  private let storage: any Storage
  private let control: ControlBlock
  private let constants: MetaPage.Constants
  private let run: RunBuffer
  var map: PageMap?
  /// Makes the file smaller where it is far larger than what is held in it.
  var compaction: Compaction
  private(set) var greatest: UInt64
  /// Bytes written since the last sync that a sync would have to write out.
  private var unsyncedBytes = 0
  /// What the open transaction, or one cancelled since, has written before its commit.
  private var spilled: [Written] = []
  private var recovery: (time: UInt64, version: UInt64)
  private let poison = Atomic<Bool>(false)
  /// Something was written since the file was opened or cleanly closed.
  private(set) var isDirty: Bool
  /// Rows of a cluster, at most.
  let clusterRows: Int

  /// Nodes beyond this are synced before their meta page is written.
  private static let largeCommit = 1 << 20
  private static let maximumUnsynced = 16 << 20

  init(
    store: NodeStore, held: HeldVersions, control: ControlBlock, constants: MetaPage.Constants,
    greatest: UInt64,
    recovery: (time: UInt64, version: UInt64), isDirty: Bool, spillBytes: Int, clusterRows: Int,
    compaction: Mover.Options
  ) throws(StorageError) {
    self.store = store
    self.held = held
    self.control = control
    self.constants = constants
    self.greatest = greatest
    self.recovery = recovery
    self.isDirty = isDirty
    self.clusterRows = clusterRows
    self.compaction = Compaction(compaction)
    storage = store.storage
    run = RunBuffer(store: store)
    let arena = try NodeArena(refWidth: store.refWidth, capacity: 1 << 36, path: storage.path)
    editor = NodeEditor(store: store, arena: arena)
    editor.onSpill(above: spillBytes) { [unowned self] (roots) throws(StorageError) in try spill(roots) }
  }

  var isPoisoned: Bool { poison.load(ordering: .acquiring) }

  /// Starts a transaction on the published version.
  ///
  /// - Throws: `.poisoned`, `.limitExceeded(.versions)`, or why the space of the file can't be told.
  func begin() throws(StorageError) -> Version {
    guard !isPoisoned else { throw .poisoned(path: storage.path) }
    let published = held.current.published
    if map == nil { try walkSpace(published) }
    compaction.note(published, durable: held.current.durable)
    discardSpilled()
    guard greatest < MetaPage.maximumVersion else { throw .limitExceeded(.versions, path: storage.path) }
    greatest += 1
    control.greatest = greatest
    editor.begin(birth: greatest, end: published.end)
    return published
  }

  /// Writes the transaction's nodes and makes `root` the root of the next version.
  func commit(root: Ref, durability: Durability) throws(StorageError) -> Version {
    // Only a forged tree is so high; what stands above 128 could not be read again.
    guard root.level <= Ref.maximumLevel else { throw store.corrupted(.structure, root) }
    control.inWrite = true
    // What a large transaction wrote before is left alone: no page of it counts as live yet.
    let root = spilled.isEmpty ? moveNodes(below: root) : root
    let pagesBefore = map?.pageCount ?? 0
    spilled.append(try writeNodes(below: root))
    let all = spilled
    spilled = []
    var isSynced = false
    if all.reduce(0, { $0 + $1.bytes }) > Self.largeCommit {
      do {
        try sync()
      } catch {
        throw fail(error)
      }
      isSynced = true
    }
    // All that the version reaches lies below, and what it frees besides.
    let pageCount = map?.usedEnd ?? held.current.published.pageCount
    let final = root.isDirty ? all.last?.refs[root.unit] ?? root : root
    let version = Version(number: editor.arena.birth, root: final, pageCount: pageCount)
    // A page that vouches for itself is not verified, so nothing may be written over what it names before it is durable.
    let mustSync = durability == .full || isSynced || unsyncedBytes + waitingForDurable > unsyncedLimit
    do {
      let page = try writeMeta(version, durable: isSynced ? version.number : held.current.durable)
      if mustSync {
        try sync()
        noteDurable(version.number, page: page)
      }
    } catch {
      throw fail(error)
    }
    for written in all { claim(written) }
    settle(version)
    held.publish(version)
    control.published = version.number
    control.inWrite = false
    isDirty = true
    compaction.note(version, durable: held.current.durable)
    if !isSynced, version.pageCount > pagesBefore { growAhead() }
    makeSmaller()
    return version
  }

  /// Writes what was born after `durable` again, as a new version at free pages, and makes it durable.
  ///
  /// For a successor that finds a sync begun and its outcome never noted: an error may have been seen by nobody, and
  /// the cache then holds nodes that the disk does not.
  func rewrite(bornAfter durable: Version) throws(StorageError) {
    let newest = held.current.published
    let older = store.access(below: max(newest.end, durable.end))
    var walk = SpaceWalk(
      store: store, pageCount: max(newest.pageCount, durable.pageCount), slack: compaction.slack)
    try walk.walkNewest(newest.root, access: older)
    try walk.walkOlder(durable.root, next: newest.number, holders: held.holders, access: older)
    map = walk.map
    _ = try begin()
    let root = try editor.copy(newest.root, bornAfter: durable.number)
    _ = try commit(root: root, durability: .full)
  }

  /// Pages this handle has written that had held something before.
  var recycledPages: Int { map?.recycledCount ?? 0 }
  /// Nodes this handle has moved.
  var movedNodes: Int { compaction.mover.movedNodes }
  /// Times this handle has made the file shorter.
  var truncations: Int { compaction.truncations }

  /// Lets nobody write any more.
  func shut() { poison.store(true, ordering: .releasing) }

  /// Makes both meta pages name the published version, and marks them clean.
  func closeCleanly() throws(StorageError) {
    guard isDirty, !isPoisoned else { return }
    let state = held.current
    let other = 1 - state.durablePage
    do {
      try writeMeta(state.published, on: other, durable: state.durable, isClean: true)
      try sync()
      noteDurable(state.published.number, page: other)
      try writeMeta(state.published, on: 1 - other, durable: state.published.number, isClean: true)
      try sync()
    } catch {
      throw fail(error)
    }
    isDirty = false
  }

  // MARK: - Nodes

  /// Nodes on disk, and the pages they were written to.
  private struct Written {
    /// Where each stands, by its unit in the arena.
    var refs: [UInt64: Ref] = [:]
    var pieces: [Range<Int>] = []
    var claims: [(unit: Int, units: Int)] = []

    var bytes: Int { pieces.reduce(0) { $0 + $1.count * FilePlace.page } }
    /// The page after the last one written.
    var end: Int { pieces.map(\.upperBound).max() ?? 0 }
  }

  private func writeNodes(below root: Ref) throws(StorageError) -> Written {
    var nodes = CommitNodes()
    try nodes.collect(root, editor)
    return try write(nodes.order)
  }

  /// Writes subtrees of a large transaction before it commits, so that it needs no memory for them; answers the refs
  /// that name them in the file. Where the transaction is cancelled, their pages are given back.
  private func spill(_ roots: [Ref]) throws(StorageError) -> [Ref] {
    control.inWrite = true
    var nodes = CommitNodes()
    for root in roots { try nodes.collect(root, editor) }
    let written = try write(nodes.order)
    spilled.append(written)
    for node in nodes.order { editor.arena.free(node) }
    editor.extend(to: UInt64(written.end * FilePlace.page))
    return roots.map { $0.isDirty ? written.refs[$0.unit] ?? $0 : $0 }
  }

  /// Gives the pages of a transaction that was not committed back.
  private func discardSpilled() {
    for written in spilled { for piece in written.pieces { map?.giveBack(piece) } }
    if !spilled.isEmpty { control.inWrite = false }
    spilled = []
  }

  /// Writes nodes, children before parents, to free pages.
  private func write(_ order: [Ref]) throws(StorageError) -> Written {
    guard !order.isEmpty else { return Written() }
    let sizes = order.map { ref in
      (units: store.units(ofLength: ref.length), isShortLived: ref.kind?.isShortLived ?? true)
    }
    map?.settle(holders: held.holders)
    let candidates = map?.candidates(RunLayout.pageCount(sizes)) ?? []
    let layout = RunLayout(sizes, candidates: candidates)
    var written = Written(pieces: layout.pieces)
    for piece in layout.pieces { map?.take(piece) }
    do {
      try store.reserve(UInt64(written.end * FilePlace.page))
      written.refs = try write(order, layout)
    } catch {
      for piece in layout.pieces { map?.giveBack(piece) }
      control.inWrite = !spilled.isEmpty
      throw error
    }
    for index in order.indices { written.claims.append((Int(layout.units[index]), sizes[index].units)) }
    unsyncedBytes += written.bytes
    return written
  }

  /// Notes nodes written as live in the version they were written for.
  private func claim(_ written: Written) {
    for (unit, units) in written.claims {
      guard map?.claim(unit: unit, units: units, birth: editor.arena.birth) ?? false else {
        preconditionFailure("a commit's nodes overlap")
      }
    }
  }

  /// Seals the nodes children first, so that each parent vouches for what was written, and writes piece by piece.
  private func write(_ order: [Ref], _ layout: RunLayout) throws(StorageError) -> [UInt64: Ref] {
    var final: [UInt64: Ref] = [:]
    final.reserveCapacity(order.count)
    var images: [(piece: Range<Int>, buffer: RunBuffer)] = []
    for piece in layout.pieces {
      let buffer = images.isEmpty ? run : RunBuffer(store: store)
      buffer.begin(page: piece.lowerBound, pages: piece.count)
      images.append((piece, buffer))
    }
    for (index, dirty) in order.enumerated() {
      for (position, child) in try editor.access().children(of: dirty).enumerated() where child.isDirty {
        guard let placed = final[child.unit] else {
          preconditionFailure("a parent is sealed before its child")
        }
        editor.arena.setRef(position, of: dirty, to: placed)
      }
      let page = Int(layout.units[index]) / FilePlace.unitsPerPage
      guard let image = images.first(where: { $0.piece.contains(page) }) else {
        preconditionFailure("a node outside of its commit's pages")
      }
      final[dirty.unit] = image.buffer.place(dirty, of: editor.arena, at: layout.units[index])
    }
    for image in images {
      try storage.write(
        image.buffer.bytes(pages: 0..<image.piece.count), at: UInt64(image.piece.lowerBound * FilePlace.page))
    }
    for dirty in order { if let ref = final[dirty.unit] { store.adopt(ref, from: dirty, of: editor.arena) } }
    return final
  }

  /// Frees what the version no longer reaches; its pages wait for those who still may read them.
  private func settle(_ version: Version) {
    let holders = held.holders
    for ref in editor.freed {
      map?.release(
        unit: Int(ref.unit), units: store.units(ofLength: ref.length), freed: version.number, holders: holders
      )
    }
  }

  // MARK: - Meta pages and syncs

  private func writeMeta(_ version: Version, durable: UInt64) throws(StorageError) -> Int {
    let page = 1 - held.current.durablePage
    try writeMeta(version, on: page, durable: durable, isClean: false)
    return page
  }

  private func writeMeta(_ version: Version, on page: Int, durable: UInt64, isClean: Bool)
    throws(StorageError)
  {
    let meta = MetaPage(
      constants: constants, version: version, greatest: greatest, durable: durable, isClean: isClean,
      time: Clock.now,
      identity: storage.identity, recoveryTime: recovery.time, recoveredTo: recovery.version)
    try storage.write(meta.encoded(cipher: store.cipher), at: UInt64(page * FilePlace.page))
  }

  private func sync() throws(StorageError) {
    control.sync = .inFlight
    do {
      try storage.sync(.data)
    } catch {
      control.sync = .failed
      held.expire()
      throw error
    }
    control.sync = .none
    unsyncedBytes = 0
  }

  private func noteDurable(_ version: UInt64, page: Int) {
    // The page first: a successor that finds the new number must find the page that names it.
    control.durablePage = page
    control.durable = version
    held.setDurable(version, page: page)
  }

  private func fail(_ error: StorageError) -> StorageError {
    poison.store(true, ordering: .releasing)
    return error
  }

  private var waitingForDurable: Int {
    (map?.waitingCount(heldBy: held.current.durable) ?? 0) * FilePlace.page
  }

  private var unsyncedLimit: Int {
    let live = (map?.liveUnits ?? 0) * Ref.unit
    return min(Self.maximumUnsynced, max(1 << 20, live / 4))
  }

  // MARK: - Space

  private func walkSpace(_ version: Version) throws(StorageError) {
    // What the file has beyond the version's pages was written ahead of need.
    let pagesOfFile = Int(clamping: try storage.length() / UInt64(FilePlace.page))
    var walk = SpaceWalk(
      store: store, pageCount: max(version.pageCount, pagesOfFile), slack: compaction.slack)
    try walk.walkNewest(version.root, access: store.access(below: version.end))
    map = walk.map
  }
}
