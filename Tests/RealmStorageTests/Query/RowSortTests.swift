import RealmStorage
import RealmTestSupport
import Testing

/// Sorts of many rows whose first column has few different values.
@Suite struct RowSortTests {
  private static let count = 6500
  private static let ages: Int64 = 40

  private struct Row {
    var age: Int64
    var isSmall: Bool
    var text: String?
    var number: Int64
    var share: Double
    var wide: Int64
  }

  private enum Position {
    static let age = 0
    static let isSmall = 1
    static let text = 2
    static let number = 3
    static let share = 4
    static let wide = 5
  }

  private let database: Database
  private let rows: [Row]

  init() throws {
    var generator = SeededGenerator(seed: 11)
    // The stems have about as many bytes as fit into one sort number: 14 bytes beside another column, 15 bytes alone.
    let stems = [
      "", "a", "abcdefghijklm", "abcdefghijklmn", "abcdefghijklmno", "abcdefghijklmnopqrstuvw", "\u{0}",
      // This text is greater than all others.
      "éabcdefghijklmnopqrst",
    ]
    rows = (0..<Self.count).map { _ in
      let text = stems[generator.below(stems.count)] + ["", "", "a", "b", "\u{0}", "é"][generator.below(6)]
      return Row(
        age: Int64(generator.below(Int(Self.ages))) - 3, isSmall: generator.chance(50),
        text: generator.chance(2) ? nil : text, number: Int64(generator.below(30)) - 15,
        share: [0, -0.0, .infinity, -1.5, .nan][generator.below(5)],
        wide: [.min, .max, 0, Int64(generator.below(1 << 20)) << 43, Int64(generator.below(99))][
          generator.below(5)])
    }
    database = try Database(creatingIn: MemoryStorage(), options: .init())
    let rows = rows
    try database.write { transaction in
      let table = try transaction.createTable(
        TableSchema(
          "T",
          columns: [
            Column("age", .int64), Column("isSmall", .bool), Column("text", .string, isOptional: true),
            Column("number", .int64), Column("share", .double), Column("wide", .int64),
          ]))
      for row in rows {
        try table.insert([
          "age": .int(row.age), "isSmall": .bool(row.isSmall), "text": row.text.map { .string($0) } ?? .null,
          "number": .int(row.number), "share": .double(row.share), "wide": .int(row.wide),
        ])
      }
    }
  }

  /// The order of two rows by one column: negative, zero or positive.
  private static func order(_ left: Row, _ right: Row, _ column: Int) -> Int {
    func compare<Value: Comparable>(_ left: Value, _ right: Value) -> Int {
      left < right ? -1 : left > right ? 1 : 0
    }
    switch column {
    case Position.age: return compare(left.age, right.age)
    case Position.isSmall: return compare(left.isSmall ? 1 : 0, right.isSmall ? 1 : 0)
    case Position.wide: return compare(left.wide, right.wide)
    case Position.number: return compare(left.number, right.number)
    case Position.share:
      if left.share.isNaN || right.share.isNaN {
        return compare(left.share.isNaN ? 0 : 1, right.share.isNaN ? 0 : 1)
      }
      return compare(left.share, right.share)
    default:
      guard let first = left.text, let second = right.text else {
        return compare(left.text == nil ? 0 : 1, right.text == nil ? 0 : 1)
      }
      if Array(first.utf8) == Array(second.utf8) { return 0 }
      return first.utf8.lexicographicallyPrecedes(second.utf8) ? -1 : 1
    }
  }

  @Test(arguments: [
    [Position.age, Position.text], [Position.age, Position.number], [Position.age, Position.share],
    [Position.isSmall, Position.text, Position.number], [Position.age, Position.isSmall, Position.text],
    [Position.number, Position.text, Position.share], [Position.share, Position.text],
    [Position.text, Position.age], [Position.wide, Position.share], [Position.share, Position.wide],
    [Position.age], [Position.text], [Position.share], [Position.text, Position.text, Position.wide],
  ])
  func `rows are sorted in the order that comparing column by column gives`(columns: [Int]) throws {
    let table = try #require(try database.snapshot().table("T"))
    let all = (1 << columns.count) - 1
    for directions in Slow.isAsked ? Array(0...all) : [all / 3, all] {
      let keys = columns.indices.map {
        SortKey(ColumnPath(columns[$0]), ascending: directions >> $0 & 1 == 0)
      }
      let expected = rows.indices.sorted { left, right in
        for (column, key) in zip(columns, keys) {
          let order = Self.order(rows[left], rows[right], column)
          if order != 0 { return key.ascending ? order < 0 : order > 0 }
        }
        return left < right
      }
      let sorted = try table.sorted(nil, by: keys)
      #expect(sorted == expected.map { UInt64($0) })
      // The limits cut the result between rows with equal sort numbers, and between rows with different ones.
      for limit in [1, 20, 100, 640] {
        let first = try table.sorted(nil, by: keys, limit: limit)
        #expect(first == expected.prefix(limit).map { UInt64($0) }, "limit \(limit)")
      }
      // The given rows have another order, and equal rows keep this order.
      let given = expected.reversed().filter { $0 % 3 != 0 }.map { UInt64($0) }
      let places = Dictionary(uniqueKeysWithValues: given.enumerated().map { ($1, $0) })
      let some = try table.sorted(given, by: keys)
      let expectedSome = given.sorted { left, right in
        for (column, key) in zip(columns, keys) {
          let order = Self.order(rows[Int(left)], rows[Int(right)], column)
          if order != 0 { return key.ascending ? order < 0 : order > 0 }
        }
        return (places[left] ?? 0) < (places[right] ?? 0)
      }
      #expect(some == expectedSome)
      for limit in [20, 640] {
        let first = try table.sorted(given, by: keys, limit: limit)
        #expect(first == Array(expectedSome.prefix(limit)), "limit \(limit) of given rows")
      }
    }
  }

  /// The remaining keys are consecutive, from 0 or later, or have gaps within clusters and between clusters.
  @Test(arguments: [
    [], [0..<700], [5_900..<6_500], [3_000..<3_001], [0..<512], [512..<1_024], [1..<2, 6_499..<6_500],
  ])
  func `all remaining rows are sorted, whichever rows were removed`(gone: [Range<UInt64>]) throws {
    let removed = Set(gone.flatMap { Array($0) })
    try database.write { transaction in
      let table = try #require(try transaction.table("T"))
      #expect(try table.remove(Array(removed)) == removed.count)
    }
    let table = try #require(try database.snapshot().table("T"))
    for columns in [[Position.age, Position.text], [Position.text], [Position.share, Position.text], []] {
      let expected = rows.indices.filter { !removed.contains(UInt64($0)) }.sorted { left, right in
        for column in columns {
          let order = Self.order(rows[left], rows[right], column)
          if order != 0 { return order < 0 }
        }
        return left < right
      }
      let sorted = try table.sorted(nil, by: columns.map { SortKey(ColumnPath($0)) })
      #expect(sorted == expected.map { UInt64($0) })
    }
  }

  /// The rows have equal sort numbers and different values.
  @Test(arguments: [Column("a", .string), Column("a", .decimal128, isOptional: true), Column("a", .mixed)])
  func `a limited sort of rows with equal sort numbers gives the first rows of the whole sort`(column: Column)
    throws
  {
    for seed in 0..<12 {
      var generator = SeededGenerator(seed: UInt64(seed))
      let database = try Database(creatingIn: MemoryStorage(), options: .init())
      let count = 1_100
      try database.write { transaction in
        let table = try transaction.createTable(TableSchema("T", columns: [column, Column("b", .int64)]))
        for row in 0..<count {
          // Some rows sort before all others. They are among the first and the last rows.
          let isEarly = row < 1 + seed % 3 || row > count - 3 || generator.chance(seed)
          let tail = String((0..<generator.below(3)).map { _ in "azé".randomElement(using: &generator)! })
          let text =
            isEarly ? "abcdefghijklmno" + tail : generator.chance(50) ? "zzz" : "abcdefghijklmzz" + tail
          let value: Value =
            switch column.type {
            case .string: .string(text)
            case .mixed where generator.chance(50): .string(text)
            default: isEarly ? .decimal128(DecimalNumber(generator.below(9)).stored) : .null
            }
          try table.insert(["a": value, "b": .int(Int64(generator.below(3)))])
        }
      }
      let table = try #require(try database.snapshot().table("T"))
      for directions in 0..<4 {
        let keys = [0, 1].map { SortKey(ColumnPath($0), ascending: directions >> $0 & 1 == 0) }
        for keys in [keys, Array(keys.prefix(1))] {
          let all = try table.sorted(nil, by: keys)
          for limit in [1, 2, 3, 5, 17, 64] {
            let first = try table.sorted(nil, by: keys, limit: limit)
            #expect(first == Array(all.prefix(limit)), "seed \(seed): \(keys) limit \(limit)")
          }
        }
      }
    }
  }
}
