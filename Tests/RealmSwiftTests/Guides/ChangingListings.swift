import Foundation
import RealmSwift

private func temporaryFile() -> URL {
  FileManager.default.temporaryDirectory.appendingPathComponent("guide-\(UUID().uuidString).realm")
}

/// Classes of the guide's app, which realms of other tests do not store.
class GuideObject: Object {
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
class GuideEmbeddedObject: EmbeddedObject {
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private enum Release1 {
  typealias Object = GuideObject

  // listing: release 1
  class Friend: Object {
    @Persisted var first: String
    @Persisted var last: String
    @Persisted var age: Int
    @Persisted var street: String
  }
  // end
}

private enum Release2 {
  typealias Object = GuideObject

  // listing: release 2
  class Friend: Object {
    @Persisted var first: String
    @Persisted var last: String
    @Persisted var age: Int
    @Persisted var street: String
    @Persisted var email: String?  // new
  }
  // end
}

private enum Release3 {
  typealias Object = GuideObject

  // listing: release 3
  class Friend: Object {
    @Persisted var name: String  // of first and last
    @Persisted var years: String?  // was the number age
    @Persisted var street: String
    @Persisted var email: String?
  }
  // end
}

private enum Release4 {
  typealias Object = GuideObject
  typealias EmbeddedObject = GuideEmbeddedObject

  // listing: release 4
  class Friend: Object {
    @Persisted(primaryKey: true) var id: UUID  // new
    @Persisted var name: String
    @Persisted var years: String?
    @Persisted var addresses: List<Address>  // of street
    @Persisted var email: String?
  }
  class Address: EmbeddedObject {
    @Persisted var street: String
  }
  // end
}

extension Listings {
  private static func firstFile() throws -> URL {
    let url = temporaryFile()
    try autoreleasepool {
      let realm = try Realm(
        configuration: Realm.Configuration(fileURL: url, objectTypes: [Release1.Friend.self]))
      try realm.write {
        realm.create(Release1.Friend.self, value: ["Ann", "Lee", 30, "Main Street 1"] as [Any])
        realm.create(Release1.Friend.self, value: ["Bob", "Ray", 41, ""] as [Any])
      }
    }
    return url
  }

  private static func friends(_ url: URL, _ version: UInt64) throws -> String {
    switch version {
    case 1:
      let configuration = Realm.Configuration(
        fileURL: url, schemaVersion: 1, objectTypes: [Release2.Friend.self])
      return try Realm(configuration: configuration).objects(Release2.Friend.self)
        .map { "\($0.first) \($0.email ?? "no email")" }.joined(separator: ", ")
    default:
      var configuration = Realm.Configuration(
        fileURL: url, schemaVersion: 2, objectTypes: [Release3.Friend.self])
      configuration.migrationBlock = blockOfRelease3
      return try Realm(configuration: configuration).objects(Release3.Friend.self)
        .map { "\($0.name) \($0.years ?? "")" }.joined(separator: ", ")
    }
  }

  private static let blockOfRelease3: MigrationBlock =
    // listing: block of release 3
    { migration, oldVersion in
      if oldVersion < 2 {
        migration.renameProperty(onType: "Friend", from: "age", to: "years")
        migration.enumerateObjects(ofType: "Friend") { old, new in
          new?["name"] = "\(old?["first"] ?? "") \(old?["last"] ?? "")"
        }
      }
    }
  // end

  private static let blockOfRelease4: MigrationBlock =
    // listing: block of release 4
    { migration, oldVersion in
      if oldVersion < 2 {
        migration.renameProperty(onType: "Friend", from: "age", to: "years")
        migration.enumerateObjects(ofType: "Friend") { old, new in
          new?["name"] = "\(old?["first"] ?? "") \(old?["last"] ?? "")"
        }
      }
      if oldVersion < 3 {
        migration.enumerateObjects(ofType: "Friend") { old, new in
          new?["id"] = UUID()
          if let street = old?["street"] as? String, !street.isEmpty {
            new?["addresses"] = [["street": street]]
          }
        }
      }
    }
  // end

  static let changing: [String: Listing] = [
    "release 2 opens": { print in
      let url = try firstFile()
      defer { _ = try? Realm.deleteFiles(for: Realm.Configuration(fileURL: url)) }
      typealias Friend = Release2.Friend
      // listing: release 2 opens
      let configuration = Realm.Configuration(fileURL: url, schemaVersion: 1, objectTypes: [Friend.self])
      for friend in try Realm(configuration: configuration).objects(Friend.self) {
        print(friend.first, friend.age, friend.email ?? "no email")
      }
      // end
    },
    "release 3 opens": { print in
      let url = try firstFile()
      defer { _ = try? Realm.deleteFiles(for: Realm.Configuration(fileURL: url)) }
      _ = try friends(url, 1)
      let block = blockOfRelease3
      typealias Friend = Release3.Friend
      // listing: release 3 opens
      let configuration = Realm.Configuration(
        fileURL: url, schemaVersion: 2, migrationBlock: block, objectTypes: [Friend.self])
      for friend in try Realm(configuration: configuration).objects(Friend.self) {
        print(friend.name, friend.years ?? "")
      }
      // end
    },
    "release 4 opens": { print in
      typealias Friend = Release4.Friend
      typealias Address = Release4.Address
      for version in [0, 1, 2] as [UInt64] {
        let url = try firstFile()
        defer { _ = try? Realm.deleteFiles(for: Realm.Configuration(fileURL: url)) }
        if version > 0 { _ = try friends(url, 1) }
        if version > 1 { _ = try friends(url, 2) }
        let block = blockOfRelease4
        // listing: release 4 opens
        var configuration = Realm.Configuration(
          fileURL: url, schemaVersion: 3, migrationBlock: block, objectTypes: [Friend.self, Address.self])
        configuration.migrationProgress = { done in if done == 1 { print("migrated") } }
        for friend in try Realm(configuration: configuration).objects(Friend.self) {
          print(friend.name, friend.years ?? "", friend.addresses.first?.street ?? "no address")
        }
        // end
      }
    },
    "dry run": { print in
      let url = try firstFile()
      defer { _ = try? Realm.deleteFiles(for: Realm.Configuration(fileURL: url)) }
      let block = blockOfRelease3
      typealias Friend = Release3.Friend
      // listing: dry run
      let configuration = Realm.Configuration(
        fileURL: url, schemaVersion: 2, migrationBlock: block, objectTypes: [Friend.self])
      print(try Realm.dryRunMigration(for: configuration))
      print("It has version", try schemaVersionAtURL(url))
      // end
    },
    "keys twice": { print in
      typealias Friend = Release4.Friend
      typealias Address = Release4.Address
      let url = try firstFile()
      defer { _ = try? Realm.deleteFiles(for: Realm.Configuration(fileURL: url)) }
      // listing: keys twice
      var configuration = Realm.Configuration(
        fileURL: url, schemaVersion: 3, objectTypes: [Friend.self, Address.self])
      configuration.migrationBlock = { _, _ in }
      do {
        try Realm.performMigration(for: configuration)
      } catch Realm.Error.schemaMismatch {
        print("each friend needs an id of its own, and the file is as it was:", try schemaVersionAtURL(url))
      }
      // end
    },
    "without classes": { print in
      let url = try firstFile()
      defer { _ = try? Realm.deleteFiles(for: Realm.Configuration(fileURL: url)) }
      // listing: without classes
      let realm = try Realm(configuration: Realm.Configuration(fileURL: url, objectTypes: []))
      print(realm.schema["Friend"]?.properties.map(\.name) ?? [])
      let older = realm.dynamicObjects("Friend").filter("age > 35")
      try realm.write { older.first?["street"] = "Side Street 2" }
      print(older.map { "\($0["first"] ?? ""), \($0.street ?? "")" })
      // end
    },
  ]
}
