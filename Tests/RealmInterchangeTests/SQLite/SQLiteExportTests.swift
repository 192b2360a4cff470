import Foundation
import RealmInterchange
import RealmStorage
import RealmTestSupport
import Testing

@Suite(.enabled(if: SQLiteReader.isThere, "SQLite's library is not on this machine."))
struct SQLiteExportTests {
  private typealias Cell = SQLiteReader.Cell

  private func export<Result>(
    _ snapshot: Snapshot, trees: [String]? = nil, _ body: (SQLiteReader) throws -> Result
  ) throws -> Result {
    try withTemporaryPath { path in
      try SQLiteExport.write(snapshot, trees: trees ?? snapshot.treeNames(), to: path)
      return try body(try SQLiteReader(path: path))
    }
  }

  /// A name in a statement. The function looks at scalars, because a combining mark after a quotation mark makes one
  /// character of both.
  private func quoted(_ name: String) -> String {
    var text = "\""
    for scalar in name.unicodeScalars {
      if scalar == "\"" { text.unicodeScalars.append(scalar) }
      text.unicodeScalars.append(scalar == "\0" ? "_" : scalar)
    }
    return text + "\""
  }

  private func names(_ file: SQLiteReader) throws -> [String] {
    try file.rows("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY rowid").map { row in
      guard case .text(let bytes)? = row.first else { return "" }
      return String(decoding: bytes, as: UTF8.self)
    }
  }

  /// The cell that a value becomes, by the documentation of the form.
  private func expected(_ value: Value, _ type: ColumnType, _ names: TableNames) -> Cell {
    switch value {
    case .null: return .null
    case .bool(let flag): return .integer(flag ? 1 : 0)
    case .int(let number): return .integer(number)
    case .float(let number): return number.isNaN ? .null : .real(Double(number))
    case .double(let number): return number.isNaN ? .null : .real(number)
    case .string(let text): return .text(text)
    case .data(let bytes): return .blob(bytes)
    case .date: return .text(value.text)
    case .objectID(let id): return .text(Hexadecimal.text(id.bytes))
    case .uuid(let id): return .text(UUIDText.text(id.bytes))
    case .decimal128(let stored): return .text(DecimalNumber(stored).text)
    case .link(let row): return .integer(Int64(bitPattern: row))
    case .typedLink, .list, .map: return .text(value.json(ofOne: .mixed, names))
    }
  }

  // MARK: - Random databases

  @Test(arguments: Slow.seeds(10, slow: 400))
  func `all content of a random database is in the file`(seed: UInt64) throws {
    let snapshot = try RandomDatabase.make(seed: 7000 + seed).snapshot()
    let schemas = try snapshot.schemas()
    let names = TableNames(schemas)
    try export(snapshot) { file in
      let problems = try file.rows("PRAGMA integrity_check") + file.rows("PRAGMA foreign_key_check")
      #expect(problems == [[.text("ok")]], "seed \(seed)")
      for table in try snapshot.tables() {
        try compare(table, names, file, "seed \(seed)")
      }
      let trees = try snapshot.treeNames()
      guard !trees.isEmpty else { return }
      var entries: [[Cell]] = []
      for name in trees {
        try snapshot.tree(name).forEach { key, value in
          entries.append([.text(name), .blob(key), .blob(value)])
          return true
        }
      }
      let found = try file.rows(#"SELECT * FROM "_tree" ORDER BY "tree", "key""#)
      #expect(found == entries, "seed \(seed)")
    }
  }

  private func compare(_ table: Table, _ names: TableNames, _ file: SQLiteReader, _ context: String) throws {
    let schema = table.schema
    let columns = schema.columns.enumerated().filter { !$0.element.isCollection }
    var (rows, elements): ([[Cell]], [Int: [[Cell]]]) = ([], [:])
    try table.forEach { key, values in
      let own = Cell.integer(Int64(bitPattern: key))
      rows.append([own] + columns.map { expected(values[$0.offset], $0.element.type, names) })
      for (place, column) in schema.columns.enumerated() where column.isCollection {
        switch values[place] {
        case .list(let list, _):
          for (position, element) in list.enumerated() {
            elements[place, default: []].append(
              [own, .integer(Int64(position)), expected(element, column.type, names)])
          }
        case .map(let map, _):
          for (name, element) in zip(map.keys, map.values) {
            elements[place, default: []].append([own, .text(name), expected(element, column.type, names)])
          }
        default: break
        }
      }
      return true
    }
    let found = try file.rows("SELECT * FROM \(quoted(schema.name)) ORDER BY \"_key\"")
    #expect(found == rows, "\(context), \(JSON.string(schema.name))")
    for (place, column) in schema.columns.enumerated() where column.isCollection {
      let order = column.collection == .map ? "key" : "position"
      let found = try file.rows(
        "SELECT * FROM \(quoted(schema.name + "." + column.name)) ORDER BY \"owner\", \"\(order)\"")
      #expect(found == elements[place] ?? [], "\(context), \(JSON.string(column.name))")
    }
  }

  // MARK: - Names

  @Test func `names that SQLite does not distinguish, reserves or can't hold are replaced`() throws {
    let database = try Database(inMemory: "names")
    try database.write { transaction in
      for name in ["T", "t", "sqlite_a", "a\"b", "T.list"] {
        let table = try transaction.createTable(
          TableSchema(
            name,
            columns: [
              Column("a", .int64, index: .plain), Column("A", .string), Column("_key", .bool),
              Column("z\0\"", .double), Column("list", .int64, collection: .list),
            ]))
        try table.insert { (row) throws(StorageError) in
          try row.set(0, Int64(1))
          try row.set(1, "x")
          try row.set(2, true)
          try row.set(3, 0.5)
          try row.set(4, Value.list([.int(7)]))
        }
      }
    }
    try export(try database.snapshot()) { file in
      let tables = try names(file)
      #expect(
        tables == [
          "T", "T.list_2", "t_2", "t_2.list", "_sqlite_a", "_sqlite_a.list", "a\"b", "a\"b.list", "T.list",
          "T.list.list",
        ])
      for name in ["T", "t_2", "_sqlite_a", "a\"b", "T.list"] {
        let row = try file.rows(
          "SELECT \"a\", \"A_2\", \"_key_2\", \"z_\"\"\" FROM \(quoted(name))")
        #expect(row == [[.integer(1), .text("x"), .integer(1), .real(0.5)]], "\(name)")
      }
      let elements = try file.rows(#"SELECT "position", "value" FROM "T.list_2""#)
      #expect(elements == [[.integer(0), .integer(7)]])
      let indexes = try file.rows(
        "SELECT count(*) FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL")
      #expect(indexes == [[.integer(5)]])
    }
  }

  @Test func `a quotation mark in a name stays one, whatever follows it`() throws {
    let database = try Database(inMemory: "quoted")
    try database.write { transaction in
      for name in ["a\"b", "a\"\u{301}b"] {
        let table = try transaction.createTable(TableSchema(name, columns: [Column(name, .int64)]))
        try table.insert { (row) throws(StorageError) in try row.set(0, Int64(5)) }
      }
    }
    try export(try database.snapshot()) { file in
      for name in ["a\"b", "a\"\u{301}b"] {
        let found = try file.rows("SELECT \(quoted(name)) FROM \(quoted(name))")
        #expect(found == [[.integer(5)]], "\(name)")
      }
    }
  }

  @Test func `columns that are not optional accept no null, and primary keys are unique`() throws {
    let database = try Database(inMemory: "null")
    try database.write { transaction in
      let table = try transaction.createTable(
        TableSchema(
          "T",
          columns: [
            Column("id", .string, isOptional: true, index: .unique), Column("a", .int64),
            Column("b", .int64, isOptional: true), Column("d", .double),
          ]))
      try table.insert(["id": .string("k"), "d": .double(.nan)])
      try table.insert(["id": .null])
    }
    try export(try database.snapshot()) { file in
      let sql = try file.rows("SELECT sql FROM sqlite_master WHERE name = 'T'")
      #expect(
        sql == [
          [
            .text(
              #"CREATE TABLE "T" ("_key" INTEGER PRIMARY KEY, "id" TEXT UNIQUE, "a" INTEGER NOT NULL, "b" INTEGER, "d" REAL)"#
            )
          ]
        ])
      let rows = try file.rows(#"SELECT "id", "a", "b", "d" FROM "T" ORDER BY "_key""#)
      #expect(rows == [[.text("k"), .integer(0), .null, .null], [.null, .integer(0), .null, .real(0)]])
    }
  }

  @Test func `primary keys that are distant dates and differ only in nanoseconds do not stop an export`()
    throws
  {
    let database = try Database(inMemory: "dates")
    try database.write { transaction in
      let table = try transaction.createTable(
        TableSchema("T", columns: [Column("id", .date, index: .unique)]))
      for nanoseconds in [Int32(0), 1] {
        try table.insert(["id": .date(Timestamp(seconds: .max, nanoseconds: nanoseconds))])
      }
    }
    try export(try database.snapshot()) { file in
      let count = try file.rows(#"SELECT count(*) FROM "T""#)
      #expect(count == [[.integer(2)]])
    }
  }

  // MARK: - What is written

  @Test func `only the requested trees are written`() throws {
    let database = try Database(inMemory: "trees")
    try database.write { transaction in
      for name in ["a", "b"] { try transaction.tree(name).set([], for: [0]) }
    }
    let snapshot = try database.snapshot()
    try export(snapshot, trees: ["b"]) { file in
      let found = try file.rows(#"SELECT * FROM "_tree""#)
      #expect(found == [[.text("b"), .blob([0]), .blob([])]])
    }
    try export(snapshot, trees: []) { file in
      let tables = try names(file)
      #expect(tables == [])
    }
  }

  @Test func `a place that can't be written to is an error`() throws {
    let snapshot = try Database(inMemory: "empty").snapshot()
    try withTemporaryPath { path in
      let error = #expect(throws: InterchangeError.self) {
        try SQLiteExport.write(snapshot, trees: [], to: path + "/none/file.sqlite")
      }
      #expect(error?.description.contains("SQLite") == true)
    }
  }
}
