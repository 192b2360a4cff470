/// Writes the readable content of a damaged version to a new database: each row, each value and each entry on sound
/// nodes.
///
/// Rows are made first, without their links to other rows. Then links are set to the rows that were made. Rows get new
/// keys, in the order of their old ones. A lost value becomes the zero or the default of its column, or null. The
/// library's own tables, the records for a server, and versions that are kept by name are left out. The new database is
/// not synced.
///
/// All this is one transaction. It takes memory for two words of each row, in addition to the memory of any large
/// transaction.
package final class SalvageCopy {
  /// A table of the new database, and for each of its columns the column in the source.
  private struct CopiedTable {
    let source: Salvage.SalvagedTable
    let target: WritableTable
    let columns: [(from: Int, to: Int)]
    /// The keys of the table's rows in the source and in the target, both in ascending order.
    var before: [UInt64] = []
    var after: [UInt64] = []
    /// For each row of an embedded table, a row that it belongs to, directly or through others; nil while it belongs to
    /// none.
    var owners: [RowPlace?] = []

    func place(of row: UInt64) -> Int? {
      let place = before.partitioningIndex { $0 >= row }
      return place < before.count && before[place] == row ? place : nil
    }
  }

  /// The place of a row: the index of its table in `tables`, and its own index in that table.
  private struct RowPlace: Equatable {
    var table: Int
    var row: Int
  }

  private let source: any NodeReader
  private let transaction: WriteTransaction
  private var tables: [CopiedTable] = []
  /// The indexes in `tables`, by the ids of the tables in the source.
  private var places: [UInt32: Int] = [:]
  private var report = SalvageReport()

  /// Makes a file with the readable content at a path where no file is. It appears at once and whole, or not at all.
  ///
  /// - Parameters:
  ///   - source: The version to read.
  ///   - origin: The path of the file whose mode the new file gets.
  ///   - trees: The names of named trees that are not written.
  /// - Throws: `.system` with `EEXIST` if there is a file at `path`; errors of reading that are not about damage; the
  ///   errors of opening and committing.
  package static func write(
    _ source: any NodeReader, from origin: String, to path: String, encryptionKey: [UInt8]?,
    leavingOut trees: Set<String> = []
  ) throws(StorageError) -> SalvageReport {
    var report = SalvageReport()
    let options = DatabaseOptions(encryptionKey: encryptionKey)
    try Database.make(at: path, like: origin, options: options) { (database) throws(StorageError) in
      report = try run(source, to: database, leavingOut: trees)
    }
    return report
  }

  /// Writes the readable content into a database that has no tables.
  ///
  /// - Throws: The errors of `write`, except for `EEXIST`.
  package static func run(
    _ source: any NodeReader, to database: Database, leavingOut trees: Set<String> = []
  ) throws(StorageError) -> SalvageReport {
    let transaction = try database.beginWrite()
    defer { transaction.cancel() }
    let copy = SalvageCopy(source, transaction)
    let salvage = try Salvage(source)
    try copy.makeTables(salvage.tables)
    for place in copy.tables.indices { try copy.makeRows(of: place, salvage) }
    try copy.copyTrees(salvage.trees.filter { !trees.contains($0.name) }, salvage)
    copy.report.losses = salvage.losses
    // The rows are read a second time. The first reading has reported the losses.
    let again = try Salvage(source)
    for place in copy.tables.indices { try copy.setLinks(of: place, again) }
    try copy.removeWithoutOwner()
    try copy.setSchemaVersion()
    copy.report.tables = copy.tables.count
    for table in copy.tables { copy.report.rows += Int(try table.target.reading().count) }
    try transaction.commit()
    return copy.report
  }

  private init(_ source: any NodeReader, _ transaction: WriteTransaction) {
    (self.source, self.transaction) = (source, transaction)
  }

  // MARK: - Tables

  /// Makes the tables. A column can link only to a table that exists. So each table is made with the columns before its
  /// first link to a later table, and gets the other columns when all tables exist.
  private func makeTables(_ found: [Salvage.SalvagedTable]) throws(StorageError) {
    let ids = Set(found.map(\.schema.id))
    var made: [UInt32: UInt32] = [:]
    var rest: [(table: Salvage.SalvagedTable, columns: ArraySlice<Column>)] = []
    for table in found {
      let schema = table.schema
      guard try transaction.table(schema.name) == nil,
        (1...TableSchema.maximumNameLength).contains(schema.name.utf8.count)
      else {
        report.note(.table(schema.name))
        continue
      }
      let columns = columns(of: schema, among: ids)
      let end = columns.firstIndex { $0.type == .link && $0.target != schema.id && made[$0.target] == nil }
      let first = columns[..<(end ?? columns.count)]
      let new = TableSchema(
        schema.name, isEmbedded: schema.isEmbedded, columns: first.map { Self.copy($0, of: schema, made) })
      made[schema.id] = try transaction.createTable(new).schema.id
      rest.append((table, columns[first.endIndex...]))
    }
    for (table, columns) in rest {
      guard let target = try transaction.table(table.schema.name) else { continue }
      for column in columns {
        // The target table may have been left out because of its name.
        if column.type == .link, made[column.target] == nil {
          report.note(.column(table: table.schema.name, column: column.name))
        } else {
          try target.addColumn(Self.copy(column, of: table.schema, made))
        }
      }
      begin(table, target)
    }
  }

  /// The columns that the new table can have.
  private func columns(of schema: TableSchema, among ids: Set<UInt32>) -> [Column] {
    var hasKey = false
    return schema.properties.compactMap { column in
      guard column.type != .link || ids.contains(column.target) else {
        report.note(.column(table: schema.name, column: column.name))
        return nil
      }
      var column = column
      // In a forged file a table may have two primary keys.
      if column.index == .unique, hasKey { column.index = .none }
      hasKey = hasKey || column.index == .unique
      return column
    }
  }

  private static func copy(_ column: Column, of schema: TableSchema, _ made: [UInt32: UInt32]) -> Column {
    Column(
      column.name, column.type, isOptional: column.isOptional, collection: column.collection,
      index: column.index, target: column.target == schema.id ? 0 : made[column.target] ?? 0,
      storedDefault: column.storedDefault)
  }

  private func begin(_ table: Salvage.SalvagedTable, _ target: WritableTable) {
    var columns: [(from: Int, to: Int)] = []
    for (to, column) in target.schema.columns.enumerated() {
      let from = table.schema.columns.firstIndex {
        !$0.isCompanion && $0.name.utf8.elementsEqual(column.name.utf8)
      }
      if let from { columns.append((from, to)) }
    }
    places[table.schema.id] = tables.count
    tables.append(CopiedTable(source: table, target: target, columns: columns))
  }

  // MARK: - Rows

  private func makeRows(of place: Int, _ salvage: Salvage) throws(StorageError) {
    let table = tables[place]
    let schema = table.target.schema
    let key = schema.columns.firstIndex { $0.index == .unique }
    let simple = table.columns.filter { !schema.columns[$0.to].canLink }
    try salvage.forEachRow(of: table.source) { (row, values) throws(StorageError) in
      if let key, let from = table.columns.first(where: { $0.to == key })?.from, values[from] == nil {
        report.note(.keys(table: schema.name))
        return true
      }
      var fitting: [(Int, Value)] = []
      for (from, to) in simple {
        guard let value = values[from] else { continue }
        if schema.columns[to].accepts(value) {
          fitting.append((to, value))
        } else {
          report.note(.values(table: schema.name, column: schema.columns[to].name))
        }
      }
      do throws(StorageError) {
        let new = try table.target.insert { (new: inout NewRow) throws(StorageError) in
          for (to, value) in fitting { try new.set(to, value) }
        }
        tables[place].before.append(row)
        tables[place].after.append(new)
        if schema.isEmbedded { tables[place].owners.append(nil) }
      } catch {
        guard case .duplicateKey = error else { throw error }
        report.note(.keys(table: schema.name))
      }
      return true
    }
  }

  // MARK: - Links

  private func setLinks(of place: Int, _ salvage: Salvage) throws(StorageError) {
    let table = tables[place]
    let schema = table.target.schema
    let linking = table.columns.filter { schema.columns[$0.to].canLink }
    guard !linking.isEmpty else { return }
    try salvage.forEachRow(of: table.source) { (row, values) throws(StorageError) in
      guard let own = table.place(of: row) else { return true }
      for (from, to) in linking {
        guard let value = values[from] else { continue }
        let column = schema.columns[to]
        let source = table.source.schema.columns[from]
        let found = mapped(value, source, of: RowPlace(table: place, row: own))
        guard column.accepts(found) else {
          report.note(.values(table: schema.name, column: column.name))
          continue
        }
        try table.target.set(found, to, ofRow: table.after[own])
      }
      return true
    }
  }

  /// A value whose links lead to the rows of the target.
  private func mapped(_ value: Value, _ column: Column, of owner: RowPlace) -> Value {
    switch value {
    case .link(let row): target(of: row, column.target, column, owner).map { .link($0.row) } ?? .null
    case .typedLink(let table, let row):
      target(of: row, table, column, owner).map { .typedLink(table: $0.table, row: $0.row) } ?? .null
    case .list(let elements, _):
      if column.type == .link {
        .list(elements.map { mapped($0, column, of: owner) }.filter { $0 != .null })
      } else if column.collection == .set {
        .set(elements.map { mapped($0, column, of: owner) })
      } else {
        .list(elements.map { mapped($0, column, of: owner) })
      }
    case .map(let map, _): .map(map.mapped { mapped($0, column, of: owner) })
    default: value
    }
  }

  /// The row of the target that a row of the source became; nil if it is lost or belongs to another row.
  private func target(
    of row: UInt64, _ id: UInt32, _ column: Column, _ owner: RowPlace
  ) -> (table: UInt32, row: UInt64)? {
    guard let place = places[id], let found = tables[place].place(of: row),
      !tables[place].target.schema.isEmbedded
        || column.type == .link && take(RowPlace(table: place, row: found), for: owner)
    else {
      report.note(.links(table: tables[owner.table].source.schema.name, column: column.name))
      return nil
    }
    return (tables[place].target.schema.id, tables[place].after[found])
  }

  /// Gives an embedded row to its owner. Returns false if it has another owner, or if it would own itself through other
  /// rows.
  private func take(_ part: RowPlace, for owner: RowPlace) -> Bool {
    guard tables[part.table].owners[part.row] == nil, top(of: owner) != part else { return false }
    tables[part.table].owners[part.row] = owner
    return true
  }

  /// The row at the top of the chain of owners of a row. Rows on the way get owners further up, so that long chains are
  /// walked once (path halving: Tarjan and van Leeuwen, "Worst-case analysis of set union algorithms", 1984).
  private func top(of row: RowPlace) -> RowPlace {
    var row = row
    while let above = owner(of: row) {
      if let further = owner(of: above) { tables[row.table].owners[row.row] = further }
      row = above
    }
    return row
  }

  private func owner(of row: RowPlace) -> RowPlace? {
    tables[row.table].target.schema.isEmbedded ? tables[row.table].owners[row.row] : nil
  }

  private func removeWithoutOwner() throws(StorageError) {
    for place in tables.indices where tables[place].target.schema.isEmbedded {
      let table = tables[place]
      let lonely = table.owners.indices.filter { table.owners[$0] == nil }
      guard !lonely.isEmpty else { continue }
      report.note(.parts(table: table.target.schema.name), lonely.count)
      _ = try table.target.remove(lonely.map { table.after[$0] })
    }
  }

  // MARK: - Named trees

  private func copyTrees(_ trees: [Salvage.SalvagedTree], _ salvage: Salvage) throws(StorageError) {
    for tree in trees {
      var count = 0
      let target = try transaction.tree(tree.name)
      try salvage.forEachEntry(of: tree) { (key, value) throws(StorageError) in
        guard let value else { return true }
        try target.set(value, for: key)
        count += 1
        return true
      }
      report.entries += count
      report.trees += count > 0 ? 1 : 0
    }
  }

  private func setSchemaVersion() throws(StorageError) {
    do throws(StorageError) {
      let source = source
      try transaction.setSchemaVersion(Catalogue(source.root, source.access()).schemaVersion)
    } catch {
      guard error.isDamage else { throw error }
    }
  }
}
