import RealmStorage
import RealmTestSupport

/// A database with nodes of every kind, columns of every kind, trees of several levels, a dictionary, a table whose lists
/// have ids, an embedded table, a version that is kept by name, and a column and a table that were dropped and still
/// take space.
///
/// A fixed seed determines the random content. Clusters are small, so that a few hundred rows make a tree of them.
enum GoldenStructures {
  static let version = "before the drops"

  private static let seed: UInt64 = 17

  /// The bytes of the file, either closed cleanly or as a process leaves it that dies.
  static func bytes(key: [UInt8]?, isClean: Bool) throws -> [UInt8] {
    var options = Database.Options(encryptionKey: key)
    options.clusterRows = 8
    // The limit is so low that one commit does not give back all that it drops.
    options.givenBackBytes = 4096
    let storage = try ByteStorage()
    let database = try Database(creatingIn: storage, options: options)
    var generator = SeededGenerator(seed: seed)
    try database.write { try addThings($0, &generator) }
    try database.write { try addLarge($0, &generator) }
    try database.write { try addCities($0, &generator) }
    try addLinked(database, &generator)
    try database.write { try addTrees($0, &generator) }
    _ = try database.keepVersion(named: version)
    try database.write { try changeAll($0, &generator) }
    try database.write { transaction in
      try transaction.dropTable("Gone")
      guard let cities = try transaction.table("City") else { throw Violation("there are no cities") }
      try cities.dropColumn(cities.schema.columns.count - 1)
    }
    if isClean { database.close() }
    // The database closes when its last reference goes.
    return withExtendedLifetime(database) { storage.bytes }
  }

  // MARK: - Tables

  /// Columns of every type, optional and not, indexed and not, and collections of them.
  private static func addThings(_ transaction: WriteTransaction, _ generator: inout SeededGenerator) throws {
    let table = try transaction.createTable(TableSchema(TableModel.name, columns: TableModel.everything))
    var model = TableModel()
    for _ in 0..<24 {
      if let wrong = try model.insert(table, &generator) { throw Violation(wrong) }
    }
  }

  /// Lists, sets and maps that are trees, of values of fixed and varying size, and nested collections.
  private static func addLarge(_ transaction: WriteTransaction, _ generator: inout SeededGenerator) throws {
    let parts = try transaction.createTable(
      TableSchema("Part", isEmbedded: true, columns: [Column("name", .string)]))
    let table = try transaction.createTable(
      TableSchema(
        "Large",
        columns: [
          Column("numbers", .int64, collection: .list),
          Column("texts", .string, isOptional: true, collection: .list),
          Column("dates", .date, collection: .set), Column("names", .string, collection: .set),
          Column("sizes", .double, collection: .map), Column("anything", .mixed),
          Column("part", .link, target: parts.schema.id),
          Column("parts", .link, collection: .list, target: parts.schema.id),
        ]))
    for count in [3, 600] {
      let part = try parts.insert(["name": .string("one of \(count)")])
      let others = try (0..<2).map { try parts.insert(["name": .string("number \($0) of \(count)")]) }
      let texts = (0..<count).map { number -> Value in
        number % 7 == 0 ? .null : .string("text \(generator.below(1000))")
      }
      let nested = (0..<count).map { number -> Value in
        number % 9 == 0 ? .list([.int(Int64(number)), .null]) : .string("element \(number)")
      }
      let sizes = (0..<count).map { ("key \($0)", Value.double(Double($0) / 8)) }
      _ = try table.insert([
        "numbers": .list((0..<count).map { _ in .int(Int64(generator.below(1 << 20))) }),
        "texts": .list(texts),
        "dates": .set((0..<count).map { .date(Timestamp(seconds: Int64($0) * 86_400)) }),
        "names": .set((0..<count).map { .string("name \($0)") }),
        "sizes": .map(ValueMap(Dictionary(uniqueKeysWithValues: sizes))), "anything": .list(nested),
        "part": .link(part), "parts": .list(others.map { .link($0) }),
      ])
    }
  }

  /// A table with so many rows that clusters and indexes are trees, and with values that repeat. A table and a column
  /// are dropped later.
  private static func addCities(_ transaction: WriteTransaction, _ generator: inout SeededGenerator) throws {
    let cities = try transaction.createTable(
      TableSchema(
        "City",
        columns: [
          Column("number", .int64, index: .unique), Column("country", .string, index: .plain),
          Column("tag", .data, isOptional: true), Column("founded", .int64, isOptional: true, index: .plain),
          Column("neighbour", .link), Column("dropped", .string),
        ]))
    for number in 0..<160 as Range<Int64> {
      _ = try cities.insert([
        "number": .int(number * 3),
        "country": .string(["Chile", "Ghana", "Laos", "Peru"][generator.below(4)]),
        "tag": number % 5 == 0 ? .null : .data([UInt8(number % 3)]),
        "founded": number % 4 == 0 ? .null : .int(Int64(generator.below(200))),
        "neighbour": number == 0 ? .null : .link(UInt64(generator.below(Int(number)))),
        "dropped": .string("a text that is dropped \(number)"),
      ])
    }
    let gone = try transaction.createTable(
      TableSchema("Gone", columns: [Column("text", .string, index: .plain)]))
    for number in 0..<100 { _ = try gone.insert(["text": .string("text \(number)")]) }
  }

  /// Lists whose elements have ids, and links to rows that do not exist.
  private static func addLinked(_ database: Database, _ generator: inout SeededGenerator) throws {
    var content = Content()
    for _ in 0..<6 {
      try database.write { try Workload.changeLinked($0, &content, &generator) }
    }
  }

  private static func addTrees(_ transaction: WriteTransaction, _ generator: inout SeededGenerator) throws {
    for (length, name) in [(9, "short"), (5000, "long"), (70_000, "longer")] {
      try transaction.tree("values").set(generator.bytes(length), for: Array(name.utf8))
    }
    let keys = try transaction.tree("keys")
    for number in 0..<300 {
      try keys.set(generator.bytes(generator.below(30)), for: Array("key \(number)".utf8))
    }
  }

  /// Removes rows and adds a column, so that the file has gaps between rows and rows that are older than a column.
  private static func changeAll(_ transaction: WriteTransaction, _ generator: inout SeededGenerator) throws {
    guard let things = try transaction.table(TableModel.name), let cities = try transaction.table("City")
    else {
      throw Violation("a table is not there")
    }
    for key in [1, 5, 6] as [UInt64] { _ = try things.remove(key) }
    try things.addColumn(Column("added", .string, isOptional: true))
    try things.addColumn(Column("added with a value", .int64, storedDefault: .int(-3)))
    for key in 100..<120 as Range<UInt64> { _ = try cities.remove(key) }
    try transaction.tree("keys").removeValue(for: Array("key 7".utf8))
  }
}
