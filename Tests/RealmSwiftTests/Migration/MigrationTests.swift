import Foundation
import RealmStorage
import RealmSwift
import Synchronization
import TestSupport
import Testing

// Classes of one program in several versions, which share tables by their names.

private class Person1: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var first = ""
  @Persisted var last = ""
  @Persisted var years = 0
  @Persisted var pet: Beast1?
  @Persisted var tags: List<String>
  override class func _realmObjectName() -> String? { "Person" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
private class Beast1: Object {
  @Persisted var name = ""
  override class func _realmObjectName() -> String? { "Pet" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class Person2: Object {
  @Persisted(primaryKey: true) var key: String
  @Persisted(indexed: true) var fullName: String
  @Persisted var age: Int
  @Persisted var pets: List<Beast2>
  @Persisted var tags: MutableSet<String>
  override class func _realmObjectName() -> String? { "Person" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
private class Beast2: EmbeddedObject {
  @Persisted var name = ""
  @Persisted var legs: Int
  override class func _realmObjectName() -> String? { "Pet" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class PersonWithNewKey: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var first = ""
  override class func _realmObjectName() -> String? { "Person" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
private class PersonByFirst: Object {
  @Persisted var id: Int
  @Persisted(primaryKey: true) var first = ""
  override class func _realmObjectName() -> String? { "Person" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Opens a realm of some classes, and lets go of it.
private func open(
  _ file: TemporaryFile, _ types: [ObjectBase.Type], version: UInt64 = 0,
  block: MigrationBlock? = nil, _ body: (Realm) throws -> Void
) throws {
  try autoreleasing {
    try body(opened(configuration(file, types, version: version, block: block)))
  }
}

private func configuration(
  _ file: TemporaryFile, _ types: [ObjectBase.Type], version: UInt64 = 0, block: MigrationBlock? = nil
) -> Realm.Configuration {
  Realm.Configuration(
    fileURL: file.url, schemaVersion: version, migrationBlock: block, objectTypes: types)
}

@Suite struct MigrationTests {
  private static let first: [ObjectBase.Type] = [Person1.self, Beast1.self]
  private static let second: [ObjectBase.Type] = [Person2.self, Beast2.self]

  private static func filled(_ count: Int = 3) throws -> TemporaryFile {
    let file = TemporaryFile()
    try open(file, first) { realm in
      try realm.write {
        let pets = ["Rex", "Tom"].map { realm.create(Beast1.self, value: [$0]) }
        for number in 0..<count {
          let person = realm.create(
            Person1.self,
            value: ["id": number, "first": "f\(number)", "last": "l\(number)", "years": 20 + number])
          person.pet = pets[0]
          person.tags.append(objectsIn: ["b", "a", "b"])
        }
      }
    }
    return file
  }

  /// Opening is refused, and the file has what it had.
  private static func refusal(
    _ file: TemporaryFile, _ types: [ObjectBase.Type], count: Int = 3, block: MigrationBlock? = nil
  ) throws -> String {
    let error = #expect(throws: Realm.Error.self) {
      try open(file, types, version: 1, block: block) { _ in }
    }
    #expect(error?.code == .schemaMismatch && error?.fileURL == file.url)
    try open(file, first) { realm in
      #expect(realm.objects(Person1.self).map(\.id) == Array(0..<count))
      #expect(realm.objects(Person1.self).allSatisfy { $0.first == "f\($0.id)" && $0.pet?.name == "Rex" })
      try realm.verify()
    }
    return error?.localizedDescription ?? ""
  }

  @Test func `a block brings objects of one version to the next`() throws {
    let file = try Self.filled()
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
    // Objects that nobody owns are gone: each person has a pet of its own.
    let bare = try opened(Realm.Configuration(fileURL: file.url, objectTypes: []))
    #expect(
      bare.schema["Person"]?.properties.map(\.name).sorted() == ["age", "fullName", "key", "pets", "tags"])
    #expect(bare.dynamicObjects("Pet").count == 3)
  }

  @Test func `objects are made and deleted, and classes too`() throws {
    let file = try Self.filled()
    let block: MigrationBlock = { migration, _ in
      migration.enumerateObjects(ofType: "Person") { old, new in
        if old?["id"] as? Int == 1, let new { migration.delete(new) }
      }
      var seen: [Int] = []
      migration.enumerateObjects(ofType: "Person") { old, _ in seen.append(old?["id"] as? Int ?? -1) }
      #expect(seen == [0, 2])
      let made = migration.create("Person", value: ["id": 9, "first": "new"])
      #expect(made["first"] as? String == "new")
      // The program has no such class any more: what there was is read, and nothing new is there.
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

  @Test func `primary keys may be set, and be there twice until the end`() throws {
    let file = try Self.filled()
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

  @Test func `keys that several objects have are told, and the file is as it was`() throws {
    let file = try Self.filled(8)
    let block: MigrationBlock = { migration, _ in
      migration.enumerateObjects(ofType: "Person") { old, new in
        new?["id"] = (old?["id"] as? Int ?? 0) / 2
      }
    }
    let message = try Self.refusal(file, [PersonWithNewKey.self], count: 8, block: block)
    #expect(message.contains("Person.id") && message.contains("0, 1, 2."), "\(message)")
  }

  @Test func `a block that throws leaves the file as it was`() throws {
    struct Stop: Error {}
    let file = try Self.filled()
    let block: MigrationBlock = { migration, _ in
      migration.deleteData(forType: "Pet")
      try migration.enumerateObjects(ofType: "Person") { _, new in
        new?["first"] = "x"
        throw Stop()
      }
    }
    #expect(throws: Stop.self) {
      try open(file, [PersonWithNewKey.self], version: 1, block: block) { _ in }
    }
    try open(file, Self.first) { realm in
      #expect(
        realm.objects(Person1.self).map(\.first) == ["f0", "f1", "f2"]
          && realm.objects(Beast1.self).count == 2)
    }
    #expect(try schemaVersionAtURL(file.url) == 0)
  }

  @Test func `values that do not fit are told with three samples at most, and names that collide`() throws {
    let file = try Self.filled(5)
    let block: MigrationBlock = { migration, _ in
      migration.enumerateObjects(ofType: "Person") { old, new in new?["first"] = old?["id"] ?? 0 }
    }
    let misfits = try Self.refusal(file, [PersonWithNewKey.self], count: 5, block: block)
    for part in ["Person.first is of type String", "0 of type Int, 1 of type Int, 2 of type Int"] {
      #expect(misfits.contains(part), "\(misfits)")
    }
    #expect(!misfits.contains("3 of type Int"))
    for (from, to, told) in [
      ("first", "id", "the class has a property first still"),
      ("last", "first", "the file has a property first"),
      ("nothing", "first", "the file has no property nothing of it; it has id, first"),
      ("last", "nothing", "the class has no property nothing"),
    ] {
      let message = try Self.refusal(file, [PersonWithNewKey.self], count: 5) { migration, _ in
        migration.renameProperty(onType: "Person", from: from, to: to)
      }
      #expect(message.contains("Person.\(from) can't be renamed to \(to): \(told)"), "\(message)")
    }
    let unknown = try Self.refusal(file, [PersonWithNewKey.self], count: 5) { migration, _ in
      migration.renameProperty(onType: "Nobody", from: "a", to: "b")
    }
    #expect(unknown.contains("the program has no class Nobody"))
  }

  @Test func `a dry run tells what would change, and changes nothing`() throws {
    let file = try Self.filled()
    let before = try Data(contentsOf: file.url)
    let block: MigrationBlock = { migration, _ in
      migration.renameProperty(onType: "Person", from: "years", to: "age")
      migration.enumerateObjects(ofType: "Person") { old, new in
        new?["key"] = "\(old?["id"] ?? "")"
        if old?["id"] as? Int == 0, let new { migration.delete(new) }
      }
    }
    let report = try Realm.dryRunMigration(for: configuration(file, Self.second, version: 4, block: block))
    #expect(report.oldSchemaVersion == 0 && report.newSchemaVersion == 4 && !report.isEmpty)
    let changes = report.changes.joined(separator: "\n")
    for part in [
      "class Pet changed from Object to EmbeddedObject", "property Person.years was renamed to age",
      "property Person.tags changed from List<String> to MutableSet<String>",
      "property Person.key: String was added as the primary key",
    ] {
      #expect(changes.contains(part), "\(changes)")
    }
    #expect(report.classes.map(\.className) == ["Person", "Pet"] && report.classes.map(\.before) == [3, 2])
    #expect(report.classes.map(\.after) == [2, 0])
    #expect(
      report.description.contains("Person: 3 objects to 2 objects")
        || report.description.contains("3 objects"))
    try open(file, Self.first) { realm in #expect(realm.objects(Person1.self).count == 3) }
    #expect(try schemaVersionAtURL(file.url) == 0)
    #expect(try Data(contentsOf: file.url).count >= before.count)
    let error = #expect(throws: Realm.Error.self) {
      try Realm.dryRunMigration(for: configuration(file, Self.second, version: 4))
    }
    #expect(error?.code == .schemaMismatch)
    let none = TemporaryFile()
    #expect(throws: Realm.Error.self) {
      try Realm.dryRunMigration(for: configuration(none, Self.second, version: 4))
    }
    let realm = try opened(configuration(file, Self.first))
    #expect(throws: Realm.Error.self) {
      try Realm.dryRunMigration(for: configuration(file, Self.second, version: 4))
    }
    withExtendedLifetime(realm) {}
  }

  @Test func `a migration tells how much of it is done`() throws {
    let file = try Self.filled(998)
    let told = Mutex<[Double]>([])
    var configuration = configuration(file, [PersonWithNewKey.self, Beast1.self], version: 1) {
      migration, _ in
      migration.enumerateObjects(ofType: "Person") { _, new in new?["first"] = "x" }
      migration.enumerateObjects(ofType: "Person") { _, new in new?["first"] = "y" }
    }
    configuration.migrationProgress = { value in told.withLock { $0.append(value) } }
    try Realm.performMigration(for: configuration)
    let values = told.withLock { $0 }
    #expect(values.count == 100 && values == values.sorted() && values.first == 0.01 && values.last == 1)
    try open(file, [PersonWithNewKey.self, Beast1.self], version: 1) { realm in
      #expect(realm.objects(PersonWithNewKey.self).allSatisfy { $0.first == "y" })
    }
    // There is nothing to be done any more.
    told.withLock { $0 = [] }
    try Realm.performMigration(for: configuration)
    #expect(told.withLock { $0 }.isEmpty)
  }

  @Test func `what a block keeps is of no use behind it, and the file is closed with its realms`() throws {
    let file = try Self.filled()
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
    // The objects that are kept keep no file open.
    #expect(try Realm.deleteFiles(for: configuration(file, Self.first)))
    kept.withLock { $0 = Stash() }
  }

  private struct Stash: @unchecked Sendable {
    // Sendable: used by the thread of the test only.
    var objects: [DynamicObject] = []
  }

  @Test func `a block goes from any version to the newest`() throws {
    let file = try Self.filled()
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

  @Test func `what a block does can be written apart from it`() throws {
    @Sendable func greet(_ object: MigrationObject) { object["first"] = "hello \(object["first"] ?? "")" }
    @Sendable func change(_ migration: Migration, _ old: UInt64) {
      let each: MigrationObjectEnumerateBlock = { _, new in if let new { greet(new) } }
      try? migration.enumerateObjects(ofType: "Person", each)
    }
    let file = try Self.filled()
    try open(file, [PersonWithNewKey.self], version: 1, block: change) { realm in
      #expect(realm.objects(PersonWithNewKey.self).map(\.first) == ["hello f0", "hello f1", "hello f2"])
    }
  }

  @Test func `dynamic objects behind a migration have their keys`() throws {
    let file = try Self.filled()
    try open(file, Self.first, version: 1, block: { _, _ in }) { realm in
      let person = try #require(realm.dynamicObject(ofType: "Person", forPrimaryKey: 1))
      #expect(person["first"] as? String == "f1" && person.objectSchema.primaryKeyProperty?.name == "id")
      try realm.write { realm.dynamicCreate("Person", value: ["id": 1, "first": "x"], update: .modified) }
      #expect(person["first"] as? String == "x")
    }
  }

  @Test func `an old object that a new one is set to is the new one of its row`() throws {
    let file = try Self.filled()
    let block: MigrationBlock = { migration, _ in
      migration.enumerateObjects(ofType: "Holder") { old, new in
        new?["first"] = old?["one"]
        new?["others"] = old?["many"]
        new?["second"] = ["key": 1, "name": "made"]
        new?["any"] = old?["one"]
      }
      migration.enumerateObjects(ofType: "Keeper") { _, new in new?["name"] = "kept" }
      migration.enumerateObjects(ofType: "Kept") { old, new in new?["key"] = (old?["key"] as? Int ?? 0) + 10 }
    }
    try open(file, [Holder1.self, Kept.self]) { realm in
      try realm.write {
        let kept = (0..<2).map { realm.create(Kept.self, value: ["key": $0, "name": "n\($0)"]) }
        let holder = realm.create(Holder1.self)
        holder.one = kept[1]
        holder.many.append(objectsIn: [kept[0], kept[1], kept[1]])
      }
    }
    try open(file, [Holder2.self, Kept.self], version: 1, block: block) { realm in
      let holder = try #require(realm.objects(Holder2.self).first)
      #expect(holder.first?.name == "n1" && holder.others.map(\.name) == ["n0", "n1", "n1"])
      #expect(holder.second?.name == "made" && holder.any.object(Kept.self)?.name == "n1")
      #expect(Set(realm.objects(Kept.self).map(\.key)) == [10, 11, 1])
      try realm.verify()
    }
  }

  @Test func `an old object whose new one was deleted is nothing, and a rename leaves other classes alone`()
    throws
  {
    let file = try Self.filled()
    try open(file, [Holder1.self, Kept.self]) { realm in
      try realm.write {
        let kept = (0..<3).map { realm.create(Kept.self, value: ["key": $0, "name": "n\($0)"]) }
        let holder = realm.create(Holder1.self)
        holder.one = kept[1]
        holder.many.append(objectsIn: kept)
      }
    }
    let block: MigrationBlock = { migration, _ in
      let made = migration.create("Kept", value: ["key": 9, "name": "made"])
      migration.enumerateObjects(ofType: "Kept") { old, new in
        new?["key"] = (old?["key"] as? Int ?? 0) + 20
        if old?["key"] as? Int == 1, let new {
          migration.delete(new)
          migration.renameProperty(onType: "Person", from: "years", to: "age")
        }
      }
      migration.enumerateObjects(ofType: "Holder") { old, new in
        new?["first"] = old?["one"]
        new?["others"] = old?["many"]
        new?["any"] = old?["one"]
        new?["second"] = made
      }
    }
    try open(file, [Holder2.self, Kept.self, PersonWithAge.self], version: 1, block: block) { realm in
      let holder = try #require(realm.objects(Holder2.self).first)
      #expect(holder.first == nil && holder.any == AnyRealmValue.none && holder.second?.key == 9)
      #expect(
        holder.others.map(\.key) == [20, 22] && Set(realm.objects(Kept.self).map(\.key)) == [9, 20, 22])
      #expect(realm.objects(PersonWithAge.self).map(\.age) == [20, 21, 22])
      try realm.verify()
    }
  }

  @Test func `what a class could not read before keeps no other class out`() throws {
    let file = TemporaryFile()
    try open(file, [Count1.self]) { realm in try realm.write { _ = realm.create(Count1.self) } }
    // The type is another for the program, and the same in the file.
    try open(file, [Count2.self]) { #expect($0.objects(Count2.self).count == 1) }
    try open(file, [Count2.self, Kept.self]) { #expect($0.objects(Kept.self).isEmpty) }
    var configuration = configuration(file, [Count2.self, Kept.self, Base.self])
    configuration.deleteRealmIfMigrationNeeded = true
    let count = try autoreleasing { try opened(configuration).objects(Count2.self).count }
    #expect(count == 1)
  }

  @Test func `a part that stands for itself now is moved and not copied`() throws {
    let file = TemporaryFile()
    try open(file, [Owner1.self, Part1.self]) { realm in
      try realm.write {
        _ = realm.create(Owner1.self, value: ["parts": [["name": "a"]], "any": ["name": "b"]])
      }
    }
    let block: MigrationBlock = { migration, _ in
      migration.enumerateObjects(ofType: "Owner") { old, new in new?["parts"] = old?["any"] }
    }
    try open(file, [Owner2.self, Part2.self], version: 1, block: block) { realm in
      #expect(
        Set(realm.objects(Part2.self).map(\.name)) == ["a", "b"] && realm.objects(Part2.self).count == 2)
      #expect(realm.objects(Owner2.self).first?.parts?.name == "b")
    }
  }

  @Test func `what stops being a part stays, whatever else its owner loses`() throws {
    for types in [[Owner2.self, Part2.self], [Part2.self, Owner2.self]] as [[ObjectBase.Type]] {
      let file = TemporaryFile()
      try open(file, [Owner1.self, Part1.self]) { realm in
        try realm.write { _ = realm.create(Owner1.self, value: ["parts": [["name": "a"], ["name": "b"]]]) }
      }
      try open(file, types, version: 1) { realm in
        #expect(Set(realm.objects(Part2.self).map(\.name)) == ["a", "b"])
        let owner = try #require(realm.objects(Owner2.self).first)
        #expect(owner.parts == nil && owner.any == AnyRealmValue.none)
        try realm.verify()
      }
    }
  }

  @Test func `what a class can't read is its default, or is set by the block`() throws {
    let file = TemporaryFile()
    try open(file, [Grade1.self]) { realm in
      try realm.write {
        for number in [0, 2, 300] {
          realm.create(Grade1.self, value: [number, "\(number)", number] as [Any])
        }
      }
    }
    let error = #expect(throws: Realm.Error.self) { try open(file, [Grade2.self], version: 1) { _ in } }
    #expect(error?.localizedDescription.contains("property Grade.even has no value") == true)
    let block: MigrationBlock = { migration, _ in
      migration.enumerateObjects(ofType: "Grade") { _, new in new?["even"] = 4 }
    }
    try open(file, [Grade2.self], version: 1, block: block) { realm in
      let grades = realm.objects(Grade2.self)
      #expect(grades.map(\.level) == [.low, .high, .low] && grades.map(\.small) == [0, 2, nil])
      #expect(grades.allSatisfy { $0.even.number == 4 })
    }
  }

  @Test func `a list of lists becomes a set without them`() throws {
    let file = TemporaryFile()
    try open(file, [Mixed1.self]) { realm in
      try realm.write {
        _ = realm.create(Mixed1.self, value: ["values": [1, [2, 3], 1, "x"] as [Any]])
      }
    }
    try open(file, [Mixed2.self], version: 1) { realm in
      #expect(realm.objects(Mixed2.self).first.map { Set($0.values) } == [.int(1), .string("x")])
      try realm.verify()
    }
  }

  @Test func `who relies on the classes as they were keeps a migration out, and a dry run`() throws {
    let file = try Self.filled()
    let other = try Database(path: file.url.path)
    other.setReliesOnSchema(true)
    let called = Mutex(0)
    let block: MigrationBlock = { _, _ in called.withLock { $0 += 1 } }
    let configuration = configuration(file, [PersonWithNewKey.self, Beast1.self], version: 1, block: block)
    for attempt in [
      { try Realm.performMigration(for: configuration) },
      { _ = try Realm.dryRunMigration(for: configuration) },
    ] {
      let error = #expect(throws: Realm.Error.self) { try attempt() }
      #expect(error?.code == .alreadyOpen && error?.localizedDescription.contains("\(getpid())") == true)
    }
    #expect(called.withLock { $0 } == 0)
    other.setReliesOnSchema(false)
    try Realm.performMigration(for: configuration)
    #expect(called.withLock { $0 } == 1)
    other.close()
  }

  @Test func `classes go that nobody links to, and those that link to one another`() throws {
    let file = try Self.filled()
    try open(file, [Node.self, Base.self, BaseHolder.self]) { realm in
      try realm.write {
        realm.create(Node.self, value: ["key": "a", "next": ["key": "b"]])
        realm.create(BaseHolder.self, value: ["base": ["id": 1]])
      }
    }
    let block: MigrationBlock = { migration, _ in
      for name in ["Node", "Base", "Pet"] { #expect(migration.deleteData(forType: name)) }
    }
    try open(file, [PersonWithNewKey.self], version: 1, block: block) { realm in
      #expect(realm.objects(PersonWithNewKey.self).count == 3)
    }
    let bare = try opened(Realm.Configuration(fileURL: file.url, objectTypes: []))
    // A class that stays links to Base, which is empty then.
    #expect(Set(bare.schema.objectSchema.map(\.className)) == ["Person", "Base", "BaseHolder"])
    #expect(bare.dynamicObjects("Base").isEmpty && bare.dynamicObjects("BaseHolder").first?["base"] == nil)
    try bare.verify()
  }
}

private class Kept: Object {
  @Persisted(primaryKey: true) var key: Int
  @Persisted var name = ""
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
private class Holder1: Object {
  @Persisted var one: Kept?
  @Persisted var many: List<Kept>
  override class func _realmObjectName() -> String? { "Holder" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
private class Holder2: Object {
  @Persisted var first: Kept?
  @Persisted var second: Kept?
  @Persisted var others: List<Kept>
  @Persisted var any: AnyRealmValue
  override class func _realmObjectName() -> String? { "Holder" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class PersonWithAge: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var age: Int
  override class func _realmObjectName() -> String? { "Person" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
private class Count1: Object {
  @Persisted var count: Int
  override class func _realmObjectName() -> String? { "Count" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
private class Count2: Object {
  @Persisted var count: Even
  override class func _realmObjectName() -> String? { "Count" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class Owner1: Object {
  @Persisted var parts: List<Part1>
  @Persisted var any: Part1?
  override class func _realmObjectName() -> String? { "Owner" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
private class Part1: EmbeddedObject {
  @Persisted var name = ""
  override class func _realmObjectName() -> String? { "Part" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
private class Owner2: Object {
  @Persisted var parts: Part2?
  @Persisted var any: AnyRealmValue
  override class func _realmObjectName() -> String? { "Owner" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
private class Part2: Object {
  @Persisted var name = ""
  override class func _realmObjectName() -> String? { "Part" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private enum LevelByText: String, PersistableEnum { case low = "0", high = "2" }
private struct Even: FailableCustomPersistable, Equatable {
  let number: Int
  init?(persistedValue: Int) {
    guard persistedValue % 2 == 0, persistedValue > 0 else { return nil }
    number = persistedValue
  }
  var persistableValue: Int { number }
}
private class Grade1: Object {
  @Persisted var level: Int
  @Persisted var small: String
  @Persisted var old: Int
  override class func _realmObjectName() -> String? { "Grade" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
private class Grade2: Object {
  @Persisted var level = LevelByText.low
  @Persisted var small: Int8?
  @Persisted var even: Even
  override class func _realmObjectName() -> String? { "Grade" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class Mixed1: Object {
  @Persisted var values: List<AnyRealmValue>
  override class func _realmObjectName() -> String? { "Mixed" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
private class Mixed2: Object {
  @Persisted var values: MutableSet<AnyRealmValue>
  override class func _realmObjectName() -> String? { "Mixed" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
