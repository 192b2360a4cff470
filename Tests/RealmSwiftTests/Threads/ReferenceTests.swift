import Dispatch
import Foundation
import RealmSwift
import Testing

@Suite struct ReferenceTests {
  @Test func `a reference takes an object and a collection to another thread, which sees their commit`()
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

  @Test func `a reference to a deleted object resolves to nil`() throws {
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
  func `a thread-safe variable is read on every thread, and is nil after its object is deleted`() throws {
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

  @Test
  func `a reference to an object of a cancelled transaction resolves to nil, even if its key is in use`()
    throws
  {
    struct Cancelled: Error {}
    let realm = try memoryRealm()
    var references: [ThreadSafeReference<Dog>] = []
    let old = Dog()
    try realm.write { realm.add(old) }
    #expect(throws: Cancelled.self) {
      try realm.write {
        let dog = realm.create(Dog.self, value: ["name": "never"])
        references = [ThreadSafeReference(to: dog), ThreadSafeReference(to: old)]
        throw Cancelled()
      }
    }
    try realm.write { realm.create(Dog.self, value: ["name": "another"]) }
    #expect(references.map { realm.resolve($0)?.name } == [nil, ""])
  }

  @Test func `a reference of an open transaction resolves after the commit, in a realm at an older version`()
    throws
  {
    let realm = try memoryRealm()
    let configuration = realm.configuration
    let queue = DispatchQueue(label: "target")
    let other = try queue.sync { Shared(try Realm(configuration: configuration, queue: queue)) }
    queue.sync { other.value.autorefresh = false }
    #expect(queue.sync { other.value.objects(Dog.self).count } == 0)
    var reference: ThreadSafeReference<Dog>?
    try realm.write { reference = ThreadSafeReference(to: realm.create(Dog.self, value: ["name": "Rex"])) }
    let sent = try #require(reference)
    #expect(queue.sync { other.value.resolve(sent)?.name } == "Rex")
  }

  @Test func `a list in a value of any type that was replaced thaws to nil`() throws {
    let realm = try memoryRealm()
    let thing = Collected()
    try realm.write {
      thing.any = .fromArray([.int(1)])
      realm.add(thing)
    }
    let frozen = try #require(thing.any.listValue).freeze()
    try realm.write { thing.any = .none }
    #expect(frozen.count == 1 && frozen.thaw() == nil)
  }
}
