import RealmStorage
import RealmTestSupport
import Testing

/// Each column with an index has a twin without one that holds the same values. A condition on either column finds the
/// same rows.
@Suite struct IndexPlanTests {
  private static let types: [ColumnType] = [.int64, .string, .date, .bool, .objectID, .uuid, .mixed]

  private struct Sample {
    var generator: SeededGenerator

    mutating func value(_ type: ColumnType, _ row: Int) -> Value {
      let small = generator.below(60)
      switch type {
      case .int64:
        return .int([Int64.min, .max, .max - 1, -1, 0][safe: small] ?? Int64(generator.below(900)))
      case .string: return .string(text())
      case .date:
        return .date(
          Timestamp(seconds: Int64(generator.below(700)) - 50, nanoseconds: Int32(generator.below(3))))
      case .bool: return .bool(generator.chance(2))
      case .objectID:
        return .objectID(ObjectIDBytes(Array(repeating: UInt8(generator.below(256)), count: 12)))
      case .uuid: return .uuid(SixteenBytes(Array(repeating: UInt8(generator.below(256)), count: 16)))
      default:
        return [
          .int(Int64(generator.below(300))), .double(Double(generator.below(600)) / 2), .string(text()),
        ][
          generator.below(3)]
      }
    }

    mutating func text() -> String {
      if generator.chance(5) { return String(repeating: "\0", count: 120 + generator.below(20)) + "x" }
      if generator.chance(5) { return String(repeating: "i", count: 243 + generator.below(8)) + "b" }
      let letters = ["a", "b", "é", "\0", "z", "\u{10FFFF}"]
      return (0..<generator.below(5)).map { _ in letters[generator.below(letters.count)] }.joined()
    }

    /// A random condition on column `one`, and the same condition on column `two`.
    mutating func conditions(_ column: Column, _ one: Int, _ two: Int) -> [Predicate] {
      func pair(_ make: (ColumnPath) -> Predicate) -> [Predicate] {
        [make(ColumnPath(one)), make(ColumnPath(two))]
      }
      let (low, high) = (generator.chance(8) ? .null : value(column.type, 0), value(column.type, 0))
      switch generator.below(5) {
      case 0: return pair { .between($0, low, high) }
      case 1:
        let values = (0..<generator.below(4)).map { _ in value(column.type, 0) } + [low]
        return pair { .isIn($0, values) }
      case 2 where column.type == .string:
        guard case .string(let text) = low else { return pair { .compare($0, .equal, low) } }
        let prefix = String(text.unicodeScalars.prefix(generator.below(260)).map { Character($0) })
        return pair { .text($0, .begins, .string(prefix), options: []) }
      default:
        let comparison = Comparison.allCases.randomElement(using: &generator)!
        // Numbers of other types are comparable, too.
        let constant =
          column.type == .int64 && generator.chance(20)
          ? Value.double(Double(generator.below(900)) + 0.5) : low
        return pair { .compare($0, comparison, constant) }
      }
    }
  }

  @Test(arguments: Slow.seeds(2, slow: 30), [nil, Keys.first])
  func `an index finds the same rows as a look at each row`(seed: UInt64, key: [UInt8]?) throws {
    var sample = Sample(generator: SeededGenerator(seed: seed))
    var columns: [Column] = [Column("id", .int64, index: .unique), Column("id twin", .int64)]
    for type in Self.types {
      for isOptional in [false, true] where type != .mixed || isOptional {
        columns.append(Column("\(type) \(isOptional)", type, isOptional: isOptional, index: .plain))
        columns.append(Column("\(type) \(isOptional) twin", type, isOptional: isOptional))
      }
    }
    let database = try Database(creatingIn: SimulatedDisk(), options: .init(encryptionKey: key))
    var usesIndexes = 0
    try database.write { transaction in
      let table = try transaction.createTable(TableSchema("Things", columns: columns))
      for row in 0..<1_200 {
        let ends: [Int64] = [.min, .max, .max - 1, .min + 1]
        let id = Value.int(ends[safe: row] ?? Int64(row * 3))
        var values = [id, id]
        for column in stride(from: 2, to: columns.count, by: 2) {
          let isNull = columns[column].isOptional && sample.generator.chance(4)
          let value = isNull ? Value.null : sample.value(columns[column].type, row)
          values += [value, value]
        }
        _ = try table.insert { (new: inout NewRow) throws(StorageError) in
          for (position, value) in values.enumerated() { try new.set(position, value) }
        }
      }
    }
    let snapshot = try database.snapshot()
    let table = try #require(try snapshot.table("Things"))
    for _ in 0..<Slow.count(200, slow: 1_000) {
      var (indexed, plain): ([Predicate], [Predicate]) = ([], [])
      for _ in 0...sample.generator.below(3) {
        // The part is one condition, or several conditions joined by "or". Some of these join two conditions by "and".
        var (ones, twos): ([Predicate], [Predicate]) = ([], [])
        for _ in 0...[0, 0, 1, 3][sample.generator.below(4)] {
          let column = 2 * sample.generator.below(columns.count / 2)
          let pair = sample.conditions(columns[column], column, column + 1)
          if let last = ones.indices.last, sample.generator.chance(20) {
            ones[last] = .and([ones[last], pair[0]])
            twos[last] = .and([twos[last], pair[1]])
          } else {
            ones.append(pair[0])
            twos.append(pair[1])
          }
        }
        indexed.append(ones.count == 1 ? ones[0] : .or(ones))
        plain.append(twos.count == 1 ? twos[0] : .or(twos))
      }
      let (one, two) = (Predicate.and(indexed), Predicate.and(plain))
      let expected = try table.rows(where: two)
      #expect(try table.rows(where: one) == expected, "seed \(seed): \(indexed)")
      #expect(try table.count(where: one) == expected.count, "seed \(seed): \(indexed)")
      let search = RowSearch(RowPlan(table: table.schema.id, predicate: one), in: table)
      let most = 1 + sample.generator.below(4)
      #expect(try search.rows(first: most) == Array(expected.prefix(most)), "seed \(seed): \(indexed)")
      #expect(try search.isEmpty() == expected.isEmpty, "seed \(seed): \(indexed)")
      if try search.explain().contains("index") { usesIndexes += 1 }
    }
    #expect(usesIndexes > 20, "seed \(seed)")
  }
}

extension IndexPlanTests {
  @Test func `indexes find null, and rows that match one of several conditions`() throws {
    let database = try Database(creatingIn: MemoryStorage(), options: .init())
    try database.write { transaction in
      let table = try transaction.createTable(
        TableSchema(
          "T",
          columns: [
            Column("name", .string, isOptional: true, index: .plain), Column("age", .int64, index: .plain),
            Column("rest", .int64),
          ]))
      for row in 0..<10_000 {
        try table.insert([
          "name": row % 500 == 7 ? .null : .string("\(row % 3_000)"), "age": .int(Int64(row % 2_500)),
          "rest": .int(Int64(row % 2)),
        ])
      }
    }
    let table = try #require(try database.snapshot().table("T"))
    let (name, age, rest) = (ColumnPath(0), ColumnPath(1), ColumnPath(2))
    let isFive = Predicate.compare(age, .equal, .int(5))
    let isNull = Predicate.compare(name, .equal, .null)
    func expect(_ predicate: Predicate, _ words: String, _ holds: (Int) -> Bool) throws {
      let search = RowSearch(RowPlan(table: table.schema.id, predicate: predicate), in: table)
      let expected = (0..<10_000).filter(holds).map { UInt64($0) }
      #expect(try search.explain() == "T, 10000 rows: " + words)
      #expect(try search.rows() == expected, "\(predicate)")
      #expect(try search.count() == expected.count, "\(predicate)")
      #expect(try table.count(where: predicate) == expected.count, "\(predicate)")
      #expect(try search.first() == expected.first, "\(predicate)")
    }
    try expect(isNull, "finds 20 by the index of name") { $0 % 500 == 7 }
    try expect(.isIn(name, [.string("3"), .null]), "finds 24 by the index of name") {
      $0 % 500 == 7 || $0 % 3_000 == 3
    }
    try expect(.isIn(age, [.int(3), .null]), "finds 4 by the index of age") { $0 % 2_500 == 3 }
    try expect(.compare(age, .equal, .null), "finds 0 by the index of age") { _ in false }
    // Both indexes find row 7.
    let isSeven = Predicate.compare(age, .equal, .int(7))
    try expect(.or([isNull, isSeven]), "finds 24 by the index of name or age") {
      $0 % 500 == 7 || $0 % 2_500 == 7
    }
    try expect(
      .or([isNull, .or([.never, .and([isFive, .compare(rest, .equal, .int(1))])])]),
      "looks at the 24 that the index of name or age finds"
    ) { $0 % 500 == 7 || $0 % 2_500 == 5 && $0 % 2 == 1 }
    try expect(
      .and([.or([isNull, isSeven]), .between(age, .int(0), .int(20))]),
      "finds those that the indexes of name or age (24) and age (84) have in common"
    ) { ($0 % 500 == 7 || $0 % 2_500 == 7) && $0 % 2_500 <= 20 }
    try expect(.or([isNull, .compare(rest, .equal, .int(1))]), "looks at each") {
      $0 % 500 == 7 || $0 % 2 == 1
    }
  }
}

extension Array {
  fileprivate subscript(safe index: Int) -> Element? { indices.contains(index) ? self[index] : nil }
}
