import RealmStorage
import RealmTestSupport
import Testing

/// Lists that are trees and are changed element by element.
@Suite struct LongListTests {
  private static let name = "Owners"

  /// A database with one row, whose columns are an integer and the given lists.
  private func database(_ lists: [Column], key: [UInt8]? = nil) throws -> (Database, row: UInt64) {
    var options = Database.Options(encryptionKey: key)
    options.spillBytes = 1 << 20
    let database = try Database(creatingIn: SimulatedDisk(), options: options)
    var row: UInt64 = 0
    try database.write { transaction in
      let table = try transaction.createTable(
        TableSchema(Self.name, columns: [Column("number", .int64)] + lists))
      row = try table.insert([:])
    }
    return (database, row)
  }

  private func list(_ database: Database, _ row: UInt64, _ column: Int = 1) throws -> StoredList {
    let table = try #require(try database.snapshot().table(Self.name))
    return try #require(try table.list(column, ofRow: row))
  }

  private func kinds(_ database: Database) throws -> Set<String> {
    Set(try SpaceReport(database.snapshot()).kinds.map(\.name))
  }

  @Test(arguments: 0..<6, [nil, Keys.first])
  func `random changes of a long list agree with an array`(seed: UInt64, key: [UInt8]?) throws {
    var generator = SeededGenerator(seed: seed)
    let type: ColumnType = [.int64, .string, .date, .mixed, .double, .bool][Int(seed)]
    let isOptional = seed % 2 == 0
    let (database, row) = try database(
      [Column("list", type, isOptional: isOptional, collection: .list)], key: key)
    let column = Column("list", type, isOptional: isOptional, collection: .list)
    let model = TableModel()
    var expected: [Value] = []
    let older = try database.snapshot()
    for round in 0..<14 {
      try database.write { transaction in
        let table = try #require(try transaction.table(Self.name))
        for _ in 0..<generator.below(30) {
          let place = generator.below(expected.count + 1)
          switch generator.below(8) {
          case 0:
            let values = (0..<generator.below(round < 8 ? 3000 : 20)).map { _ in
              model.element(column, &generator)
            }
            expected.insert(contentsOf: values, at: place)
            try table.insert(values, at: place, ofList: 1, ofRow: row)
          case 1:
            let end = min(expected.count, place + generator.below(round < 8 ? 800 : 5000))
            expected.removeSubrange(place..<end)
            try table.removeElements(place..<end, ofList: 1, ofRow: row)
          case 2..<5:
            let value = model.element(column, &generator)
            expected.insert(value, at: place)
            try table.insert([value], at: place, ofList: 1, ofRow: row)
          case _ where place == expected.count: break
          case 5:
            let value = model.element(column, &generator)
            expected[place] = value
            try table.setElement(value, at: place, ofList: 1, ofRow: row)
          default:
            let other = generator.below(expected.count)
            expected.insert(expected.remove(at: place), at: other)
            try table.moveElement(from: place, to: other, ofList: 1, ofRow: row)
          }
          #expect(try table.listCount(1, ofRow: row) == expected.count)
        }
      }
      let found = try list(database, row)
      #expect(try found.elements() == expected, "seed \(seed) round \(round)")
      for _ in 0..<20 where !expected.isEmpty {
        let place = generator.below(expected.count)
        #expect(try found.element(at: place) == expected[place], "seed \(seed) round \(round)")
      }
      #expect(IntegrityCheck.run(try database.snapshot()).findings == [], "seed \(seed) round \(round)")
    }
    let table = try #require(try older.table(Self.name))
    #expect(try table.list(1, ofRow: row)?.count == 0)
  }

  @Test func `a list becomes a tree when it is long, and returns to its piece when it is short again`() throws
  {
    let (database, row) = try database([Column("list", .int64, collection: .list)])
    let numbers = (0..<40_000).map { Value.int($0) }
    _ = try database.write { try $0.table(Self.name)?.append(numbers, toList: 1, ofRow: row) }
    #expect(try kinds(database).contains("position branch"))
    _ = try database.write { try $0.table(Self.name)?.removeElements(3..<40_000, ofList: 1, ofRow: row) }
    #expect(try list(database, row).elements() == Array(numbers[..<3]))
    let short = try kinds(database)
    // Equal lists are stored in the same way, whatever they held before.
    _ = try database.write { try $0.table(Self.name)?.set(.list(Array(numbers[..<2])), 1, ofRow: row) }
    _ = try database.write { try $0.table(Self.name)?.append([numbers[2]], toList: 1, ofRow: row) }
    #expect(try kinds(database) == short)
    #expect(!short.contains("position branch"))
  }

  @Test func `appending to a long list writes only its end, and not the texts beside the list`()
    throws
  {
    let (database, row) = try database([
      Column("list", .int64, collection: .list), Column("text", .string),
    ])
    try database.write { transaction in
      let table = try #require(try transaction.table(Self.name))
      try table.append((0..<200_000).map { Value.int($0) }, toList: 1, ofRow: row)
      try table.set(.string(String(repeating: "x", count: 4000)), 2, ofRow: row)
    }
    let before = database.writeStatistics.nodeBytes
    _ = try database.write { try $0.table(Self.name)?.append([.int(1)], toList: 1, ofRow: row) }
    #expect(database.writeStatistics.nodeBytes - before < 8192)
  }

  @Test func `a difference reports a changed element of a long list, and nothing if its elements are equal`()
    throws
  {
    let (database, row) = try database([Column("list", .int64, collection: .list)])
    _ = try database.write {
      try $0.table(Self.name)?.append((0..<5000).map { Value.int($0) }, toList: 1, ofRow: row)
    }
    let first = try database.snapshot()
    _ = try database.write { try $0.table(Self.name)?.setElement(.int(-1), at: 4000, ofList: 1, ofRow: row) }
    let second = try database.snapshot()
    _ = try database.write {
      try $0.table(Self.name)?.setElement(.int(4000), at: 4000, ofList: 1, ofRow: row)
    }
    let third = try database.snapshot()
    // The list gets the same elements in other leaves.
    try database.write { transaction in
      let table = try #require(try transaction.table(Self.name))
      let values = try #require(try table.value(1, ofRow: row)?.elements)
      try table.removeElements(0..<5000, ofList: 1, ofRow: row)
      for value in values { try table.append([value], toList: 1, ofRow: row) }
      try table.insert([.int(9)], at: 100, ofList: 1, ofRow: row)
    }
    _ = try database.write { try $0.table(Self.name)?.removeElements(100..<101, ofList: 1, ofRow: row) }
    let fourth = try database.snapshot()
    #expect(try second.changes(inTable: Self.name, since: first).modifications.map(\.columns) == [[1]])
    #expect(try third.changes(inTable: Self.name, since: second).modifications.map(\.columns) == [[1]])
    #expect(try third.changes(inTable: Self.name, since: first).isEmpty)
    #expect(try fourth.changes(inTable: Self.name, since: third).isEmpty)
  }

  @Test(arguments: [1, 3, 400])
  func `links to deleted rows are removed from long lists`(deleted: Int) throws {
    var generator = SeededGenerator(seed: UInt64(deleted))
    let database = try Database(creatingIn: SimulatedDisk(), options: Database.Options())
    try database.write { transaction in
      _ = try transaction.createTable(TableSchema("Targets", columns: [Column("id", .int64)]))
      _ = try transaction.createTable(
        TableSchema(Self.name, columns: [Column("list", .link, collection: .list, target: 1)]))
    }
    var (targets, expected, owner): ([UInt64], [UInt64], UInt64) = ([], [], 0)
    try database.write { transaction in
      let table = try #require(try transaction.table("Targets"))
      for number in 0..<2000 { targets.append(try table.insert(["id": .int(Int64(number))])) }
      let owners = try #require(try transaction.table(Self.name))
      owner = try owners.insert([:])
      expected = (0..<9000).map { _ in targets[generator.below(targets.count)] }
      try owners.append(expected.map { .link($0) }, toList: 0, ofRow: owner)
    }
    let victims = Set(targets.shuffled(using: &generator).prefix(deleted))
    try database.write { transaction in
      let table = try #require(try transaction.table("Targets"))
      #expect(try table.remove(Array(victims)) == deleted)
    }
    expected.removeAll { victims.contains($0) }
    #expect(try list(database, owner, 0).elements() == expected.map { .link($0) })
    #expect(IntegrityCheck.run(try database.snapshot()).findings == [])
  }

  @Test func `lists that are changed in turn between new rows keep their elements`() throws {
    var generator = SeededGenerator(seed: 7)
    let (database, first) = try database([
      Column("list", .int64, collection: .list), Column("texts", .string, collection: .list),
    ])
    var expected: [UInt64: [Value]] = [first: []]
    for round in 0..<6 {
      try database.write { transaction in
        let table = try #require(try transaction.table(Self.name))
        for number in 0..<600 {
          if generator.chance(20) { expected[try table.insert(["number": .int(Int64(number))])] = [] }
          let rows = expected.keys.sorted()
          let row = rows[generator.below(rows.count)]
          let value = Value.int(Int64(number))
          expected[row]?.append(value)
          try table.append([value], toList: 1, ofRow: row)
          if generator.chance(5) { try table.set(.int(1), 0, ofRow: row) }
          if generator.chance(2), row != first {
            try table.remove(row)
            expected[row] = nil
          }
          if generator.chance(2) {
            #expect(try table.reading().list(1, ofRow: first)?.elements() == expected[first])
          }
        }
      }
      for (row, values) in expected {
        #expect(try list(database, row).elements() == values, "round \(round), row \(row)")
      }
      #expect(IntegrityCheck.run(try database.snapshot()).findings == [])
    }
  }
}
