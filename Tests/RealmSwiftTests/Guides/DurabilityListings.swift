import Dispatch
import Foundation
import RealmSwift

private func temporaryFile() -> URL {
  FileManager.default.temporaryDirectory.appendingPathComponent("guide-\(UUID().uuidString).realm")
}

private func remove(_ url: URL) { _ = try? Realm.deleteFiles(for: Realm.Configuration(fileURL: url)) }

/// Calls `body` with a realm of a new file, which has one book.
private func withShelf(_ body: (Realm) throws -> Void) throws {
  let url = temporaryFile()
  defer { remove(url) }
  try autoreleasepool {
    let realm = try Realm(configuration: Realm.Configuration(fileURL: url, objectTypes: [Book.self]))
    try realm.write { realm.create(Book.self, value: ["isbn": "1", "title": "Atlas", "pages": 300]) }
    try body(realm)
  }
}

// listing: relaxed marks
@MainActor final class ReadMarks {
  private let realm: Realm

  init(_ realm: Realm) { self.realm = realm }

  /// If a loss of power takes a mark back, the reader sets it again.
  func mark(_ book: Book) throws {
    try realm.write(.relaxed) { book.isRead = true }
  }

  /// The app calls this function when it goes to the background.
  func save() throws { try realm.flush() }
}
// end

extension Listings {
  static let durability: [String: Listing] = [
    "full and relaxed": { print in
      try withShelf { realm in
        // listing: full and relaxed
        let book = realm.objects(Book.self)[0]
        try realm.write { book.price = 12 }  // survives a loss of power from here on
        try realm.write(.relaxed) { book.isRead = true }  // survives the end of the process from here on
        print(book.price ?? 0, book.isRead)
        // end
      }
    },
    "commit relaxed": { print in
      try withShelf { realm in
        // listing: commit relaxed
        realm.beginWrite()
        realm.create(Book.self, value: ["isbn": "2", "title": "Waves"])
        try realm.commitWrite(.relaxed)
        print(realm.objects(Book.self).count)
        // end
      }
    },
    "seen at once": { print in
      try withShelf { realm in
        // listing: seen at once
        let configuration = realm.configuration
        try realm.write(.relaxed) { realm.create(Book.self, value: ["isbn": "2", "title": "Waves"]) }
        let queue = DispatchQueue(label: "reader")
        let count = try queue.sync {
          try Realm(configuration: configuration, queue: queue).objects(Book.self).count
        }
        print(count)
        // end
      }
    },
    "flush": { print in
      try withShelf { realm in
        // listing: flush
        for number in 2...1_000 {
          try realm.write(.relaxed) { realm.create(Book.self, value: ["isbn": "\(number)"]) }
        }
        try realm.flush()  // All thousand books survive a loss of power from here on.
        print(realm.objects(Book.self).count)
        // end
      }
    },
    "flush in memory": { print in
      // listing: flush in memory
      let configuration = Realm.Configuration(inMemoryIdentifier: "notes", objectTypes: [Book.self])
      try autoreleasepool {
        let realm = try Realm(configuration: configuration)
        try realm.write { realm.create(Book.self, value: ["isbn": "1"]) }
        try realm.flush()  // does nothing
        print(realm.objects(Book.self).count)
      }
      print(try Realm(configuration: configuration).objects(Book.self).count)
      // end
    },
  ]
}
