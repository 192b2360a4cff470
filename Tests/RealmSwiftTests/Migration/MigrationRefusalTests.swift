import Foundation
import RealmStorage
import RealmSwift
import Synchronization
import Testing

/// Migrations that throw an error and leave the file as it was.
@Suite struct MigrationRefusalTests: MigrationFileTests {
  @Test func `keys that several objects have are reported, and the file is not changed`() throws {
    let file = try filled(8)
    let block: MigrationBlock = { migration, _ in
      migration.enumerateObjects(ofType: "Person") { old, new in
        new?["id"] = (old?["id"] as? Int ?? 0) / 2
      }
    }
    let message = try refusal(file, [PersonWithNewKey.self], count: 8, block: block)
    #expect(message.contains("Person.id") && message.contains("0, 1, 2."), "\(message)")
  }

  @Test func `a block that throws leaves the file unchanged`() throws {
    struct Stop: Error {}
    let file = try filled()
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

  @Test func `values that do not fit are reported with at most three samples, and so are names that collide`()
    throws
  {
    let file = try filled(5)
    let block: MigrationBlock = { migration, _ in
      migration.enumerateObjects(ofType: "Person") { old, new in new?["first"] = old?["id"] ?? 0 }
    }
    let misfits = try refusal(file, [PersonWithNewKey.self], count: 5, block: block)
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
      let message = try refusal(file, [PersonWithNewKey.self], count: 5) { migration, _ in
        migration.renameProperty(onType: "Person", from: from, to: to)
      }
      #expect(message.contains("Person.\(from) can't be renamed to \(to): \(told)"), "\(message)")
    }
    let unknown = try refusal(file, [PersonWithNewKey.self], count: 5) { migration, _ in
      migration.renameProperty(onType: "Nobody", from: "a", to: "b")
    }
    #expect(unknown.contains("the program has no class Nobody"))
  }

  @Test func `an open realm of the old classes prevents a migration and a dry run`() throws {
    let file = try filled()
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
}
