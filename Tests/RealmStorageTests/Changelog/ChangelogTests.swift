import Foundation
import RealmTestSupport
import Testing

@testable import RealmStorage

@Suite struct ChangelogTests {
  private static func synced(_ path: String, clusterRows: Int = 512) throws -> Database {
    var options = DatabaseOptions()
    options.history = .synced
    options.clusterRows = clusterRows
    return try Database(path: path, options: options)
  }

  private static let person = TableSchema(
    "Person",
    columns: [
      Column("id", .int64, index: .unique), Column("name", .string), Column("age", .int64),
      Column("tags", .string, collection: .list), Column("friend", .link),
      Column("friends", .link, collection: .list),
    ])

  private static func changesets(_ database: Database) throws -> [Changeset] {
    let snapshot = try database.snapshot()
    var found: [Changeset] = []
    try snapshot.changelog()?.forEach(snapshot) { changeset in
      if let changeset = try? Changeset(bytes: changeset.bytes) { found.append(changeset) }
      return true
    }
    return found
  }

  @Test func `changes of objects are recorded with primary keys, names and ids of elements`() throws {
    try withTemporaryPath { path in
      let database = try Self.synced(path)
      try database.write { _ = try $0.createTable(Self.person) }
      try database.write { transaction in
        let table = try #require(try transaction.table("Person"))
        let anna = try table.insert([
          "id": .int(1), "name": .string("Anna"), "tags": .list([.string("a"), .string("b")]),
        ])
        let ben = try table.insert(["id": .int(2)])
        try table.set(.link(ben), "friend", ofRow: anna)
        try table.add(5, to: 2, ofRow: ben)
        try table.append([.string("c")], toList: 3, ofRow: anna)
      }
      let found = try Self.changesets(database)
      #expect(found.count == 2)
      #expect(
        found[0].schema == [
          .addTable("Person", key: PropertyDefinition("id", .int64)),
          .addProperty(table: "Person", PropertyDefinition("name", .string)),
          .addProperty(table: "Person", PropertyDefinition("age", .int64)),
          .addProperty(table: "Person", PropertyDefinition("tags", .string, collection: .list)),
          .addProperty(
            table: "Person", PropertyDefinition("friend", .link, target: "Person", isOptional: true)),
          .addProperty(
            table: "Person", PropertyDefinition("friends", .link, collection: .list, target: "Person")),
        ])
      let tags = InstructionPath("tags")
      func id(_ counter: UInt32) -> ElementID { ElementID(replica: 1, counter: counter) }
      #expect(
        found[1].objects == [
          ObjectInstructions(
            ObjectName("Person", .int(1)),
            [
              .create, .set(InstructionPath("name"), .value(.string("Anna")), isDefault: false),
              .set(InstructionPath("age"), .value(.int(0)), isDefault: true),
              .insert(tags, id(1), left: .none, right: .none, .value(.string("a"))),
              .insert(tags, id(2), left: id(1), right: .none, .value(.string("b"))),
              .set(InstructionPath("friend"), .link(ObjectName("Person", .int(2))), isDefault: false),
              .insert(tags, id(3), left: id(2), right: .none, .value(.string("c"))),
            ]),
          ObjectInstructions(
            ObjectName("Person", .int(2)),
            [
              .create, .set(InstructionPath("name"), .value(.string("")), isDefault: true),
              .set(InstructionPath("age"), .value(.int(0)), isDefault: true), .add(InstructionPath("age"), 5),
            ]),
        ])
    }
  }

  @Test func `rows that resolve waiting links are recorded, and changes that another device made are not`()
    throws
  {
    try withTemporaryPath { path in
      let database = try Self.synced(path)
      func name(_ id: Int64) -> ObjectName { ObjectName("Person", .int(id)) }
      let friends = InstructionPath("friends")
      try database.write { transaction in
        _ = try transaction.createTable(Self.person)
        try transaction.apply([
          ObjectInstructions(
            name(1),
            [
              .create, .set(InstructionPath("friend"), .link(name(7)), isDefault: false),
              .insert(
                friends, ElementID(replica: 2, counter: 1), left: .none, right: .none, .link(name(7))),
            ])
        ])
      }
      try database.write { transaction in
        let table = try #require(try transaction.table("Person"))
        let ben = try table.insert(["id": .int(8)])
        let one = try #require(try table.row(withPrimaryKey: .int(1)))
        try table.append(
          [.link(ben)], toList: table.schema.columns.firstIndex { $0.name == "friends" } ?? 0, ofRow: one)
        let anna = try table.insert(["id": .int(7)])
        #expect(
          try table.value(table.schema.columns.firstIndex { $0.name == "friend" } ?? 0, ofRow: one)
            == .link(anna))
      }
      let found = try Self.changesets(database)
      #expect(found[0].objects == [])
      #expect(Set(found[1].objects.map(\.id)) == [name(8), name(1), name(7)])
      #expect(
        found[1].objects.filter { $0.instructions.first == .create }.map(\.id.key) == [.int(8), .int(7)])
      let inserted = found[1].objects.first { $0.id == name(1) }?.instructions
      #expect(
        inserted == [
          .insert(
            friends, ElementID(replica: 1, counter: 1), left: ElementID(replica: 2, counter: 1), right: .none,
            .link(name(8)))
        ])
    }
  }

  // MARK: - What is refused

  @Test func `a file is synced or local from its creation, and opening it as the other kind fails`() throws {
    try withTemporaryPath { path in
      func open(_ path: String, _ history: DatabaseOptions.History) throws -> Database {
        var options = DatabaseOptions()
        options.history = history
        return try Database(path: path, options: options)
      }
      let isSynced = try open(path, .synced).isSynced()
      #expect(isSynced)
      #expect(throws: StorageError.otherHistory(isSynced: true, path: path)) { try open(path, .local) }
      #expect(try open(path, .any).isSynced())
      #expect(try open(path, .synced).isSynced())
      let other = path + "2"
      try open(other, .local).write { try $0.tree("a").set([1], for: [1]) }
      #expect(throws: StorageError.otherHistory(isSynced: false, path: other)) { try open(other, .synced) }
      #expect(try !open(other, .any).isSynced())
    }
  }

  @Test func `a handle that accepts any history records its changes to a synced file`() throws {
    try withTemporaryPath { path in
      try Self.synced(path).write { _ = try $0.createTable(Self.person) }
      var options = DatabaseOptions()
      options.history = .any
      let database = try Database(path: path, options: options)
      try database.write { _ = try $0.table("Person")?.insert(["id": .int(1)]) }
      #expect(try Self.changesets(database).last?.objects.map(\.id) == [ObjectName("Person", .int(1))])
    }
  }

  @Test func `changes that sync does not support are refused with their reason`() throws {
    try withTemporaryPath { path in
      let database = try Self.synced(path)
      try database.write { transaction in
        #expect(throws: StorageError.notSyncable(.noPrimaryKey, table: "Bag", column: nil, path: path)) {
          try transaction.createTable(TableSchema("Bag", columns: [Column("a", .int64)]))
        }
        _ = try transaction.createTable(Self.person)
      }
      func refuses(
        _ problem: SyncProblem, _ column: String? = nil, _ body: @escaping (WritableTable) throws -> Void
      ) {
        #expect(throws: StorageError.notSyncable(problem, table: "Person", column: column, path: path)) {
          try database.write { transaction in
            let table = try #require(try transaction.table("Person"))
            _ = try table.insert(["id": .int(1)])
            try body(table)
          }
        }
      }
      refuses(.primaryKeyChanged, "id") { try $0.set(.int(2), "id", ofRow: 0) }
      refuses(.schemaNotAdded) { try $0.dropColumn(1) }
      refuses(.schemaNotAdded) { try $0.setIndex(.none, ofColumn: 0) }
      refuses(.schemaNotAdded) { try $0.changeType(ofColumn: 2, to: .string) { _ in .string("") } }
      refuses(.schemaNotAdded, "key") { try $0.addColumn(Column("key", .int64, index: .unique)) }
      refuses(.appliedChange) {
        try $0.setAbsentLinks([AbsentLink(table: 1, primaryKey: .int(7))], ofColumn: 5, ofRow: 0)
      }
      #expect(throws: StorageError.notSyncable(.appliedChange, table: "changes", column: nil, path: path)) {
        try database.write { try $0.apply([RowChange(table: 1, .deleteAll)]) }
      }
      // Changes that concern this file alone are allowed.
      try database.write { transaction in
        let table = try #require(try transaction.table("Person"))
        try table.setIndex(.plain, ofColumn: 1)
        try table.setOptional(true, ofColumn: 2)
        try table.addColumn(Column("motto", .string))
      }
      #expect(try Self.changesets(database).last?.schema.count == 1)
    }
  }

  @Test func `a value of more than 15 MiB is refused, and other long values stand beside their changeset`()
    throws
  {
    try withTemporaryPath { path in
      let database = try Self.synced(path)
      try database.write { _ = try $0.createTable(Self.person) }
      let long = String(repeating: "é", count: 400 << 10)
      try database.write { _ = try $0.table("Person")?.insert(["id": .int(1), "name": .string(long)]) }
      let found = try #require(try Self.changesets(database).last?.objects.first)
      guard case .set(_, .chunked(let hash, let length, true), false)? = found.instructions.last else {
        Issue.record("\(found.instructions)")
        return
      }
      #expect(length == 800 << 10)
      let snapshot = try database.snapshot()
      #expect(try snapshot.changelog()?.chunk(hash, of: 2, snapshot) == Array(long.utf8))
      #expect(IntegrityCheck.run(snapshot).isClean)
      // The setter of an object in a program can't throw, so the commit throws the error.
      let transaction = try database.beginWrite()
      let isSet = try transaction.table("Person")?.set(
        .string(String(repeating: "a", count: 16 << 20)), "name", ofRow: 0)
      #expect(isSet == true)
      #expect(
        throws: StorageError.limitExceeded(
          .syncedValueLength(table: "Person", column: "name", maximum: 15 << 20), path: path)
      ) { try transaction.commit() }
      #expect(try Self.changesets(database).count == 2)
      #expect(IntegrityCheck.run(try database.snapshot()).isClean)
    }
  }

  // MARK: - Large transactions

  @Test func `a large transaction becomes several changesets, and a search by object finds each of them`()
    throws
  {
    try withTemporaryPath { path in
      let database = try Self.synced(path)
      let count: Int64 = 40_000
      try database.write { transaction in
        let table = try transaction.createTable(Self.person)
        for id in 0..<count {
          _ = try table.insert([
            "id": .int(id),
            "name": .string("a name of some length, so that there is more than a mebibyte \(id)"),
            "tags": id % 5_000 == 0 ? .list((0..<3).map { .string("\($0)") }) : .list([]),
          ])
        }
      }
      for id in 0..<300 {
        try database.write(.relaxed) {
          _ = try $0.table("Person")?.set(.int(Int64(id) + 1), "age", ofRow: UInt64(id % 7))
        }
      }
      let snapshot = try database.snapshot()
      let changelog = try #require(try snapshot.changelog())
      var sizes: [Int] = []
      var created: [UInt64: [ObjectName]] = [:]
      try changelog.forEach(snapshot) { stored in
        sizes.append(stored.bytes.count)
        for object in (try? Changeset(bytes: stored.bytes))?.objects ?? []
        where object.instructions.first == .create {
          // The values of an object stand in the changeset that creates it.
          #expect(object.instructions.count > 1)
          created[stored.sequence, default: []].append(object.id)
        }
        return true
      }
      #expect(
        created.count > 2 && sizes.count == created.count + 300 && (sizes.max() ?? 0) < 1 << 20 + 1 << 10)
      #expect(created.values.reduce(0) { $0 + $1.count } == Int(count))
      let person = try #require(try snapshot.schemas().first?.id)
      for (sequence, objects) in created {
        for object in [objects[0], objects[objects.count / 2]] {
          #expect(try changelog.search(snapshot).sequences(of: object, table: person).contains(sequence))
        }
      }
      // The search finds the creation of the object and its share of the 300 commits, which change seven objects in
      // turn.
      let found = try changelog.search(snapshot).sequences(of: ObjectName("Person", .int(3)), table: person)
      #expect(found.count == 1 + 43)
      #expect(
        try changelog.search(snapshot).sequences(of: ObjectName("Person", .int(-1)), table: person) == [])
      #expect(IntegrityCheck.run(snapshot).isClean)
    }
  }

  @Test func `acknowledged changesets are gone, and a search finds all others`() throws {
    try withTemporaryPath { path in
      let database = try Self.synced(path)
      try database.write { _ = try $0.createTable(Self.person) }
      let long = Value.string(String(repeating: "a", count: 600 << 10))
      for id in 0..<200 as Range<Int64> {
        try database.write(.relaxed) { transaction in
          _ = try transaction.table("Person")?.insert(["id": .int(id), "name": id == 3 ? long : .string("b")])
        }
      }
      let person = try #require(try database.snapshot().schemas().first?.id)
      for last in [3, 4, 70, 70, 150, 200] as [UInt64] {
        try database.write { try $0.acknowledge(upTo: last) }
        let snapshot = try database.snapshot()
        let changelog = try #require(try snapshot.changelog())
        #expect(try changelog.count(snapshot) == 201 - Int(last))
        for sequence in last + 1...201 {
          // The first changeset made the table.
          let object = ObjectName("Person", .int(Int64(sequence) - 2))
          #expect(try changelog.search(snapshot).sequences(of: object, table: person).contains(sequence))
        }
        #expect(IntegrityCheck.run(snapshot).isClean)
      }
      try database.write { try $0.acknowledge(upTo: 201) }
      try database.write { _ = try $0.table("Person")?.insert(["id": .int(1_000)]) }
      let snapshot = try database.snapshot()
      let changelog = try #require(try snapshot.changelog())
      #expect(try changelog.changeset(202, snapshot) != nil)
      #expect(try changelog.count(snapshot) == 1)
      #expect(IntegrityCheck.run(snapshot).isClean)
    }
  }

  @Test func `a copy, a compacted file and an encrypted copy keep the changesets that are not acknowledged`()
    throws
  {
    try withTemporaryPath { path in
      let database = try Self.synced(path)
      try database.write { transaction in
        let table = try transaction.createTable(Self.person)
        for id in 0..<100 as Range<Int64> { _ = try table.insert(["id": .int(id)]) }
      }
      let before = try Self.changesets(database)
      try database.snapshot().copy(to: path + "copy", encryptionKey: Keys.first)
      database.close()
      var options = DatabaseOptions()
      options.history = .synced
      #expect(try Database.compact(path: path, options: options))
      #expect(try Self.changesets(try Self.synced(path)) == before)
      options.encryptionKey = Keys.first
      let copy = try Database(path: path + "copy", options: options)
      #expect(try Self.changesets(copy) == before)
      #expect(IntegrityCheck.run(try copy.snapshot()).isClean)
      try copy.write { _ = try $0.table("Person")?.insert(["id": .int(100)]) }
      #expect(try Self.changesets(copy).count == before.count + 1)
    }
  }

  // MARK: - Damage

  /// A file may come from anybody, so its changelog may hold any bytes.
  @Test func `a forged changelog is reported as damage and never stops the program`() throws {
    var (told, silent) = (0, 0)
    for seed in Slow.seeds(60, slow: 3_000) {
      var generator = SeededGenerator(seed: seed)
      let disk = SimulatedDisk()
      var options = DatabaseOptions()
      options.history = .synced
      let database = try Database(creatingIn: disk, options: options)
      try database.write { try Family.make($0) }
      for _ in 0..<generator.below(80) {
        try database.write(.relaxed) { transaction in
          let family = try Family(transaction, keepsKeys: true)
          for _ in 0..<4 { try family.change(&generator) }
        }
      }
      let before = try database.snapshot()
      try Self.forge(database, &generator)
      let snapshot = try database.snapshot()
      let check = IntegrityCheck.run(snapshot)
      if check.isClean { silent += 1 } else { told += 1 }
      for finding in check.findings { #expect(finding.isDamage, "seed \(seed)") }
      try Self.use(snapshot, before, database)
    }
    print("forged changelogs: \(told) told as damage, \(silent) not")
    #expect(told > silent)
  }

  /// Damages the slot, a key or a value of the changelog.
  private static func forge(_ database: Database, _ generator: inout SeededGenerator) throws {
    let snapshot = try database.snapshot()
    let changelog = try #require(try snapshot.changelog())
    let transaction = try database.beginWrite()
    defer { transaction.cancel() }
    let count = try OrderedTree.count(changelog.tree, transaction.access())
    var cursor = TreeCursor(changelog.tree)
    try cursor.seek(position: UInt64(generator.below(Int(count))), transaction.access())
    let access = transaction.access()
    var (key, value) = try cursor.withEntry(access) { (leaf, index) throws(StorageError) in
      (leaf.key(index), try leaf.value(index).contents(access))
    }
    var state = changelog.state.bytes
    func change(_ bytes: inout [UInt8]) {
      guard !bytes.isEmpty else { return bytes.append(1) }
      switch generator.below(4) {
      case 0: bytes.removeLast(1 + generator.below(bytes.count))
      case 1: bytes += generator.bytes(1 + generator.below(9))
      default: bytes[generator.below(bytes.count)] ^= UInt8(1 << generator.below(8))
      }
    }
    switch generator.below(5) {
    case 0: change(&state)
    case 1: change(&key)
    default: change(&value)
    }
    try transaction.changeCatalogue(added: 0) { (catalogue, editor) throws(StorageError) in
      let tree = try StoredValue.set(value, for: key, in: changelog.tree, editor)
      try NamedSlots.set(.knownToWrite, state, root: tree, for: ChangelogSlot.name, in: &catalogue, editor)
    }
    try transaction.commit(.relaxed)
  }

  /// Does everything that can be done with a changelog. An error that names damage, or an instruction that does not
  /// fit, counts as success.
  private static func use(_ snapshot: Snapshot, _ before: Snapshot, _ database: Database) throws {
    func trying(_ body: () throws -> Void) throws {
      do { try body() } catch let error as StorageError {
        if error.isDamage { return }
        switch error {
        case .instructionDoesNotFit, .limitExceeded, .changeDoesNotFit: break
        default: throw error
        }
      }
    }
    try trying {
      let changelog = try snapshot.changelog()
      _ = try changelog?.count(snapshot)
      var found: [StoredChangeset] = []
      try changelog?.forEach(snapshot) {
        found.append($0)
        return true
      }
      _ = try changelog?.search(snapshot).sequences(of: ObjectName("Person", .int(3)), table: 4)
      let transaction = try database.beginWrite()
      defer { transaction.cancel() }
      for changeset in found.reversed() { try transaction.undo(changeset) }
    }
    try trying {
      try database.write { transaction in
        var generator = SeededGenerator(seed: 1)
        let family = try Family(transaction, keepsKeys: true)
        for _ in 0..<10 { try family.change(&generator) }
      }
    }
  }

  // MARK: - Crashes

  /// After a crash the rows are what the changesets made, whichever version the recovery opened.
  @Test func `rows and their recorded changesets survive a crash together`() throws {
    var states = 0
    for seed in Slow.seeds(12, slow: 400) {
      var generator = SeededGenerator(seed: seed)
      var disk = SimulatedDisk()
      var options = DatabaseOptions(encryptionKey: seed % 3 == 0 ? Keys.first : nil)
      options.history = .synced
      options.spillBytes = 1 << 16
      _ = try Database(creatingIn: disk, options: options)
      for _ in 0..<6 {
        disk.follow(.init(dieAt: generator.chance(80) ? generator.below(60) : nil))
        if let database = try? Database(storage: disk, options: options) {
          for _ in 0..<generator.below(10) {
            do {
              try database.write(generator.chance(50) ? .full : .relaxed) { transaction in
                if try transaction.schemas().isEmpty { try Family.make(transaction) }
                let family = try Family(transaction, keepsKeys: true)
                for _ in 0..<generator.below(20) { try family.change(&generator) }
              }
            } catch {
              guard disk.isDead else { throw error }
              break
            }
          }
        }
        disk = generator.chance(50) ? disk.afterPowerLoss(&generator) : disk.afterKill(&generator)
        states += 1
        let wrong = try Self.difference(try Database(storage: disk, options: options))
        #expect(wrong == nil, "seed \(seed)")
        if wrong != nil { return }
      }
    }
    print("crashes of synced files: \(states) states")
  }

  /// How the content of a file differs from the content that its changesets make from an empty file.
  private static func difference(_ database: Database) throws -> String? {
    let snapshot = try database.snapshot()
    let check = IntegrityCheck.run(snapshot)
    guard check.isClean else { return "\(check.findings)" }
    let changesets = try changesets(database)
    if changesets.isEmpty { return try snapshot.schemas().isEmpty ? nil : "nothing was recorded" }
    var options = DatabaseOptions()
    options.history = .synced
    let other = try Database(creatingIn: try MemoryStorage(name: "other"), options: options)
    try other.write { transaction in
      try Family.make(transaction)
      for changeset in changesets { try transaction.apply(changeset.objects) }
    }
    return try NamedContent(snapshot).difference(to: NamedContent(other.snapshot()))
  }
}
