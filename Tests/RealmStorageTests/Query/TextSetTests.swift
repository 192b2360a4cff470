import RealmStorage
import RealmTestSupport
import Testing

/// Conditions that a text equals one of many texts, and patterns of many stars.
@Suite struct TextSetTests {
  private static func table(_ sample: inout QuerySample, rows: Int) throws -> Table {
    let database = try Database(creatingIn: MemoryStorage(), options: .init())
    try database.write { transaction in
      let table = try transaction.createTable(
        TableSchema(
          "T",
          columns: [
            Column("string", .string), Column("optional", .string, isOptional: true),
            Column("data", .data, isOptional: true), Column("mixed", .mixed, isOptional: true),
            Column("list", .string, collection: .list),
            Column("optional list", .string, isOptional: true, collection: .list),
            Column("friends", .link, collection: .list),
          ]))
      for row in 0..<rows {
        try table.insert { (new: inout NewRow) throws(StorageError) in
          for (position, column) in table.schema.columns.enumerated() {
            try new.set(position, sample.value(column, linking: Array(0..<UInt64(row)), row: row))
          }
        }
      }
    }
    return try #require(try database.snapshot().table("T"))
  }

  @Test(arguments: Slow.seeds(2, slow: 30))
  func `a condition with many texts finds the rows that conditions with each text find`(seed: UInt64) throws {
    var sample = QuerySample(generator: SeededGenerator(seed: seed))
    let table = try Self.table(&sample, rows: 300)
    for round in 0..<60 {
      let column = round % 6
      let path = ColumnPath(links: round % 7 == 0 ? [6] : [], column: column)
      let options = TextOptions(rawValue: UInt8(sample.generator.below(8)))
      let values = (0..<5 + sample.generator.below(20)).map { _ -> Value in
        if sample.generator.chance(5) { return .null }
        return sample.value(sample.generator.chance(15) ? .data : .string)
      }
      let tests = values.map { Predicate.text(path, .equal, $0, options: options) }
      let other = Predicate.compare(ColumnPath(0), .equal, sample.value(.string))
      var expected = Set(try table.rows(where: other))
      for test in tests { expected.formUnion(try table.rows(where: test)) }
      let hint = "seed \(seed): \(path) \(options) \(values)"
      #expect(try table.rows(where: .or(tests + [other])) == expected.sorted(), "\(hint)")
      // A relation with a list finds the same rows.
      let left = Expression.path(ValuePath(path.links.map { .links($0) }, .value(column)))
      var some = Set<UInt64>()
      for value in values {
        let one = Relation(.init(left, .any), .text(.equal, options: options), .init(.constant(value)))
        some.formUnion(try table.rows(where: .relation(one)))
      }
      let list = Relation(.init(left, .any), .text(.equal, options: options), .init(.list(values), .any))
      #expect(try table.rows(where: .relation(list)) == some.sorted(), "\(hint)")
    }
  }

  @Test func `a search for thousands of texts without regard to case looks texts up in a set`() throws {
    let database = try Database(creatingIn: MemoryStorage(), options: .init())
    try database.write { transaction in
      let table = try transaction.createTable(TableSchema("T", columns: [Column("name", .string)]))
      for row in 0..<20_000 { try table.insert(["name": .string("Éric \(row)")]) }
    }
    let table = try #require(try database.snapshot().table("T"))
    let tests = (0..<14_000).map {
      Predicate.text(ColumnPath(0), .equal, .string("ÉRIC \($0 * 3)"), options: .ignoringCase)
    }
    let clock = ContinuousClock()
    let start = clock.now
    #expect(try table.rows(where: .or(tests)) == (0..<20_000).filter { $0 % 3 == 0 }.map { UInt64($0) })
    // Comparing the texts one after another takes half a minute.
    #expect(start.duration(to: clock.now) < .seconds(5))
  }

  @Test func `consecutive stars of a pattern count as one star`() throws {
    let database = try Database(creatingIn: MemoryStorage(), options: .init())
    try database.write { transaction in
      let table = try transaction.createTable(TableSchema("T", columns: [Column("name", .string)]))
      for row in 0..<20_000 { try table.insert(["name": .string("name \(row)")]) }
    }
    let table = try #require(try database.snapshot().table("T"))
    let stars = String(repeating: "*", count: 120_000)
    let clock = ContinuousClock()
    let start = clock.now
    for options in [TextOptions(), .ignoringCase, .ignoringDiacritics] {
      func count(_ pattern: String) throws -> Int {
        try table.count(where: .text(ColumnPath(0), .like, .string(pattern), options: options))
      }
      #expect(try count("n" + stars + "1" + stars + "7") == count("n*1*7"))
      #expect(try count(stars) == 20_000)
      #expect(try count(stars + "?" + stars + "x") == 0)
    }
    // Passing over the stars for each row takes a minute.
    #expect(start.duration(to: clock.now) < .seconds(5))
  }
}
