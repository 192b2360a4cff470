/// The open collections of a table: the lists, or the sets and maps, that the transaction changes element by element. A
/// collection stays open after a change, so that changes that alternate between collections do not write nodes each
/// time.
struct OpenCollections<Kind: OpenCollection> {
  private var all: [CellPlace: Kind] = [:]
  /// The collection that was found or added last, because in most cases it is the next one, too.
  private var last: (place: CellPlace, found: Kind)?

  /// The greatest number of collections that are open at a time. Each may hold a leaf's elements in memory.
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

  /// The collections with changes that are not in their cells yet, in the order of their rows.
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

/// The open mixed values of a table, whose lists and maps the transaction changes in memory. At most one is open in
/// each cell.
struct OpenNestedValues {
  private var all: [CellPlace: OpenNested] = [:]

  /// The greatest number of values that are open at a time. Each is in memory whole.
  private static var most: Int { 64 }

  var isAny: Bool { !all.isEmpty }
  var isFull: Bool { all.count >= Self.most }

  func find(_ place: CellPlace) -> OpenNested? { all.isEmpty ? nil : all[place] }

  mutating func add(_ open: OpenNested, at place: CellPlace) { all[place] = open }

  mutating func remove(at place: CellPlace) { all[place] = nil }

  /// The values with changes that are not in their cells yet, in the order of their rows.
  func changed() -> [(place: CellPlace, open: OpenNested)] {
    all.filter { $0.value.isChanged }
      .sorted { ($0.key.row, $0.key.column) < ($1.key.row, $1.key.column) }
      .map { (place: $0.key, open: $0.value) }
  }

  mutating func removeAll() { if !all.isEmpty { all.removeAll() } }
}

/// Reading collections from their cells, to open them, and storing them in their cells.
extension TableWriter {
  /// The content of the cell of a collection: the root of its tree, or the collection itself.
  enum CollectionCell {
    case tree(Ref)
    case value(Value)
  }

  /// The content of the cell of a row's collection. Its row is put into the tree first, so that the caller can change
  /// the collection there. Nil if there is no such row.
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

  /// Stores the changed collections in their cells.
  func storeCollections() throws(StorageError) {
    guard openChanges.isAny else { return }
    // Mixed values come first, because they may be elements of open lists and maps.
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

  /// Stores the changed collections in their cells, and closes all collections, because the clusters from which they
  /// were read are about to change.
  func forgetCollections() throws(StorageError) {
    try storeCollections()
    dropCollections()
  }

  /// Closes all collections without storing them.
  ///
  /// - Precondition: none is changed, or the changes are no longer needed.
  func dropCollections() {
    lists.removeAll()
    sorted.removeAll()
    nested.removeAll()
  }
}
