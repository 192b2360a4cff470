import Foundation
import RealmStorage
import RealmSwift
import Synchronization
import RealmTestSupport
import Testing

@Suite struct SchemaVersionTests: PetFileTests {
  @Test func `properties are added with a higher version, and existing rows have their zero`() throws {
    let file = TemporaryFile()
    try makePets(file)
    let message = refusal(file, Pet2.self)
    for part in [
      "Pet.nick: String? was added", "Pet.weight: Double", "Pet.friends: List<Pet>", "increase it from 0",
    ] {
      #expect(message.contains(part))
    }
    try open(file, Pet2.self, version: 1) { realm in
      let pets = realm.objects(Pet2.self)
      #expect(
        pets.count == 1000 && pets.allSatisfy { $0.nick == nil && $0.weight == 0 && $0.friends.isEmpty })
      #expect(pets.where { $0.name == "pet 3" }.count == 100 && pets.where { $0.nick == nil }.count == 1000)
      #expect(pets[5].any == .none && pets[5].age == 5)
      try realm.write {
        pets[5].nick = "x"
        pets[5].friends.append(pets[6])
        realm.create(Pet2.self, value: ["name": "new"])
      }
      #expect(pets.where { $0.nick == "x" }.count == 1 && pets.last?.weight == 3.5)
      try realm.verify()
    }
    #expect(refusal(file, Pet2.self).contains("newer program"))
    #expect(refusal(file, Pet1.self, version: 1).contains("Pet.nick: String? was removed"))
  }

  @Test func `the version is stored, and can't decrease`() throws {
    let file = TemporaryFile()
    try makePets(file, version: 7)
    #expect(try Database(path: file.url.path).snapshot().schemaVersion() == 7)
    #expect(refusal(file, Pet1.self, version: 6).contains("has schema version 7"))
    try open(file, Pet1.self, version: 9) { _ in }
    #expect(try Database(path: file.url.path).snapshot().schemaVersion() == 9)
  }

  @Test func `classes, indexes and the order of properties change without a new version`() throws {
    let file = TemporaryFile()
    try makePets(file)
    try open(file, PetWithIndex.self) { realm in
      #expect(realm.objects(PetWithIndex.self).where { $0.name == "pet 7" }.map(\.age).sorted().first == 7)
      #expect(realm.objects(PetWithIndex.self)[3].age == 3)
      try realm.verify()
    }
    let schemas = try Database(path: file.url.path).snapshot().schemas()
    #expect(schemas[0].column("name")?.index == .plain)
    try open(file, Pet1.self) { realm in try realm.verify() }
    #expect(
      try Database(path: file.url.path).snapshot().schemas()[0].column("name")?.index == ColumnIndex.none)
    try open(file, Pet1.self, { $0.objectTypes = [Pet1.self, Dog.self, Person.self] }) { realm in
      #expect(realm.objects(Dog.self).isEmpty && realm.objects(Pet1.self).count == 1000)
    }
    try open(file, Dog.self, { $0.objectTypes = [Dog.self, Person.self] }) { realm in
      #expect(realm.schema["Pet"] == nil)
    }
  }

  @Test func `a migration block is called once for each higher version, and never for a new file`() throws {
    let (file, other) = (TemporaryFile(), TemporaryFile())
    let unexpected: MigrationBlock = { _, _ in Issue.record("it was called") }
    try open(file, Pet1.self, version: 3, { $0.migrationBlock = unexpected }) { _ in }
    try open(file, Pet1.self, version: 3, { $0.migrationBlock = unexpected }) { _ in }
    let versions = Mutex<[UInt64]>([])
    let otherURL = other.url
    let block: MigrationBlock = { _, version in
      versions.withLock { $0.append(version) }
      // The block belongs to the program, and may use other realms.
      let configuration = Realm.Configuration(fileURL: otherURL, objectTypes: [Pet1.self])
      #expect(throws: Never.self) { _ = try Realm(configuration: configuration).isEmpty }
    }
    try open(file, Pet1.self, version: 5, { $0.migrationBlock = block }) { _ in }
    try open(file, Pet1.self, version: 5, { $0.migrationBlock = unexpected }) { _ in }
    #expect(versions.withLock { $0 } == [3])
    #expect(try Database(path: file.url.path).snapshot().schemaVersion() == 5)
  }

  @Test func `any difference makes a new file if the configuration asks for it`() throws {
    for (type, version) in [(PetWithoutAge.self, 0), (Pet1.self, 1), (Pet2.self, 1)]
      as [(ObjectBase.Type, UInt64)]
    {
      let file = TemporaryFile()
      try makePets(file)
      try open(file, type, version: version, { $0.deleteRealmIfMigrationNeeded = true }) { realm in
        #expect(realm.isEmpty, "\(type) \(version)")
      }
    }
    let file = TemporaryFile()
    try makePets(file, version: 4)
    try open(file, Pet1.self, version: 2, { $0.deleteRealmIfMigrationNeeded = true }) { realm in
      #expect(realm.isEmpty)
    }
    #expect(try Database(path: file.url.path).snapshot().schemaVersion() == 2)
  }

  @Test func `processes that add properties at the same time get the same result`() throws {
    let file = TemporaryFile()
    try makePets(file)
    // Another process does this between the look at the tables and their change.
    let done = DispatchGroup()
    for _ in 0..<4 {
      DispatchQueue.global().async(group: done) {
        for _ in 0..<5 {
          do {
            try open(file, Pet2.self, version: 1) { realm in #expect(realm.objects(Pet2.self).count == 1000) }
          } catch { Issue.record("\(error)") }
        }
      }
    }
    done.wait()
  }
}
