import Foundation
import RealmSwift
import Testing

extension MisuseTests {
  @Test("Writing outside of a transaction names class and property")
  func writing() {
    expectStop(["Not in a write transaction", "Person.age", "realm.write"]) {
      try Self.realm().objects(Person.self)[0].age = 5
    }
    expectStop(["Not in a write transaction", "Person.words"]) {
      try Self.realm().objects(Person.self)[0].words.append("a")
    }
    expectStop(["Not in a write transaction"]) { try Self.realm().add(Dog()) }
    expectStop(["Not in a write transaction"]) {
      let realm = try Self.realm()
      realm.delete(realm.objects(Person.self)[0])
    }
    expectStop(["Not in a write transaction"]) { try Self.realm().deleteAll() }
    expectStop(["Transaction in a transaction"]) {
      let realm = try Self.realm()
      try realm.write { try realm.write {} }
    }
  }

  @Test("A primary key can't be taken twice, nor changed")
  func primaryKeys() {
    expectStop(["Duplicate primary key", "Person", "id = 1", "update"]) {
      let realm = try Self.realm()
      try realm.write { realm.add(Person(id: 1, name: "Bob", age: 1)) }
    }
    expectStop(["Primary key of a managed object", "Person.id"]) {
      let realm = try Self.realm()
      try realm.write { realm.objects(Person.self)[0].id = 1 }
    }
    expectStop(["No primary key", "Dog"]) {
      let realm = try Self.realm()
      try realm.write { realm.add(Dog(), update: .modified) }
    }
    expectStop(["No primary key", "Dog"]) {
      _ = try Self.realm().object(ofType: Dog.self, forPrimaryKey: 1)
    }
    expectStop(["Invalid primary key", "Person.id"]) {
      _ = try Self.realm().object(ofType: Person.self, forPrimaryKey: "one")
    }
  }

  @Test("A read of a deleted object is reported with its property")
  func deleted() {
    expectStop(["Invalidated object", "Person.name"]) {
      let realm = try Self.realm()
      let person = realm.objects(Person.self)[0]
      try realm.write { realm.delete(person) }
      _ = person.name
    }
    expectStop(["Invalidated object", "Person.words"]) {
      let realm = try Self.realm()
      let person = realm.objects(Person.self)[0]
      try realm.write { realm.delete(person) }
      _ = person.words.count
    }
  }

  @Test("Objects and realms can be used only on the thread that opened them")
  func threads() {
    expectStop(["Wrong thread"]) {
      nonisolated(unsafe) let realm = try Self.realm()
      nonisolated(unsafe) let person = realm.objects(Person.self)[0]
      try onThread { _ = person.name }
    }
    expectStop(["Wrong thread"]) {
      nonisolated(unsafe) let realm = try Self.realm()
      try onThread { _ = realm.objects(Person.self) }
    }
  }

  /// An object that outlives the thread that made it.
  private final class Kept: @unchecked Sendable { var person: Person? }

  @Test("An object of a thread that has ended belongs to no later thread")
  func laterThreads() throws {
    let (file, kept) = (TemporaryFile(), Kept())
    let configuration = file.configuration
    try onThread {
      let realm = try Realm(configuration: configuration)
      try realm.write { kept.person = realm.create(Person.self, value: [1, "Ann"]) }
    }
    for round in 0..<10 {
      // The system may give the handle of a thread again after the thread has ended.
      Thread.sleep(forTimeInterval: 0.02)
      try onThread {
        let realm = try Realm(configuration: configuration)
        #expect(realm != kept.person?.realm && realm.objects(Person.self).count == round + 1)
        if round < 9 { try realm.write { realm.create(Person.self, value: [round + 2, "Bob"]) } }
      }
    }
    expectStop(["Wrong thread"]) { _ = kept.person?.name }
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

  @Test func `a commit of a transaction that ended with its realm is reported`() {
    expectStop(["Not in a write transaction", "to commit", "last reference to its realm", "variable"]) {
      let file = TemporaryFile()
      try Realm(configuration: file.of(Hamster.self)).beginWrite()
      try Realm(configuration: file.of(Hamster.self)).commitWrite()
    }
    expectStop(["Not in a write transaction", "to cancel", "last reference to its realm"]) {
      try memoryRealm([Hamster.self]).cancelWrite()
    }
  }

  @Test func `objects are deleted only in a transaction, even if all of them are invalid`() {
    for isList in [true, false] {
      expectStop(["Not in a write transaction", "delete"]) {
        let realm = try memoryRealm([Hamster.self])
        let hamster = try realm.write { realm.create(Hamster.self) }
        try realm.write { realm.delete(hamster) }
        if isList { realm.delete([hamster]) } else { realm.delete(hamster) }
      }
    }
  }
}
