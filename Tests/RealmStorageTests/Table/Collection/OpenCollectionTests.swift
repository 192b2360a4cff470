import RealmStorage
import RealmTestSupport
import Testing

/// Collections that a transaction changes while the table changes around them.
@Suite struct OpenCollectionTests {
  private static let name = "Owners"
  private static let columns = [
    Column("number", .int64), Column("list", .int64, collection: .list),
    Column("texts", .string, collection: .set),
    Column("map", .string, collection: .map), Column("text", .string),
  ]

  private func database(spillBytes: Int = 1 << 20) throws -> Database {
    var options = Database.Options()
    options.spillBytes = spillBytes
    let database = try Database(creatingIn: SimulatedDisk(), options: options)
    try database.write { transaction in
      _ = try transaction.createTable(TableSchema(Self.name, columns: Self.columns))
    }
    return database
  }

  /// One cluster stands in the tree, and rows are still being added, while the transaction is large.
  @Test(arguments: [1, 40, 200])
  func `collections stay whole if a large transaction is written before it commits`(rows: Int) throws {
    let database = try database(spillBytes: 1 << 12)
    var generator = SeededGenerator(seed: UInt64(rows))
    var keys: [UInt64] = []
    try database.write { transaction in
      let table = try #require(try transaction.table(Self.name))
      for number in 0..<rows { keys.append(try table.insert(["number": .int(Int64(number))])) }
    }
    var (lists, sets): ([UInt64: [Value]], [UInt64: [Value]]) = ([:], [:])
    try database.write { transaction in
      let table = try #require(try transaction.table(Self.name))
      for number in 0..<3000 {
        let row = keys[generator.below(min(rows, 3))]
        let values = (0..<generator.below(40)).map { Value.int(Int64($0 * number) << 20) }
        lists[row, default: []] += values
        try table.append(values, toList: 1, ofRow: row)
        let text = Value.string("text \(generator.below(5000))")
        sets[row] = Value.set((sets[row] ?? []) + [text]).elements
        try table.insert([text], intoSet: 2, ofRow: row)
        if generator.chance(30) {
          _ = try table.insert(["text": .string(String(repeating: "x", count: 900))])
        }
        if generator.chance(10) { #expect(try table.value(0, ofRow: row) != nil) }
        if generator.chance(2) {
          #expect(try table.reading().list(1, ofRow: row)?.count == lists[row]?.count)
        }
      }
    }
    let table = try #require(try database.snapshot().table(Self.name))
    for (row, values) in lists { #expect(try table.list(1, ofRow: row)?.elements() == values) }
    for (row, values) in sets { #expect(try table.sorted(2, ofRow: row)?.all() == .list(values)) }
    #expect(IntegrityCheck.run(try database.snapshot()).findings == [])
  }

  @Test func `a row that was removed with all other rows has no collections`() throws {
    let database = try database()
    var row: UInt64 = 0
    try database.write { transaction in
      let table = try #require(try transaction.table(Self.name))
      row = try table.insert([:])
      try table.append((0..<5000).map { Value.int($0) }, toList: 1, ofRow: row)
    }
    try database.write { transaction in
      let table = try #require(try transaction.table(Self.name))
      try table.append([.int(1)], toList: 1, ofRow: row)
      try table.setValue(.string("a"), forKey: "a", ofMap: 3, ofRow: row)
      try table.removeAll()
      #expect(try table.listCount(1, ofRow: row) == nil)
      #expect(try table.sortedCount(3, ofRow: row) == nil)
      #expect(try table.append([.int(1)], toList: 1, ofRow: row) == false)
      #expect(try table.setValue(.string("a"), forKey: "a", ofMap: 3, ofRow: row) == false)
    }
    #expect(IntegrityCheck.run(try database.snapshot()).findings == [])
  }

  @Test func `collections keep their elements while columns are added and dropped`() throws {
    let database = try database()
    var row: UInt64 = 0
    try database.write { transaction in
      let table = try #require(try transaction.table(Self.name))
      row = try table.insert([:])
      try table.append((0..<3000).map { Value.int($0) }, toList: 1, ofRow: row)
      try table.addColumn(Column("late", .int64, collection: .list))
      try table.append([.int(3000)], toList: 1, ofRow: row)
      try table.append((0..<2000).map { Value.int($0) }, toList: 5, ofRow: row)
      try table.setIndex(.plain, ofColumn: 4)
      try table.removeElements(0..<1, ofList: 1, ofRow: row)
      try table.dropColumn(0)
      try table.append([.int(3001)], toList: 0, ofRow: row)
    }
    let table = try #require(try database.snapshot().table(Self.name))
    #expect(try table.list(0, ofRow: row)?.elements() == (1...3001).map { Value.int($0) })
    #expect(try table.list(4, ofRow: row)?.count == 2000)
    try database.write { try $0.table(Self.name)?.dropColumn(4) }
    #expect(IntegrityCheck.run(try database.snapshot()).findings == [])
  }

  @Test func `changing one long value in a list does not rewrite the other values`() throws {
    let database = try Database(creatingIn: SimulatedDisk(), options: Database.Options())
    var row: UInt64 = 0
    let blob = Value.data([UInt8](repeating: 7, count: 100_000))
    try database.write { transaction in
      let table = try transaction.createTable(
        TableSchema(Self.name, columns: [Column("list", .data, collection: .list)]))
      row = try table.insert([:])
      try table.append(Array(repeating: blob, count: 30), toList: 0, ofRow: row)
    }
    let before = database.writeStatistics.nodeBytes
    _ = try database.write { try $0.table(Self.name)?.setElement(.data([1]), at: 3, ofList: 0, ofRow: row) }
    #expect(database.writeStatistics.nodeBytes - before < 8192)
    let table = try #require(try database.snapshot().table(Self.name))
    #expect(try table.list(0, ofRow: row)?.element(at: 3) == .data([1]))
    #expect(try table.list(0, ofRow: row)?.element(at: 4) == blob)
    #expect(IntegrityCheck.run(try database.snapshot()).findings == [])
  }

  @Test func `a list that loses nearly all elements returns to its piece`() throws {
    let database = try database()
    var row: UInt64 = 0
    try database.write { transaction in
      let table = try #require(try transaction.table(Self.name))
      row = try table.insert([:])
      try table.append((0..<40_000).map { Value.int($0) }, toList: 1, ofRow: row)
    }
    _ = try database.write { try $0.table(Self.name)?.removeElements(3..<39_999, ofList: 1, ofRow: row) }
    let kinds = try SpaceReport(database.snapshot()).kinds.map(\.name)
    #expect(!kinds.contains("position branch"))
    let table = try #require(try database.snapshot().table(Self.name))
    #expect(try table.list(1, ofRow: row)?.elements() == [0, 1, 2, 39_999].map { Value.int($0) })
  }

  @Test func `reading collections, or writing what they hold already, makes no version`() throws {
    let database = try database()
    var row: UInt64 = 0
    let numbers = (0..<700).map { Value.int($0 % 50) }
    try database.write { transaction in
      let table = try #require(try transaction.table(Self.name))
      row = try table.insert([:])
      try table.append(numbers, toList: 1, ofRow: row)
      try table.insert([.string("a"), .string("b")], intoSet: 2, ofRow: row)
      try table.setValue(.string("a"), forKey: "a", ofMap: 3, ofRow: row)
    }
    let version = try database.snapshot().version
    try database.write { transaction in
      let table = try #require(try transaction.table(Self.name))
      #expect(try table.listCount(1, ofRow: row) == 700)
      #expect(try table.element(at: 699, ofList: 1, ofRow: row) == numbers[699])
      try table.setElement(numbers[3], at: 3, ofList: 1, ofRow: row)
      try table.swapElements(0, 50, ofList: 1, ofRow: row)
      try table.insert([.string("b")], intoSet: 2, ofRow: row)
      try table.remove(.string("c"), fromSet: 2, ofRow: row)
      try table.setValue(.string("a"), forKey: "a", ofMap: 3, ofRow: row)
      try table.removeValue(forKey: "b", ofMap: 3, ofRow: row)
    }
    #expect(try database.snapshot().version == version)
  }
}
