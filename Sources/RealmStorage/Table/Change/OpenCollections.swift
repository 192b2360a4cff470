/// The lists, or the sets and maps, of a table that the transaction changes element by element: each stays open, so that
/// changes that go from one to another cost no nodes each.
struct OpenCollections<Kind: OpenCollection> {
  private var all: [CellPlace: Kind] = [:]
  /// The one that was asked for last: most often it is asked for again.
  private var last: (place: CellPlace, found: Kind)?

  /// The most collections that are open at a time. Each may hold a leaf's elements in memory.
  private static var most: Int { 256 }

  var isEmpty: Bool { all.isEmpty }
  var isFull: Bool { all.count >= Self.most }

  mutating func find(_ place: CellPlace) -> Kind? {
    if let last, last.place == place { return last.found }
    guard let found = all[place] else { return nil }
    last = (place, found)
    return found
  }

  mutating func add(_ open: Kind, at place: CellPlace) {
    all[place] = open
    last = (place, open)
  }

  /// The collections whose cells lack their changes, in the order of their rows.
  func changed() -> [(place: CellPlace, open: Kind)] {
    all.filter { $0.value.isChanged }
      .sorted { ($0.key.row, $0.key.column) < ($1.key.row, $1.key.column) }
      .map { (place: $0.key, open: $0.value) }
  }

  mutating func removeAll() {
    last = nil
    if !all.isEmpty { all.removeAll(keepingCapacity: true) }
  }
}

/// The mixed values of a table whose lists and maps the transaction changes where they are; of a cell one.
struct OpenNestedValues {
  private var all: [CellPlace: OpenNested] = [:]

  /// The most values that are open at a time. Each is in memory whole.
  private static var most: Int { 64 }

  var isAny: Bool { !all.isEmpty }
  var isFull: Bool { all.count >= Self.most }

  func find(_ place: CellPlace) -> OpenNested? { all.isEmpty ? nil : all[place] }

  mutating func add(_ open: OpenNested, at place: CellPlace) { all[place] = open }

  mutating func remove(at place: CellPlace) { all[place] = nil }

  /// The values that their cells lack, in the order of their rows.
  func changed() -> [(place: CellPlace, open: OpenNested)] {
    all.filter { $0.value.isChanged }
      .sorted { ($0.key.row, $0.key.column) < ($1.key.row, $1.key.column) }
      .map { (place: $0.key, open: $0.value) }
  }

  mutating func removeAll() { if !all.isEmpty { all.removeAll() } }
}
