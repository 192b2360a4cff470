import Synchronization

/// Writes nodes to pages of the file and knows which pages are free. It stands behind a gate of its own
/// (`GatedState<PageWriter>`), which admits one thread at a time.
///
/// The leader of commits enters to write the sealed transactions. A thread that makes a transaction enters to begin a
/// line of transactions, and to write large amounts of nodes. Rules:
/// - The page writer does not sync the file. The one exception is a large transaction that its own thread writes while
///   no thread leads the commits.
/// - The nodes of a version are written, and the pages that it took and freed are noted, in one visit. If the leader
///   makes the visit, it writes the meta page between the two. Otherwise a transaction could move nodes to pages that
///   are already taken.
/// - What a version frees is noted before the version is pending (FORMAT.md, "Commit").
/// - No thread waits here, except for the lock *control* if a table of versions is full.
struct PageWriter: ~Copyable {
  let context: WriterContext
  /// The arena with the sealed nodes, which the page writer reads and never changes.
  let arena: NodeArena
  let run: RunBuffer
  var space: TrackedSpace
  /// The versions that someone may read or build on, ascending. They were determined when nodes were last written or
  /// when a line of transactions began. A reader that comes later reads the version that was published then, which is
  /// among them, or a later one.
  private(set) var holders: [UInt64] = []
  /// Whether nothing was written since the holders were looked for.
  private var holdersAreNew = false
  /// The version whose nodes were written last.
  private(set) var written: Version?
  /// The refs of the nodes in the arena that were written, each with the ref of the node in the file.
  private(set) var writtenRefs = WrittenRefs()
  /// Whether a commit made the file longer. The next commit then needs room ahead.
  var hasGrown = false
  /// The nodes of the commit that is being written. The lists are kept for the next one, so that they need no new memory.
  private var nodesToWrite = CommitNodes()
  /// The nodes that the open transaction, or a transaction cancelled since, has written before its commit.
  private var spilled: [WrittenNodes] = []
  /// The number of times that the file was made shorter.
  var truncations = 0

  /// The least time between two searches for dead participants, in nanoseconds.
  private static let strikeInterval: UInt64 = 100_000_000

  /// - Parameter slack: the number of pages that the file may have beyond the allowed multiple of its held pages.
  init(_ context: WriterContext, arena: NodeArena, ring: PageRing, slack: Int) {
    self.context = context
    self.arena = arena
    run = RunBuffer(store: context.store, adopts: true)
    space = TrackedSpace(store: context.store, ring: ring, slack: slack)
  }

  // MARK: - A line of transactions

  /// Begins a line of transactions with a version whose nodes are in the file. Returns the refs of the nodes in the
  /// arena that were written, because the arena is about to be emptied.
  mutating func beginLine(on base: Version, fileLength: UInt64) throws(StorageError) -> WrittenRefs {
    discardSpilled()
    try noteNames(of: base)
    lookForHolders()
    try space.follow(base, fileLength: fileLength, held: context.held, holders: holders)
    space.settle(holders: holders)
    notePressure()
    // If other commits are always in progress, the writer is never idle, so the file has to grow here.
    if hasGrown, !context.group.isIdle { growAhead() }
    if space.hasWaitingPages { context.held.strikeOffTheDead(atMostEvery: Self.strikeInterval) }
    context.group.beginLine()
    written = base
    let refs = writtenRefs
    writtenRefs.removeAll()
    return refs
  }

  /// Looks for the holders. The versions in progress are read first, because a version moves from there to the
  /// published one. Readers that can't be listed are looked for after the holders, because such a reader begins with
  /// the version that is published at that time, or a later one.
  private mutating func lookForHolders() {
    holdersAreNew = true
    holders.removeAll(keepingCapacity: true)
    context.group.addHolders(to: &holders)
    context.held.addHolders(to: &holders)
    holders.sortWithoutRepeats()
    space.recycles = !context.storage.isHeldElsewhere(.unlistedReader)
  }

  // MARK: - Versions

  /// A version whose nodes are written, and that nothing but the page writer knows yet.
  struct Draft: ~Copyable {
    fileprivate let sealed: CommitGroup.Sealed
    let version: Version
    fileprivate let last: WrittenNodes
    fileprivate let spilled: [WrittenNodes]
    /// The refs of nodes in the file that were freed.
    fileprivate let freed: [Ref]
    fileprivate let pagesBefore: Int
    fileprivate let bytes: Int
    /// Whether the caller must sync the nodes before a meta page names them.
    let isSynced: Bool
  }

  /// The bytes of nodes of one transaction above which they are synced before their meta page is written.
  private static let largeCommit = 1 << 20
  private static let smallCommit = 64 << 10
  private static let maximumUnsynced = 16 << 20
  private var unsyncedLimit: Int { min(Self.maximumUnsynced, max(1 << 20, space.liveBytes / 4)) }
  /// The least number of bytes of pages waiting for a sync that is worth a sync.
  private var worthSync: Int { max(256 << 10, unsyncedLimit / 8) }

  /// Writes the nodes of sealed transactions as the version with the number of the newest of them. The caller must call
  /// `note` afterwards. If the nodes can't be written, nothing has changed.
  ///
  /// - Parameter isAlone: whether the transaction may be large. The caller then syncs the nodes of a large one before a
  ///   meta page names them.
  mutating func writeNodes(
    of sealed: consuming CommitGroup.Sealed, isAlone: Bool = false
  ) throws(StorageError) -> Draft {
    try context.checkPoison()
    try prepareToWrite()
    let pagesBefore = space.pageCount
    nodesToWrite.removeAll()
    let access = context.store.access(below: 0, arena: arena)
    try nodesToWrite.collect(sealed.root, writtenRefs, access)
    let freed = standing(sealed.freed)
    // A deleted row may make other nodes larger, because keys that had no gaps must then be stored one by one.
    let frees =
      sealed.added < 0
      || units(nodesToWrite.order) + spilled.reduce(0) { $0 + units($1.nodes) } <= units(freed)
    let last = try write(
      nodesToWrite, birth: sealed.number,
      Manner(
        usesReserve: frees, prefersParts: !sealed.isFull && !sealed.isRewriting,
        isRewriting: sealed.isRewriting))
    let spilledBefore = spilled
    spilled = []
    let bytes = spilledBefore.reduce(last.bytes) { $0 + $1.bytes }
    let isSynced = isAlone && bytes > Self.largeCommit
    if sealed.isFull, !isSynced { startWriting(last) }
    // The nodes that were spilled before are not added, because other nodes now lie where they lay in the arena.
    writtenRefs.add(last.nodes, writtenAs: last.refs)
    // All nodes that the version reaches, and those that it frees, lie below `usedEnd`.
    let root = writtenRefs.find(sealed.root) ?? sealed.root
    let version = Version(number: sealed.number, root: root, pageCount: space.usedEnd)
    return Draft(
      sealed: sealed, version: version, last: last, spilled: spilledBefore, freed: freed,
      pagesBefore: pagesBefore, bytes: bytes, isSynced: isSynced)
  }

  /// Notes what a version took and freed.
  ///
  /// - Parameter isNamed: whether a meta page that names the version was written.
  mutating func note(_ draft: consuming Draft, isNamed: Bool) -> CommitGroup.Written {
    let (sealed, version, bytes, isSynced) = (draft.sealed, draft.version, draft.bytes, draft.isSynced)
    for written in draft.spilled { claim(written, birth: sealed.number) }
    claim(draft.last, birth: sealed.number)
    space.commit(version, after: written?.number ?? 0, freed: draft.freed, holders: holders)
    noteNames(of: version, madeOf: sealed.root)
    noteNamedBytes()
    notePressure()
    written = version
    context.counters.recycledPages.store(space.recycledPages, ordering: .relaxed)
    let waiting = space.waitingBytes(for: context.control.durable.number)
    let isLonger = !isSynced && space.pageCount > draft.pagesBefore
    // If the commit is small, the pages that a sync frees may be enough, so that the file need not grow further.
    let isInNeed =
      isLonger && !sealed.isFull && space.isSpacious && waiting >= worthSync && bytes < Self.smallCommit
    if isLonger, !isInNeed { hasGrown = true }
    // Recovery does not verify the version of a meta page that vouches for itself, so nothing that the page names may
    // be overwritten before the page is durable.
    let mustSync =
      isSynced || isInNeed
      || context.control.unsyncedBytes + context.group.unsyncedBytes + waiting + bytes > unsyncedLimit
    // The content of the lists is noted now. Their memory is kept for the next commit.
    nodesToWrite.removeAll()
    return CommitGroup.Written(
      version: version, members: sealed.members, bytes: bytes, isSynced: isSynced, mustSync: mustSync,
      isNamed: isNamed, isRewriting: sealed.isRewriting)
  }

  /// The refs of the freed nodes that are in the file. Sealed nodes in memory that nothing led to when the others were
  /// written are not there.
  private func standing(_ freed: [Ref]) -> [Ref] {
    guard freed.contains(where: \.isDirty) else { return freed }
    return freed.compactMap { $0.isDirty ? writtenRefs.find($0) : $0 }
  }

  /// Looks for holders and free pages before nodes are written. The first commit of a line finds them as `beginLine`
  /// left them.
  private mutating func prepareToWrite() throws(StorageError) {
    if !holdersAreNew {
      lookForHolders()
      space.settle(holders: holders)
      if hasGrown { growAhead() }
    }
    holdersAreNew = false
    try findSpace()
    space.noteDurable(context.control.durable.number)
    try context.held.makeRoom(beside: holders.count)
  }

  /// Makes the page map again if it was found to be wrong since the line began.
  private mutating func findSpace() throws(StorageError) {
    guard space.map == nil, let written else { return }
    try space.follow(
      written, fileLength: try context.storage.length(), held: context.held, holders: holders)
  }

  // MARK: - Before a commit

  /// Writes subtrees of a large transaction before it commits, so that it needs no memory for them. Returns the refs
  /// that name them in the file, and the end of what was written; nil if there is no room for them, in which case they
  /// stay in memory until the transaction commits. If the transaction is cancelled, their pages are given back.
  mutating func spill(_ roots: [Ref], birth: UInt64) throws(StorageError) -> Spilled? {
    var nodes = CommitNodes()
    var places: [CommitNodes.Target?] = []
    let access = context.store.access(below: 0, arena: arena)
    for root in roots { places.append(try nodes.collect(root, writtenRefs, access)) }
    lookForHolders()
    space.settle(holders: holders)
    try findSpace()
    let last: WrittenNodes
    do throws(StorageError) {
      last = try write(nodes, birth: birth, Manner(leavesReserve: false))
    } catch {
      // The commit may still find room, in holes and in the pages that it frees.
      guard error.isForWantOfSpace else { throw error }
      return nil
    }
    spilled.append(last)
    startWriting(last)
    let refs = zip(roots, places).map { root, place in
      switch place {
      case .node(let index): last.refs[index]
      case .written(let ref): ref
      case nil: root
      }
    }
    return Spilled(
      refs: refs, nodes: nodes.order, end: UInt64(max(last.end, written?.pageCount ?? 0) * FilePlace.page))
  }

  struct Spilled {
    /// The refs of the subtrees in the file.
    let refs: [Ref]
    /// The nodes of the arena that were written.
    let nodes: [Ref]
    /// The end of the bytes that the transaction may read from then on.
    let end: UInt64
  }

  /// Gives back the pages of a transaction that was not committed.
  private mutating func discardSpilled() {
    for written in spilled { for piece in written.pieces { space.giveBack(piece) } }
    spilled = []
  }
}

extension CommitGroup.Sealed {
  var isFull: Bool { members.contains { $0.durability == .full } }
}

extension CommitGroup.Written {
  var isFull: Bool { members.contains { $0.durability == .full } }
}
