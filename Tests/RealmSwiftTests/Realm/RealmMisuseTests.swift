import Foundation
@_spi(Testing) import RealmSwift
import Testing

/// Neither property of a hamster links to one.
private class ShowsNothing: Object {
  @Persisted(originProperty: "nothing") var by: LinkingObjects<Hamster>

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class ShowsNames: Object {
  @Persisted(originProperty: "name") var by: LinkingObjects<Hamster>

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

extension MisuseTests {
  @Test func `a property that would show links that there can't be stops the program when a realm is opened`()
  {
    for type in [ShowsNothing.self, ShowsNames.self] as [ObjectBase.Type] {
      expectStop(["Invalid schema", "\(type).by", "Hamster.n", "originProperty"]) {
        _ = try memoryRealm([Hamster.self, type])
      }
    }
  }

  @Test func `a class that a realm was opened without is named, with what it was opened with`() {
    for body in [
      { $0.create(Parrot.self) }, { $0.add(Parrot()) }, { $0.add([Parrot()]) },
      { _ = $0.objects(Parrot.self) },
    ] as [@Sendable (Realm) -> Void] {
      expectStop(["Class not in the realm", "Parrot is not among", "objectTypes = [Owner]", "any.realm"]) {
        let name = "any.realm" + UUID().uuidString
        let realm = try Realm(
          configuration: Realm.Configuration(inMemoryIdentifier: name, objectTypes: [Owner.self]))
        // On this thread another realm has it.
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

  @Test func `who commits a transaction that went with its realm is told so`() {
    expectStop(["Not in a write transaction", "to commit", "last reference to its realm", "variable"]) {
      let file = TemporaryFile()
      try Realm(configuration: file.of(Hamster.self)).beginWrite()
      try Realm(configuration: file.of(Hamster.self)).commitWrite()
    }
    expectStop(["Not in a write transaction", "to cancel", "last reference to its realm"]) {
      try memoryRealm([Hamster.self]).cancelWrite()
    }
  }

  @Test func `objects are deleted in a transaction only, also where all of them are invalid`() {
    for isList in [true, false] {
      expectStop(["Not in a write transaction", "delete"]) {
        let realm = try memoryRealm([Hamster.self])
        let hamster = try realm.write { realm.create(Hamster.self) }
        try realm.write { realm.delete(hamster) }
        if isList { realm.delete([hamster]) } else { realm.delete(hamster) }
      }
    }
  }

  @Test func `a path that is longer than queries can follow stops the program`() {
    expectStop(["Invalid sort", "66 properties", "64"]) {
      let path = String(repeating: "friend.", count: 65) + "name"
      _ = try memoryRealm([Dog.self, Person.self]).objects(Dog.self).sorted(byKeyPath: path)
    }
  }
}
