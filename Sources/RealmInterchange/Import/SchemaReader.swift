package import RealmStorage

/// Makes the tables that lines of a dump describe: `{"table": name, "embedded": flag, "columns": […]}`.
package struct SchemaReader {
  private struct Described {
    let name: String
    let isEmbedded: Bool
    let columns: [JSONNode]
    let line: Int
  }

  private var tables: [Described] = []

  package init() {}

  package var isEmpty: Bool { tables.isEmpty }

  /// Takes a line.
  ///
  /// - Returns: false if the line does not describe a table.
  /// - Throws: `InputProblem` if the line describes a table that can't exist.
  package mutating func take(_ node: JSONNode, line: Int) throws(InputProblem) -> Bool {
    guard let columns = node["columns"]?.array, let name = node["table"]?.string else { return false }
    guard (1...TableSchema.maximumNameLength).contains(name.utf8.count) else {
      throw Self.problem(node, line, "A table has a name of 1 to \(TableSchema.maximumNameLength) bytes.")
    }
    guard !tables.contains(where: { $0.name.utf8.elementsEqual(name.utf8) }) else {
      throw Self.problem(node, line, "The table \(name) was described before.")
    }
    guard columns.count <= TableSchema.maximumColumns else {
      throw Self.problem(node, line, "A table has at most \(TableSchema.maximumColumns) columns.")
    }
    tables.append(
      Described(name: name, isEmbedded: node["embedded"]?.bool ?? false, columns: columns, line: line))
    return true
  }

  /// Makes the tables, or checks that tables with these names in the file fit. Returns them in the order of their
  /// lines.
  ///
  /// A column can link only to a table that exists. So each table is made with the columns before its first link to a
  /// later table, and gets the other columns when all tables exist.
  ///
  /// - Throws: `InputProblem` if a table can't be made; `InterchangeError` if a table in the file differs from the
  ///   described one; `StorageError`.
  package func make(in transaction: WriteTransaction) throws -> [TableSchema] {
    var rest: [(table: Described, columns: ArraySlice<JSONNode>)] = []
    for table in tables {
      if let present = try transaction.table(table.name) {
        try check(table, present.schema, transaction)
        continue
      }
      var end = table.columns.endIndex
      for (position, column) in table.columns.enumerated() {
        guard let target = column["target"]?.string, !target.utf8.elementsEqual(table.name.utf8),
          try transaction.table(target) == nil
        else { continue }
        end = position
        break
      }
      let first = try table.columns[..<end].map { try self.column($0, of: table, transaction) }
      try checkNames(table)
      let schema = TableSchema(table.name, isEmbedded: table.isEmbedded, columns: first)
      try transaction.createTable(schema)
      rest.append((table, table.columns[end...]))
    }
    for (table, columns) in rest {
      for column in columns {
        try transaction.table(table.name)?.addColumn(self.column(column, of: table, transaction))
      }
    }
    return try tables.compactMap { try transaction.table($0.name)?.schema }
  }

  private func checkNames(_ table: Described) throws(InputProblem) {
    var names: Set<[UInt8]> = []
    var hasKey = false
    for column in table.columns {
      let name = column["name"]?.string ?? ""
      guard names.insert(Array(name.utf8)).inserted else {
        throw Self.problem(column, table.line, "The table \(table.name) has two columns of the name \(name).")
      }
      guard column["index"]?.string == ColumnIndex.unique.name else { continue }
      guard !hasKey, !table.isEmbedded else {
        throw Self.problem(
          column, table.line, "A table has one primary key at most, and one of embedded objects has none.")
      }
      hasKey = true
    }
  }

  private func column(
    _ node: JSONNode, of table: Described, _ transaction: WriteTransaction
  ) throws -> Column {
    func problem(_ reason: String) -> InputProblem { Self.problem(node, table.line, reason) }
    guard let name = node["name"]?.string, (1...TableSchema.maximumNameLength).contains(name.utf8.count)
    else {
      throw problem("A column has a name of 1 to \(TableSchema.maximumNameLength) bytes.")
    }
    let typeName = node["type"]?.string ?? ""
    guard let type = ColumnType.allCases.first(where: { $0.name == typeName }) else {
      throw problem(
        "The type of \(name) is one of \(ColumnType.allCases.map(\.name).joined(separator: ", ")).")
    }
    let collectionName = node["collection"]?.string ?? ColumnCollection.none.name
    guard let collection = ColumnCollection.allCases.first(where: { $0.name == collectionName }) else {
      throw problem("The collection of \(name) is none, list, set or map.")
    }
    let indexName = node["index"]?.string ?? ColumnIndex.none.name
    guard let index = [ColumnIndex.none, .plain, .unique].first(where: { $0.name == indexName }),
      type.canHave(index), index == .none || collection == .none
    else { throw problem("\(name) can't have the index \"\(indexName)\".") }
    var target: UInt32 = 0
    if type == .link {
      let name = node["target"]?.string ?? ""
      if !name.utf8.elementsEqual(table.name.utf8) {
        guard let found = try transaction.table(name)?.schema.id else {
          throw problem("There is no table \(name) to link to.")
        }
        target = found
      }
    }
    let isOptional = node["optional"]?.bool ?? false
    let plain = Column(
      name, type, isOptional: isOptional, collection: collection, index: index, target: target)
    guard let stored = node["default"] else { return plain }
    guard collection == .none, type != .link, type != .mixed,
      let value = try? ValueReader.plain(stored, type), plain.canStoreDefault(value)
    else { throw problem("\(name) can't have the default \(stored.shown).") }
    return Column(
      name, type, isOptional: isOptional, collection: collection, index: index, target: target,
      storedDefault: value)
  }

  /// Checks that a table of the file has all columns that are described, and can take their values. It is used for the
  /// input then.
  private func check(_ table: Described, _ schema: TableSchema, _ transaction: WriteTransaction) throws {
    for node in table.columns {
      let column = try column(node, of: table, transaction)
      let found = schema.properties.first { $0.name.utf8.elementsEqual(column.name.utf8) }
      let target = column.target == 0 ? schema.id : column.target
      guard let found, found.type == column.type, found.collection == column.collection,
        found.isOptional || !column.isOptional, column.type != .link || found.target == target,
        (found.index == .unique) == (column.index == .unique)
      else {
        throw InterchangeError(
          "The file has a table \(table.name) in which \(column.name) is \(found == nil ? "not there" : "something else"). Import into a new file, or change the model first."
        )
      }
    }
    guard schema.isEmbedded == table.isEmbedded else {
      let (there, here) =
        schema.isEmbedded ? ("embedded objects", "objects") : ("objects", "embedded objects")
      throw InterchangeError(
        "The file has a table \(table.name) of \(there), and the input has one of \(here). Import into a new file."
      )
    }
  }

  private static func problem(_ node: JSONNode, _ line: Int, _ reason: String) -> InputProblem {
    InputProblem(line: line, column: node.offset + 1, reason)
  }
}
