import Foundation
import RealmQuery
import RealmStorage
import Synchronization
import RealmTestSupport
import Testing

@Suite struct BindingLimitTests {
  private let fixture: BindingFixture

  init() throws { fixture = try BindingFixture() }

  private func onSmallStack(_ body: @escaping @Sendable () -> Bool) -> Bool {
    let result = Mutex(false)
    let done = DispatchSemaphore(value: 0)
    let thread = Thread {
      let holds = body()
      result.withLock { $0 = holds }
      done.signal()
    }
    thread.stackSize = 512 << 10
    thread.start()
    done.wait()
    return result.withLock { $0 }
  }

  private func binds(_ text: String, table: UInt32 = 3) -> Bool {
    let names = fixture.names
    return onSmallStack {
      guard let syntax = try? QueryParser.rql(text) else { return false }
      return (try? QueryBinder(names, table: table, language: .rql).plan(syntax)) != nil
    }
  }

  @Test func `conditions nested as deep as the parser accepts are bound on a stack of 512 KiB`() {
    #expect(
      binds(
        String(repeating: "(age == 1 OR (age == 2 AND ", count: 5_000) + "age == 3"
          + String(repeating: "))", count: 5_000)))
    #expect(binds(String(repeating: "NOT ", count: 10_000) + "age == 1"))
    #expect(
      binds(
        String(repeating: "(1 - ", count: 10_000) + "age" + String(repeating: ")", count: 10_000) + " == 0"))
    #expect(binds("age IN {1" + String(repeating: ",1", count: 100_000) + "}"))
    #expect(binds("age == 1" + String(repeating: " OR age == 1", count: 50_000)))
  }

  @Test func `64 subqueries may be nested, and no more`() {
    func text(_ depth: Int) -> String {
      let pairs = (0..<depth).map { $0 % 2 == 0 ? "SUBQUERY(dogs, $d\($0), " : "SUBQUERY(people, $p\($0), " }
      return pairs.joined() + "age > 1" + String(repeating: ").@count >= 1", count: depth)
    }
    #expect(fixture.error(text(64), .rql) == nil)
    #expect(binds("TRUEPREDICATE"))
    #expect(fixture.error(text(65), .rql)?.message == "No more than 64 subqueries may stand in each other")
    #expect(fixture.error(text(10_000), .rql)?.kind == .invalidQuery)
  }

  @Test func `a path may have 64 steps, and no more`() throws {
    func text(_ count: Int) -> String {
      (0..<count - 1).map { $0 % 2 == 0 ? "dogs" : "people" }.joined(separator: ".") + ".age == 3"
    }
    #expect(fixture.error(text(64), .rql) == nil)
    #expect(try fixture.outcome(text(10), .rql) == "A C")
    #expect(fixture.error(text(65), .rql)?.message == "A path has no more than 64 steps")
  }
}
