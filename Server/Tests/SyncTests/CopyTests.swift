import Foundation
import RealmSwift
import Testing

/// Copies of realms for other configurations.
@Suite(.timeLimit(.minutes(3))) @MainActor struct CopyTests {
  /// A file without sync, with plots.
  private func local(
    _ world: SyncWorld, _ ids: ClosedRange<Int>? = nil, _ types: [ObjectBase.Type] = [TextPlot.self]
  ) throws -> Realm.Configuration {
    let configuration = Realm.Configuration(fileURL: world.file(), objectTypes: types)
    if let ids { try opened(configuration).addPlots(ids) }
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

  // MARK: - From a file that is not synced

  @Test func `the copy of a local realm is synced, and the local realm stays unchanged`() async throws {
    try await withWorld(SyncWorld.partitioned) { world in
      let users = try await world.users(2)
      let (from, to) = (try local(world, 1...3), users[0].plots(in: "north"))
      try opened(from).writeCopy(configuration: to)
      let synced = try opened(to)
      #expect(synced.plotIDs == [1, 2, 3])
      try synced.addPlots(4...4)
      let other = try await opened(users[1].plots(in: "north"), .once)
      try await eventually(in: other) { other.plotIDs == [1, 2, 3, 4] }
      try other.addPlots(5...5)
      try await eventually(in: synced) { synced.plotIDs == [1, 2, 3, 4, 5] }
      #expect(try opened(from).plotIDs == [1, 2, 3])
      // The copied objects have the value of the partition.
      #expect(synced.objects(TextPlot.self).allSatisfy { $0.area == "north" })
    }
  }

  @Test func `objects of a local copy are merged with objects of the server that have the same keys`()
    async throws
  {
    try await withWorld(SyncWorld.partitioned) { world in
      let users = try await world.users(2)
      let other = try opened(users[1].plots(in: "north"))
      try other.write {
        for id in 3...4 {
          other.create(TextPlot.self, value: ["id": id, "text": "server"] as [String: Any])
        }
      }
      try await other.upload()
      let (from, to) = (try local(world), users[0].plots(in: "north"))
      do {
        let realm = try opened(from)
        try realm.write {
          for id in 1...3 {
            realm.create(TextPlot.self, value: ["id": id, "text": "local"] as [String: Any])
          }
        }
        try realm.writeCopy(configuration: to)
      }
      let synced = try opened(to)
      for realm in [synced, other] {
        try await eventually(in: realm) {
          Array(realm.objects(TextPlot.self).sorted(byKeyPath: "id").map(\.text)) == [
            "local", "local", "local", "server",
          ]
        }
      }
    }
  }

  @Test func `objects of a local copy are uploaded when a subscription asks for their class`() async throws {
    try await withWorld { world in
      let users = try await world.users(2)
      var from = Realm.Configuration(fileURL: world.file())
      from.objectTypes = [Note.self]
      do {
        let realm = try opened(from)
        try realm.write { for id in 1...3 { realm.add(Note(id, "local")) } }
        try realm.writeCopy(configuration: users[0].notes())
      }
      let synced = try opened(users[0].notes())
      #expect(synced.noteIDs == [1, 2, 3])
      let other = try await opened(users[1].notes(), .once)
      try await eventually(in: other) { other.noteIDs == [1, 2, 3] }
      #expect(synced.noteIDs == [1, 2, 3])
      #expect(other.note(3)?.text == "local")
    }
  }

  // MARK: - To a file that is not synced

  @Test(arguments: [UInt64(0), 1])
  func `the copy of a synced realm is a local realm without the partition, and is not synced`(
    _ version: UInt64
  ) async throws {
    try await withWorld(SyncWorld.partitioned) { world in
      let user = try await world.user()
      let synced = try opened(user.plots(in: "north", [Note.self]))
      try synced.write { for id in 1...3 { synced.add(Note(id)) } }
      try await synced.upload()
      var to = try local(world, nil, [Note.self])
      to.schemaVersion = version
      try synced.writeCopy(configuration: to)
      let copy = try opened(to)
      #expect(copy.noteIDs == [1, 2, 3] && copy.syncSession == nil)
      let properties = copy.schema["Note"]?.properties.map(\.name)
      #expect(properties == ["id", "text", "owner", "count"])
      try copy.write { copy.add(Note(4)) }
      try await synced.download()
      #expect(synced.noteIDs == [1, 2, 3] && copy.noteIDs == [1, 2, 3, 4])
    }
  }

  @Test func `changes that are not uploaded yet are also in a local copy`() async throws {
    try await withWorld { world in
      let user = try await world.user()
      let synced = try await opened(user.notes(), .once)
      try synced.sync().suspend()
      try synced.write { synced.add(Note(1)) }
      let to = try local(world, nil, [Note.self])
      try synced.writeCopy(configuration: to)
      #expect(try opened(to).noteIDs == [1])
    }
  }

  // MARK: - For another user or device

  @Test func `the copy of a synced realm for another user is a device of its own, and downloads little`()
    async throws
  {
    try await withWorld(SyncWorld.partitioned) { world in
      let proxy = try await SyncProxy.start(for: world.port)
      _ = world.app { $0.baseURL = proxy.address }
      let users = try await world.users(2)
      let one = try opened(users[0].plots(in: "north"))
      try one.write {
        for id in 1...100 {
          one.create(TextPlot.self, value: ["id": id, "text": noise(1000)] as [String: Any])
        }
      }
      try await one.upload()
      try await one.download()
      let to = users[1].plots(in: "north")
      try one.writeCopy(configuration: to)
      proxy.bytesToDevices = 0
      let two = try await opened(to, .always)
      #expect(two.plotIDs.count == 100)
      #expect(proxy.bytesToDevices < 30_000)
      try one.addPlots(101...101)
      try two.addPlots(102...102)
      for realm in [one, two] { try await eventually(in: realm) { realm.plotIDs.count == 102 } }
      #expect(try await world.metric("replicas") == 2)
      await proxy.stop()
    }
  }

  @Test func `a copy of subscribed objects also has the subscriptions`() async throws {
    try await withWorld { world in
      let users = try await world.users(2)
      let one = try await opened(users[0].notes(), .once)
      try one.write { for id in 1...3 { one.add(Note(id)) } }
      try await one.upload()
      try await one.download()
      var to = users[1].flexibleSyncConfiguration()
      to.objectTypes = [Note.self]
      try one.writeCopy(configuration: to)
      let two = try opened(to)
      #expect(two.noteIDs == [1, 2, 3] && two.subscriptions.count == 1)
      try two.write { two.add(Note(4)) }
      try one.write { one.add(Note(5)) }
      for realm in [one, two] { try await eventually(in: realm) { realm.noteIDs == [1, 2, 3, 4, 5] } }
    }
  }

  @Test func `a realm with changes that the server does not have can't be copied for another device`()
    async throws
  {
    try await withWorld(SyncWorld.partitioned) { world in
      let users = try await world.users(2)
      let one = try opened(users[0].plots(in: "north"))
      try one.addPlots(1...1)
      try await one.upload()
      try one.sync().suspend()
      try one.addPlots(2...2)
      for to in [users[1].plots(in: "north"), users[0].plots(in: "north", at: world.file())] {
        #expect(code { try one.writeCopy(configuration: to) } != nil)
        #expect(!Realm.fileExists(for: to))
      }
      try one.sync().resume()
      try await one.upload()
      try await one.download()
      try one.writeCopy(configuration: users[1].plots(in: "north"))
      #expect(try opened(users[1].plots(in: "north")).plotIDs == [1, 2])
    }
  }

  // MARK: - Files

  @Test func `a copy does not replace a file`() async throws {
    try await withWorld(SyncWorld.partitioned) { world in
      let user = try await world.user()
      let from = try local(world, 1...1)
      let to = user.plots(in: "north")
      do { try opened(to).addPlots(2...2) }
      #expect(code { try opened(from).writeCopy(configuration: to) } == .fileExists)
      try await eventually { user.allSessions.isEmpty }
      #expect(try opened(to).plotIDs == [2])
    }
  }

  @Test func `a copy is encrypted with the key of its configuration`() async throws {
    try await withWorld(SyncWorld.partitioned) { world in
      let users = try await world.users(2)
      var to = users[0].plots(in: "north")
      to.encryptionKey = Data(repeating: 7, count: 64)
      try opened(local(world, 1...2)).writeCopy(configuration: to)
      var plain = to
      plain.encryptionKey = nil
      #expect(code { _ = try opened(plain) } == .invalidDatabase)
      let realm = try opened(to)
      #expect(realm.plotIDs == [1, 2])
      let other = try await opened(users[1].plots(in: "north"), .once)
      try await eventually(in: other) { other.plotIDs == [1, 2] }
      withExtendedLifetime(realm) {}
    }
  }

  @Test func `a device can begin with a copy that came with the app`() async throws {
    try await withWorld(SyncWorld.partitioned) { world in
      let users = try await world.users(2)
      let seed = users[0].plots(in: "north", at: world.file("seed"))
      do {
        let realm = try opened(users[0].plots(in: "north"))
        try realm.addPlots(1...3)
        try await realm.upload()
        try await realm.download()
        try realm.writeCopy(configuration: seed)
      }
      await world.stop()
      var configuration = users[1].plots(in: "north")
      configuration.seedFilePath = seed.fileURL
      let realm = try opened(configuration)
      #expect(realm.plotIDs == [1, 2, 3])
      try realm.addPlots(4...4)
      try await world.restart()
      try realm.sync().reconnect()
      let other = try await opened(users[0].plots(in: "north"), .always)
      try await eventually(in: other) { other.plotIDs == [1, 2, 3, 4] }
    }
  }
}
