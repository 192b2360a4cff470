import Foundation
import RealmSwift
import Testing

extension MisuseTests {
  @Test("A value that does not fit is reported with its class and property")
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

  @Test("A name without a property and a property that can't be set are reported")
  func keyed() {
    expectStop(["Invalid configuration", "readOnly", "deleteRealmIfMigrationNeeded"]) {
      _ = try Realm(configuration: Realm.Configuration(readOnly: true, deleteRealmIfMigrationNeeded: true))
    }
    expectStop(["Unknown property", "Dog", "legs", "name"]) { _ = Dog()["legs"] }
    expectStop(["Unknown property", "Dog", "legs"]) { Dog()["legs"] = 4 }
    expectStop(["Invalid value", "Dog.name", "String"]) { Dog()["name"] = 4 }
    expectStop(["Not in a write transaction", "Person.words"]) {
      try Self.realm().objects(Person.self)[0]["words"] = ["x"]
    }
    expectStop(["Computed property", "Dog.people"]) { Dog()["people"] = [Person]() }
    expectStop(["Index out of range"]) { List<Int>().insert(contentsOf: [1], at: 1) }
    expectStop(["Index out of range"]) { List<Int>().remove(atOffsets: [0]) }
  }

  @Test("A type that can't be made of the default of a property is reported")
  func customDefaults() {
    expectStop(["Property without a default", "Positive", "'0'", "optional"]) { _ = WithoutDefault().number }
    expectStop(["Unreadable value", "WithoutDefault.number"]) {
      let realm = try memoryRealm([WithoutDefault.self])
      try realm.write {
        let object = realm.create(WithoutDefault.self, value: ["number": 1])
        object.number = Positive(unchecked: -1)
      }
      _ = realm.objects(WithoutDefault.self)[0].number
    }
  }

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

  @Test("An initializer whose schema can't be learned by calling it is reported with its class")
  func initializers() {
    expectStop(["Initializer", "Numbered"]) {
      Numbered.isCounting = true
      defer { Numbered.isCounting = false }
      _ = try memoryRealm([Numbered.self])
    }
    Numbered.isCounting = false
  }
}

private struct Positive: FailableCustomPersistable {
  var persistableValue: Int
  init(unchecked number: Int) { persistableValue = number }
  init?(persistedValue: Int) {
    guard persistedValue > 0 else { return nil }
    persistableValue = persistedValue
  }
}
private class WithoutDefault: Object {
  @Persisted var number: Positive
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
