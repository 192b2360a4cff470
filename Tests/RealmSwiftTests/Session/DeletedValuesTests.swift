import Foundation
import RealmSwift
import RealmTestSupport
import Testing

/// Handles of deleted objects, in realms that keep the values of deleted objects.
@Suite struct DeletedValuesTests {
  private func configuration(_ types: [ObjectBase.Type]) -> Realm.Configuration {
    var configuration = Realm.Configuration(
      inMemoryIdentifier: "deleted \(UUID())", objectTypes: types)
    configuration.keepsDeletedValues = true
    return configuration
  }

  private func people() throws -> (Realm, Person) {
    let realm = try Realm(configuration: configuration([Person.self, Dog.self]))
    let person = Person(id: 1, name: "Ann", age: 30)
    try realm.write {
      let dog = Dog(value: ["name": "Rex"])
      realm.add(person)
      (person.dog, person.height, person.mood) = (dog, 1.7, .merry)
      person.dogs.append(dog)
      person.words.append(objectsIn: ["a", "b"])
    }
    return (realm, person)
  }

  private func expectLast(_ person: Person, name: String = "Ann") {
    #expect(person.isInvalidated)
    #expect(person.id == 1 && person.name == name && person.age == 30 && person.height == 1.7)
    #expect(person.mood == .merry && person["name"] as? String == name && person.born == nil)
    #expect(person.dog == nil && person.dogs.isEmpty && person.words.isEmpty)
    #expect(
      person.words.first == nil && Array(person.dogs).isEmpty && person.words.firstIndex(of: "a") == nil)
    #expect(person.dogs.filter("name == 'Rex'").isEmpty)
  }

  @Test func `an object that its own realm deletes has the values that it had before`() throws {
    let (realm, person) = try people()
    let other = try #require(realm.object(ofType: Person.self, forPrimaryKey: 1))
    let words = person.words
    try realm.write {
      person.name = "Bea"
      realm.delete(person)
      expectLast(person, name: "Bea")
      expectLast(other, name: "Bea")
      #expect(words.isEmpty && words.first == nil)
    }
    expectLast(person, name: "Bea")
    #expect(words.isEmpty && Array(words).isEmpty)
    // Later versions do not change the handle.
    try realm.write { realm.add(Person(id: 2, name: "Cid", age: 1)) }
    expectLast(other, name: "Bea")
  }

  @Test func `an object that another thread deletes has the values of its realm's last refresh`() throws {
    let (realm, person) = try people()
    let configuration = realm.configuration
    try onThread {
      let realm = try Realm(configuration: configuration)
      try realm.write { realm.objects(Person.self).first?.name = "Dan" }
      try realm.write { realm.deleteAll() }
    }
    #expect(person.name == "Ann" && person.words.count == 2)
    realm.refresh()
    expectLast(person)
    // No handle has shown the version between the two.
    #expect(realm.objects(Person.self).isEmpty)
  }

  @Test func `the beginning of a transaction also refreshes the realm, and copies the values`() throws {
    let (realm, person) = try people()
    let configuration = realm.configuration
    try onThread {
      let realm = try Realm(configuration: configuration)
      try realm.write { realm.delete(realm.objects(Person.self)) }
    }
    try realm.write { expectLast(person) }
    expectLast(person)
  }

  @Test
  func
    `an object whose deletion is cancelled shows its row again, and what is deleted later is what it held then`()
    throws
  {
    let (realm, person) = try people()
    realm.beginWrite()
    realm.delete(person)
    #expect(person.isInvalidated && person.age == 30)
    realm.cancelWrite()
    #expect(!person.isInvalidated && person.words.count == 2 && person.dog?.name == "Rex")
    try realm.write { person.age = 31 }
    #expect(person.age == 31)
    try realm.write { realm.deleteAll() }
    #expect(person.isInvalidated && person.age == 31)
  }

  @Test func `an embedded object that goes with its parent has the values of the transaction's beginning`()
    throws
  {
    let realm = try Realm(
      configuration: configuration([
        Household.self, Address.self, Room.self, Dog.self, Person.self,
      ]))
    let household = Household(value: ["id": 1, "home": ["street": "A", "rooms": [["name": "kitchen"]]]])
    try realm.write { realm.add(household) }
    let home = try #require(household.home)
    let room = home.rooms[0]
    try realm.write {
      home.street = "B"
      household.home = Address(value: ["street": "C"])
      #expect(home.isInvalidated && home.street == "A" && room.name == "kitchen")
      #expect(home.residents.isEmpty && home.rooms.isEmpty)
      let made = household.home
      household.home = nil
      // The object has not been in any version.
      #expect(made?.street == "")
    }
    #expect(home.street == "A" && room.name == "kitchen" && home.residents.isEmpty)
  }

  @Test func `a handle of a deleted object pins no version`() throws {
    var configuration = configuration([Person.self, Dog.self])
    configuration.maximumNumberOfActiveVersions = 2
    let realm = try Realm(configuration: configuration)
    try realm.write { for id in 0..<20 { realm.add(Person(id: id, name: "\(id)", age: id)) } }
    let people = Array(realm.objects(Person.self))
    let other = configuration
    for id in 0..<20 {
      // Each write would be refused if handles kept the versions that they show.
      try onThread {
        let realm = try Realm(configuration: other)
        try realm.write { realm.delete(realm.objects(Person.self).where { $0.id == id }) }
      }
      realm.refresh()
    }
    #expect(people.map(\.name) == (0..<20).map(String.init))
  }

  @Test
  func `a write to a deleted object, or a read in an invalidated realm, is refused as without the setting`() {
    MisuseTests().expectStop(["Invalidated object", "Person.name", "was deleted"]) {
      let (realm, person) = try people()
      try realm.write {
        realm.delete(person)
        person.name = "x"
      }
    }
    MisuseTests().expectStop(["Invalidated object", "Person.words"]) {
      let (realm, person) = try people()
      try realm.write {
        realm.delete(person)
        person.words.append("x")
      }
    }
    MisuseTests().expectStop(["Invalidated object", "Person.name"]) {
      let (realm, person) = try people()
      realm.invalidate()
      _ = person.name
    }
  }

  @Test func `all realms of a file have the same setting`() throws {
    let (realm, _) = try people()
    var other = realm.configuration
    other.keepsDeletedValues = false
    #expect {
      try Realm(configuration: other)
    } throws: { error in
      (error as? Realm.Error)?.code == .alreadyOpen
        && error.localizedDescription.contains("keepsDeletedValues")
    }
  }

  /// Two threads make random deletions. The test compares the handles with values that it noted before.
  @Test(arguments: [1, 2, 3] as [UInt64]) func `each handle has the last values of its row`(seed: UInt64)
    throws
  {
    var random = SeededGenerator(seed: seed)
    let realm = try Realm(configuration: configuration([Person.self, Dog.self]))
    let configuration = realm.configuration
    var handles: [(Person, age: Int, isThere: Bool)] = []
    try realm.write {
      for id in 0..<40 { realm.add(Person(id: id, name: "\(id)", age: id)) }
    }
    for person in realm.objects(Person.self) { handles.append((person, person.age, true)) }
    for _ in 0..<60 {
      let (isOwn, place) = (Bool.random(using: &random), Int.random(in: 0..<handles.count, using: &random))
      let id = handles[place].0.id
      if isOwn {
        guard handles[place].isThere else { continue }
        try realm.write {
          handles[place].age += 1000
          handles[place].0.age += 1000
          realm.delete(handles[place].0)
          handles[place].isThere = false
        }
      } else {
        try onThread {
          let realm = try Realm(configuration: configuration)
          try realm.write {
            guard let found = realm.object(ofType: Person.self, forPrimaryKey: id) else { return }
            found.age += 1
            realm.delete(found)
          }
        }
        realm.refresh()
        handles[place].isThere = false
      }
      for (person, age, isThere) in handles {
        #expect(person.age == age && person.isInvalidated != isThere, "seed \(seed)")
      }
    }
  }
}
