import Foundation
import RealmSwift
import Testing

@Suite struct ReferenceTests {
  @Test func `a reference takes an object and a collection to another thread, which sees what was committed`()
    throws
  {
    let realm = try memoryRealm()
    let person = Person(id: 1, name: "Ada", age: 36)
    try realm.write { realm.add(person) }
    let configuration = realm.configuration
    let reference = ThreadSafeReference(to: person)
    let results = ThreadSafeReference(to: realm.objects(Person.self).filter("age > 30"))
    let words = ThreadSafeReference(to: person.words)
    let text = try onThread {
      let realm = try Realm(configuration: configuration)
      let (person, results) = (realm.resolve(reference), realm.resolve(results))
      try realm.write { realm.resolve(words)?.append("said") }
      return
        "\(person?.name ?? "") \(results?.count ?? 0) \(reference.isInvalidated) \(person?.words.first ?? "")"
    }
    #expect(text == "Ada 1 true said")
    realm.refresh()
    #expect(person.words.first == "said")
  }

  @Test func `a reference to what was deleted resolves to nothing`() throws {
    let realm = try memoryRealm()
    let person = Person(id: 1, name: "Ada", age: 36)
    try realm.write { realm.add(person) }
    let reference = ThreadSafeReference(to: person)
    try realm.write { realm.delete(person) }
    #expect(realm.resolve(reference) == nil)
  }

  @Test func `a reference refreshes the realm that resolves it`() throws {
    let realm = try memoryRealm()
    try realm.write { realm.add(Person(id: 1, name: "Ada", age: 36)) }
    let configuration = realm.configuration
    #expect(realm.objects(Person.self).count == 1)
    let reference = try onThread {
      let realm = try Realm(configuration: configuration)
      let person = Person(id: 2, name: "Grace", age: 85)
      try realm.write { realm.add(person) }
      return ThreadSafeReference(to: person)
    }
    #expect(realm.objects(Person.self).count == 1)
    #expect(realm.resolve(reference)?.name == "Grace")
    #expect(realm.objects(Person.self).count == 2)
  }

  @Test
  func `a variable that is thread-safe is read on every thread, and is nothing once its object is deleted`()
    throws
  {
    let realm = try memoryRealm()
    let object = Person(id: 1, name: "Ada", age: 36)
    try realm.write { realm.add(object) }
    @ThreadSafe var person = object
    let variable = _person
    for _ in 0..<3 {
      #expect(try onThread { variable.wrappedValue?.name } == "Ada")
    }
    try realm.write { object.name = "Countess" }
    #expect(try onThread { variable.wrappedValue?.name } == "Countess")
    try realm.write { realm.delete(object) }
    #expect(try onThread { variable.wrappedValue == nil })
    person = nil
    #expect(person == nil)
  }

  @Test func `a reference pins no version`() throws {
    let realm = try memoryRealm()
    let person = Person(id: 1, name: "Ada", age: 36)
    try realm.write { realm.add(person) }
    let reference = ThreadSafeReference(to: person)
    var configuration = realm.configuration
    configuration.maximumNumberOfActiveVersions = 3
    let limited = try Realm(configuration: configuration)
    for age in 0..<20 { try limited.write { person.age = age } }
    #expect(realm.resolve(reference)?.age == 19)
  }
}
