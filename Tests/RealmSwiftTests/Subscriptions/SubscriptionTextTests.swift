import Foundation
import RealmStorage
import RealmTestSupport
import Testing

@testable import RealmSwift

/// The texts of the queries that servers get.
@Suite struct SubscriptionTextTests {
  private let fixture: QueryFixture
  private var people: Results<FixturePerson> { fixture.people }

  init() throws { fixture = try QueryFixture() }

  /// The text of a subscription to results. The function checks that the text, read again, finds the same objects and
  /// has the same text.
  @discardableResult
  static func text<Element: Object>(
    _ results: Results<Element>, _ line: SourceLocation = #_sourceLocation
  ) throws -> String {
    let content = try #require(results._content)
    let text = asked(content)
    guard !text.isEmpty else { return text }
    let realm = try #require(results.realm)
    let again = try #require(try realm.objects(Element.self).query(text)._content)
    #expect(again.rows() == content.rows(), "\(text)", sourceLocation: line)
    #expect(asked(again) == text, sourceLocation: line)
    return text
  }

  private static func asked(_ content: _CollectionContent) -> String {
    let context = content.context
    guard let plan = content.enginePlan()?.plan else { return context.subscriptionQuery(.always).predicate }
    return context.subscriptionQuery(plan.predicate).predicate
  }

  @Test func `all objects of a class have an empty text`() throws {
    #expect(try Self.text(people) == "")
    #expect(try Self.text(people.filter("TRUEPREDICATE")) == "")
  }

  @Test(arguments: [
    ("age > 28 AND name BEGINSWITH[c] 'b'", "age > 28 AND name BEGINSWITH[c] 'b'"),
    ("nick == nil", "stored_nick == NULL"), ("nick != 'bo'", "stored_nick != 'bo'"),
    ("age IN {25, 40}", "age IN {25, 40}"), ("name BEGINSWITH ''", "FALSEPREDICATE"),
    ("age BETWEEN {25, 30}", "age BETWEEN {25, 30}"), ("NOT age == 30", "NOT age == 30"),
    ("vip == YES", "vip == TRUE"), ("kind == 9", "kind == 9"), ("height == 2", "height == 2.0"),
    ("(age > 26 OR age < 0) AND vip == 1", "(age > 26 OR age < 0) AND vip == TRUE"),
    (
      "(age > 26 OR (age < 0 OR id == 3)) AND (vip == 1 AND id != 2)",
      "(age > 26 OR age < 0 OR id == 3) AND vip == TRUE AND id != 2"
    ),
    ("NOT (age > 26 AND (id == 1 OR id == 2))", "NOT (age > 26 AND (id == 1 OR id == 2))"),
    ("name CONTAINS ''", "FALSEPREDICATE"), ("name ==[c] 'ANN'", "name ==[c] 'ANN'"),
    ("name LIKE 'A*'", "name LIKE 'A*'"), ("name == \"it's\"", "name == \"it's\""),
    ("mix == 42", "mix == 42"), ("mix == 'Hi'", "mix == 'Hi' OR mix == binary(B64\"SGk=\")"),
  ])
  func `a condition on properties has the text of Realm's query language`(format: String, expected: String)
    throws
  {
    #expect(try Self.text(people.filter(format)) == expected)
  }

  @Test(arguments: [
    ("dog == nil", "dog == NULL"), ("dog.age > 5", "dog.age > 5"),
    ("place.city == 'Ulm'", "place.city == 'Ulm'"),
    ("ANY dogs.name == 'Ida'", "dogs.name == 'Ida'"), ("NONE dogs.name == 'Ida'", "NOT dogs.name == 'Ida'"),
    ("ANY nums IN {1, 5}", "ANY nums IN {1, 5}"), ("ANY tags BEGINSWITH 'b'", "tags BEGINSWITH 'b'"),
    ("ANY dogs.age BETWEEN {5, 8}", "SUBQUERY(dogs, $x1, $x1.age BETWEEN {5, 8}).@count > 0"),
    ("dogs.@count == 2", "dogs.@count == 2"), ("dogs.@sum.age == 14", "dogs.@sum.age == 14"),
    ("nums.@max > 2", "nums.@max > 2"), ("age > id", "age > id"),
    (
      "SUBQUERY(dogs, $d, $d.age > 5 AND $d.good == 0).@count == 2",
      "SUBQUERY(dogs, $x1, $x1.age > 5 AND $x1.good == FALSE).@count == 2"
    ),
    ("ANY prefs.@allKeys == 'y'", "ANY prefs.@keys == 'y'"), ("prefs['x'] == 1", "prefs['x'] == 1"),
    ("mix['k'][0] == 10", "mix['k'][0] == 10"),
  ])
  func `a condition that servers do not accept has the text of Realm's query language`(
    format: String, expected: String
  ) throws {
    #expect(try Self.text(people.filter(format)) == expected)
  }

  @Test func `inverse links are named by class and property`() throws {
    #expect(
      try Self.text(fixture.dogs.filter("ANY people.name == 'Ann'"))
        == "ANY @links.FixturePerson.dogs.name == 'Ann'")
    #expect(
      try Self.text(fixture.dogs.filter("people.@count == 3")) == "@links.FixturePerson.dogs.@count == 3")
  }

  @Test(arguments: [
    "ALL dogs.age > 5", "2 * (age - 5) == 40", "age - 5 - 2 > 3 + id * 2", "NONE nums > 2",
    "mix.@type == 'int'", "mix.@type IN {'string', 'null'}", "mix.@type != 'numeric'",
    "dog.@links.@count > 1", "tags.@count > 1", "ANY tags.length == 1", "name.@count == 3",
    "NOT NOT age == 30", "nums == {1, 2, 3}",
    "nick CONTAINS NULL", "age IN ALL {30}", "dogs[0].name == 'Rex'", "kinds.@avg > 1.5",
    "friends['a'].age > 1", "mix.k[0] == 10", "nick > NULL", "age IN {}",
  ])
  func `a query that only Realm's query language has is written again, and finds the same objects`(
    query: String
  ) throws {
    try Self.text(people.query(query))
  }

  @Test func `typed queries and formats with the same meaning have the same text`() throws {
    let realm = fixture.realm
    let typed = QuerySubscription<FixturePerson>(name: "x") { $0.nick == "bo" && $0.age > 3 }
    let format = QuerySubscription<FixturePerson>(where: "nick == %@ AND age > %@", "bo", 3)
    let query = typed.query(in: realm)
    #expect(query.table == "FixturePerson" && query.predicate == "stored_nick == 'bo' AND age > 3")
    #expect(format.query(in: realm).predicate == query.predicate)
    #expect(try Self.text(people.where { $0.nick == "bo" && $0.age > 3 }) == query.predicate)
    #expect(try Self.text(people.where { $0.nick == "bo" }.where { $0.age > 3 }) == query.predicate)
    #expect(QuerySubscription<FixturePerson>().query(in: realm).predicate == "")
    try Self.text(people.where { $0.age.contains(25...30) || $0.age.contains(35..<40) })
    try Self.text(people.where { $0.name.contains("L", options: [.caseInsensitive]) && !$0.vip })
    try Self.text(people.filter("mix[%K][0] == 10", "#any"))
    try Self.text(people.where { ($0.dogs.age > 5 && $0.dogs.good == false).count > 0 })
  }

  @Test func `values of any type have texts`() throws {
    let values: [Any?] = [
      nil, true, 42, 1.5, -0.0, Float(0.1), Double.infinity, Double.nan, try Decimal128(string: "1.50"),
      try Decimal128(string: "4.2E1"), try Decimal128(string: "0.1"), "Hi", "", "'\"", Data([0, 255]),
      Date(timeIntervalSince1970: -1.5), UUID(), try ObjectId(string: "0123456789abcdef01234567"),
    ]
    for value in values {
      try Self.text(people.filter("mix == %@", value))
      try Self.text(people.filter("mix != %@", value))
    }
  }

  @Test func `deep conditions have texts`() throws {
    var format = "age == 30"
    for level in 0..<1_000 {
      let isEven = level.isMultiple(of: 2)
      format = isEven ? "(\(format)) OR id == \(level)" : "(\(format)) AND id != \(level + 5)"
    }
    try Self.text(people.filter(format))
    var joined = people.filter("id > 0")
    for number in 5..<500 { joined = joined.filter("id != \(number)") }
    #expect(try Self.text(joined).hasPrefix("id > 0 AND id != 5 AND id != 6"))
  }

  @Test func `a query without a text stops the program, with class, property and remedy`() {
    let stops = MisuseTests()
    stops.expectStop(["Unsupported subscription", "FixturePerson.dog", "an object", "store the key"]) {
      let fixture = try QueryFixture()
      try Self.text(fixture.people.filter("dog == %@", fixture.rex))
    }
    stops.expectStop(["Unsupported subscription", "FixturePerson", "[d]"]) {
      try Self.text(QueryFixture().people.filter("name ==[d] 'Elan'"))
    }
    stops.expectStop(["Unsupported subscription", "FixturePerson.mix", "a list"]) {
      try Self.text(QueryFixture().people.filter("mix == %@", [1, 2]))
    }
    stops.expectStop(["Unsupported subscription", "FixturePerson.mix", "Decimal128"]) {
      let decimal = try Decimal128(string: "12345678901234567890.5")
      try Self.text(QueryFixture().people.filter("mix == %@", decimal))
    }
    stops.expectStop(["Unsupported subscription", "FixturePlace is embedded"]) {
      let realm = try QueryFixture().realm
      _ = realm.subscriptionQuery(FixturePlace.self) { _ in .always }
    }
    stops.expectStop(["Realm without subscriptions", "flexibleSyncConfiguration"]) {
      _ = try QueryFixture().realm.subscriptions
    }
  }
}
