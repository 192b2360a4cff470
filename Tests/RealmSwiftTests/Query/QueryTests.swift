import Foundation
import RealmSwift
import RealmTestSupport
import Testing

@Suite("Queries of objects")
struct QueryTests {
  /// A realm with Ann, who is 30 and has Rex, Bob, who is 40 and has no dog, and Élan, who is 25 and has Ida twice.
  private func sample() throws -> Realm {
    let realm = try memoryRealm()
    let (rex, ida) = (Dog(value: ["name": "Rex", "weight": 3]), Dog(value: ["name": "Ida", "weight": 7]))
    let ann = Person(id: 1, name: "Ann", age: 30)
    let bob = Person(id: 2, name: "Bob", age: 40)
    let elan = Person(id: 3, name: "Élan", age: 25)
    (ann.dog, elan.dog) = (rex, ida)
    ann.dogs.append(objectsIn: [rex, ida])
    elan.dogs.append(objectsIn: [ida, ida])
    ann.words.append(objectsIn: ["a", "b"])
    elan.words.append(objectsIn: ["b", "B"])
    (ann.isMember, elan.isMember) = (true, true)
    (ann.height, bob.height) = (1.7, 1.5)
    (ann.mood, bob.mood, elan.mood) = (.merry, .cross, .merry)
    elan.secondMood = .cross
    ann.born = Date(timeIntervalSince1970: 10)
    try realm.write { realm.add([ann, bob, elan]) }
    return realm
  }

  private func ids(_ results: Results<Person>) -> [Int] { results.map(\.id).sorted() }

  @Test("Comparisons, logic and truth values find the right objects")
  func comparisons() throws {
    let people = try sample().objects(Person.self)
    #expect(ids(people.where { $0.age > 28 && $0.age < 41 }) == [1, 2])
    #expect(ids(people.where { $0.age == 30 || $0.age == 25 }) == [1, 3])
    #expect(ids(people.where { !($0.age == 30) }) == [2, 3])
    #expect(ids(people.where { $0.age != 30 }) == [2, 3])
    #expect(ids(people.where { $0.age >= 30 }) == [1, 2])
    #expect(ids(people.where { $0.age <= 30 }) == [1, 3])
    #expect(ids(people.where { $0.isMember }) == [1, 3])
    #expect(ids(people.where { !$0.isMember }) == [2])
    #expect(ids(people.where { $0.isMember == false }) == [2])
    #expect(ids(people.where { $0.isMember && $0.age > 26 }) == [1])
    #expect(ids(people.where { ($0.age > 26) == true }) == [1, 2])
    #expect(ids(people.where { ($0.age > 26) == false }) == [3])
    #expect(ids(people.where { $0.mood == .merry }) == [1, 3])
    #expect(ids(people.where { $0.secondMood == .cross }) == [3])
    #expect(ids(people.where { $0.secondMood == nil }) == [1, 2])
    #expect(ids(people.where { $0.name == "Ann" }) == [1])
    #expect(ids(people.where { $0.name < "B" }) == [1])
    #expect(ids(people.where { $0.age.in([25, 40]) }) == [2, 3])
    #expect(ids(people.where { $0.age.contains(25...30) }) == [1, 3])
    #expect(ids(people.where { $0.age.contains(25..<30) }) == [3])
    #expect(ids(people.where { $0.born > Date(timeIntervalSince1970: 5) }) == [1])
  }

  @Test("The elements of sorted results are the same in whatever order their places are asked for")
  func placesOfASort() throws {
    let realm = try memoryRealm()
    var random = SeededGenerator(seed: 31)
    var model = (0..<9_000).map { (id: $0, name: "Person \(random.below(50))", age: random.below(40)) }
    try realm.write {
      for one in model { realm.add(Person(id: one.id, name: one.name, age: one.age)) }
    }
    func check(_ people: Results<Person>, _ expected: [Int], _ places: [Int]) {
      for place in places where place < expected.count {
        #expect(people[place].id == expected[place], "place \(place)")
      }
      #expect(people.prefix(100).map(\.id) == Array(expected.prefix(100)))
      #expect(people.first?.id == expected.first && people.last?.id == expected.last)
      #expect(people.map(\.id) == expected && people.count == expected.count)
    }
    let sort = [SortDescriptor(keyPath: "age"), SortDescriptor(keyPath: "name", ascending: false)]
    for age in [0, 37, 40] {
      func expected() -> [Int] {
        model.filter { $0.age >= age }.sorted { left, right in
          if left.age != right.age { return left.age < right.age }
          // Equal objects are in the order in which they were made.
          return left.name != right.name ? left.name > right.name : left.id < right.id
        }.map(\.id)
      }
      let places = [0, 127, 128, 1_023, 1_024, 5, 8_999] + (0..<40).map { _ in random.below(9_000) }
      let people = realm.objects(Person.self).where { $0.age >= age }.sorted(by: sort)
      check(people, expected(), places)
      // A change ends the order that was computed.
      realm.beginWrite()
      let changed = random.below(9_000)
      realm.object(ofType: Person.self, forPrimaryKey: changed)?.age = age
      model[changed].age = age
      check(people, expected(), Array(0..<1_024) + places)
      try realm.commitWrite()
    }
  }

  @Test("Null equals null, differs from values and has no order")
  func nulls() throws {
    let people = try sample().objects(Person.self)
    #expect(ids(people.where { $0.height == nil }) == [3])
    #expect(ids(people.where { $0.height != nil }) == [1, 2])
    #expect(ids(people.where { $0.height != 1.5 }) == [1, 3])
    #expect(ids(people.where { $0.height > 0 }) == [1, 2])
    #expect(ids(people.where { $0.dog == nil }) == [2])
    #expect(ids(people.where { $0.dog != nil }) == [1, 3])
  }

  @Test("Texts are searched by their bytes, or without regard to case")
  func texts() throws {
    let people = try sample().objects(Person.self)
    #expect(ids(people.where { $0.name.contains("n") }) == [1, 3])
    #expect(ids(people.where { $0.name.contains("B") }) == [2])
    #expect(ids(people.where { $0.name.contains("b", options: .caseInsensitive) }) == [2])
    #expect(ids(people.where { $0.name.starts(with: "é", options: .caseInsensitive) }) == [3])
    #expect(ids(people.where { $0.name.ends(with: "n") }) == [1, 3])
    #expect(ids(people.where { $0.name.like("??n") }) == [1])
    #expect(ids(people.where { $0.name.equals("ANN", options: .caseInsensitive) }) == [1])
    #expect(ids(people.where { $0.name.notEquals("ANN", options: .caseInsensitive) }) == [2, 3])
    #expect(ids(people.where { $0.name.contains("") }) == [])
    let all: StringOptions = [.caseInsensitive, .diacriticInsensitive]
    #expect(ids(people.where { $0.name.equals("elan", options: all) }) == [3])
    #expect(ids(people.where { $0.name.equals("elan", options: .diacriticInsensitive) }) == [])
    #expect(ids(people.where { $0.name.starts(with: "E", options: .diacriticInsensitive) }) == [3])
    #expect(ids(people.where { $0.name.contains("LÁN", options: all) }) == [3])
  }

  @Test("Queries follow links, and find any element of a list")
  func links() throws {
    let realm = try sample()
    let people = realm.objects(Person.self)
    #expect(ids(people.where { $0.dog.name == "Rex" }) == [1])
    #expect(ids(people.where { $0.dog.weight > 3 }) == [3])
    #expect(ids(people.where { $0.dogs.name == "Ida" }) == [1, 3])
    #expect(ids(people.where { $0.dogs.count == 2 }) == [1, 3])
    #expect(ids(people.where { $0.words.count == 0 }) == [2])
    #expect(ids(people.where { $0.words.contains("b") }) == [1, 3])
    let rex = realm.objects(Dog.self).where { $0.name == "Rex" }[0]
    #expect(ids(people.where { $0.dog == rex }) == [1])
    #expect(ids(people.where { $0.dogs.contains(rex) }) == [1])
    #expect(ids(people.where { $0.dog == Dog() }) == [])
    #expect(people.where { $0.dogs.count > 0 }.first?.dogs.where { $0.weight > 5 }.count == 1)
    #expect(rex.people.where { $0.age == 30 }.count == 1)
  }

  @Test("Sorting is stable, follows links, and puts null first and missing links last in ascending order")
  func sorting() throws {
    let people = try sample().objects(Person.self)
    #expect(people.sorted(byKeyPath: "age").map(\.id) == [3, 1, 2])
    #expect(people.sorted(byKeyPath: "age", ascending: false).map(\.id) == [2, 1, 3])
    #expect(people.sorted(by: \.name).map(\.id) == [1, 2, 3])
    #expect(people.sorted(byKeyPath: "height").map(\.id) == [3, 2, 1])
    #expect(people.sorted(byKeyPath: "height", ascending: false).map(\.id) == [1, 2, 3])
    // The person without a dog is the last one.
    #expect(people.sorted(byKeyPath: "dog.name").map(\.id) == [3, 1, 2])
    #expect(
      people.sorted(by: [
        SortDescriptor(keyPath: \Person.isMember), SortDescriptor(keyPath: "age", ascending: false),
      ])
      .map(\.id) == [2, 1, 3])
    #expect(people.sorted(byKeyPath: "age").where { $0.isMember }.map(\.id) == [3, 1])
    #expect(people.sorted(byKeyPath: "age").first?.id == 3 && people.sorted(byKeyPath: "age").last?.id == 2)
  }

  @Test("Sums, averages and extremes ignore nulls")
  func aggregates() throws {
    let realm = try sample()
    let people = realm.objects(Person.self)
    #expect(people.sum(ofProperty: "age") == 95 && people.sum(of: \.age) == 95)
    #expect(people.min(of: \.age) == 25 && people.max(of: \.age) == 40)
    #expect(people.average(ofProperty: "age") == 95.0 / 3)
    #expect(people.average(of: \.age) == 31)
    #expect(people.min(ofProperty: "height") == 1.5 && people.max(of: \.height) == .some(1.7))
    #expect(people.max(of: \.born) == Date(timeIntervalSince1970: 10))
    let nobody = people.where { $0.age > 100 }
    #expect(nobody.sum(of: \.age) == 0 && nobody.min(of: \.age) == nil && nobody.average(of: \.age) == nil)
    #expect(people.where { $0.isMember }.sum(of: \.age) == 55)
    #expect(realm.objects(Dog.self).sum(of: \.weight) == 10)
    #expect(realm.object(ofType: Person.self, forPrimaryKey: 1)?.dogs.max(of: \.weight) == 7)
  }

  @Test("Results show the present objects of the realm, and a loop shows those at its beginning")
  func liveness() throws {
    let realm = try sample()
    let old = realm.objects(Person.self).where { $0.age > 28 }
    let all = realm.objects(Person.self)
    #expect(old.count == 2 && Array(old).count == 2)
    try realm.write {
      realm.add(Person(id: 4, name: "Dan", age: 50))
      #expect(old.count == 3 && all.count == 4)
      var seen = 0
      for person in old {
        person.age = 1
        seen += 1
      }
      #expect(seen == 3 && old.isEmpty)
      for person in all { realm.delete(person) }
      #expect(all.isEmpty)
      realm.cancelWrite()
    }
    #expect(old.count == 2 && all.count == 3)
    var seen = 0
    for person in all {
      try realm.write { realm.delete(person) }
      seen += 1
    }
    #expect(seen == 3 && all.isEmpty && realm.objects(Person.self).first == nil)
  }

  @Test("The closure forms of map and filter are lazy")
  func lazyForms() throws {
    let realm = try sample()
    let names = realm.objects(Person.self).map(\.name)
    let grown = realm.objects(Person.self).filter { $0.age > 28 }
    try realm.write { realm.add(Person(id: 4, name: "Dan", age: 50)) }
    #expect(Array(names).count == 4 && Array(grown).count == 3)
    #expect(realm.objects(Person.self).index(of: realm.objects(Person.self)[2]) == 2)
    #expect(realm.objects(Person.self).description.hasPrefix("Results<Person> (\n\t[0] Person {"))
  }

  @Test("Aggregates are returned as the requested type")
  func aggregateTypes() throws {
    let realm = try memoryRealm()
    try realm.write { realm.add([Person(id: 1, name: "a", age: 3), Person(id: 2, name: "b", age: 5)]) }
    let people = realm.objects(Person.self)
    #expect(people.max(ofProperty: "age") as Double? == 5 && people.min(ofProperty: "age") as Int8? == 3)
    #expect(people.sum(ofProperty: "age") as Double == 8 && people.sum(ofProperty: "age") as Int? == 8)
    #expect(people.average(ofProperty: "age") as Double? == 4)
  }

  @Test("Counts are compared with ranges and sets of numbers")
  func counts() throws {
    let realm = try memoryRealm()
    try realm.write {
      realm.create(Everything.self, value: ["ints": [5, 6, 7]])
      realm.create(Everything.self, value: ["ints": [1]])
    }
    let all = realm.objects(Everything.self)
    #expect(all.where { $0.ints.count.contains(2...3) }.map(\.ints.count) == [3])
    #expect(all.where { $0.ints.count.in([1, 8]) }.map(\.ints.count) == [1])
    #expect(all.where { $0.ints.count.contains(1..<3) }.map(\.ints.count) == [1])
    #expect(all.where { $0.ints.count == 1 || $0.ints.count > 2 }.count == 2)
  }
}
