import Synchronization

/// How nodes are written into pages.
extension PageWriter {
  struct Manner {
    /// Whether the nodes may be written, on a full disk, to the pages that are left free for this at the end of the
    /// file.
    var usesReserve = false
    /// Whether the file is made longer if these pages are not free afterwards.
    var leavesReserve = true
    /// Whether two places are as good as one, because no transaction asks for a sync.
    var prefersParts = false
    /// Whether the nodes must be written behind the end of the file.
    var isRewriting = false
  }

  func units(_ nodes: [Ref]) -> Int {
    nodes.reduce(0) { $0 + context.store.units(ofLength: $1.length) }
  }

  /// Writes nodes, children before parents, to free pages.
  mutating func write(
    _ nodes: CommitNodes, birth: UInt64, _ manner: Manner
  ) throws(StorageError) -> WrittenNodes {
    guard !nodes.order.isEmpty else { return WrittenNodes() }
    let store = context.store
    let sizes = nodes.order.map { ref in
      (units: store.units(ofLength: ref.length), isShortLived: ref.kind?.isShortLived ?? true)
    }
    // After a failure nobody holds the failed version any more, but it may be on the disk all the same.
    try context.checkPoison()
    let size = RunLayout.size(sizes)
    let place =
      manner.isRewriting ? space.placeAtEnd(size) : space.place(size, prefersParts: manner.prefersParts)
    let leavesReserve = manner.leavesReserve && !manner.isRewriting
    do {
      return try write(nodes, RunLayout(sizes, place), sizes, birth: birth, leavesReserve: leavesReserve)
    } catch {
      guard leavesReserve, error.isForWantOfSpace else { throw error }
      let end = Int(try context.storage.length()) / FilePlace.page
      let holes = space.holes(for: size.whole, below: end, usesReserve: manner.usesReserve)
      guard let layout = RunLayout(sizes, fitting: holes) else { throw error }
      return try write(nodes, layout, sizes, birth: birth, leavesReserve: false)
    }
  }

  private mutating func write(
    _ nodes: CommitNodes, _ layout: RunLayout, _ sizes: [RunLayout.Size], birth: UInt64, leavesReserve: Bool
  ) throws(StorageError) -> WrittenNodes {
    var written = WrittenNodes(nodes: nodes.order, pieces: layout.pieces)
    for piece in layout.pieces { space.take(piece) }
    context.control.inWrite = true
    do {
      try context.store.reserve(UInt64(written.end * FilePlace.page))
      written.refs = try write(nodes, layout, birth: birth)
      if leavesReserve { try fillReserve() }
      context.counters.nodeBytes.wrappingAdd(written.bytes, ordering: .relaxed)
    } catch {
      for piece in layout.pieces { space.giveBack(piece) }
      throw error
    }
    (written.units, written.sizes) = (layout.units, sizes)
    return written
  }

  /// Seals the nodes, children before parents, so that each parent vouches for its children as they were written, and
  /// writes the nodes. If there are many, the first are written while the others are sealed.
  private func write(
    _ nodes: CommitNodes, _ layout: RunLayout, birth: UInt64
  ) throws(StorageError) -> [Ref] {
    var final: [Ref] = []
    final.reserveCapacity(nodes.order.count)
    let (run, arena, storage) = (run, arena, context.storage)
    run.begin(layout.pieces, inOrderBefore: layout.inOrderBefore)
    let reading = nodes.reading
    for index in nodes.order.indices {
      let (node, unit) = (nodes.order[index], layout.units[index])
      // The closure is made only for large runs, because making it counts a reference for each node.
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

  /// Makes the file longer if the written nodes took pages of the reserve at its end. So there are pages left for
  /// commits that free space.
  private mutating func fillReserve() throws(StorageError) {
    let pages = space.missingReserve
    guard pages > 0, var map = space.map else { return }
    space.map = nil
    defer { space.map = map }
    try context.write(zeros: pages, to: &map)
  }

  /// Starts to write the nodes to the disk, which works on them while they are noted and the meta page is made.
  func startWriting(_ written: WrittenNodes) {
    // One call covers all pieces. The pages between them are on the disk already or wait for a sync too, and in a
    // virtual machine each call makes the machine exit to its host.
    guard let start = written.pieces.lazy.map(\.lowerBound).min() else { return }
    context.storage.startWriting(
      (written.end - start) * FilePlace.page, at: UInt64(start * FilePlace.page))
  }

  /// Notes written nodes as live in the version that they were written for.
  mutating func claim(_ written: WrittenNodes, birth: UInt64) {
    for index in written.units.indices {
      let (unit, units) = (Int(written.units[index]), written.sizes[index].units)
      guard space.claim(unit: unit, units: units, birth: birth) else {
        preconditionFailure("a commit's nodes overlap")
      }
    }
  }
}
