import RealmTestSupport
import Testing

@testable import RealmStorage

@Suite struct TableDiffTests {
  // MARK: - Against brute force

  private typealias Held = (snapshot: Snapshot, model: TableModel)

  @Test(arguments: 0..<6, [nil, Keys.first])
  func `the difference of any two versions equals the difference of their rows`(seed: UInt64, key: [UInt8]?)
    throws
  {
    var generator = SeededGenerator(seed: seed)
    var options = Database.Options(encryptionKey: key)
    options.compaction = .eager
    options.spillBytes = 1 << 14
    options.clusterRows = [512, 8, 40][Int(seed % 3)]
    let database = try Database(creatingIn: SimulatedDisk(), options: options)
    var model = TableModel()
    var held: [Held] = try [(database.snapshot(), model)]
    let columns = seed % 2 == 0 ? TableModel.everything : TableModel.few
    try database.write { transaction in
      _ = try transaction.createTable(TableSchema(TableModel.name, columns: columns))
    }
    for round in 0..<7 {
      try database.write(generator.chance(50) ? .full : .relaxed) { transaction in
        let table = try #require(try transaction.table(TableModel.name))
        for _ in 0..<generator.below(round == 0 ? 200 : 50) {
          #expect(try model.change(table, &generator) == nil)
        }
      }
      try held.append((database.snapshot(), model))
    }
    for old in held {
      for new in held { try expectChanges(from: old, to: new) }
    }
  }

  private func expectChanges(from old: Held, to new: Held) throws {
    let found = try new.snapshot.changes(inTable: TableModel.name, since: old.snapshot)
    var expected = TableChanges()
    expected.deletions = old.model.rows.keys.filter { new.model.rows[$0] == nil }.sorted()
    expected.insertions = new.model.rows.keys.filter { old.model.rows[$0] == nil }.sorted()
    let schema = try new.snapshot.table(TableModel.name)?.schema.columns ?? []
    for (key, before) in old.model.rows.sorted(by: { $0.key < $1.key }) {
      guard let after = new.model.rows[key], before != after else { continue }
      let columns = schema.indices.filter { before[schema[$0].name] != after[schema[$0].name] }
      expected.modifications.append(.init(key: key, columns: columns))
    }
    #expect(found == expected)
    for modification in found.modifications {
      for column in modification.columns {
        guard case .list(let before, _) = old.model.rows[modification.key]?[schema[column].name],
          case .list(let after, _) = new.model.rows[modification.key]?[schema[column].name]
        else { continue }
        expect(ListChanges(from: before, to: after), toLead: before, to: after)
      }
    }
  }

  private func expect(_ changes: ListChanges, toLead old: [Value], to new: [Value]) {
    let deleted = Set(changes.deletions)
    let inserted = Set(changes.insertions)
    #expect(!changes.isEmpty)
    #expect(
      old.indices.filter { !deleted.contains($0) }.map { old[$0] }
        == new.indices.filter { !inserted.contains($0) }.map { new[$0] })
  }

  // MARK: - What is no difference

  @Test(arguments: [nil, Keys.first])
  func `nodes that were only moved are no difference`(key: [UInt8]?) throws {
    var generator = SeededGenerator(seed: 2)
    var options = Database.Options(encryptionKey: key)
    options.compaction = .eager
    options.clusterRows = 8
    let database = try Database(creatingIn: SimulatedDisk(), options: options)
    try database.write { try fill($0, rows: 200) }
    // The nodes are written in turn with a tree that is removed again, so that they stand far apart.
    for number in 0..<60 {
      try database.write { transaction in
        _ = try transaction.table("Thing")?.set(.int(-1), "number", ofRow: UInt64(number * 3))
        try transaction.tree("other").set(generator.bytes(900), for: [UInt8(number * 37 % 60)])
        try transaction.tree("gap").set(generator.bytes(60_000), for: [UInt8(number)])
      }
    }
    try database.write { try $0.tree("gap").removeAll() }
    var isMoved = (false, false)
    // Nodes that a version pins for long are not moved, so each version is compared with the one before it.
    var old = try database.snapshot()
    for round in 0..<400 where isMoved != (true, true) {
      try database.write { try $0.tree("gap").set(generator.bytes(900), for: [UInt8(round % 8)]) }
      let new = try database.snapshot()
      let clusters = (try old.table("Thing")?.clusters, try new.table("Thing")?.clusters)
      let trees = (try NamedTrees.root(of: "other", in: old), try NamedTrees.root(of: "other", in: new))
      isMoved = (isMoved.0 || clusters.0 != clusters.1, isMoved.1 || trees.0 != trees.1)
      let changes = try new.changes(inTable: "Thing", since: old)
      #expect(changes.isEmpty)
      let differences = try new.treeDifferences("other", since: old)
      #expect(differences == [])
      old = new
    }
    #expect(isMoved == (true, true))
    #expect(database.compacted.movedNodes > 0)
  }

  @Test func `clusters that were split and merged again are no difference`() throws {
    var options = Database.Options()
    options.clusterRows = 8
    let database = try Database(creatingIn: MemoryStorage(name: "diff"), options: options)
    try database.write { try fill($0, rows: 100) }
    let old = try database.snapshot()
    let added = try database.write { transaction in
      let table = try #require(try transaction.table("Thing"))
      return try (0..<50).map { _ in try table.insert(["text": .string("more")]) }
    }
    let large = try database.snapshot()
    try database.write { transaction in
      for key in added { _ = try transaction.table("Thing")?.remove(key) }
    }
    let new = try database.snapshot()
    let changes = try new.changes(inTable: "Thing", since: old)
    #expect(changes.isEmpty)
    let grown = try large.changes(inTable: "Thing", since: old)
    #expect(grown.insertions == added)
    #expect(grown.deletions.isEmpty && grown.modifications.isEmpty)
  }

  @Test func `a value changed and changed back is no difference, even over several versions`()
    throws
  {
    let database = try Database(inMemory: "diff")
    try database.write { try fill($0, rows: 1000) }
    let old = try database.snapshot()
    for value in [7, 8, 300] as [Int64] {
      try database.write { _ = try $0.table("Thing")?.set(.int(value), "number", ofRow: 300) }
    }
    let new = try database.snapshot()
    #expect(new.version == old.version + 3)
    let changes = try new.changes(inTable: "Thing", since: old)
    #expect(changes.isEmpty)
  }

  @Test func `a column that only one version has is not compared, and later changes of its values are`()
    throws
  {
    let database = try Database(inMemory: "diff")
    try database.write { try fill($0, rows: 20) }
    let old = try database.snapshot()
    try database.write { transaction in
      try transaction.table("Thing")?.addColumn(Column("later", .int64))
      _ = try transaction.table("Thing")?.set(.int(5), "later", ofRow: 3)
    }
    let added = try database.snapshot()
    let none = try added.changes(inTable: "Thing", since: old)
    #expect(none.isEmpty)
    // The default is written to a row with another value, and the other row had no value for this column yet.
    try database.write { transaction in
      _ = try transaction.table("Thing")?.set(.int(0), "later", ofRow: 3)
      _ = try transaction.table("Thing")?.set(.int(9), "later", ofRow: 4)
    }
    let changes = try database.snapshot().changes(inTable: "Thing", since: added)
    #expect(
      changes.modifications == [
        TableChanges.Modification(key: 3, columns: [2]), TableChanges.Modification(key: 4, columns: [2]),
      ])
  }

  // MARK: - Rows

  @Test func `a row added again with its old primary key counts as another row`() throws {
    let database = try Database(inMemory: "diff")
    try database.write { transaction in
      let table = try transaction.createTable(
        TableSchema("Person", columns: [Column("id", .string, index: .unique)]))
      _ = try table.insert(["id": .string("a")])
    }
    let old = try database.snapshot()
    try database.write { transaction in
      let table = try #require(try transaction.table("Person"))
      _ = try table.remove(0)
      _ = try table.insert(["id": .string("a")])
    }
    let changes = try database.snapshot().changes(inTable: "Person", since: old)
    #expect(changes.deletions == [0])
    #expect(changes.insertions == [1])
    #expect(changes.modifications.isEmpty)
  }

  @Test func `a table that only one version has counts as insertions or deletions of all its rows`() throws {
    let database = try Database(inMemory: "diff")
    let old = try database.snapshot()
    try database.write { try fill($0, rows: 3) }
    let new = try database.snapshot()
    let there = try new.changes(inTable: "Thing", since: old)
    #expect(there.insertions == [0, 1, 2])
    let back = try old.changes(inTable: "Thing", since: new)
    #expect(back.deletions == [0, 1, 2])
    let other = try new.changes(inTable: "Nothing", since: old)
    #expect(other.isEmpty)
  }

  /// A column keeps its id when its type changes.
  @Test func `versions that store a column in different types differ in all its values`() throws {
    let types = ColumnType.allCases.filter { $0 != .link }
    let snapshots = try types.map { type in
      let database = try Database(inMemory: "\(type)")
      try database.write { transaction in
        let table = try transaction.createTable(TableSchema("Thing", columns: [Column("any", type)]))
        for row in 0..<300 { _ = try table.insert(["any": Self.value(of: type, row)]) }
      }
      return try database.snapshot()
    }
    for (old, oldType) in zip(snapshots, types) {
      for (new, newType) in zip(snapshots, types) where newType != oldType {
        let changes = try TableDiff.changes(from: Self.side(old), to: Self.side(new))
        #expect(changes.insertions.isEmpty && changes.deletions.isEmpty)
        #expect(changes.modifications.count == 300, "\(oldType) and \(newType)")
      }
    }
  }

  private static func side(_ snapshot: Snapshot) throws -> TableDiff.Side {
    let table = try #require(try snapshot.table("Thing"))
    return TableDiff.Side(schema: table.schema, root: table.form.root, reader: snapshot)
  }

  private static func value(of type: ColumnType, _ row: Int) -> Value {
    switch type {
    case .bool: .bool(row % 2 == 0)
    // The integers are stored in the same way as the booleans.
    case .int64: .int(row % 2 == 0 ? 1 : 0)
    case .float: .float(Float(row) + 0.5)
    case .double: .double(Double(row) + 0.5)
    case .string: .string("text \(row)")
    case .data: .data([1, UInt8(truncatingIfNeeded: row)])
    case .date: .date(Timestamp(seconds: Int64(row), nanoseconds: Int32(row % 2)))
    case .objectID: .objectID(ObjectIDBytes(high: UInt64(row), low: 1))
    case .uuid: .uuid(SixteenBytes(high: UInt64(row), low: 1))
    case .decimal128: .decimal128(DecimalNumber(row).stored)
    case .link, .mixed: .list([.int(Int64(row))])
    }
  }

  // MARK: - Cost

  @Test func `the difference of one row in many reads few nodes`() throws {
    let storage = try CountingStorage()
    do {
      let database = try Database(creatingIn: storage)
      try database.write { try fill($0, rows: 40_000) }
      database.close()
    }
    // A new handle has not read any cluster yet.
    let database = try Database(storage: storage, options: .init())
    let old = try database.snapshot()
    try database.write { _ = try $0.table("Thing")?.set(.int(-1), "number", ofRow: 12_345) }
    let new = try database.snapshot()
    let before = storage.nodesLookedAt
    let changes = try new.changes(inTable: "Thing", since: old)
    let after = storage.nodesLookedAt
    #expect(changes.modifications == [TableChanges.Modification(key: 12_345, columns: [0])])
    #expect(after - before <= 8)
    // The count is meaningful, because a read of all rows reads many more nodes.
    try new.table("Thing")?.forEach { _, _ in true }
    let all = storage.nodesLookedAt
    #expect(all - after > 50)
  }

  private func fill(_ transaction: WriteTransaction, rows: Int) throws {
    let table = try transaction.createTable(
      TableSchema("Thing", columns: [Column("number", .int64), Column("text", .string)]))
    for number in 0..<rows {
      _ = try table.insert(["number": .int(Int64(number)), "text": .string("text \(number)")])
    }
  }
}
