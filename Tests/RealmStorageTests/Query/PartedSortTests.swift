import RealmStorage
import Synchronization
import RealmTestSupport
import Testing

/// Sorts and distinct values with memory for a few rows give the same result as with memory for all rows.
@Suite struct PartedSortTests {
  private static let stem = String(repeating: "the same beginning of many texts ", count: 5)

  private struct Sample {
    var generator: SeededGenerator

    /// A random value, out of few or many. Some values occur often.
    mutating func value(_ type: ColumnType, _ variety: Int) -> Value {
      let small = generator.below(variety)
      switch type {
      case .bool: return .bool(small % 2 == 0)
      case .int64:
        return .int([Int64.min, .max, 0, Int64(small) << 40, Int64(small)][generator.below(5)])
      case .double: return .double([.nan, -0.0, 0, .infinity, Double(small) / 3][generator.below(5)])
      case .string:
        let stem = ["", "short ", PartedSortTests.stem][generator.below(3)]
        return .string(
          stem + ["", "\(small)", String(repeating: "z", count: small % 40)][generator.below(3)])
      case .data: return .data(Array(repeating: UInt8(small % 5), count: small % 200))
      case .date: return .date(Timestamp(seconds: Int64(small), nanoseconds: Int32(generator.below(3))))
      case .uuid: return .uuid(SixteenBytes(Array(repeating: 7, count: 15) + [UInt8(small % 256)]))
      case .decimal128: return .decimal128(DecimalNumber(small).stored)
      default: return value([.bool, .int64, .double, .string, .date][generator.below(5)], variety)
      }
    }
  }

  private static let types: [ColumnType] = [
    .bool, .int64, .double, .string, .data, .date, .uuid, .decimal128, .mixed,
  ]

  private static func table(_ sample: inout Sample, rows: Int) throws -> Table {
    let database = try Database(creatingIn: MemoryStorage(), options: .init())
    try database.write { transaction in
      var columns = types.map { Column("\($0)", $0, isOptional: sample.generator.chance(50) || $0 == .mixed) }
      columns.append(Column("friend", .link))
      let table = try transaction.createTable(TableSchema("T", columns: columns))
      let varieties = types.map { _ in [2, 9, 5_000][sample.generator.below(3)] }
      for row in 0..<rows {
        try table.insert { (new: inout NewRow) throws(StorageError) in
          for (position, type) in types.enumerated() {
            let isNull = columns[position].isOptional && sample.generator.chance(10)
            try new.set(position, isNull ? .null : sample.value(type, varieties[position]))
          }
          let hasFriend = row > 0 && sample.generator.chance(70)
          try new.set(types.count, hasFriend ? .link(UInt64(sample.generator.below(row))) : .null)
        }
      }
      // Some rows are removed, so that the keys have gaps.
      if sample.generator.chance(50) {
        for row in 0..<rows where sample.generator.chance(20) && row % 7 == 0 {
          try table.remove(UInt64(row))
        }
      }
    }
    return try #require(try database.snapshot().table("T"))
  }

  private static func path(_ sample: inout Sample) -> ColumnPath {
    let links = Array(repeating: types.count, count: sample.generator.chance(30) ? 1 : 0)
    return ColumnPath(links: links, column: sample.generator.below(types.count + 1))
  }

  @Test(arguments: Slow.seeds(3, slow: 40))
  func `sorts and distinct values in parts give the same result as for all rows at once`(seed: UInt64) throws
  {
    var sample = Sample(generator: SeededGenerator(seed: seed))
    let table = try Self.table(&sample, rows: Slow.count(1_500, slow: 6_000))
    let all = try table.rows(where: .always)
    for round in 0..<24 {
      let paths = (0..<1 + sample.generator.below(3)).map { _ in Self.path(&sample) }
      let keys = paths.map { SortKey($0, ascending: sample.generator.chance(50)) }
      let sources: [RowPlan.Source] = [
        .table, .rows(all.filter { _ in sample.generator.chance(80) }),
        .rows(all.shuffled(using: &sample.generator) + [1 << 40] + all.prefix(9)),
      ]
      let predicate: [Predicate] = [.always, .compare(ColumnPath(1), .greater, .int(0))]
      let steps: [[RowPlan.Step]] = [[.sort(keys)], [.distinct(paths)], [.sort(keys), .distinct(paths)]]
      let plan = RowPlan(
        table: table.schema.id, source: sources[round % 3], predicate: predicate[round / 3 % 2],
        steps: steps[sample.generator.below(3)])
      var search = RowSearch(plan, in: table)
      let expected = try search.rows()
      search.memory = SortMemory(rows: [1, 5, 64, 300][sample.generator.below(4)])
      #expect(try search.rows() == expected, "seed \(seed), \(search.memory): \(plan.steps)")
    }
  }

  /// Cancels a search when it has asked `count` times whether it is cancelled.
  private final class Cancelling: Sendable {
    let rest: Counter
    init(after count: Int) { rest = Counter(count) }
    var bounds: QueryBounds { QueryBounds(isCancelled: { self.rest.next() }) }
  }

  private final class Counter: Sendable {
    private let rest: Mutex<Int>
    init(_ count: Int) { rest = Mutex(count) }
    func next() -> Bool {
      rest.withLock { rest in
        rest -= 1
        return rest < 0
      }
    }
    var left: Int { rest.withLock { $0 } }
  }

  @Test func `sorts and distinct values end when they are cancelled or late`() throws {
    var sample = Sample(generator: SeededGenerator(seed: 5))
    let database = try Database(inMemory: "sorts")
    try database.write { transaction in
      let table = try transaction.createTable(
        TableSchema("T", columns: [Column("number", .int64), Column("text", .string)]))
      for _ in 0..<12_000 {
        try table.insert([
          "number": sample.value(.int64, 900), "text": .string(Self.stem + "\(sample.generator.below(900))"),
        ])
      }
    }
    let table = try #require(try database.snapshot().table("T"))
    let (number, text) = (ColumnPath(0), ColumnPath(1))
    let steps: [RowPlan.Step] = [
      .sort([SortKey(number)]), .sort([SortKey(text)]), .sort([SortKey(text), SortKey(number)]),
      .distinct([number]), .distinct([text, number]),
    ]
    for step in steps {
      for memory in [SortMemory.standard, SortMemory(rows: 3_000)] {
        // 12,000 rows stand in 24 clusters, so each walk asks at least once, after sixteen clusters.
        let counting = Cancelling(after: .max)
        var search = RowSearch(
          RowPlan(table: table.schema.id, steps: [step]), in: table, within: counting.bounds)
        search.memory = memory
        _ = try search.rows()
        let asked = Int.max - counting.rest.left
        #expect(asked >= 3, "\(step), \(memory)")
        // The search ends, whichever of its questions is answered with yes.
        for after in stride(from: 0, to: asked, by: max(1, asked / 5)) {
          search.bounds = Cancelling(after: after).bounds
          #expect(throws: StorageError.queryCancelled(path: "sorts"), "\(step), \(memory), after \(after)") {
            try search.rows()
          }
        }
        search.bounds = QueryBounds(deadline: .now + .milliseconds(1))
        #expect(throws: StorageError.queryDeadline(path: "sorts"), "\(step), \(memory)") {
          for _ in 0..<1_000 { _ = try search.rows() }
        }
      }
    }
  }
}
