import RealmStorage
import TestSupport
import Testing

/// Each column with an index has a twin without one that holds the same values: a condition on either finds the same rows.
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

    /// A condition on a column, and the same on another.
    mutating func conditions(_ column: Column, _ one: Int, _ two: Int) -> [Predicate] {
      func pair(_ make: (ColumnPath) -> Predicate) -> [Predicate] {
        [make(ColumnPath(one)), make(ColumnPath(two))]
      }
      let (low, high) = (value(column.type, 0), value(column.type, 0))
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
        // Numbers of other types compare, too.
        let constant =
          column.type == .int64 && generator.chance(20)
          ? Value.double(Double(generator.below(900)) + 0.5) : low
        return pair { .compare($0, comparison, constant) }
      }
    }
  }

  @Test(arguments: Slow.seeds(2, slow: 30), [nil, Keys.first])
  func `an index finds what a look at each row does`(seed: UInt64, key: [UInt8]?) throws {
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
        let column = 2 * sample.generator.below(columns.count / 2)
        let pair = sample.conditions(columns[column], column, column + 1)
        indexed.append(pair[0])
        plain.append(pair[1])
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

extension Array {
  fileprivate subscript(safe index: Int) -> Element? { indices.contains(index) ? self[index] : nil }
}
