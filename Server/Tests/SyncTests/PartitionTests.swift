import Foundation
import RealmSwift
import Testing

// Classes whose property for the partition has different types.
class TextPlot: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var text = ""
  @Persisted var area: String?
}
class NumberPlot: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var area: Int?
}
class IdPlot: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var area: ObjectId?
}
class UUIDPlot: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var area: UUID?
}

extension User {
  /// The configuration of a partition with plots.
  func plots(
    in partition: AnyBSON, _ types: [ObjectBase.Type] = [TextPlot.self], at url: URL? = nil
  ) -> Realm.Configuration {
    var configuration = configuration(partitionValue: partition)
    configuration.objectTypes = types
    if let url { configuration.fileURL = url }
    return configuration
  }
}

extension Realm {
  /// The ids of all plots, in order.
  var plotIDs: [Int] { Array(objects(TextPlot.self).sorted(byKeyPath: "id").map(\.id)) }

  /// Makes plots.
  func addPlots(_ ids: ClosedRange<Int>) throws {
    try write { for id in ids { create(TextPlot.self, value: ["id": id]) } }
  }
}

extension SyncWorld {
  /// A definition with partitions, in which all users read and write everything.
  static let partitioned = "development: true\npartition: area\n"
}

/// Realms with the objects of one partition.
@Suite(.timeLimit(.minutes(3))) @MainActor struct PartitionTests {
  @Test func `the users of a partition have its objects, and none of other partitions`() async throws {
    try await withWorld(SyncWorld.partitioned) { world in
      let users = try await world.users(2)
      let names: [AnyBSON] = ["north", "south", "east"]
      var realms: [[Realm]] = []
      for name in names { realms.append(try users.map { try opened($0.plots(in: name)) }) }
      for (place, ofPartition) in realms.enumerated() {
        for (number, realm) in ofPartition.enumerated() {
          let id = place * 100 + number * 10
          try realm.addPlots(id...(id + 1))
        }
      }
      for (place, ofPartition) in realms.enumerated() {
        let expected = [0, 1, 10, 11].map { $0 + place * 100 }
        for realm in ofPartition { try await eventually(in: realm) { realm.plotIDs == expected } }
      }
      try realms[1][0].write { realms[1][0].deleteAll() }
      try await eventually(in: realms[1][1]) { realms[1][1].plotIDs.isEmpty }
      #expect(realms[0][1].plotIDs.count == 4 && realms[2][1].plotIDs.count == 4)
      // All files of a user share one connection.
      #expect(try await world.metric("connections") == 2)
      #expect(try await world.metric("channels") == 6)
    }
  }

  /// Checks that two users share the objects of a partition, that these have its value, and that another partition has
  /// none of them.
  private func expectShared<T: Object>(
    _ type: T.Type, in value: AnyBSON, notIn other: AnyBSON, of users: [User],
    at place: SourceLocation = #_sourceLocation, _ hasValue: (T) -> Bool
  ) async throws {
    let one = try opened(users[0].plots(in: value, [type]))
    try one.write { one.create(type, value: ["id": 1]) }
    try await one.upload(at: place)
    let two = try await opened(users[1].plots(in: value, [type]), .once, at: place)
    #expect(two.objects(type).first.map(hasValue) == true, sourceLocation: place)
    let elsewhere = try await opened(users[1].plots(in: other, [type]), .once, at: place)
    #expect(elsewhere.objects(type).isEmpty, sourceLocation: place)
    // The writer has not set the value of the partition itself.
    try await eventually(in: one, at: place) { one.objects(type).first.map(hasValue) == true }
  }

  @Test func `values of each type can name a partition`() async throws {
    try await withWorld(SyncWorld.partitioned) { world in
      let users = try await world.users(2)
      let (id, uuid) = (ObjectId.generate(), UUID())
      try await expectShared(TextPlot.self, in: .string("ä b"), notIn: .string("x"), of: users) {
        $0.area == "ä b"
      }
      try await expectShared(NumberPlot.self, in: .int64(1 << 40), notIn: .int64(0), of: users) {
        $0.area == 1 << 40
      }
      try await expectShared(IdPlot.self, in: .objectId(id), notIn: .objectId(.generate()), of: users) {
        $0.area == id
      }
      try await expectShared(UUIDPlot.self, in: .uuid(uuid), notIn: .uuid(UUID()), of: users) {
        $0.area == uuid
      }
    }
  }

  @Test func `null and small numbers can name a partition`() async throws {
    try await withWorld(SyncWorld.partitioned) { world in
      let users = try await world.users(2)
      try await expectShared(TextPlot.self, in: .null, notIn: .string("null"), of: users) { $0.area == nil }
      try await expectShared(NumberPlot.self, in: .int32(-7), notIn: .int32(7), of: users) { $0.area == -7 }
    }
  }

  @Test func `a configuration has its partition, and each partition has its own file`() async throws {
    try await withWorld(SyncWorld.partitioned) { world in
      let user = try await world.user()
      let (id, uuid) = (ObjectId.generate(), UUID())
      let encoded = id.stringValue
      let all: [(Realm.Configuration, AnyBSON, String)] = [
        (user.configuration(partitionValue: "abc"), .string("abc"), "/%22abc%22.realm"),
        (user.configuration(partitionValue: "../a"), .string("../a"), "/%22..%2Fa%22.realm"),
        (
          user.configuration(partitionValue: 123), .int64(123),
          "/%7B%22%24numberLong%22%3A%22123%22%7D.realm"
        ),
        (
          user.configuration(partitionValue: Int32(123)), .int32(123),
          "/%7B%22%24numberInt%22%3A%22123%22%7D.realm"
        ),
        (
          user.configuration(partitionValue: id), .objectId(id),
          "/%7B%22%24oid%22%3A%22\(encoded)%22%7D.realm"
        ),
        (user.configuration(partitionValue: uuid), .uuid(uuid), "%22subType%22%3A%2204%22%7D%7D.realm"),
        (user.configuration(partitionValue: AnyBSON.null), .null, "/null.realm"),
        (user.configuration(partitionValue: NSNull()), .null, "/null.realm"),
      ]
      for (configuration, value, end) in all {
        #expect(configuration.syncConfiguration?.partitionValue == value)
        #expect(configuration.syncConfiguration?.user === user)
        let path = try #require(configuration.fileURL).path
        #expect(path.hasSuffix(end), "\(path)")
        #expect(path.contains("/mongodb-realm/\(world.app().appId)/\(user.id)/"))
      }
      let paths = Set(all.map { $0.0.fileURL?.path })
      #expect(paths.count == all.count - 1)
    }
  }

  @Test func `the session of a partition is found by its value`() async throws {
    try await withWorld(SyncWorld.partitioned) { world in
      let user = try await world.user()
      let north = try opened(user.plots(in: "north"))
      let number = try opened(user.plots(in: .int64(7), [NumberPlot.self]))
      #expect(user.session(forPartitionValue: "north") === north.syncSession)
      #expect(user.session(forPartitionValue: .int64(7)) === number.syncSession)
      #expect(user.session(forPartitionValue: "south") == nil)
      #expect(user.allSessions.count == 2)
      #expect(try north.sync().configuration()?.partitionValue == "north")
      withExtendedLifetime((north, number)) {}
    }
  }

  @Test func `the property of the partition need not be in the class`() async throws {
    try await withWorld(SyncWorld.partitioned) { world in
      let users = try await world.users(2)
      let one = try opened(users[0].plots(in: "north", [Note.self]))
      try one.write { one.add(Note(1, "without")) }
      let two = try await opened(users[1].plots(in: "north", [Note.self]), .once)
      try await eventually(in: two) { two.note(1)?.text == "without" }
      try two.write { two.note(1)?.text = "changed" }
      try await eventually(in: one) { one.note(1)?.text == "changed" }
      let elsewhere = try await opened(users[1].plots(in: "south", [Note.self]), .once)
      #expect(elsewhere.noteIDs.isEmpty)
    }
  }

  @Test func `an object stays in the partition in which it was made, whatever a device sets`() async throws {
    try await withWorld(SyncWorld.partitioned) { world in
      let users = try await world.users(2)
      let one = try opened(users[0].plots(in: "north"))
      try one.write { one.create(TextPlot.self, value: ["id": 1, "area": "south"] as [String: Any]) }
      try await one.upload()
      let two = try await opened(users[1].plots(in: "north"), .once)
      #expect(two.objects(TextPlot.self).first?.area == "north")
      let elsewhere = try await opened(users[1].plots(in: "south"), .once)
      #expect(elsewhere.plotIDs.isEmpty)
      try await eventually(in: one) { one.objects(TextPlot.self).first?.area == "north" }
      try one.write { one.objects(TextPlot.self).first?.area = "south" }
      try await one.upload()
      try await eventually(in: one) { one.objects(TextPlot.self).first?.area == "north" }
      #expect(two.objects(TextPlot.self).first?.area == "north")
    }
  }

  @Test func `an object whose key is in use in another partition is refused`() async throws {
    try await withWorld(SyncWorld.partitioned) { world in
      let users = try await world.users(2)
      let errors = Calls<any Error>()
      world.app().syncManager.errorHandler = { error, _ in errors.add(error) }
      let north = try opened(users[0].plots(in: "north"))
      try north.addPlots(1...1)
      try await north.upload()
      let south = try opened(users[1].plots(in: "south"))
      try south.addPlots(1...2)
      let error = try #require(try await errors.first() as? SyncError)
      #expect(error.code == .writeRejected)
      #expect(error.compensatingWriteInfo?.map(\.primaryKey) == [.int(1)])
      try await eventually(in: south) { south.plotIDs == [2] }
      #expect(north.plotIDs == [1])
    }
  }

  @Test func `realms with subscriptions see the objects of partitions, and partitions see theirs`()
    async throws
  {
    try await withWorld(SyncWorld.partitioned) { world in
      let users = try await world.users(2)
      let north = try opened(users[0].plots(in: "north"))
      try north.addPlots(1...2)
      try await north.upload()
      let south = try opened(users[0].plots(in: "south"))
      try south.addPlots(3...3)
      try await south.upload()
      var configuration = users[1].flexibleSyncConfiguration(
        initialSubscriptions: { $0.append(QuerySubscription<TextPlot> { $0.area == "north" }) })
      configuration.objectTypes = [TextPlot.self]
      let flexible = try await opened(configuration, .once)
      #expect(flexible.plotIDs == [1, 2])
      try flexible.write {
        flexible.create(TextPlot.self, value: ["id": 4, "area": "north"] as [String: Any])
      }
      try await eventually(in: north) { north.plotIDs == [1, 2, 4] }
      #expect(south.plotIDs == [3])
    }
  }

  @Test func `changes that were made in a partition without a network are uploaded later`() async throws {
    try await withWorld(SyncWorld.partitioned) { world in
      let users = try await world.users(2)
      await world.stop()
      do {
        let realm = try opened(users[0].plots(in: "north"))
        try realm.addPlots(1...3)
      }
      let realm = try opened(users[0].plots(in: "north"))
      #expect(realm.plotIDs == [1, 2, 3])
      try await world.restart()
      try realm.sync().reconnect()
      let other = try await opened(users[1].plots(in: "north"), .always)
      try await eventually(in: other) { other.plotIDs == [1, 2, 3] }
    }
  }
}
