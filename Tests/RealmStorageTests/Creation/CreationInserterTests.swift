import RealmTestSupport
import Testing

@testable import RealmStorage

@Suite struct CreationInserterTests {
  // MARK: - Two files that follow

  /// Inserts the creations. Objects that the inserter can't make are made by instructions. Returns the names of these
  /// objects.
  private static func insert(
    _ created: CreatedObjects, _ transaction: WriteTransaction, except excepted: Set<ObjectName> = []
  ) throws -> [ObjectName] {
    let objects = created.objects
    var inserter = try CreationInserter(created, transaction, except: excepted)
    var stopped: [ObjectName] = []
    while let place = try inserter.next() {
      stopped.append(objects[place].id)
      try transaction.apply([objects[place]])
    }
    return stopped
  }

  private static func nextSequence(_ database: Database) throws -> UInt64? {
    try database.snapshot().changelog()?.state.nextSequence
  }

  @Test(arguments: 0..<Slow.count(50, slow: 3_000))
  func `objects that the inserter makes equal objects that instructions make one by one`(number: Int) throws {
    var generator = SeededGenerator(seed: UInt64(number))
    let context: Comment = "seed \(number)"
    let (_, parts, fast, slow) = try FollowingFiles.make(&generator)
    // Some objects exist already, and some objects are linked to, whether or not they exist.
    let all = parts.flatMap(\.objects)
    let before = all.filter { _ in generator.chance(10) }
    let links = all.filter { _ in generator.chance(10) }.enumerated().map {
      FollowingFiles.link($0, to: $1.id)
    }
    for file in [fast, slow] { try file.write { try $0.apply(before + links) } }
    let sequence = try Self.nextSequence(fast)
    let excepted = Set(all.filter { _ in generator.chance(5) }.map(\.id))
    let breaks = parts.map { _ in generator.chance(40) }
    var stopped: [ObjectName] = []
    var place = 0
    while place < parts.count {
      try fast.write { transaction in
        repeat {
          stopped += try Self.insert(parts[place], transaction, except: excepted)
          place += 1
        } while place < parts.count && !breaks[place]
      }
    }
    let others = excepted.union(before.map(\.id))
    #expect(stopped == all.map(\.id).filter { others.contains($0) }, context)
    for part in parts { try slow.write { try $0.apply(part.objects) } }
    try FollowingFiles.compare(fast, slow, context)
    // The same creations are inserted again in one transaction. All objects exist already.
    try fast.write { transaction in
      for part in parts {
        let found = try Self.insert(part, transaction)
        #expect(found == part.objects.map(\.id), context)
      }
    }
    try FollowingFiles.compare(fast, slow, context)
    #expect(try Self.nextSequence(fast) == sequence, context)
  }

  @Test(arguments: [ColumnType.int64, .string, .uuid, .objectID])
  func `the inserter finds an object that was made earlier in the same transaction`(
    type: ColumnType
  ) throws {
    let key: Value =
      switch type {
      case .int64: .int(7)
      case .string: .string(String(repeating: "long key ", count: 60))
      case .uuid: .uuid(SixteenBytes(high: 1, low: 2))
      default: .objectID(ObjectIDBytes(high: 1, low: 2))
      }
    let database = try PlainClass.file()
    try database.write { transaction in
      let columns = [Column("id", type, index: .unique), Column("text", .string)]
      let table = try transaction.createTable(TableSchema("Thing", columns: columns))
      var changeset = Changeset()
      let object = ObjectInstructions(ObjectName("Thing", key), [.create])
      changeset.objects = [object, object]
      let created = try #require(CreatedObjects(changeset.bytes))
      var inserter = try CreationInserter(created, transaction)
      let (second, end) = (try inserter.next(), try inserter.next())
      #expect(second == 1 && end == nil)
      // The object is removed and made again.
      try table.remove(try #require(try table.row(withPrimaryKey: key)))
      inserter = try CreationInserter(created, transaction)
      let again = try inserter.next()
      #expect(again == 1)
      #expect(try table.reading().count == 1)
    }
    #expect(IntegrityCheck.run(try database.snapshot()).isClean)
  }

  // MARK: - What can't be made so

  private static func name(_ key: Int64) -> ObjectName { ObjectName("Thing", .int(key)) }

  private static func set(_ property: String, _ value: Value) -> Instruction {
    .set(InstructionPath(property), .value(value), isDefault: false)
  }

  private static func creation(_ name: ObjectName, _ values: Instruction...) -> ObjectInstructions {
    ObjectInstructions(name, [.create] + values)
  }

  /// A file with a class in which the object 7 exists.
  private static func things() throws -> Database {
    let database = try PlainClass.file()
    try database.write { transaction in
      try transaction.createTable(
        TableSchema(
          "Thing",
          columns: [
            Column("id", .int64, index: .unique), Column("text", .string),
            Column("number", .int64, isOptional: true), Column("any", .mixed), Column("friend", .link),
            Column("list", .int64, collection: .list),
          ]))
      try transaction.apply([creation(name(7))])
    }
    return database
  }

  /// Objects that can't be made column by column, each with the reason.
  private static let misfits: [(reason: String, object: ObjectInstructions)] = [
    ("it is there", creation(name(7))),
    ("it is excepted", creation(name(8), set("text", .string("a")))),
    ("there is no such property", creation(name(2), set("text", .string("a")), set("none", .int(1)))),
    ("a value of another type", creation(name(2), set("text", .int(1)))),
    ("a real number in place of a whole one", creation(name(2), set("number", .double(1)))),
    ("null in a required property", creation(name(2), set("text", .null))),
    ("a property twice", creation(name(2), set("number", .int(1)), set("number", .int(2)))),
    ("a value of a property for any type", creation(name(2), set("any", .int(1)))),
    ("null in a link", creation(name(2), set("friend", .null))),
    ("a value of a list", creation(name(2), set("list", .int(1)))),
    ("the primary key as a property", creation(name(2), set("id", .int(2)))),
    ("a key of another type", creation(ObjectName("Thing", .string("2")))),
    ("no key", creation(ObjectName("Thing", .null))),
  ]

  @Test(arguments: 0..<13)
  func `the inserter stops at an object that it can't make, and continues after it`(index: Int) throws {
    #expect(Self.misfits.count == 13)
    let (reason, misfit) = Self.misfits[index]
    let database = try Self.things()
    let sequence = try Self.nextSequence(database)
    var changeset = Changeset()
    changeset.objects = [
      Self.creation(Self.name(1), Self.set("number", .int(5)), Self.set("text", .string("é"))), misfit,
      Self.creation(Self.name(3), Self.set("number", .null)),
    ]
    let created = try #require(CreatedObjects(changeset.bytes))
    try database.write { transaction in
      var inserter = try CreationInserter(created, transaction, except: [Self.name(8)])
      let (place, end) = (try inserter.next(), try inserter.next())
      #expect(place == 1 && end == nil, "\(reason)")
      let names = try transaction.objectNames()
      #expect(names == [Self.name(7), Self.name(1), Self.name(3)], "\(reason)")
      let content = try transaction.object(Self.name(1)).content()
      #expect(
        content == [.create, Self.set("text", .string("é")), Self.set("number", .int(5))], "\(reason)")
    }
    let check = IntegrityCheck.run(try database.snapshot())
    #expect(check.isClean, "\(reason)")
    #expect(try Self.nextSequence(database) == sequence, "\(reason)")
  }

  @Test func `the inserter stops at an object with a property after the first 64 columns`() throws {
    let database = try PlainClass.file()
    try database.write { transaction in
      let columns = (0..<70).map { Column("p\($0)", .int64, isOptional: true) }
      let key = Column("id", .int64, index: .unique)
      try transaction.createTable(TableSchema("Thing", columns: [key] + columns))
      var changeset = Changeset()
      changeset.objects = [
        Self.creation(Self.name(1), Self.set("p62", .int(1))),
        Self.creation(Self.name(2), Self.set("p0", .int(1)), Self.set("p63", .int(1))),
        Self.creation(Self.name(3), Self.set("p69", .int(1))),
      ]
      let created = try #require(CreatedObjects(changeset.bytes))
      let stopped = try Self.insert(created, transaction)
      #expect(stopped == [Self.name(2), Self.name(3)])
      let values = try transaction.object(Self.name(2)).values(of: ["p0", "p63"])
      #expect(values == [.int(1), .int(1)])
    }
  }

  @Test func `a class that does not exist or is embedded is an error that ends the transaction`() throws {
    for table in ["None", "Part"] {
      let database = try Self.things()
      try database.write {
        _ = try $0.createTable(TableSchema("Part", isEmbedded: true, columns: [Column("a", .int64)]))
      }
      var changeset = Changeset()
      changeset.objects = [Self.creation(Self.name(1)), Self.creation(ObjectName(table, .int(1)))]
      let created = try #require(CreatedObjects(changeset.bytes))
      let transaction = try database.beginWrite()
      defer { transaction.cancel() }
      var inserter = try CreationInserter(created, transaction)
      let expected = StorageError.instructionDoesNotFit(
        .noTable, table: table, column: nil, path: database.path)
      var thrown: StorageError?
      do throws(StorageError) { _ = try inserter.next() } catch { thrown = error }
      #expect(thrown == expected)
      #expect(throws: expected) { try transaction.commit() }
    }
  }

  // MARK: - Links that wait

  @Test func `links that wait for an object are resolved when the object is made`() throws {
    var generator = SeededGenerator(seed: 1)
    let columns = [Column("id", .int64, index: .unique), Column("text", .string)]
    let database = try FollowingFiles.follower(of: TableSchema(PlainClass.name, columns: columns), &generator)
    let name = ObjectName(PlainClass.name, .int(5))
    try database.write { try $0.apply([FollowingFiles.link(0, to: name), FollowingFiles.link(1, to: name)]) }
    func absent() throws -> Int {
      let table = try #require(try database.snapshot().table(FollowingFiles.linker))
      var count = 0
      for position in table.schema.columns.indices where !table.schema.columns[position].isCompanion {
        for row in 0..<table.count {
          count += try table.absentLinks(ofColumn: position, ofRow: table.key(at: row)).count
        }
      }
      return count
    }
    #expect(try absent() == 10)
    var changeset = Changeset()
    changeset.objects = [4, 5, 6].map { key in
      Self.creation(ObjectName(PlainClass.name, .int(key)), Self.set("text", .string("made")))
    }
    let created = try #require(CreatedObjects(changeset.bytes))
    try database.write { transaction in
      let stopped = try Self.insert(created, transaction)
      #expect(stopped.isEmpty)
    }
    #expect(try absent() == 0)
    let transaction = try database.beginWrite()
    defer { transaction.cancel() }
    let content = try transaction.object(ObjectName(FollowingFiles.linker, .int(1))).content()
    #expect(content == FollowingFiles.link(1, to: name).instructions)
    let target = try #require(try transaction.table(PlainClass.name)?.row(withPrimaryKey: .int(5)))
    let linker = try #require(try transaction.table(FollowingFiles.linker))
    let row = try #require(try linker.row(withPrimaryKey: .int(0)))
    #expect(try linker.value(1, ofRow: row) == Value.link(target))
    #expect(IntegrityCheck.run(try database.snapshot()).isClean)
  }
}
