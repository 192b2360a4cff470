import Foundation
import RealmServer
import RealmStorage
import RealmSync
import RealmSyncClient
import RealmSyncSupport
import RealmTestSupport
import Testing

/// Copies of objects from files without sync to synced files, and the reverse.
@Suite struct RecordedCopyTests {
  private static func database(_ path: String, _ history: DatabaseOptions.History) throws -> Database {
    var options = DatabaseOptions()
    options.history = history
    return try Database(path: path, options: options)
  }

  /// The tables, columns and objects in which two databases differ.
  private static func differences(_ old: Database, _ new: Database) throws -> [String] {
    let comparison = try DatabaseComparison(from: old.snapshot(), to: new.snapshot())
    var found = comparison.schemaDifferences.map { "\($0)" }
    try comparison.forEachRow { row in
      found.append("\(row)")
      return true
    }
    return found
  }

  private static func changesets(_ database: Database) throws -> [StoredChangeset] {
    let snapshot = try database.snapshot()
    var found: [StoredChangeset] = []
    try snapshot.changelog()?.forEach(snapshot) { changeset in
      found.append(changeset)
      return true
    }
    return found
  }

  /// Makes another file from the changesets that a file has recorded, as a server does.
  private static func replay(_ changesets: [StoredChangeset], at path: String) throws -> Database {
    let other = try database(path, .synced)
    for stored in changesets {
      let changeset = try Changeset(bytes: stored.bytes)
      try other.write { transaction in
        for instruction in changeset.schema {
          let holds = try SchemaMerge(transaction).merge(instruction)
          #expect(holds, "\(instruction)")
        }
        try transaction.apply(changeset.objects)
      }
    }
    return other
  }

  private static var small: ObjectCopy.Limits {
    var limits = ObjectCopy.Limits()
    (limits.rows, limits.bytes) = (7, 3000)
    return limits
  }

  /// Copies a file, and compares the copy and its recorded changesets with the original.
  private static func expectCopied(
    _ source: Database, _ path: String, _ limits: ObjectCopy.Limits, _ context: String
  ) throws {
    let copy = try database(path + "-copy", .synced)
    try RecordedCopy.fill(copy, with: source.snapshot(), limits: limits)
    #expect(try differences(source, copy) == [], "\(context): copied")
    let check = IntegrityCheck.run(try copy.snapshot())
    #expect(check.isClean, "\(context): \(check.findings)")
    let recorded = try changesets(copy)
    // The changesets wait for the first query set, which the file does not have yet.
    #expect(recorded.allSatisfy { $0.querySet == 1 && $0.base == nil })
    #expect(try copy.snapshot().changelog()?.state.querySet == 0)
    let other = try replay(recorded, at: path + "-other")
    #expect(try differences(source, other) == [], "\(context): recorded")
  }

  // MARK: - To synced files

  @Test(arguments: [false, true])
  func `objects with columns of every kind arrive, and are recorded`(isSmall: Bool) throws {
    for seed in Slow.seeds(4, slow: 100) {
      try withTemporaryPath { path in
        let source = try Self.database(path, .local)
        var model = TableModel()
        var generator = SeededGenerator(seed: seed)
        try source.write { transaction in
          let schema = TableSchema(TableModel.name, columns: TableModel.everything)
          let table = try transaction.createTable(schema)
          for _ in 0..<120 { #expect(try model.change(table, &generator) == nil, "seed \(seed)") }
        }
        let limits = isSmall ? Self.small : ObjectCopy.Limits()
        try Self.expectCopied(source, path, limits, "seed \(seed)")
      }
    }
  }

  /// Persons, which link to each other and to pets, and own places with rooms.
  private struct Family {
    let persons: WritableTable
    let pets: WritableTable
    let places: WritableTable
    let rooms: WritableTable

    init(_ transaction: WriteTransaction) throws {
      rooms = try transaction.createTable(
        TableSchema(
          "Room", isEmbedded: true,
          columns: [Column("name", .string), Column("tags", .string, collection: .list)]))
      let room = rooms.schema.id
      places = try transaction.createTable(
        TableSchema(
          "Place", isEmbedded: true,
          columns: [
            Column("hall", .link, target: room), Column("rooms", .link, collection: .list, target: room),
            Column("named", .link, collection: .map, target: room),
          ]))
      let place = places.schema.id
      pets = try transaction.createTable(
        TableSchema("Pet", columns: [Column("name", .string, index: .unique), Column("age", .int64)]))
      persons = try transaction.createTable(
        TableSchema(
          "Person",
          columns: [
            Column("id", .int64, index: .unique), Column("home", .link, target: place),
            Column("places", .link, collection: .list, target: place),
            Column("named", .link, collection: .map, target: place), Column("friend", .link),
            Column("friends", .link, collection: .list), Column("team", .link, collection: .set),
            Column("roles", .link, collection: .map), Column("pet", .link, target: pets.schema.id),
            Column("any", .mixed), Column("list", .mixed, collection: .list),
            Column("set", .mixed, collection: .set), Column("map", .mixed, collection: .map),
            Column("note", .string, isOptional: true, index: .plain),
          ]))
      try places.addColumn(Column("owner", .link, target: persons.schema.id))
      try places.addColumn(Column("guests", .link, collection: .set, target: persons.schema.id))
      try pets.addColumn(Column("owner", .link, target: persons.schema.id))
    }

    private func room(_ generator: inout SeededGenerator) throws -> Value {
      let tags = (0..<generator.below(3)).map { Value.string("tag \($0)") }
      return .link(try rooms.insert(["name": .string("room \(generator.below(100))"), "tags": .list(tags)]))
    }

    private func place(_ people: [UInt64], _ generator: inout SeededGenerator) throws -> Value {
      var values: [String: Value] = ["owner": someone(people, &generator)]
      if generator.chance(50) { values["hall"] = try room(&generator) }
      values["rooms"] = .list(try (0..<generator.below(3)).map { _ in try room(&generator) })
      values["named"] = .map(ValueMap(["a": try room(&generator), "b": .null]))
      values["guests"] = .set((0..<generator.below(3)).map { _ in someone(people, &generator) })
      return .link(try places.insert(values))
    }

    private func someone(_ people: [UInt64], _ generator: inout SeededGenerator) -> Value {
      .link(people[generator.below(people.count)])
    }

    private func mixed(
      _ people: [UInt64], _ animals: [UInt64], _ generator: inout SeededGenerator, levels: Int = 2
    ) -> Value {
      switch generator.below(levels > 0 ? 6 : 4) {
      case 0: .int(Int64(generator.below(1000)))
      case 1: .string("text \(generator.below(1000))")
      case 2: .typedLink(table: persons.schema.id, row: people[generator.below(people.count)])
      case 3: .typedLink(table: pets.schema.id, row: animals[generator.below(animals.count)])
      case 4: .list((0..<3).map { _ in mixed(people, animals, &generator, levels: levels - 1) })
      default: .map(ValueMap(["k": mixed(people, animals, &generator, levels: levels - 1)]))
      }
    }

    func fill(_ count: Int, _ generator: inout SeededGenerator) throws {
      var people: [UInt64] = []
      for id in 0..<count {
        people.append(try persons.insert(["id": .int(Int64(id)), "note": .string("person \(id)")]))
      }
      var animals: [UInt64] = []
      for id in 0..<count / 2 + 1 {
        let owner = someone(people, &generator)
        animals.append(try pets.insert(["name": .string("pet \(id)"), "owner": owner]))
      }
      for row in people {
        if generator.chance(20) { continue }
        let all: [String: Value] = [
          "home": try place(people, &generator),
          "places": .list(try (0..<generator.below(3)).map { _ in try place(people, &generator) }),
          "named": .map(ValueMap(["one": try place(people, &generator), "none": .null])),
          "friend": someone(people, &generator),
          "friends": .list((0..<generator.below(4)).map { _ in someone(people, &generator) }),
          "team": .set((0..<generator.below(4)).map { _ in someone(people, &generator) }),
          "roles": .map(ValueMap(["boss": someone(people, &generator), "none": .null])),
          "pet": .link(animals[generator.below(animals.count)]),
          "any": mixed(people, animals, &generator),
          "list": .list((0..<4).map { _ in mixed(people, animals, &generator) }),
          "set": .set((0..<4).map { _ in mixed(people, animals, &generator, levels: 0) }),
          "map": .map(ValueMap(["x": mixed(people, animals, &generator), "y": .null])),
        ]
        for (name, value) in all.sorted(by: { $0.key < $1.key }) where generator.chance(80) {
          _ = try persons.set(value, name, ofRow: row)
        }
      }
      for row in people where generator.chance(10) { _ = try persons.remove(row) }
    }
  }

  @Test(arguments: [false, true])
  func `links, embedded objects and values of any type arrive, and are recorded`(isSmall: Bool) throws {
    for seed in Slow.seeds(4, slow: 100) {
      try withTemporaryPath { path in
        let source = try Self.database(path, .local)
        var generator = SeededGenerator(seed: seed)
        try source.write { try Family($0).fill(40, &generator) }
        let limits = isSmall ? Self.small : ObjectCopy.Limits()
        try Self.expectCopied(source, path, limits, "seed \(seed)")
      }
    }
  }

  @Test func `long collections arrive in portions of a few elements`() throws {
    try withTemporaryPath { path in
      let source = try Self.database(path, .local)
      try source.write { transaction in
        let table = try transaction.createTable(
          TableSchema(
            "Long",
            columns: [
              Column("id", .int64, index: .unique), Column("list", .int64, collection: .list),
              Column("set", .string, collection: .set), Column("map", .mixed, collection: .map),
              Column("others", .link, collection: .list),
            ]))
        let row = try table.insert(["id": .int(1)])
        let texts = (0..<2500).map { Value.string("text \($0)") }
        _ = try table.set(.list((0..<5000).map { .int($0) }), "list", ofRow: row)
        _ = try table.set(.set(texts), "set", ofRow: row)
        let entries = (0..<1500).map { (key: "key \($0)", value: Value.int($0)) }
        _ = try table.set(.map(ValueMap(entries: entries)), "map", ofRow: row)
        _ = try table.set(.list(Array(repeating: .link(row), count: 3000)), "others", ofRow: row)
      }
      try Self.expectCopied(source, path, Self.small, "long")
    }
  }

  @Test func `a table whose objects have no key is left out, or nothing is copied`() throws {
    try withTemporaryPath { path in
      let source = try Self.database(path, .local)
      try source.write { transaction in
        let loose = try transaction.createTable(TableSchema("Loose", columns: [Column("name", .string)]))
        let table = try transaction.createTable(
          TableSchema(
            "Person",
            columns: [
              Column("id", .int64, index: .unique), Column("thing", .link, target: loose.schema.id),
              Column("any", .mixed),
            ]))
        _ = try table.insert(["id": .int(1), "any": .string("a")])
        try transaction.setSchemaVersion(4)
      }
      let snapshot = try source.snapshot()
      let target = path + "-copy"
      do {
        try RecordedCopy.writeSynced(snapshot, to: target, like: path, encryptionKey: nil)
        Issue.record("a table without a primary key was copied")
      } catch StorageError.notSyncable(.noPrimaryKey, let table, nil, _) {
        #expect(table == "Loose")
      }
      #expect(try Self.files(beside: path) == ["test.realm"])
      try RecordedCopy.writeSynced(
        snapshot, to: target, like: path, encryptionKey: Keys.first, leavingOut: ["Loose"])
      #expect(try Self.files(beside: path) == ["test.realm", "test.realm-copy"])
      var options = DatabaseOptions(encryptionKey: Keys.first)
      options.history = .synced
      let copy = try Database(path: target, options: options)
      let found = try copy.snapshot()
      #expect(try found.schemas().map(\.name) == ["Person"] && found.schemaVersion() == 4)
      #expect(try found.schemas().first?.properties.map(\.name) == ["id", "any"])
      #expect(try found.table("Person")?.count == 1)
      #expect(throws: StorageError.self) {
        try RecordedCopy.writeSynced(
          snapshot, to: target, like: path, encryptionKey: nil, leavingOut: ["Loose"])
      }
    }
  }

  /// The names of the files in the folder of a path, without the files that open databases make there.
  private static func files(beside path: String) throws -> [String] {
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
    return try FileManager.default.contentsOfDirectory(atPath: folder)
      .filter { !$0.hasSuffix(".note") && !$0.hasSuffix(".management") }.sorted()
  }

  // MARK: - From synced files

  @Test func `a copy without sync has the objects, with the pending ones, and nothing of sync`() throws {
    let driven = try DrivenServer()
    let file = try ConnectedFile(driven, "anna", partition: .int(1))
    for key in 1...3 as ClosedRange<Int64> { try file.write(key, .int(1)) }
    #expect(try ClientCopy.partitionProperty(of: file.database.snapshot()) == nil)
    try file.connect()
    try file.exchange()
    file.disconnect()
    try file.write(4, .int(1))
    let source = try file.database.snapshot()
    #expect(try ClientCopy.partitionProperty(of: source) == "q")
    try withTemporaryPath { path in
      try RecordedCopy.writeLocal(source, to: path, like: path, encryptionKey: Keys.first, schemaVersion: 2) {
        $0.properties.filter { $0.name != "q" }
      }
      let copy = try Database(path: path, options: DatabaseOptions(encryptionKey: Keys.first))
      let snapshot = try copy.snapshot()
      #expect(try !copy.isSynced() && snapshot.treeNames() == [] && snapshot.schemaVersion() == 2)
      let schemas = try snapshot.schemas()
      #expect(schemas.allSatisfy { $0.columns == $0.properties && !$0.hasElementIDs })
      #expect(schemas.allSatisfy { schema in !schema.columns.contains { $0.name == "q" } })
      #expect(try copy.modelKeys() == [1, 2, 3, 4])
      let check = IntegrityCheck.run(snapshot)
      #expect(check.isClean, "\(check.findings)")
    }
    #expect(try file.keys() == [1, 2, 3, 4] && file.pending() == 1)
  }

  // MARK: - The first query set

  /// A file that objects were copied into, with its session with a driven server.
  private static func copied(_ driven: DrivenServer, partition: Value?) throws -> ConnectedFile {
    let source = try Database(inMemory: "source")
    try source.write { transaction in
      let table = try transaction.createTable(
        TableSchema(
          ModelClass.name,
          columns: [
            Column("id", .int64, index: .unique), Column("q", .int64, isOptional: true), Column("m", .mixed),
          ]))
      for key in 1...3 as ClosedRange<Int64> {
        _ = try table.insert(["id": .int(key), "q": .int(1), "m": .string("mine")])
      }
    }
    let file = try ConnectedFile(driven, "anna", partition: partition)
    try RecordedCopy.fill(file.database, with: source.snapshot())
    return file
  }

  @Test func `the copied objects wait until there is a query set, and are uploaded then`() throws {
    let driven = try DrivenServer()
    let file = try Self.copied(driven, partition: nil)
    try file.connect()
    try file.exchange()
    #expect(try file.isConnected && file.pending() > 0 && driven.database.modelKeys() == [])
    #expect(try file.ask("") == 1)
    try file.exchange()
    #expect(try file.errors == [] && file.refusals() == [] && file.pending() == 0)
    #expect(try driven.database.modelKeys() == [1, 2, 3] && file.keys() == [1, 2, 3])
  }

  @Test func `the copied objects continue to wait when the file is reset`() throws {
    let driven = try DrivenServer()
    let file = try Self.copied(driven, partition: nil)
    try file.connect()
    try file.exchange()
    try driven.append(.retire(replica: file.number()))
    try file.exchange()
    try file.connect()
    try file.exchange()
    #expect(try file.told.contains("did reset") && file.pending() > 0 && driven.database.modelKeys() == [])
    try file.ask("")
    try file.exchange()
    #expect(try file.refusals() == [] && file.pending() == 0 && driven.database.modelKeys() == [1, 2, 3])
  }

  @Test func `the copied objects are uploaded at once if the file has a partition`() throws {
    let driven = try DrivenServer()
    let file = try Self.copied(driven, partition: .int(1))
    try file.connect()
    try file.exchange()
    #expect(try file.errors == [] && file.refusals() == [] && file.pending() == 0)
    #expect(try driven.database.modelKeys() == [1, 2, 3] && file.keys() == [1, 2, 3])
  }
}
