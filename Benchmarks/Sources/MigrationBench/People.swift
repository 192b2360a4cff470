import Foundation
import RealmSwift

private class Person: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var first = ""
  @Persisted var last = ""
  @Persisted var full = ""
  @Persisted var years = 0
  override class func _realmObjectName() -> String? { "Person" }
}

/// The same class in the next version, in which the years are a text.
private class PersonWithTexts: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var first = ""
  @Persisted var last = ""
  @Persisted var full = ""
  @Persisted var years = ""
  override class func _realmObjectName() -> String? { "Person" }
}

/// Measures a block that sets a text of each object from two others, a property that gets another type, and reads by
/// property names.
struct People {
  private let rows: Int
  private let original = Place()

  init(_ rows: Int) throws {
    self.rows = rows
    let realm = try Realm(configuration: Self.configuration(original))
    try realm.write {
      for id in 0..<rows {
        let person = Person()
        (person.id, person.first, person.last, person.years) = (id, "first\(id % 1000)", "last\(id)", id % 90)
        realm.add(person)
      }
    }
  }

  private static func configuration(
    _ place: Place, _ type: Object.Type = Person.self, version: UInt64 = 0, _ block: MigrationBlock? = nil
  ) -> Realm.Configuration {
    Realm.Configuration(
      fileURL: place.url, schemaVersion: version, migrationBlock: block, objectTypes: [type])
  }

  func run() throws {
    let block: MigrationBlock = { migration, _ in
      migration.enumerateObjects(ofType: "Person") { old, new in
        new?["full"] = "\(old?["first"] as? String ?? "") \(old?["last"] as? String ?? "")"
      }
    }
    var (typed, migrated, memory): ([Double], [Double], [Double]) = ([], [], [])
    for _ in 0..<3 {
      let bulk = try original.copy()
      let realm = try Realm(configuration: Self.configuration(bulk))
      typed.append(
        try seconds {
          try realm.write {
            for person in realm.objects(Person.self) { person.full = "\(person.first) \(person.last)" }
          }
        })
      let place = try original.copy()
      memory.append(
        try mostMiB {
          migrated.append(
            try seconds {
              try Realm.performMigration(for: Self.configuration(place, version: 1, block))
            })
        })
    }
    tell("V1 bulk update of a text by typed objects", median(typed) * 1_000, "ms")
    tell("V1 the same by a migration block", median(migrated) * 1_000, "ms")
    tell("V1 block / typed objects", median(zip(migrated, typed).map { $0 / $1 }), "×", aim: 2)
    tell("V2 memory of it beyond the file", median(memory), "MiB", aim: 64)
    let texts = try (0..<3).map { _ in
      let place = try original.copy()
      return try seconds {
        try Realm.performMigration(for: Self.configuration(place, PersonWithTexts.self, version: 1))
      }
    }
    tell("V3 a number becomes a text in all objects", median(texts), "s", aim: 1)
    try reads()
  }

  private func reads() throws {
    var configuration = Realm.Configuration(fileURL: original.url)
    configuration.objectTypes = []
    let realm = try Realm(configuration: configuration)
    let people = Array(realm.dynamicObjects("Person").prefix(1_000))
    for (name, property) in [("number", "years"), ("text", "full")] {
      let times = (0..<5).map { _ in
        var sum = 0
        let time = seconds {
          for _ in 0..<1_000 { for person in people where person[property] != nil { sum += 1 } }
        }
        precondition(sum == 1_000 * people.count)
        return time / Double(sum) * 1e9
      }
      tell("V4 a \(name) read by its name", median(times), "ns", aim: 100)
    }
  }
}
