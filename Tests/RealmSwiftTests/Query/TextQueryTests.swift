import Foundation
import RealmSwift
import Testing

/// Queries that are given as texts.
@Suite struct TextQueryTests {
  private let fixture: QueryFixture
  private var people: Results<FixturePerson> { fixture.people }

  init() throws { fixture = try QueryFixture() }

  private func letters(_ found: Results<FixturePerson>) -> String { fixture.letters(found) }

  // MARK: - Formats of NSPredicate

  @Test func `a format finds the objects that the same typed query finds`() {
    #expect(letters(people.filter("age > 28 AND age < 41")) == "AB")
    #expect(letters(people.filter("age > %@ AND name BEGINSWITH[c] %@", 28, "b")) == "B")
    #expect(letters(people.filter("%K == %@", "age", 30)) == "A")
    #expect(letters(people.filter("nick == nil")) == "A" && letters(people.filter("nick == %@", nil)) == "A")
    #expect(letters(people.filter("stored_nick == %@", "bo")) == "B")
    #expect(letters(people.filter("age IN %@", [25, 40])) == "BC")
    #expect(letters(people.filter("age BETWEEN {25, 30}")) == "AC")
    #expect(letters(people.filter("born > %@", Date(timeIntervalSince1970: 10))) == "B")
    #expect(letters(people.filter("bytes == %@", Data([1, 2]))) == "A")
    #expect(letters(people.filter("name ==[cd] 'elan'")) == "C")
    #expect(letters(people.filter("NOT age == 30")) == "BC")
    #expect(letters(people.filter("vip == 1")) == "AC" && letters(people.filter("vip == YES")) == "AC")
    #expect(letters(people.filter("kind == %@", FixtureKind.high)) == "C")
    #expect(letters(people.filter("mix == %@", 42)) == "A" && letters(people.filter("mix == 'Hi'")) == "B")
  }

  @Test func `a format follows links and looks into collections`() {
    #expect(letters(people.filter("dog == %@", fixture.rex)) == "A")
    #expect(letters(people.filter("dog == nil")) == "B" && letters(people.filter("dog.age > 5")) == "C")
    #expect(letters(people.filter("ANY dogs.name == 'Ida'")) == "AC")
    #expect(letters(people.filter("NONE dogs.name == 'Ida'")) == "B")
    #expect(letters(people.filter("%@ IN dogs", fixture.ida)) == "AC")
    #expect(letters(people.filter("ANY dogs IN %@", fixture.dogs.filter("age > 5"))) == "AC")
    #expect(letters(people.filter("dogs.@count == 2 AND dogs.@sum.age == 14")) == "C")
    #expect(letters(people.filter("SUBQUERY(dogs, $d, $d.age > 5).@count == 2")) == "C")
    #expect(
      letters(people.filter("ANY prefs.@allKeys == 'y'")) == "A"
        && letters(people.filter("prefs['x'] == 1")) == "A")
    #expect(
      letters(people.filter("mix['k'][0] == 10")) == "C"
        && letters(people.filter("mix[%K][0] == 10", "#any")) == "C")
    #expect(letters(people.filter("place.city == 'Ulm'")) == "A")
    #expect(fixture.dogs.filter("ANY people.name == 'Ann'").map(\.name) == ["Rex", "Ida"])
    #expect(fixture.dogs.filter("people.@count == 3").map(\.name) == ["Ida"])
    let ann = people[0]
    #expect(ann.dogs.filter("age > 5").map(\.name) == ["Ida"])
    #expect(ann.friends.filter("age > 5").map { $0?.name } == ["Ida"])
    #expect(people.index(matching: "age == %@", 25) == 2 && people.index(matching: "age == 1") == nil)
  }

  @Test func `a format that is invalid stops the program and gives the place`() {
    let stops = MisuseTests()
    stops.expectStop(["Invalid query", "FixturePerson", "agee", "age"]) {
      _ = try QueryFixture().people.filter("agee == 1")
    }
    stops.expectStop(["Syntax error", "^"]) { _ = try QueryFixture().people.filter("age ==") }
    stops.expectStop(["Invalid query", "age"]) { _ = try QueryFixture().people.filter("age == 'x'") }
    stops.expectStop(["Invalid query argument"]) { _ = try QueryFixture().people.filter("age == %@") }
    stops.expectStop(["Invalid argument", "NSObject"]) {
      _ = try QueryFixture().people.filter("age == %@", NSObject())
    }
  }

  // MARK: - Predicates of Foundation

  @Test func `predicates and compounds of them are used like formats`() {
    let old = NSPredicate(format: "age > %@", 28)
    let vip = NSPredicate(format: "vip == %@", argumentArray: [true])
    #expect(letters(people.filter(old)) == "AB")
    #expect(letters(people.filter(NSCompoundPredicate(andPredicateWithSubpredicates: [old, vip]))) == "A")
    #expect(letters(people.filter(NSCompoundPredicate(orPredicateWithSubpredicates: [old, vip]))) == "ABC")
    #expect(letters(people.filter(NSCompoundPredicate(notPredicateWithSubpredicate: old))) == "C")
    #expect(letters(people.filter(NSCompoundPredicate(andPredicateWithSubpredicates: []))) == "ABC")
    #expect(letters(people.filter(NSCompoundPredicate(orPredicateWithSubpredicates: []))) == "")
    #expect(
      letters(people.filter(NSPredicate(value: true))) == "ABC"
        && people.filter(NSPredicate(value: false)).isEmpty)
    #expect(people.index(matching: NSPredicate(format: "age == 40")) == 1)
    var deep: NSPredicate = old
    for _ in 0..<2_001 { deep = NSCompoundPredicate(notPredicateWithSubpredicate: deep) }
    #expect(letters(people.filter(deep)) == "C")
    #expect(old.evaluate(with: people[0]) && !old.evaluate(with: people[2]))
    let stops = MisuseTests()
    stops.expectStop(["Invalid predicate", "FixturePerson", "block"]) {
      _ = try QueryFixture().people.filter(NSPredicate { _, _ in true })
    }
  }

  // MARK: - Realm's query language

  @Test func `a query in Realm's language filters, sorts, makes distinct and limits`() throws {
    #expect(letters(try people.query("age > $0 and name BEGINSWITH[c] $1", 28, "b")) == "B")
    #expect(letters(try people.query("dogs.name == 'Ida'")) == "AC")
    #expect(letters(try people.query("ALL dogs.name == 'Ida'")) == "BC")
    #expect(letters(try people.query("2 * (age - 5) == 40")) == "C")
    #expect(letters(try people.query("dog == obj('FixtureDog', 'Rex')")) == "A")
    #expect(letters(try people.query("TRUEPREDICATE SORT(age DESC) LIMIT(2)")) == "BA")
    #expect(letters(try people.query("TRUEPREDICATE SORT(vip ASC) SORT(age ASC)")) == "CAB")
    #expect(letters(try people.query("TRUEPREDICATE SORT(age ASC) DISTINCT(vip)")) == "CB")
    #expect(try fixture.dogs.query("people.@count == 3").map(\.name) == ["Ida"])
    #expect(try fixture.dogs.query("@links.FixturePerson.dogs.@count == 3").map(\.name) == ["Ida"])
    let two = try people.query("TRUEPREDICATE SORT(age DESC) LIMIT(2)")
    #expect(two.count == 2 && two.first?.age == 40 && two[1].age == 30)
    // A later filter applies to the objects that the limit has left.
    #expect(letters(two.where { $0.age < 40 }) == "A" && letters(two.where { $0.age < 30 }) == "")
    #expect(letters(two.sorted(by: \.age)) == "AB")
  }

  @Test func `an invalid query in Realm's language throws an error with the place and the expected text`() {
    func message(_ text: String, _ arguments: Any?...) -> String {
      do {
        _ = try people.query(text, arguments)
        return ""
      } catch { return "\(error)" }
    }
    #expect(message("nmae == 'x'").contains("name") && message("nmae == 'x'").contains("^~~~"))
    #expect(message("age ==").hasPrefix("Syntax error"))
    #expect(message("age > $7").hasPrefix("Invalid query argument"))
    #expect(throws: QueryError.self) { try people.query("name CONTAINS 5") }
  }

  // MARK: - Liveness

  @Test func `results of a text are live, and show the writes of an open transaction`() throws {
    let old = people.filter("ANY dogs.age > 5 OR nums.@sum > 10")
    #expect(letters(old) == "AC")
    try fixture.realm.write {
      people[1].nums.append(11)
      #expect(letters(old) == "ABC")
      fixture.ida.age = 1
      #expect(letters(old) == "B")
    }
    #expect(letters(old) == "B" && old.count == 1)
  }
}
