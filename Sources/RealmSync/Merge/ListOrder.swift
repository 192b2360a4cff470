import RealmStorage

/// The order of a list: its elements, and between them the positions that are not in force any more.
///
/// The place of a new position depends on this order and on the neighbours that its writer saw. Concurrent insertions
/// at one place stand in the order of their stamps, the earlier first, and runs of one writer stay together. Nothing
/// depends on records that the writer had acknowledged.
struct ListOrder {
  let list: EditedList
  let records: ListRecords

  /// A location in the order. At offset 0 it is the element at that rank, or the beginning of the list at rank -1. At
  /// another offset it is a position in the chain behind that element.
  struct Location: Comparable {
    var rank: Int
    var offset: Int

    static let beginning = Location(rank: -1, offset: 0)

    static func < (left: Location, right: Location) -> Bool {
      (left.rank, left.offset) < (right.rank, right.offset)
    }
  }

  // MARK: - Walking

  /// The element at a rank, behind which its chain lies; `.none` before the first element.
  func anchor(_ rank: Int) throws(StorageError) -> ElementID {
    rank < 0 ? .none : try list.element(at: rank).id
  }

  private func next(_ location: Location) throws(StorageError) -> Location {
    try records.chain(try anchor(location.rank)).count > location.offset
      ? Location(rank: location.rank, offset: location.offset + 1)
      : Location(rank: location.rank + 1, offset: 0)
  }

  private func previous(_ location: Location) throws(StorageError) -> Location {
    if location.offset > 0 { return Location(rank: location.rank, offset: location.offset - 1) }
    return Location(rank: location.rank - 1, offset: try records.chain(try anchor(location.rank - 1)).count)
  }

  /// The position at a location, which must not be the beginning.
  private func position(at location: Location) throws(StorageError) -> ListPosition {
    if location.offset == 0 {
      let (element, id) = try list.element(at: location.rank)
      if let known = try records.position(id, of: element) { return known }
      return ListPosition(element: element, id: id)
    }
    let link = try records.chain(try anchor(location.rank))[location.offset - 1]
    if let known = try records.position(link.id, of: link.element) { return known }
    return ListPosition(element: link.element, id: link.id, end: 0, anchor: try anchor(location.rank))
  }

  /// The location of a position; nil if the order does not have the position.
  private func location(of position: ListPosition) throws(StorageError) -> Location? {
    if position.isInForce {
      guard let rank = try list.rank(of: position.element) else { return nil }
      return Location(rank: rank, offset: 0)
    }
    let link = ListRecords.Link(element: position.element, id: position.id)
    guard let index = try records.chain(position.anchor).firstIndex(of: link) else { return nil }
    if position.anchor == .none { return Location(rank: -1, offset: index + 1) }
    guard let rank = try list.rank(of: position.anchor) else { return nil }
    return Location(rank: rank, offset: index + 1)
  }

  private func location(ofID id: ElementID) throws(StorageError) -> Location? {
    let element = try records.element(ofPosition: id)
    if let position = try records.position(id, of: element) { return try location(of: position) }
    if let rank = try list.rank(of: element), try list.element(at: rank).place == id {
      return Location(rank: rank, offset: 0)
    }
    guard element == id, let rank = try list.rank(ofPlace: id) else { return nil }
    return Location(rank: rank, offset: 0)
  }

  /// True if there is a position or an element with the id.
  func contains(_ id: ElementID) throws(StorageError) -> Bool {
    if try list.rank(of: id) != nil { return true }
    let element = try records.element(ofPosition: id)
    if element != id { return true }
    if try records.position(id, of: id) != nil { return true }
    return try list.rank(ofPlace: id) != nil
  }

  /// The position of an element as the writer saw it. This is the writer's own latest position that it had not
  /// acknowledged, or else the position that was in force at its base.
  private func positionSeen(
    _ element: ElementID, _ context: MergeContext
  ) throws(StorageError) -> ListPosition? {
    var own: ListPosition?
    var atBase: ListPosition?
    var any: ListPosition?
    var all = try records.positions(of: element)
    if let rank = try list.rank(of: element) {
      let id = try list.element(at: rank).place
      if !all.contains(where: { $0.id == id }) { all.append(ListPosition(element: element, id: id)) }
    }
    for position in all where context.hasSeen(position.record) {
      if let record = position.record, record.version > context.base {
        if let found = own, let best = found.record {
          let isLater =
            best.stamp == record.stamp ? found.id.stored < position.id.stored : best.stamp < record.stamp
          if !isLater { continue }
        }
        own = position
      } else if position.end.map({ $0 > context.base }) ?? true {
        atBase = try later(atBase, position)
      } else {
        any = try later(any, position)
      }
    }
    return own ?? atBase ?? any
  }

  /// The one of two positions that stands further behind.
  private func later(_ one: ListPosition?, _ other: ListPosition) throws(StorageError) -> ListPosition {
    guard let one, let here = try location(of: one), let there = try location(of: other), there < here else {
      return other
    }
    return one
  }

  func isKnown(_ element: ElementID, _ context: MergeContext) throws(StorageError) -> Bool {
    try positionSeen(element, context) != nil
  }

  // MARK: - Placing

  /// The place of a new position, directly behind a location, and what is recorded of the position.
  struct Placement {
    var behind: Location
    var parent: ElementID
    var isLeftOfParent: Bool
    var left: ElementID
  }

  /// The gap between the neighbours that a writer saw.
  private struct Gap {
    var left: Location
    var right: Location
    /// The id of the position at the left; none at the beginning.
    var leftID: ElementID
    /// The position at the right, if the writer named one and it stands behind the left one.
    var rightPosition: ListPosition?
  }

  private func gap(
    _ left: ElementID, _ right: ElementID, _ context: MergeContext
  ) throws(StorageError) -> Gap {
    let end = Location(rank: try list.count(), offset: 0)
    var rightPosition = right == .none ? nil : try positionSeen(right, context)
    var found: Location?
    if let position = rightPosition { found = try location(of: position) }
    if found == nil { rightPosition = nil }
    var gap = Gap(left: .beginning, right: found ?? end, leftID: .none, rightPosition: rightPosition)
    if left != .none {
      // The left neighbour may be an element whose insertion was refused. The new position then goes directly before
      // the right neighbour, or to the end.
      gap.left = try previous(gap.right)
      if let position = try positionSeen(left, context), let seen = try location(of: position) {
        gap.left = seen
      }
    }
    if gap.right <= gap.left { (gap.right, gap.rightPosition) = (end, nil) }
    if gap.left != .beginning { gap.leftID = try self.position(at: gap.left).id }
    return gap
  }

  func place(
    behind left: ElementID, before right: ElementID, _ context: MergeContext
  ) throws(StorageError) -> Placement {
    let gap = try gap(left, right, context)
    // If the right neighbour was itself inserted directly right of the left one, the new position hangs on it, because
    // the writer writes backwards.
    let hangs = gap.rightPosition.flatMap { $0.record != nil && $0.left == gap.leftID ? $0 : nil }
    var placement = Placement(
      behind: gap.left, parent: hangs?.id ?? gap.leftID, isLeftOfParent: hangs != nil, left: gap.leftID)
    if let hangs, let record = hangs.record, record.version > context.base {
      placement.behind = try behindForBackwardRun(gap, hangs, context)
    } else {
      placement.behind = try behindEarlier(gap, context)
    }
    return placement
  }

  /// Searches from the left neighbour to the right, past everything that hangs on concurrent positions which count as
  /// earlier.
  private func behindEarlier(_ gap: Gap, _ context: MergeContext) throws(StorageError) -> Location {
    var roots: [ElementID: Location] = [:]
    var best = gap.left
    var here = try next(gap.left)
    while here < gap.right {
      let position = try position(at: here)
      if context.hasSeen(position.record) {
        // The search passes a position that the writer has seen if it has ended.
        if position.isInForce { break }
      } else {
        let root = try self.position(at: root(of: here, position, gap, context, &roots))
        if root.left == gap.leftID {
          if context.isEarlier(than: root.record) { break }
          best = here
        } else {
          // The search goes on if the root was written behind a position that lies ended in the gap. Otherwise it stops
          // here.
          let standing = root.left == .none ? Location.beginning : try location(ofID: root.left)
          guard root.left != .none, standing.map({ $0 > gap.left }) ?? true else { break }
        }
      }
      here = try next(here)
    }
    return best
  }

  /// Searches from the right neighbour, which is the writer's own, to the left, past positions that hang on it and
  /// count as later.
  private func behindForBackwardRun(
    _ gap: Gap, _ right: ListPosition, _ context: MergeContext
  ) throws(StorageError) -> Location {
    var roots: [ElementID: Location] = [:]
    var best = try previous(gap.right)
    var here = best
    while here > gap.left {
      let position = try position(at: here)
      if context.hasSeen(position.record) {
        if position.isInForce { break }
      } else {
        let root = try self.position(at: root(of: here, position, gap, context, &roots))
        guard root.parent == right.id, root.isLeftOfParent, !context.isLater(than: root.record) else { break }
        best = try previous(here)
      }
      here = try previous(here)
    }
    return best
  }

  /// The outermost ancestor of a position, among the positions in the gap that the writer has not seen.
  private func root(
    of start: Location, _ first: ListPosition, _ gap: Gap, _ context: MergeContext,
    _ roots: inout [ElementID: Location]
  ) throws(StorageError) -> Location {
    var (here, position) = (start, first)
    var below: [ElementID] = []
    var seen: Set<ElementID> = []
    while true {
      if let known = roots[position.id] {
        here = known
        break
      }
      below.append(position.id)
      guard seen.insert(position.id).inserted, position.parent != .none,
        let parent = try location(ofID: position.parent), parent > gap.left, parent < gap.right
      else { break }
      let above = try self.position(at: parent)
      guard !context.hasSeen(above.record) else { break }
      (here, position) = (parent, above)
    }
    for id in below { roots[id] = here }
    return here
  }

  // MARK: - Changing

  /// The visible element to the left of a location, and the ended position there, or none.
  ///
  /// - Parameter moved: the rank of an element that is being moved. Its present position ends and stays where it is.
  func neighbours(
    _ location: Location, without moved: Int? = nil
  ) throws(StorageError) -> (element: ElementID, dead: ElementID) {
    if let moved, location.rank == moved {
      let (element, place) = try list.element(at: moved)
      let chain = try records.chain(element)
      return (try anchor(moved - 1), location.offset == 0 ? place : chain[location.offset - 1].id)
    }
    let element = try anchor(location.rank)
    return (element, location.offset == 0 ? .none : try records.chain(element)[location.offset - 1].id)
  }

  /// The offset directly behind an ended position in the chain of an element; 0 if the chain does not have the
  /// position.
  func offset(behind dead: ElementID, _ element: ElementID) throws(StorageError) -> Int {
    guard dead != .none, let index = try records.chain(element).firstIndex(where: { $0.id == dead }) else {
      return 0
    }
    return index + 1
  }

  /// Records a position in force that was inserted behind an element, at an offset of its chain.
  func noteInserted(
    _ position: ListPosition, behind element: ElementID, offset: Int
  ) throws(StorageError) {
    let chain = try records.chain(element)
    try records.set(position)
    guard offset < chain.count else { return }
    try records.set(Array(chain[offset...]), behind: position.element, moved: chain[offset...])
    try records.set(Array(chain[..<offset]), behind: element)
  }

  /// Records a position that was never in force, or is not in force any more.
  func noteEnded(
    _ position: ListPosition, behind element: ElementID, offset: Int
  ) throws(StorageError) {
    var position = position
    position.anchor = element
    try records.set(position)
    var chain = try records.chain(element)
    chain.insert(ListRecords.Link(element: position.element, id: position.id), at: min(offset, chain.count))
    try records.set(chain, behind: element)
  }

  /// Records that the present position of an element ends. The position stays where it is, behind the element to its
  /// left, and so do the positions that stood behind it.
  func noteEnd(of rank: Int, version: UInt64) throws(StorageError) {
    let (element, id) = try list.element(at: rank)
    let left = try anchor(rank - 1)
    var position = ListPosition(element: element, id: id)
    if let known = try records.position(id, of: element) { position = known }
    (position.end, position.anchor) = (version, left)
    try records.set(position)
    let (before, behind) = (try records.chain(left), try records.chain(element))
    if !behind.isEmpty { try records.set([], behind: element) }
    try records.set(
      before + [ListRecords.Link(element: element, id: id)] + behind, behind: left, moved: behind)
  }
}

extension MergeContext {
  /// True if the changeset counts as later than a decision of another changeset.
  fileprivate func isLater(than record: MergeRecord?) -> Bool {
    guard let record else { return false }
    return isEarlier((record.stamp, record.replica), (stamp, replica))
  }
}
