import Foundation
import RealmSwift
import Testing

extension MisuseTests {
  @Test("Unknown names, places out of range and values of other types are reported")
  func arguments() {
    expectStop(["Unknown property", "Person", "agee"]) {
      _ = try Self.realm().objects(Person.self).sorted(byKeyPath: "agee")
    }
    expectStop(["Invalid sort", "Person.dogs"]) {
      _ = try Self.realm().objects(Person.self).sorted(byKeyPath: "dogs")
    }
    expectStop(["Index out of range", "7", "1 Person"]) { _ = try Self.realm().objects(Person.self)[7] }
    expectStop(["Index out of range"]) { _ = List<Int>()[0] }
    expectStop(["Invalid value", "Person.age", "String"]) { _ = Person(value: ["age": "old"]) }
    expectStop(["Invalid value", "array"]) { _ = Dog(value: [1, 2, 3, 4, 5, 6]) }
    expectStop(["Unmanaged collection", "queried"]) { _ = Person().dogs.where { $0.name == "a" } }
    expectStop(["Invalid encryption key", "3 bytes"]) {
      _ = Realm.Configuration(encryptionKey: Data([1, 2, 3]))
    }
  }
}
