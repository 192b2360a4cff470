import Foundation
import RealmSwift
import Synchronization
import Testing

private class PersonByFirst: Object {
  @Persisted var id: Int
  @Persisted(primaryKey: true) var first = ""
  override class func _realmObjectName() -> String? { "Person" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite struct MigrationTests: MigrationFileTests {
  @Test func `a block brings objects of one version to the next`() throws {
    let file = try filled()
    let block: MigrationBlock = { migration, old in
      #expect(old == 0)
      #expect(
        migration.oldSchema["Person"]?["years"]?.type == .int
          && migration.oldSchema["Pet"]?.isEmbedded == false)
      #expect(
        migration.newSchema["Person"]?["age"]?.type == .int && migration.newSchema["Pet"]?.isEmbedded == true)
      migration.renameProperty(onType: "Person", from: "years", to: "age")
      migration.enumerateObjects(ofType: "Person") { old, new in
        guard let old, let new else {
          Issue.record("an object is missing")
          return
        }
        #expect(new["age"] as? Int == old["years"] as? Int)
        new["key"] = "k\(old["id"] ?? "")"
        new["fullName"] = "\(old["first"] ?? "") \(old["last"] ?? "")"
        if let pet = old["pet"] as? DynamicObject {
          new["pets"] = [["name": pet["name"] ?? "", "legs": 4]]
        }
      }
    }
    try open(file, Self.second, version: 1, block: block) { realm in
      let people = realm.objects(Person2.self)
      #expect(people.map(\.key) == ["k0", "k1", "k2"] && people.map(\.age) == [20, 21, 22])
      #expect(people.map(\.fullName) == ["f0 l0", "f1 l1", "f2 l2"])
      #expect(people.where { $0.fullName == "f1 l1" }.count == 1)
      #expect(people.allSatisfy { $0.pets.map(\.name) == ["Rex"] && $0.pets.map(\.legs) == [4] })
      #expect(people.allSatisfy { Set($0.tags) == ["a", "b"] })
      #expect(realm.object(ofType: Person2.self, forPrimaryKey: "k2")?.age == 22)
      try realm.verify()
    }
    #expect(try schemaVersionAtURL(file.url) == 1)
    // Embedded objects without an owner are gone, and each person has its own pet.
    let bare = try opened(Realm.Configuration(fileURL: file.url, objectTypes: []))
    #expect(
      bare.schema["Person"]?.properties.map(\.name).sorted() == ["age", "fullName", "key", "pets", "tags"])
    #expect(bare.dynamicObjects("Pet").count == 3)
  }

  @Test func `objects are made and deleted, and classes too`() throws {
    let file = try filled()
    let block: MigrationBlock = { migration, _ in
      migration.enumerateObjects(ofType: "Person") { old, new in
        if old?["id"] as? Int == 1, let new { migration.delete(new) }
      }
      var seen: [Int] = []
      migration.enumerateObjects(ofType: "Person") { old, _ in seen.append(old?["id"] as? Int ?? -1) }
      #expect(seen == [0, 2])
      let made = migration.create("Person", value: ["id": 9, "first": "new"])
      #expect(made["first"] as? String == "new")
      // The program no longer has the class: its old objects are read, and it has no new ones.
      var pets: [String] = []
      migration.enumerateObjects(ofType: "Pet") { old, new in
        #expect(new == nil)
        pets.append(old?["name"] as? String ?? "")
      }
      #expect(pets == ["Rex", "Tom"])
      #expect(migration.deleteData(forType: "Pet"))
      #expect(!migration.deleteData(forType: "Nothing"))
      migration.enumerateObjects(ofType: "Nothing") { _, _ in Issue.record("nobody knows it") }
    }
    try open(file, [PersonWithNewKey.self], version: 1, block: block) { realm in
      #expect(realm.objects(PersonWithNewKey.self).map(\.id) == [0, 2, 9])
      try realm.verify()
    }
    let bare = try opened(Realm.Configuration(fileURL: file.url, objectTypes: []))
    #expect(bare.schema.objectSchema.map(\.className) == ["Person"])
  }

  @Test func `primary keys may be set, and may have duplicates until the end of the block`() throws {
    let file = try filled()
    let swap: MigrationBlock = { migration, _ in
      migration.enumerateObjects(ofType: "Person") { old, new in
        new?["id"] = 2 - (old?["id"] as? Int ?? 0)
      }
      migration.create("Person", value: ["id": 5])
    }
    try open(file, [PersonWithNewKey.self], version: 1, block: swap) { realm in
      #expect(realm.objects(PersonWithNewKey.self).map(\.id) == [2, 1, 0, 5])
      #expect(realm.object(ofType: PersonWithNewKey.self, forPrimaryKey: 2)?.first == "f0")
      try realm.verify()
    }
    try open(file, [PersonByFirst.self], version: 2) { realm in
      #expect(realm.object(ofType: PersonByFirst.self, forPrimaryKey: "f2")?.id == 0)
      #expect(realm.object(ofType: PersonByFirst.self, forPrimaryKey: "")?.id == 5)
      try realm.verify()
    }
  }

  @Test func `a block migrates a file from any version to the newest`() throws {
    let file = try filled()
    let block: MigrationBlock = { migration, old in
      for version in (old + 1)...10 {
        migration.enumerateObjects(ofType: "Person") { _, new in
          new?["first"] = "\(new?["first"] ?? "")\(version)"
        }
      }
    }
    try open(file, [PersonWithNewKey.self, Beast1.self], version: 10, block: block) { realm in
      #expect(realm.objects(PersonWithNewKey.self).first?.first == "f012345678910")
    }
    #expect(try schemaVersionAtURL(file.url) == 10)
    #expect(throws: Realm.Error.self) { try schemaVersionAtURL(TemporaryFile().url) }
  }

  @Test func `an encrypted file is migrated`() throws {
    let file = TemporaryFile()
    let key = Data((0..<64).map { UInt8($0) })
    var first = configuration(file, Self.first)
    first.encryptionKey = key
    try autoreleasing {
      let realm = try opened(first)
      try realm.write { realm.create(Person1.self, value: ["id": 4, "first": "a", "years": 7]) }
    }
    var second = configuration(file, Self.second, version: 1) { migration, _ in
      migration.renameProperty(onType: "Person", from: "years", to: "age")
    }
    second.encryptionKey = key
    try autoreleasing {
      let age = try opened(second).objects(Person2.self).first?.age
      #expect(age == 7)
    }
    #expect(try schemaVersionAtURL(file.url, encryptionKey: key) == 1)
    #expect(throws: Realm.Error.self) { try schemaVersionAtURL(file.url) }
  }

  @Test func `the steps of a migration can be written outside of its block`() throws {
    @Sendable func greet(_ object: MigrationObject) { object["first"] = "hello \(object["first"] ?? "")" }
    @Sendable func change(_ migration: Migration, _ old: UInt64) {
      let each: MigrationObjectEnumerateBlock = { _, new in if let new { greet(new) } }
      try? migration.enumerateObjects(ofType: "Person", each)
    }
    let file = try filled()
    try open(file, [PersonWithNewKey.self], version: 1, block: change) { realm in
      #expect(realm.objects(PersonWithNewKey.self).map(\.first) == ["hello f0", "hello f1", "hello f2"])
    }
  }

  @Test func `objects that a block keeps can't be used later, and the file closes with its realms`() throws {
    let file = try filled()
    let kept = Mutex<Stash>(Stash())
    let block: MigrationBlock = { migration, _ in
      migration.enumerateObjects(ofType: "Person") { old, new in
        kept.withLock { $0.objects += [old, new].compactMap { $0 } }
      }
    }
    try open(file, [PersonWithNewKey.self], version: 1, block: block) { realm in
      #expect(kept.withLock { $0.objects.count } == 6)
      #expect(kept.withLock { kept in kept.objects.allSatisfy(\.isInvalidated) })
      #expect(realm.objects(PersonWithNewKey.self).count == 3)
    }
    // The kept objects do not keep the file open.
    #expect(try Realm.deleteFiles(for: configuration(file, Self.first)))
    kept.withLock { $0 = Stash() }
  }

  private struct Stash: @unchecked Sendable {
    // Sendable: used by the thread of the test only.
    var objects: [DynamicObject] = []
  }

  @Test func `dynamic objects have their keys after a migration`() throws {
    let file = try filled()
    try open(file, Self.first, version: 1, block: { _, _ in }) { realm in
      let person = try #require(realm.dynamicObject(ofType: "Person", forPrimaryKey: 1))
      #expect(person["first"] as? String == "f1" && person.objectSchema.primaryKeyProperty?.name == "id")
      try realm.write { realm.dynamicCreate("Person", value: ["id": 1, "first": "x"], update: .modified) }
      #expect(person["first"] as? String == "x")
    }
  }
}
