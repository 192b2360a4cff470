import Foundation
import RealmSwift
import Testing

/// The files of synced realms.
@Suite(.timeLimit(.minutes(3))) @MainActor struct FileTests {
  private func size(_ configuration: Realm.Configuration) throws -> Int {
    let path = try #require(configuration.fileURL).path
    return try #require(FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
  }

  @Test func `the first open makes a file, in the user's folder or at a path that the app chooses`()
    async throws
  {
    try await withWorld { world in
      let user = try await world.user()
      let place = "mongodb-realm/\(world.app().appId)/\(user.id)/flx_sync_default.realm"
      let (own, given) = (user.notes(), user.notes(at: world.file("given")))
      #expect(own.fileURL?.path.hasSuffix(place) == true)
      for configuration in [own, given] {
        #expect(!Realm.fileExists(for: configuration))
        let realm = try opened(configuration)
        #expect(Realm.fileExists(for: configuration))
        #expect(try size(configuration) > 0)
        #expect(realm.configuration.fileURL == configuration.fileURL)
        withExtendedLifetime(realm) {}
      }
    }
  }

  @Test func `files are deleted if no realm has them open, and the next open downloads again`() async throws {
    try await withWorld { world in
      let users = try await world.users(2)
      try await users[0].uploadNotes(1...2)
      let configuration = users[1].notes()
      do {
        let realm = try await opened(configuration, .once)
        #expect(realm.noteIDs == [1, 2])
        let error = #expect(throws: Realm.Error.self) { try Realm.deleteFiles(for: configuration) }
        #expect(error?.code == .alreadyOpen)
        // The realm that is open continues.
        try realm.write { realm.add(Note(3)) }
        try await realm.upload()
      }
      #expect(try Realm.deleteFiles(for: configuration))
      let path = try #require(configuration.fileURL).path
      for suffix in ["", ".note", ".management", ".fresh"] {
        #expect(!FileManager.default.fileExists(atPath: path + suffix), "\(suffix)")
      }
      #expect(try !Realm.deleteFiles(for: configuration))
      let realm = try await opened(configuration, .once)
      #expect(realm.noteIDs == [1, 2, 3])
    }
  }

  @Test func `a file that is deleted before its changes are uploaded is moved away`() async throws {
    try await withWorld { world in
      let user = try await world.user()
      let configuration = user.notes()
      do {
        let realm = try await opened(configuration, .once)
        try realm.sync().suspend()
        try realm.write { realm.add(Note(1, "not uploaded")) }
      }
      #expect(try Realm.deleteFiles(for: configuration))
      let file = try #require(configuration.fileURL)
      #expect(!FileManager.default.fileExists(atPath: file.path))
      let folder = file.deletingLastPathComponent().deletingLastPathComponent()
      let kept = try FileManager.default.contentsOfDirectory(
        atPath: folder.appendingPathComponent("recovered-realms").path)
      #expect(kept.count == 1 && kept[0].hasPrefix("recovered_realm-"), "\(kept)")
    }
  }

  @Test func `the server gives up a file that is deleted, and an in-memory file that is closed`() async throws
  {
    try await withWorld { world in
      let user = try await world.user()
      let gone = user.notes(at: world.file("gone"))
      do {
        let realm = try await opened(gone, .once)
        try realm.write { realm.add(Note(1)) }
        try await realm.upload()
      }
      var memory = user.notes()
      memory.inMemoryIdentifier = "memory of \(user.id)"
      do {
        let realm = try await opened(memory, .once)
        #expect(realm.noteIDs == [1])
      }
      try await eventually { user.allSessions.isEmpty }
      #expect(try await world.metric("replicas") == 2)
      #expect(try Realm.deleteFiles(for: gone))
      // The server is told when the user connects the next time.
      let realm = try await opened(user.notes(), .once)
      try await eventually { try await world.metric("replicas") == 1 }
      #expect(realm.noteIDs == [1])
      try realm.write { realm.add(Note(2)) }
      try await realm.upload()
    }
  }

  @Test func `the second open of a file downloads far less than the first`() async throws {
    try await withWorld { world in
      let proxy = try await SyncProxy.start(for: world.port)
      _ = world.app { $0.baseURL = proxy.address }
      let users = try await world.users(2)
      let writer = try opened(users[0].notes())
      try writer.write { for id in 1...100 { writer.add(Note(id, noise(1000))) } }
      try await writer.upload()
      try writer.sync().suspend()
      proxy.bytesToDevices = 0
      do {
        let realm = try await opened(users[1].notes(), .always)
        #expect(realm.noteIDs.count == 100)
      }
      let first = proxy.bytesToDevices
      try await eventually { users[1].allSessions.isEmpty }
      proxy.bytesToDevices = 0
      let realm = try await opened(users[1].notes(), .always)
      #expect(realm.noteIDs.count == 100)
      #expect(proxy.bytesToDevices * 20 < first, "\(first), and then \(proxy.bytesToDevices)")
      await proxy.stop()
      withExtendedLifetime(writer) {}
    }
  }

  @Test func `an encrypted realm is synced, and another key does not open it`() async throws {
    try await withWorld { world in
      let users = try await world.users(2)
      var configuration = users[0].notes()
      configuration.encryptionKey = Data((0..<64).map { UInt8($0) })
      do {
        let realm = try await opened(configuration, .once)
        try realm.write { realm.add(Note(1, "secret words")) }
        try await realm.upload()
      }
      let other = try await opened(users[1].notes(), .always)
      #expect(other.note(1)?.text == "secret words")
      try other.write { other.note(1)?.text = "other words" }
      try await other.upload()
      let realm = try await opened(configuration, .always)
      #expect(realm.note(1)?.text == "other words")
      let bytes = try Data(contentsOf: try #require(configuration.fileURL))
      #expect(bytes.range(of: Data("other words".utf8)) == nil)
    }
  }

  @Test func `a synced file opens only with the key that it was written with`() async throws {
    try await withWorld { world in
      let user = try await world.user()
      var configuration = user.notes()
      configuration.encryptionKey = Data(repeating: 1, count: 64)
      do {
        let realm = try await opened(configuration, .once)
        try realm.write { realm.add(Note(1)) }
        try await realm.upload()
      }
      try await eventually { user.allSessions.isEmpty }
      for key in [Data(repeating: 2, count: 64), nil] {
        configuration.encryptionKey = key
        let error = #expect(throws: Realm.Error.self) { _ = try opened(configuration) }
        #expect(error?.code == .invalidDatabase)
      }
    }
  }

  @Test func `an in-memory realm is synced, and its objects are gone when it is closed`() async throws {
    try await withWorld { world in
      let users = try await world.users(2)
      try await users[0].uploadNotes(1...1)
      var configuration = users[1].notes()
      configuration.inMemoryIdentifier = "memory of \(users[1].id)"
      #expect(configuration.fileURL == nil)
      do {
        let realm = try await opened(configuration, .once)
        #expect(realm.noteIDs == [1])
        try realm.write { realm.add(Note(2)) }
        try await realm.upload()
      }
      try await eventually { users[1].allSessions.isEmpty }
      // Without a server, nothing can arrive before the test sees that the realm is empty.
      await world.stop()
      do {
        let realm = try opened(configuration)
        #expect(realm.noteIDs.isEmpty)
      }
      // The session ends when the server has all changes of the realm.
      try await world.restart()
      try await eventually { users[1].allSessions.isEmpty }
      let realm = try await opened(configuration, .once)
      #expect(realm.noteIDs == [1, 2])
    }
  }

  @Test func `a synced file is compacted when it is opened, and continues`() async throws {
    try await withWorld { world in
      let users = try await world.users(2)
      do {
        let realm = try await opened(users[0].notes(), .once)
        try realm.write { for id in 1...200 { realm.add(Note(id, noise(2000))) } }
        try await realm.upload()
        try realm.write { realm.delete(realm.objects(Note.self).where { $0.id > 1 }) }
        try await realm.upload()
      }
      try await eventually { users[0].allSessions.isEmpty }
      var configuration = users[0].notes()
      let (before, asked) = (try size(configuration), Calls<Int>())
      configuration.shouldCompactOnLaunch = { total, _ in
        asked.add(total)
        return true
      }
      let realm = try await opened(configuration, .never)
      #expect(asked.count == 1)
      #expect(try size(configuration) < before)
      try realm.write { realm.add(Note(2)) }
      let other = try opened(users[1].notes())
      try await eventually(in: other) { other.noteIDs == [1, 2] }
      withExtendedLifetime(realm) {}
    }
  }

  // MARK: - Synced and not

  @Test func `a file without sync does not open with sync, and a synced file does not open without it`()
    async throws
  {
    try await withWorld { world in
      let user = try await world.user()
      let plain = Realm.Configuration(fileURL: world.file("plain"), objectTypes: [Note.self])
      do {
        let realm = try opened(plain)
        try realm.write { realm.add(Note(1)) }
      }
      let error = #expect(throws: Realm.Error.self) { _ = try opened(user.notes(at: plain.fileURL)) }
      #expect(error?.code == .incompatibleHistories)
      #expect(try opened(plain).noteIDs == [1])

      let synced = user.notes(at: world.file("synced"))
      var unsynced = plain
      unsynced.fileURL = synced.fileURL
      do {
        let realm = try await opened(synced, .once)
        let error = #expect(throws: Realm.Error.self) { _ = try opened(unsynced) }
        #expect(error?.code == .incompatibleHistories)
        withExtendedLifetime(realm) {}
      }
      try await eventually { user.allSessions.isEmpty }
      let late = #expect(throws: Realm.Error.self) { _ = try opened(unsynced) }
      #expect(late?.code == .incompatibleHistories)
    }
  }

  @Test func `a file that is open for a user opens neither for another user nor in another way`() async throws
  {
    try await withWorld("development: true\npartition: area\n") { world in
      let users = try await world.users(2)
      let url = world.file()
      let realm = try opened(users[0].notes(at: url))
      let error = #expect(throws: Realm.Error.self) { _ = try opened(users[1].notes(at: url)) }
      #expect(error?.code == .fail)
      var partition = users[0].configuration(partitionValue: "north")
      partition.fileURL = url
      partition.objectTypes = [Note.self]
      let other = #expect(throws: Realm.Error.self) { _ = try opened(partition) }
      #expect(other?.code == .fail)
      withExtendedLifetime(realm) {}
    }
  }
}
