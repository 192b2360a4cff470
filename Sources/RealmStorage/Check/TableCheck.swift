/// What the nodes of a version's tables mean together: the order of keys, the counts, each value; that indexes hold an
/// entry for each row and no other; that links point to rows there are, and the link indexes know each of them.
struct TableCheck {
  private let tables: [UInt32: (schema: TableSchema, root: TableRoot)]
  /// Entries found to be right in the link index of each table.
  private var linkEntries: [UInt32: UInt64] = [:]
  private(set) var rows: UInt64 = 0

  init(_ catalogue: Catalogue, _ access: borrowing NodeAccess) throws(StorageError) {
    var tables: [UInt32: (schema: TableSchema, root: TableRoot)] = [:]
    for schema in try Tables.schemas(catalogue, access) {
      guard schema.id <= catalogue.lastTable else { throw access.corrupted(.structure, catalogue.schema) }
      tables[schema.id] = (schema, try Tables.root(of: schema.id, catalogue, access))
    }
    self.tables = tables
  }

  mutating func run(_ access: borrowing NodeAccess) throws(StorageError) {
    for id in tables.keys.sorted() { try checkTable(id, access) }
    for (id, table) in tables {
      let entries = try OrderedTree.check(table.root.links, access) { _ in }
      guard entries == linkEntries[id] ?? 0 else { throw access.corrupted(.rows, table.root.links) }
    }
  }

  private mutating func checkTable(_ id: UInt32, _ access: borrowing NodeAccess) throws(StorageError) {
    guard let (schema, root) = tables[id] else { return }
    let found = try KeyedTree.check(root.clusters, access) { (leaf) throws(StorageError) in
      try checkCluster(leaf, schema, root, access)
    }
    guard found == root.rows else { throw access.corrupted(.rows, root.clusters) }
    rows += found
    for (columnID, index) in root.indexes {
      guard let column = schema.columns.first(where: { $0.id == columnID }), column.index != .none else {
        throw access.corrupted(.structure, index)
      }
      let entries =
        IntegerIndex.serves(column)
        ? try IntegerIndex.check(index, access) { _ in } : try OrderedTree.check(index, access) { _ in }
      guard entries == root.rows else { throw access.corrupted(.rows, index) }
    }
  }

  private mutating func checkCluster(
    _ ref: Ref, _ schema: TableSchema, _ root: TableRoot, _ access: borrowing NodeAccess
  ) throws(StorageError) -> (rows: UInt64, keys: ClosedRange<UInt64>) {
    let cluster = ClusterNode(try access.node(ref, .cluster))
    guard cluster.tellsBoundsRight() else { throw access.corrupted(.structure, ref) }
    for column in schema.columns {
      for row in 0..<cluster.rows {
        let value = try TableReading.value(column, row, of: cluster, access)
        guard column.accepts(value) else { throw access.corrupted(.structure, ref) }
        let key = cluster.key(row)
        if column.index != .none { try checkIndex(value, column, key, root, access) }
        if column.type == .link { try checkLinks(value, column, key, schema, access) }
      }
    }
    let last = cluster.key(cluster.rows - 1)
    guard last < root.nextKey else { throw access.corrupted(.keyOrder, ref) }
    return (UInt64(cluster.rows), cluster.key(0)...last)
  }

  private func checkIndex(
    _ value: Value, _ column: Column, _ key: UInt64, _ root: TableRoot, _ access: borrowing NodeAccess
  ) throws(StorageError) {
    let index = root.index(of: column)
    if column.index == .unique {
      let first = try IndexTree.row(with: value, of: column, table: root, access)
      guard first == key else { throw access.corrupted(.rows, index) }
      if IntegerIndex.serves(column) { return }
    }
    let encoded = IndexKey.encode(value, of: column)
    var entry = encoded
    IndexKey.appendRow(key, to: &entry)
    let isThere = try OrderedTree.find(entry.span.bytes, in: index, access) { _ in true }
    guard isThere == true else { throw access.corrupted(.rows, index) }
  }

  private mutating func checkLinks(
    _ value: Value, _ column: Column, _ key: UInt64, _ schema: TableSchema, _ access: borrowing NodeAccess
  ) throws(StorageError) {
    var counts: [UInt64: UInt64] = [:]
    for target in value.linkTargets { counts[target, default: 0] += 1 }
    guard !counts.isEmpty else { return }
    guard let target = tables[column.target] else { throw access.corrupted(.structure, .null) }
    for (row, count) in counts {
      guard try TableReading.contains(row, in: target.root.clusters, access) else {
        throw access.corrupted(.rows, target.root.clusters)
      }
      var entry = LinkIndex.head(target: row, table: schema.id, column: column.id)
      IndexKey.appendRow(key, to: &entry)
      let stored = try OrderedTree.find(entry.span.bytes, in: target.root.links, access) { $0.bytes.array }
      guard let stored, LinkIndex.count(stored) == count else {
        throw access.corrupted(.rows, target.root.links)
      }
      linkEntries[column.target, default: 0] += 1
    }
  }
}

extension ClusterNode {
  /// Whether the descriptors tell the nulls, and the bounds that scans rely on, as the values have them.
  fileprivate func tellsBoundsRight() -> Bool {
    for index in 0..<columnCount {
      let descriptor = descriptor(index)
      guard descriptor.encoding != .pieces else { continue }
      var nulls = 0
      for row in 0..<rows {
        if isNull(descriptor, row) {
          nulls += 1
        } else if descriptor.encoding != .fixed, descriptor.column != Self.keyColumn {
          guard (descriptor.least...descriptor.greatest).contains(integer(descriptor, row)) else {
            return false
          }
        }
      }
      guard nulls == Int(descriptor.nullCount) else { return false }
    }
    return true
  }
}
