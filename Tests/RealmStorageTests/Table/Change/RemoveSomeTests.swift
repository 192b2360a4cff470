import RealmStorage
import RealmTestSupport
import Testing

/// Removing many rows at once.
@Suite struct RemoveSomeTests {
  private static let schema = TableSchema(
    "Thing",
    columns: [
      Column("id", .int64, index: .unique), Column("kind", .string, index: .plain),
      Column("when", .date, isOptional: true, index: .plain), Column("text", .string, isOptional: true),
      Column("next", .link), Column("small", .int64, index: .plain), Column("key", .uuid, index: .plain),
      Column("own", .objectID, index: .plain), Column("flag", .bool, isOptional: true, index: .plain),
      Column("half", .int64, index: .plain), Column("word", .int64, index: .plain),
    ])

  private static func row(_ number: Int) -> [String: Value] {
    var bytes = [UInt8](repeating: 0, count: 16)
    bytes.replaceSubrange(0..<4, with: (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) })
    let long = String(repeating: "long", count: 2_000)
    return [
      "id": .int(Int64(number * 7 % 5_000)), "kind": .string(number % 50 == 0 ? long : "a\0\(number % 9)"),
      "when": number % 3 == 0
        ? .null : .date(Timestamp(seconds: Int64(number), nanoseconds: number % 7 == 0 ? 5 : 0)),
      "text": number % 4 == 0 ? .null : .string(number % 101 == 0 ? long : "text \(number)"),
      "small": .int(Int64(number % 100)), "key": .uuid(SixteenBytes(bytes)),
      "own": .objectID(ObjectIDBytes(Array(bytes.prefix(12)))),
      "flag": number % 5 == 0 ? .null : .bool(number % 2 == 0), "half": .int(Int64(number % 1_000 - 500)),
      "word": .int(Int64(-number)),
    ]
  }

  private func made(_ count: Int, _ key: [UInt8]? = nil) throws -> Database {
    let database = try Database(creatingIn: SimulatedDisk(), options: .init(encryptionKey: key))
    try database.write { transaction in
      let table = try transaction.createTable(Self.schema)
      for number in 0..<count { try table.insert(Self.row(number)) }
      for number in 1..<count {
        try table.set(.link(UInt64(number * 31 % number)), "next", ofRow: UInt64(number))
      }
    }
    return database
  }

  @Test(arguments: [1, 3, 10, 500], [nil, Keys.first])
  func `removing every n-th row leaves all other rows as they were`(step: Int, key: [UInt8]?) throws {
    let count = 3_000
    let database = try made(count, key)
    let victims = stride(from: UInt64(step - 1), to: UInt64(count), by: step).map { $0 }
    let removed = try database.write { try $0.table("Thing")?.remove(victims.shuffled()) }
    #expect(removed == victims.count)
    let snapshot = try database.snapshot()
    #expect(IntegrityCheck.run(snapshot).findings == [])
    let table = try #require(try snapshot.table("Thing"))
    #expect(table.count == count - victims.count)
    let gone = Set(victims)
    try table.forEach { row, values in
      #expect(!gone.contains(row))
      let expected = Self.row(Int(row))
      for (column, value) in zip(table.schema.columns, values) where column.name != "next" {
        if value != expected[column.name] { Issue.record("\(column.name) of row \(row) is \(value)") }
      }
      let next = row == 0 ? nil : UInt64(Int(row) * 31 % Int(row))
      #expect(values[4] == (next.map { gone.contains($0) ? .null : .link($0) } ?? .null))
      return true
    }
  }

  @Test func `all rows can be removed at once, and new rows can be added`() throws {
    let database = try made(1_500)
    try database.write { transaction in
      let table = try #require(try transaction.table("Thing"))
      #expect(try table.remove(Array(0..<1_500)) == 1_500)
      #expect(try table.remove(Array(0..<1_500)) == 0)
      #expect(try table.insert(Self.row(3)) == 1_500)
    }
    let snapshot = try database.snapshot()
    #expect(try snapshot.table("Thing")?.count == 1)
    #expect(IntegrityCheck.run(snapshot).findings == [])
  }

  @Test(arguments: [600, 20_000])
  func `removing rows that do not exist makes no version`(count: Int) throws {
    let database = try Database(inMemory: "test")
    try database.write { transaction in
      let table = try transaction.createTable(
        TableSchema(
          "Thing", columns: [Column("id", .int64, index: .unique), Column("kind", .string, index: .plain)]))
      for number in 0..<count { try table.insert(["id": .int(Int64(number)), "kind": .string("a")]) }
    }
    let before = database.version
    let nobody = try database.write { try $0.table("Thing")?.remove((50_000..<50_020).map { UInt64($0) }) }
    #expect(nobody == 0)
    #expect(database.version == before)
    // Four of the rows exist. The table is small in one case and large in the other.
    let removed = try database.write { try $0.table("Thing")?.remove([5, 50_000, 7, 9, 11]) }
    #expect(removed == 4)
    let snapshot = try database.snapshot()
    #expect(IntegrityCheck.run(snapshot).findings == [])
    #expect(try snapshot.table("Thing")?.row(withPrimaryKey: .int(7)) == nil)
  }

  @Test func `rows added in the same transaction are removed together with older rows`() throws {
    let database = try made(600)
    try database.write { transaction in
      let table = try #require(try transaction.table("Thing"))
      for number in 600..<700 { try table.insert(Self.row(number)) }
      #expect(try table.remove((0..<350).map { UInt64($0 * 2) }) == 350)
      #expect(try table.reading().count == 350)
    }
    #expect(IntegrityCheck.run(try database.snapshot()).findings == [])
  }

  @Test func `links in other tables to removed rows become null`() throws {
    let database = try made(900)
    try database.write { transaction in
      let things = try #require(try transaction.table("Thing"))
      let others = try transaction.createTable(
        TableSchema(
          "Other",
          columns: [
            Column("thing", .link, target: things.schema.id),
            Column("things", .link, collection: .list, target: things.schema.id),
          ]))
      for number in UInt64(0)..<900 {
        try others.insert([
          "thing": .link(number), "things": .list([.link(number), .link(899 - number), .link(number)]),
        ])
      }
      #expect(try things.remove((0..<450).map { UInt64($0) }) == 450)
    }
    let snapshot = try database.snapshot()
    #expect(IntegrityCheck.run(snapshot).findings == [])
    let others = try #require(try snapshot.table("Other"))
    #expect(try others.value(others.schema.columns[0], ofRow: 3) == .null)
    #expect(try others.value(others.schema.columns[1], ofRow: 3) == .list([.link(896)]))
    #expect(try others.value(others.schema.columns[0], ofRow: 896) == .link(896))
  }
}
