import Foundation
import RealmSwift

private func temporaryFile() -> URL {
  FileManager.default.temporaryDirectory.appendingPathComponent("guide-\(UUID().uuidString).realm")
}

private func remove(_ url: URL) { _ = try? Realm.deleteFiles(for: Realm.Configuration(fileURL: url)) }

private func library(_ url: URL) throws -> Realm {
  let realm = try Realm(configuration: Realm.Configuration(fileURL: url, objectTypes: [Book.self]))
  try realm.write {
    for number in 0..<2000 {
      realm.create(Book.self, value: ["isbn": "\(number)", "title": "Book \(number)"])
    }
  }
  return realm
}

extension Listings {
  static let copying: [String: Listing] = [
    "copy": { print in
      let (url, copyURL) = (temporaryFile(), temporaryFile())
      defer {
        remove(url)
        remove(copyURL)
      }
      // listing: copy
      let realm = try library(url)
      let key = Data(repeating: 7, count: 64)
      try realm.writeCopy(toFile: copyURL, encryptionKey: key)
      let copy = try Realm(
        configuration: Realm.Configuration(fileURL: copyURL, encryptionKey: key, objectTypes: [Book.self]))
      print(copy.objects(Book.self).count)
      // end
    },
    "copy for a configuration": { print in
      let (url, copyURL) = (temporaryFile(), temporaryFile())
      defer {
        remove(url)
        remove(copyURL)
      }
      let realm = try library(url)
      // listing: copy for a configuration
      let target = Realm.Configuration(fileURL: copyURL, schemaVersion: 1, objectTypes: [Book.self])
      if Realm.fileExists(for: target) { try Realm.deleteFiles(for: target) }
      try realm.writeCopy(configuration: target)
      print(try Realm(configuration: target).objects(Book.self).count)
      // end
    },
    "compact": { print in
      let url = temporaryFile()
      defer { remove(url) }
      try autoreleasepool {
        let realm = try library(url)
        try realm.write { realm.delete(realm.objects(Book.self).where { $0.isbn != "7" }) }
      }
      // listing: compact
      let configuration = Realm.Configuration(
        fileURL: url,
        shouldCompactOnLaunch: { total, used in total > 10_000 && used < total / 2 }, objectTypes: [Book.self]
      )
      let realm = try Realm(configuration: configuration)
      let bytes = try FileManager.default.attributesOfItem(atPath: url.path)[.size] as? Int ?? 0
      print(realm.objects(Book.self).count, bytes < 100_000)
      // end
    },
    "verify": { print in
      let url = temporaryFile()
      defer { remove(url) }
      // listing: verify
      let realm = try library(url)
      try realm.verify()
      print("all is whole")
      // end
    },
  ]
}
