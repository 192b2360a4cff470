import Foundation
import RealmSwift

private func temporaryFile() -> URL {
  FileManager.default.temporaryDirectory.appendingPathComponent("guide-\(UUID().uuidString).realm")
}

private func remove(_ urls: URL...) {
  for url in urls { _ = try? Realm.deleteFiles(for: Realm.Configuration(fileURL: url)) }
}

/// Makes a realm with this number of books, for the current thread.
private func library(_ configuration: Realm.Configuration, books: Int) throws -> Realm {
  let realm = try Realm(configuration: configuration)
  try realm.write {
    for number in 0..<books {
      realm.create(Book.self, value: ["isbn": "\(number)", "title": "Book \(number)"])
    }
  }
  return realm
}

// listing: back up
/// Writes the newest version of a realm to a new file. Any thread may call it, also while others write.
func backUp(_ configuration: Realm.Configuration, to url: URL, key: Data?) throws {
  let realm = try Realm(configuration: configuration)
  realm.refresh()
  try realm.writeCopy(toFile: url, encryptionKey: key)
}
// end

extension Listings {
  static let backingUp: [String: Listing] = [
    "back up and look": { print in
      let (url, backupURL) = (temporaryFile(), temporaryFile())
      defer { remove(url, backupURL) }
      let configuration = Realm.Configuration(fileURL: url, objectTypes: [Book.self])
      let realm = try library(configuration, books: 3)
      // listing: back up and look
      try backUp(configuration, to: backupURL, key: nil)
      try realm.write { realm.deleteAll() }
      let backup = try Realm(
        configuration: Realm.Configuration(fileURL: backupURL, readOnly: true, objectTypes: [Book.self]))
      try backup.verify()
      print(realm.objects(Book.self).count, backup.objects(Book.self).count)
      // end
    },
    "restore": { print in
      let (url, backupURL) = (temporaryFile(), temporaryFile())
      defer { remove(url, backupURL) }
      let configuration = Realm.Configuration(fileURL: url, objectTypes: [Book.self])
      try autoreleasepool {
        let realm = try library(configuration, books: 3)
        try realm.writeCopy(toFile: backupURL)
        try realm.write { realm.deleteAll() }
      }
      // listing: restore
      var restoring = configuration
      restoring.seedFilePath = backupURL
      try Realm.deleteFiles(for: restoring)  // throws if somebody has the realm open
      print(try Realm(configuration: restoring).objects(Book.self).count)
      // end
    },
    "copy the bytes": { print in
      let (url, copyURL) = (temporaryFile(), temporaryFile())
      defer { remove(url, copyURL) }
      let configuration = Realm.Configuration(fileURL: url, objectTypes: [Book.self])
      // listing: copy the bytes
      let realm = try Realm(configuration: configuration)
      try realm.write { realm.create(Book.self, value: ["isbn": "1"]) }
      try FileManager.default.copyItem(at: url, to: copyURL)  // Nobody may write meanwhile.
      let copy = try Realm(
        configuration: Realm.Configuration(fileURL: copyURL, objectTypes: [Book.self]))
      print(copy.objects(Book.self).count)
      // end
    },
    "change the key": { print in
      let (url, copyURL) = (temporaryFile(), temporaryFile())
      defer { remove(url, copyURL) }
      let (oldKey, newKey) = (Data(repeating: 1, count: 64), Data(repeating: 2, count: 64))
      var configuration = Realm.Configuration(
        fileURL: url, encryptionKey: oldKey, objectTypes: [Book.self])
      try autoreleasepool { _ = try library(configuration, books: 3) }
      // listing: change the key
      try backUp(configuration, to: copyURL, key: newKey)
      try Realm.deleteFiles(for: configuration)
      configuration.encryptionKey = newKey
      configuration.seedFilePath = copyURL
      print(try Realm(configuration: configuration).objects(Book.self).count)
      try FileManager.default.removeItem(at: copyURL)
      // end
    },
  ]
}
