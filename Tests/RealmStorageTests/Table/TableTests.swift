import RealmStorage
import TestSupport
import Testing

@Suite struct TableTests {
  private static let columns = ColumnType.allCases.flatMap { type in
    [Column("\(type)", type), Column("optional \(type)", type, isOptional: true)]
  }

  /// What a table is to hold, by key.
  private typealias Model = [UInt64: [String: Value]]

  private static func random(_ column: Column, _ generator: inout SeededGenerator) -> Value {
    if column.isOptional, generator.chance(30) { return .null }
    switch column.type {
    case .bool: return .bool(generator.chance(50))
    case .int8: return .int(Int64(Int8.random(in: .min ... .max, using: &generator)))
    case .int16: return .int(Int64(Int16.random(in: .min ... .max, using: &generator)))
    case .int32: return .int(Int64(Int32.random(in: .min ... .max, using: &generator)))
    case .int64:
      return .int(
        generator.chance(20) ? [Int64.min, .max, 0, -1][generator.below(4)] : Int64(generator.below(1000)))
    case .float: return .float(generator.chance(10) ? -0.0 : Float(generator.below(1000)) / 7)
    case .double: return .double(generator.chance(10) ? .infinity : Double(generator.below(1000)) / 7)
    case .string:
      if generator.chance(3) { return .string(String(repeating: "long ", count: 2000)) }
      return .string(String(repeating: "é", count: generator.below(40)))
    case .data:
      if generator.chance(3) { return .data([UInt8](repeating: 9, count: 4097 + generator.below(100_000))) }
      return .data(generator.bytes(generator.below(60)))
    case .date:
      let nanoseconds = generator.chance(50) ? 0 : Int32(generator.below(1_000_000_000))
      return .date(Timestamp(seconds: Int64(generator.below(1_000_000)) - 500_000, nanoseconds: nanoseconds))
    case .objectID: return .objectID(ObjectIDBytes(generator.bytes(12)))
    case .uuid: return .uuid(SixteenBytes(generator.bytes(16)))
    case .decimal128: return .decimal128(SixteenBytes(generator.bytes(16)))
    case .link: return .link(generator.next() >> 2)
    }
  }

  private static func row(_ schema: TableSchema, _ generator: inout SeededGenerator) -> [String: Value] {
    var row: [String: Value] = [:]
    for column in schema.columns { row[column.name] = random(column, &generator) }
    return row
  }

  private static func compare(_ table: Table, _ model: Model) throws {
    #expect(table.count == model.count)
    var keys: [UInt64] = []
    try table.forEach { key, values in
      keys.append(key)
      for (column, value) in zip(table.schema.columns, values) {
        #expect(value == model[key]?[column.name], "\(column.name) of row \(key)")
      }
      return true
    }
    #expect(keys == model.keys.sorted())
    for (position, key) in keys.enumerated() where position % 37 == 0 {
      #expect(try table.key(at: position) == key)
      #expect(try table.rank(of: key) == position)
      #expect(try table.contains(key))
    }
  }

  @Test(arguments: 0..<4, [nil, Keys.first])
  func `random changes agree with a dictionary`(seed: UInt64, key: [UInt8]?) throws {
    var generator = SeededGenerator(seed: seed)
    let disk = SimulatedDisk()
    var database = try Database(creatingIn: disk, options: .init(encryptionKey: key))
    try database.write { _ = try $0.createTable(TableSchema("Everything", columns: Self.columns)) }
    var model: Model = [:]
    for round in 0..<12 {
      let before = database.snapshot()
      let old = model
      try database.write(generator.chance(50) ? .full : .relaxed) { transaction in
        guard let table = try transaction.table("Everything") else { return }
        for _ in 0..<generator.below(60) { try Self.change(table, &model, &generator) }
        try Self.compare(table.reading, model)
      }
      if let table = try before.table("Everything") { try Self.compare(table, old) }
      if round % 5 == 4 {
        database.close()
        database = try Database(storage: disk, options: .init(encryptionKey: key))
      }
      let snapshot = database.snapshot()
      if let table = try snapshot.table("Everything") { try Self.compare(table, model) }
      #expect(IntegrityCheck.run(snapshot).findings == [])
    }
  }

  private static func change(_ table: WritableTable, _ model: inout Model, _ generator: inout SeededGenerator)
    throws
  {
    let victim = model.isEmpty ? 0 : model.keys.sorted()[generator.below(model.count)]
    switch generator.below(100) {
    case 0..<60:
      let row = row(table.schema, &generator)
      let key = try table.insert(row)
      #expect(model[key] == nil)
      model[key] = row
    case 60..<85:
      let column = table.schema.columns[generator.below(table.schema.columns.count)]
      let value = random(column, &generator)
      #expect(try table.set(value, column.name, ofRow: victim) == (model[victim] != nil))
      model[victim]?[column.name] = value
    case 85..<98:
      #expect(try table.remove(victim) == (model.removeValue(forKey: victim) != nil))
    default:
      if generator.chance(10) {
        try table.removeAll()
        model = [:]
      }
    }
  }

  @Test func `clusters split and a key that was given never comes back`() throws {
    let database = try Database(inMemory: "test")
    try database.write { transaction in
      let table = try transaction.createTable(TableSchema("Number", columns: [Column("value", .int64)]))
      for number in 0..<2000 { #expect(try table.insert(["value": .int(Int64(number))]) == UInt64(number)) }
      for key in stride(from: UInt64(0), to: 2000, by: 3) { try table.remove(key) }
      #expect(try table.insert([:]) == 2000)
    }
    let snapshot = database.snapshot()
    let table = try #require(try snapshot.table("Number"))
    #expect(table.count == 1334)
    let column = try #require(table.schema.column("value"))
    #expect(try table.value(column, ofRow: 1999) == .int(1999))
    #expect(try table.value(column, ofRow: 3) == nil)
    #expect(try table.value(column, ofRow: 2000) == .int(0))
    #expect(IntegrityCheck.run(snapshot).findings == [])
    try database.write { try $0.table("Number")?.removeAll() }
    let next = try database.write { try $0.table("Number")?.insert([:]) }
    #expect(next == 2001)
  }

  @Test func `a column added later has its default in the rows there are`() throws {
    let database = try Database(inMemory: "test")
    try database.write { transaction in
      let table = try transaction.createTable(TableSchema("Person", columns: [Column("name", .string)]))
      for name in ["a", "b", "c"] { _ = try table.insert(["name": .string(name)]) }
    }
    let before = database.snapshot()
    try database.write { transaction in
      let table = try transaction.table("Person")
      try table?.addColumn(Column("age", .int64))
      try table?.addColumn(Column("nickname", .string, isOptional: true))
      try table?.addColumn(Column("motto", .string))
      try table?.set(.string("me"), "motto", ofRow: 1)
      _ = try table?.insert(["name": .string("d"), "age": .int(4)])
    }
    let table = try #require(try database.snapshot().table("Person"))
    var rows: [[Value]] = []
    try table.forEach { _, values in
      rows.append(values)
      return true
    }
    #expect(rows[1] == [.string("b"), .int(0), .null, .string("me")])
    #expect(rows[2] == [.string("c"), .int(0), .null, .string("")])
    #expect(rows[3] == [.string("d"), .int(4), .null, .string("")])
    #expect(try before.table("Person")?.schema.columns.count == 1)
  }

  @Test func `a change of a number leaves the texts beside it where they are`() throws {
    let disk = SimulatedDisk()
    let database = try Database(creatingIn: disk)
    try database.write { transaction in
      let table = try transaction.createTable(
        TableSchema("Person", columns: [Column("age", .int64), Column("bio", .string)]))
      for number in 0..<512 {
        _ = try table.insert(["age": .int(Int64(number)), "bio": .string(String(repeating: "x", count: 100))])
      }
    }
    let written = disk.events.reduce(0) { if case .write(_, let count) = $1 { $0 + count } else { $0 } }
    try database.write { _ = try $0.table("Person")?.set(.int(7), "age", ofRow: 100) }
    let after = disk.events.reduce(0) { if case .write(_, let count) = $1 { $0 + count } else { $0 } }
    #expect(after - written <= 4, "pages written by one update, the meta page included")
  }

  @Test func `writing the value that is there changes nothing`() throws {
    let database = try Database(inMemory: "test")
    try database.write { transaction in
      let table = try transaction.createTable(TableSchema("Person", columns: [Column("age", .int64)]))
      _ = try table.insert(["age": .int(1)])
    }
    let version = database.version
    try database.write { _ = try $0.table("Person")?.set(.int(1), "age", ofRow: 0) }
    #expect(database.version == version)
  }

  @Test func `names that are empty or too long are refused`() throws {
    let database = try Database(inMemory: "test")
    let long = String(repeating: "n", count: 256)
    for name in ["", long] {
      #expect(throws: StorageError.limitExceeded(.nameLength(name.count, maximum: 255), path: "test")) {
        try database.write { _ = try $0.createTable(TableSchema(name, columns: [])) }
      }
    }
  }
}
