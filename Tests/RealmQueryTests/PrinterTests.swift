import RealmQuery
import RealmStorage
import RealmTestSupport
import Testing

@Suite struct PrinterTests {
  @Test func `a printed tree parses to an equal tree`() throws {
    let seed = UInt64.random(in: 0 ... .max)
    var random = RandomSyntax(seed: seed)
    for round in 0..<4_000 {
      let syntax = random.syntax()
      do {
        let text = try QueryPrinter.rql(syntax)
        #expect(try QueryParser.rql(text) == syntax, "seed \(seed), round \(round): \(text)")
      } catch {
        Issue.record("seed \(seed), round \(round): \(error) \(syntax)")
        return
      }
    }
  }

  @Test(arguments: [
    ("a=1", "a == 1"), ("(a = 1)", "a == 1"), ("((a)) <> (2)", "a != 2"),
    ("a == 1 and (b == 2 and (c == 3 and d == 4))", "a == 1 AND b == 2 AND c == 3 AND d == 4"),
    ("a == 1 or b == 2 and not c == 3 or d == 4", "a == 1 OR b == 2 AND NOT c == 3 OR d == 4"),
    ("(a == 1 || b == 2) && c == 3", "(a == 1 OR b == 2) AND c == 3"),
    ("!(a == 1 && b == 2)", "NOT (a == 1 AND b == 2)"), ("!(a == 1) && b == 2", "NOT a == 1 AND b == 2"),
    ("1 - 2 - 3 * (4 / 5) * 6 == (1 - 2) - (3 - 4)", "1 - 2 - 3 * (4 / 5) * 6 == (1 - 2) - (3 - 4)"),
    ("(1 * 2) + (3 + 4) == 0", "1 * 2 + (3 + 4) == 0"), ("a - 2 - 1 > -1", "a - 2 - 1 > -1"),
    ("SOME a.b=<ALL {1,2}", "ANY a.b <= ALL {1, 2}"), ("a.@size == 010", "a.@count == 8"),
    ("a == 0x10 or a == -99999999999999999999", "a == 16 OR a == -9223372036854775808"),
    ("a == 1.50 or a == 1.f or a == +Infinity", "a == 1.50 OR a == 1.f OR a == +inf"),
    ("a == 1970-01-02@00:00:01:5", "a == T86401:5"), ("a == 1969-12-31T23:59:59:5", "a == T-1:-5"),
    ("a == 2000-03-01@0:0:0", "a == T951868800:0"), ("a == 1900-01-01@0:0:0", "a == T-2208988800:0"),
    (#"a == "it's" or a == B64"JyI=""#, #"a == "it's" OR a == B64"JyI=""#), (#"a == 'a\n'"#, #"a == 'a\n'"#),
    ("a == bin('abc')", #"a == binary(B64"YWJj")"#),
    (
      "a == UUID and a == uuid(0123ABCD-0000-0000-0000-000000000001)",
      "a == UUID AND a == uuid(0123abcd-0000-0000-0000-000000000001)"
    ),
    ("@links.A.b.c[first].@max.d == $07", "@links.A.b.c[FIRST].@max.d == $7"),
    (
      "subquery(a, $x, $x.b==1).@size>0 sort(a asc) limit(3) distinct(b, c)",
      "SUBQUERY(a, $x, $x.b == 1).@count > 0 SORT(a ASC) LIMIT(3) DISTINCT(b, c)"
    ),
    ("a =[c1] 'x' or a in[c1] {'y'}", "a ==[c1] 'x' OR a IN[c1] {'y'}"),
    ("a geowithin geobox([1, 2.50], [$0, .5, 3.0])", "a GEOWITHIN geoBox([1.0, 2.5], [$0, 0.5, 3.0])"),
  ])
  func `a text of Realm's query language has one printed form`(text: String, printed: String) throws {
    #expect(try QueryPrinter.rql(QueryParser.rql(text)) == printed)
  }

  @Test(arguments: [
    ("NOT age == %@ or a => %d", "NOT age == $0 OR a >= $1"),
    ("a IN {%@, 'x', NULL}", "a IN {$0, 'x', NULL}"),
    ("ANY m.@allKeys BEGINSWITH[cn] 'it\\'s'", #"ANY m.@keys BEGINSWITH[c] "it's""#),
    ("a LIKE[nc1] 'x*'", "a LIKE[c1] 'x*'"),
    ("#size-1 == - 5 && YES = b.first", "size - 1 == -5 AND TRUE == b.first"),
    ("subquery(a, $x, $x.b > %@).@count == 0xF", "SUBQUERY(a, $x, $x.b > $0).@count == 15"),
    ("m[%@][%K] == .5", "m[$0][*] == .5"), ("dogs.@avg.age > 1", "dogs.@avg.age > 1"),
  ])
  func `a predicate format is printed in Realm's query language`(text: String, printed: String) throws {
    let arguments: [QueryArgument] = [.value(.int(1)), .keyPath("#any")]
    #expect(try QueryPrinter.rql(QueryParser.predicateFormat(text, arguments: arguments)) == printed)
  }

  @Test func `a key path argument replaces its specifier`() throws {
    let format = try QueryParser.predicateFormat(
      "%K > %@ AND ANY %K.c == 1", arguments: [.keyPath("dog.age"), .value(.int(5)), .value(.string("a.b"))])
    #expect(try format == QueryParser.rql("dog.age > $1 and any a.b.c == 1"))
  }

  @Test(arguments: [
    ("a ==[d] 'x'", "[d]"), ("a ==[c1d] 'x'", "[d]"), ("a MATCHES 'x'", "MATCHES"), ("SELF == 1", "SELF"),
    ("a[b] == 1", "computed"),
    ("a.@foo == 1", "@foo"), ("SUBQUERY(a, $x, b == 1) == 1", "number of objects"), ("a IN {b}", "can't say"),
    ("a BETWEEN %@", "can't say"), ("a <[c] 'x'", "can't say"), ("a[-1] == 1", "can't say"),
    ("dog.not == 1", "the name"), ("a.@sum.b.c == 1", "can't say"), ("O1 == 1", "the name"),
  ])
  func `a condition that Realm's query language lacks is an error that names it`(text: String, named: String)
    throws
  {
    let syntax = try QueryParser.predicateFormat(text, arguments: [.list([])])
    let error = #expect(throws: QueryError.self) { try QueryPrinter.rql(syntax) }
    #expect(error?.kind == .invalidQuery)
    #expect(error?.message.contains(named) == true, "\(error?.message ?? "")")
  }

  @Test func `trees are equal if they say the same, wherever their nodes are in the text`() throws {
    let tree = try QueryParser.rql("a == 1 and b == 'é'")
    #expect(try tree == QueryParser.rql("  (a) = 1 AND\nb == \"é\""))
    for text in [
      "a == 1 or b == 'é'", "a == 1 and b == 'e\u{301}'", "b == 'é' and a == 1", "a == 1.0 and b == 'é'",
    ] {
      #expect(try tree != QueryParser.rql(text), "\(text)")
    }
    #expect(try tree != QueryParser.rql("a == 1 and b == 'é' limit(1)"))
  }

  @Test func `each node knows its place, and children come before their parents`() throws {
    let text = "ANY dogs.age > 5 OR NOT (name ==[c] 'x')"
    let syntax = try QueryParser.rql(text)
    let places = syntax.nodes.map { node in
      String(decoding: Array(text.utf8)[node.range.lowerBound..<node.range.upperBound], as: UTF8.self)
    }
    #expect(
      places == [
        "ANY dogs.age", "5", "ANY dogs.age > 5", "name", "'x'", "name ==[c] 'x'", "NOT (name ==[c] 'x')",
        text,
      ])
    for (index, node) in syntax.nodes.enumerated() {
      #expect(node.kind.children.allSatisfy { $0 < index })
    }
    #expect(syntax.root == 7)
  }
}
