import RealmStorage

/// A place in a list that an insertion or a move made. A position that is not in force any more stays where it was,
/// invisible, because writers that had not seen its end name it as a neighbour.
struct ListPosition: Sendable, Equatable {
  var element: ElementID
  /// The id of the position. For an element that was never moved it is the id of the element.
  var id: ElementID
  /// The decision that made the position; nil if it was made so long ago that every writer has seen it.
  var record: MergeRecord?
  var parent = ElementID.none
  var isLeftOfParent = false
  /// The position that was the left neighbour when this one was written.
  var left = ElementID.none
  /// The version of the changeset that ended the position; nil while it is in force.
  var end: UInt64?
  /// The element behind which an ended position stands, or none for the beginning of the list.
  var anchor = ElementID.none

  var isInForce: Bool { end == nil }
}

/// The records of the positions of one list.
///
/// Positions that have ended stand behind the elements of the list, in chains. The chain of an element lies between it
/// and the next element.
final class ListRecords {
  /// An entry of a chain.
  struct Link: Equatable {
    var element: ElementID
    var id: ElementID
  }

  /// The records of the object that contains the list. They own this object.
  private unowned let source: ObjectRecords
  private let place: [UInt8]
  private var positions: [ElementID: [ListPosition]] = [:]
  private var chains: [ElementID: [Link]] = [:]
  /// The elements of the positions that moves made, by the ids of the positions.
  private var moved: [ElementID: ElementID] = [:]
  private var changedPositions: Set<ElementID> = []
  private var changedChains: Set<ElementID> = []
  private var madeByMoves: Set<ElementID> = []

  init(_ place: [UInt8], _ source: ObjectRecords) { (self.place, self.source) = (place, source) }

  /// The positions of an element that have a record or have ended.
  func positions(of element: ElementID) throws(StorageError) -> [ListPosition] {
    if let known = positions[element] { return known }
    let found = try source.positions(of: element, inList: place)
    positions[element] = found
    return found
  }

  func position(_ id: ElementID, of element: ElementID) throws(StorageError) -> ListPosition? {
    try positions(of: element).first { $0.id == id }
  }

  /// The element of a position.
  func element(ofPosition id: ElementID) throws(StorageError) -> ElementID {
    if let known = moved[id] { return known }
    let found = try source.element(ofPosition: id, inList: place) ?? id
    moved[id] = found
    return found
  }

  func chain(_ anchor: ElementID) throws(StorageError) -> [Link] {
    if let known = chains[anchor] { return known }
    let found = try source.chain(anchor, inList: place)
    chains[anchor] = found
    return found
  }

  // MARK: - Changing

  func set(_ position: ListPosition) throws(StorageError) {
    var all = try positions(of: position.element)
    if let index = all.firstIndex(where: { $0.id == position.id }) {
      all[index] = position
    } else {
      all.append(position)
    }
    positions[position.element] = all
    changedPositions.insert(position.element)
    guard position.id != position.element else { return }
    moved[position.id] = position.element
    madeByMoves.insert(position.id)
  }

  /// Sets the chain behind an element.
  ///
  /// - Parameter moved: the positions of the chain that stood in another chain before.
  func set(
    _ chain: [Link], behind anchor: ElementID, moved: some Sequence<Link> = []
  ) throws(StorageError) {
    for link in moved {
      guard var position = try position(link.id, of: link.element) else { continue }
      position.anchor = anchor
      try set(position)
    }
    chains[anchor] = chain
    changedChains.insert(anchor)
  }

  /// Passes the changed records on to the records of the object.
  func store() {
    for element in changedPositions {
      source.store(positions[element] ?? [], of: element, inList: place)
    }
    for id in madeByMoves {
      if let element = moved[id] { source.store(element, ofPosition: id, inList: place) }
    }
    for anchor in changedChains { source.store(chains[anchor] ?? [], behind: anchor, inList: place) }
    changedPositions.removeAll()
    changedChains.removeAll()
    madeByMoves.removeAll()
  }
}
