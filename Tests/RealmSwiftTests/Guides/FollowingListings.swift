import Foundation
import RealmStorage
import RealmSwift
import Testing

private func temporaryFile() -> URL {
  FileManager.default.temporaryDirectory.appendingPathComponent("guide-\(UUID().uuidString).realm")
}

private func remove(_ url: URL) { _ = try? Realm.deleteFiles(for: Realm.Configuration(fileURL: url)) }

/// Prints the changes of a feed until it has told `count` changes.
private func follow(_ realm: Realm, upTo count: Int, _ print: (String) -> Void) async throws {
  var told = 0
  // listing: follow changes
  for try await batch in try realm.changeFeed(since: "search index") {
    for change in batch.changes(of: Book.self) {
      switch change.kind {
      case .inserted: print("add \(change.object.primaryKey ?? .none)")
      case .modified: print("update \(change.properties.map(\.name))")
      case .deleted: print("remove \(change.object.primaryKey ?? .none)")
      }
    }
    // end
    told += batch.changes.count
    if told >= count { return }
  }
}

@Suite struct FollowingTests {
  @Test func `the feed of the guide tells insertions, changes and deletions of books`() async throws {
    let url = temporaryFile()
    defer { remove(url) }
    let realm = try opened(Realm.Configuration(fileURL: url, objectTypes: [Book.self]))
    try realm.write { realm.create(Book.self, value: ["isbn": "1", "title": "One"]) }
    var lines: [String] = []
    try await follow(realm, upTo: 1) { lines.append($0) }
    #expect(lines == ["add string(\"1\")"])
  }
}

extension Listings {
  static let following: [String: Listing] = [
    "record and undo": { print in
      let url = temporaryFile()
      defer { remove(url) }
      // listing: record and undo
      let database = try Database(path: url.path)
      let recorded = ChangeList()
      try database.write { transaction in
        let people = try transaction.createTable(
          TableSchema("Person", columns: [Column("name", .string), Column("friend", .link)]))
        let ada = try people.insert(["name": .string("Ada")])
        try people.insert(["name": .string("Grace"), "friend": .link(ada)])
        try transaction.record(into: recorded)
        try people.remove(ada)
      }
      for change in recorded.changes { print(change.change.name, change.isDerived ? "(derived)" : "") }
      try database.write { try $0.apply(recorded.inverse) }
      print(try database.snapshot().table("Person")?.count ?? 0)
      // end
    }
  ]
}
