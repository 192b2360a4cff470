import Foundation
import RealmSwift
import RealmTestSupport
import Testing

enum Grade: Int, RealmEnum {
  case low = 1, high = 2
}

/// A class in the style that preceded @Persisted, without the parts that only Objective-C can see.
class OldPerson: Object {
  let id = RealmProperty<Int?>()
  let age = RealmOptional<Int>()
  let score = RealmProperty<Double?>()
  let grade = RealmOptional<Grade>()
  let any = RealmProperty<AnyRealmValue>()
  let tags = List<String>()
  let numbers = MutableSet<Int>()
  let ranks = Map<String, Int>()
  let dogs = List<OldDog>()
  var note = "kept by the instance"

  override class func primaryKey() -> String? { "id" }
  override class func indexedProperties() -> [String] { ["age"] }
  override class func ignoredProperties() -> [String] { ["note"] }

  convenience init(_ id: Int) {
    self.init()
    self.id.value = id
  }
}

class OldDog: Object {
  let name = List<String>()
  let owners = LinkingObjects(fromType: OldPerson.self, property: "dogs")
}

class OldWithLost: Object {
  let tags = List<String>()
  var name = ""
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class OldWithNothing: Object {
  var name = ""
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class NamesAnUnknownKey: Object {
  @Persisted var name: String
  override class func primaryKey() -> String? { "id" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class IndexesAList: Object {
  let tags = List<String>()
  override class func indexedProperties() -> [String] { ["tags"] }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class HasADateAsKey: Object {
  @Persisted var day: Date
  override class func primaryKey() -> String? { "day" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class NamesItsKey: Object {
  @Persisted var id: Int
  @Persisted var name: String
  override class func primaryKey() -> String? { "id" }
  override class func indexedProperties() -> [String] { ["name"] }
}

private let types: [ObjectBase.Type] = [OldPerson.self, OldDog.self, NamesItsKey.self]

@Suite struct ClassesWithoutPersistedTests {
  @Test func `collections and properties that are declared by let are stored`() throws {
    let file = TemporaryFile()
    let configuration = Realm.Configuration(fileURL: file.url, objectTypes: types)
    try autoreleasing {
      let realm = try Realm(configuration: configuration)
      let person = OldPerson(1)
      let tags = person.tags
      person.age.value = 30
      person.grade.value = .high
      person.any.value = .string("x")
      tags.append("a")
      person.dogs.append(OldDog())
      person.ranks["r"] = 2
      let dog = person.dogs[0]
      #expect(dog.owners.isEmpty)
      try realm.write { realm.add(person) }
      #expect(person.tags === tags && Array(tags) == ["a"] && tags.realm == realm)
      #expect(dog.owners.map(\.id.value) == [1], "the property itself shows who links now")
      try realm.write {
        person.age.value = nil
        person.score.value = 0.5
        person.numbers.insert(objectsIn: [3, 1])
        tags.append("b")
      }
      #expect(person.age.value == nil && person.score.value == 0.5 && person.note == "kept by the instance")
    }
    let realm = try Realm(configuration: configuration)
    let person = try #require(realm.object(ofType: OldPerson.self, forPrimaryKey: 1))
    #expect(person.id.value == 1 && person.age.value == nil && person.grade.value == .high)
    #expect(
      person.score.value == 0.5 && person.any.value == .string("x") && Array(person.tags) == ["a", "b"])
    #expect(Array(person.numbers) == [1, 3] && person.ranks["r"] == 2 && person.dogs.count == 1)
    #expect(person.dogs[0].owners.first?.isSameObject(as: person) == true)
    #expect(realm.objects(OldPerson.self).map(\.id.value) == [1])
    try realm.verify()
  }

  @Test func `properties that are declared by let are queried, sorted and read by name`() throws {
    let realm = try memoryRealm(types)
    try realm.write {
      for id in 0..<10 {
        let person = OldPerson(id)
        person.age.value = id % 3 == 0 ? nil : 20 - id
        person.tags.append("t\(id)")
        realm.add(person)
      }
    }
    let people = realm.objects(OldPerson.self)
    #expect(people.sorted(by: \.age.value, ascending: false).first?.id.value == 1)
    #expect(people.where { $0.tags.contains("t7") }.first?.id.value == 7)
    #expect(people.sorted(byKeyPath: "age").last?.id.value == 1)
    #expect(people[1]["age"] as? Int == 19 && people[0]["age"] == nil)
    #expect(OldPerson.className() == "OldPerson" && Int.className() == "Int")
    #expect(people[1].objectSchema["age"]?.isIndexed == true)
    #expect(people[1].objectSchema.primaryKeyProperty?.name == "id" && people[1].objectSchema["note"] == nil)
    #expect(people[1].description.contains("\tage = 19;"))
    try realm.write { people[1]["age"] = 5 }
    #expect(people[1].age.value == 5)
  }

  @Test func `properties that are declared by let are made of values, updated and copied`() throws {
    let realm = try memoryRealm(types)
    try realm.write {
      realm.create(OldPerson.self, value: ["id": 1, "age": 2, "tags": ["a"], "grade": 1] as [String: Any])
      realm.create(OldPerson.self, value: ["id": 1, "age": NSNull()] as [String: Any], update: .modified)
    }
    let person = realm.objects(OldPerson.self)[0]
    #expect(person.age.value == nil && Array(person.tags) == ["a"] && person.grade.value == .low)
    let copy = OldPerson(value: person)
    #expect(copy.realm == nil && copy.id.value == 1 && copy.grade.value == .low)
    copy.grade.value = .high
    #expect(person.grade.value == .low)
    let other = try memoryRealm(types + [Dog.self, Person.self])
    let source = try memoryRealm(types + [Dog.self, Person.self])
    try source.write {
      let old = source.create(OldPerson.self, value: ["id": 9])
      old.any.value = .object(Dog(value: ["name": "Rex"]))
      try other.write { other.create(OldPerson.self, value: old) }
    }
    #expect(other.objects(OldPerson.self)[0].any.value.object(Dog.self)?.name == "Rex")
    #expect(RealmOptional(3) == RealmOptional(3) && RealmProperty<Int?>().description == "nil")
    let coded = try JSONEncoder().encode([RealmOptional(3), RealmOptional<Int>()])
    #expect(try JSONDecoder().decode([RealmOptional<Int>].self, from: coded).map(\.value) == [3, nil])
    let property = try JSONDecoder().decode([RealmProperty<Int?>].self, from: Data("[4,null]".utf8))
    #expect(property.map(\.value) == [4, nil])
    #expect(try JSONEncoder().encode(property) == Data("[4,null]".utf8))
  }

  @Test func `a walk continues over a row that was deleted`() throws {
    let realm = try memoryRealm(types)
    try realm.write { for _ in 0..<3 { realm.create(OldDog.self) } }
    let dogs = realm.objects(OldDog.self)
    var invalid = 0
    try realm.write {
      for dog in dogs {
        if dog.isInvalidated { invalid += 1; continue }
        if let last = dogs.last, dogs.count == 3, dog != last { realm.delete(last) }
      }
    }
    #expect(invalid == 1 && dogs.count == 2)
  }

  @Test func `a class with @Persisted may name its key and indexes by methods too`() throws {
    let realm = try memoryRealm(types)
    try realm.write { realm.create(NamesItsKey.self, value: [7, "x"]) }
    #expect(realm.object(ofType: NamesItsKey.self, forPrimaryKey: 7)?.name == "x")
    #expect(realm.schema["NamesItsKey"]?["name"]?.isIndexed == true)
  }
}

extension MisuseTests {
  @Test func `values that would not be stored stop the program`() {
    expectStop(["Invalid schema", "OldWithLost.name would not be stored", "@Persisted"]) {
      _ = try! memoryRealm([OldWithLost.self])
    }
    expectStop(["Invalid schema", "OldWithNothing has no property marked by @Persisted"]) {
      _ = try! memoryRealm([OldWithNothing.self])
    }
    expectStop(["Invalid schema", "IndexesAList.tags can't be indexed"]) {
      _ = try! memoryRealm([IndexesAList.self])
    }
    expectStop(["Invalid schema", "HasADateAsKey.day can't be a primary key"]) {
      _ = try! memoryRealm([HasADateAsKey.self])
    }
    expectStop(["Invalid schema", "NamesAnUnknownKey.primaryKey()", "id"]) {
      _ = try! memoryRealm([NamesAnUnknownKey.self])
    }
  }
}
