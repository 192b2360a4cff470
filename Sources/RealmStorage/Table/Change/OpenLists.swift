/// The lists of a table that the transaction changes element by element: each stays open, so that changes that go from list
/// to list cost no nodes each.
struct OpenLists {
  struct Place: Hashable {
    let row: UInt64
    let column: UInt16
  }

  private var lists: [Place: OpenList] = [:]
  /// The list that was asked for last: most often it is asked for again.
  private var last: (place: Place, list: OpenList)?

  /// So many are open at most: each holds a leaf's elements in memory.
  private static let most = 256

  var isEmpty: Bool { lists.isEmpty }
  var isFull: Bool { lists.count >= Self.most }

  mutating func find(_ place: Place) -> OpenList? {
    if let last, last.place == place { return last.list }
    guard let found = lists[place] else { return nil }
    last = (place, found)
    return found
  }

  mutating func add(_ list: OpenList, at place: Place) {
    lists[place] = list
    last = (place, list)
  }

  /// Those whose cells do not name what they are now, in the order of their rows.
  func changed() -> [(place: Place, list: OpenList)] {
    lists.filter { $0.value.isChanged }
      .sorted { ($0.key.row, $0.key.column) < ($1.key.row, $1.key.column) }
      .map { (place: $0.key, list: $0.value) }
  }

  mutating func removeAll() {
    last = nil
    if !lists.isEmpty { lists.removeAll(keepingCapacity: true) }
  }
}
