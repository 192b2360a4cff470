import Foundation
import RealmStorage
import Synchronization
import RealmTestSupport
import Testing

/// Measures the private memory of this process again and again while `body` runs.
private final class MemoryWatch: Sendable {
  private let peak = Mutex(0)
  private let isOver = Mutex(false)

  /// The private memory in bytes, or 0 if the system does not tell.
  private static var own: Int {
    guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
      let line = status.split(separator: "\n").first(where: { $0.hasPrefix("RssAnon:") }),
      let kibibytes = line.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first
    else { return 0 }
    return (Int(kibibytes) ?? 0) << 10
  }

  /// Gives unused memory back to the system.
  private static func trim() {
    guard let function = dlsym(nil, "malloc_trim") else { return }
    _ = unsafeBitCast(function, to: (@convention(c) (Int) -> CInt).self)(0)
  }

  /// The most memory in use while `body` ran, less the memory in use before, and the result of `body`.
  static func growth<Result>(_ body: () throws -> Result) rethrows -> (bytes: Int, result: Result) {
    let watch = MemoryWatch()
    // Memory that was freed earlier is given back first. Otherwise `body` could use it without being noticed.
    trim()
    let before = own
    let thread = Thread {
      while !watch.isOver.withLock({ $0 }) {
        let now = own
        watch.peak.withLock { $0 = max($0, now) }
        usleep(500)
      }
    }
    thread.start()
    defer { watch.isOver.withLock { $0 = true } }
    let result = try body()
    return (watch.peak.withLock { $0 } - before, result)
  }
}

/// This test takes two minutes, and runs only if slow tests are asked for.
@Suite(.serialized, .enabled(if: Slow.isAsked)) struct SortMemoryTests {
  private static let rows = 10_000_000

  @Test func `sorts and distinct values of ten million rows take less than 64 MiB besides the result`() throws
  {
    #if os(Linux)
      let database = try Database(creatingIn: MemoryStorage(), options: .init())
      var generator = SeededGenerator(seed: 3)
      try database.write { transaction in
        let table = try transaction.createTable(
          TableSchema(
            "T", columns: [Column("number", .int64), Column("flag", .bool), Column("text", .string)]))
        for row in 0..<Self.rows {
          // Each number occurs once, in an order that looks random.
          let number = Int64(bitPattern: UInt64(row) &* 0x9e37_79b9_7f4a_7c15)
          let flag = generator.chance(50)
          let text = "person \(UInt32(truncatingIfNeeded: UInt64(row) &* 2_654_435_761))"
          _ = try table.insert { (new: inout NewRow) throws(StorageError) in
            try new.set(0, .int(number))
            try new.set(1, .bool(flag))
            try new.set(2, .string(text))
          }
        }
      }
      let table = try #require(try database.snapshot().table("T"))
      let (number, flag, text) = (ColumnPath(0), ColumnPath(1), ColumnPath(2))
      let half = RealmStorage.Predicate.compare(flag, .equal, .bool(true))
      let all = RealmStorage.Predicate.compare(number, .greaterOrEqual, .int(.min))
      let searches: [(String, RealmStorage.Predicate, [RowPlan.Step])] = [
        ("distinct texts", .always, [.distinct([text])]),
        ("sorted by a whole number", .always, [.sort([SortKey(number)])]),
        ("sorted by a text, descending", .always, [.sort([SortKey(text, ascending: false)])]),
        ("sorted by a truth value and a number", .always, [.sort([SortKey(flag), SortKey(number)])]),
        ("sorted by a truth value alone", .always, [.sort([SortKey(flag)])]),
        ("those of a condition sorted by a number", all, [.sort([SortKey(number)])]),
        ("half of them sorted by a text", half, [.sort([SortKey(text)])]),
        ("distinct whole numbers", .always, [.distinct([number])]),
        ("distinct numbers and texts", .always, [.distinct([number, text])]),
        ("distinct truth values", .always, [.distinct([flag])]),
      ]
      for (name, predicate, steps) in searches {
        let search = RowSearch(
          RowPlan(table: table.schema.id, predicate: predicate, steps: steps), in: table)
        let clock = ContinuousClock()
        let start = clock.now
        let (bytes, count) = try MemoryWatch.growth { try search.rows().count }
        let seconds = start.duration(to: clock.now) / .seconds(1)
        let beside = bytes - 8 * max(count, name.hasPrefix("distinct") ? Self.rows : count)
        print("\(name): \(beside >> 20) MiB beside \(count) rows, \(seconds) s")
        #expect(beside < 64 << 20, "\(name)")
      }
    #endif
  }
}
