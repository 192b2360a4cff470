import RealmTestSupport
import Testing

@testable import RealmStorage

/// The order and the kinds of the reported row changes.
@Suite struct RowChangeOrderTests {
  private static let name = "Thing"

  private func database(_ columns: [Column], clusterRows: Int = 512) throws -> Database {
    var options = Database.Options()
    options.clusterRows = clusterRows
    let database = try Database(creatingIn: SimulatedDisk(), options: options)
    try database.write { _ = try $0.createTable(TableSchema(Self.name, columns: columns)) }
    return database
  }

  /// The names of the changes between two versions. The changes must lead from one version to the other, and back.
  private func names(from old: Snapshot, to new: Snapshot) throws -> [RowChange.Name] {
    let changes = try new.rowChanges(since: old)
    var replay = try RowReplay(old)
    for change in changes { try replay.apply(change) }
    #expect(try replay == RowReplay(new))
    for change in changes.reversed() { if let inverse = change.inverse { try replay.apply(inverse) } }
    #expect(try replay.tables.mapValues(\.rows) == RowReplay(old).tables.mapValues(\.rows))
    return changes.map(\.change.name)
  }

  // MARK: - Primary keys

  private static func key(_ type: ColumnType, _ number: Int) -> Value {
    switch type {
    case .int64: .int(.min + Int64(number))
    case .string: .string("\u{10ffff}\(number)")
    case .date: .date(Timestamp(seconds: .min + Int64(number)))
    case .objectID: .objectID(ObjectIDBytes(high: .max - UInt64(number), low: .max))
    case .uuid: .uuid(SixteenBytes(high: .max, low: .max - UInt64(number)))
    default: .bool(number == 1)
    }
  }

  /// Each row gets the key of another row. The keys are those that the diff tries first as temporary keys.
  @Test(arguments: [ColumnType.int64, .string, .date, .objectID, .uuid], [false, true])
  func `primary keys that rows exchange are free at the time they are set`(type: ColumnType, isOptional: Bool)
    throws
  {
    for seed in 0..<6 as Range<UInt64> {
      var generator = SeededGenerator(seed: seed)
      let column = Column("id", type, isOptional: isOptional, index: .unique)
      let database = try database([column, Column("n", .int64)], clusterRows: 8)
      let count = 2 + generator.below(30)
      try database.write { transaction in
        let table = try #require(try transaction.table(Self.name))
        for number in 0..<count {
          try table.insert(["id": Self.key(type, number), "n": .int(Int64(number))])
        }
      }
      let old = try database.snapshot()
      var order = Array(0..<count + 2)
      order.shuffle(using: &generator)
      try database.write { transaction in
        let table = try #require(try transaction.table(Self.name))
        for row in 0..<count { try table.set(Self.key(type, 1000 + row), "id", ofRow: UInt64(row)) }
        if generator.chance(50) { try table.remove(UInt64(generator.below(count))) }
        for row in 0..<count { try table.set(Self.key(type, order[row]), "id", ofRow: UInt64(row)) }
        try table.insert(["id": Self.key(type, order[count])])
      }
      let new = try database.snapshot()
      let names = try names(from: old, to: new)
      #expect(names.allSatisfy { [.set, .delete, .create].contains($0) }, "seed \(seed)")
      #expect(names.count { $0 == .delete } <= 1 && names.count { $0 == .create } == 1, "seed \(seed)")
    }
  }

  @Test func `two rows that swap their keys take three changes, and a chain takes one change for each row`()
    throws
  {
    let database = try database([Column("id", .int64, index: .unique)])
    try database.write { transaction in
      for number in 0..<5 as Range<Int64> {
        _ = try transaction.table(Self.name)?.insert(["id": .int(number)])
      }
    }
    let old = try database.snapshot()
    try database.write { transaction in
      let table = try #require(try transaction.table(Self.name))
      // Rows 0 and 1 swap their keys. Row 2 takes the key of row 3, row 3 takes that of row 4, and row 4 gets a new
      // key.
      let keys: [(UInt64, Int64)] = [(0, 100), (1, 0), (0, 1), (4, 50), (3, 4), (2, 3)]
      for (row, key) in keys { try table.set(.int(key), "id", ofRow: row) }
    }
    #expect(try names(from: old, to: database.snapshot()) == Array(repeating: .set, count: 6))
  }

  @Test func `rows that swap the only two possible keys are deleted and created again`() throws {
    let database = try database([Column("flag", .bool, index: .unique), Column("n", .int64)])
    try database.write { transaction in
      let table = try #require(try transaction.table(Self.name))
      for flag in [false, true] { try table.insert(["flag": .bool(flag), "n": .int(1)]) }
    }
    let old = try database.snapshot()
    try database.write { transaction in
      let table = try #require(try transaction.table(Self.name))
      try table.setOptional(true, ofColumn: 0)
      for (row, value) in [(0, Value.null), (1, .bool(false)), (0, .bool(true))] as [(UInt64, Value)] {
        try table.set(value, "flag", ofRow: row)
      }
      try table.set(.int(2), "n", ofRow: 0)
      try table.setOptional(false, ofColumn: 0)
    }
    #expect(try names(from: old, to: database.snapshot()) == [.set, .delete, .set, .create])
  }

  // MARK: - Rows

  @Test func `many added or removed rows of a cluster are one change`() throws {
    let database = try database([Column("n", .int64)], clusterRows: 40)
    let old = try database.snapshot()
    try database.write { transaction in
      let table = try #require(try transaction.table(Self.name))
      for number in 0..<100 as Range<Int64> { try table.insert(["n": .int(number)]) }
    }
    let full = try database.snapshot()
    #expect(try names(from: old, to: full) == [.createMany, .createMany, .createMany])
    #expect(try names(from: full, to: old) == [.deleteMany, .deleteMany, .deleteMany])
    try database.write { transaction in
      let table = try #require(try transaction.table(Self.name))
      try table.remove(7)
      try table.set(.int(-1), "n", ofRow: 8)
      try table.insert(["n": .int(5)])
    }
    #expect(try names(from: full, to: database.snapshot()) == [.delete, .set, .create])
  }

  @Test func `no more changes are reported after the body returns false`() throws {
    let database = try database([Column("n", .int64)], clusterRows: 8)
    let old = try database.snapshot()
    try database.write { transaction in
      for _ in 0..<50 { _ = try transaction.table(Self.name)?.insert([:]) }
    }
    var told = 0
    try database.snapshot().forEachRowChange(since: old) { _ in
      told += 1
      return told < 3
    }
    #expect(told == 3)
  }

  @Test func `each changed stretch of a long list is one change`() throws {
    let database = try database([Column("list", .int64, collection: .list)])
    try database.write { transaction in
      let table = try #require(try transaction.table(Self.name))
      try table.insert(["list": .list((0..<10_000).map { .int($0) })])
    }
    let old = try database.snapshot()
    try database.write { transaction in
      let table = try #require(try transaction.table(Self.name))
      try table.setElement(.int(-1), at: 5000, ofList: 0, ofRow: 0)
      try table.removeElements(100..<200, ofList: 0, ofRow: 0)
      try table.insert([.int(7), .int(8)], at: 9000, ofList: 0, ofRow: 0)
    }
    #expect(
      try names(from: old, to: database.snapshot()) == [.removeElements, .setElement, .insertElements])
  }

  // MARK: - Schemas

  @Test func `a table is made before the columns that link to it`() throws {
    let database = try Database(creatingIn: SimulatedDisk(), options: .init())
    let old = try database.snapshot()
    try database.write { transaction in
      let first = try transaction.createTable(
        TableSchema("A", columns: [Column("gone", .int64), Column("self", .link)]))
      let second = try transaction.createTable(
        TableSchema("B", columns: [Column("a", .link, target: first.schema.id)]))
      try first.addColumn(Column("b", .link, target: second.schema.id))
      try first.addColumn(Column("n", .int64, index: .unique))
      try first.dropColumn(0)
      try first.insert(["n": .int(3), "b": .link(second.insert([:]))])
    }
    let expected: [RowChange.Name] = [
      .createTable, .createTable, .addColumn, .addColumn, .create, .create,
    ]
    let changes = try database.snapshot().rowChanges(since: old)
    #expect(changes.map(\.change.name) == expected)
    var replay = try RowReplay(old)
    for change in changes { try replay.apply(change) }
    #expect(try replay == RowReplay(database.snapshot()))
  }

  @Test func `the values of an added column are reported if they differ from its default`() throws {
    let database = try database([Column("n", .int64)], clusterRows: 8)
    try database.write { transaction in
      for _ in 0..<50 { _ = try transaction.table(Self.name)?.insert([:]) }
    }
    let old = try database.snapshot()
    try database.write { transaction in
      let table = try #require(try transaction.table(Self.name))
      try table.addColumn(Column("added", .int64, storedDefault: .int(5)))
      try table.addColumn(Column("list", .string, collection: .list))
      try table.set(.int(0), "added", ofRow: 30)
      try table.set(.int(5), "added", ofRow: 31)
      try table.append([.string("x")], toList: 2, ofRow: 9)
      try table.remove(3)
    }
    let new = try database.snapshot()
    #expect(
      try new.rowChanges(since: old).map(\.change.name)
        == [.addColumn, .addColumn, .delete, .insertElements, .set])
    var replay = try RowReplay(old)
    for change in try new.rowChanges(since: old) { try replay.apply(change) }
    #expect(try replay == RowReplay(new))
  }

  @Test func `a difference between schemas that is not an addition is an error with the name of the column`()
    throws
  {
    let columns = [Column("a", .int64), Column("b", .string), Column("c", .int64, isOptional: true)]
    let changes: [(column: String?, (WriteTransaction, WritableTable) throws -> Void)] = [
      ("a", { try $1.dropColumn(0) }), ("a", { try $1.setOptional(true, ofColumn: 0) }),
      ("b", { try $1.setIndex(.unique, ofColumn: 1) }), ("c", { try $1.setOptional(false, ofColumn: 2) }),
      ("a", { try $1.changeType(ofColumn: 0, to: .string) { _ in .string("x") } }),
    ]
    for (column, change) in changes {
      let database = try database(columns)
      let old = try database.snapshot()
      try database.write { transaction in
        try change(transaction, try #require(try transaction.table(Self.name)))
      }
      let new = try database.snapshot()
      let expected = StorageError.schemaChanged(
        table: Self.name, column: column, path: database.store.storage.path)
      #expect(throws: expected) { try new.rowChanges(since: old) }
      #expect(throws: StorageError.self) { try old.rowChanges(since: new) }
      #expect("\(expected)".contains("column \(column ?? "") of table Thing"))
      #expect(try new.rowChanges(since: old, tables: ["Other"]).isEmpty)
    }
  }

  @Test func `a table or column that only the older version has is an error`() throws {
    let database = try database([Column("a", .int64)])
    let old = try database.snapshot()
    _ = try database.write { try $0.table(Self.name)?.addColumn(Column("b", .int64)) }
    let wider = try database.snapshot()
    try database.write { _ = try $0.createTable(TableSchema("Other", columns: [Column("a", .int64)])) }
    let more = try database.snapshot()
    let path = database.store.storage.path
    #expect(throws: StorageError.schemaChanged(table: Self.name, column: "b", path: path)) {
      try old.rowChanges(since: wider)
    }
    #expect(throws: StorageError.schemaChanged(table: "Other", column: nil, path: path)) {
      try wider.rowChanges(since: more)
    }
  }

  @Test func `an added index and a hidden table are no changes of rows`() throws {
    let database = try database([Column("a", .int64)])
    _ = try database.write { try $0.table(Self.name)?.insert(["a": .int(4)]) }
    let old = try database.snapshot()
    try database.write { transaction in
      try transaction.table(Self.name)?.setIndex(.plain, ofColumn: 0)
      let hidden = try transaction.createTable(
        TableSchema("Hidden", isHidden: true, columns: [Column("n", .int64)]))
      try hidden.insert(["n": .int(1)])
    }
    let new = try database.snapshot()
    #expect(try new.rowChanges(since: old).isEmpty)
    #expect(try old.rowChanges(since: new).isEmpty)
  }
}
