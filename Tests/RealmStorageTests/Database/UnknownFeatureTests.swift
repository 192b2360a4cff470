import Foundation
import RealmTestSupport
import Testing

@testable import RealmStorage

/// Files of a later version of the library, with features that this version does not know.
@Suite struct UnknownFeatureTests {
  /// A forged feature, and its name in the error. `need` is `.write` if the file can still be read.
  struct Case: CustomTestStringConvertible, Sendable {
    let told: String
    let need: StorageError.Feature.Need
    var isFoundWhenRead = false
    let forge: @Sendable (inout ForgedFile.Node, NodeEditor) throws -> Void

    var testDescription: String { told }
    var feature: StorageError.Feature {
      let words = told.split(separator: " of ", maxSplits: 1)
      return .init(String(words[0]), of: String(words[1]), need: need)
    }
  }

  private static func slot(_ name: String, _ rule: UInt8, hasNodes: Bool = false) -> Case {
    Case(told: "slot \(name) of the catalogue", need: rule == 1 ? .write : .read) { node, editor in
      guard node.kind == .root else { return }
      let root = hasNodes ? try ForgedFile.tree(editor) : .null
      try ForgedFile.addSlots([("a hint", 0, .null), (name, rule, root)], to: &node, editor)
    }
  }

  private static func schema(
    _ told: String, _ need: StorageError.Feature.Need,
    _ change: @escaping @Sendable (inout TableSchema) -> Void
  ) -> Case {
    Case(told: told, need: need) { node, editor in
      guard node.kind == .root else { return }
      var schema = sample
      change(&schema)
      let key = TableSchema.key(1)
      node.children[0] = try StoredValue.set(schema.encoded, for: key, in: .null, editor)
    }
  }

  /// The records of columns and of indexes, as attributes of the record of their table.
  private enum Records: UInt16 {
    case columns = 5
    case indexes = 6
  }

  /// - Parameter changes: The attributes of the record that have other values, by their numbers.
  private static func record(
    _ position: Int, of records: Records, _ told: String, _ need: StorageError.Feature.Need,
    _ changes: [UInt16: [UInt8]]
  ) -> Case {
    Case(told: told, need: need) { node, editor in
      guard node.kind == .root else { return }
      let rule: AttributeRule = need == .read ? .knownToRead : .knownToWrite
      let table = try AttributeRecord(sample.encoded).all.map { attribute -> Attribute in
        guard attribute.number == records.rawValue else { return attribute }
        var bytes: [UInt8] = []
        var reader = ByteReader(attribute.value)
        var index = 0
        while !reader.isAtEnd {
          let record = reader.counted()
          var attributes = try AttributeRecord(try #require(record)).all
          if index == position {
            attributes.removeAll { changes[$0.number] != nil }
            attributes += changes.map { Attribute(number: $0, rule: rule, value: $1) }
            attributes.sort { $0.number < $1.number }
          }
          bytes.appendCounted(AttributeRecord(keeping: attributes).encoded)
          index += 1
        }
        return Attribute(number: attribute.number, rule: attribute.rule, value: bytes)
      }
      node.children[0] = try StoredValue.set(
        AttributeRecord(keeping: table).encoded, for: TableSchema.key(1), in: .null, editor)
    }
  }

  static let cases: [Case] = [
    slot("sync", 1), slot("changelog/later", 1, hasNodes: true), slot("version/", 1), slot("later", 2),
    slot("later", 2, hasNodes: true),
    Case(told: "slots 32 of the catalogue", need: .read) { node, editor in
      guard node.kind == .root else { return }
      node.body.store(node.body.load(UInt32.self, at: 0) | 32, at: 0)
      node.children.append(try ForgedFile.tree(editor))
    },
    schema("attribute 9 of column Thing.next", .read) {
      $0.unknown.columns[3] = [Attribute(number: 9, rule: .knownToRead, value: [1])]
    },
    schema("role 4 of column Thing.next", .read) {
      $0.unknown.columns[3] = [Attribute(number: 8, rule: .knownToRead, value: [4, 1, 0])]
    },
    schema("flags 8 of table Thing", .read) {
      $0.unknown.table = [Attribute(number: 2, rule: .knownToRead, value: [8])]
    },
    record(0, of: .columns, "type 16 of column Thing.number", .read, [3: [16]]),
    record(0, of: .columns, "flags 8 of column Thing.number", .read, [4: [9]]),
    record(1, of: .columns, "collection 4 of column Thing.list", .read, [5: [4]]),
    record(0, of: .indexes, "kind 3 of index 1 of table Thing", .write, [2: [3]]),
    record(0, of: .indexes, "option 2 of index 1 of table Thing", .write, [4: [2, 0, 0]]),
    schema("attribute 9 of table Thing", .write) {
      $0.unknown.table = [Attribute(number: 9, rule: .knownToWrite, value: [])]
    },
    schema("attribute 20 of column Thing.list", .write) {
      $0.unknown.columns[2] = [Attribute(number: 20, rule: .knownToWrite, value: [])]
    },
    schema("attribute 5 of index 1 of table Thing", .write) {
      $0.unknown.indexes[1] = [Attribute(number: 5, rule: .knownToWrite, value: [])]
    },
    Case(told: "trees 8 of a table", need: .read, isFoundWhenRead: true) { node, editor in
      guard node.kind == .table else { return }
      node.body.store(node.body.load(UInt16.self, at: 16) | 8, at: 16)
      // The new tree stands after the trees of the rows and of the links.
      node.children.insert(
        try ForgedFile.tree(editor), at: node.body.load(UInt16.self, at: 16).nonzeroBitCount - 1)
    },
    Case(told: "flags 1 of a position branch", need: .read, isFoundWhenRead: true) { node, _ in
      guard node.kind == .positionBranch else { return }
      node.body.store(UInt64(1), at: 0)
    },
    Case(told: "flags 512 of a position branch", need: .read, isFoundWhenRead: true) { node, _ in
      if node.kind == .positionBranch { node.body.store(UInt64(512), at: 0) }
    },
  ]

  private static let columns = [
    Column("number", .int64, index: .plain), Column("list", .int64, collection: .list), Column("next", .link),
  ]
  private static let sample = TableSchema("Thing", columns: columns).numbered(1)

  private static let list = Value.list((0..<3000).map { .int($0) })

  /// A database with some rows, one of which has a list that is a tree.
  private static func original() throws -> Database {
    let database = try Database(inMemory: "original")
    try database.write { transaction in
      let table = try transaction.createTable(TableSchema("Thing", columns: columns))
      try table.insert(["number": .int(5), "list": list])
      for number in Int64(0)..<9 { try table.insert(["number": .int(number), "next": .link(0)]) }
      try transaction.tree("notes").set([1], for: [2])
    }
    return database
  }

  private func withForged(_ forged: Case, _ body: (String) throws -> Void) throws {
    try withTemporaryPath { path in
      try ForgedFile.make(path, from: Self.original(), forged.forge)
      try body(path)
    }
  }

  /// Reads the whole content of the file.
  private func read(_ snapshot: Snapshot) throws {
    #expect(try snapshot.tree("notes").value(for: [2]) == [1])
    let table = try #require(try snapshot.table("Thing"))
    var rows = 0
    try table.forEach { _, _ in
      rows += 1
      return true
    }
    #expect(rows == 10)
    #expect(try table.value(table.schema.columns[1], ofRow: 0) == Self.list)
  }

  @Test(arguments: cases.filter { $0.need == .read && !$0.isFoundWhenRead })
  func `a file with a feature that readers must know is neither read nor written`(forged: Case) throws {
    try withForged(forged) { path in
      let bytes = try Data(contentsOf: URL(filePath: path))
      let told = StorageError.unknownFeature(forged.feature, path: path)
      for isReadOnly in [true, false] {
        let database = try Database(path: path, options: .init(isReadOnly: isReadOnly))
        let snapshot = try database.snapshot()
        #expect(throws: told) { try snapshot.table("Thing") }
        #expect(throws: told) { try snapshot.schemas() }
        if forged.told.hasPrefix("slot") { #expect(throws: told) { try snapshot.treeNames() } }
        #expect(throws: told) { try snapshot.copy(to: path + ".copy") }
        #expect(throws: told) { try Salvage(snapshot) }
        // The verification after a crash takes no node of the version for damaged.
        var walk = VerificationWalk(access: database.store, end: snapshot.base.end, after: 0)
        try walk.run(snapshot.root)
        let report = IntegrityCheck.run(snapshot)
        #expect(report.findings == [] && report.problem == told)
        if !isReadOnly { for _ in 0..<2 { #expect(throws: told) { try database.beginWrite() } } }
      }
      #expect(throws: told) { try Database.compact(path: path) }
      #expect(try Data(contentsOf: URL(filePath: path)) == bytes)
    }
  }

  @Test(arguments: cases.filter { $0.need == .write })
  func `a file with a feature that only writers must know is read and not written`(forged: Case) throws {
    try withForged(forged) { path in
      let bytes = try Data(contentsOf: URL(filePath: path))
      let told = StorageError.unknownFeature(forged.feature, path: path)
      for isReadOnly in [true, false] {
        let database = try Database(path: path, options: .init(isReadOnly: isReadOnly))
        let snapshot = try database.snapshot()
        try read(snapshot)
        let table = try #require(try snapshot.table("Thing"))
        #expect(try table.rows(where: .compare(ColumnPath(0), .equal, .int(5))).count == 2)
        #expect(throws: told) { try snapshot.copy(to: path + ".copy") }
        let report = IntegrityCheck.run(snapshot)
        #expect(report.problem == nil && report.unknown == [forged.feature])
        #expect(report.entries == 11)
        #expect(try SpaceReport(snapshot).liveBytes == report.liveBytes)
        if !isReadOnly { for _ in 0..<2 { #expect(throws: told) { try database.beginWrite() } } }
      }
      #expect(throws: told) { try Database.compact(path: path) }
      #expect(try Data(contentsOf: URL(filePath: path)) == bytes)
    }
  }

  @Test(arguments: cases.filter(\.isFoundWhenRead))
  func `an unknown feature deep in the file is reported by the read that meets it, and by the check`(
    forged: Case
  ) throws {
    try withForged(forged) { path in
      let told = StorageError.unknownFeature(forged.feature, path: path)
      let database = try Database(path: path)
      let snapshot = try database.snapshot()
      #expect(throws: told) { try read(snapshot) }
      let report = IntegrityCheck.run(snapshot)
      #expect(report.findings == [] && report.problem == told)
      let transaction = try database.beginWrite()
      #expect(throws: told) {
        let table = try #require(try transaction.table("Thing"))
        _ = try table.value(1, ofRow: 0)
      }
    }
  }

  @Test
  func `a version that another process wrote is checked for unknown features before the next transaction`()
    throws
  {
    try withTemporaryPath { path in
      let database = try Database(path: path)
      try database.write { transaction in
        _ = try transaction.createTable(TableSchema("Thing", columns: Self.columns))
      }
      // Another handle stands for another process.
      let other = try Database(path: path)
      try other.write { transaction in
        let writer = try #require(try transaction.tables().writer("Thing"))
        try writer.changeSchema { $0.unknown.table = [Attribute(number: 30, rule: .knownToWrite, value: [])] }
      }
      let feature = StorageError.Feature("attribute 30", of: "table Thing", need: .write)
      #expect(throws: StorageError.unknownFeature(feature, path: path)) { try database.beginWrite() }
    }
  }

  @Test func `damage does not hide a feature that writers must know`() throws {
    let marked: @Sendable (inout TableSchema) -> Void = {
      $0.unknown.table = [Attribute(number: 30, rule: .knownToWrite, value: [])]
    }
    for hasSlot in [true, false] {
      try withTemporaryPath { path in
        try ForgedFile.make(path, from: Self.original()) { node, editor in
          guard node.kind == .root else { return }
          node.children[0] = try StoredValue.set([1, 2, 3], for: TableSchema.key(1), in: .null, editor)
          if hasSlot {
            try ForgedFile.addSlots([("later", 1, .null)], to: &node, editor)
          } else {
            var schema = Self.sample
            marked(&schema)
            schema.name = "Other"
            node.children[0] = try StoredValue.set(
              schema.encoded, for: TableSchema.key(2), in: node.children[0], editor)
          }
        }
        let database = try Database(path: path)
        for _ in 0..<2 {
          do throws(StorageError) {
            try database.beginWrite().cancel()
            Issue.record("a transaction began")
          } catch {
            guard case .unknownFeature(let feature, _) = error else { throw error }
            #expect(feature.need == .write)
          }
        }
      }
    }
  }

  @Test func `malformed slots are reported as damage`() throws {
    let wrong: [(key: [UInt8], value: [UInt8])] = [([0xff], [0]), ([], [0]), ([1], []), ([1], [3])]
    for (key, value) in wrong {
      try withTemporaryPath { path in
        try ForgedFile.make(path, from: Self.original()) { node, editor in
          guard node.kind == .root else { return }
          node.body.store(node.body.load(UInt32.self, at: 0) | 8, at: 0)
          node.children.append(try StoredValue.set(value, for: key, in: .null, editor))
        }
        let snapshot = try Database(path: path).snapshot()
        #expect(throws: StorageError.self) { try snapshot.table("Thing") }
        #expect(IntegrityCheck.run(snapshot).findings.count == 1)
        // The salvage keeps everything that this version knows.
        let salvage = try Salvage(snapshot)
        #expect(salvage.tables.count == 1 && salvage.losses.isEmpty)
      }
    }
  }

  @Test(arguments: [nil, Keys.first])
  func `a slot that may be ignored outlives writes, moves of its nodes and copies`(key: [UInt8]?) throws {
    try withTemporaryPath { path in
      let original = try Self.original()
      try original.write { transaction in
        for number in UInt8(0)..<200 {
          try transaction.tree("long").set([UInt8](repeating: number, count: 5000), for: [number])
        }
      }
      try ForgedFile.make(path, from: original) { node, editor in
        guard node.kind == .root else { return }
        try ForgedFile.addSlots([("hint", 0, ForgedFile.tree(editor))], to: &node, editor)
      }
      var options = Database.Options()
      options.compaction = .eager
      var before: [[UInt8]] = []
      do {
        let database = try Database(path: path, options: options)
        let place = try hintRoot(database.snapshot()).place
        before = try hint(database.snapshot())
        // The content before the slot in the file is removed, so that the nodes at the end of the file are moved.
        try database.write { try $0.tree("long").removeAll() }
        for round in UInt8(0)..<100 { try database.write { try $0.tree("notes").set([round], for: [round]) } }
        #expect(try hintRoot(database.snapshot()).place != place)
        let snapshot = try database.snapshot()
        #expect(database.compacted.movedNodes > 0)
        #expect(try hint(snapshot) == before)
        #expect(IntegrityCheck.run(snapshot).problem == nil)
        try snapshot.copy(to: path + ".copy", encryptionKey: key)
      }
      #expect(try Database.compact(path: path))
      for (path, key) in [(path, nil), (path + ".copy", key)] {
        let database = try Database(path: path, options: .init(encryptionKey: key))
        #expect(try hint(database.snapshot()) == before)
        let report = try SpaceReport(database.snapshot())
        #expect(report.parts.contains { $0.part.description == "slot hint" && $0.space.nodes > 0 })
        try database.write { try $0.setSchemaVersion(9) }
        #expect(try hint(database.snapshot()) == before)
      }
    }
  }

  /// The entries of the tree below the slot "hint".
  private func hint(_ snapshot: Snapshot) throws -> [[UInt8]] {
    var entries: [[UInt8]] = []
    let tree = Tree(contents: TreeContents(root: try hintRoot(snapshot), reader: snapshot))
    try tree.forEach { key, value in
      entries.append(key + value)
      return true
    }
    return entries
  }

  private func hintRoot(_ snapshot: Snapshot) throws -> Ref {
    let access = snapshot.access()
    let slots = try NamedSlots.all(Catalogue(snapshot.root, access).namedSlots, access)
    return try #require(slots.first { $0.name == "hint" }).root
  }

  @Test func `the error for an unknown feature says what to do`() {
    let feature = StorageError.Feature("type 16", of: "column Person.photo", need: .read)
    #expect(
      StorageError.unknownFeature(feature, path: "a").description
        == "a uses what this version of the library does not know and must know to read it: type 16 of column "
        + "Person.photo. Use a newer version of this library. The content of the file was not changed.")
  }
}
