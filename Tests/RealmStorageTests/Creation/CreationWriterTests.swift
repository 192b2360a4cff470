import RealmTestSupport
import Testing

@testable import RealmStorage

@Suite struct CreationWriterTests {
  /// A choice of objects by their keys and their values in some columns.
  private struct Filter {
    var fields: [Int?] = []
    var isAll = false

    init(_ schema: TableSchema, _ generator: inout SeededGenerator) {
      isAll = generator.chance(30)
      for _ in 0..<generator.below(4) {
        fields.append(generator.chance(20) ? nil : generator.below(schema.columns.count))
      }
    }

    func tells(_ key: Value, _ values: [Value]) -> Bool {
      "\(key) \(values)".utf8.reduce(0) { $0 &+ Int($1) } % 3 != 0
    }

    /// The keys of the chosen objects, in the order of their rows.
    func told(of table: Table) throws -> [Value] {
      let key = try #require(table.schema.columns.firstIndex(where: { $0.index == .unique }))
      var keys: [Value] = []
      try table.forEach { _, values in
        let some = fields.map { field in field.map { values[$0] } ?? .null }
        if isAll || tells(values[key], some) { keys.append(values[key]) }
        return true
      }
      return keys
    }
  }

  /// The objects that a writer wrote, and the keys of those that it left apart.
  private struct Written {
    var objects: [ObjectInstructions] = []
    var apart: [Value] = []
  }

  /// Writes the objects of a table in slices of `slice()` rows, into changesets that end whenever `endsNow()` is true.
  private static func write(
    _ table: Table, _ filter: Filter, slice: () -> Int, endsNow: () -> Bool
  ) throws -> Written {
    var writer = try #require(CreationWriter(table))
    var written = Written()
    var position = 0
    while position < table.count {
      let most = slice()
      let found = try writer.add(
        from: position, most: most, fields: filter.fields,
        where: filter.isAll ? nil : { filter.tells($0, $1) })
      #expect(found.looked > 0 && found.looked <= most)
      position += found.looked
      written.apart += found.apart
      guard position == table.count || endsNow() else { continue }
      let count = writer.count
      let created = writer.finish()
      let objects = created.objects
      #expect(writer.count == 0 && created.count == count && objects.count == count)
      #expect(try Changeset(bytes: created.bytes).objects == objects)
      let read = CreatedObjects(created.bytes)
      #expect(read == created && read?.objects == objects)
      written.objects += objects
    }
    return written
  }

  @Test(arguments: 0..<Slow.count(60, slow: 3_000))
  func `creations written from columns equal the content that the objects are read with`(number: Int) throws {
    var generator = SeededGenerator(seed: UInt64(number))
    var objects = PlainClass(&generator)
    let snapshot = try objects.database(&generator).snapshot()
    let table = try #require(try snapshot.table(PlainClass.name))
    let reading = try ObjectReading(snapshot)
    let filter = Filter(table.schema, &generator)
    let told = try filter.told(of: table)
    for most in [1, 3, 50, .max, 0] {
      // In the last round the slices have random sizes.
      let written = try Self.write(table, filter) {
        most > 0 ? most : generator.chance(30) ? .max : 1 + generator.below(9)
      } endsNow: {
        generator.chance(20)
      }
      let apart = Set(written.apart)
      #expect(apart.count == written.apart.count, "seed \(number): an object is told apart twice")
      #expect(written.apart == told.filter { apart.contains($0) }, "seed \(number)")
      var expected: [ObjectInstructions] = []
      for key in told where !apart.contains(key) {
        let name = ObjectName(PlainClass.name, key)
        expected.append(ObjectInstructions(name, try #require(try reading.content(of: name))))
      }
      #expect(written.objects == expected, "seed \(number), \(most) rows at a time")
    }
  }

  @Test
  func `values of up to 1 KiB stand with the creation, and objects with longer values are listed apart`()
    throws
  {
    let most = ChangesetMaker.mostWithCreation
    let database = try PlainClass.file()
    let long = String(repeating: "d", count: 2 * most)
    try database.write { transaction in
      let table = try transaction.createTable(
        TableSchema(
          "Note",
          columns: [
            Column("id", .string, index: .unique), Column("text", .string),
            Column("data", .data, isOptional: true), Column("other", .string, storedDefault: .string(long)),
          ]))
      func text(_ count: Int) -> Value { .string(String(repeating: "a", count: count)) }
      func data(_ count: Int) -> Value { .data([UInt8](repeating: 7, count: count)) }
      try table.insert(["id": .string("full"), "text": text(most), "data": data(most)])
      try table.insert(["id": .string("long text"), "text": text(most + 1)])
      try table.insert(["id": .string("long data"), "data": data(most + 1)])
      try table.insert(["id": .string("in a tree of its own"), "data": data(100_000)])
      try table.insert(["id": .string("other"), "other": text(most)])
      // A creation has the key of its object, however long it is.
      try table.insert(["id": .string(long), "other": .string("")])
    }
    let snapshot = try database.snapshot()
    let table = try #require(try snapshot.table("Note"))
    var writer = try #require(CreationWriter(table))
    let found = try writer.add(from: 0, most: 100, fields: [], where: nil)
    #expect(found.looked == 6)
    let apart: [Value] = [
      .string("long text"), .string("long data"), .string("in a tree of its own"), .string("other"),
    ]
    #expect(found.apart == apart)
    let objects = writer.finish().objects
    #expect(objects.map(\.id.key) == [.string("full"), .string(long)])
    #expect(
      objects.last?.instructions == [
        .create, .set(InstructionPath("text"), .value(.string("")), isDefault: true),
        .set(InstructionPath("other"), .value(.string("")), isDefault: false),
      ])
    // A creation has the default values, whatever their length, because the default may be different elsewhere.
    let last = Instruction.set(InstructionPath("other"), .value(.string(long)), isDefault: true)
    #expect(objects.first?.instructions.last == last)
  }

  @Test func `classes with links or collections, and classes without a key, have no creation writer`() throws
  {
    let database = try Database(inMemory: "local")
    let columns = [
      Column("link", .link), Column("any", .mixed), Column("list", .int64, collection: .list),
      Column("set", .string, collection: .set), Column("map", .double, collection: .map),
    ]
    try database.write { transaction in
      for column in columns {
        let key = Column("id", .int64, index: .unique)
        try transaction.createTable(TableSchema(column.name, columns: [key, column]))
      }
      try transaction.createTable(TableSchema("none", columns: [Column("id", .int64)]))
    }
    let snapshot = try database.snapshot()
    for name in columns.map(\.name) + ["none"] {
      let table = try #require(try snapshot.table(name))
      #expect(CreationWriter(table) == nil, "\(name)")
    }
  }
}
