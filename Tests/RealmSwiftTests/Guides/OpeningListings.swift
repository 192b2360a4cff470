import Foundation
import RealmSwift

private func temporaryFile() -> URL {
  FileManager.default.temporaryDirectory.appendingPathComponent("guide-\(UUID().uuidString).realm")
}

private func remove(_ url: URL) { _ = try? Realm.deleteFiles(for: Realm.Configuration(fileURL: url)) }

// listing: later version
class Member: Object {
  @Persisted var name: String
  @Persisted var email: String?  // new in version 2
}
// end

private class MemberBefore: Object {
  @Persisted var name: String
  override class func _realmObjectName() -> String? { "Member" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

extension Listings {
  static let opening: [String: Listing] = [
    "open a file": { print in
      let url = temporaryFile()
      defer { remove(url) }
      // listing: open a file
      var configuration = Realm.Configuration.defaultConfiguration
      configuration.fileURL = url
      configuration.objectTypes = [Book.self]
      let realm = try Realm(configuration: configuration)
      print(realm.isEmpty, Realm.fileExists(for: configuration))
      // end
    },
    "other classes": { print in
      let url = temporaryFile()
      defer { remove(url) }
      // listing: other classes
      let books = try Realm(configuration: Realm.Configuration(fileURL: url, objectTypes: [Book.self]))
      let all = try Realm(
        configuration: Realm.Configuration(fileURL: url, objectTypes: [Book.self, Member.self]))
      try books.write {
        all.create(Member.self, value: ["name": "Ann"])
        books.create(Book.self, value: ["isbn": "1"])
      }
      print(books == all, books.schema.objectSchema.count, all.objects(Book.self).count)
      // end
    },
    "in memory": { print in
      // listing: in memory
      let configuration = Realm.Configuration(inMemoryIdentifier: "cache", objectTypes: [Book.self])
      let realm = try Realm(configuration: configuration)
      try realm.write { realm.add(Book(value: ["isbn": "1"])) }
      // The same realm, as long as one of them is there.
      print(try Realm(configuration: configuration).objects(Book.self).count)
      // end
    },
    "encrypted": { print in
      let url = temporaryFile()
      defer { remove(url) }
      // listing: encrypted
      let key = Data((0..<64).map { _ in UInt8.random(in: 0...255) })  // keep it in a key chain
      let configuration = Realm.Configuration(fileURL: url, encryptionKey: key, objectTypes: [Book.self])
      try autoreleasepool {
        let realm = try Realm(configuration: configuration)
        try realm.write { realm.add(Book(value: ["isbn": "1", "title": "Secrets"])) }
      }
      do {
        _ = try Realm(configuration: Realm.Configuration(fileURL: url, objectTypes: [Book.self]))
      } catch Realm.Error.invalidDatabase {
        print("not without the key")
      }
      // end
    },
    "read only": { print in
      let url = temporaryFile()
      defer { remove(url) }
      try autoreleasepool {
        let realm = try Realm(configuration: Realm.Configuration(fileURL: url, objectTypes: [Book.self]))
        try realm.write { realm.add(Book(value: ["isbn": "1", "title": "Atlas"])) }
      }
      // listing: read only
      let realm = try Realm(
        configuration: Realm.Configuration(fileURL: url, readOnly: true, objectTypes: [Book.self]))
      print(realm.objects(Book.self).first?.title ?? "")
      // end
    },
    "schema version": { print in
      let url = temporaryFile()
      defer { remove(url) }
      try autoreleasepool {
        let configuration = Realm.Configuration(
          fileURL: url, schemaVersion: 1, objectTypes: [MemberBefore.self])
        let realm = try Realm(configuration: configuration)
        try realm.write { realm.create(MemberBefore.self, value: ["name": "Ann"]) }
      }
      // listing: schema version
      var configuration = Realm.Configuration(fileURL: url, schemaVersion: 1, objectTypes: [Member.self])
      do {
        _ = try Realm(configuration: configuration)
      } catch Realm.Error.schemaMismatch {
        print("the class has changed")
      }
      configuration.schemaVersion = 2
      let member = try Realm(configuration: configuration).objects(Member.self)[0]
      print(member.name, member.email ?? "no email")
      // end
    },
    "made anew": { print in
      let url = temporaryFile()
      defer { remove(url) }
      try autoreleasepool {
        let realm = try Realm(
          configuration: Realm.Configuration(fileURL: url, objectTypes: [MemberBefore.self]))
        try realm.write { realm.create(MemberBefore.self, value: ["name": "Ann"]) }
      }
      // listing: made anew
      let configuration = Realm.Configuration(
        fileURL: url, deleteRealmIfMigrationNeeded: true, objectTypes: [Member.self])
      print(try Realm(configuration: configuration).objects(Member.self).count)
      // end
    },
    "seed": { print in
      let (seedURL, url) = (temporaryFile(), temporaryFile())
      defer {
        remove(seedURL)
        remove(url)
      }
      try autoreleasepool {
        let realm = try Realm(configuration: Realm.Configuration(fileURL: seedURL, objectTypes: [Book.self]))
        try realm.write { realm.add(Book(value: ["isbn": "1", "title": "Comes with the app"])) }
      }
      // listing: seed
      let configuration = Realm.Configuration(fileURL: url, objectTypes: [Book.self], seedFilePath: seedURL)
      print(try Realm(configuration: configuration).objects(Book.self)[0].title)
      // end
    },
    "errors": { print in
      // listing: errors
      let configuration = Realm.Configuration(
        fileURL: URL(filePath: "/nowhere/a.realm"), objectTypes: [Book.self])
      do {
        _ = try Realm(configuration: configuration)
      } catch let error as NSError {
        print(error.domain, error.code == Realm.Error.fileNotFound.rawValue)
      }
      // end
    },
    "delete files": { print in
      let url = temporaryFile()
      // listing: delete files
      let configuration = Realm.Configuration(fileURL: url, objectTypes: [Book.self])
      try autoreleasepool { _ = try Realm(configuration: configuration) }
      print(try Realm.deleteFiles(for: configuration), Realm.fileExists(for: configuration))
      // end
    },
  ]
}
