import RealmStorage

/// The elements of a list as they stood before it was replaced. It finds the nearest one to the left of an element that is gone.
///
/// An element that is gone does not come back. So those that were found to be gone are passed over at once from then on, and many elements that are gone beside each other cost no more than
/// one look at each.
final class FormerOrder {
  private let ids: [ElementID]
  private let places: [ElementID: Int]
  /// For each place itself, or one further left where all between are gone; -1 where all are.
  private var lefts: [Int]

  init(_ ids: [ElementID]) {
    self.ids = ids
    var places: [ElementID: Int] = [:]
    for (place, id) in ids.enumerated() { places[id] = place }
    (self.places, lefts) = (places, Array(ids.indices))
  }

  /// The nearest element to the left that is there; none where there is none.
  ///
  /// - Parameters:
  ///   - id: of an element that is gone.
  ///   - isThere: asks the list that took the place of this one.
  func nearest(
    to id: ElementID, _ isThere: (ElementID) throws(StorageError) -> Bool
  ) throws(StorageError) -> ElementID {
    guard let start = places[id] else { return .none }
    var place = known(start - 1)
    while place >= 0 {
      if try isThere(ids[place]) { return ids[place] }
      lefts[place] = place - 1
      place = known(place)
    }
    return .none
  }

  /// The nearest place, at one or to its left, whose element is not known to be gone.
  private func known(_ start: Int) -> Int {
    var end = start
    while end >= 0, lefts[end] != end { end = lefts[end] }
    var place = start
    while place > end {
      let next = lefts[place]
      lefts[place] = end
      place = next
    }
    return end
  }
}
