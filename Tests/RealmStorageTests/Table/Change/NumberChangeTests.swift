import RealmStorage
import RealmTestSupport
import Testing

/// Changing many numbers at once.
@Suite struct NumberChangeTests {
  private static let schema = TableSchema(
    "Thing",
    columns: [
      Column("id", .int64, index: .unique), Column("small", .int64), Column("half", .int64, isOptional: true),
      Column("word", .int64), Column("wide", .int64, isOptional: true), Column("kind", .int64, index: .plain),
      Column("score", .double), Column("part", .double, isOptional: true), Column("text", .string),
    ])
  private static let integers = [1, 2, 3, 4, 5]
  private static let doubles = [6, 7]

  private static func row(_ number: Int) -> [Value] {
    [
      .int(Int64(number)), .int(Int64(number % 50)), number % 7 == 0 ? .null : .int(Int64(number % 900)),
      .int(Int64(-number)), number % 5 == 0 ? .null : .int(Int64(number) << 20), .int(Int64(number % 12)),
      .double(Double(number) / 4), number / 512 == 1 || number % 3 == 0 ? .null : .double(Double(-number)),
      .string(number % 90 == 0 ? String(repeating: "long", count: 700) : "text \(number % 40)"),
    ]
  }

  private static func named(_ values: [Value]) -> [String: Value] {
    Dictionary(uniqueKeysWithValues: zip(schema.columns.map(\.name), values))
  }

  private static func made(_ count: Int, _ key: [UInt8]? = nil) throws -> (Database, [UInt64: [Value]]) {
    let database = try Database(creatingIn: SimulatedDisk(), options: .init(encryptionKey: key))
    var model: [UInt64: [Value]] = [:]
    try database.write { transaction in
      let table = try transaction.createTable(schema)
      for number in 0..<count { model[try table.insert(Self.named(Self.row(number)))] = row(number) }
    }
    return (database, model)
  }

  private static func check(_ database: Database, is model: [UInt64: [Value]]) throws {
    let snapshot = try database.snapshot()
    #expect(IntegrityCheck.run(snapshot).findings == [])
    let table = try #require(try snapshot.table("Thing"))
    #expect(table.count == model.count)
    try table.forEach { row, values in
      if model[row] != values { Issue.record("row \(row) is \(values), not \(model[row] ?? [])") }
      return true
    }
    for kind in Int64(0)..<12 {
      let rows = model.filter { $0.value[5] == .int(kind) }.map(\.key).sorted()
      #expect(try table.rows(with: .int(kind), in: table.schema.columns[5]) == rows)
    }
  }

  @Test(arguments: [(1, nil), (2, Keys.first), (3, nil), (4, nil)] as [(UInt64, [UInt8]?)])
  func `what becomes of numbers is what a model says`(seed: UInt64, key: [UInt8]?) throws {
    var random = SeededGenerator(seed: seed)
    var (database, model) = try Self.made(3_000, key)
    for _ in 0..<12 {
      try database.write { transaction in
        let table = try #require(try transaction.table("Thing"))
        for _ in 0..<Int.random(in: 1...4, using: &random) {
          if Int.random(in: 0..<3, using: &random) == 0 {
            let row = Self.row(model.count + 100_000)
            if try table.row(withPrimaryKey: row[0]) == nil { model[try table.insert(Self.named(row))] = row }
          }
          let keys = Self.keys(&random)
          try Self.change(table, keys, &model, &random)
        }
      }
    }
    try Self.check(database, is: model)
  }

  /// All; or some, of which a few are not there, and some come twice.
  private static func keys(_ random: inout SeededGenerator) -> [UInt64]? {
    switch Int.random(in: 0..<3, using: &random) {
    case 0: nil
    case 1:
      (0..<Int.random(in: 0...5, using: &random)).map { _ in UInt64.random(in: 0..<3_300, using: &random) }
    default: (0..<2_000).map { _ in UInt64.random(in: 0..<3_300, using: &random) }
    }
  }

  private static func change(
    _ table: WritableTable, _ keys: [UInt64]?, _ model: inout [UInt64: [Value]],
    _ random: inout SeededGenerator
  ) throws {
    let changed = keys.map { Set($0).filter { model[$0] != nil } } ?? Set(model.keys)
    let found: Int
    let position: Int
    let become: (Value) -> Value
    if Bool.random(using: &random) {
      position = integers.randomElement(using: &random)!
      // Widths grow and shrink, and some changes change nothing.
      let (least, greatest) =
        [1: (-100, 100), 2: (-900, 900), 3: (-70_000, 70_000), 5: (0, 11)][position] ?? (-1 << 50, 1 << 50)
      let (factor, more) = (Int.random(in: 0...2, using: &random), Int.random(in: -1...1, using: &random))
      let new = { (old: Int64) in Int64(min(max(Int(old) * factor + more, least), greatest)) }
      found = try table.changeIntegers(position, ofRows: keys, new)
      become = { if case .int(let old) = $0 { .int(new(old)) } else { $0 } }
    } else {
      position = doubles.randomElement(using: &random)!
      let factor = Double(Int.random(in: -1...2, using: &random))
      found = try table.changeDoubles(position, ofRows: keys) { $0 * factor + 0.5 }
      become = { if case .double(let old) = $0 { .double(old * factor + 0.5) } else { $0 } }
    }
    #expect(found == changed.count)
    for row in changed { model[row]![position] = become(model[row]![position]) }
  }

  @Test func `a column that came later has its default changed`() throws {
    var (database, model) = try Self.made(1_200)
    try database.write { transaction in
      let table = try #require(try transaction.table("Thing"))
      try table.addColumn(Column("later", .int64))
      try table.addColumn(Column("ratio", .double, isOptional: true))
      #expect(try table.changeIntegers(9, ofRows: [3, 700]) { $0 + 2 } == 2)
      #expect(try table.changeDoubles(10) { $0 + 2 } == 1_200)
    }
    for row in model.keys { model[row]! += [.int(row == 3 || row == 700 ? 2 : 0), .null] }
    try Self.check(database, is: model)
  }

  @Test func `numbers that stay what they are make no version`() throws {
    let (database, model) = try Self.made(1_000)
    let before = database.version
    try database.write { transaction in
      let table = try #require(try transaction.table("Thing"))
      #expect(try table.changeIntegers(3) { $0 } == 1_000)
      #expect(try table.changeIntegers(5) { $0 } == 1_000)
      #expect(try table.changeDoubles(6) { $0 } == 1_000)
      #expect(try table.changeDoubles(6, ofRows: [5_000, 6_000]) { $0 + 1 } == 0)
      #expect(try table.changeDoubles(6, ofRows: []) { $0 + 1 } == 0)
    }
    #expect(database.version == before)
    try Self.check(database, is: model)
  }

  @Test func `rows of an unfinished cluster are changed too`() throws {
    let database = try Database(inMemory: "numbers")
    try database.write { transaction in
      let table = try transaction.createTable(Self.schema)
      #expect(try table.changeDoubles(6) { $0 + 1 } == 0)
      var model: [UInt64: [Value]] = [:]
      for number in 0..<20 {
        model[try table.insert(Self.named(Self.row(number)))] = Self.row(number)
        #expect(try table.changeIntegers(3) { $0 - 1 } == number + 1)
        for row in model.keys { if case .int(let old) = model[row]![3] { model[row]![3] = .int(old - 1) } }
      }
      let reading = try table.reading()
      for (row, values) in model {
        #expect(try reading.value(reading.schema.columns[3], ofRow: row) == values[3])
      }
    }
    #expect(IntegrityCheck.run(try database.snapshot()).findings == [])
  }

  /// A program that catches the error must not commit a part of the changes.
  @Test(arguments: [(0, true), (40, false)])
  func `a number that another row has ends the change, and the transaction if rows were changed before`(
    first: Int64, canCommit: Bool
  ) throws {
    let (database, model) = try Self.made(100)
    let transaction = try database.beginWrite()
    defer { transaction.cancel() }
    let table = try #require(try transaction.table("Thing"))
    let refusal = #expect(throws: StorageError.self) {
      try table.changeIntegers(0) { $0 < first ? $0 + 1_000 : 99 }
    }
    guard case .duplicateKey(_, column: "id", _) = refusal else {
      Issue.record("\(String(describing: refusal))")
      return
    }
    if canCommit {
      try transaction.commit()
    } else {
      #expect(throws: StorageError.self) { try transaction.commit() }
    }
    try Self.check(database, is: model)
  }
}
