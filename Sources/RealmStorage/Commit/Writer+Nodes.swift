import Synchronization

extension CommitGroup.Sealed {
  var isFull: Bool { members.contains { $0.durability == .full } }
}

extension CommitGroup.Written {
  var isFull: Bool { members.contains { $0.durability == .full } }
}

/// Writing nodes, at the desk.
extension Writer {
  /// Nodes beyond this are synced before their meta page is written.
  private static let largeCommit = 1 << 20
  private static let smallCommit = 64 << 10
  private static let maximumUnsynced = 16 << 20
  private var unsyncedLimit: Int { min(Self.maximumUnsynced, max(1 << 20, space.liveBytes / 4)) }
  /// Bytes of pages that wait for a sync and are worth one.
  private var worthSync: Int { max(256 << 10, unsyncedLimit / 8) }

  /// Writes what was sealed as the version with the number of its newest member. Where its nodes can't be written nothing
  /// has changed; whether the meta page could be tells `naming`.
  ///
  /// - Parameter isAlone: it may be large, and the caller syncs what is, before a meta page names it. Else one does, as
  ///   soon as the nodes are written: where a sync is asked for the disk works on both while they are noted.
  func write(
    _ sealed: CommitGroup.Sealed, isAlone: Bool = false
  ) throws(StorageError) -> CommitGroup.Written {
    guard !isPoisoned else { throw .poisoned(path: storage.path) }
    try prepareToWrite()
    let pagesBefore = space.pageCount
    defer { nodesToWrite.removeAll() }
    let access = editor.store.access(below: 0, arena: editor.arena)
    try nodesToWrite.collect(sealed.root, writtenRefs, access)
    let freed = standing(sealed.freed)
    // A row less may take more units than before: keys that had no gaps need to be told one by one.
    let frees =
      sealed.added < 0
      || units(nodesToWrite.order) + spilled.reduce(0) { $0 + units($1.nodes) } <= units(freed)
    let last = try write(
      nodesToWrite, birth: sealed.number, usesReserve: frees, prefersParts: !sealed.isFull && !isRewriting)
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
    let naming = isAlone ? nil : name(version, isFull: sealed.isFull)
    for written in spilledBefore { claim(written, birth: sealed.number) }
    claim(last, birth: sealed.number)
    space.commit(version, after: written?.number ?? 0, freed: freed, holders: holders)
    noteNames(of: version, madeOf: sealed.root)
    noteNamedBytes()
    notePressure()
    written = version
    counters.recycledPages.store(space.recycledPages, ordering: .relaxed)
    let waiting = space.waitingBytes(for: control.durable.number)
    let isLonger = !isSynced && space.pageCount > pagesBefore
    // What a sync sets free may do in place of a longer file, where it comes in holes of a small commit's size.
    let isInNeed =
      isLonger && !sealed.isFull && space.isSpacious && waiting >= worthSync && bytes < Self.smallCommit
    if isLonger, !isInNeed { hasGrown = true }
    // A page that vouches for itself is not verified, so nothing may be written over what it names before it is durable.
    let mustSync =
      isSynced || isInNeed
      || control.unsyncedBytes + group.unsyncedBytes + waiting + bytes > unsyncedLimit
    return CommitGroup.Written(
      version: version, members: sealed.members, bytes: bytes, isSynced: isSynced, mustSync: mustSync,
      naming: naming)
  }

  /// Writes the meta page that names a version whose nodes were just written.
  private func name(_ version: Version, isFull: Bool) -> Result<Void, StorageError> {
    do throws(StorageError) {
      try writeMeta(of: version, durable: control.durable.number)
      if isFull { storage.startWriting(FilePlace.page, at: UInt64(nextMetaPage * FilePlace.page)) }
      return .success(())
    } catch {
      return .failure(error)
    }
  }

  /// What names nodes that were freed in the file. Of those that were sealed in memory, and that nothing led to when they
  /// were written, nothing stands there.
  private func standing(_ freed: [Ref]) -> [Ref] {
    guard freed.contains(where: \.isDirty) else { return freed }
    return freed.compactMap { $0.isDirty ? writtenRefs.find($0) : $0 }
  }

  /// A line of transactions has looked for all of this when it began.
  private func prepareToWrite() throws(StorageError) {
    if !holdersAreNew {
      lookForHolders()
      space.settle(holders: holders)
      if hasGrown { growAhead() }
    }
    holdersAreNew = false
    try findSpace()
    space.noteDurable(control.durable.number)
    try held.makeRoom(beside: holders.count)
  }

  /// The map may have been found wrong since the line began.
  private func findSpace() throws(StorageError) {
    guard space.map == nil, let written else { return }
    try space.follow(written, fileLength: try storage.length(), held: held, holders: holders)
  }

  /// Writes subtrees of a large transaction before it commits, so that it needs no memory for them; answers the refs
  /// that name them in the file. Where the transaction is cancelled, their pages are given back; where there is no room for
  /// them, they stay in memory until it commits.
  func spill(_ roots: [Ref]) throws(StorageError) -> [Ref] {
    // What they lead to may be sealed, and is written first.
    try waitForSealed()
    hasSpilled = true
    desk.enter()
    defer { desk.leave() }
    var nodes = CommitNodes()
    var places: [CommitNodes.Target?] = []
    let access = editor.store.access(below: 0, arena: editor.arena)
    for root in roots { places.append(try nodes.collect(root, writtenRefs, access)) }
    lookForHolders()
    space.settle(holders: holders)
    try findSpace()
    let written: WrittenNodes
    do throws(StorageError) {
      written = try write(nodes, birth: editor.arena.birth, leavesReserve: false)
    } catch {
      // The commit may yet find room, in holes and in what it frees.
      guard error.isForWantOfSpace else { throw error }
      return roots
    }
    spilled.append(written)
    startWriting(written)
    for node in nodes.order { editor.arena.free(node) }
    editor.extend(to: UInt64(max(written.end, self.written?.pageCount ?? 0) * FilePlace.page))
    return zip(roots, places).map { root, place in
      switch place {
      case .node(let index): written.refs[index]
      case .written(let ref): ref
      case nil: root
      }
    }
  }

  /// Gives the pages of a transaction that was not committed back.
  func discardSpilled() {
    for written in spilled { for piece in written.pieces { space.giveBack(piece) } }
    spilled = []
  }

  private func units(_ nodes: [Ref]) -> Int {
    nodes.reduce(0) { $0 + store.units(ofLength: $1.length) }
  }

  /// Writes nodes, children before parents, to free pages.
  ///
  /// - Parameters:
  ///   - usesReserve: on a full disk they may be written to the pages that are left free for that.
  ///   - leavesReserve: the file is made longer where these are not free afterwards.
  ///   - prefersParts: nobody asks for a sync, so that two places are as good as one.
  private func write(
    _ nodes: CommitNodes, birth: UInt64, usesReserve: Bool = false, leavesReserve: Bool = true,
    prefersParts: Bool = false
  ) throws(StorageError) -> WrittenNodes {
    guard !nodes.order.isEmpty else { return WrittenNodes() }
    let sizes = nodes.order.map { ref in
      (units: store.units(ofLength: ref.length), isShortLived: ref.kind?.isShortLived ?? true)
    }
    // A version that failed is held by nobody any more, and may be on disk all the same.
    guard !isPoisoned else { throw .poisoned(path: storage.path) }
    let size = RunLayout.size(sizes)
    let layout = RunLayout(
      sizes, isRewriting ? space.placeAtEnd(size) : space.place(size, prefersParts: prefersParts))
    do {
      return try write(nodes, layout, sizes, birth: birth, leavesReserve: leavesReserve && !isRewriting)
    } catch {
      guard leavesReserve, !isRewriting, error.isForWantOfSpace else { throw error }
      let end = Int(try storage.length()) / FilePlace.page
      let holes = space.holes(for: size.whole, below: end, usesReserve: usesReserve)
      guard let layout = RunLayout(sizes, fitting: holes) else { throw error }
      return try write(nodes, layout, sizes, birth: birth, leavesReserve: false)
    }
  }

  private func write(
    _ nodes: CommitNodes, _ layout: RunLayout, _ sizes: [RunLayout.Size], birth: UInt64, leavesReserve: Bool
  ) throws(StorageError) -> WrittenNodes {
    var written = WrittenNodes(nodes: nodes.order, pieces: layout.pieces)
    for piece in layout.pieces { space.take(piece) }
    control.inWrite = true
    do {
      try store.reserve(UInt64(written.end * FilePlace.page))
      written.refs = try write(nodes, layout, birth: birth)
      if leavesReserve { try fillReserve() }
      counters.nodeBytes.wrappingAdd(written.bytes, ordering: .relaxed)
    } catch {
      for piece in layout.pieces { space.giveBack(piece) }
      throw error
    }
    (written.units, written.sizes) = (layout.units, sizes)
    return written
  }

  /// Makes the file longer where what was written took of its end: there are pages left then for what frees space.
  private func fillReserve() throws(StorageError) {
    let pages = space.missingReserve
    guard pages > 0, var map = space.map else { return }
    space.map = nil
    defer { space.map = map }
    try write(zeros: pages, to: &map)
  }

  /// Commits that are not synced are on their way to disk all the same, so that the sync which they lead to waits for the
  /// last of them only.
  ///
  /// - Parameter before: bytes that no sync had reached before the newest commit.
  func startWriting(after before: Int, below end: UInt64) {
    guard control.unsyncedBytes / Self.writingStep > before / Self.writingStep else { return }
    let start = UInt64(2 * FilePlace.page)
    storage.startWriting(Int(end - start), at: start)
  }
  private static let writingStep = 4 << 20

  /// The disk works on the nodes while they are noted and the meta page is made.
  private func startWriting(_ written: WrittenNodes) {
    // What lies between the pieces is on the disk, or waits for a sync too; and each call costs a virtual machine an exit.
    guard let start = written.pieces.lazy.map(\.lowerBound).min() else { return }
    storage.startWriting((written.end - start) * FilePlace.page, at: UInt64(start * FilePlace.page))
  }

  /// Notes nodes written as live in the version they were written for.
  private func claim(_ written: WrittenNodes, birth: UInt64) {
    for index in written.units.indices {
      let (unit, units) = (Int(written.units[index]), written.sizes[index].units)
      guard space.claim(unit: unit, units: units, birth: birth) else {
        preconditionFailure("a commit's nodes overlap")
      }
    }
  }

  /// Seals the nodes children first, so that each parent vouches for what was written, and writes them: of many the first
  /// while the others are sealed.
  private func write(
    _ nodes: CommitNodes, _ layout: RunLayout, birth: UInt64
  ) throws(StorageError) -> [Ref] {
    var final: [Ref] = []
    final.reserveCapacity(nodes.order.count)
    let (run, arena) = (run, editor.arena)
    run.begin(layout.pieces, inOrderBefore: layout.inOrderBefore)
    let reading = nodes.reading
    for index in nodes.order.indices {
      let (node, unit) = (nodes.order[index], layout.units[index])
      // A closure that is made counts a reference, for each node of a small commit too.
      if run.isLarge {
        var (start, end) = (UInt64.max, UInt64.min)
        try run.makeRoom(at: unit, node.length) { (bytes, offset) throws(StorageError) in
          try storage.write(bytes, at: offset)
          (start, end) = (min(start, offset), max(end, offset + UInt64(bytes.byteCount)))
        }
        if start < end { storage.startWriting(Int(end - start), at: start) }
      }
      let ref = run.place(node, of: arena, at: unit, birth: birth) { node in
        for child in reading.childRange(of: index) {
          let (place, target) = reading.child(child)
          switch target {
          case .node(let index): node.setRef(place, to: final[index])
          case .written(let ref): node.setRef(place, to: ref)
          }
        }
      }
      final.append(ref)
    }
    try run.finish { (bytes, offset) throws(StorageError) in try storage.write(bytes, at: offset) }
    return final
  }

  /// What is on its way is looked at first: it goes from there to what is published. Who can't be listed is looked for
  /// after the holders: it begins with what is published then, or later.
  func lookForHolders() {
    holdersAreNew = true
    holders.removeAll(keepingCapacity: true)
    group.addHolders(to: &holders)
    held.addHolders(to: &holders)
    holders.sortWithoutRepeats()
    space.recycles = !storage.isHeldElsewhere(.unlistedReader)
  }
}
