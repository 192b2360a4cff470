import RealmTestSupport
import Testing

@testable import RealmStorage

/// Columns that are added, dropped, and made optional or required in tables that have rows.
@Suite struct ColumnChangeTests {
  @Test(arguments: Slow.seeds(3, slow: 40), [nil, Keys.first])
  func `random changes of columns between changes of rows agree with a dictionary`(
    seed: UInt64, key: [UInt8]?
  ) throws {
    var generator = SeededGenerator(seed: seed)
    let disk = SimulatedDisk()
    var options = Database.Options(encryptionKey: key)
    options.clusterRows = [512, 8, 40][Int(seed % 3)]
    if seed % 2 == 0 { options.spillBytes = 1 << 14 }
    options.givenBackBytes = 1
    var database = try Database(creatingIn: disk, options: options)
    try database.write { transaction in
      _ = try transaction.createTable(
        TableSchema(TableModel.name, columns: seed == 0 ? TableModel.everything : TableModel.ofEachType))
    }
    var model = TableModel()
    for round in 0..<Slow.count(5, slow: 10) {
      let transaction = try database.beginWrite()
      let table = try #require(try transaction.table(TableModel.name))
      var next = model
      for _ in 0..<4 {
        for _ in 0..<generator.below(30) { #expect(try next.change(table, &generator) == nil) }
        for _ in 0..<generator.below(6) { #expect(try next.changeSchema(table, &generator) == nil) }
      }
      let wrong = try next.difference(to: table.reading(), &generator)
      #expect(wrong == nil, "\(wrong ?? "") seed \(seed) round \(round)")
      if generator.chance(20) {
        transaction.cancel()
      } else {
        try transaction.commit()
        model = next
      }
      if round == 3 {
        database.close()
        database = try Database(storage: disk, options: options)
      }
      let snapshot = try database.snapshot()
      let stored = try #require(try snapshot.table(TableModel.name))
      #expect(try model.difference(to: stored, &generator) == nil, "seed \(seed) round \(round)")
      #expect(IntegrityCheck.run(snapshot).findings == [], "seed \(seed) round \(round)")
    }
  }

  private func made(_ columns: [Column], rows: Int, _ fill: (Int) -> [String: Value]) throws -> Database {
    let database = try Database(creatingIn: SimulatedDisk())
    try database.write { transaction in
      let table = try transaction.createTable(TableSchema("Thing", columns: columns))
      for row in 0..<rows { try table.insert(fill(row)) }
    }
    return database
  }

  private func change(_ database: Database, _ body: (WritableTable) throws -> Void) throws {
    try database.write { transaction in try body(#require(try transaction.table("Thing"))) }
  }

  private func values(_ database: Database, _ name: String) throws -> [Value] {
    let snapshot = try database.snapshot()
    #expect(IntegrityCheck.run(snapshot).findings == [])
    let table = try #require(try snapshot.table("Thing"))
    let position = try #require(table.schema.columns.firstIndex { $0.name == name })
    var values: [Value] = []
    try table.forEach { _, row in
      values.append(row[position])
      return true
    }
    return values
  }

  @Test func `rows older than a column keep its value when the column becomes optional and required`()
    throws
  {
    let database = try made([Column("id", .int64)], rows: 3) { ["id": .int(Int64($0))] }
    try change(database) { table in
      try table.addColumn(Column("zero", .int64))
      try table.addColumn(Column("null", .int64, isOptional: true))
      try table.addColumn(Column("two", .int64, storedDefault: .int(2)))
      for position in [1, 3] { try table.setOptional(true, ofColumn: position) }
      try table.insert([:])
    }
    #expect(try values(database, "zero") == [.int(0), .int(0), .int(0), .null])
    #expect(try values(database, "null") == [.null, .null, .null, .null])
    #expect(try values(database, "two") == [.int(2), .int(2), .int(2), .null])
    try change(database) { table in
      try table.setOptional(false, ofColumn: 1, nullsBecome: .int(7))
      try table.setOptional(false, ofColumn: 2, nullsBecome: .int(8))
      try table.setOptional(false, ofColumn: 3, nullsBecome: .int(9))
    }
    #expect(try values(database, "zero") == [.int(0), .int(0), .int(0), .int(7)])
    #expect(try values(database, "null") == [.int(8), .int(8), .int(8), .int(8)])
    #expect(try values(database, "two") == [.int(2), .int(2), .int(2), .int(9)])
  }

  @Test func `a dropped column takes its links and the embedded rows it owns with it`() throws {
    let database = try Database(creatingIn: SimulatedDisk())
    try database.write { transaction in
      let parts = try transaction.createTable(
        TableSchema("Part", isEmbedded: true, columns: [Column("name", .string)]))
      let table = try transaction.createTable(
        TableSchema(
          "Thing",
          columns: [
            Column("part", .link, target: parts.schema.id),
            Column("parts", .link, collection: .list, target: parts.schema.id),
            Column("next", .link), Column("any", .mixed),
          ]))
      for number in 0..<40 {
        let part = { try Value.link(parts.insert(["name": .string("\(number)")])) }
        let last: Value = number == 0 ? .null : .link(UInt64(number - 1))
        let any: Value = number == 0 ? .null : .typedLink(table: table.schema.id, row: 0)
        try table.insert(["part": part(), "parts": .list([part(), part()]), "next": last, "any": any])
      }
    }
    for (name, left) in [("parts", 40), ("next", 40), ("part", 0)] {
      try change(database) { table in
        try table.dropColumn(#require(table.schema.columns.firstIndex { $0.name == name }))
      }
      let snapshot = try database.snapshot()
      #expect(IntegrityCheck.run(snapshot).findings == [])
      #expect(try snapshot.table("Part")?.count == left)
      #expect(try snapshot.table("Thing")?.count == 40)
    }
    try change(database) { table in try table.dropColumn(0) }
    #expect(try database.snapshot().table("Thing")?.schema.columns == [])
    try change(database) { table in _ = try table.remove([0, 5]) }
    #expect(try database.snapshot().table("Thing")?.count == 38)
    let snapshot = try database.snapshot()
    #expect(IntegrityCheck.run(snapshot).findings == [])
  }

  @Test func `a primary key can't become required if two rows would have the same key`() throws {
    let database = try made([Column("id", .int64, isOptional: true, index: .unique)], rows: 3) {
      ["id": $0 == 0 ? .null : .int(Int64($0) - 1)]
    }
    let transaction = try database.beginWrite()
    let table = try #require(try transaction.table("Thing"))
    let error = #expect(throws: StorageError.self) { try table.setOptional(false, ofColumn: 0) }
    if case .duplicateKey = error {} else { Issue.record("\(String(describing: error))") }
    #expect(throws: StorageError.self) { try transaction.commit() }
    try change(database) { table in try table.setOptional(false, ofColumn: 0, nullsBecome: .int(-1)) }
    let stored = try #require(try database.snapshot().table("Thing"))
    #expect(try stored.row(withPrimaryKey: .int(-1)) == 0)
    #expect(try stored.row(withPrimaryKey: .int(1)) == 2)
  }
}
