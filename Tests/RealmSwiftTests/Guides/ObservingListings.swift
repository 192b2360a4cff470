import Dispatch
import Foundation
import RealmSwift

private func inMemory() -> Realm.Configuration {
  Realm.Configuration(
    inMemoryIdentifier: UUID().uuidString, objectTypes: [Book.self, Playlist.self, Track.self, Artist.self])
}

/// Returns when `count` lines were printed.
@MainActor private func lines(_ count: Int, _ print: Printed) async {
  for _ in 0..<5_000 where print.text.split(separator: "\n").count < count {
    try? await Task.sleep(for: .milliseconds(2))
  }
}

/// Returns when the observers that exist have had their first call.
@MainActor private func told(_ realm: Realm) async {
  for _ in 0..<2 {
    var token: NotificationToken?
    await withCheckedContinuation { continuation in
      var waiting: CheckedContinuation<Void, Never>? = continuation
      token = realm.objects(Book.self).observe { _ in
        waiting?.resume()
        waiting = nil
      }
    }
    token?.invalidate()
  }
}

@MainActor private func shelf() throws -> Realm {
  let realm = try Realm(configuration: inMemory())
  try realm.write {
    realm.create(Book.self, value: ["isbn": "1", "title": "Atlas", "pages": 300])
    realm.create(Book.self, value: ["isbn": "2", "title": "Waves", "pages": 90])
  }
  return realm
}

extension Listings {
  @MainActor private static func observeResults(_ print: Printed) async throws {
    let realm = try shelf()
    // listing: observe results
    let books = realm.objects(Book.self).where { $0.pages > 100 }.sorted(by: \.title)
    let token = books.observe { change in
      switch change {
      case .initial(let books):
        print("first:", Array(books.map(\.title)))
      case .update(let books, let deletions, let insertions, let modifications):
        print(Array(books.map(\.title)), "-", deletions, "+", insertions, "~", modifications)
      case .error(let error):
        print("the file can't be read any more:", error)
      }
    }
    // end
    await lines(1, print)
    // listing: observe results, changes
    try realm.write {
      realm.create(Book.self, value: ["isbn": "3", "title": "Birds", "pages": 200])
      realm.object(ofType: Book.self, forPrimaryKey: "1")?.isRead = true
    }
    // end
    await lines(2, print)
    token.invalidate()
  }

  @MainActor private static func observeObject(_ print: Printed) async throws {
    let realm = try shelf()
    // listing: observe an object
    let book = realm.objects(Book.self)[0]
    let token = book.observe(keyPaths: ["title", "pages"]) { change in
      switch change {
      case .change(let book, let properties):
        for property in properties {
          print(book.isbn, property.name, property.oldValue ?? "nil", "->", property.newValue ?? "nil")
        }
      case .deleted: print("deleted")
      case .error(let error): print("the file can't be read any more:", error)
      }
    }
    // end
    try realm.write { (book.title, book.isRead) = ("Atlas of Birds", true) }
    await lines(1, print)
    try realm.write { realm.delete(book) }
    await lines(2, print)
    token.invalidate()
  }

  @MainActor private static func changesInALoop(_ print: Printed) async throws {
    let realm = try shelf()
    let books = realm.objects(Book.self)
    // listing: changes in a loop
    let task = Task { @MainActor in
      for await change in books.changes() {
        if case .update(let books, _, let insertions, _) = change {
          print("new:", insertions.map { books[$0].title })
        }
      }
    }
    // end
    await told(realm)
    try realm.write { realm.create(Book.self, value: ["isbn": "3", "title": "Birds", "pages": 200]) }
    await lines(1, print)
    task.cancel()
    await task.value
  }

  @MainActor private static func sections(_ print: Printed) async throws {
    let realm = try shelf()
    // listing: sections
    let shelves = realm.objects(Book.self).sectioned(
      by: { String($0.title.prefix(1)) }, sortDescriptors: [SortDescriptor(keyPath: "title")])
    for shelf in shelves { print(shelf.key, Array(shelf.map(\.title))) }
    let token = shelves.observe { change in
      if case .update(_, _, let insertions, _, let newSections, _) = change {
        print("+", insertions.map { [$0[0], $0[1]] }, "new sections", Array(newSections))
      }
    }
    // end
    await told(realm)
    try realm.write { realm.create(Book.self, value: ["isbn": "3", "title": "Birds", "pages": 200]) }
    await lines(3, print)
    token.invalidate()
  }

  @MainActor private static func leaveOut(_ print: Printed) async throws {
    let realm = try shelf()
    let books = realm.objects(Book.self)
    let token = books.observe {
      if case .update(_, _, let insertions, _) = $0 { print("told of", insertions) }
    }
    await told(realm)
    // listing: leave an observer out
    // The list on the screen has moved the row already.
    try realm.write(withoutNotifying: [token]) {
      realm.create(Book.self, value: ["isbn": "3", "title": "Birds", "pages": 200])
    }
    // end
    await told(realm)
    print("told of nothing")
    token.invalidate()
  }

  static let observing: [String: AsyncListing] = [
    "observe results": { try await observeResults($0) },
    "observe an object": { try await observeObject($0) },
    "changes in a loop": { try await changesInALoop($0) },
    "sections": { try await sections($0) },
    "leave an observer out": { try await leaveOut($0) },
  ]
}
