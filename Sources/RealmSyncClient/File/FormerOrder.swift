import RealmStorage

/// The elements of a list as they stood before the list was replaced. It finds the nearest element to the left of an
/// element that is gone.
///
/// An element that is gone does not come back. So elements that were found to be gone are skipped at once from then on,
/// and many adjacent elements that are gone cost no more than one look at each.
final class FormerOrder {
  private let ids: [ElementID]
  private let places: [ElementID: Int]
  /// For each place the place itself, or a place further left if all elements from there on up to this place are gone;
  /// -1 if all are gone.
  private var lefts: [Int]

  init(_ ids: [ElementID]) {
    self.ids = ids
    var places: [ElementID: Int] = [:]
    for (place, id) in ids.enumerated() { places[id] = place }
    (self.places, lefts) = (places, Array(ids.indices))
  }

  /// The nearest element to the left that still exists; `.none` if there is no such element.
  ///
  /// - Parameters:
  ///   - id: the id of an element that is gone.
  ///   - isThere: asks whether the list that replaced this one has an element.
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

  /// The nearest place, at the start or to its left, whose element is not known to be gone.
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
