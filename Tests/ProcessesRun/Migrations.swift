import Foundation
import RealmSwift
import RealmTestSupport

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A class of the first version of a program.
final class Card1: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var text = ""
  @Persisted var count = 0
  override class func _realmObjectName() -> String? { "Card" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// The same class in the second version. Its key is a text, the count has another name, and there is a list.
final class Card2: Object {
  @Persisted(primaryKey: true) var id: String
  @Persisted(indexed: true) var text = ""
  @Persisted var number = 0
  @Persisted var numbers: List<Int>
  override class func _realmObjectName() -> String? { "Card" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Processes that migrate a file: two at once, one that is killed at some moment, and one that is refused because
/// another process has the file open.
struct Migrations {
  let part: Part

  func run() throws {
    for number in 0..<(part.isQuick ? 6 : 60) {
      try state(number, "race") { scene, _ in
        let racers = try (0..<2).map { _ in try scene.spawn(.migrate) }
        for racer in racers {
          guard try racer.line() == "migrated" else { throw Violation("a migrator of two is refused") }
          try racer.finish()
        }
      }
      try state(number, "killed") { scene, generator in
        let child = try scene.spawn(.migrate)
        // The process is killed when `child` is released, unless it has ended before.
        withExtendedLifetime(child) { _ = usleep(UInt32.random(in: 0..<60_000, using: &generator)) }
      }
      try state(number, "open elsewhere") { scene, _ in
        try autoreleasepool {
          let realm = try Migrator.firstRealm(scene.path, scene.isEncrypted)
          let child = try scene.spawn(.migrate)
          let line = try child.line()
          guard line == "alreadyOpen \(getpid())" else { throw Violation("a migrator says \(line)") }
          try child.finish()
          guard realm.objects(Card1.self).count == Migrator.count else { throw Violation("objects are gone") }
        }
      }
    }
  }

  private func state(
    _ number: Int, _ name: String, _ body: (Scene, inout SeededGenerator) throws -> Void
  ) throws {
    try withScene(isEncrypted: number & 1 != 0) { scene in
      try part.state("\(name) \(number)") {
        var generator = part.generator(number)
        try autoreleasepool { try Migrator.fill(Migrator.firstRealm(scene.path, scene.isEncrypted)) }
        try body(scene, &generator)
        // In each case the file has the first or the second version, and a process can migrate it.
        let child = try scene.spawn(.migrate)
        guard try child.line() == "migrated" else { throw Violation("the last migrator is refused") }
        try child.finish()
      }
    }
  }
}

/// The process that opens the file with the classes of the second version.
struct Migrator {
  let path: String
  let isEncrypted: Bool

  static let count = 2_000

  private static func configuration(_ path: String, _ isEncrypted: Bool) -> Realm.Configuration {
    Realm.Configuration(
      fileURL: URL(fileURLWithPath: path), encryptionKey: isEncrypted ? Data(Keys.first) : nil)
  }

  static func firstRealm(_ path: String, _ isEncrypted: Bool) throws -> Realm {
    var configuration = configuration(path, isEncrypted)
    configuration.objectTypes = [Card1.self]
    return try Realm(configuration: configuration)
  }

  static func fill(_ realm: Realm) throws {
    try realm.write {
      for id in 0..<count { realm.create(Card1.self, value: ["id": id, "text": "t\(id)", "count": id * 2]) }
    }
  }

  func run() throws {
    var configuration = Self.configuration(path, isEncrypted)
    configuration.objectTypes = [Card2.self]
    configuration.schemaVersion = 1
    configuration.migrationBlock = { migration, _ in
      migration.renameProperty(onType: "Card", from: "count", to: "number")
      migration.enumerateObjects(ofType: "Card") { old, new in
        let id = old?["id"] as? Int ?? 0
        new?["id"] = "k\(id)"
        new?["numbers"] = [id, id + 1]
        if id % 10 == 9, let new { migration.delete(new) }
      }
    }
    do {
      let realm = try Realm(configuration: configuration)
      try Self.check(realm)
      WorkerCommand.say("migrated")
    } catch let error as Realm.Error where error.code == .alreadyOpen {
      let process = error.localizedDescription.split { !$0.isNumber }.first { $0 == "\(getppid())" }
      WorkerCommand.say("alreadyOpen \(process ?? "")")
    }
  }

  private static func check(_ realm: Realm) throws {
    let cards = realm.objects(Card2.self)
    guard cards.count == count - count / 10 else { throw Violation("\(cards.count) cards are there") }
    for card in cards {
      guard let id = Int(card.id.dropFirst()), card.text == "t\(id)", card.number == id * 2,
        Array(card.numbers) == [id, id + 1]
      else { throw Violation("a card is not migrated: \(card)") }
    }
    guard realm.object(ofType: Card2.self, forPrimaryKey: "k7")?.number == 14,
      cards.where({ $0.text == "t7" }).count == 1
    else { throw Violation("a card is not found") }
    try realm.verify()
  }
}
