/// One of two databases that are compared. It gives the content of its tables as `ComparedValue`.
struct ComparedSide {
  /// A table, with those of its columns that are compared, in an order that is the same on both sides.
  struct TableOfSide {
    var name: String
    var side: TableDiff.Side
    var columns: [Column]
    var primaryKey: Column? { side.schema.primaryKey }
  }

  let snapshot: Snapshot
  private let tables: [UInt32: TableOfSide]

  /// - Parameter columns: Returns the columns of a table that are compared.
  init(_ snapshot: Snapshot, columns: (TableSchema) -> [Column]) throws(StorageError) {
    self.snapshot = snapshot
    var tables: [UInt32: TableOfSide] = [:]
    for table in try snapshot.tables() {
      let schema = table.schema
      tables[schema.id] = TableOfSide(
        name: schema.name, side: TableDiff.Side(schema: schema, root: table.form.root, reader: snapshot),
        columns: columns(schema))
    }
    self.tables = tables
  }

  subscript(id: UInt32) -> TableOfSide? { tables[id] }

  /// A value of a column of a row, in the form in which it is compared.
  func seen(_ value: Value, _ column: Column) throws(StorageError) -> ComparedValue {
    var owned = Owned()
    return try seen(value, column, &owned)
  }

  /// The identity of a row: its primary key, or the key of the row if the table has no primary key.
  func identity(ofRow key: UInt64, in table: TableOfSide) throws(StorageError) -> RowDifference.Identity {
    guard let column = table.primaryKey else { return .row(key) }
    return .primaryKey(try value(column, ofRow: key, in: table))
  }

  /// A value of a row that must exist.
  ///
  /// - Throws: `.corrupted` if it does not exist, because a link leads to no row.
  @inline(never)
  func value(_ column: Column, ofRow key: UInt64, in table: TableOfSide) throws(StorageError) -> Value {
    let access = snapshot.access()
    guard let value = try TableReading.value(column, ofRow: key, in: table.side.root, access) else {
      throw access.corrupted(.link, table.side.root.clusters)
    }
    return value
  }

  // MARK: - Links

  /// The embedded rows of an object that were found so far.
  private struct Owned {
    var rows: Set<LinkTarget> = []
    /// The number of rows that own each other, from the object down to the current row.
    var levels = 0
  }

  /// The greatest number of levels. The comparison recurses once for each.
  private static let mostLevels = 500

  /// - Parameter owned: The embedded rows that were found in the object so far. If a row is found twice, the file is
  ///   damaged; in a forged file, rows could own each other without end.
  private func seen(
    _ value: Value, _ column: Column, _ owned: inout Owned
  ) throws(StorageError) -> ComparedValue {
    switch value {
    case .link(let row): return try object(LinkTarget(table: column.target, row: row), &owned)
    case .typedLink(let table, let row): return try object(LinkTarget(table: table, row: row), &owned)
    case .list(let elements, _):
      var list: [ComparedValue] = []
      list.reserveCapacity(elements.count)
      for element in elements { list.append(try seen(element, column, &owned)) }
      return column.collection == .set ? .set(list) : .list(list)
    case .map(let map, _):
      var entries: [ComparedValue.Entry] = []
      for (key, value) in zip(map.keys, map.values) {
        entries.append(ComparedValue.Entry(key, try seen(value, column, &owned)))
      }
      return .map(entries)
    default: return .value(value)
    }
  }

  @inline(never)
  private func object(
    _ target: LinkTarget, _ owned: inout Owned
  ) throws(StorageError) -> ComparedValue {
    guard let table = tables[target.table] else {
      throw snapshot.access().corrupted(.link, snapshot.root)
    }
    guard table.side.schema.isEmbedded else {
      guard let column = table.primaryKey else { return .row(table: table.name, key: target.row) }
      return .object(table: table.name, key: try value(column, ofRow: target.row, in: table))
    }
    guard owned.rows.insert(target).inserted, owned.levels < Self.mostLevels else {
      throw snapshot.access().corrupted(.link, table.side.root.clusters)
    }
    owned.levels += 1
    defer { owned.levels -= 1 }
    var entries: [ComparedValue.Entry] = []
    for column in table.columns {
      let value = try value(column, ofRow: target.row, in: table)
      entries.append(ComparedValue.Entry(column.name, try seen(value, column, &owned), of: column))
    }
    return .embedded(entries)
  }

  /// The row of a table without embedded objects that an embedded row belongs to; nil if a damaged file has none.
  func owner(of target: LinkTarget) throws(StorageError) -> LinkTarget? {
    var row = target
    var met: Set<LinkTarget> = []
    while let table = tables[row.table], table.side.schema.isEmbedded {
      guard met.insert(row).inserted else { return nil }
      var source: LinkTarget?
      try LinkIndex.forEach(LinkIndex.targetHead(row.row), in: table.side.root.links, snapshot.access()) {
        source = LinkTarget(table: $0.table, row: $0.source)
        return false
      }
      guard let source else { return nil }
      row = source
    }
    return row
  }
}
