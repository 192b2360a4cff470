import Synchronization

/// Writes nodes to pages of the file, and knows which pages are free: one thread at a time, behind a gate of its own
/// (`GatedState<PageWriter>`).
///
/// The leader of commits comes here to write what was sealed, who makes a transaction to begin a line of them, and to write what is large. Rules:
/// - Nobody syncs here, but for a large transaction that is written by who made it, while nobody leads.
/// - The nodes of a version and the notes of what it took and freed are one visit, and so is the meta page between them, where who leads writes it. Else a transaction could
///   move nodes to pages that are taken already.
/// - What a version frees is noted before the version is pending (FORMAT.md, "Commit").
/// - Nobody waits here, but for the lock *control* where a table of versions is full.
struct PageWriter: ~Copyable {
  let context: WriterContext
  /// Where sealed nodes stand: they are read here and never changed.
  let arena: NodeArena
  let run: RunBuffer
  var space: TrackedSpace
  /// Versions that someone may read or build on, ascending: as they were when nodes were written last, or a line of
  /// transactions began. Who comes after reads what was published then, or later, which is among them.
  private(set) var holders: [UInt64] = []
  /// Nothing was written since they were looked for.
  private var holdersAreNew = false
  /// The version whose nodes were written last.
  private(set) var written: Version?
  /// The refs of nodes in the arena that were written, and where they stand in the file.
  private(set) var writtenRefs = WrittenRefs()
  /// The file was made longer by a commit: there is to be room for the next.
  var hasGrown = false
  /// The nodes of the commit that is being written. The lists are kept for the next one, so that they need no new memory.
  private var nodesToWrite = CommitNodes()
  /// Nodes that the open transaction, or one that was cancelled since, has written before its commit.
  private var spilled: [WrittenNodes] = []
  /// How often the file was made shorter.
  var truncations = 0

  /// In nanoseconds.
  private static let strikeInterval: UInt64 = 100_000_000

  /// - Parameter slack: pages the file may have beyond its share of what is held.
  init(_ context: WriterContext, arena: NodeArena, ring: PageRing, slack: Int) {
    self.context = context
    self.arena = arena
    run = RunBuffer(store: context.store, adopts: true)
    space = TrackedSpace(store: context.store, ring: ring, slack: slack)
  }

  // MARK: - A line of transactions

  /// A line of transactions begins with a version whose nodes stand in the file. Answers what of the arena was written, which is about to be emptied.
  mutating func beginLine(on base: Version, fileLength: UInt64) throws(StorageError) -> WrittenRefs {
    discardSpilled()
    try noteNames(of: base)
    lookForHolders()
    try space.follow(base, fileLength: fileLength, held: context.held, holders: holders)
    space.settle(holders: holders)
    notePressure()
    // Where others are always on their way nobody finds the writer at rest.
    if hasGrown, !context.group.isIdle { growAhead() }
    if space.hasWaitingPages { context.held.strikeOffTheDead(atMostEvery: Self.strikeInterval) }
    context.group.beginLine()
    written = base
    let refs = writtenRefs
    writtenRefs.removeAll()
    return refs
  }

  /// What is on its way is looked at first: it goes from there to what is published. Who can't be listed is looked for
  /// after the holders: it begins with what is published then, or later.
  private mutating func lookForHolders() {
    holdersAreNew = true
    holders.removeAll(keepingCapacity: true)
    context.group.addHolders(to: &holders)
    context.held.addHolders(to: &holders)
    holders.sortWithoutRepeats()
    space.recycles = !context.storage.isHeldElsewhere(.unlistedReader)
  }

  // MARK: - Versions

  /// A version whose nodes are written, and that nobody knows yet.
  struct Draft: ~Copyable {
    fileprivate let sealed: CommitGroup.Sealed
    let version: Version
    fileprivate let last: WrittenNodes
    fileprivate let spilled: [WrittenNodes]
    /// The refs of nodes in the file that were freed.
    fileprivate let freed: [Ref]
    fileprivate let pagesBefore: Int
    fileprivate let bytes: Int
    /// The caller syncs the nodes before a meta page names them.
    let isSynced: Bool
  }

  /// Nodes beyond this are synced before their meta page is written.
  private static let largeCommit = 1 << 20
  private static let smallCommit = 64 << 10
  private static let maximumUnsynced = 16 << 20
  private var unsyncedLimit: Int { min(Self.maximumUnsynced, max(1 << 20, space.liveBytes / 4)) }
  /// Bytes of pages that wait for a sync and are worth one.
  private var worthSync: Int { max(256 << 10, unsyncedLimit / 8) }

  /// Writes the nodes of what was sealed, as the version with the number of its newest member; `note` is to follow. Where they can't be written nothing
  /// has changed.
  ///
  /// - Parameter isAlone: it may be large, and the caller syncs what is, before a meta page names it.
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
    // A row less may take more units than before: keys that had no gaps need to be told one by one.
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
    // Where nodes of those spilled before lay in the arena others lie now.
    writtenRefs.add(last.nodes, writtenAs: last.refs)
    // All that the version reaches lies below, and what it frees besides.
    let root = writtenRefs.find(sealed.root) ?? sealed.root
    let version = Version(number: sealed.number, root: root, pageCount: space.usedEnd)
    return Draft(
      sealed: sealed, version: version, last: last, spilled: spilledBefore, freed: freed,
      pagesBefore: pagesBefore, bytes: bytes, isSynced: isSynced)
  }

  /// Notes what a version took and freed.
  ///
  /// - Parameter isNamed: a meta page was written that names it, or could not be.
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
    // What a sync sets free may do in place of a longer file, where it comes in holes of a small commit's size.
    let isInNeed =
      isLonger && !sealed.isFull && space.isSpacious && waiting >= worthSync && bytes < Self.smallCommit
    if isLonger, !isInNeed { hasGrown = true }
    // A page that vouches for itself is not verified, so nothing may be written over what it names before it is durable.
    let mustSync =
      isSynced || isInNeed
      || context.control.unsyncedBytes + context.group.unsyncedBytes + waiting + bytes > unsyncedLimit
    // What the lists held is noted: their room is kept for the next.
    nodesToWrite.removeAll()
    return CommitGroup.Written(
      version: version, members: sealed.members, bytes: bytes, isSynced: isSynced, mustSync: mustSync,
      isNamed: isNamed, isRewriting: sealed.isRewriting)
  }

  /// What names nodes that were freed in the file. Of those that were sealed in memory, and that nothing led to when they
  /// were written, nothing stands there.
  private func standing(_ freed: [Ref]) -> [Ref] {
    guard freed.contains(where: \.isDirty) else { return freed }
    return freed.compactMap { $0.isDirty ? writtenRefs.find($0) : $0 }
  }

  /// A line of transactions has looked for all of this when it began.
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

  /// The map may have been found wrong since the line began.
  private mutating func findSpace() throws(StorageError) {
    guard space.map == nil, let written else { return }
    try space.follow(
      written, fileLength: try context.storage.length(), held: context.held, holders: holders)
  }

  // MARK: - Before a commit

  /// Writes subtrees of a large transaction before it commits, so that it needs no memory for them; answers the refs
  /// that name them in the file, and the end of what was written. Where the transaction is cancelled, their pages are given back; where there is no room for
  /// them, they stay in memory until it commits.
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
      // The commit may yet find room, in holes and in what it frees.
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
    /// Nodes of the arena that were written.
    let nodes: [Ref]
    /// The end of the bytes that the transaction may read from then on.
    let end: UInt64
  }

  /// Gives the pages of a transaction that was not committed back.
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
