import Dispatch
import Foundation
import RealmSwift
import Testing

/// Runs `body` on a new thread, and returns its result.
func onThread<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) throws -> Result {
  nonisolated(unsafe) var result: Swift.Result<Result, any Error>?
  let done = DispatchSemaphore(value: 0)
  Thread {
    result = Swift.Result { try body() }
    done.signal()
  }.start()
  done.wait()
  // The thread that ends keeps no reference to the result.
  let answer = result!
  result = nil
  return try answer.get()
}

/// Lets another thread use a value that one thread uses at a time, or that is frozen.
struct Shared<Value>: @unchecked Sendable {
  let value: Value
  init(_ value: Value) { self.value = value }
}

@Suite struct FreezingTests {
  private func sample(_ realm: Realm) throws {
    try realm.write {
      for id in 0..<100 {
        let person = Person(id: id, name: "p\(id)", age: id % 10)
        person.words.append(objectsIn: ["a\(id)", "b"])
        let dog = Dog()
        dog.name = "d\(id)"
        person.dog = dog
        person.dogs.append(dog)
        realm.add(person)
      }
    }
  }

  @Test func `frozen objects, collections and realms keep their values, on every thread`() throws {
    let realm = try memoryRealm()
    try sample(realm)
    let people = realm.objects(Person.self).filter("age > 4").sorted(byKeyPath: "name")
    let first = try #require(people.first)
    let frozen = (
      realm: realm.freeze(), people: people.freeze(), person: first.freeze(), words: first.words.freeze(),
      dogs: first.dogs.freeze()
    )
    #expect(
      frozen.realm.isFrozen && frozen.people.isFrozen && frozen.person.isFrozen && frozen.words.isFrozen)
    #expect(
      !realm.isFrozen && !people.isFrozen && !first.isFrozen && !Person().isFrozen && !List<Int>().isFrozen)
    try realm.write {
      first.name = "changed"
      first.words.removeAll()
      first.dog?.name = "changed too"
      realm.delete(realm.objects(Person.self).filter("age == 9"))
    }
    let shared = Shared(frozen)
    let texts = try (0..<4).map { _ in
      try onThread {
        let (realm, people, person, words, dogs) = shared.value
        var texts: [String] = [String(realm.objects(Person.self).count), String(people.count)]
        texts += [people[49].name, person.name, person.dog?.name ?? "", words.joined(separator: ",")]
        texts += [dogs.map { $0.name }.joined(), dogs[0].people.map { $0.name }.joined()]
        texts.append(String(person.dog?.realm == realm))
        texts.append(String(realm.object(ofType: Person.self, forPrimaryKey: 7)?.age ?? -1))
        texts.append(people.filter("name ENDSWITH '9'").map { $0.name }.joined(separator: ","))
        texts.append(String(people.sum(ofProperty: "age") as Int))
        return texts
      }
    }
    let expected = [
      "100", "50", "p99", "p15", "d15", "a15,b", "d15", "p15", "true", "7",
      "p19,p29,p39,p49,p59,p69,p79,p89,p9,p99", "350",
    ]
    for text in texts { #expect(text == expected) }
    #expect(realm.objects(Person.self).count == 90)
  }

  @Test func `a frozen object thaws to the newest version, and to nil if it was deleted`() throws {
    let realm = try memoryRealm()
    try sample(realm)
    let person = try #require(realm.object(ofType: Person.self, forPrimaryKey: 3))
    let (frozen, words) = (person.freeze(), person.words.freeze())
    try realm.write { person.name = "new" }
    #expect(frozen.name == "p3")
    #expect(frozen.thaw()?.name == "new")
    #expect(frozen.thaw()?.realm == realm)
    #expect(words.thaw()?.count == 2)
    #expect(realm.freeze().thaw() == realm)
    try realm.write { realm.delete(person) }
    #expect(frozen.thaw() == nil)
    #expect(words.thaw() == nil)
    #expect(frozen.name == "p3" && !frozen.isInvalidated)
    #expect(realm.objects(Person.self).freeze().thaw()?.count == 99)
  }

  @Test func `realms that are frozen at the same version are equal, and so are their objects`() throws {
    let realm = try memoryRealm()
    try sample(realm)
    let (one, two) = (realm.freeze(), realm.freeze())
    #expect(one == two)
    #expect(
      one.object(ofType: Person.self, forPrimaryKey: 1) == two.object(ofType: Person.self, forPrimaryKey: 1))
    try realm.write { realm.add(Person(id: 1_000, name: "", age: 0)) }
    #expect(realm.freeze() != one)
    #expect(one.freeze() == one)
  }

  @Test func `an object that is frozen in a write transaction has the version before it`() throws {
    let realm = try memoryRealm()
    try sample(realm)
    try realm.write {
      let person = try #require(realm.object(ofType: Person.self, forPrimaryKey: 3))
      person.name = "new"
      #expect(person.freeze().name == "p3")
      #expect(realm.objects(Person.self).filter("name == 'new'").freeze().isEmpty)
    }
    #expect(realm.objects(Person.self).filter("name == 'new'").freeze().count == 1)
  }

  @Test func `frozen objects without a primary key are equal by their rows, on every thread`() throws {
    let realm = try memoryRealm()
    try sample(realm)
    let person = try #require(realm.objects(Person.self).first).freeze()
    let (one, two) = (try #require(person.dog), try #require(person.dogs.first))
    #expect(one !== two && one == two && one.hash == two.hash && Set([one, two]).count == 1)
    let set = MutableSet<Dog>()
    set.insert(one)
    let shared = Shared((set, person))
    #expect(try onThread { shared.value.0.contains(shared.value.1.dogs[0]) })
    let live = try #require(realm.objects(Person.self).first)
    #expect(live.dog != live.dogs.first)
  }

  private func collected() throws -> (Realm, Collected) {
    let realm = try memoryRealm()
    let thing = Collected()
    try realm.write {
      thing.numbers["a"] = 1
      thing.texts.insert(objectsIn: ["x", "y"])
      thing.ints.append(objectsIn: [3, 1, 2])
      thing.any = AnyRealmValue.fromArray([.int(1), .string("two")])
      realm.add(thing)
    }
    return (realm, thing)
  }

  /// Freezes a collection of an object, empties the object, and reads the frozen collection on another thread.
  private func frozenText<Frozen>(
    _ freeze: (Collected) -> Frozen, _ text: @escaping @Sendable (Frozen) -> String
  ) throws -> String {
    let (realm, thing) = try collected()
    let frozen = Shared(freeze(thing))
    try realm.write {
      thing.numbers["a"] = 2
      thing.texts.removeAll()
      thing.ints.removeAll()
      thing.any = .none
    }
    return try onThread { text(frozen.value) }
  }

  @Test func `maps are frozen`() throws {
    #expect(
      try frozenText({ $0.numbers.freeze() }) { "\($0["a"] ?? 0) \($0.count) \($0.isFrozen)" } == "1 1 true")
  }
  @Test func `sets are frozen`() throws {
    #expect(try frozenText({ $0.texts.freeze() }) { Array($0).sorted().joined() } == "xy")
  }
  @Test func `values in another order are frozen`() throws {
    #expect(try frozenText({ $0.ints.sorted().freeze() }) { "\(Array($0))" } == "[1, 2, 3]")
  }
  @Test func `collections of any type are frozen`() throws {
    #expect(try frozenText({ AnyRealmCollection($0.ints).freeze() }) { "\(Array($0))" } == "[3, 1, 2]")
  }
  @Test func `the objects and collections of a frozen object are frozen`() throws {
    let text = try frozenText({ $0.freeze() }) { thing in
      "\(thing.ints.count) \(thing.any.listValue?.count ?? 0) \(thing.numbers.count) \(thing.ints.isFrozen)"
    }
    #expect(text == "3 2 1 true")
  }
}

class Collected: Object {
  @Persisted var numbers: Map<String, Int>
  @Persisted var texts: MutableSet<String>
  @Persisted var ints: List<Int>
  @Persisted var any: AnyRealmValue
}
