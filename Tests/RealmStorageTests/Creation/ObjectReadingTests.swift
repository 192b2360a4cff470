import RealmTestSupport
import Testing

@testable import RealmStorage

@Suite struct ObjectReadingTests {
  /// A version that is read, and the content that its objects had when the version was the newest.
  private struct Kept {
    let reading: ObjectReading
    let contents: [ObjectName: [Instruction]]
    let values: [ObjectName: [Value]]

    init(_ database: Database, _ properties: [String]) throws {
      reading = try ObjectReading(database.snapshot())
      let transaction = try database.beginWrite()
      defer { transaction.cancel() }
      var (contents, values): ([ObjectName: [Instruction]], [ObjectName: [Value]]) = ([:], [:])
      for name in try transaction.objectNames() {
        let object = try transaction.object(name)
        contents[name] = try object.content()
        values[name] = try object.values(of: properties)
      }
      (self.contents, self.values) = (contents, values)
    }

    /// The name of the first object that is read with another content, or nil.
    func difference(_ names: some Sequence<ObjectName>, _ properties: [String]) throws -> ObjectName? {
      for name in names {
        guard try reading.content(of: name) == contents[name],
          try reading.values(of: properties, in: name) == values[name]
        else { return name }
      }
      return nil
    }
  }

  /// Changes a synced file again and again, and reads the earlier versions.
  private static func run(
    _ seed: UInt64, _ properties: [String], make: (WriteTransaction) throws -> Void,
    change: (WriteTransaction, inout SeededGenerator) throws -> Void
  ) throws {
    var generator = SeededGenerator(seed: seed)
    let database = try PlainClass.file(
      clusterRows: seed % 2 == 0 ? 8 : 512, key: seed % 3 == 0 ? Keys.first : nil)
    try database.write { try make($0) }
    var kept: [Kept] = []
    var seen: Set<ObjectName> = []
    for round in 0..<14 {
      // Some objects are read only before the next transaction, and some only after it.
      var late: [(Kept, [ObjectName])] = []
      for version in kept {
        let names = Array(seen).shuffled(using: &generator)
        let half = names.count / 2
        let wrong = try version.difference(names[..<half], properties)
        #expect(wrong == nil, "seed \(seed), transaction \(round)")
        late.append((version, Array(names[half...])))
      }
      try database.write(generator.chance(50) ? .full : .relaxed) { try change($0, &generator) }
      if generator.chance(30) {
        // An open transaction does not change what a version reads.
        let transaction = try database.beginWrite()
        defer { transaction.cancel() }
        try change(transaction, &generator)
        for (version, names) in late {
          let wrong = try version.difference(names.prefix(5), properties)
          #expect(wrong == nil, "seed \(seed), transaction \(round), while it is open")
        }
      }
      for (version, names) in late {
        let wrong = try version.difference(names, properties)
        #expect(wrong == nil, "seed \(seed), behind transaction \(round)")
      }
      kept.append(try Kept(database, properties))
      seen.formUnion(kept.last.map { Array($0.contents.keys) } ?? [])
      if kept.count > 4 { kept.remove(at: generator.below(kept.count - 1)) }
    }
    #expect(!seen.isEmpty)
  }

  @Test func `a version reads objects with values of every kind as they were, whatever is written later`()
    throws
  {
    for seed in Slow.seeds(3, slow: 100) {
      let properties = ["name", "optional string", "int64", "any", "list of date", "none"]
      try Self.run(seed, properties) { transaction in
        try transaction.createTable(TableSchema(TableModel.name, columns: TableModel.everything))
      } change: { transaction, generator in
        let table = try #require(try transaction.table(TableModel.name))
        for _ in 0..<generator.below(30) { try Self.change(table, &generator) }
      }
    }
  }

  /// Adds, changes or removes a row.
  private static func change(_ table: WritableTable, _ generator: inout SeededGenerator) throws {
    let model = TableModel()
    let count = try table.reading().count
    guard count > 0, generator.chance(50) else {
      let row = model.row(table.schema, &generator)
      if try table.row(withPrimaryKey: row["id"] ?? .null) == nil { try table.insert(row) }
      return
    }
    let row = try table.reading().key(at: generator.below(count))
    if generator.chance(20) {
      try table.remove(row)
      return
    }
    let columns = table.schema.columns.filter { !$0.isCompanion && $0.index != .unique && !$0.isCollection }
    let column = columns[generator.below(columns.count)]
    try table.set(model.element(column, &generator), column.name, ofRow: row)
  }

  @Test
  func `a version reads objects with links and embedded objects as they were, whatever is written later`()
    throws
  {
    for seed in Slow.seeds(6, slow: 300) {
      try Self.run(seed, ["name", "age", "friend", "any", "pets"], make: Family.make) {
        transaction, generator in
        let family = try Family(transaction, keepsKeys: true)
        for _ in 0..<generator.below(25) { try family.change(&generator) }
      }
    }
  }

  @Test func `a version is held as long as it is read`() throws {
    let database = try PlainClass.file()
    try database.write { try Family.make($0) }
    let before = database.activeVersions
    var reading: ObjectReading? = try ObjectReading(database.snapshot())
    try database.write { _ = try $0.table(Family.person)?.insert(["id": .int(1)]) }
    #expect(database.activeVersions == before + 1)
    #expect(try reading?.content(of: ObjectName(Family.person, .int(1))) == nil)
    reading = nil
    #expect(database.activeVersions == before)
  }

  @Test func `unknown classes and keys of a wrong type are refused with their names`() throws {
    let database = try PlainClass.file()
    try database.write { try Family.make($0) }
    let reading = try ObjectReading(database.snapshot())
    try database.write { transaction in
      let key = Column("id", .int64, index: .unique)
      let table = try transaction.createTable(TableSchema("Later", columns: [key]))
      try table.insert(["id": .int(1)])
    }
    func refuses(_ problem: InstructionProblem, _ column: String?, _ name: ObjectName) {
      let error = StorageError.instructionDoesNotFit(
        problem, table: name.table, column: column, path: database.path)
      #expect(throws: error) { try reading.content(of: name) }
      #expect(throws: error) { try reading.values(of: [], in: name) }
    }
    refuses(.noTable, nil, ObjectName("Later", .int(1)))
    refuses(.noTable, nil, ObjectName("Toy", .int(1)))
    refuses(.wrongValue, "id", ObjectName(Family.person, .string("1")))
    #expect(try reading.content(of: ObjectName(Family.person, .int(9))) == nil)
    #expect(try reading.values(of: ["name"], in: ObjectName(Family.person, .int(9))) == nil)
    #expect(reading.snapshot.version < database.version)
  }
}
