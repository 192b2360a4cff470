import Foundation
import RealmStorage
import RealmSwift
import RealmTestSupport
import Testing

final class FeedPet: EmbeddedObject {
  @Persisted var name: String
}

final class FeedPerson: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var name: String
  @Persisted var friend: FeedPerson?
  @Persisted var tags: List<String>
  @Persisted var groups: MutableSet<Int>
  @Persisted var scores: Map<String, Int>
  @Persisted var pet: FeedPet?
  @Persisted var any: AnyRealmValue

  override class func propertiesMapping() -> [String: String] { ["name": "full_name"] }
}

/// Tests that follow the changes of a realm from a token that the file keeps.
@Suite struct ChangeFeedTests {
  private func configuration(_ path: String, key: Data? = nil) -> Realm.Configuration {
    Realm.Configuration(
      fileURL: URL(fileURLWithPath: path), encryptionKey: key, objectTypes: [FeedPerson.self, FeedPet.self])
  }

  private static let token: ChangeFeed.Token = "index"

  @discardableResult
  private func write(_ path: String, _ body: (Realm) throws -> Void) throws -> ChangeFeed {
    let realm = try Realm(configuration: configuration(path))
    try realm.write { try body(realm) }
    return try realm.changeFeed(since: Self.token)
  }

  private func withPath(_ body: (String) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("feed-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try await body(folder.appendingPathComponent("test.realm").path)
  }

  @Test func `a new token is told the existing objects, and then the changes`() async throws {
    try await withPath { path in
      let feed = try write(path) { realm in
        for id in 0..<3 {
          let person = FeedPerson()
          person.id = id
          person.name = "name \(id)"
          realm.add(person)
        }
      }
      var iterator = feed.makeAsyncIterator()
      let first = try #require(try await iterator.next())
      #expect(first.isFirst && first.changes.count == 3)
      #expect(first.changes(of: FeedPerson.self).allSatisfy { $0.kind == .inserted })
      #expect(first.changes[1].object.primaryKey == .int(1))
      #expect(first.changes[1].value("name") == .string("name 1"))
      try write(path) { realm in
        let person = try #require(realm.object(ofType: FeedPerson.self, forPrimaryKey: 1))
        person.name = "other"
        person.friend = realm.object(ofType: FeedPerson.self, forPrimaryKey: 2)
        person.tags.append(objectsIn: ["a", "b"])
        person.groups.insert(4)
        person.scores["x"] = 5
        person.any = .fromArray([.int(1)])
        realm.delete(try #require(realm.object(ofType: FeedPerson.self, forPrimaryKey: 0)))
      }
      let second = try #require(try await iterator.next())
      #expect(!second.isFirst && second.changes.count == 2)
      #expect(second.changes[0].kind == .deleted && second.changes[0].object.primaryKey == .int(0))
      let changed = second.changes[1]
      #expect(changed.kind == .modified && changed.object.primaryKey == .int(1))
      var differences: [String: ChangeFeed.Property.Difference] = [:]
      for property in changed.properties { differences[property.name] = property.difference }
      #expect(differences["name"] == .value(old: .string("name 1"), new: .string("other")))
      #expect(differences["tags"] == .elements([.inserted([.string("a"), .string("b")], at: 0)]))
      #expect(differences["groups"] == .elements([.added([.int(4)])]))
      #expect(differences["scores"] == .elements([.set(key: "x", old: nil, new: .int(5))]))
      #expect(differences["any"] == .value(old: ChangeFeed.Value.none, new: .list([.int(1)])))
      guard case .value(_, .object(let friend)?)? = differences["friend"] else {
        Issue.record("the link is not told")
        return
      }
      #expect(friend.className == "FeedPerson" && friend.primaryKey == .int(2))
      #expect(differences.count == 6)
    }
  }

  @Test func `a token continues in the next run, and unfinished changes are told again`() async throws {
    try await withPath { path in
      func batch(_ acknowledges: Bool) async throws -> [ChangeFeed.Change] {
        let feed = try opened(configuration(path)).changeFeed(since: Self.token)
        var iterator = feed.makeAsyncIterator()
        let batch = try #require(try await iterator.next())
        if acknowledges { try batch.acknowledge() }
        return batch.changes
      }
      func add(_ id: Int) throws {
        try write(path) { realm in
          let person = FeedPerson()
          person.id = id
          realm.add(person)
        }
      }
      try add(1)
      #expect(try await batch(false).count == 1)
      try add(2)
      #expect(try await batch(true).count == 2)
      try add(3)
      #expect(try await batch(false).map(\.object.primaryKey) == [.int(3)])
      try add(4)
      #expect(try await batch(true).map(\.object.primaryKey) == [.int(3), .int(4)])
      let realm = try opened(configuration(path))
      #expect(try realm.endChangeFeed(Self.token))
      #expect(try realm.endChangeFeed(Self.token) == false)
      #expect(try await batch(false).count == 4)
    }
  }

  @Test func `a feed waits for commits, and ends with its task`() async throws {
    try await withPath { path in
      let feed = try write(path) { _ in }
      let task = Task {
        var counts: [Int] = []
        for try await batch in feed {
          counts.append(batch.changes.count)
          if counts.count == 2 { break }
        }
        return counts
      }
      let other = Task {
        var counts = 0
        for try await _ in try opened(configuration(path)).changeFeed(since: "other") {
          counts += 1
        }
        return counts
      }
      try await Task.sleep(for: .milliseconds(50))
      try write(path) { realm in
        let person = FeedPerson()
        person.id = 1
        person.pet = FeedPet()
        realm.add(person)
      }
      #expect(try await task.value.reduce(0, +) == 2)
      other.cancel()
      _ = try await other.value
    }
  }

  @Test func `many initial changes are told in parts, and the token moves with the last part`() async throws {
    try await withPath { path in
      let feed = try write(path) { realm in
        for id in 0..<5000 {
          let person = FeedPerson()
          person.id = id
          realm.add(person)
        }
      }
      var iterator = feed.makeAsyncIterator()
      #expect(try await iterator.next()?.changes.count == 4096)
      // The token has not moved yet, so the next run begins again.
      var again = feed.makeAsyncIterator()
      #expect(try await again.next()?.changes.count == 4096)
      #expect(try await again.next()?.changes.count == 904)
      try write(path) { $0.delete($0.objects(FeedPerson.self)) }
      #expect(try await again.next()?.changes.count == 5000)
    }
  }

  @Test func `the token passes commits that change no object of the feed's classes`() async throws {
    try await withPath { path in
      let feed = try write(path) { _ in }
      let task = Task {
        for try await _ in feed {}
      }
      let database = try Database(path: path)
      func kept() throws -> UInt64? { try database.namedVersions().first?.version }
      while try kept() == nil { try await Task.sleep(for: .milliseconds(5)) }
      let first = try kept()
      for number in 0..<300 {
        try database.write(.relaxed) { try $0.tree("other").set([UInt8(number % 250)], for: [1]) }
      }
      var rounds = 0
      while try kept() == first, rounds < 400 {
        try await Task.sleep(for: .milliseconds(10))
        rounds += 1
      }
      #expect(try kept() != first)
      task.cancel()
      _ = try await task.value
    }
  }

  @Test func `a running feed does not restart a token that was ended`() async throws {
    try await withPath { path in
      func add(_ id: Int) throws -> ChangeFeed {
        try write(path) { realm in
          let person = FeedPerson()
          person.id = id
          realm.add(person)
        }
      }
      var iterator = try add(1).makeAsyncIterator()
      _ = try await iterator.next()
      let feed = try add(2)
      _ = try await iterator.next()
      #expect(try opened(configuration(path)).endChangeFeed(Self.token))
      _ = try add(3)
      #expect(try await iterator.next() == nil)
      var again = feed.makeAsyncIterator()
      #expect(try await again.next()?.isFirst == true)
    }
  }

  @Test func `a realm finds the objects of changes`() async throws {
    try await withPath { path in
      let feed = try write(path) { realm in
        let person = FeedPerson()
        person.id = 7
        person.pet = FeedPet()
        realm.add(person)
      }
      var iterator = feed.makeAsyncIterator()
      let changes = try #require(try await iterator.next()?.changes(of: FeedPerson.self))
      try write(path) { realm in
        #expect(changes[0].object.object(of: FeedPerson.self, in: realm)?.id == 7)
        realm.deleteAll()
        #expect(changes[0].object.object(of: FeedPerson.self, in: realm) == nil)
      }
    }
  }

  @Test func `a feed ends with an error if a property that it told is removed`() async throws {
    try await withPath { path in
      let feed = try write(path) { realm in realm.add(FeedPerson()) }
      var iterator = feed.makeAsyncIterator()
      _ = try await iterator.next()
      // A newer program without the property does this.
      let database = try Database(path: path)
      try database.write { transaction in
        let table = try #require(try transaction.table("FeedPerson"))
        let column = try #require(table.schema.columns.firstIndex { $0.name == "tags" })
        try table.dropColumn(column)
      }
      let error = await #expect(throws: Realm.Error.self) { try await iterator.next() }
      #expect(error?.localizedDescription.contains("column tags of table FeedPerson") == true)
    }
  }

  @Test func `a feed of a read-only realm, or with an invalid name, is refused`() async throws {
    try await withPath { path in
      try write(path) { _ in }
      let realm = try Realm(configuration: configuration(path))
      #expect(throws: Realm.Error.self) { try realm.changeFeed(since: "") }
    }
    try await withPath { path in
      try write(path) { _ in }
      var configuration = configuration(path)
      configuration.readOnly = true
      let realm = try Realm(configuration: configuration)
      #expect(throws: Realm.Error.self) { try realm.changeFeed(since: "x") }
    }
  }
}
