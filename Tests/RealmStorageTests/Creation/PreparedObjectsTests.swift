import RealmTestSupport
import Testing

@testable import RealmStorage

@Suite struct PreparedObjectsTests {
  /// Prepares objects in a transaction of their own. Returns the places of the objects that can't be prepared.
  @discardableResult
  private static func prepare(_ created: CreatedObjects, _ database: Database) throws -> [Int] {
    let transaction = try database.beginWrite()
    defer { transaction.cancel() }
    let left = try PreparedObjects(transaction).add(created)
    try transaction.commit()
    return left
  }

  /// Makes all indexes, each in its own transaction. Returns how many.
  @discardableResult
  private static func index(_ database: Database) throws -> Int {
    var made = 0
    while true {
      let transaction = try database.beginWrite()
      defer { transaction.cancel() }
      guard try PreparedObjects(transaction).makeIndex() else { return made }
      made += 1
      try transaction.commit()
    }
  }

  private static func show(_ name: String, _ database: Database) throws -> Bool {
    let transaction = try database.beginWrite()
    defer { transaction.cancel() }
    let isShown = try PreparedObjects(transaction).show(name)
    try transaction.commit()
    return isShown
  }

  private static func classes(_ database: Database) throws -> [String] {
    let transaction = try database.beginWrite()
    defer { transaction.cancel() }
    return try PreparedObjects(transaction).classes
  }

  private static func count(_ name: String, _ database: Database) throws -> Int? {
    try database.snapshot().table(name)?.count
  }

  // MARK: - Shown by one transaction

  @Test(arguments: 0..<Slow.count(50, slow: 3_000))
  func `objects that many transactions prepared and one shows equal objects that are made at once`(
    number: Int
  ) throws {
    var generator = SeededGenerator(seed: UInt64(number))
    let context: Comment = "seed \(number)"
    let (schema, parts, one, other) = try FollowingFiles.make(&generator)
    let all = parts.flatMap(\.objects)
    let links = all.filter { _ in generator.chance(10) }.enumerated().map {
      FollowingFiles.link($0, to: $1.id)
    }
    // The class had other objects earlier, so their row keys are not given again.
    let former = all.prefix(generator.below(4))
    for file in [one, other] {
      try file.write { try $0.apply(links + former) }
      try file.write { try $0.apply(former.map { ObjectInstructions($0.id, [.delete]) }) }
    }
    for part in parts {
      let left = try Self.prepare(part, one)
      #expect(left.isEmpty, context)
      #expect(try Self.count(PlainClass.name, one) == 0, context)
      #expect(IntegrityCheck.run(try one.snapshot()).isClean, context)
    }
    #expect(try Self.classes(one) == (parts.isEmpty ? [] : [PlainClass.name]), context)
    let indexes = parts.isEmpty ? 0 : schema.columns.count { $0.index != .none }
    #expect(try Self.index(one) == indexes, context)
    #expect(IntegrityCheck.run(try one.snapshot()).isClean, context)
    #expect(try Self.show(PlainClass.name, one), context)
    #expect(try Self.classes(one).isEmpty, context)
    #expect(try one.snapshot().hiddenTable(PlainClass.name) == nil, context)
    for part in parts { try other.write { try $0.apply(part.objects) } }
    try FollowingFiles.compare(one, other, context)
    // The table can be changed like any other.
    for file in [one, other] {
      try file.write { transaction in
        let removed = all.enumerated().filter { $0.offset % 3 == 0 }.map(\.element.id)
        try transaction.apply(removed.map { ObjectInstructions($0, [.delete]) })
        try transaction.apply(Array(all.prefix(10)))
      }
    }
    try FollowingFiles.compare(one, other, context)
  }

  // MARK: - Not shown

  private static let columns = [
    Column("id", .int64, index: .unique), Column("text", .string, index: .plain),
    Column("number", .int64, isOptional: true),
  ]

  private static func file(_ columns: [Column] = columns) throws -> Database {
    let database = try PlainClass.file(clusterRows: 8)
    try database.write { _ = try $0.createTable(TableSchema("Thing", columns: columns)) }
    return database
  }

  private static func created(_ keys: Range<Int64>) throws -> CreatedObjects {
    var changeset = Changeset()
    for key in keys {
      let text = key % 10 == 0 ? String(repeating: "long ", count: 300) : "text \(key % 7)"
      changeset.objects.append(
        ObjectInstructions(
          ObjectName("Thing", .int(key)),
          [.create, .set(InstructionPath("text"), .value(.string(text)), isDefault: false)]))
    }
    return try #require(CreatedObjects(changeset.bytes))
  }

  /// The objects that `forEach` gives, as instructions that make them.
  private static func all(_ database: Database) throws -> [ObjectInstructions] {
    let transaction = try database.beginWrite()
    defer { transaction.cancel() }
    var found: [ObjectInstructions] = []
    try PreparedObjects(transaction).forEach(of: "Thing") { (created) throws(StorageError) in
      found += created.objects
    } single: { (object) throws(StorageError) in
      found.append(object)
    }
    return found
  }

  private enum Cause: CaseIterable {
    case hasObject, hasColumn, isRecorded, hasNoIndex
  }

  @Test(arguments: Cause.allCases)
  private func `prepared objects of a class that has changed meanwhile can be made one by one`(
    cause: Cause
  ) throws {
    let (database, expected) = (try Self.file(), try Self.file())
    try Self.prepare(try Self.created(0..<50), database)
    if cause != .hasNoIndex { #expect(try Self.index(database) == 2) }
    let own = ObjectInstructions(ObjectName("Thing", .int(1_000)), [.create])
    if cause == .hasObject { try database.write { try $0.apply([own]) } }
    if cause == .hasColumn {
      try database.write { try $0.table("Thing")?.addColumn(Column("new", .bool)) }
    }
    let transaction = try database.beginWrite()
    defer { transaction.cancel() }
    let expectedObjects = try Self.created(0..<50).objects
    if cause == .isRecorded { try transaction.record(into: ChangeList()) }
    let prepared = try PreparedObjects(transaction)
    let isShown = try prepared.show("Thing")
    #expect(!isShown)
    var (asCreations, asInstructions) = (0, 0)
    try prepared.forEach(of: "Thing") { (created) throws(StorageError) in
      asCreations += created.count
      var inserter = try CreationInserter(created, transaction)
      let place = try inserter.next()
      #expect(place == nil)
    } single: { (object) throws(StorageError) in
      asInstructions += 1
      try transaction.apply([object])
    }
    #expect(asCreations == 45 && asInstructions == 5)
    try prepared.forget("Thing")
    try transaction.commit()
    #expect(try Self.classes(database).isEmpty)
    try expected.write { transaction in
      if cause == .hasObject { try transaction.apply([own]) }
      if cause == .hasColumn { try transaction.table("Thing")?.addColumn(Column("new", .bool)) }
      try transaction.apply(expectedObjects)
    }
    try FollowingFiles.compareContent(database, expected, "\(cause)")
  }

  @Test func `objects are not prepared for a class that has objects, links or collections`() throws {
    let things = try Self.created(0..<20)
    let full = try Self.file()
    try full.write { try $0.apply([ObjectInstructions(ObjectName("Thing", .int(100)), [.create])]) }
    let files = [
      full, try Self.file(Self.columns + [Column("any", .mixed)]),
      try Self.file(Self.columns + [Column("link", .link)]),
      try Self.file(Self.columns + [Column("list", .int64, collection: .list)]),
    ]
    for file in files {
      #expect(try Self.prepare(things, file) == Array(0..<20))
      #expect(try Self.classes(file).isEmpty)
    }
    // Objects of a class that does not exist are not prepared either.
    let empty = try PlainClass.file()
    #expect(try Self.prepare(things, empty) == Array(0..<20))
  }

  @Test func `a creation that does not fit its class is not prepared`() throws {
    let database = try Self.file()
    var changeset = Changeset()
    func add(_ key: Value, _ property: String, _ value: Value) {
      let set = Instruction.set(InstructionPath(property), .value(value), isDefault: false)
      changeset.objects.append(ObjectInstructions(ObjectName("Thing", key), [.create, set]))
    }
    add(.int(1), "text", .string("first"))
    add(.int(2), "text", .int(2))
    add(.string("3"), "text", .string("a"))
    add(.int(4), "unknown", .string("a"))
    add(.int(5), "number", .null)
    let created = try #require(CreatedObjects(changeset.bytes))
    #expect(try Self.prepare(created, database) == [1, 2, 3])
    #expect(try Self.all(database).map(\.id.key) == [.int(1), .int(5)])
    try Self.index(database)
    #expect(try Self.show("Thing", database))
    #expect(try Self.count("Thing", database) == 2)
    #expect(IntegrityCheck.run(try database.snapshot()).isClean)
  }

  @Test(arguments: [ColumnType.int64, .string, .uuid])
  func `prepared objects with equal keys are not shown, and can be made one by one`(type: ColumnType) throws {
    let columns = [Column("id", type, index: .unique), Column("text", .string, index: .plain)]
    let database = try Self.file(columns)
    var changeset = Changeset()
    for number in Array(0..<40) + [17] {
      let key: Value =
        switch type {
        case .int64: .int(Int64(number))
        case .string: .string(String(repeating: "long key ", count: 80) + "\(number)")
        default: .uuid(SixteenBytes(high: UInt64(number), low: 1))
        }
      changeset.objects.append(ObjectInstructions(ObjectName("Thing", key), [.create]))
    }
    #expect(try Self.prepare(try #require(CreatedObjects(changeset.bytes)), database).isEmpty)
    let error = #expect(throws: StorageError.self) { try Self.index(database) }
    guard case .duplicateKey(let table, let column, _) = error else {
      Issue.record("\(error as Any)")
      return
    }
    #expect(table == "Thing" && column == "id")
    #expect(try !Self.show("Thing", database))
    #expect(try Self.all(database).count == 41)
    #expect(try Self.count("Thing", database) == 0)
  }

  @Test func `objects that are prepared and forgotten again and again take no space`() throws {
    try withTemporaryPath { path in
      var options = DatabaseOptions()
      options.history = .synced
      let database = try Database(path: path, options: options)
      try database.write { _ = try $0.createTable(TableSchema("Thing", columns: Self.columns)) }
      let created = try Self.created(0..<5_000)
      var lengths: [UInt64] = []
      for _ in 0..<12 {
        try Self.prepare(created, database)
        let transaction = try database.beginWrite()
        try PreparedObjects(transaction).forget("Thing")
        try transaction.commit()
        lengths.append(try database.store.storage.length())
      }
      #expect(lengths[11] <= lengths[2], "\(lengths)")
      let report = try SpaceReport(database.snapshot())
      #expect(report.parts.allSatisfy { !$0.part.isHidden })
      #expect(report.liveBytes < 16_384)
      // The ids of the hidden tables are never given again.
      try database.write { transaction in
        let table = try transaction.createTable(TableSchema("Other", columns: Self.columns))
        #expect(table.schema.id == 14)
      }
    }
  }

  @Test func `a transaction that prepares objects and then shows or forgets them leaves no hidden table`()
    throws
  {
    let database = try Self.file()
    let created = try Self.created(0..<30)
    for shows in [false, true] {
      let transaction = try database.beginWrite()
      let prepared = try PreparedObjects(transaction)
      let left = try prepared.add(created)
      #expect(left.isEmpty)
      if shows {
        while try prepared.makeIndex() {}
        let isShown = try prepared.show("Thing")
        #expect(isShown)
      } else {
        try prepared.forget("Thing")
      }
      #expect(prepared.classes.isEmpty)
      try transaction.commit()
      #expect(try Self.classes(database).isEmpty)
      #expect(try Self.count("Thing", database) == (shows ? 30 : 0))
      #expect(IntegrityCheck.run(try database.snapshot()).isClean)
    }
    // A table that is asked for in the same transaction shows the objects, too.
    try database.write { transaction in
      let row = try transaction.table("Thing")?.row(withPrimaryKey: .int(7))
      #expect(row != nil)
    }
  }
}
