import Foundation
import RealmSwift

private func temporaryFile() -> URL {
  FileManager.default.temporaryDirectory.appendingPathComponent("guide-\(UUID().uuidString).realm")
}

private func remove(_ url: URL) { _ = try? Realm.deleteFiles(for: Realm.Configuration(fileURL: url)) }

private func inMemory(_ types: [ObjectBase.Type]) throws -> Realm {
  try Realm(
    configuration: Realm.Configuration(inMemoryIdentifier: UUID().uuidString, objectTypes: types))
}

extension Listings {
  static let failing: [String: Listing] = [
    "catch a code": { print in
      // listing: catch a code
      let configuration = Realm.Configuration(
        fileURL: URL(filePath: "/nowhere/library.realm"), objectTypes: [Book.self])
      do {
        _ = try Realm(configuration: configuration)
      } catch Realm.Error.schemaMismatch {
        print("The classes have changed.")
      } catch Realm.Error.outOfDiskSpace, Realm.Error.filePermissionDenied {
        print("The system does not let the program write.")
      } catch let error as Realm.Error {
        print(error.code, error.code.rawValue, error.fileURL?.path ?? "no file")
      }
      // end
    },
    "nothing is kept": { print in
      let url = temporaryFile()
      defer { remove(url) }
      // listing: nothing is kept
      var configuration = Realm.Configuration(fileURL: url, objectTypes: [Book.self])
      configuration.maximumNumberOfActiveVersions = 1
      let realm = try Realm(configuration: configuration)
      let frozen = realm.freeze()
      try realm.write { realm.create(Book.self, value: ["isbn": "1"]) }
      do {
        try realm.write { realm.create(Book.self, value: ["isbn": "2"]) }
      } catch let error as Realm.Error {
        print(error.code, realm.objects(Book.self).count, frozen.objects(Book.self).count)
      }
      // end
    },
    "throw instead of stopping": { print in
      let realm = try inMemory([Novel.self, Author.self])
      // listing: throw instead of stopping
      let novel = try realm.write { realm.create(Novel.self, value: ["title": "Waves"]) }
      do {
        try realm.write { try novel.reviews.insert(5, forKey: "example.org") }
      } catch Realm.Error.invalidInput {
        print("no key:", novel.reviews.count)
      }
      do {
        _ = try ObjectId(string: "12")
      } catch Realm.Error.invalidInput {
        print("no id")
      }
      do {
        _ = try realm.objects(Novel.self).query("titel == 'Waves'")
      } catch {
        print("no query")
      }
      // end
    },
  ]
}
