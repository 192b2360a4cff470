import RealmTestSupport
import Testing

@testable import RealmStorage

/// Columns stored as codes, and the dictionaries of the values that the codes stand for.
@Suite struct DictionaryTests {
  private static let columns = [
    Column("city", .string), Column("tag", .data, isOptional: true), Column("email", .string),
    Column("key", .string, index: .unique),
  ]

  /// A database with a table of these columns. Its `rows` rows have `cities` different cities.
  private func made(
    rows: Int, cities: Int, on disk: SimulatedDisk = SimulatedDisk(), clusterRows: Int = 512,
    key: [UInt8]? = nil
  ) throws -> Database {
    var options = Database.Options(encryptionKey: key)
    options.clusterRows = clusterRows
    let database = try Database(creatingIn: disk, options: options)
    try database.write { transaction in
      let table = try transaction.createTable(TableSchema("Person", columns: Self.columns))
      for number in 0..<rows { _ = try table.insert(row(number, cities)) }
    }
    return database
  }

  private func row(_ number: Int, _ cities: Int) -> [String: Value] {
    [
      "city": .string(city(number % cities)), "tag": number % 3 == 0 ? .null : .data([UInt8(number % 5)]),
      "email": .string("\(number)@example.com"), "key": .string("k\(number)"),
    ]
  }

  private func city(_ number: Int) -> String { "The City of Number \(number)" }

  private func person(_ database: Database) throws -> Table {
    try #require(try database.snapshot().table("Person"))
  }

  /// The encoding of a column in each cluster.
  private func encodings(_ name: String, _ database: Database) throws -> [ClusterNode.Encoding] {
    let snapshot = try database.snapshot()
    let table = try #require(try snapshot.table("Person"))
    let column = try #require(table.schema.column(name))
    let access = snapshot.access()
    var found: [ClusterNode.Encoding] = []
    try KeyedTree.forEachLeaf(of: table.clusters, access) { (leaf) throws(StorageError) in
      let cluster = ClusterNode(try access.node(leaf, .cluster))
      if let descriptor = cluster.part(of: column) { found.append(descriptor.encoding) }
      return true
    }
    return found
  }

  /// The values of a column's dictionary, by their codes.
  private func dictionary(_ name: String, _ database: Database) throws -> [[UInt8]] {
    let snapshot = try database.snapshot()
    let table = try #require(try snapshot.table("Person"))
    let column = try #require(table.schema.column(name))
    var values: [[UInt8]] = []
    try ColumnDictionary.forEachPiece(of: table.dictionaries[column.id], snapshot.access()) { piece in
      for row in 0..<piece.rows { values.append(piece.bytes(row).array) }
      return true
    }
    return values
  }

  // MARK: - What is stored how

  @Test(arguments: [nil, Keys.first])
  func `a column of few values is stored as codes, and a column of different values as it is`(key: [UInt8]?)
    throws
  {
    let database = try made(rows: 1600, cities: 200, key: key)
    #expect(try encodings("city", database) == [.codes, .codes, .codes, .pieces])
    #expect(try encodings("tag", database) == [.codes, .codes, .codes, .pieces])
    #expect(try encodings("email", database) == [.pieces, .pieces, .pieces, .pieces])
    #expect(try encodings("key", database) == [.pieces, .pieces, .pieces, .pieces])
    #expect(try dictionary("city", database) == (0..<200).map { Array(city($0).utf8) })
    #expect(try dictionary("email", database).isEmpty)
    let table = try person(database)
    for number in [0, 1, 511, 512, 1535, 1536, 1599] {
      for column in table.schema.columns {
        #expect(try table.value(column, ofRow: UInt64(number)) == row(number, 200)[column.name])
      }
    }
    #expect(try IntegrityCheck.run(database.snapshot()).findings == [])
  }

  @Test func `a dictionary takes no more than 4,096 values from clusters`() throws {
    let database = try made(rows: 20 * 512, cities: 4200)
    // Consecutive rows have different cities, so no city repeats within a cluster.
    #expect(try dictionary("city", database).isEmpty)
    try database.write { transaction in
      let table = try #require(try transaction.table("Person"))
      for number in 20 * 512..<40 * 512 {
        var values = row(number, 4200)
        values["city"] = .string(city(number / 2))
        _ = try table.insert(values)
      }
    }
    #expect(try dictionary("city", database).count == 4096)
    let found = try encodings("city", database)
    #expect(found.count { $0 == .codes } == 16 && found.count == 40)
    #expect(try IntegrityCheck.run(database.snapshot()).findings == [])
  }

  @Test func `a cluster of nulls and empty texts takes no bytes for them`() throws {
    let database = try Database(inMemory: "dictionary")
    try database.write { transaction in
      let table = try transaction.createTable(
        TableSchema("Person", columns: [Column("a", .string, isOptional: true), Column("b", .string)]))
      for _ in 0..<512 { _ = try table.insert([:]) }
    }
    let report = try SpaceReport(database.snapshot())
    #expect(report.parts.filter { $0.part.role == .column }.allSatisfy { $0.packedBytes == 0 })
    var rows = 0
    try person(database).forEach { _, values in
      rows += 1
      return values == [.null, .string("")]
    }
    #expect(rows == 512)
  }

  @Test func `a cluster to which rows are added one by one is stored as codes when it is full`() throws {
    let database = try made(rows: 0, cities: 1, clusterRows: 16)
    for number in 0..<40 {
      try database.write { _ = try $0.table("Person")?.insert(row(number, 3)) }
      #expect(try IntegrityCheck.run(database.snapshot()).findings == [])
    }
    #expect(try encodings("city", database) == [.codes, .codes, .pieces])
    #expect(try dictionary("city", database).count == 3)
  }

  @Test func `new rows are added to a cluster of codes that lost its last rows`() throws {
    let database = try made(rows: 32, cities: 3, clusterRows: 16)
    try database.write { transaction in
      let table = try #require(try transaction.table("Person"))
      for key in UInt64(28)..<32 { try table.remove(key) }
      for number in 0..<4 { _ = try table.insert(row(number + 100, 3)) }
    }
    #expect(try encodings("city", database) == [.codes, .codes])
    let column = Self.columns[0].name
    let table = try person(database)
    #expect(
      try table.value(try #require(table.schema.column(column)), ofRow: 35) == .string(city(103 % 3)))
    #expect(try IntegrityCheck.run(database.snapshot()).findings == [])
  }

  // MARK: - Changes

  @Test(arguments: [nil, Keys.first])
  func `a value without a code gets the next code, and no code ever gets another value`(key: [UInt8]?) throws
  {
    let database = try made(rows: 1024, cities: 20, key: key)
    let before = try dictionary("city", database)
    let old = try database.snapshot()
    for number in 0..<30 {
      try database.write {
        _ = try $0.table("Person")?.set(.string("new \(number % 10)"), "city", ofRow: UInt64(number))
      }
    }
    let after = try dictionary("city", database)
    #expect(after == before + (0..<10).map { Array("new \($0)".utf8) })
    #expect(try encodings("city", database) == [.codes, .codes])
    let table = try person(database)
    let column = try #require(table.schema.column("city"))
    for number in 0..<30 {
      #expect(try table.value(column, ofRow: UInt64(number)) == .string("new \(number % 10)"))
      #expect(try old.table("Person")?.value(column, ofRow: UInt64(number)) == .string(city(number % 20)))
    }
    #expect(try IntegrityCheck.run(database.snapshot()).findings == [])
  }

  @Test func `a new value is stored without codes if its dictionary has as many codes as the table has rows`()
    throws
  {
    let database = try made(rows: 64, cities: 4, clusterRows: 16)
    for number in 0..<62 {
      try database.write {
        _ = try $0.table("Person")?.set(.string("new \(number)"), "city", ofRow: 17)
      }
    }
    #expect(try dictionary("city", database).count == 64)
    #expect(try encodings("city", database) == [.codes, .pieces, .codes, .codes])
    let table = try person(database)
    let column = try #require(table.schema.column("city"))
    for number in 0..<64 {
      let expected = number == 17 ? "new 61" : city(number % 4)
      #expect(try table.value(column, ofRow: UInt64(number)) == .string(expected))
    }
    #expect(try IntegrityCheck.run(database.snapshot()).findings == [])
  }

  @Test func `a value that is too long for a piece is stored without codes in its cluster`() throws {
    let database = try made(rows: 32, cities: 4, clusterRows: 16)
    let long = String(repeating: "long", count: 2000)
    try database.write { _ = try $0.table("Person")?.set(.string(long), "city", ofRow: 3) }
    #expect(try encodings("city", database) == [.pieces, .codes])
    let table = try person(database)
    #expect(try table.value(try #require(table.schema.column("city")), ofRow: 3) == .string(long))
    #expect(try IntegrityCheck.run(database.snapshot()).findings == [])
  }

  @Test func `updating a coded value writes few pages`() throws {
    let disk = SimulatedDisk()
    let database = try made(rows: 4096, cities: 200, on: disk)
    let pages = { disk.events.reduce(0) { if case .write(_, let count) = $1 { $0 + count } else { $0 } } }
    var before = pages()
    try database.write { _ = try $0.table("Person")?.set(.string(city(7)), "city", ofRow: 100) }
    #expect(pages() - before <= 4, "a value that has a code")
    before = pages()
    try database.write { _ = try $0.table("Person")?.set(.string("new"), "city", ofRow: 100) }
    #expect(pages() - before <= 5, "a value that gets one")
  }

  @Test func `a dictionary is removed with the last row`() throws {
    for removesAll in [true, false] {
      let database = try made(rows: 40, cities: 3, clusterRows: 16)
      #expect(try dictionary("city", database).count == 3)
      try database.write { transaction in
        let table = try #require(try transaction.table("Person"))
        if removesAll { try table.removeAll() } else { for key in UInt64(0)..<40 { try table.remove(key) } }
      }
      #expect(try person(database).dictionaries.all.isEmpty)
      try database.write { transaction in
        for number in 0..<16 { _ = try transaction.table("Person")?.insert(row(number, 2)) }
      }
      #expect(try dictionary("city", database).count == 2)
      #expect(try IntegrityCheck.run(database.snapshot()).findings == [])
    }
  }

  @Test func `a cancelled transaction leaves the dictionary as it was`() throws {
    let database = try made(rows: 32, cities: 3, clusterRows: 16)
    let transaction = try database.beginWrite()
    try transaction.table("Person")?.set(.string("new"), "city", ofRow: 1)
    #expect(try transaction.table("Person")?.reading().count == 32)
    transaction.cancel()
    #expect(try dictionary("city", database).count == 3)
    try database.write { _ = try $0.table("Person")?.set(.string("other"), "city", ofRow: 1) }
    #expect(try dictionary("city", database).last == Array("other".utf8))
  }

  @Test(arguments: 0..<3)
  func `random tables have columns of codes, of plain values, and of both`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    var options = Database.Options()
    options.clusterRows = 8
    let database = try Database(creatingIn: SimulatedDisk(), options: options)
    try database.write { transaction in
      _ = try transaction.createTable(TableSchema("Person", columns: TableModel.few))
    }
    var model = TableModel()
    var mixed = 0
    for _ in 0..<40 {
      try database.write { transaction in
        let table = try #require(try transaction.table("Person"))
        for _ in 0..<12 { #expect(try model.change(table, &generator) == nil, "seed \(seed)") }
      }
      let found = try encodings("city", database)
      // The last cluster is not full, so its values are stored as they are.
      if found.contains(.codes), found.dropLast().contains(.pieces) { mixed += 1 }
      #expect(try model.difference(to: person(database), &generator) == nil, "seed \(seed)")
      #expect(try IntegrityCheck.run(database.snapshot()).findings == [], "seed \(seed)")
    }
    #expect(mixed > 10, "seed \(seed)")
  }

  // MARK: - Codes in memory

  @Test(arguments: 0..<4)
  func `each value is found by its code until the code is taken back`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    for isHashed in [true, false] {
      var codes = ValueCodes(first: isHashed ? 0 : 7, isHashed: isHashed)
      var model: [[UInt8]] = []
      for _ in 0..<400 {
        if generator.chance(10) {
          let kept = generator.below(model.count + 1)
          codes.forget(from: codes.first + kept)
          model.removeLast(model.count - kept)
        }
        let value = generator.bytes(generator.below(20))
        let known = model.firstIndex(of: value).map { $0 + codes.first }
        #expect(codes.code(of: value.span.bytes) == known, "seed \(seed)")
        guard known == nil else { continue }
        #expect(codes.add(value.span.bytes) == codes.first + model.count)
        model.append(value)
      }
      for (place, value) in model.enumerated() {
        #expect(codes.code(of: value.span.bytes) == codes.first + place, "seed \(seed)")
        #expect(codes.value(codes.first + place).array == value)
      }
    }
  }
}
