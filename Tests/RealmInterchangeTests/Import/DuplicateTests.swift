import RealmInterchange
import RealmStorage
import RealmTestSupport
import Testing

/// Objects with the primary key of another object, and wrong lines among correct ones.
@Suite struct DuplicateTests {
  private static let schema = TableSchema(
    "Thing",
    columns: [
      Column("id", .int64, isOptional: true, index: .unique), Column("name", .string),
      Column("score", .double, isOptional: true), Column("tags", .string, collection: .set),
      Column("next", .link), Column("any", .mixed),
    ])

  private func make() throws -> Database {
    let database = try Database(inMemory: "import")
    try database.write { transaction in
      let parts = try transaction.createTable(
        TableSchema("Part", isEmbedded: true, columns: [Column("n", .int64), Column("of", .string)]))
      let table = try transaction.createTable(Self.schema)
      try table.addColumn(Column("part", .link, target: parts.schema.id))
    }
    return database
  }

  @discardableResult
  private func read(
    _ bytes: [UInt8], _ form: TableImport.Form = .jsonLines, into database: Database,
    duplicates: ObjectInserter.Duplicates
  ) throws -> [InputProblem] {
    try withInput(bytes) { input in
      try database.write { transaction in
        let schema = try #require(try transaction.table("Thing")).schema
        let objects = try TableImport(
          form, into: schema, transaction, skipsUnknown: false, duplicates: duplicates)
        var problems: [InputProblem] = []
        try objects.run(input) { problems.append($0) }
        return problems
      }
    }
  }

  private func values(_ id: Value, _ database: Database) throws -> [Value]? {
    let table = try #require(try database.snapshot().table("Thing"))
    guard let row = try table.row(withPrimaryKey: id) else { return nil }
    return try table.values(ofRow: row)
  }

  @Test func `an object with the primary key of another object is a problem, and changes nothing`() throws {
    let database = try make()
    let text = """
      {"id":1,"name":"a","part":{"n":1,"of":"a"}}
      {"id":null,"name":"none"}
      {"id":1,"name":"b","part":{"n":2,"of":"b"}}
      {"name":"none again","id":null}
      """
    let problems = try read(Array(text.utf8), into: database, duplicates: .areProblems)
    #expect(
      problems.map(\.description) == [
        "line 3, column 7: id 1 is the primary key of another object of Thing.",
        "line 4, column 27: id null is the primary key of another object of Thing.",
      ])
    let (one, none) = (try values(.int(1), database), try values(.null, database))
    #expect(one?[1] == .string("a"))
    #expect(none?[1] == .string("none"))
    let parts = try database.snapshot().table("Part")?.count
    #expect(parts == 1)
  }

  @Test
  func `an object that replaces another one has its values, and keeps the values that it does not name`()
    throws
  {
    let database = try make()
    let text = """
      {"id":1,"name":"a","score":1.5,"tags":["x"],"part":{"n":1,"of":"a"}}
      {"id":1,"name":"b","score":null,"part":{"n":2}}
      """
    let problems = try read(Array(text.utf8), into: database, duplicates: .replace)
    #expect(problems.map(\.description) == [])
    let snapshot = try database.snapshot()
    let (things, parts) = (
      try #require(try snapshot.table("Thing")), try #require(try snapshot.table("Part"))
    )
    #expect(things.count == 1)
    #expect(parts.count == 1)
    let part = try parts.key(at: 0)
    let (found, inner) = (try values(.int(1), database), try parts.values(ofRow: part))
    #expect(
      found == [
        .int(1), .string("b"), .null, .list([.string("x")]), .null, .null, .link(part),
      ])
    #expect(inner == [.int(2), .string("")])
    #expect(IntegrityCheck.run(snapshot).isClean)
  }

  @Test func `the last of several links counts, even if an earlier one still waits for its object`() throws {
    for (last, expected) in [("3", Int64?(3)), ("null", nil), ("1", 1)] {
      let database = try make()
      let text = #"""
        {"id":1,"name":"a","next":2}
        {"id":3,"name":"c"}
        {"id":1,"name":"a","next":\#(last)}
        {"id":2,"name":"b"}
        """#
      let problems = try read(Array(text.utf8), into: database, duplicates: .replace)
      #expect(problems.map(\.description) == [])
      let table = try #require(try database.snapshot().table("Thing"))
      let target = try expected.flatMap { try table.row(withPrimaryKey: .int($0)) }
      let found = try values(.int(1), database)?[4]
      #expect(found == target.map { .link($0) } ?? .null, "\(last)")
    }
  }

  @Test func `a link in an embedded object that is replaced again leaves no trace`() throws {
    let database = try Database(inMemory: "owners")
    try database.write { transaction in
      let parts = try transaction.createTable(
        TableSchema("Part", isEmbedded: true, columns: [Column("n", .int64)]))
      let things = try transaction.createTable(
        TableSchema("Thing", columns: [Column("id", .int64, index: .unique)]))
      try things.addColumn(Column("part", .link, target: parts.schema.id))
      try parts.addColumn(Column("owner", .link, target: things.schema.id))
    }
    let text = """
      {"id":1,"part":{"n":1,"owner":2}}
      {"id":1,"part":{"n":2,"owner":1}}
      {"id":2}
      """
    let problems = try read(Array(text.utf8), into: database, duplicates: .replace)
    #expect(problems.map(\.description) == [])
    let snapshot = try database.snapshot()
    let (things, parts) = (
      try #require(try snapshot.table("Thing")), try #require(try snapshot.table("Part"))
    )
    #expect(parts.count == 1)
    let part = try parts.values(ofRow: parts.key(at: 0))
    let first = try things.key(at: 0)
    #expect(part == [.int(2), .link(first)])
    #expect(IntegrityCheck.run(snapshot).isClean)
  }

  // MARK: - Bad lines among good ones

  private struct Good {
    let line: [UInt8]
    let values: [Value]
  }

  /// Objects with the integers from 0 on as primary keys.
  private func good(_ count: Int, _ generator: inout SeededGenerator) throws -> [Good] {
    let writer = ObjectWriter([])
    return try (0..<count).map { id in
      let values: [Value] =
        [.int(Int64(id))]
        + Self.schema.columns.dropFirst().map { column in
          column.type == .link ? .null : RandomValue().value(of: column, &generator)
        }
      var line = JSONWriter()
      try writer.write(values, of: Self.schema, to: &line)
      return Good(line: line.bytes, values: values)
    }
  }

  @Test(arguments: Slow.seeds(6, slow: 300))
  func `correct lines among changed ones are all imported, or have the key of an earlier line`(seed: UInt64)
    throws
  {
    var generator = SeededGenerator(seed: seed)
    let good = try good(60, &generator)
    var lines: [(line: [UInt8], good: Good?)] = good.map { ($0.line, $0) }
    for _ in 0..<60 {
      var changed = good[generator.below(good.count)].line
      for _ in 0...generator.below(3) { generator.mutate(&changed, sparing: [0x0a, 0x0d]) }
      // An input is not JSON Lines if its first line begins with a bracket and is not JSON.
      lines.insert((changed, nil), at: 1 + generator.below(lines.count))
    }
    let database = try make()
    let problems = try read(
      Array(lines.map(\.line).joined(separator: [0x0a])), into: database, duplicates: .areProblems)
    var wrong: [Int: String] = [:]
    for problem in problems { wrong[problem.line] = problem.reason }
    let snapshot = try database.snapshot()
    let table = try #require(try snapshot.table("Thing"))
    #expect(IntegrityCheck.run(snapshot).isClean, "seed \(seed)")
    for (place, line) in lines.enumerated() {
      guard let good = line.good else { continue }
      if let reason = wrong[place + 1] {
        #expect(reason.contains("primary key of another object"), "seed \(seed), line \(place + 1)")
        continue
      }
      let row = try #require(try table.row(withPrimaryKey: good.values[0]), "seed \(seed), line \(place + 1)")
      let found = try table.values(ofRow: row).dropLast()
      #expect(Array(found) == good.values, "seed \(seed), line \(place + 1)")
    }
    #expect(table.count + Set(problems.map(\.line)).count >= good.count, "seed \(seed)")
  }

  @Test(arguments: Slow.seeds(6, slow: 300))
  func `correct lines after changed ones replace their objects`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let good = try good(40, &generator)
    // An input is not JSON Lines if its first line begins with a bracket and is not JSON.
    var bytes: [UInt8] = [0x0a]
    for _ in 0..<80 {
      var changed = good[generator.below(good.count)].line
      generator.mutate(&changed)
      bytes += changed + [0x0a]
    }
    for one in good { bytes += one.line + [0x0a] }
    let database = try make()
    try read(bytes, into: database, duplicates: .replace)
    for one in good {
      let found = try values(one.values[0], database)
      #expect(found.map { Array($0.dropLast()) } == one.values, "seed \(seed)")
    }
    #expect(try IntegrityCheck.run(database.snapshot()).isClean, "seed \(seed)")
  }

  @Test(arguments: Slow.seeds(6, slow: 300))
  func `correct records of CSV among changed ones are all imported, or have the key of an earlier one`(
    seed: UInt64
  ) throws {
    var generator = SeededGenerator(seed: seed)
    let head = "id,name,score\n"
    let good = (0..<60).map { id in "\(id),\(String(repeating: "x", count: id % 7)),\(id).5" }
    var lines: [(line: [UInt8], id: Int?)] = good.enumerated().map { (Array($1.utf8), $0) }
    for _ in 0..<60 {
      var changed = Array(good[generator.below(good.count)].utf8)
      // A quotation mark may pull the next lines into its field.
      generator.mutate(&changed, sparing: [0x0a, 0x0d, 0x22])
      lines.insert((changed, nil), at: generator.below(lines.count + 1))
    }
    let database = try make()
    let bytes = Array(head.utf8) + lines.map(\.line).joined(separator: [0x0a])
    let problems = try read(
      bytes, .csv(delimiter: UInt8(ascii: ",")), into: database, duplicates: .areProblems)
    var wrong: [Int: String] = [:]
    for problem in problems { wrong[problem.line] = problem.reason }
    for (place, line) in lines.enumerated() {
      guard let id = line.id else { continue }
      if let reason = wrong[place + 2] {
        #expect(reason.contains("primary key of another object"), "seed \(seed), line \(place + 2)")
        continue
      }
      let found = try values(.int(Int64(id)), database)
      #expect(found?[1] == .string(String(repeating: "x", count: id % 7)), "seed \(seed), line \(place + 2)")
      #expect(found?[2] == .double(Double(id) + 0.5), "seed \(seed), line \(place + 2)")
    }
  }
}
