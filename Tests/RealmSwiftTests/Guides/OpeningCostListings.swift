import Dispatch
import Foundation
import RealmSwift

private func temporaryFile() -> URL {
  FileManager.default.temporaryDirectory.appendingPathComponent("guide-\(UUID().uuidString).realm")
}

private func remove(_ url: URL) { _ = try? Realm.deleteFiles(for: Realm.Configuration(fileURL: url)) }

extension Listings {
  static let openingCosts: [String: Listing] = [
    "will it be migrated": { print in
      let url = temporaryFile()
      defer { remove(url) }
      try autoreleasepool {
        _ = try Realm(
          configuration: Realm.Configuration(fileURL: url, schemaVersion: 1, objectTypes: [Book.self]))
      }
      // listing: will it be migrated
      let configuration = Realm.Configuration(fileURL: url, schemaVersion: 2, objectTypes: [Book.self])
      var isMigrated = false
      if Realm.fileExists(for: configuration) {
        isMigrated = try schemaVersionAtURL(url) < configuration.schemaVersion
      }
      print(isMigrated ? "open in the background, and show that this takes time" : "open at once")
      // end
    },
    "keep a realm open": { print in
      let url = temporaryFile()
      defer { remove(url) }
      let configuration = Realm.Configuration(fileURL: url, objectTypes: [Book.self])
      // listing: keep a realm open
      let kept = try Realm(configuration: configuration)  // opens the file
      let queue = DispatchQueue(label: "import")
      try queue.sync {
        // The file is open already, so this costs almost nothing.
        let realm = try Realm(configuration: configuration, queue: queue)
        try realm.write { realm.create(Book.self, value: ["isbn": "1"]) }
      }
      kept.refresh()
      print(kept.objects(Book.self).count)
      // end
    },
  ]
}
