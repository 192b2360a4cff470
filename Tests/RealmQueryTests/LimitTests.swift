import Foundation
import RealmQuery
import Synchronization
import Testing

@Suite struct LimitTests {
  /// Runs `body` on a thread with a small stack.
  private static func onSmallStack(_ body: @escaping @Sendable () -> Bool) -> Bool {
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

  /// Conditions that are nested as deep as the parser accepts.
  private static let deepTexts: [String] = {
    let alternating =
      String(repeating: "(a == 1 OR (b == 2 AND ", count: 5_000) + "c == 3"
      + String(repeating: "))", count: 5_000)
    let nots = String(repeating: "NOT ", count: 10_000) + "a == 1"
    let arithmetic =
      String(repeating: "(1 - ", count: 10_000) + "1" + String(repeating: ")", count: 10_000) + " == 0"
    let subqueries =
      String(repeating: "SUBQUERY(a, $x, ", count: 10_000) + "b == 1"
      + String(repeating: ").@count == 1", count: 10_000)
    return [alternating, nots, arithmetic, subqueries]
  }()

  @Test func `conditions nested up to the limit are read, printed, compared and freed on a stack of 512 KiB`()
  {
    for text in Self.deepTexts {
      let isEqual = Self.onSmallStack {
        guard let syntax = try? QueryParser.rql(text), let printed = try? QueryPrinter.rql(syntax),
          let again = try? QueryParser.predicateFormat(text)
        else { return false }
        return syntax == again && !printed.isEmpty
      }
      #expect(isEqual, "\(text.prefix(40))")
    }
  }

  @Test(arguments: ["(", "NOT ", "!", "SUBQUERY(a, $x, "])
  func `nesting deeper than the limit is an error that says so`(opening: String) {
    let text = String(repeating: opening, count: 10_001) + "a == 1"
    for language in Language.allCases {
      let error = #expect(throws: QueryError.self) { try language.read(text) }
      #expect(error?.kind == .syntax)
      #expect(error?.message.contains("10000") == true)
    }
  }

  @Test(arguments: ["(a == 1)", "NOT a == 1", "SUBQUERY(a, $x, b == 1).@count == 1"])
  func `closed parts of a text do not count for the limit`(part: String) throws {
    let text = Array(repeating: part, count: 20_000).joined(separator: " OR ")
    let syntax = try QueryParser.rql(text)
    #expect(syntax.nodes[syntax.root].kind.children.count == 20_000)
    #expect(try QueryParser.predicateFormat(text) == syntax)
  }

  @Test(arguments: [
    "(", ")", "[", "{", "()", "({[", "a[", "a[b[", "{{", "'", "NOT(", "SUBQUERY(", "1-1-", "@", "$", "%",
    "a.",
  ])
  func `a MiB of brackets, quotes and halves of words is an error`(piece: String) {
    let text = String(repeating: piece, count: (1 << 20) / piece.utf8.count)
    for language in Language.allCases {
      let error = #expect(throws: QueryError.self) { try language.read(text) }
      #expect((error?.description.utf8.count ?? 0) < 2_000)
      #expect((error?.range.upperBound ?? .max) <= text.utf8.count)
    }
  }

  @Test func `a text of more than a MiB is refused`() throws {
    let fits = "a == 1" + String(repeating: " ", count: (1 << 20) - 6)
    _ = try QueryParser.rql(fits)
    _ = try QueryParser.predicateFormat(fits)
    #expect(throws: QueryError.self) { try QueryParser.rql(fits + " ") }
    #expect(throws: QueryError.self) { try QueryParser.predicateFormat(fits + " ") }
  }

  @Test(arguments: ["OR", "AND"])
  func `a hundred thousand conditions become one flat join, however they are bracketed`(word: String) throws {
    let count = 100_000
    let flat = (0..<count).map { _ in "a=1" }.joined(separator: " \(word) ")
    let syntax = try QueryParser.rql(flat)
    #expect(syntax.nodes.count == 3 * count + 1)
    #expect(syntax.nodes[syntax.root].kind.children.count == count)
    #expect(try QueryParser.predicateFormat(flat) == syntax)

    let nested = 9_000
    let left =
      String(repeating: "(", count: nested) + "a=1" + String(repeating: " \(word) a=1)", count: nested)
    let right =
      String(repeating: "(a=1 \(word) ", count: nested) + "a=1" + String(repeating: ")", count: nested)
    for text in [left, right] {
      let syntax = try QueryParser.rql(text)
      #expect(syntax.nodes.count == 3 * (nested + 1) + 1)
    }
  }

  @Test func `the number of nodes of a long sum and of a long list is proportional to the text`() throws {
    for count in [1_000, 100_000] {
      let sum = "a == 1" + String(repeating: " + 1", count: count)
      #expect(try QueryParser.rql(sum).nodes.count == count + 4)
      let list = "a IN {1" + String(repeating: ",1", count: count) + "}"
      #expect(try QueryParser.rql(list).nodes.count == count + 4)
      #expect(try QueryParser.predicateFormat(list).nodes.count == count + 4)
    }
  }
}

/// The two query languages.
private enum Language: CaseIterable {
  case rql, format

  func read(_ text: String) throws(QueryError) -> QuerySyntax {
    switch self {
    case .rql: try QueryParser.rql(text)
    case .format: try QueryParser.predicateFormat(text)
    }
  }
}
