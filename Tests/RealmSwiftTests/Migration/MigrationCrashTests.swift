import Foundation
import RealmStorage
import RealmTestSupport
import Testing

@testable import RealmSwift

private class Crew1: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var first = ""
  @Persisted var last = ""
  @Persisted var age: Int
  @Persisted var boat: Boat1?
  @Persisted var notes: List<Int>
  override class func _realmObjectName() -> String? { "Crew" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
private class Boat1: Object {
  @Persisted var name = ""
  override class func _realmObjectName() -> String? { "Boat" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class Crew2: Object {
  @Persisted(primaryKey: true) var key: String
  @Persisted(indexed: true) var name: String
  @Persisted var age: String
  @Persisted var boat: Boat2?
  @Persisted var notes: MutableSet<String>
  override class func _realmObjectName() -> String? { "Crew" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
private class Boat2: EmbeddedObject {
  @Persisted var name = ""
  @Persisted var masts = 1
  override class func _realmObjectName() -> String? { "Boat" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Migrations on a disk that can lose power. A migration ends at each of its writes and syncs. The file is then the old
/// one or the new one, and can be migrated.
@Suite struct MigrationCrashTests {
  /// With `REALM_MIGRATION_CRASHES=slow` each place is tried `repetitions` times.
  private static let isSlow = ProcessInfo.processInfo.environment["REALM_MIGRATION_CRASHES"] == "slow"
  private static let repetitions = isSlow ? 40 : 1
  private static let count = isSlow ? 400 : 120

  @Test(arguments: [nil, Keys.first])
  func `a migration that ends at any write leaves the old file or the new one`(key: [UInt8]?) throws {
    let bytes = try Self.oldFile(key)
    let before = try Self.text(of: Self.disk(bytes), key)
    let whole = Self.disk(bytes)
    try Self.migrate(whole, key)
    let events = whole.events.count
    var generator = SeededGenerator(seed: 1)
    let after = try Self.text(of: whole.afterKill(&generator), key)
    #expect(after != before && events > 6)
    var outcomes: Set<Bool> = []
    for seed in 0..<UInt64(Self.repetitions) {
      for place in 0..<events {
        for losesPower in [false, true] {
          outcomes.insert(
            try Self.end(at: place, losesPower, seed: seed, bytes, key, before: before, after: after))
        }
      }
    }
    // Some migrations ended before the new file counted, and some after.
    #expect(outcomes == [false, true])
  }

  /// Ends a migration at an event of the disk, and checks the file.
  ///
  /// - Returns: True if the migration was complete.
  private static func end(
    at place: Int, _ losesPower: Bool, seed: UInt64, _ bytes: [UInt8], _ key: [UInt8]?, before: String,
    after: String
  ) throws -> Bool {
    var generator = SeededGenerator(seed: seed << 32 | UInt64(place) << 1 | (losesPower ? 1 : 0))
    let disk = disk(bytes)
    disk.follow(SimulatedDisk.Plan(dieAt: place, pagesWritten: generator.below(4)))
    var isAcknowledged = true
    do { try migrate(disk, key) } catch { isAcknowledged = false }
    let left = losesPower ? disk.afterPowerLoss(&generator) : disk.afterKill(&generator)
    let found = try text(of: left, key)
    let words = "event \(place), power \(losesPower), seed \(seed)"
    try #require(found == after || (found == before && !isAcknowledged), "\(words)")
    // The next open migrates the file if the migration was not complete.
    let next = left.afterKill(&generator)
    try migrate(next, key)
    try #require(try text(of: next.afterKill(&generator), key) == after, "\(words)")
    return found == after
  }

  // MARK: - The file

  private static func oldFile(_ key: [UInt8]?) throws -> [UInt8] {
    let file = TemporaryFile()
    try autoreleasing {
      let realm = try opened(
        Realm.Configuration(
          fileURL: file.url, encryptionKey: key.map { Data($0) }, objectTypes: [Crew1.self, Boat1.self]))
      try realm.write {
        let boats = ["Argo", "Bounty"].map { realm.create(Boat1.self, value: [$0]) }
        for id in 0..<count {
          realm.create(
            Crew1.self,
            value: [
              "id": id, "first": "first \(id)", "last": "last \(id)", "age": id % 90, "boat": boats[id % 2],
              "notes": (0..<id % 5).map { $0 },
            ])
        }
      }
    }
    return [UInt8](try Data(contentsOf: file.url))
  }

  private static func disk(_ bytes: [UInt8]) -> SimulatedDisk {
    let disk = SimulatedDisk()
    do {
      try disk.write(bytes.span.bytes, at: 0)
      try disk.sync(.data)
    } catch {
      Issue.record("a disk that works refuses: \(error)")
    }
    var generator = SeededGenerator(seed: 0)
    return disk.afterPowerLoss(&generator)
  }

  private static func configuration(_ key: [UInt8]?) -> Realm.Configuration {
    Realm.Configuration(
      encryptionKey: key.map { Data($0) }, schemaVersion: 1,
      migrationBlock: { migration, _ in
        migration.enumerateObjects(ofType: "Crew") { old, new in
          guard let old, let new else { return }
          new["key"] = "key \(old["id"] ?? 0)"
          new["name"] = "\(old["first"] ?? "") \(old["last"] ?? "")"
          if let boat = old["boat"] as? DynamicObject {
            new["boat"] = ["name": boat["name"] ?? "", "masts": 2]
          }
        }
      }, objectTypes: [Crew2.self, Boat2.self])
  }

  /// Opens a realm of the new classes, which migrates its file.
  private static func migrate(_ disk: SimulatedDisk, _ key: [UInt8]?) throws {
    let configuration = configuration(key)
    let database = try Database(storage: disk, options: RealmFile.options(configuration))
    defer { database.close() }
    let file = RealmFile(configuration, place: "simulated", database)
    let models = RealmSchema.models(configuration.objectTypes)
    _ = try RealmSchema.bind(models, to: database, configuration, isFirst: true) { steps in
      try Migrator(file, steps).run()
    }
  }

  /// The tables and rows of a file, as a text. The function also checks that the file is whole.
  private static func text(of disk: SimulatedDisk, _ key: [UInt8]?) throws -> String {
    let database = try Database(storage: disk, options: .init(encryptionKey: key))
    defer { database.close() }
    let snapshot = try database.snapshot()
    #expect(IntegrityCheck.run(snapshot).findings.isEmpty)
    var text = "version \(try snapshot.schemaVersion())\n"
    for schema in try snapshot.schemas() {
      text += "\(schema.name) \(schema.isEmbedded) \(schema.columns.map(\.name))\n"
      try snapshot.table(schema.name)?.forEach { (key, values) throws(StorageError) in
        text += "\(key) \(values)\n"
        return true
      }
    }
    return text
  }
}
