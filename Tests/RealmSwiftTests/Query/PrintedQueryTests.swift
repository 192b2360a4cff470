import Foundation
import RealmSwift
import Testing

/// Typed queries, with the texts that they print and the people that they find.
@Suite struct PrintedQueryTests {
  private let fixture: QueryFixture

  init() throws { fixture = try QueryFixture() }

  /// - Parameter found: The people that are found, as the letters of their names.
  private func expect(
    _ text: String, _ arguments: [Any], _ found: String, _ line: SourceLocation = #_sourceLocation,
    _ query: (Query<FixturePerson>) -> Query<Bool>
  ) {
    let (printed, written) = query(._constructForTesting())._constructPredicate()
    #expect(printed == text, sourceLocation: line)
    #expect("\(written)" == "\(arguments)", sourceLocation: line)
    #expect(fixture.letters(fixture.people.where(query)) == found, sourceLocation: line)
  }

  @Test func `comparisons with values and with other properties are printed`() {
    expect("(age == %@)", [30], "A") { $0.age == 30 }
    expect("(age != %@)", [30], "BC") { $0.age != 30 }
    expect("(age < %@)", [30], "C") { $0.age < 30 }
    expect("(age >= %@)", [30], "AB") { $0.age >= 30 }
    expect("((age > %@) && (age < %@))", [28, 41], "AB") { $0.age > 28 && $0.age < 41 }
    expect("(nick == %@)", [NSNull()], "A") { $0.nick == nil }
    expect("(nick != %@)", [NSNull()], "BC") { $0.nick != nil }
    expect("(nick > %@)", [NSNull()], "BC") { $0.nick > nil }
    expect("(score >= %@)", [NSNull()], "B") { $0.score >= nil }
    expect("(score > %@)", [NSNull()], "") { $0.score > nil }
    expect("(name == name)", [], "ABC") { $0.name == $0.name }
    expect("(age > id)", [], "ABC") { $0.age > $0.id }
    expect("(id == dog.age)", [], "") { $0.id == $0.dog.age }
    expect("(born > %@)", [Date(timeIntervalSince1970: 10)], "B") {
      $0.born > Date(timeIntervalSince1970: 10)
    }
  }

  @Test func `truth values and joined conditions are printed`() {
    expect("vip == true", [], "AC") { $0.vip }
    expect("vip == false", [], "B") { !$0.vip }
    expect("dog.good == true", [], "A") { $0.dog.good }
    expect("((age == %@) && vip == true)", [30], "A") { $0.age == 30 && $0.vip }
    expect("(vip == false || (age == %@))", [30], "AB") { !$0.vip || $0.age == 30 }
    expect("((age == %@) || vip == false)", [30], "AB") { $0.age == 30 || !$0.vip }
    expect("(NOT age == %@)", [30], "BC") { !($0.age == 30) }
    expect("NOT (vip == true && (age == %@))", [30], "BC") { !($0.vip && $0.age == 30) }
    expect("(NOT (vip == true || (age == %@)) && (id == %@))", [30, 2], "B") {
      !($0.vip || $0.age == 30) && $0.id == 2
    }
    expect("(((age > %@) && (age < %@)) && (id != %@))", [1, 99, 2], "AC") {
      $0.age > 1 && $0.age < 99 && $0.id != 2
    }
    // The values are in the order of the text, whatever the order in which the conditions were made.
    expect("((id == %@) || (age == %@))", [2, 30], "AB") { person in
      let age = person.age == 30
      let id = person.id == 2
      return id || age
    }
    expect("((age == %@) || (age == %@))", [30, 30], "A") { person in
      let age = person.age == 30
      return age || age
    }
  }

  @Test func `conditions on texts are printed`() {
    expect("(name ==[cd] %@)", ["elan"], "C") {
      $0.name.equals("elan", options: [.caseInsensitive, .diacriticInsensitive])
    }
    expect("(name !=[c] %@)", ["ANN"], "BC") { $0.name.notEquals("ANN", options: .caseInsensitive) }
    expect("(name == %@)", ["ann"], "") { $0.name.equals("ann") }
    expect("(name CONTAINS[c] %@)", ["N"], "AC") { $0.name.contains("N", options: .caseInsensitive) }
    expect("(name CONTAINS %@)", [""], "") { $0.name.contains("") }
    expect("(name BEGINSWITH %@)", ["B"], "B") { $0.name.starts(with: "B") }
    expect("(NOT name ENDSWITH %@)", ["n"], "B") { !$0.name.ends(with: "n") }
    expect("(name LIKE %@)", ["?nn"], "A") { $0.name.like("?nn") }
    expect("(name LIKE[c] %@)", ["a*"], "A") { $0.name.like("a*", caseInsensitive: true) }
    expect("(nick CONTAINS name)", [], "") { $0.nick.contains($0.name) }
    expect("(name BEGINSWITH[c] name)", [], "ABC") {
      $0.name.starts(with: $0.name, options: .caseInsensitive)
    }
    expect("(name LIKE name)", [], "ABC") { $0.name.like($0.name) }
  }

  @Test func `conditions on ranges and on sets of values are printed`() {
    expect("((age >= %@) && (age < %@))", [25, 30], "C") { $0.age.contains(25..<30) }
    expect("(age BETWEEN {%@, %@})", [25, 30], "AC") { $0.age.contains(25...30) }
    expect("(score BETWEEN {%@, %@})", [1, 5], "A") { $0.score.contains(1...5) }
    expect("((ANY dogs.age >= %@) && (ANY dogs.age < %@))", [4, 9], "AC") { $0.dogs.age.contains(4..<9) }
    expect("(ANY dogs.age BETWEEN {%@, %@})", [1, 3], "A") { $0.dogs.age.contains(1...3) }
    expect("(age IN %@)", [[25, 40]], "BC") { $0.age.in([25, 40]) }
    expect("(NOT age IN %@)", [[25, 40]], "A") { !$0.age.in([25, 40]) }
    expect("(age IN %@)", [[Int]()], "") { $0.age.in([]) }
    expect("((nums.@min >= %@) && (nums.@max <= %@))", [1, 5], "AC") { $0.nums.contains(1...5) }
    expect("((nums.@min >= %@) && (nums.@max < %@))", [1, 3], "") { $0.nums.contains(1..<3) }
    expect("((prefs.@min >= %@) && (prefs.@max <= %@))", [1, 2], "A") { $0.prefs.contains(1...2) }
  }

  @Test func `conditions on links and collections are printed`() {
    let (rex, ida) = (fixture.rex, fixture.ida)
    expect("(dog == %@)", [rex], "A") { $0.dog == rex }
    expect("(dog == %@)", [NSNull()], "B") { $0.dog == nil }
    expect("(dog != %@)", [rex], "BC") { $0.dog != rex }
    expect("(dog.age > %@)", [5], "C") { $0.dog.age > 5 }
    expect("(dog.age != %@)", [3], "BC") { $0.dog.age != 3 }
    expect("(ANY dogs.age > %@)", [5], "AC") { $0.dogs.age > 5 }
    expect("(NOT ANY dogs.age > %@)", [5], "B") { !($0.dogs.age > 5) }
    expect("(ANY dogs == %@)", [rex], "A") { $0.dogs == rex }
    expect("(%@ IN dogs)", [rex], "A") { $0.dogs.contains(rex) }
    expect("(ANY dogs IN %@)", [[rex, ida]], "AC") { $0.dogs.containsAny(in: [rex, ida]) }
    expect("(ANY tags == %@)", ["a"], "A") { $0.tags == "a" }
    expect("(ANY tags != %@)", ["b"], "AC") { $0.tags != "b" }
    expect("(%@ IN tags)", ["B"], "C") { $0.tags.contains("B") }
    expect("(NOT %@ IN tags)", ["B"], "AB") { !$0.tags.contains("B") }
    expect("(tags.@count == %@)", [0], "B") { $0.tags.count == 0 }
    expect("(ANY nums > %@)", [4], "C") { $0.nums > 4 }
    expect("(nums.@sum == %@)", [0], "B") { $0.nums.sum == 0 }
    expect("(nums.@max == %@)", [3], "A") { $0.nums.max == 3 }
    expect("(kinds.@min == %@)", [1], "A") { $0.kinds.min == 1 }
    expect("(dogs.@sum.age == %@)", [14], "C") { $0.dogs.age.sum == 14 }
    expect("(dogs.@avg.age == %@)", [5], "A") { $0.dogs.age.avg == 5 }
    expect("(place.city == %@)", ["Ulm"], "A") { $0.place.city == "Ulm" }
    expect("(dog.people.@count == %@)", [1], "A") { $0.dog.people.count == 1 }
    #expect(fixture.dogs.where { $0.people.name == "Ann" }.map(\.name) == ["Rex", "Ida"])
    #expect(fixture.dogs.where { $0.people.count == 3 }.map(\.name) == ["Ida"])
  }

  @Test func `conditions on maps and on values of any type are printed`() {
    expect("(ANY prefs.@allKeys == %@)", ["y"], "A") { $0.prefs.keys == "y" }
    expect("(ANY prefs.@allKeys BEGINSWITH[c] %@)", ["X"], "AC") {
      $0.prefs.keys.starts(with: "X", options: .caseInsensitive)
    }
    expect("(ANY prefs.@allValues > %@)", [1], "AC") { $0.prefs.values > 1 }
    expect("(prefs[%@] == %@)", ["x", 9], "C") { $0.prefs["x"] == 9 }
    expect("(prefs[%@] != %@)", ["x", 1], "C") { $0.prefs["x"] != 1 }
    expect("(prefs.@count == %@)", [2], "A") { $0.prefs.count == 2 }
    expect("(%@ IN prefs)", [9], "C") { $0.prefs.contains(9) }
    expect("(ANY prefs IN %@)", [[1, 9]], "AC") { $0.prefs.containsAny(in: [1, 9]) }
    expect("(prefs.@sum == %@)", [3], "A") { $0.prefs.sum == 3 }
    expect("(mix == %@)", [AnyRealmValue.int(42)], "A") { $0.mix == .int(42) }
    expect("(mix > %@)", [AnyRealmValue.int(40)], "A") { $0.mix > .int(40) }
    expect("(mix[%@][%@] == %@)", ["k", 0, AnyRealmValue.int(10)], "C") { $0.mix["k"][0] == .int(10) }
    expect("(mix[%K][%@] == %@)", ["#any", 0, AnyRealmValue.int(10)], "C") { $0.mix.any[0] == .int(10) }
    expect("(mix[%@][%K] == %@)", ["k", "#any", AnyRealmValue.int(10)], "C") { $0.mix["k"].any == .int(10) }
    expect("(mix[%@] == %@)", ["#any", AnyRealmValue.int(10)], "") { $0.mix["#any"] == .int(10) }
  }

  @Test func `subqueries count the elements for which all parts of a condition hold`() {
    expect("(SUBQUERY(dogs, $col1, ($col1.age > %@)).@count == %@)", [5, 2], "C") {
      ($0.dogs.age > 5).count == 2
    }
    expect("(SUBQUERY(dogs, $col1, ($col1.age > %@)).@count == %@)", [9, 0], "ABC") {
      ($0.dogs.age > 9).count == 0
    }
    expect(
      "(SUBQUERY(dogs, $col1, (($col1.age > %@) && ($col1.name == %@))).@count == %@)", [5, "Ida", 1], "A"
    ) { ($0.dogs.age > 5 && $0.dogs.name == "Ida").count == 1 }
    expect(
      "((SUBQUERY(dogs, $col1, ($col1.age > %@)).@count > %@) && (SUBQUERY(dogs, $col2, ($col2.age < %@)).@count > %@))",
      [5, 0, 5, 0], "A"
    ) { ($0.dogs.age > 5).count > 0 && ($0.dogs.age < 5).count > 0 }
    expect("(SUBQUERY(dogs, $col1, ($col1.toys.@count > %@)).@count == %@)", [0, 1], "A") {
      ($0.dogs.toys.count > 0).count == 1
    }
    expect("(SUBQUERY(dogs, $col1, (ANY $col1.toys == %@)).@count == %@)", ["ball", 1], "A") {
      ($0.dogs.toys == "ball").count == 1
    }
  }

  @Test func `values that are stored as embedded objects are compared property by property`() {
    let (ulm, rom) = (FixtureAddress(city: "Ulm", floor: 3), FixtureAddress(city: "Rom"))
    expect("(address == %@)", [ulm], "A") { $0.address == ulm }
    expect("(NOT address == %@)", [ulm], "BC") { $0.address != ulm }
    expect("(address == %@)", [FixtureAddress(city: "Ulm")], "") { $0.address == FixtureAddress(city: "Ulm") }
    expect("(address == %@)", [NSNull()], "BC") { $0.address == nil }
    expect("(home == %@)", [rom], "B") { $0.home == rom }
    expect("((home == %@) || (id == %@))", [rom, 1], "AB") { $0.home == rom || $0.id == 1 }
    expect("(address.city != %@)", ["Ulm"], "BC") { $0.address.persistableValue.city != "Ulm" }
  }

  @Test func `conditions on stored forms are printed`() {
    expect("(kind == %@)", [FixtureKind.high], "C") { $0.kind == .high }
    expect("(kind > %@)", [1], "C") { $0.kind.rawValue > 1 }
    expect("(ANY otherKinds == %@)", [FixtureKind.high], "A") { $0.otherKinds == .high }
    expect("(ANY otherKinds IN %@)", [[FixtureKind.low, .high]], "A") {
      $0.otherKinds.containsAny(in: [.low, .high])
    }
  }
}
