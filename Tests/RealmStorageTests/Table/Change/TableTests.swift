import RealmStorage
import RealmTestSupport
import Testing

@Suite struct TableTests {
  @Test(arguments: 0..<4, [nil, Keys.first])
  func `random changes agree with a dictionary`(seed: UInt64, key: [UInt8]?) throws {
    var generator = SeededGenerator(seed: seed)
    let disk = SimulatedDisk()
    var options = Database.Options(encryptionKey: key)
    options.spillBytes = 1 << 14
    if seed > 1 { options.clusterRows = 8 }
    var database = try Database(creatingIn: disk, options: options)
    let columns = seed % 2 == 0 ? TableModel.everything : TableModel.few
    try database.write { transaction in
      _ = try transaction.createTable(TableSchema(TableModel.name, columns: columns))
    }
    var model = TableModel(changesSchema: seed > 0)
    for round in 0..<12 {
      let before = try database.snapshot()
      let old = model
      try database.write(generator.chance(50) ? .full : .relaxed) { transaction in
        guard let table = try transaction.table(TableModel.name) else { return }
        for _ in 0..<generator.below(60) {
          #expect(try model.change(table, &generator) == nil, "seed \(seed) round \(round)")
        }
        #expect(try model.difference(to: table.reading(), &generator) == nil, "seed \(seed) round \(round)")
      }
      try expect(before, toHold: old, &generator)
      if round % 5 == 4 {
        database.close()
        database = try Database(storage: disk, options: options)
      }
      try expect(database.snapshot(), toHold: model, &generator)
    }
  }

  private func expect(
    _ snapshot: Snapshot, toHold model: TableModel, _ generator: inout SeededGenerator
  ) throws {
    let table = try #require(try snapshot.table(TableModel.name))
    #expect(try model.difference(to: table, &generator) == nil)
    #expect(IntegrityCheck.run(snapshot).findings == [])
  }

  @Test(arguments: 0..<2, [nil, Keys.first])
  func `a transaction larger than its memory is written before it commits`(seed: UInt64, key: [UInt8]?) throws
  {
    var generator = SeededGenerator(seed: seed)
    let disk = SimulatedDisk()
    var options = Database.Options(encryptionKey: key)
    options.spillBytes = 1 << 14
    if seed == 1 { options.clusterRows = 16 }
    let database = try Database(creatingIn: disk, options: options)
    try database.write { transaction in
      _ = try transaction.createTable(TableSchema(TableModel.name, columns: TableModel.few))
    }
    var model = TableModel()
    for round in 0..<3 {
      let before = try database.snapshot()
      let transaction = try database.beginWrite()
      let table = try #require(try transaction.table(TableModel.name))
      let events = disk.events.count
      var next = model
      for _ in 0..<900 { #expect(try next.insert(table, &generator) == nil) }
      for _ in 0..<10 { #expect(try next.change(table, &generator) == nil) }
      #expect(disk.events.count > events, "nodes were written before the commit")
      if round == 1 {
        transaction.cancel()
      } else {
        try transaction.commit()
        model = next
      }
      try expect(database.snapshot(), toHold: model, &generator)
      #expect(IntegrityCheck.run(before).findings == [])
    }
  }

  @Test func `clusters split, and the key of a removed row is never given again`() throws {
    let database = try Database(inMemory: "test")
    try database.write { transaction in
      let table = try transaction.createTable(TableSchema("Number", columns: [Column("value", .int64)]))
      for number in 0..<2000 { #expect(try table.insert(["value": .int(Int64(number))]) == UInt64(number)) }
      for key in stride(from: UInt64(0), to: 2000, by: 3) { try table.remove(key) }
      #expect(try table.insert([:]) == 2000)
    }
    let snapshot = try database.snapshot()
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

  @Test func `a column added later has its default value in the existing rows`() throws {
    let database = try Database(inMemory: "test")
    try database.write { transaction in
      let table = try transaction.createTable(TableSchema("Person", columns: [Column("name", .string)]))
      for name in ["a", "b", "c"] { _ = try table.insert(["name": .string(name)]) }
    }
    let before = try database.snapshot()
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

  @Test func `changing a number does not rewrite the texts beside it`() throws {
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

  @Test func `writing the same value again makes no version`() throws {
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
