import RealmServer
import RealmStorage
import RealmTestSupport
import Testing

/// Filters that the server makes from predicates.
@Suite struct FieldFilterTests {
  static let fields = ["i", "d", "f", "s", "b", "m", "t", "u", "e", "n", "l"]
  static let types: [String: ColumnType] = [
    "i": .int64, "d": .double, "f": .float, "s": .string, "b": .bool, "m": .mixed, "t": .date, "u": .uuid,
    "e": .decimal128, "l": .link,
  ]
  static let asking = FieldFilter.Asking(
    user: "anna", partition: .string("red"),
    data: [
      "roles": [.string("admin"), .string("editor")], "custom_data.team": [.int(3)], "custom_data.teams": [],
      "custom_data.none": [.int(4)],
    ])

  static func parse(
    _ text: String, _ purpose: FieldFilter.Purpose = .rule
  ) throws(FilterProblem) -> FieldFilter {
    try FieldFilter.parse(text, of: "Thing", fields: fields, purpose: purpose) { types[$0] }
  }

  /// True if the filter matches an object that has some values, and null in all other fields.
  private static func matches(
    _ filter: FieldFilter, _ object: [String: Value], _ asking: FieldFilter.Asking = asking
  ) -> Bool {
    filter.matches(fields.map { object[$0] ?? .null }, of: fields, asking)
  }

  private static func problem(_ text: String, _ purpose: FieldFilter.Purpose = .query) -> FilterProblem? {
    do throws(FilterProblem) {
      _ = try parse(text, purpose)
      return nil
    } catch {
      return error
    }
  }

  // MARK: - What predicates mean

  private static let numbers: [[String: Value]] = [[:], ["i": .int(1)], ["i": .int(3)], ["i": .int(7)]]

  @Test(arguments: [
    ("", [0, 1, 2, 3]), (" \n", [0, 1, 2, 3]), ("TRUEPREDICATE", [0, 1, 2, 3]), ("FALSEPREDICATE", []),
    ("i == 3", [2]), ("3 == i", [2]), ("i != 3", [0, 1, 3]), ("i < 3", [1]), ("3 > i", [1]),
    ("i <= 3", [1, 2]),
    ("i > 3", [3]), ("3 <= i", [2, 3]), ("NOT i < 3", [0, 2, 3]), ("!(i >= 3)", [0, 1]), ("i == nil", [0]),
    ("i != NULL", [1, 2, 3]), ("i IN {1, 7, nil}", [0, 1, 3]), ("NOT i IN {1, 7}", [0, 2]), ("i IN {}", []),
    ("NOT i IN {}", [0, 1, 2, 3]), ("i BETWEEN {1, 3}", [1, 2]), ("NOT i BETWEEN {2, 3}", [0, 1, 3]),
    ("i == 3.0", [2]), ("i > 2.5", [2, 3]), ("i == 2.5", []), ("i == 1 OR i == 7", [1, 3]),
    ("i > 1 AND i < 7", [2]), ("NOT (i > 1 AND i < 7)", [0, 1, 3]), ("NOT NOT i == 1", [1]),
    ("NOT TRUEPREDICATE", []), ("i == 1 AND NOT FALSEPREDICATE", [1]),
    ("i == 3 || TRUEPREDICATE", [0, 1, 2, 3]),
  ])
  func `numbers are found as the predicate says`(text: String, found: [Int]) throws {
    let filter = try Self.parse(text, .query)
    #expect(Self.numbers.indices.filter { Self.matches(filter, Self.numbers[$0]) } == found)
  }

  private static let texts: [[String: Value]] = [
    [:], ["s": .string("")], ["s": .string("abc")], ["s": .string("xab")], ["s": .string("é")],
  ]

  @Test(arguments: [
    ("s == 'abc'", [2]), ("s BEGINSWITH 'ab'", [2]), ("s ENDSWITH 'ab'", [3]), ("s CONTAINS 'ab'", [2, 3]),
    ("s CONTAINS ''", [1, 2, 3, 4]), ("NOT s BEGINSWITH 'ab'", [0, 1, 3, 4]),
    ("NOT s CONTAINS 'b'", [0, 1, 4]),
    ("s BEGINSWITH 'e'", []), ("s == 'e\u{301}'", []), ("s < 'b'", [0, 1, 2]), ("NOT s < 'b'", [3, 4]),
    ("s <= 'abc'", [0, 1, 2]), ("'b' < s", [3, 4]), ("NOT s > 'b'", [0, 1, 2]),
    ("s BETWEEN {'a', 'y'}", [2, 3]),
    ("NOT s BETWEEN {'a', 'y'}", [0, 1, 4]), ("s == \"a\\\"b\"", []),
  ])
  func `texts are compared by their bytes, and null comes before them`(text: String, found: [Int]) throws {
    let filter = try Self.parse(text, .query)
    #expect(Self.texts.indices.filter { Self.matches(filter, Self.texts[$0]) } == found)
  }

  @Test(arguments: [
    ("s == $user.id", ["s": Value.string("anna")], true), ("$user.id == s", ["s": .string("ben")], false),
    ("'admin' IN $user.roles", [:], true), ("ANY $user.roles == 'admin'", [:], true),
    ("$user.roles == 'guest'", [:], false), ("$user.roles != 'guest'", [:], true),
    ("$user.roles != 'admin'", [:], false), ("NOT 'admin' IN $user.roles", [:], false),
    ("s IN $user.roles", ["s": .string("editor")], true), ("NOT s IN $user.roles", ["s": .string("x")], true),
    ("i == $user.custom_data.team", ["i": .int(3)], true),
    ("i < $user.custom_data.team", ["i": .int(2)], true),
    ("$user.custom_data.team > i", ["i": .int(3)], false), ("$user.custom_data.team IN {1, 3}", [:], true),
    ("$user.custom_data.other == nil", [:], true), ("$user.custom_data.other != nil", [:], false),
    ("$user.custom_data.teams == nil", [:], false), ("$user.custom_data.teams != 1", [:], true),
    ("$user.custom_data['none'] == 4", [:], true),
    ("s == $partition", ["s": .string("red")], true), ("$partition != s", ["s": .string("red")], false),
    ("$partition IN $user.roles", [:], false), ("s BEGINSWITH $user.id", ["s": .string("anna/1")], true),
    ("$user.id BEGINSWITH 'an' AND i == 1", ["i": .int(1)], true),
    ("s == '$user.id'", ["s": .string("anna")], false),
    ("s == '$user.id'", ["s": .string("$user.id")], true),
    ("s < $user.custom_data.other", [:], false), ("s == $user.custom_data.other", [:], true),
  ])
  func `rules know the user and the partition`(text: String, object: [String: Value], isFound: Bool) throws {
    #expect(try Self.matches(Self.parse(text), object) == isFound)
  }

  @Test func `a replica without a partition has null as its partition`() throws {
    let filter = try Self.parse("s == $partition")
    #expect(Self.matches(filter, [:], .init(user: "anna")))
    #expect(!Self.matches(filter, ["s": .string("")], .init(user: "anna")))
  }

  @Test func `constants become values of the property's type`() throws {
    let uuid = SixteenBytes(high: 0x0102_0304_0506_0708, low: 0x090a_0b0c_0d0e_0f10)
    let tenth = DecimalNumber(parsing: "0.10").map { Value.decimal128($0.stored) } ?? .null
    let cases: [(String, [String: Value])] = [
      ("d == 3", ["d": .double(3)]), ("f == 0.1", ["f": .float(0.1)]), ("d == 0.1", ["d": .double(0.1)]),
      ("e == 0.1", ["e": tenth]), ("e < 1", ["e": tenth]), ("b == true", ["b": .bool(true)]),
      ("d == 0", ["d": .double(-0.0)]), ("d < 9007199254740993", ["d": .double(9_007_199_254_740_992)]),
      ("t == T10:5", ["t": .date(Timestamp(seconds: 10, nanoseconds: 5))]), ("l == nil", [:]),
      ("u == uuid(01020304-0506-0708-090a-0b0c0d0e0f10)", ["u": .uuid(uuid)]), ("m == 1", ["m": .double(1)]),
      ("s == B64\"YWI=\"", ["s": .string("ab")]), ("n == 1", ["n": .float(1)]),
      ("n == 'x'", ["n": .string("x")]),
      ("m == bin('ab')", ["m": .data([97, 98])]), ("n < 'x'", [:]), ("NOT d < NaN", ["d": .double(.nan)]),
    ]
    for (text, object) in cases { #expect(try Self.matches(Self.parse(text), object), "\(text)") }
    for (text, object) in [
      ("d == NaN", ["d": Value.double(.nan)]), ("m < 'x'", [:]), ("m < 2", ["m": .string("")]),
    ] {
      #expect(try !Self.matches(Self.parse(text), object), "\(text)")
    }
  }

  @Test func `a condition on a field that filters may not use holds for no object`() throws {
    for comparison in FieldFilter.Comparison.allCases {
      let filter = FieldFilter(terms: [[FieldFilter.Condition("x", comparison, [.value(.int(1))])]])
      #expect(!filter.matches([.int(1)], of: ["i"], Self.asking))
    }
  }

  // MARK: - What is refused

  @Test(
    arguments: [
      ("i ==", 201), ("i == 'x'", 201), ("s == 1", 201), ("b == 1", 201), ("s IN {'a', 1}", 201),
      ("l == O3", 201),
      ("i == d", 201), ("1 == 1", 201), ("x == 1", 203), ("i == 1 AND password == 'x'", 203),
      ("owner.name == 'x'", 201),
      ("list[0] == 1", 201), ("i.@count == 1", 201), ("@links.A.b.@count == 1", 201), ("ANY i == 1", 201),
      ("ALL i == 1", 201), ("NONE i IN {1}", 201), ("i == ANY {1, 2}", 201), ("i + 1 == 2", 201),
      ("s ==[c] 'a'", 201),
      ("s LIKE 'a*'", 201), ("s TEXT 'a'", 201), ("i == 1 SORT(i ASC)", 201), ("i == 1 LIMIT(3)", 201),
      ("TRUEPREDICATE DISTINCT(i)", 201), ("i == $0", 201), ("$K0 == 1", 201), ("i IN {$0}", 201),
      ("i IN 1", 201),
      ("SUBQUERY(list, $x, $x.i == 1).@count > 0", 201), ("i GEOWITHIN geoBox([1, 2], [3, 4])", 201),
      ("i BETWEEN {1}", 201), ("i BETWEEN {nil, 3}", 201), ("i < nil", 201), ("i BEGINSWITH 'a'", 201),
      ("s BEGINSWITH nil", 201), ("'a' BEGINSWITH s", 201), ("s CONTAINS bin('a')", 201),
      ("i == {1, 2}", 201),
      ("s == $user.id", 201), ("s == $partition", 201), ("$x.i == 1", 201), ("m == obj('A', 1)", 201),
      ("i == nan", 201), ("'a' IN s", 201),
    ] as [(String, UInt32)])
  func `a predicate that filters can't use is refused with a code and a text`(text: String, code: UInt32)
    throws
  {
    let problem = try #require(Self.problem(text))
    #expect(problem.code == code, "\(problem.text)")
    #expect(problem.text.contains("Thing") && problem.text.utf8.count <= 1000, "\(problem.text)")
  }

  @Test(arguments: [
    "$user.name == 'x'", "$user == 'x'", "$user.custom_data == 1", "$user.custom_data.a.b == 1",
    "$partition.x == 1",
    "$partition == 'red'", "ANY $user.roles != 'x'", "ALL $user.roles == 'x'", "$user.id BETWEEN {'a', 'b'}",
    "'a' == $partition", "$users.id == s",
  ])
  func `rules with names that they don't know are refused`(text: String) throws {
    #expect(Self.problem(text, .rule)?.code == 201)
  }

  @Test func `a refusal names the property and both types, and is short`() throws {
    let problem = try #require(Self.problem("i > 3 AND i == 'three'"))
    for part in ["`i`", "`Thing`", "whole number (int)", "text (string)", "`i == 'three'`"] {
      #expect(problem.text.contains(part), "\(problem.text)")
    }
    let name = String(repeating: "ä", count: 3000)
    for text in ["\(name) == 1", "i == '\(name)'", "\(name) == ", "i \(name)"] {
      #expect(try #require(Self.problem(text)).text.utf8.count <= 1000)
    }
  }

  @Test func `texts that would become large are refused at once`() throws {
    func repeated(_ part: String, _ joined: String, _ count: Int) -> String {
      Array(repeating: part, count: count).joined(separator: joined)
    }
    let list = "{" + repeated("'xxxxxxxx'", ",", 500) + "}"
    let clock = ContinuousClock()
    let cases = [
      repeated("(i == 1 OR s == 'a')", " AND ", 300),
      "NOT (" + repeated("(i == 1 AND s == 'a')", " OR ", 300) + ")",
      repeated("i > 1", " OR ", 65),
      "i IN \(list.replacing("'xxxxxxxx'", with: "1")) AND " + repeated("(i>1 OR d>1)", " AND ", 6)
        + " AND m IN {1}", "s IN \(list) AND (" + repeated("d > 1", " OR ", 40) + ")",
      repeated(" ", "", 8190) + "i==1",
    ]
    for text in cases {
      var code: UInt32?
      let time = clock.measure { code = Self.problem(text)?.code }
      #expect(code == 205, "\(text.prefix(60))")
      #expect(time < .seconds(2), "\(text.prefix(60))")
    }
  }

  @Test func `a filter may have 64 terms, and no more`() throws {
    func text(_ count: Int) -> String {
      Array(repeating: "(i == 1 OR s == 'a')", count: count).joined(separator: " AND ")
    }
    #expect(try Self.parse(text(6)).terms.count == 64)
    #expect(Self.problem(text(7))?.code == 205)
    let greater = Array(repeating: "i > 1", count: 64).joined(separator: " OR ")
    #expect(try Self.parse(greater).terms.count == 64)
    #expect(Self.problem(greater + " OR i > 1")?.code == 205)
  }

  @Test func `depth and breadth within the limits are read`() throws {
    let nots = try Self.parse(String(repeating: "!", count: 8001) + "i == 1")
    #expect(!Self.matches(nots, ["i": .int(1)]) && Self.matches(nots, [:]))
    let deep = String(repeating: "(", count: 4000) + "i == 1" + String(repeating: ")", count: 4000)
    #expect(try Self.matches(Self.parse(deep), ["i": .int(1)]))
    let ladder = String(repeating: "!(i==1||", count: 900) + "i==2" + String(repeating: ")", count: 900)
    #expect(Self.problem(ladder) == nil || Self.problem(ladder)?.code == 205)
    let many = try Self.parse((0..<500).map { "i == \($0)" }.joined(separator: " OR "))
    #expect(
      many.terms.count == 1 && Self.matches(many, ["i": .int(499)]) && !Self.matches(many, ["i": .int(500)]))
    let chain = try Self.parse((0..<600).map { "i != \($0)" }.joined(separator: " AND "))
    #expect(!Self.matches(chain, ["i": .int(599)]) && Self.matches(chain, ["i": .int(600)]))
  }

  // MARK: - Random filters

  @Test(arguments: Slow.seeds(20, slow: 2000))
  func `random predicates find the objects that match`(seed: UInt64) throws {
    var maker = FilterMaker(seed: seed)
    var read = 0
    for _ in 0..<40 {
      let tree = maker.tree(4)
      let filter: FieldFilter
      do throws(FilterProblem) {
        filter = try Self.parse(tree.text)
      } catch {
        #expect(error.code == 205, "seed \(seed): \(tree.text): \(error.text)")
        continue
      }
      read += 1
      for _ in 0..<20 {
        let (object, asking) = (maker.object(), maker.asking())
        let isFound = tree.holds(object, asking)
        let values = FilterMaker.fields.map { object[$0] ?? .null }
        #expect(
          filter.matches(values, of: FilterMaker.fields, asking) == isFound,
          "seed \(seed): \(tree.text) of \(object) for \(asking)")
        guard isFound, let routes = filter.routes(asking) else { continue }
        #expect(
          routes.contains { $0.covers(values, of: FilterMaker.fields) },
          "seed \(seed): no route of \(tree.text) leads to \(object) for \(asking): \(routes)")
      }
    }
    #expect(read > 20, "seed \(seed)")
  }

  @Test func `a text is found in a text with similar parts`() throws {
    var generator = SeededGenerator(seed: 1)
    func text(_ count: Int) -> [UInt8] { (0..<count).map { _ in generator.chance(70) ? 97 : 98 } }
    for _ in 0..<2000 {
      let (text, part) = (text(generator.below(20)), text(generator.below(6)))
      let isFound = (0...text.count).contains { text[$0...].starts(with: part) }
      let filter = try Self.parse("s CONTAINS '\(String(decoding: part, as: UTF8.self))'")
      #expect(Self.matches(filter, ["s": .string(String(decoding: text, as: UTF8.self))]) == isFound)
    }
  }

  @Test func `routes are as narrow as the terms allow`() throws {
    func routes(_ text: String) throws -> [FieldFilter.Route]? { try Self.parse(text).routes(Self.asking) }
    func key(_ value: Value) throws -> Value { try #require(FieldFilter.Route.key(value)) }
    #expect(try routes("FALSEPREDICATE") == [])
    #expect(try routes("TRUEPREDICATE") == nil && routes("i != 3") == nil && routes("s ENDSWITH 'a'") == nil)
    #expect(try routes("i == 1 OR s CONTAINS 'a'") == nil)
    #expect(try routes("i > 1 AND s == $user.id") == [.values(field: "s", [.string("anna")])])
    #expect(try routes("i IN {1, 2} AND i == 2") == [.values(field: "i", [key(.int(2))])])
    #expect(try routes("i > 1 AND i <= 5") == [.range(field: "i", from: .int(1), to: .int(5))])
    #expect(try routes("d > 1 AND i BETWEEN {1, 5}") == [.range(field: "i", from: .int(1), to: .int(5))])
    #expect(try routes("s BEGINSWITH 'ab' AND i > 2") == [.prefix(field: "s", .string("ab"))])
    #expect(try routes("'guest' IN $user.roles") == [])
    #expect(try routes("'admin' IN $user.roles OR i == 1") == nil)
    #expect(try routes("'guest' IN $user.roles OR i == 1") == [.values(field: "i", [key(.int(1))])])
    #expect(try routes("i IN {} OR d == NaN OR i < $user.custom_data.other") == [])
  }

  @Test(arguments: Slow.seeds(10, slow: 500))
  func `values that filters take for equal have the same keys`(seed: UInt64) throws {
    var maker = FilterMaker(seed: seed)
    let values = (0..<60).map { _ in maker.anyValue() }
    for one in values {
      for other in values {
        let (key, otherKey) = (FieldFilter.Route.key(one), FieldFilter.Route.key(other))
        let filter = FieldFilter(terms: [[.init("i", .equal, [.value(other)])]])
        let isEqual = filter.matches([one], of: ["i"], Self.asking)
        #expect(isEqual == (key != nil && key == otherKey), "seed \(seed): \(one) and \(other)")
      }
    }
  }

  // MARK: - Bytes

  @Test(arguments: Slow.seeds(10, slow: 500))
  func `filters are read as they were written, and damaged bytes are a filter or are refused`(seed: UInt64)
    throws
  {
    var maker = FilterMaker(seed: seed)
    for _ in 0..<10 {
      let filter = maker.filter()
      var bytes: [UInt8] = []
      filter.append(to: &bytes)
      var reader = ByteReader(bytes)
      #expect(FieldFilter(&reader) == filter && reader.isAtEnd, "seed \(seed)")
      for count in bytes.indices {
        var reader = ByteReader(Array(bytes[..<count]))
        #expect(FieldFilter(&reader) == nil, "seed \(seed): the first \(count) bytes")
      }
      for place in bytes.indices {
        for bit in 0..<8 {
          var damaged = bytes
          damaged[place] ^= 1 << UInt8(bit)
          var reader = ByteReader(damaged)
          guard let read = FieldFilter(&reader) else { continue }
          _ = read.matches([.int(1), .string("a")], of: ["i", "s"], Self.asking)
          _ = read.routes(Self.asking)
        }
      }
    }
  }
}
