import RealmInterchange
import RealmStorage
import RealmTestSupport

/// Random tables with random rows: columns of each kind, links in all directions, nested embedded objects, and mixed
/// values with links.
struct RandomDatabase {
  /// A table, with the rows that were made in it.
  private struct Place {
    let table: WritableTable
    let isEmbedded: Bool
    /// The keys of the rows, if the table is not embedded.
    var rows: [UInt64] = []
  }

  private let transaction: WriteTransaction
  private var generator: SeededGenerator
  private var places: [Place] = []
  private var values = RandomValue()
  private let isKeyed: Bool

  private init(_ transaction: WriteTransaction, _ generator: SeededGenerator, isKeyed: Bool) {
    (self.transaction, self.generator, self.isKeyed) = (transaction, generator, isKeyed)
  }

  /// - Parameters:
  ///   - rows: The least number of rows in each table. A few more may be made.
  ///   - isKeyed: True if each table that is not embedded has a primary key.
  static func make(seed: UInt64, rows: Int = 12, isKeyed: Bool = false) throws -> Database {
    let database = try Database(inMemory: "random \(seed)")
    try database.write { transaction in
      var random = RandomDatabase(transaction, SeededGenerator(seed: seed), isKeyed: isKeyed)
      try random.makeTables()
      try random.makeRows(rows)
      try random.makeLinks()
      try random.removeSome()
      try random.makeTrees()
      try transaction.setSchemaVersion(random.generator.chance(50) ? 3 : .max - 1)
    }
    return database
  }

  // MARK: - Tables

  private mutating func makeTables() throws {
    let count = 2 + generator.below(4)
    for number in 0..<count {
      let isEmbedded = number > 0 && generator.chance(35)
      var columns = (0..<1 + generator.below(6)).map { column("\(generator.text(4))\($0)") }
      if !isEmbedded, generator.chance(isKeyed ? 100 : 65) {
        let types: [ColumnType] = [.int64, .string, .uuid, .objectID, .date, .bool]
        let key = Column(
          "key", types[generator.below(types.count)], isOptional: generator.chance(40), index: .unique)
        columns.insert(key, at: generator.below(columns.count + 1))
      }
      let schema = TableSchema("\(generator.text(4))\(number)", isEmbedded: isEmbedded, columns: columns)
      places.append(Place(table: try transaction.createTable(schema), isEmbedded: isEmbedded))
    }
    for place in places {
      for number in 0..<generator.below(5) {
        let target = places[generator.below(places.count)]
        let collections = ColumnCollection.allCases.filter { !target.isEmbedded || $0 != .set }
        try place.table.addColumn(
          Column(
            "link \(number)", .link, collection: collections[generator.below(collections.count)],
            target: target.table.schema.id))
      }
      if generator.chance(50) {
        try place.table.addColumn(
          Column("any", .mixed, collection: ColumnCollection.allCases[generator.below(4)]))
      }
    }
  }

  private mutating func column(_ name: String) -> Column {
    let types = ColumnType.allCases.filter { $0 != .link }
    let type = types[generator.below(types.count)]
    let collection = generator.chance(50) ? ColumnCollection.none : .allCases[generator.below(4)]
    let isIndexed = collection == .none && type.canHave(.plain) && generator.chance(30)
    let isOptional = generator.chance(50)
    let plain = Column(
      name, type, isOptional: isOptional, collection: collection, index: isIndexed ? .plain : .none)
    guard type != .mixed, generator.chance(30) else { return plain }
    let value = RandomValue.single(type, &generator)
    guard plain.canStoreDefault(value) else { return plain }
    return Column(
      name, type, isOptional: isOptional, collection: collection, index: plain.index, storedDefault: value)
  }

  // MARK: - Rows

  private mutating func makeRows(_ count: Int) throws {
    for place in places.indices where !places[place].isEmbedded {
      for _ in 0..<count + generator.below(4) {
        if let row = try makeRow(places[place].table) { places[place].rows.append(row) }
      }
    }
    values.targets = places.flatMap { place in place.rows.map { (place.table.schema.id, $0) } }
  }

  /// Makes a row whose links are not set yet.
  ///
  /// - Returns: The key of the row; nil if its primary key is in use.
  private mutating func makeRow(_ table: WritableTable) throws -> UInt64? {
    var cells: [(Int, Value)] = []
    for (position, column) in table.schema.columns.enumerated() where column.type != .link {
      let value = values.value(of: column, &generator)
      // Numbers of several types may have no order that sorts the elements of a set.
      guard column.accepts(value) else { continue }
      if column.index == .unique, try table.row(withPrimaryKey: value) != nil { return nil }
      if column.index == .unique || !generator.chance(10) { cells.append((position, value)) }
    }
    return try table.insert { (row) throws(StorageError) in
      for (position, value) in cells { try row.set(position, value) }
    }
  }

  private mutating func makeLinks() throws {
    for place in places where !place.isEmbedded {
      for row in place.rows { try setLinks(of: row, in: place.table, levels: 4) }
    }
  }

  private mutating func setLinks(of row: UInt64, in table: WritableTable, levels: Int) throws {
    for (position, column) in table.schema.columns.enumerated() {
      if column.type == .mixed, generator.chance(60) {
        let value = values.value(of: column, &generator)
        if column.accepts(value) { try table.set(value, position, ofRow: row) }
      }
      guard column.type == .link, generator.chance(80) else { continue }
      let target = places.firstIndex { $0.table.schema.id == column.target } ?? 0
      switch column.collection {
      case .none:
        try table.set(try link(target, levels), position, ofRow: row)
      case .list, .set:
        var links: [Value] = []
        for _ in 0..<generator.below(4) {
          let link = try link(target, levels)
          if link != .null { links.append(link) }
        }
        try table.set(column.collection == .set ? .set(links) : .list(links), position, ofRow: row)
      case .map:
        var entries: [(key: String, value: Value)] = []
        for number in 0..<generator.below(4) {
          entries.append((key: "\(generator.text(3))\(number)", value: try link(target, levels)))
        }
        try table.set(.map(ValueMap(entries: entries)), position, ofRow: row)
      }
    }
  }

  /// A link to an existing row, or to a new embedded row.
  private mutating func link(_ target: Int, _ levels: Int) throws -> Value {
    if generator.chance(15) { return .null }
    guard places[target].isEmbedded else {
      let rows = places[target].rows
      return rows.isEmpty ? .null : .link(rows[generator.below(rows.count)])
    }
    guard levels > 0, generator.chance(levels > 2 ? 80 : 40),
      let row = try makeRow(places[target].table)
    else { return .null }
    try setLinks(of: row, in: places[target].table, levels: levels - 1)
    return .link(row)
  }

  // MARK: - The rest

  /// Removes rows that have a primary key. Rows without one are compared by the keys of rows, which would differ in a
  /// new database.
  private mutating func removeSome() throws {
    for place in places where place.table.schema.primaryKey != nil {
      for row in place.rows where generator.chance(10) { try place.table.remove(row) }
    }
  }

  private mutating func makeTrees() throws {
    for number in 0..<generator.below(3) {
      let tree = try transaction.tree("\(generator.text(5))\(number)")
      for _ in 0..<1 + generator.below(10) {
        let key = generator.chance(50) ? generator.bytes(generator.below(10)) : Array(generator.text(5).utf8)
        try tree.set(generator.chance(50) ? generator.bytes(generator.below(30)) : [], for: key)
      }
    }
  }

  // MARK: - As lines

  /// All lines of a file.
  static func lines(of snapshot: Snapshot) throws -> [[UInt8]] {
    let objects = try ObjectLines(snapshot)
    var lines = try objects.head().map { Array($0.utf8) }
    for table in try snapshot.tables() where !table.schema.isEmbedded {
      try objects.forEachObject(of: table) {
        lines.append($0)
        return true
      }
    }
    var writer = JSONWriter()
    for name in try snapshot.treeNames() {
      let line = EntryLine(tree: name, json: true)
      try snapshot.tree(name).forEach { key, value in
        writer.clear()
        line.write(key, value, to: &writer)
        lines.append(writer.bytes)
        return true
      }
    }
    return lines
  }

  /// Reads all lines of a file into a database.
  ///
  /// - Returns: The numbers of objects and entries that were read, and the problems of the lines that were skipped.
  @discardableResult
  static func read(
    _ lines: [[UInt8]], into database: Database, isNew: Bool = true,
    duplicates: ObjectInserter.Duplicates = .areProblems
  ) throws -> (objects: Int, entries: Int, problems: [InputProblem]) {
    try withInput(Array(lines.joined(separator: [0x0a]))) { input in
      try database.write { transaction in
        let reader = JSONLinesImport(input, skipsUnknown: false)
        guard let (head, _) = try reader.next() else { throw InterchangeError("The input is empty.") }
        let whole = WholeImport(reader, transaction, isNew: isNew, duplicates: duplicates)
        var problems: [InputProblem] = []
        try whole.run(head) { problems.append($0) }
        return (whole.objects, whole.entries, problems)
      }
    }
  }

  /// The differences between two databases, as text.
  static func differences(from old: Snapshot, to new: Snapshot) throws -> [String] {
    let comparison = try DatabaseComparison(from: old, to: new)
    var found = comparison.schemaDifferences.map { "\($0)" }
    try comparison.forEachRow {
      found.append("\($0)")
      return found.count < 10
    }
    try comparison.forEachTreeEntry {
      found.append("\($0)")
      return found.count < 10
    }
    return found
  }
}
