import Foundation
import RealmStorage
import RealmTestSupport
import Testing

private typealias Predicate = RealmStorage.Predicate

/// Predicates of many parts and deeply nested predicates run on a small stack, which has no room for one call per part.
@Suite struct DeepPredicateTests {
  private static func table() throws -> (Database, Table) {
    let database = try Database(creatingIn: SimulatedDisk(), options: .init())
    try database.write { transaction in
      let table = try transaction.createTable(
        TableSchema(
          "Numbers",
          columns: [Column("a", .int64), Column("b", .int64, index: .plain), Column("next", .link)]))
      for number in 0..<20 {
        try table.insert([
          "a": .int(Int64(number)), "b": .int(Int64(number % 3)),
          "next": number == 0 ? .null : .link(UInt64(number - 1)),
        ])
      }
    }
    return (database, try #require(try database.snapshot().table("Numbers")))
  }

  private static func condition(_ column: Int, _ comparison: Comparison, _ number: Int) -> Predicate {
    .compare(ColumnPath(column), comparison, .int(Int64(number)))
  }

  /// Runs `body` on a stack of 512 KiB.
  private func onSmallStack(_ body: @escaping @Sendable () throws -> Void) throws {
    final class Outcome: @unchecked Sendable { var error: (any Error)? }
    let (outcome, done) = (Outcome(), DispatchSemaphore(value: 0))
    let thread = Thread {
      do { try body() } catch { outcome.error = error }
      done.signal()
    }
    thread.stackSize = 512 << 10
    thread.start()
    done.wait()
    if let error = outcome.error { throw error }
  }

  private static let count = 10_000

  @Test func `conditions that are nested left, nested right or in one list find the same rows`() throws {
    try onSmallStack {
      let (_, table) = try Self.table()
      var (left, right) = (Self.condition(0, .equal, 3), Self.condition(0, .equal, 3))
      var all: [Predicate] = [left]
      for number in 0..<Self.count {
        let one = Self.condition(0, .equal, 100 + number)
        left = .or([left, one])
        right = .or([one, right])
        all.append(one)
      }
      for predicate in [left, right, .or(all)] {
        #expect(try table.rows(where: predicate) == [3] && table.count(where: predicate) == 1)
        #expect(try table.rows(where: .not(predicate)).count == 19)
        #expect(try table.rows([3, 4], where: predicate) == [3])
      }
      var both = Self.condition(1, .equal, 1)
      for number in 0..<Self.count { both = .and([both, Self.condition(0, .less, 10 + number)]) }
      #expect(try table.rows(where: both) == [1, 4, 7])
    }
  }

  @Test func `alternating and, or and not are tested to any depth`() throws {
    try onSmallStack {
      let (_, table) = try Self.table()
      var (deep, negated) = (Self.condition(0, .equal, 3), Self.condition(0, .equal, 3))
      for level in 0..<Self.count {
        deep =
          level % 2 == 0
          ? .or([deep, Self.condition(0, .equal, 4)]) : .and([Self.condition(0, .less, 9), deep])
        negated = .not(negated)
      }
      #expect(try table.rows(where: deep) == [3, 4])
      #expect(try table.rows(where: negated) == [3])
      let other = Predicate.and([deep, negated])
      #expect(other == .and([deep, negated]) && other != .or([deep, negated]))
      #expect(Set([deep, deep, negated]).count == 2)
      // Some parts decide alone and some lists are empty, at any depth.
      var constant = Predicate.never
      for level in 0..<Self.count {
        constant = level % 2 == 0 ? .or([constant, .and([])]) : .and([constant])
      }
      #expect(try table.rows(where: constant).count == 20 && table.count(where: .not(constant)) == 0)
    }
  }

  @Test func `random nested predicates find the rows that plain evaluation finds`() throws {
    let (_, table) = try Self.table()
    for seed in 0..<20 as Range<UInt64> {
      var generator = SeededGenerator(seed: seed)
      func make(_ depth: Int) -> (Predicate, (Int) -> Bool) {
        if depth == 0 || generator.chance(20) {
          let number = generator.below(20)
          return generator.chance(50)
            ? (Self.condition(0, .less, number), { $0 < number })
            : (Self.condition(1, .equal, number % 4), { $0 % 3 == number % 4 })
        }
        if generator.chance(25) {
          let (part, holds) = make(depth - 1)
          return (.not(part), { !holds($0) })
        }
        let parts = (0..<generator.below(4)).map { _ in make(depth - 1) }
        return generator.chance(50)
          ? (.and(parts.map(\.0)), { row in parts.allSatisfy { $0.1(row) } })
          : (.or(parts.map(\.0)), { row in parts.contains { $0.1(row) } })
      }
      let (predicate, holds) = make(7)
      #expect(try table.rows(where: predicate) == (0..<20).filter(holds).map { UInt64($0) }, "seed \(seed)")
    }
  }

  @Test func `a path may have as many links as the limit allows`() throws {
    try onSmallStack {
      let (_, table) = try Self.table()
      let links = Array(repeating: 2, count: ColumnPath.maximumLinks)
      let path = ColumnPath(links: links, column: 0)
      #expect(try table.rows(where: .compare(path, .equal, .null)).count == 20)
      let short = ColumnPath(links: Array(repeating: 2, count: 15), column: 0)
      #expect(try table.rows(where: .compare(short, .equal, .int(2))) == [17])
      #expect(try table.sorted(nil, by: [SortKey(short, ascending: false)]).last == 15)
      #expect(try table.sorted(nil, by: [SortKey(path)]) == Array(0..<20))
    }
  }
}
