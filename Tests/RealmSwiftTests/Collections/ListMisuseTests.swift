import Foundation
import RealmSwift
import Testing

extension MisuseTests {
  @Test("Lists report places out of range, and the deletion of their object")
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
}
