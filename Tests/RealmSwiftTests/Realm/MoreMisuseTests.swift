import Foundation
@_spi(Testing) import RealmSwift
import Testing

extension MisuseTests {
  @Test("A link or list of a class rejects objects of classes that inherit from it")
  func subclasses() {
    func link(_ property: String, isNew: Bool, _ body: @escaping @Sendable (Realm, Derived) -> Void) {
      expectStop(["Invalid link", "BaseHolder.\(property)", "Derived"]) {
        let realm = try memoryRealm()
        try realm.write {
          realm.create(Base.self)
          let derived = Derived()
          if !isNew { realm.add(derived) }
          body(realm, derived)
        }
      }
    }
    for isNew in [true, false] {
      link("base", isNew: isNew) { realm, derived in realm.create(BaseHolder.self).base = derived }
      link("bases", isNew: isNew) { realm, derived in realm.create(BaseHolder.self).bases.append(derived) }
      link("bases", isNew: isNew) { realm, derived in
        let holder = BaseHolder()
        holder.bases.append(derived)
        realm.add(holder)
      }
    }
  }

  @Test("Results of another realm can't be deleted, nor be compared with")
  func otherRealms() {
    expectStop(["another realm", "Person"]) {
      let (realm, other) = (try Self.realm(), try Self.realm())
      try realm.write { realm.delete(other.objects(Person.self)) }
    }
    expectStop(["another realm", "Dog"]) {
      let (realm, other) = (try Self.realm(), try Self.realm())
      let dog = try other.write { other.create(Dog.self) }
      _ = realm.objects(Person.self).where { $0.dog == dog }.count
    }
    expectStop(["another realm", "Person"]) {
      let (realm, other) = (try Self.realm(), try Self.realm())
      try realm.write { realm.delete(other.objects(Person.self)[0]) }
    }
  }

  @Test("A property that can't be sorted by, added up or compared is told by its name")
  func unfit() {
    for name in ["dog", "dogs", "words", "name", "isMember"] {
      expectStop(["Invalid", "Person.\(name)"]) {
        _ = try Self.realm().objects(Person.self).max(ofProperty: name) as Int?
      }
      expectStop(["Invalid", "Person.\(name)"]) {
        _ = try Self.realm().objects(Person.self).sum(ofProperty: name) as Int
      }
      expectStop(["Invalid", "Person.\(name)"]) {
        _ = try Self.realm().objects(Person.self).average(ofProperty: name) as Double?
      }
    }
    expectStop(["Invalid sort", "Person.dog"]) {
      _ = try Self.realm().objects(Person.self).sorted(byKeyPath: "dog").count
    }
    expectStop(["Invalid sort", "Person.dogs"]) {
      _ = try Self.realm().objects(Person.self).sorted(byKeyPath: "dogs.name").count
    }
    expectStop(["Unknown property", "Person"]) {
      _ = try Self.realm().objects(Person.self).sorted(byKeyPath: "").count
    }
    expectStop(["Dog.people"]) { _ = try memoryRealm().objects(Dog.self).sorted(byKeyPath: "people").count }
    expectStop(["Invalid key path", "Person"]) {
      _ = try Self.realm().objects(Person.self).sorted(by: \.name.count)
    }
    expectStop(["Invalid key path", "String"]) {
      _ = try Self.realm().objects(Person.self).where { $0.name.count > 3 }
    }
    expectStop(["Invalid key path", "Person"]) {
      _ = try Self.realm().objects(Person.self).where { $0.isInvalidated == true }
    }
  }

  @Test("Values that do not fit are told with their class and property")
  func values() {
    let bad: [(String, Any)] = [
      ("int8", 300), ("int", 1.5), ("int", "1"), ("int", NSNumber(value: UInt64.max)),
      ("int", NSNumber(value: 1.5)), ("int", UInt64.max), ("bool", 2), ("double", true), ("double", "1"),
      ("double", NSNumber(value: true)), ("float", 1e300), ("uuid", "x"), ("string", 1), ("date", 1),
      ("data", "x"), ("mood", "sad"), ("int", NSNull()), ("ints", ["a"]), ("ints", 5),
      ("ints", [1, NSNull()] as [Any]),
      ("optionalInt", "a"), ("optionalMood", 5), ("string", NSNull()),
    ]
    for (name, value) in bad {
      nonisolated(unsafe) let value = value
      expectStop(["Invalid value", "Everything.\(name)"]) { _ = Everything(value: [name: value]) }
    }
    expectStop(["Invalid value", "Person.dog"]) { _ = Person(value: ["dog": Person()]) }
    expectStop(["Invalid value", "Person.dogs"]) { _ = Person(value: ["dogs": [Person()]]) }
    expectStop(["Invalid value", "Person.dog"]) { _ = Person(value: ["dog": 5]) }
  }

  @Test("Lists tell places out of range, and what became of their object")
  func lists() {
    expectStop(["Index out of range", "3", "2"]) {
      let realm = try Self.realm()
      let person = realm.objects(Person.self)[0]
      try realm.write {
        person.words.append(objectsIn: ["a", "b"])
        person.words.insert("c", at: 3)
      }
    }
    for change in [
      { $0.removeLast() }, { $0.removeFirst() }, { $0.remove(at: -1) }, { $0.swapAt(0, 0) },
      { $0.move(from: 0, to: 1) },
      { $0[0] = "a" }, { _ = $0[Int.max] }, { $0.removeFirst(-1) }, { $0.removeLast(Int.min) },
    ] as [@Sendable (List<String>) -> Void] {
      expectStop(["Index out of range"]) {
        let realm = try Self.realm()
        try realm.write { change(realm.objects(Person.self)[0].words) }
      }
      expectStop(["Index out of range"]) { change(List<String>()) }
    }
    expectStop(["Invalidated object", "Person.words"]) {
      let realm = try Self.realm()
      let words = realm.objects(Person.self)[0].words
      try realm.write {
        realm.deleteAll()
        words.append("x")
      }
    }
    expectStop(["Invalidated object", "Dog"]) {
      let realm = try Self.realm()
      try realm.write {
        let dog = realm.create(Dog.self)
        realm.delete(dog)
        realm.objects(Person.self)[0].dogs.append(dog)
      }
    }
    expectStop(["Index out of range"]) {
      let realm = try Self.realm()
      let people = realm.objects(Person.self).where { $0.age > 0 }
      try realm.write { realm.deleteAll() }
      _ = people[0]
    }
  }

  @Test("An initializer that needs what is learned by calling it is told by its class")
  func initializers() {
    expectStop(["Initializer", "Numbered"]) {
      Numbered.isCounting = true
      defer { Numbered.isCounting = false }
      _ = try memoryRealm([Numbered.self])
    }
    Numbered.isCounting = false
  }
}
