import Foundation
import RealmSwift
import Synchronization
import Testing

/// The reports of a migration: its dry run, and its progress.
@Suite struct MigrationReportTests: MigrationFileTests {
  @Test func `a dry run reports the changes of a migration, and makes none of them`() throws {
    let file = try filled()
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

  @Test func `a migration reports its progress`() throws {
    let file = try filled(998)
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
    // The file is migrated already, so there is nothing left to do.
    told.withLock { $0 = [] }
    try Realm.performMigration(for: configuration)
    #expect(told.withLock { $0 }.isEmpty)
  }
}
