import RealmQuery
import RealmStorage
import RealmTestSupport
import Testing

@Suite struct ErrorTests {
  private static func error(_ text: String) -> QueryError? {
    do throws(QueryError) {
      _ = try QueryParser.rql(text)
      return nil
    } catch { return error }
  }

  @Test func `an error shows the line with a caret under the place, the expected text and the nearest word`()
  {
    #expect(
      Self.error("age > 3\nAND name CONTIANS 'é'")?.description == """
        Syntax error: `CONTIANS` can't follow a value.
          AND name CONTIANS 'é'
                   ^~~~~~~~
        Expected: an operator such as ==, <, IN or CONTAINS, AND, OR.
        Did you mean `CONTAINS`?
        """)
    #expect(
      Self.error("'é😀' == \t age IN")?.description == """
        Syntax error: Tests can't be chained: join two tests by AND.
          'é😀' ==   age IN
               ^~~~~~~~~~~
        Expected: AND, OR.
        """)
  }

  @Test func `an error at the end of the text points to the place after it`() throws {
    let error = try #require(Self.error("age >"))
    #expect(error.range == 5..<5)
    #expect(error.message == "A value is needed here, but the text ends")
    #expect(error.excerpt?.column == 5)
  }

  @Test(arguments: [
    ("a == 1 adn b == 2", "AND"), ("a BEGINWITH 'x'", "BEGINSWITH"), ("a == 1 SROT(a ASC)", "SORT"),
    ("a == 1 SORT(a ACS)", "ASC"), ("a[FRIST] == 1", "FIRST"), ("a.@cuont == 1", "@count"),
    ("a GEOWITHIN geoBoxx([1,1],[2,2])", "geoBox"), ("a & b", "&&"), ("a bteween {1, 2}", "BETWEEN"),
  ])
  func `a misspelt word has a suggestion`(text: String, suggestion: String) {
    #expect(Self.error(text)?.suggestion == suggestion)
  }

  @Test func `a word without a similar word has no suggestion`() {
    #expect(Self.error("a quux 'x'")?.suggestion == nil)
    #expect(Misspelling.nearest(to: "x", among: ["y"]) == nil)
    #expect(Misspelling.nearest(to: "naem", among: ["age", "name", "nick"]) == "name")
    #expect(Misspelling.nearest(to: String(repeating: "a", count: 100_000), among: ["a"]) == nil)
  }

  @Test func `an error in a long line shows the part around the place`() throws {
    let text =
      String(repeating: "é == 1 OR ", count: 1_000) + "a ?= 2" + String(repeating: " OR ü == 1", count: 1_000)
    let error = try #require(Self.error(text))
    let excerpt = try #require(error.excerpt)
    #expect(excerpt.line.hasPrefix("…") && excerpt.line.hasSuffix("…"))
    #expect(excerpt.line.count < 110)
    #expect(Array(excerpt.line)[excerpt.column] == "?")
    #expect(!excerpt.line.contains("\u{fffd}"))
  }

  @Test func `an argument that is missing or not a key path is an error about the argument`() {
    let missing = #expect(throws: QueryError.self) {
      try QueryParser.predicateFormat("a == %@ AND b == %@", arguments: [.value(.int(1))])
    }
    #expect(missing?.kind == .invalidArgument)
    #expect(missing?.range == 17..<19)
    let other = #expect(throws: QueryError.self) {
      try QueryParser.predicateFormat("%K == 1", arguments: [.object(token: 1)])
    }
    #expect(other?.kind == .invalidArgument)
  }

  /// Texts that cover most of the grammar.
  private static let seeds =
    rqlConformance.map(\.text) + rqlRules.map(\.text) + formatConformance.map(\.text)
    + formatRules.map(\.text)

  @Test func `damaged texts never trap, and errors are at a place in the text`() {
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    let arguments: [QueryArgument] = [.value(.string("a.b")), .keyPath("#any"), .list([])]
    for round in 0..<20_000 {
      let text = Self.damaged(Self.seeds[random.below(Self.seeds.count)], &random)
      for isFormat in [false, true] {
        do throws(QueryError) {
          let syntax =
            isFormat
            ? try QueryParser.predicateFormat(text, arguments: arguments) : try QueryParser.rql(text)
          if !isFormat {
            #expect((try? QueryPrinter.rql(syntax)) != nil, "seed \(seed), round \(round): \(text)")
          }
        } catch {
          let isInside = error.range.lowerBound >= 0 && error.range.upperBound <= text.utf8.count
          #expect(isInside, "seed \(seed), round \(round): \(text)")
          #expect(!error.description.isEmpty)
        }
      }
    }
  }

  private static func damaged(_ text: String, _ random: inout SeededGenerator) -> String {
    var bytes = Array(text.utf8)
    for _ in 0...random.below(4) {
      let place = random.below(bytes.count + 1)
      switch random.below(6) {
      case 0 where place < bytes.count: bytes.remove(at: place)
      case 1: bytes.insert(UInt8(truncatingIfNeeded: random.next()), at: place)
      case 2: bytes.insert(contentsOf: pieces[random.below(pieces.count)].utf8, at: place)
      case 3: bytes.removeLast(random.below(bytes.count - place + 1))
      case 4: bytes.insert(contentsOf: seeds[random.below(seeds.count)].utf8, at: place)
      default:
        if place < bytes.count { bytes[place] ^= 1 << UInt8(random.below(8)) }
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static let pieces = [
    "(", ")", "[", "]", "{", "}", "'", "\"", "\\", ".", "@", "$", "$0", "$K0", "%@", "%K", "%", "B64\"",
    "uuid(",
    "NOT ", " AND ", " OR ", "ANY ", "SUBQUERY(a, $x, ", ").@count", " == ", " + ", "-", "0x", "1e", "T1:",
    "1-1-1@1:1:1",
    "\0", "é", "@links.", "[c]", " SORT(", "LIMIT(1)", "#",
  ]
}
