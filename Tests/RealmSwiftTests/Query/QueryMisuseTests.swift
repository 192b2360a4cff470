import Foundation
import RealmSwift
import Testing

extension MisuseTests {
  @Test("A property that can't be sorted by, summed or compared is reported by its name")
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

  @Test("A sum beyond 64 bits names its property")
  func overflow() {
    expectStop(["Overflow", "Person.age"]) {
      let realm = try Self.realm()
      try realm.write { realm.add(Person(id: 2, name: "Bob", age: .max)) }
      _ = realm.objects(Person.self).sum(of: \.age)
    }
  }

  @Test func `a path that is longer than queries can follow stops the program`() {
    expectStop(["Invalid sort", "66 properties", "64"]) {
      let path = String(repeating: "friend.", count: 65) + "name"
      _ = try memoryRealm([Dog.self, Person.self]).objects(Dog.self).sorted(byKeyPath: path)
    }
  }
}
