import Foundation
import RealmSwift
import Testing

/// A class whose two properties have no link of a hamster as their origin.
private class ShowsNothing: Object {
  @Persisted(originProperty: "nothing") var by: LinkingObjects<Hamster>

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class ShowsNames: Object {
  @Persisted(originProperty: "name") var by: LinkingObjects<Hamster>

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

extension MisuseTests {
  @Test("Classes that can't be stored are reported when a realm is opened")
  func classes() {
    expectStop(["Class not in the realm", "Person"]) {
      _ = try memoryRealm([Base.self]).objects(Person.self)
    }
    expectStop(["Invalid schema", "Person.dog", "objectTypes"]) { _ = try memoryRealm([Person.self]) }
    expectStop(["Invalid schema", "MappedWrong", "titel", "propertiesMapping"]) {
      _ = try memoryRealm([MappedWrong.self])
    }
    expectStop(["Invalid schema", "MappedTwice.title", "MappedTwice.name", "name"]) {
      _ = try memoryRealm([MappedTwice.self])
    }
    expectStop(["Invalid schema", "Abstract", "@Persisted"]) { _ = try memoryRealm([Nested.Abstract.self]) }
    expectStop(["Object of another realm", "Person"]) {
      let person = try Self.realm().objects(Person.self)[0]
      let other = try memoryRealm()
      try other.write { other.add(person) }
    }
  }

  @Test func `a property of linking objects without a link stops the program when a realm is opened`() {
    for type in [ShowsNothing.self, ShowsNames.self] as [ObjectBase.Type] {
      expectStop(["Invalid schema", "\(type).by", "Hamster.n", "originProperty"]) {
        _ = try memoryRealm([Hamster.self, type])
      }
    }
  }

  @Test func `the use of a class that the realm lacks is reported with the classes of the realm`() {
    for body in [
      { $0.create(Parrot.self) }, { $0.add(Parrot()) }, { $0.add([Parrot()]) },
      { _ = $0.objects(Parrot.self) },
    ] as [@Sendable (Realm) -> Void] {
      expectStop(["Class not in the realm", "Parrot is not among", "objectTypes = [Owner]", "any.realm"]) {
        let name = "any.realm" + UUID().uuidString
        let realm = try Realm(
          configuration: Realm.Configuration(inMemoryIdentifier: name, objectTypes: [Owner.self]))
        // Another realm on this thread has the class.
        let other = try Realm(
          configuration: Realm.Configuration(
            inMemoryIdentifier: name, objectTypes: [Parrot.self, Owner.self]))
        try other.write { body(realm) }
      }
    }
    expectStop(["Class not in the realm", "Owner is not among", "objectTypes = [Hamster]"]) {
      _ = try memoryRealm([Hamster.self]).object(ofType: Owner.self, forPrimaryKey: 1)
    }
    expectStop(["Class not in the realm", "Hamster is not among", "shouldIncludeInDefaultSchema"]) {
      _ = try memoryRealm().objects(Hamster.self)
    }
  }
}
