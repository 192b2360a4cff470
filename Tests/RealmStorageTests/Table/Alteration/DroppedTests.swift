import RealmTestSupport
import Testing

@testable import RealmStorage

/// Columns and tables that are dropped. The schema changes at once, and later commits give the space back.
@Suite struct DroppedTests {
  private static let rows = 3000

  private func options(_ key: [UInt8]? = nil) -> Database.Options {
    var options = Database.Options(encryptionKey: key)
    options.clusterRows = 64
    options.givenBackBytes = 4096
    return options
  }

  /// A table of things with texts, of which some are long, numbers, lists that are trees, and links to other things.
  private func make(_ disk: SimulatedDisk, _ key: [UInt8]? = nil) throws -> Database {
    let database = try Database(creatingIn: disk, options: options(key))
    try database.write { transaction in
      let other = try transaction.createTable(TableSchema("Other", columns: [Column("id", .int64)]))
      let table = try transaction.createTable(
        TableSchema(
          "Thing",
          columns: [
            Column("id", .int64, index: .unique), Column("text", .string, index: .plain),
            Column("city", .string), Column("numbers", .int64, collection: .list),
            Column("other", .link, target: other.schema.id), Column("next", .link), Column("any", .mixed),
          ]))
      for number in 0..<10 { try other.insert(["id": .int(Int64(number))]) }
      for number in 0..<Self.rows {
        let long = number % 100 == 0
        try table.insert([
          "id": .int(Int64(number)), "city": .string("city \(number % 7)"),
          "text": .string(String(repeating: "x", count: long ? 5000 : number % 40) + "\(number)"),
          "numbers": .list((0..<(long ? 2000 : number % 3)).map { .int(Int64($0)) }),
          "other": .link(UInt64(number % 10)), "next": number == 0 ? .null : .link(UInt64(number - 1)),
          "any": .typedLink(table: other.schema.id, row: UInt64(number % 10)),
        ])
      }
    }
    return database
  }

  private func change(_ database: Database, _ body: (WriteTransaction) throws -> Void) throws {
    try database.write { transaction in try body(transaction) }
    let snapshot = try database.snapshot()
    #expect(IntegrityCheck.run(snapshot).findings == [])
  }

  /// Makes commits with nearly no changes until the whole dropped space is given back. Returns the number of commits.
  private func giveBack(_ database: Database) throws -> Int {
    var commits = 0
    while try database.storageReport().droppedBytes > 0 {
      let before = try database.storageReport().droppedBytes
      try change(database) { transaction in
        try #require(try transaction.table("Other")).set(.int(Int64(commits)), "id", ofRow: 0)
      }
      #expect(try database.storageReport().droppedBytes < before)
      commits += 1
    }
    return commits
  }

  private func liveBytes(_ database: Database) throws -> UInt64 { try database.storageReport().liveBytes }

  @Test(arguments: [nil, Keys.first])
  func `later commits give back the space of a dropped column, also after the file is opened again`(
    key: [UInt8]?
  ) throws {
    let disk = SimulatedDisk()
    var database = try make(disk, key)
    for name in ["text", "numbers", "city", "other", "any", "next"] {
      let before = try liveBytes(database)
      try change(database) { transaction in
        let table = try #require(try transaction.table("Thing"))
        try table.dropColumn(#require(table.schema.columns.firstIndex { $0.name == name }))
      }
      let dropped = try database.storageReport().droppedBytes
      #expect(dropped > 0, "\(name)")
      database.close()
      database = try Database(storage: disk, options: options(key))
      #expect(try database.storageReport().droppedBytes == dropped)
      #expect(try giveBack(database) > 1)
      #expect(try liveBytes(database) < before)
      let table = try #require(try database.snapshot().table("Thing"))
      #expect(table.schema.column(name) == nil && !table.schema.hasDropped)
      #expect(table.count == Self.rows)
    }
    // Only the key and its index remain.
    #expect(try liveBytes(database) < 40_000)
  }

  @Test func `rows that change while a dropped column is given back lose the column, too`() throws {
    let database = try make(SimulatedDisk())
    try change(database) { transaction in
      let table = try #require(try transaction.table("Thing"))
      for _ in 0..<3 { try table.dropColumn(1) }
    }
    var generator = SeededGenerator(seed: 7)
    var left = Set(0..<UInt64(Self.rows))
    while try database.storageReport().droppedBytes > 0 {
      try change(database) { transaction in
        let table = try #require(try transaction.table("Thing"))
        for _ in 0..<10 {
          let row = UInt64(generator.below(Self.rows))
          if generator.chance(50) { #expect(try table.remove(row) == (left.remove(row) != nil)) }
          try table.set(.null, "next", ofRow: UInt64(generator.below(Self.rows)))
        }
        let some = left.filter { _ in generator.below(60) == 0 }
        #expect(try table.remove(Array(some)) == some.count)
        left.subtract(some)
        left.insert(try table.insert(["id": .int(Int64.random(in: Int64(Self.rows)...Int64.max))]))
      }
    }
    #expect(try database.snapshot().table("Thing")?.count == left.count)
  }

  @Test func `a dropped table is gone at once, and a new table of the same name starts empty`() throws {
    let disk = SimulatedDisk()
    var database = try make(disk)
    try change(database) { transaction in
      try transaction.dropTable("Thing")
      #expect(try transaction.schemas().map(\.name) == ["Other"])
      _ = try transaction.createTable(TableSchema("Thing", columns: [Column("id", .string, index: .unique)]))
    }
    #expect(try database.storageReport().droppedBytes > 100_000)
    #expect(try database.snapshot().table("Thing")?.count == 0)
    database.close()
    database = try Database(storage: disk, options: options())
    _ = try giveBack(database)
    #expect(try database.snapshot().schemas().map(\.name).sorted() == ["Other", "Thing"])
    #expect(try liveBytes(database) < 10_000)
  }

  @Test func `mixed values that link to rows of a dropped table become null`() throws {
    let database = try make(SimulatedDisk())
    try change(database) { transaction in
      let table = try #require(try transaction.table("Thing"))
      try table.dropColumn(#require(table.schema.columns.firstIndex { $0.name == "other" }))
      try transaction.dropTable("Other")
      for row in 0..<10 { #expect(try table.value(5, ofRow: UInt64(row)) == .null) }
    }
  }

  @Test func `a renamed table with a renamed column keeps its rows`() throws {
    let database = try make(SimulatedDisk())
    let before = try database.storageReport().liveBytes
    try change(database) { transaction in
      try transaction.renameTable("Thing", to: "Object")
      let table = try #require(try transaction.table("Object"))
      try table.renameColumn(1, to: "words")
      try table.set(.string("new"), "words", ofRow: 3)
      #expect(try transaction.table("Thing") == nil)
    }
    let table = try #require(try database.snapshot().table("Object"))
    let column = try #require(table.schema.column("words"))
    #expect(try table.rows(with: .string("new"), in: column) == [3])
    #expect(try table.value(column, ofRow: 5) == .string("xxxxx5"))
    #expect(try liveBytes(database) < before + 20_000)
  }

  @Test func `a commit that drops a column writes few nodes, even if there are many rows`() throws {
    let database = try make(SimulatedDisk())
    let written = database.writeStatistics.nodeBytes
    try database.write { transaction in
      let table = try #require(try transaction.table("Thing"))
      try table.dropColumn(#require(table.schema.columns.firstIndex { $0.name == "city" }))
    }
    #expect(database.writeStatistics.nodeBytes - written < 30_000)
  }
}
