import Foundation
import RealmStorage
import RealmSyncClient
import Testing

@testable import RealmSwift

private class CopiedAuthor: Object {
  @Persisted(primaryKey: true) var name: String
  @Persisted var books: List<CopiedBook>

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class CopiedBook: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var title: String
  @Persisted var author: CopiedAuthor?
  @Persisted var tags: List<String>

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class CopiedNote: Object {
  @Persisted var text: String

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Copies of realms for configurations with sync, without a server.
@Suite struct SyncedCopyTests {
  private static let types: [ObjectBase.Type] = [CopiedAuthor.self, CopiedBook.self]

  let world = AppWorld()

  /// A realm without sync that has objects.
  private func library(_ file: TemporaryFile) throws -> Realm.Configuration {
    let configuration = Realm.Configuration(fileURL: file.url, objectTypes: Self.types)
    let realm = try opened(configuration)
    try realm.write {
      let author = realm.create(CopiedAuthor.self, value: ["name": "Ada"])
      for id in 1...3 {
        let values: [String: Any] = ["id": id, "title": "book \(id)", "author": author, "tags": ["a", "b"]]
        author.books.append(realm.create(CopiedBook.self, value: values))
      }
    }
    return configuration
  }

  private func code(of body: () throws -> Void) -> Realm.Error.Code? {
    do {
      try body()
      return nil
    } catch {
      return (error as? Realm.Error)?.code
    }
  }

  private func isThere(_ configuration: Realm.Configuration) -> Bool { Realm.fileExists(for: configuration) }

  /// Checks that the file has the objects as changes that no server has.
  private func expectPending(_ path: String) throws {
    var options = DatabaseOptions(encryptionKey: [UInt8](repeating: 5, count: 64))
    options.history = .synced
    let snapshot = try Database(path: path, options: options).snapshot()
    #expect(try snapshot.table("CopiedBook")?.count == 3 && snapshot.table("CopiedAuthor")?.count == 1)
    #expect(try ClientCopy.hasPending(snapshot))
  }

  private func expectCopied(_ user: User) throws {
    let file = TemporaryFile()
    let local = try library(file)
    for flexible in [false, true] {
      var target =
        flexible ? user.flexibleSyncConfiguration() : user.configuration(partitionValue: "north")
      target.objectTypes = Self.types
      target.encryptionKey = Data(repeating: 5, count: 64)
      try opened(local).writeCopy(configuration: target)
      #expect(code { try opened(local).writeCopy(configuration: target) } == .fileExists)
      try expectPending(target.url.path)
      var plain = Realm.Configuration(fileURL: target.url, objectTypes: Self.types)
      plain.encryptionKey = target.encryptionKey
      #expect(code { _ = try opened(plain) } == .incompatibleHistories)
    }
    #expect(try opened(local).objects(CopiedBook.self).count == 3)
  }

  @Test func `a realm's copy for a user is a synced file, in which all objects wait for their upload`()
    async throws
  {
    let app = world.app()
    try expectCopied(await app.login(credentials: AppWorld.ann))
    withExtendedLifetime(app) {}
  }

  private func expectRefused(_ user: User) throws {
    let file = TemporaryFile()
    let types = Self.types + [CopiedNote.self]
    var target = user.configuration(partitionValue: "north")
    target.objectTypes = Self.types
    let realm = try opened(Realm.Configuration(fileURL: file.url, objectTypes: types))
    let error = #expect(throws: Realm.Error.self) { try realm.writeCopy(configuration: target) }
    #expect(error?.code == .schemaMismatch && !isThere(target))
    #expect(error?.localizedDescription.contains("CopiedNote") == true)
    // No object uses the class any more, so nothing is lost without it.
    let other = TemporaryFile()
    try opened(Realm.Configuration(fileURL: other.url, objectTypes: types)).verify()
    try opened(Realm.Configuration(fileURL: other.url, objectTypes: Self.types))
      .writeCopy(configuration: target)
    #expect(isThere(target))
  }

  @Test func `a class without a primary key is reported, and no file is made`() async throws {
    let app = world.app()
    try expectRefused(await app.login(credentials: AppWorld.ann))
    withExtendedLifetime(app) {}
  }

  @Test func `a realm can't be copied for sync in a write transaction`() async throws {
    let app = world.app()
    let user = try await app.login(credentials: AppWorld.ann)
    let target = user.configuration(partitionValue: "north")
    MisuseTests().expectStop(["Write transaction", "writeCopy(configuration:)", "Commit"]) {
      let file = TemporaryFile()
      let realm = try Realm(configuration: Realm.Configuration(fileURL: file.url, objectTypes: Self.types))
      try realm.write { try realm.writeCopy(configuration: target) }
    }
    #expect(!isThere(target))
    withExtendedLifetime(app) {}
  }

  private func expectOtherSeeds(_ user: User) throws {
    let (file, seed) = (TemporaryFile(), TemporaryFile())
    let local = try library(file)
    var synced = user.configuration(partitionValue: "north")
    synced.objectTypes = Self.types
    synced.seedFilePath = local.fileURL
    #expect(code { _ = try opened(synced) } == .incompatibleHistories && !isThere(synced))
    var target = user.configuration(partitionValue: "south")
    target.objectTypes = Self.types
    target.fileURL = seed.url
    try opened(local).writeCopy(configuration: target)
    let begun = TemporaryFile()
    let plain = Realm.Configuration(fileURL: begun.url, objectTypes: Self.types, seedFilePath: seed.url)
    #expect(code { _ = try opened(plain) } == .incompatibleHistories && !isThere(plain))
  }

  @Test func `a realm can't begin with a seed whose sync differs, and no file is made of the seed`()
    async throws
  {
    let app = world.app()
    try expectOtherSeeds(await app.login(credentials: AppWorld.ann))
    withExtendedLifetime(app) {}
  }
}
