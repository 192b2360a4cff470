/// One of two databases that are compared: what its tables hold, as `ComparedValue`.
struct ComparedSide {
  /// A table, with the columns of it that are compared, in an order that is the same on both sides.
  struct TableOfSide {
    var name: String
    var side: TableDiff.Side
    var columns: [Column]
    var primaryKey: Column? { side.schema.primaryKey }
  }

  let snapshot: Snapshot
  private let tables: [UInt32: TableOfSide]

  /// - Parameter columns: answers the columns that are compared of a table.
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

  /// A value of a column of a row.
  func seen(_ value: Value, _ column: Column) throws(StorageError) -> ComparedValue {
    var owned = Owned()
    return try seen(value, column, &owned)
  }

  /// What is told of a row: its primary key, or its own key where there is none.
  func identity(ofRow key: UInt64, in table: TableOfSide) throws(StorageError) -> RowDifference.Identity {
    guard let column = table.primaryKey else { return .row(key) }
    return .primaryKey(try value(column, ofRow: key, in: table))
  }

  /// A value of a row that must be there.
  ///
  /// - Throws: `.corrupted` where it is not: a link leads to no row.
  @inline(never)
  func value(_ column: Column, ofRow key: UInt64, in table: TableOfSide) throws(StorageError) -> Value {
    let access = snapshot.access()
    guard let value = try TableReading.value(column, ofRow: key, in: table.side.root, access) else {
      throw access.corrupted(.link, table.side.root.clusters)
    }
    return value
  }

  // MARK: - Links

  /// The embedded rows of an object that were met.
  private struct Owned {
    var rows: Set<LinkTarget> = []
    /// So many of them own each other, down to the one that is looked at.
    var levels = 0
  }

  /// Who compares goes down one level for each.
  private static let mostLevels = 500

  /// - Parameter owned: the embedded rows met so far in the object. Of one that is met twice no file tells without damage, and a
  ///   forged one could have them own each other without end.
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

  /// The row of a table that is not embedded to which an embedded row belongs; nil where a damaged file has none.
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
