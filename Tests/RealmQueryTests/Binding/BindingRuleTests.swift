import RealmQuery
import RealmStorage
import RealmTestSupport
import Testing

/// The outcomes by the rules, of queries that are not in the tables.
@Suite struct BindingRuleTests {
  private let fixture: BindingFixture

  init() throws { fixture = try BindingFixture() }

  private func check(_ rows: [BindingRow], _ language: QueryLanguage) throws {
    for row in rows { try fixture.check(row, language) }
  }

  @Test func `paths of RQL are followed by the rules`() throws {
    try check(
      [
        .init("dogs[0].name == 'Rex'", [], "A"), .init("dogs[LAST].age == 7", [], "A C"),
        .init("dogs[5].name == null", [], "none"), .init("nums[7] == null", [], "A C"),
        .init("dogs[*].name == 'Rex'", [], "A"), .init("nums[$0] == 2", [int(1)], "A"),
        .init("prefs[$0] == 2", [text("y")], "A"), .init("nums[$0] == 2", [.value(.null)], "IA"),
        .init("nums['x'] == 2", [], "IQ"), .init("prefs[0] == 2", [], "IQ"), .init("age[0] == 2", [], "IQ"),
        .init("nums.foo == 1", [], "IQ"), .init("tags.LENGTH == 1", [], "A C"),
        .init("nums.length == 1", [], "IQ"), .init("people.name == 'Ann'", [], "Rex Ida", of: "Dog"),
        .init("people.@count == 3", [], "Ida", of: "Dog"),
        .init("people.@sum.age == 80", [], "Ida", of: "Dog"),
        .init("@links.Person.dog.name == 'Ann'", [], "Rex", of: "Dog"),
        .init("@links.Cat.dog.name == 'Ann'", [], "IQ", of: "Dog"),
        .init("@links.Person.name.name == 'Ann'", [], "IQ", of: "Dog"),
        .init("@links.@max == 1", [], "IQ", of: "Dog"), .init("dog.people.@count == 3", [], "C"),
        .init("dog.@count == 1", [], "A C"), .init("age.@count == 1", [], "IQ"),
        .init("$K0 == 2", [text("dogs.@count")], "A C"), .init("$K0.@count == 2", [text("dogs")], "A C"),
        .init("$K0 == 1", [text("dogs..age")], "IA"), .init("$K0 == 1", [.value(.null)], "IA"),
        .init("@links.@count == 0", [], "A B C"), .init("mix['k'][*] == 10", [], "C"),
        .init("mix.@keys == 'k'", [], "C"), .init("mix.@values[0] == 10", [], "C"),
      ], .rql)
  }

  @Test func `conditions of RQL compare by the rules`() throws {
    try check(
      [
        .init("ALL nums > 0", [], "A B C"), .init("NONE nums > 4", [], "A B"), .init("nums > 4", [], "C"),
        .init("ALL nums BETWEEN {1, 3}", [], "A B"), .init("nums BETWEEN {1, 3}", [], "IQ"),
        .init("dogs.age BETWEEN {4, 6}", [], "A"), .init("age BETWEEN {25.5, 30}", [], "IQ"),
        .init("height BETWEEN {1, 1.6}", [], "B"), .init("tags == nums", [], "IQ"),
        .init("nums == kinds", [], "IQ"), .init("name == nick", [], "none"),
        .init("name != nick", [], "A B C"),
        .init("age > dog.age", [], "A C"), .init("name == age", [], "IQ"), .init("age > height", [], "A B C"),
        .init("age IN nums", [], "none"), .init("{1, 5} == nums", [], "none"),
        .init("ANY {1, 5} == nums", [], "A C"), .init("age > 29.5", [], "A B"),
        .init("age == 30.5", [], "none"),
        .init("vip == '1'", [], "IQ"), .init("born == 'x'", [], "IQ"), .init("born == $0", [text("x")], "IA"),
        .init("height == '1.7x'", [], "A"), .init("dog > $0", [BindingFixture.rex], "IQ"),
        .init("dog == $0", [BindingFixture.rex], "A"), .init("dog == $0", [BindingFixture.ann], "IA"),
        .init("dog == $0", [BindingFixture.newDog], "none"), .init("dogs == $0", [BindingFixture.ida], "A C"),
        .init("ALL dogs == $0", [BindingFixture.ida], "B C"),
        .init("dog IN $0", [.list([BindingFixture.ida])], "C"),
        .init("dog == obj('Dog', $0)", [text("Ida")], "C"), .init("dog == obj('Person', 1)", [], "B"),
        .init("dog == dogs", [], "A C"), .init("name ==[c] nick", [], "none"),
        .init("name IN[c] {'ANN', 'BOB'}", [], "A B"), .init("age ==[c] 30", [], "A"),
        .init("dog.age ==[c] 3", [], "IQ"), .init("tags ==[c] 'B'", [], "A C"),
        .init("ALL tags ==[c] 'b'", [], "B C"), .init("ALL tags IN[c] {'B'}", [], "B C"),
        .init("name CONTAINS {'n', 'o'}", [], "A B C"), .init("'Annabel' CONTAINS name", [], "A"),
        .init("name CONTAINS nick", [], "A C"), .init("dog.name CONTAINS null", [], "A C"),
        .init("dog.name BEGINSWITH null", [], "none"), .init("nick LIKE null", [], "A"),
        .init("dog.name ENDSWITH ''", [], "A C"), .init("NONE tags CONTAINS 'a'", [], "B C"),
        .init("mix CONTAINS 'i'", [], "B"), .init("mix CONTAINS ''", [], "B"),
        .init("name CONTAINS bin('n')", [], "IQ"), .init("mix.@type == 'object'", [], "C"),
        .init("mix.@type != 'numeric'", [], "B C"), .init("mix.@type IN {'int', 'STRING'}", [], "A B"),
        .init("'string' == mix.@type", [], "B"), .init("mix['k'][*].@type == 'int'", [], "C"),
        .init("age.@type == 'int'", [], "IQ"), .init("mix.@type > 'int'", [], "IQ"),
        .init("mix.@type == 5", [], "IA"),
      ], .rql)
  }

  @Test func `arithmetic, aggregates, subqueries and descriptors of RQL follow the rules`() throws {
    try check(
      [
        .init("age + 1 - 1 == 30", [], "A"), .init("age * height > 50", [], "A B"),
        .init("age / 7 == 4", [], "A"),
        .init("score + 1 == null", [], "B"), .init("name + 1 == 1", [], "IA"), .init("2 * 3 == 6", [], "IQ"),
        .init("2 * 15 == age", [], "A"), .init("nums + nums == 2", [], "IQ"),
        .init("nums * 2 == 10", [], "C"),
        .init("dogs.@max.age - dogs.@min.age == 4", [], "A"), .init("dogs.@count > nums.@count", [], "C"),
        .init("nums.@avg == 2.0", [], "A"), .init("kinds.@max > 1.5", [], "A C"),
        .init("dog.@max.age == 1", [], "IQ"),
        .init("SUBQUERY(dogs, $d, age > 5 and $d.name == 'Ida').@count == 1", [], "A"),
        .init(
          "SUBQUERY(people, $p, SUBQUERY($p.dogs, $d, $d.age > 5).@count == 2).@count == 2", [], "Ida",
          of: "Dog"),
        .init("SUBQUERY(dogs, $d, SUBQUERY($d.people, $p, $d.age > 5).@count == 2).@count == 2", [], "IQ"),
        .init(
          "SUBQUERY(dogs, $d, SUBQUERY($d.people, $p, SUBQUERY(dogs, $d, age > 1).@count > 1).@count > 1).@count > 1",
          [], "IQ"),
        .init("SUBQUERY(dogs, $d, TRUEPREDICATE).@count == 2", [], "A C"),
        .init("SUBQUERY(dogs, $d, FALSEPREDICATE).@count == 0", [], "A B C"),
        .init("SUBQUERY(dog.people, $p, TRUEPREDICATE).@count == 3", [], "C"),
        .init("SUBQUERY(dog, $d, TRUEPREDICATE).@count == 1", [], "IQ"), .init("$x.age == 1", [], "IQ"),
        .init("TRUEPREDICATE SORT(dog.age ASC, id DESC)", [], "A C B"),
        .init("TRUEPREDICATE SORT(dogs ASC)", [], "IQ"), .init("TRUEPREDICATE SORT(dog ASC)", [], "IQ"),
        .init("TRUEPREDICATE SORT(prefs['x'] ASC)", [], "IQ"),
        .init("TRUEPREDICATE SORT(nope ASC)", [], "IQ"),
        .init("TRUEPREDICATE DISTINCT(dog)", [], "A B C"), .init("TRUEPREDICATE LIMIT(0)", [], "none"),
        .init("TRUEPREDICATE LIMIT(1) SORT(age ASC)", [], "A"),
      ], .rql)
  }

  @Test func `conditions of formats compare by the rules`() throws {
    let bytes = QueryArgument.value(.data(Array("Hi".utf8)))
    try check(
      [
        .init("ANY nums BETWEEN {2, 2}", [], "A"), .init("NONE nums > 4", [], "A B"),
        .init("ANY nums IN {5, 9}", [], "C"), .init("NONE tags IN {'a', 'b'}", [], "B"),
        .init("name ==[d] 'Elan'", [], "C"), .init("name CONTAINS[cd] 'ELA'", [], "C"),
        .init("name !=[c] 'ANN'", [], "B C"), .init("mix == %@", [bytes], "none"),
        .init("mix CONTAINS 'i'", [], "B"),
        .init("mix != 'Hi'", [], "A C"), .init("mix IN {'Hi', 42}", [], "A B"),
        .init("mix[0] == 1", [], "none"),
        .init("mix[FIRST] == 1", [], "IQ"), .init("mix[1.5] == 1", [], "IQ"),
        .init("mix[%@] == 1", [.value(.null)], "IA"),
        .init("dogs[0] == nil", [], "IQ"), .init("prefs['x'] > 1", [], "C"),
        .init("1 < prefs['x']", [], "IQ"),
        .init("prefs['x'].y == 1", [], "IQ"), .init("dog == %@", [BindingFixture.ann], "IA"),
        .init("dog == 5", [], "IQ"), .init("5 IN age", [], "IQ"), .init("5 IN nums", [], "C"),
        .init("age IN 5", [], "IQ"), .init("age IN %@", [int(5)], "IA"), .init("age == {1}", [], "IQ"),
        .init("nums.@count.x == 1", [], "IQ"), .init("dogs.@sum.@count == 1", [], "IQ"),
        .init("dogs.@foo == 1", [], "IQ"), .init("ANY dogs.people.name == 'Bob'", [], "none"),
        .init("dogs.@max.name == 'x'", [], "IQ"), .init("tags.@max == 'x'", [], "IQ"),
        .init("age + 1 == 2", [], "IQ"), .init("SELF.age == 30", [], "A"), .init("mix == mix", [], "A B C"),
        .init("mix > mix", [], "IQ"), .init("dogs.@count == 2.5", [], "IQ"),
        .init("2 == dogs.@count", [], "A C"),
        .init("age > dogs.@count", [], "A B C"), .init("name < nick", [], "B"),
        .init("nick < name", [], "A C"), .init("score == TRUE", [], "none"),
        .init("height == TRUE", [], "IQ"),
        .init("SUBQUERY(kinds, $k, TRUEPREDICATE).@count == 1", [], "IQ"),
        .init("2 == SUBQUERY(dogs, $d, $d.age > 5).@count", [], "IQ"),
        .init("SUBQUERY(dogs, $d, $d == %@).@count == 1", [BindingFixture.rex], "IQ"),
        .init("SUBQUERY(dogs, $d, $d.people.name == 'Ann').@count == 2", [], "A C"),
        .init("SUBQUERY(people, $p, ANY $p.dogs.age < 5).@count == 1", [], "Rex Ida", of: "Dog"),
        .init("dog.dogs == 1", [], "IQ"), .init("$x.age == 1", [], "IQ"),
        .init("ANY %@ IN tags", [text("a")], "IQ"), .init("ANY mix == 42", [], "A"),
        .init("loc == %@", [.object(token: 3)], "IQ"),
      ], .predicateFormat)
  }

  @Test func `lists, sets, maps and values of any type are tested in RQL by the rules`() throws {
    try check(
      [
        .init("dogs.name.@count == 3", [], "A C"), .init("ANY dogs.@count == 2", [], "IQ"),
        .init("dogs == obj('Dog','Rex')", [], "A"), .init("dogs.@count == '2'", [], "A C"),
        .init("$0 == name", [text("Ann")], "A"), .init("nick == $0", [.value(.null)], "A"),
        .init("nick BETWEEN {'a', 'c'}", [], "B"), .init("{1, 2, 3} == nums", [], "A"),
        .init("$0 IN nums", [int(5)], "C"), .init("id IN nums", [], "A"), .init("id == nums[0]", [], "A"),
        .init("NONE {1, 2} == id", [], "C"), .init("ALL {1, 2} != id", [], "C"),
        .init("mix ==[c] 'hI'", [], "B"), .init("tags ==[c] {'A', 'B'}", [], "A"),
        .init("dog.name[0] == 'x'", [], "IQ"), .init("ALL prefs > 0", [], "A B C"),
        .init("prefs[*] == 9", [], "C"), .init("prefs.@keys[0] == 'x'", [], "IQ"),
        .init("prefs.@count == 1", [], "C"), .init("prefs.@sum == 3", [], "A"),
        .init("mix == null", [], "none"),
        .init("mix == true", [], "none"), .init("mix == dog", [], "IQ"), .init("mix == age", [], "none"),
        .init("mix IN {42, 'Hi'}", [], "A B"),
        .init("mix.@count == 2", [], "B"),
        .init("loc.coordinates.@count == 0", [], "A B C"), .init("ALL loc.coordinates > 1", [], "A B C"),
        .init("loc.coordinates.@sum == 0", [], "A B C"), .init("loc.type == null", [], "A B C"),
        .init("age == $0", [.list([int(30)])], "A"), .init("nums == $0", [.list([int(5)])], "C"),
        .init("age BETWEEN {$0, 30}", [.list([])], "IA"), .init("vip IN {true}", [], "A C"),
        .init("height IN {2}", [], "C"), .init("ANY kinds IN {2}", [], "A"),
      ], .rql)
  }

  @Test func `lists, sets, maps and values of any type are tested in formats by the rules`() throws {
    let dates = QueryArgument.list([
      .value(.date(Timestamp(seconds: 0))), .value(.date(Timestamp(seconds: 100))),
    ])
    try check(
      [
        .init("ANY tags ==[c] 'B'", [], "A C"), .init("ANY tags BEGINSWITH 'a'", [], "A"),
        .init("NONE tags LIKE 'a*'", [], "B C"), .init("dog IN %@", [.list([BindingFixture.rex])], "A"),
        .init("dog IN {}", [], "none"), .init("vip IN {TRUE, 0}", [], "A B C"),
        .init("nick IN {nil, 'bo'}", [], "A B"), .init("name IN {nil}", [], "IQ"),
        .init("ANY dogs.age IN {3}", [], "A"), .init("nums.@max BETWEEN {3, 5}", [], "A C"),
        .init("dogs.@count IN {2}", [], "A C"), .init("nums.@min == nil", [], "B"),
        .init("kinds.@count == 2", [], "A"), .init("born BETWEEN %@", [dates], "A B"),
        .init("ANY prefs == 9", [], "C"), .init("ANY prefs.@allKeys IN {'x'}", [], "IQ"),
        .init("prefs.@allKeys == 'y'", [], "A"), .init("prefs.@allValues == 9", [], "IQ"),
        .init("mix.@count == 1", [], "IQ"), .init("mix['k'].@count == 2", [], "IQ"),
        .init("ANY people.dogs.name == 'Rex'", [], "Rex Ida", of: "Dog"),
        .init("NONE people.name == 'Ann'", [], "none", of: "Dog"),
        .init("loc.coordinates.@count == 0", [], "A B C"), .init("ANY loc.coordinates > 1", [], "none"),
        .init("age ==[c] 30", [], "A"), .init("%K.%K == 3", [text("dog"), text("age")], "A"),
        .init("mix == nil", [], "none"), .init("mix BETWEEN {1, 100}", [], "A"),
        .init("mix LIKE 'H*'", [], "B"),
        .init("mix IN %@", [.list([int(42), text("Hi")])], "A B"),
        .init("mix == %@", [.value(.list([.int(1)]))], "none"), .init("prefs == 9", [], "IQ"),
        .init("score IN {5, nil}", [], "A B"), .init("vip == %@", [int(1)], "A C"),
        .init("vip == %@", [int(2)], "IA"), .init("age == %@", [.value(.double(30))], "IA"),
        .init("dogs.@max.age BETWEEN {1, 7}", [], "A C"), .init("name CONTAINS %@", [int(1)], "IA"),
        .init("ANY dogs == %@", [BindingFixture.rex], "A"),
        .init("ANY dogs > %@", [BindingFixture.rex], "IQ"),
        .init("NOT dog == %@", [BindingFixture.newDog], "A B C"),
        .init("dog == %@", [BindingFixture.newDog], "none"),
      ], .predicateFormat)
  }

  @Test func `an empty AND holds for all objects, and an empty OR for none`() throws {
    let table = try #require(try fixture.snapshot.table("Person"))
    for (kind, count) in [(QuerySyntax.Kind.and([]), 3), (.or([]), 0), (.always, 3), (.never, 0)] {
      var builder = QuerySyntax.Builder()
      let root = builder.add(kind)
      let plan = try QueryBinder(fixture.names, table: 3, language: .predicateFormat)
        .plan(builder.syntax(root: root))
      #expect(try RowSearch(plan, in: table).count() == count)
    }
  }

  @Test func `values are converted to the type of the column by the rules`() throws {
    let database = try Database(creatingIn: SimulatedDisk(), options: .init())
    let id = SixteenBytes((0..<16).map { UInt8($0) })
    try database.write { transaction in
      let table = try transaction.createTable(
        TableSchema(
          "Values",
          columns: [
            Column("f", .float), Column("d", .decimal128), Column("u", .uuid), Column("big", .int64),
            Column("ds", .double, collection: .list),
          ]))
      let decimal = try #require(DecimalNumber(parsing: "0.1")).stored
      try table.insert([
        "f": .float(0.1), "d": .decimal128(decimal), "u": .uuid(id), "big": .int(9_007_199_254_740_993),
        "ds": .list([.double(1), .double(2)]),
      ])
    }
    let snapshot = try database.snapshot()
    let names = QueryNames(tables: try snapshot.schemas())
    let table = try #require(try snapshot.table("Values"))
    func finds(_ text: String, _ language: QueryLanguage) throws -> Bool {
      let syntax =
        language == .rql ? try QueryParser.rql(text) : try QueryParser.predicateFormat(text)
      let plan = try QueryBinder(names, table: table.schema.id, language: language).plan(syntax)
      return try RowSearch(plan, in: table).count() == 1
    }
    let uuid = "00010203-0405-0607-0809-0a0b0c0d0e0f"
    for text in [
      "f == 0.1", "d == 0.1", "d == '0.1'", "f > 0", "f IN {0.1}", "u == uuid(\(uuid))", "ds == {1, 2}",
      "ANY ds IN {2}", "big != 9007199254740992.0",
    ] {
      #expect(try finds(text, .rql), "\(text)")
    }
    for text in ["f == 0.1", "d == 0.1", "d == '0.1'", "u == '\(uuid)'", "ANY ds == 2", "d IN {0.1, 5}"] {
      #expect(try finds(text, .predicateFormat), "\(text)")
    }
    for text in ["u == 'x'", "f == 1e40", "f == TRUE", "d == 'x'", "u == 5"] {
      #expect(throws: QueryError.self) { try finds(text, .predicateFormat) }
    }
    #expect(throws: QueryError.self) { try finds("u == '\(uuid)'", .rql) }
  }
}
