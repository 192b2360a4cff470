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

/// Collections that are open: how they are read from their cells, and put back.
extension TableWriter {
  /// The content of the cell of a collection: the root of its tree, or the collection itself.
  enum CollectionCell {
    case tree(Ref)
    case value(Value)
  }

  /// The cell of a row's collection, which from then on may be changed where it stands; nil where there is no such row.
  func collection(_ column: Column, ofRow row: UInt64) throws(StorageError) -> CollectionCell? {
    try putIntoTree(row)
    return try readCollection(column, ofRow: row, editor.access())
  }

  private func readCollection(
    _ column: Column, ofRow row: UInt64, _ access: borrowing NodeAccess
  ) throws(StorageError) -> CollectionCell? {
    guard !clusters.isNull else { return nil }
    let cluster = ClusterNode(try access.node(KeyedTree.leaf(for: row, in: clusters, access), .cluster))
    guard let place = cluster.row(of: row) else { return nil }
    guard let part = cluster.composite(of: column.id) else { return .value(column.absentValue) }
    let cell = try cluster.cell(part, place, dictionary: .null, access.lent)
    if let tree = cell.tree { return .tree(tree) }
    return .value(try TableReading.value(column, place, of: cluster, dictionary: .null, access))
  }

  /// Names in the cells what became of the collections.
  func storeCollections() throws(StorageError) {
    guard openChanges.isAny else { return }
    // They stand in lists and maps, too.
    for (place, open) in nested.changed() { try store(open, at: place) }
    for (place, list) in lists.changed() { try store(list, at: place) }
    for (place, open) in sorted.changed() { try store(open, at: place) }
    openChanges.isAny = false
  }

  private func store(_ open: some OpenCollection, at place: CellPlace) throws(StorageError) {
    do throws(StorageError) {
      switch try open.store() {
      case .tree(let tree):
        clusters = try clusterChange.setTree(tree, open.column, ofRow: place.row, in: root.clusters)
      case .inline(let bytes):
        clusters = try clusterChange.set(inline: bytes, open.column, ofRow: place.row, in: root.clusters)
      }
    } catch {
      throw tables.fail(error)
    }
  }

  /// The same, and holds none of them any more: what they were read from is about to change.
  func forgetCollections() throws(StorageError) {
    try storeCollections()
    dropCollections()
  }

  /// Holds no collection any more.
  ///
  /// - Precondition: none is changed, or what was changed is gone.
  func dropCollections() {
    lists.removeAll()
    sorted.removeAll()
    nested.removeAll()
  }
}
