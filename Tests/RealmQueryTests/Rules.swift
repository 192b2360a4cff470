import RealmQuery
import RealmStorage

/// What the rules say of texts that no row of the table has.
let rqlRules: [(text: String, outcome: Outcome)] = [
  // Words and case.
  ("a=1AND b=2", .reads), ("NOTx == 1", .reads), ("NOTx 1", .syntax), ("a == 1 And b == 2", .reads),
  ("a In {1}", .syntax), ("a in {1}", .reads), ("Not a == 1", .syntax), ("any a.b == 1", .reads),
  ("Any a.b == 1", .syntax), ("SOME a.b == 1", .reads), ("a.@COUNT == 1", .syntax),
  ("a.@Count == 1", .syntax), ("a == UUID(00000000-0000-0000-0000-000000000000)", .syntax),
  // Names.
  ("in == 1 and text == 2 and sort == 3 and limit == 4 and bin == 5", .reads),
  ("first.last.size == 1", .reads),
  ("true == 1 and null == 2", .reads), ("all == 1", .syntax), ("obj == 1", .syntax), ("a.not == 1", .syntax),
  ("nan == 1", .reads), ("O1 == 1 or L1:2 == 1 or $0 == 1", .reads), ("a.O1 == 1", .syntax),
  ("my\\ name == 1", .reads), ("my\\xname == 1", .syntax), ("Élan == 1", .reads), ("m.0 == 1", .syntax),
  ("m['0'] == 1", .reads), ("m[\"0\"] == 1", .reads), ("a # b", .syntax), ("a & b", .syntax),
  ("a == 1 // why", .syntax),
  // Numbers.
  ("a == 1.", .reads), ("a == .5", .reads), ("a == 1.5E-3f", .reads), ("a == 5f", .reads),
  ("a+5 == 1", .syntax), ("a - 5 == 1", .reads), ("a == -0x10", .syntax), ("a == 08", .syntax),
  ("a == 99999999999999999999", .reads), ("a == -inf or a == +NaN or a == Infinity", .reads),
  // Strings and bytes.
  ("a == 'x\ny'", .reads), (#"a == 'a\'b'"#, .reads), (#"a == 'a\xb'"#, .syntax), (#"a == '\u12aF'"#, .reads),
  (#"a == '\u12'"#, .syntax), ("a == 'x", .syntax), (#"a == B64"YWJj""#, .reads),
  (#"a == B64"YWJ""#, .syntax),
  (#"a == B64"/w==""#, .syntax), (#"a == bin(B64"/w==")"#, .reads), ("a == BINARY('x')", .reads),
  ("a == bin(5)", .syntax),
  // Dates and ids.
  ("a == T-5:-7", .reads), ("a == T0:-7", .reads), ("a == T5", .reads), ("a == T1:1000000000", .syntax),
  ("a == 2020-2-30@1:2:3:4", .reads), ("a == 2020-02-03T10:20", .syntax),
  ("a == 1899-1-1@0:0:0", .invalidQuery),
  ("a == 2020-13-1@0:0:0", .invalidQuery), ("a == oid(0123456789abcdefABCDEF01)", .reads),
  ("a == oid(01)", .syntax),
  ("a == uuid(00000000-0000-0000-0000-00000000000g)", .syntax), ("a == obj('D', $0)", .reads),
  ("a == obj(D, 1)", .syntax), ("a == O99999999999999999999", .syntax),
  // Tests.
  ("a == b == c", .syntax), ("a", .syntax), ("a ==", .syntax), ("== a", .syntax), ("(a == 1", .syntax),
  ("a == 1)", .syntax), ("()", .syntax), ("a TEXT[c] 'x'", .syntax), ("a BETWEEN[c] {1, 2}", .syntax),
  ("a CONTAINS b + 1", .syntax), ("a LIKE ('x')", .syntax), ("a IN[c] {'x'}", .reads),
  ("a == [1, 2]", .syntax),
  ("a IN {b}", .syntax), ("a IN {}", .reads), ("a IN {1,}", .syntax), ("a IN {ANY $0, 1}", .reads),
  ("a + (b == 1) > 2", .syntax), ("(a == 1) == 2", .syntax), ("((a) == (b + 1))", .reads),
  ("NOT a", .syntax), ("a AND b == 1", .syntax), ("a == NOT b == 1", .syntax), ("NOT NOT !a == 1", .reads),
  ("TRUEPREDICATE == 1", .syntax), ("TRUEPREDICATE AND (FALSEPREDICATE)", .reads),
  // Quantifiers and paths.
  ("ANY (a) == 1", .syntax), ("ANY 5 == a", .syntax), ("ANY SUBQUERY(a, $x, b == 1).@count == 1", .syntax),
  ("a == ALL b.c", .reads), ("ANY a.@count == 1", .reads), ("a.@count.b == 1", .syntax),
  ("a.@max.b.c == 1", .syntax), ("a.@max.b == 1", .reads), ("a[SIZE].b == 1", .syntax),
  ("a[-1] == 1", .syntax),
  ("a[c] == 1", .syntax), ("a[$0][FIRST]['x'][*].b == 1", .reads), ("a[1.5] == 1", .syntax),
  ("a.@links.B.c.d == 1", .reads), ("@links.B == 1", .invalidQuery), ("$K0.@max.a == 1", .reads),
  ("$K0.a == 1", .invalidQuery), ("$K0[0] == 1", .invalidQuery), ("a.@foo == 1", .syntax),
  // Subqueries.
  ("SUBQUERY(a, $x, b == 1) == 1", .syntax), ("SUBQUERY(a, $x, b == 1).@size == 1", .reads),
  ("SUBQUERY(a, $, b == 1).@count == 1", .syntax), ("SUBQUERY(a, $x, b).@count == 1", .syntax),
  ("SUBQUERY(a, $x, SUBQUERY($x.b, $y, $y.c == $x.d).@count > 1).@count > 1", .reads),
  ("SUBQUERY(a, $x, b == 1", .syntax), ("SUBQUERY(a.@count, $x, b == 1).@count > 1", .syntax),
  // Shapes.
  ("a GEOWITHIN geoPolygon({[0,0],[1,0],[1,1],[0,0]}, {[0.1,0.1],[0.2,0.1],[0.1,0.2],[0.1,0.1]})", .reads),
  ("a GEOWITHIN geoCircle([-1.0, $0, 8.5], $1)", .reads), ("a GEOWITHIN $0", .reads),
  ("a GEOWITHIN b", .syntax),
  ("a GEOWITHIN geoBox([0,0],[1,1,2])", .syntax), ("5 GEOWITHIN $0", .syntax), ("(a) GEOWITHIN $0", .syntax),
  ("a GEOWITHIN geoBox([inf,0],[1,1])", .syntax),
  // Descriptors.
  ("SORT(a ASC)", .syntax), ("a == 1 SORT(a asc, b.c['k'] Descending) DISTINCT(a, b) LIMIT(5)", .reads),
  ("a == 1 LIMIT(-1)", .syntax), ("a == 1 SORT()", .syntax), ("a == 1 SORT($K0 ASC)", .invalidQuery),
  ("a == 1 SORT(a.@count ASC)", .syntax), ("a == 1 LIMIT(5) AND b == 1", .syntax),
  ("a == 1 DISTINCT(ANY a)", .syntax),
]

/// What the rules say of formats that no row of the table has.
let formatRules: [(text: String, arguments: [QueryArgument], outcome: Outcome)] = [
  ("", [], .syntax), ("a = 1", [], .reads), ("a => 1 Or nOt b =< 2 && c <> 3 || !d == 1", [], .reads),
  ("a-5 == 1", [], .reads), ("a -5 == 1", [], .reads), ("a == -5", [], .reads), ("a == - 5.5", [], .reads),
  ("a == -b", [], .syntax), ("a == 0xFF", [], .reads), ("a == 99999999999999999999", [], .syntax),
  ("a == -9223372036854775808", [], .reads), ("a == 1e3", [], .reads),
  (#"a == 'x\n\u00e9\'\q'"#, [], .reads), (#"a == '\ud83d\ude00'"#, [], .reads),
  (#"a == '\ud83d'"#, [], .syntax),
  (#"a == '\u12'"#, [], .syntax), ("a == 'x", [], .syntax), ("a == yes OR a == NO", [], .reads),
  ("#size == 1 AND dog.size == 2 AND dog.#any == 3", [], .reads), ("size == 1", [], .syntax),
  ("a ==[CDnl] 'x'", [], .reads), ("a ==[x] 'x'", [], .syntax), ("a ==[c 'x'", [], .syntax),
  ("a == %@", [], .invalidArgument),
  ("a == %d AND b == %lld OR c == %5", [.object(token: 1), .object(token: 2)], .syntax),
  ("a == %i OR b == %u OR c == %lf", [.object(token: 1), .object(token: 2), .object(token: 3)], .reads),
  ("a == %%", [], .syntax), ("%K.%K == 1", [.keyPath("a.b"), .keyPath("@count")], .reads),
  ("%K == 1", [.value(.int(1))], .invalidArgument), ("%K == 1", [.keyPath("a..b")], .invalidQuery),
  ("%K == 1", [.keyPath("")], .invalidQuery), ("a..b == 1", [], .syntax), ("a.5 == 1", [], .syntax),
  ("a[FIRST] == 1 OR a[last] == 1 OR a[SIZE] == 1 OR a[-1] == 1 OR a[b.c] == 1 OR a[1.5] == 1", [], .reads),
  ("a[%@]['k'] == 1", [.object(token: 1)], .reads), ("a[%@] == 1", [], .invalidArgument),
  ("a[{1}] == 1", [], .syntax), ("a[b[c]] == 1", [], .syntax), ("a[1 == 1", [], .syntax),
  ("a == ANY b", [], .syntax), ("ANY (a == 1)", [], .syntax), ("ANY a", [], .syntax),
  ("ANY a + 1 == 2", [], .reads),
  ("a IN {1, b, %@, 'x'}", [.object(token: 1)], .reads), ("a IN {{1}}", [], .invalidQuery),
  ("a IN {1", [], .syntax),
  ("a IN (1, 2)", [], .syntax), ("SELF.a == 1 AND SELF IN %@", [.list([])], .reads),
  ("SUBQUERY(a, x, b == 1).@count == 1", [], .syntax), ("SUBQUERY(a, $x, b).@count == 1", [], .syntax),
  ("SUBQUERY(a, $x, $x.b == 1).@size == 1", [], .syntax),
  ("subquery($y.a, $x, $x IN %@).@count > 1", [.list([])], .reads),
  ("CAST(a, 'x') == 1", [], .invalidQuery), ("now() == a", [], .invalidQuery), ("a == 1 b == 2", [], .syntax),
  ("a.@foo == 1 AND @count == 1", [], .reads), ("a == $x", [], .reads), ("a == 1 SORT(a ASC)", [], .syntax),
  ("(a + 1) * 2 == b", [], .reads), ("a == #", [], .syntax), ("a == 1 AND", [], .syntax),
]
