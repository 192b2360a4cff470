import Foundation
import RealmSwift
import Testing

/// Values by the names of properties, and queries of maps.
@Suite struct KeyedValueTests {
  private let fixture: QueryFixture
  private var people: Results<FixturePerson> { fixture.people }

  init() throws { fixture = try QueryFixture() }

  @Test func `a property is read and set by its name`() throws {
    let ann = people[0]
    #expect(ann.value(forKey: "age") as? Int == 30 && ann.value(forKey: "nick") == nil)
    #expect(
      (ann.value(forKey: "dog") as? FixtureDog)?.name == "Rex"
        && ann.value(forKeyPath: "dog.name") as? String == "Rex")
    try fixture.realm.write { ann.setValue(31, forKey: "age") }
    #expect(ann.age == 31)
    let unmanaged = FixtureDog()
    unmanaged.setValue("Bo", forKey: "name")
    #expect(unmanaged.name == "Bo" && unmanaged.value(forKey: "name") as? String == "Bo")
  }

  @Test func `a collection returns and sets the values of its objects`() throws {
    #expect(people.value(forKey: "age") as? [Int] == [30, 40, 25])
    #expect((people.value(forKey: "score") as? [Any])?.map { $0 as? Int } == [5, nil, 7])
    #expect(people.value(forKeyPath: "dogs.name") as? [[String]] == [["Rex", "Ida"], [], ["Ida", "Ida"]])
    #expect((people[0].dogs.value(forKey: "self") as? [FixtureDog])?.map(\.name) == ["Rex", "Ida"])
    try fixture.realm.write { people.where { $0.age < 35 }.setValue(50, forKey: "age") }
    #expect(people.value(forKey: "age") as? [Int] == [50, 40, 50])
  }

  @Test func `operators in a key path make one value of many`() {
    #expect(
      people.value(forKeyPath: "@count") as? Int == 3 && people.value(forKeyPath: "@sum.age") as? Int == 95)
    #expect(
      people.value(forKeyPath: "@min.age") as? Int == 25
        && people.value(forKeyPath: "@max.height") as? Double == 2)
    #expect(
      people.value(forKeyPath: "@avg.age") as? Double == 95.0 / 3
        && people.value(forKeyPath: "@sum.score") as? Int == 12)
    #expect(
      people[0].value(forKeyPath: "dogs.@avg.age") as? Double == 5
        && people[1].value(forKeyPath: "dogs.@max.age") == nil)
    #expect(
      people[0].value(forKeyPath: "nums.@sum.self") as? Int == 6
        && people[0].value(forKeyPath: "nums.@count") as? Int == 3)
    #expect(people.value(forKeyPath: "@unionOfObjects.vip") as? [Bool] == [true, false, true])
    #expect(people.value(forKeyPath: "@distinctUnionOfObjects.vip") as? [Bool] == [true, false])
    #expect(people.value(forKeyPath: "@unionOfArrays.tags") as? [String] == ["a", "b", "b", "B"])
    #expect(people.value(forKeyPath: "@distinctUnionOfArrays.tags") as? [String] == ["a", "b", "B"])
    #expect(
      (people.value(forKeyPath: "@distinctUnionOfArrays.dogs") as? [FixtureDog])?.map(\.name) == [
        "Rex", "Ida",
      ])
    #expect(
      people[0].value(forKeyPath: "prefs.x") as? Int == 1
        && people[0].value(forKeyPath: "prefs.@max.self") as? Int == 2)
    let stops = MisuseTests()
    stops.expectStop(["Unknown operator", "@median"]) {
      _ = try QueryFixture().people.value(forKeyPath: "@median.age")
    }
    stops.expectStop(["Unknown property", "FixturePerson", "agee"]) {
      _ = try QueryFixture().people.value(forKey: "agee")
    }
  }

  @Test func `maps of objects are queried, sorted and aggregated`() throws {
    let friends = people[0].friends
    #expect(friends.where { $0.age > 5 }.map { $0?.name } == ["Ida"])
    #expect(friends.sorted(byKeyPath: "age", ascending: false).map { $0?.name } == ["Ida", "Rex"])
    #expect(friends.sorted(by: \.name).map { $0?.name } == ["Ida", "Rex"])
    #expect(friends.sorted(by: [SortDescriptor(keyPath: "age")]).first??.name == "Rex")
    #expect(
      friends.sum(of: \.age) == 10 && friends.min(ofProperty: "age") == 3 && friends.max(of: \.age) == 7)
    #expect(
      friends.average(ofProperty: "age") == 5.0
        && friends.contains { key, value in key == "c" && value == nil })
    let results = friends.where { $0.age > 1 }
    try fixture.realm.write { friends["d"] = .some(fixture.rex) }
    #expect(results.map { $0?.name } == ["Rex", "Ida", "Rex"])
    let unmanaged = Map<String, FixtureDog?>()
    unmanaged["a"] = .some(FixtureDog(value: ["name": "Bo", "age": 4]))
    #expect(unmanaged.sum(ofProperty: "age") == 4 && unmanaged.max(of: \.age) == 4)
  }

  @Test
  func
    `numbers among values of any type are added up, and collections of values are told from those of objects`()
  {
    let values = List<AnyRealmValue>()
    values.append(objectsIn: [.int(2), .string("x"), .double(0.5), .none])
    #expect(values.sum() == .double(2.5) && values.average() == AnyRealmValue.double(1.25))
    #expect(values.min() == .double(0.5) && List<AnyRealmValue>().max() == nil)
    let stops = MisuseTests()
    stops.expectStop(["Collection of values", "List<Int>"]) {
      _ = try QueryFixture().people[0].nums.filter("self > 1")
    }
    stops.expectStop(["Collection of values"]) { _ = List<Int>().sum(ofProperty: "x") as Int }
    #expect(SortDescriptor(keyPath: "a.b", ascending: false).description.contains("a.b"))
    #expect(_name(for: \FixturePerson.dog?.name) == "dog.name")
    let all = fixture.people.where { $0.age.in([30, 40]) }.filter("age IN %@", Set([40, 41]))
    #expect(fixture.letters(all) == "B")
  }
}
