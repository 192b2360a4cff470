/// The dirty nodes below some roots, children before parents. Their refs become final in this order.
struct CommitNodes {
  private(set) var order: [Ref] = []
  /// The dirty children of all nodes, in the order of the nodes.
  private var children: [Child] = []
  private var childEnds: [Int] = []
  private var open: [Child] = []

  struct Child {
    /// The index of the child among its parent's refs.
    var place: Int
    var target: Target
  }

  /// Removes all nodes. The lists keep room for as many nodes as most commits have.
  mutating func removeAll() {
    guard order.count <= Self.few, open.capacity <= Self.few, children.count <= Self.few else {
      self = CommitNodes()
      return
    }
    order.removeAll(keepingCapacity: true)
    children.removeAll(keepingCapacity: true)
    childEnds.removeAll(keepingCapacity: true)
  }
  private static let few = 256

  enum Target {
    /// A node of `order`, by its index.
    case node(Int)
    /// A node that was written before, by its ref in the file.
    case written(Ref)
  }

  /// Adds the dirty nodes below `ref`, and then the node of `ref` itself. Returns where that node stands; nil if it is
  /// not dirty.
  @discardableResult
  mutating func collect(
    _ ref: Ref, _ written: WrittenRefs, _ access: borrowing NodeAccess
  ) throws(StorageError) -> Target? {
    guard ref.isDirty else { return nil }
    if let known = written.find(ref) { return .written(known) }
    let first = open.count
    if ref.level > 0 {
      let node = try access.node(ref)
      var next = 0
      while let place = node.nextDirty(from: next) {
        if let target = try collect(node.ref(place), written, access) {
          open.append(Child(place: place, target: target))
        }
        next = place + 1
      }
    }
    // The children are appended one by one. Most nodes have one dirty child, for which the functions for ranges take
    // longer.
    for index in first..<open.count { children.append(open[index]) }
    while open.count > first { open.removeLast() }
    childEnds.append(children.count)
    order.append(ref)
    return .node(order.count - 1)
  }

  /// All nodes with their dirty children. Reading them counts no reference for each node.
  var reading: Reading { Reading(children: children.span, childEnds: childEnds.span) }

  struct Reading: ~Escapable {
    fileprivate let children: Span<Child>
    fileprivate let childEnds: Span<Int>

    /// The dirty children of the node at `index`.
    func childRange(of index: Int) -> Range<Int> {
      (index == 0 ? 0 : childEnds[index - 1])..<childEnds[index]
    }

    func child(_ index: Int) -> (place: Int, target: Target) {
      (children[index].place, children[index].target)
    }
  }
}

/// The places of the nodes of a commit, which are packed at multiples of 64 bytes into whole pages.
///
/// Nodes that stay (leaves, long values) stand apart from nodes that the next commit writes anew (branches, the root),
/// so that pages are freed whole. But if all nodes together need one page less, they share a page. This costs nothing,
/// because it uses only the room behind the last node that stays, which would be free no sooner otherwise.
struct RunLayout {
  /// The first unit of each node, in the order they were given.
  private(set) var units: [UInt64] = []
  /// The pages that hold a node.
  private(set) var pieces: [Range<Int>] = []
  /// The unit in the pieces before which the nodes are in the order in which they were given, with no other node among
  /// them; nil if there is no such order.
  private(set) var inOrderBefore: UInt64?

  typealias Size = (units: Int, isShortLived: Bool)

  /// Packs nodes into the candidates of a place.
  init(_ nodes: [Size], _ place: RunPlace) {
    units.append(contentsOf: repeatElement(0, count: nodes.count))
    var filler = Filler(candidates: place.candidates)
    for (index, node) in nodes.enumerated() where !node.isShortLived {
      units[index] = filler.place(node.units)
    }
    if place.isApart || !Self.isShorterTogether(nodes) { filler.startPage() }
    var end = UInt64.max
    for (index, node) in nodes.enumerated() where node.isShortLived {
      units[index] = filler.place(node.units)
      // The other short-lived nodes follow, perhaps in a hole that lies before this one in the file.
      if end == .max { end = units[index] }
    }
    inOrderBefore = end
    filler.closePiece()
    pieces = filler.pieces
  }

  /// Packs nodes into holes, each into the hole that leaves the least room, so that long holes are left for large
  /// nodes; nil if the nodes do not fit.
  init?(_ nodes: [Size], fitting holes: [Range<Int>]) {
    units.append(contentsOf: repeatElement(0, count: nodes.count))
    var rooms = holes.map {
      (unit: $0.lowerBound * FilePlace.unitsPerPage, end: $0.upperBound * FilePlace.unitsPerPage)
    }
    for index in nodes.indices.sorted(by: { nodes[$0].units > nodes[$1].units }) {
      let size = nodes[index].units
      let fitting = rooms.indices.filter { rooms[$0].end - rooms[$0].unit >= size }
      guard let best = fitting.min(by: { rooms[$0].end - rooms[$0].unit < rooms[$1].end - rooms[$1].unit })
      else {
        return nil
      }
      units[index] = UInt64(rooms[best].unit)
      rooms[best].unit += size
    }
    pieces = zip(holes, rooms).compactMap { hole, room in
      let end = Self.pages(room.unit)
      return end > hole.lowerBound ? hole.lowerBound..<end : nil
    }
  }

  /// The numbers of pages that hold the nodes.
  static func size(_ nodes: [Size]) -> RunSize {
    let (stays, shortLived) = units(nodes)
    return RunSize(
      whole: pages(stays + shortLived), staying: pages(stays), shortLived: pages(shortLived),
      longest: pages(nodes.reduce(0) { max($0, $1.units) }))
  }

  private static func isShorterTogether(_ nodes: [Size]) -> Bool {
    let size = size(nodes)
    return size.whole < size.staying + size.shortLived
  }

  private static func units(_ nodes: [Size]) -> (stays: Int, shortLived: Int) {
    var (stays, shortLived) = (0, 0)
    for node in nodes {
      if node.isShortLived { shortLived += node.units } else { stays += node.units }
    }
    return (stays, shortLived)
  }

  private static func pages(_ units: Int) -> Int {
    (units + FilePlace.unitsPerPage - 1) / FilePlace.unitsPerPage
  }

  private struct Filler {
    let candidates: [Range<Int>]
    var index = 0
    var unit: Int
    var pieces: [Range<Int>] = []

    init(candidates: [Range<Int>]) {
      self.candidates = candidates
      unit = candidates[0].lowerBound * FilePlace.unitsPerPage
    }

    mutating func place(_ size: Int) -> UInt64 {
      while index < candidates.count - 1, unit + size > candidates[index].upperBound * FilePlace.unitsPerPage
      {
        closePiece()
        index += 1
        unit = candidates[index].lowerBound * FilePlace.unitsPerPage
      }
      defer { unit += size }
      return UInt64(unit)
    }

    mutating func startPage() { unit = RunLayout.pages(unit) * FilePlace.unitsPerPage }

    mutating func closePiece() {
      let start = candidates[index].lowerBound
      if RunLayout.pages(unit) > start { pieces.append(start..<RunLayout.pages(unit)) }
    }
  }
}
