import RealmTestSupport
import Testing

@testable import RealmStorage

/// Rows that are added a few at a time stand apart from the cluster before them until there are many.
@Suite struct TailTests {
  private static let columns = [
    Column("id", .int64, index: .unique), Column("name", .string),
    Column("city", .string, index: .plain), Column("note", .data, isOptional: true),
    Column("score", .double, isOptional: true), Column("day", .date), Column("age", .int64, isOptional: true),
  ]

  private static func database(clusterRows: Int, key: [UInt8]? = nil) throws -> Database {
    var options = Database.Options(encryptionKey: key)
    options.clusterRows = clusterRows
    let database = try Database(creatingIn: MemoryStorage(), options: options)
    try database.write { transaction in
      _ = try transaction.createTable(TableSchema("Person", columns: columns))
    }
    return database
  }

  /// Ids that are not in ascending order, like ids that were given elsewhere.
  private static func id(_ number: Int) -> Int64 {
    Int64(truncatingIfNeeded: number &* 0x1e37_79b9_7f4a_7c15)
  }

  private static func row(_ number: Int, _ generator: inout SeededGenerator) -> [String: Value] {
    // Some values are long, and some are long enough for a node of their own.
    let bytes = generator.chance(2) ? 20_000 : generator.chance(4) ? 3000 : generator.below(40)
    return [
      "id": .int(id(number)), "name": .string("The name of \(number)"),
      "city": .string("City \(generator.below(12))"),
      "note": generator.chance(30) ? .null : .data(generator.bytes(bytes)),
      "score": generator.chance(20) ? .null : .double(Double(generator.below(1000)) / 8),
      "day": .date(
        Timestamp(
          seconds: Int64(generator.below(1 << 30)), nanoseconds: generator.chance(3) ? 500_000_000 : 0)),
      "age": generator.chance(10) ? .null : .int(Int64(generator.below(100))),
    ]
  }

  private static func clusterRows(_ snapshot: Snapshot) throws -> [Int] {
    let table = try #require(try snapshot.table("Person"))
    let access = snapshot.access()
    var rows: [Int] = []
    guard !table.clusters.isNull else { return [] }
    try KeyedTree.forEachLeaf(of: table.clusters, access) { (leaf) throws(StorageError) in
      rows.append(ClusterNode(try access.node(leaf, .cluster)).rows)
      return true
    }
    return rows
  }

  private static func compare(_ snapshot: Snapshot, _ model: [UInt64: [String: Value]]) throws {
    let table = try #require(try snapshot.table("Person"))
    #expect(table.count == model.count)
    for (key, expected) in model {
      for column in table.schema.columns {
        let found = try table.value(column, ofRow: key)
        #expect(found == expected[column.name], "row \(key), \(column.name)")
      }
      #expect(try table.row(withPrimaryKey: try #require(expected["id"])) == key)
    }
    for city in 0..<12 {
      let value = Value.string("City \(city)")
      let expected = model.values.filter { $0["city"] == value }.count
      #expect(try table.count(with: value, in: table.schema.columns[2]) == expected)
    }
  }

  @Test(arguments: 0..<8)
  func `rows that are added in small and large numbers, changed and removed agree with a model`(seed: UInt64)
    throws
  {
    var generator = SeededGenerator(seed: seed)
    let key = seed & 1 == 0 ? nil : Keys.first
    let database = try Self.database(clusterRows: [512, 512, 512, 100, 100, 64, 20, 7][Int(seed)], key: key)
    var model: [UInt64: [String: Value]] = [:]
    var next = 0
    for round in 0..<120 {
      let transaction = try database.beginWrite()
      let table = try #require(try transaction.table("Person"))
      let isCancelled = generator.chance(8)
      let (before, columns) = (model, table.schema.columns.count)
      for _ in 0..<[1, 1, 2, 5, 30, 63, 64, 65, 200][generator.below(9)] {
        next += 1
        let row = Self.row(next, &generator)
        model[try table.insert(row)] = row
        if generator.chance(2), let known = model.keys.max() {
          // A read puts the pending rows into the trees first.
          #expect(try table.value(1, ofRow: known) == model[known]?["name"])
        }
      }
      let keys = model.keys.sorted()
      if generator.chance(30),
        let key = generator.chance(50) ? keys.last : keys.randomElement(using: &generator)
      {
        model[key]?["name"] = .string("another \(round)")
        #expect(try table.set(.string("another \(round)"), "name", ofRow: key))
      }
      if generator.chance(20) {
        let gone = keys.suffix(generator.below(80)).filter { _ in generator.chance(60) }
        #expect(try table.remove(gone) == gone.count)
        for key in gone { model[key] = nil }
      }
      if columns == 7, round > 50 {
        try table.addColumn(Column("later", .string))
        for key in model.keys { model[key]?["later"] = .string("") }
      } else if columns == 8 {
        for key in model.keys where model[key]?["later"] == nil { model[key]?["later"] = .string("") }
      }
      if isCancelled { model = before }
      if isCancelled { transaction.cancel() } else { _ = try transaction.commit() }
      guard round % 20 == 19 else { continue }
      let snapshot = try database.snapshot()
      try Self.compare(snapshot, model)
      #expect(IntegrityCheck.run(snapshot).findings == [], "seed \(seed), round \(round)")
      try Self.expectNothingLost(database)
    }
  }

  /// Expects that the page map counts as many live units as a walk over the newest version.
  private static func expectNothingLost(_ database: Database) throws {
    let transaction = try database.beginWrite()
    defer { transaction.cancel() }
    let known = transaction.writer.pages.with { $0.space.map }
    let kept = try #require(known)
    var walk = SpaceWalk(store: database.store, pageCount: kept.pageCount, slack: kept.slack)
    try walk.walkNewest(
      transaction.base.root, access: database.store.access(below: transaction.base.end))
    #expect(kept.liveUnits == walk.map.liveUnits)
  }

  @Test(arguments: [1, 3, 10, 63, 64, 65, 150])
  func `clusters of rows that were added a few at a time are full and have codes`(count: Int) throws {
    var generator = SeededGenerator(seed: UInt64(count))
    let database = try Self.database(clusterRows: 512)
    var number = 0
    for _ in 0..<2100 / count {
      try database.write { transaction in
        let table = try #require(try transaction.table("Person"))
        for _ in 0..<count {
          number += 1
          var row = Self.row(number, &generator)
          row["note"] = .null
          _ = try table.insert(row)
        }
      }
    }
    let snapshot = try database.snapshot()
    let rows = try Self.clusterRows(snapshot)
    #expect(rows.dropLast(2).allSatisfy { $0 > 512 - 64 }, "\(rows)")
    #expect(rows.last ?? 0 <= 512)
    let table = try #require(try snapshot.table("Person"))
    let access = snapshot.access()
    var encodings: [ClusterNode.Encoding?] = []
    try KeyedTree.forEachLeaf(of: table.clusters, access) { (leaf) throws(StorageError) in
      encodings.append(
        ClusterNode(try access.node(leaf, .cluster)).part(of: table.schema.columns[2])?.encoding)
      return true
    }
    #expect(encodings.dropLast(2).allSatisfy { $0 == .codes }, "\(encodings)")
  }

  @Test func `adding a single row writes only the tail of the table`() throws {
    var generator = SeededGenerator(seed: 1)
    let database = try Self.database(clusterRows: 512)
    try database.write { transaction in
      let table = try #require(try transaction.table("Person"))
      for number in 0..<400 {
        var row = Self.row(number, &generator)
        row["note"] = .data(generator.bytes(100))
        _ = try table.insert(row)
      }
    }
    // This many bytes were written for all 400 rows together, including what does not belong to their cluster.
    let all = database.writeStatistics.nodeBytes
    for number in 400..<450 {
      var row = Self.row(number, &generator)
      row["note"] = .data(generator.bytes(100))
      try database.write { transaction in
        _ = try #require(try transaction.table("Person")).insert(row)
      }
    }
    let each = (database.writeStatistics.nodeBytes - all) / 50
    #expect(each < all / 4, "\(each) of \(all)")
  }

  @Test func `long texts that are added one at a time stand in few pieces`() throws {
    let database = try Self.database(clusterRows: 512)
    for number in 0..<500 {
      try database.write(.relaxed) { transaction in
        _ = try #require(try transaction.table("Person")).insert([
          "id": .int(Self.id(number)), "name": .string("\(number)" + String(repeating: "x", count: 150)),
        ])
      }
    }
    let snapshot = try database.snapshot()
    let table = try #require(try snapshot.table("Person"))
    let first = try KeyedTree.leaf(for: 0, in: table.clusters, snapshot.access())
    let access = snapshot.access()
    let cluster = ClusterNode(try access.node(first, .cluster))
    let pieces = cluster.part(of: table.schema.columns[1])?.greatest ?? 0
    // Each piece holds 53 of the texts.
    #expect(pieces <= Int64(cluster.rows / 53 + 1), "\(pieces) for \(cluster.rows)")
  }

  @Test(arguments: [500, 1000])
  func `a large transaction that reads while it adds rows holds little in memory`(count: Int) throws {
    var generator = SeededGenerator(seed: 3)
    var options = Database.Options()
    options.spillBytes = 1 << 16
    let database = try Database(creatingIn: MemoryStorage(), options: options)
    try database.write { transaction in
      let table = try transaction.createTable(TableSchema("Person", columns: Self.columns))
      for number in 0..<20_000 {
        var row = Self.row(number, &generator)
        row["note"] = .null
        let key = try table.insert(row)
        if number % count == 0 { #expect(try table.value(1, ofRow: key) == row["name"]) }
        // The added rows take 1.4 MB in all.
        #expect(transaction.editor.arena.liveBytes < 6 << 16)
      }
    }
    #expect(IntegrityCheck.run(try database.snapshot()).findings == [])
  }
}
