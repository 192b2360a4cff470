import RealmTestSupport
import Testing

@testable import RealmStorage

@Suite struct TableLimitTests {
  private func made(_ columns: [Column]) throws -> (Database, WriteTransaction, WritableTable) {
    let database = try Database(inMemory: "test")
    let transaction = try database.beginWrite()
    return (database, transaction, try transaction.createTable(TableSchema("T", columns: columns)))
  }

  private func expectClean(_ database: Database, rows: Int) throws {
    let snapshot = try database.snapshot()
    #expect(try snapshot.table("T")?.count == rows)
    #expect(IntegrityCheck.run(snapshot).findings == [])
  }

  @Test func `a refused row leaves nothing behind, even if its key is longer than an index stores`() throws {
    let (database, transaction, table) = try made([Column("key", .string, index: .unique)])
    let long = String(repeating: "k", count: 300)
    let refusal = StorageError.duplicateKey(table: "T", column: "key", path: "test")
    try table.insert(["key": .string(long)])
    #expect(throws: refusal) { try table.insert(["key": .string(long)]) }
    try table.insert(["key": .string(long + "another")])
    #expect(throws: refusal) { try table.insert(["key": .string(long + "another")]) }
    #expect(throws: refusal) { try table.set(.string(long), "key", ofRow: 1) }
    try transaction.commit()
    try expectClean(database, rows: 2)
  }

  @Test func `rows with many long texts take as many clusters as they need`() throws {
    let columns = (0..<45).map { Column("text \($0)", .string) }
    let (database, transaction, table) = try made(columns)
    let text = String(repeating: "t", count: 4096)
    for number in 0..<150 {
      try table.insert { (row: inout NewRow) throws(StorageError) in
        for index in columns.indices { try row.set(index, number < 100 ? text : "short") }
      }
    }
    for number in 100..<150 {
      for column in columns { try table.set(.string(text), column.name, ofRow: UInt64(number)) }
    }
    try transaction.commit()
    try expectClean(database, rows: 150)
    let last = try #require(try database.snapshot().table("T")?.value(table.schema.columns[44], ofRow: 149))
    #expect(last == .string(text))
  }

  @Test func `a cluster whose values grew is split`() throws {
    let columns = (0..<45).map { Column("text \($0)", .string) }
    let (database, transaction, table) = try made(columns + [Column("number", .int64)])
    for number in 0..<300 { try table.insert(["number": .int(Int64(number))]) }
    let text = String(repeating: "t", count: 4000)
    for number in 0..<300 where number % 2 == 0 {
      for column in columns { try table.set(.string(text), column.name, ofRow: UInt64(number)) }
    }
    try transaction.commit()
    try expectClean(database, rows: 300)
    let table2 = try #require(try database.snapshot().table("T"))
    for number in 0..<300 {
      #expect(try table2.value(table.schema.columns[45], ofRow: UInt64(number)) == .int(Int64(number)))
      let expected = Value.string(number % 2 == 0 ? text : "")
      #expect(try table2.value(table.schema.columns[7], ofRow: UInt64(number)) == expected)
    }
  }

  @Test func `more columns than a cluster has room for are refused`() throws {
    let columns = (0..<1001).map { Column("c\($0)", .bool) }
    #expect(throws: StorageError.limitExceeded(.columns(1001, maximum: 1000), path: "test")) {
      _ = try made(columns)
    }
    let (database, transaction, table) = try made(Array(columns.dropLast()))
    try table.insert([:])
    try transaction.commit()
    try expectClean(database, rows: 1)
  }

  @Test func `the element ids of lists count as columns in a synced file`() throws {
    for (lists, fits) in [(499, true), (500, false), (600, false), (1000, false)] {
      try withTemporaryPath { path in
        var options = Database.Options()
        options.history = .synced
        let columns = [Column("id", .int64, index: .unique)]
        let schema = TableSchema(
          "T", columns: columns + (0..<lists).map { Column("l\($0)", .int64, collection: .list) })
        do {
          let database = try Database(path: path, options: options)
          let transaction = try database.beginWrite()
          defer { transaction.cancel() }
          guard fits else {
            #expect(throws: StorageError.limitExceeded(.columns(1 + 2 * lists, maximum: 1000), path: path)) {
              try transaction.createTable(schema)
            }
            return
          }
          try transaction.createTable(schema)
          try transaction.commit()
        }
        let snapshot = try Database(path: path, options: options).snapshot()
        #expect(try snapshot.table("T")?.schema.properties.count == 1 + lists)
        #expect(IntegrityCheck.run(snapshot).findings.isEmpty)
      }
    }
  }

  @Test func `a dropped column makes room for another one, and each column id is given at most once`()
    throws
  {
    let database = try Database(inMemory: "test")
    try database.write { transaction in
      let table = try transaction.createTable(
        TableSchema("T", columns: (0..<1000).map { Column("c\($0)", .bool) }))
      #expect(throws: StorageError.limitExceeded(.columns(1001, maximum: 1000), path: "test")) {
        try table.addColumn(Column("more", .bool))
      }
      try table.dropColumn(7)
      try table.addColumn(Column("more", .int64))
      #expect(table.schema.columns.last?.id == 1001)
      let writer = try #require(try transaction.tables().writer("T"))
      try writer.changeSchema { $0.nextColumnID = 65_535 }
      try table.insert(["more": .int(1)])
      try table.dropColumn(0)
      try table.addColumn(Column("last", .int64))
      #expect(table.schema.columns.last?.id == 65_535)
      try table.dropColumn(0)
      #expect(throws: StorageError.limitExceeded(.columnIDs, path: "test")) {
        try table.addColumn(Column("none", .int64))
      }
      try table.set(.int(5), "last", ofRow: 0)
    }
    let table = try #require(try database.snapshot().table("T"))
    #expect(table.schema.nextColumnID == 65_536 && table.schema.columns.count == 999)
    #expect(try table.value(table.schema.columns[998], ofRow: 0) == .int(5))
    try expectClean(database, rows: 1)
  }

  @Test func `each index id is given at most once`() throws {
    let database = try Database(inMemory: "test")
    try database.write { transaction in
      let table = try transaction.createTable(
        TableSchema("T", columns: [Column("a", .int64, index: .plain), Column("b", .string, index: .unique)]))
      #expect(table.schema.columns.map(\.indexID) == [1, 2])
      for number in Int64(0)..<5 { try table.insert(["a": .int(number % 2), "b": .string("\(number)")]) }
      try table.setIndex(.none, ofColumn: 0)
      try table.setIndex(.plain, ofColumn: 0)
      try table.setOptional(true, ofColumn: 1)
      #expect(table.schema.columns.map(\.indexID) == [3, 2])
      let writer = try #require(try transaction.tables().writer("T"))
      try writer.changeSchema { $0.nextIndexID = 65_535 }
      try table.setIndex(.none, ofColumn: 0)
      try table.setIndex(.plain, ofColumn: 0)
      try table.setIndex(.none, ofColumn: 1)
      let refusal = StorageError.limitExceeded(.indexIDs, path: "test")
      #expect(throws: refusal) { try table.setIndex(.unique, ofColumn: 1) }
      #expect(throws: refusal) { try table.addColumn(Column("c", .int64, index: .plain)) }
      try table.addColumn(Column("c", .int64))
    }
    let table = try #require(try database.snapshot().table("T"))
    #expect(table.schema.columns.map(\.indexID) == [65_535, 0, 0])
    #expect(try table.rows(with: .int(1), in: table.schema.columns[0]) == [1, 3])
    try expectClean(database, rows: 5)
  }

  @Test func `values are compared by their bytes`() throws {
    let (database, transaction, table) = try made([Column("text", .string), Column("number", .double)])
    try table.insert(["text": .string("\u{e9}"), "number": .double(0)])
    try table.set(.string("e\u{301}"), "text", ofRow: 0)
    try table.set(.double(-0.0), "number", ofRow: 0)
    try transaction.commit()
    let reread = try #require(try database.snapshot().table("T"))
    #expect(try reread.value(table.schema.columns[0], ofRow: 0) == .string("e\u{301}"))
    #expect(try reread.value(table.schema.columns[0], ofRow: 0) != .string("\u{e9}"))
    #expect(try reread.value(table.schema.columns[1], ofRow: 0) == .double(-0.0))
    #expect(Value.double(.nan) == .double(.nan))
  }
}
