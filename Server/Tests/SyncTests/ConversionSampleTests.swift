import Foundation
import RealmSwift
import Testing

/// The class in the guide of conversions.
class QsTask: Object {
  @Persisted(primaryKey: true) var _id: ObjectId
  @Persisted var name: String = ""
  @Persisted var owner: String = ""
  @Persisted var status: String = ""
}

/// Code of the guides for copies between realms with sync and without, in the order of its calls.
@Suite(.timeLimit(.minutes(3))) @MainActor struct ConversionSampleTests {
  /// Writes three tasks into a realm without sync.
  private func addExampleData(_ config: Realm.Configuration) -> Realm {
    let localRealm = try! Realm(configuration: config)
    let task1 = QsTask(value: ["name": "Keep it secret", "owner": "Frodo"])
    let task2 = QsTask(value: ["name": "Keep it safe", "owner": "Frodo"])
    let task3 = QsTask(value: ["name": "Journey to Bree", "owner": "Frodo"])
    try! localRealm.write {
      localRealm.add([task1, task2, task3])
    }
    return localRealm
  }

  @Test func `a local realm becomes a synced one`() async throws {
    try await withWorld(SyncWorld.partitioned) { world in
      let app = world.app()
      let syncUser = try await app.login(credentials: Credentials.anonymous)
      var syncConfig = syncUser.configuration(partitionValue: "Your Partition Value")
      syncConfig.objectTypes = [QsTask.self]
      var localConfig = Realm.Configuration()
      localConfig.fileURL = world.file("default")
      localConfig.objectTypes = [QsTask.self]
      let localRealm = addExampleData(localConfig)
      try localRealm.writeCopy(configuration: syncConfig)
      let syncedRealm = try await Realm(configuration: syncConfig)
      let syncedTasks = syncedRealm.objects(QsTask.self)
      var frodoSyncedTasks = syncedTasks.where { $0.owner == "Frodo" }
      #expect(frodoSyncedTasks.count == 3)
      let task4 = QsTask(value: ["name": "Send gift basket to Tom Bombadil", "owner": "Frodo"])
      try syncedRealm.write {
        syncedRealm.add(task4)
      }
      frodoSyncedTasks = syncedTasks.where { $0.owner == "Frodo" }
      #expect(frodoSyncedTasks.count == 4)
      let openedLocalRealm = try await Realm(configuration: localConfig)
      let localTasks = openedLocalRealm.objects(QsTask.self)
      let frodoLocalTasks = localTasks.where { $0.owner == "Frodo" }
      #expect(frodoLocalTasks.count == 3)
      #expect(frodoLocalTasks.count != frodoSyncedTasks.count)
      // The server has the copied tasks.
      var other = try await world.user().configuration(partitionValue: "Your Partition Value")
      other.objectTypes = [QsTask.self]
      let remote = try await opened(other, .once)
      try await eventually(in: remote) { remote.objects(QsTask.self).count == 4 }
    }
  }

  @Test func `a synced realm becomes a local one`() async throws {
    try await withWorld(SyncWorld.partitioned) { world in
      try await putExampleData(world)
      let app = world.app()
      let syncUser = try await app.login(credentials: Credentials.anonymous)
      var syncConfig = syncUser.configuration(partitionValue: "Some Partition Value")
      syncConfig.objectTypes = [QsTask.self]
      let syncedRealm = try await Realm(configuration: syncConfig, downloadBeforeOpen: .always)
      let syncedTasks = syncedRealm.objects(QsTask.self)
      var frodoSyncedTasks = syncedTasks.where { $0.owner == "Frodo" }
      #expect(frodoSyncedTasks.count == 3)
      let localRealmFilePath = world.root.appendingPathComponent("local.realm")
      var localConfig = Realm.Configuration()
      localConfig.objectTypes = [QsTask.self]
      localConfig.fileURL = localRealmFilePath
      localConfig.schemaVersion = 1
      if Realm.fileExists(for: localConfig) {
        try Realm.deleteFiles(for: localConfig)
      }
      try syncedRealm.writeCopy(configuration: localConfig)
      let localRealm = try await Realm(configuration: localConfig)
      let localTasks = localRealm.objects(QsTask.self)
      var frodoLocalTasks = localTasks.where { $0.owner == "Frodo" }
      #expect(frodoLocalTasks.count == 3)
      let task = QsTask(value: ["name": "Send gift basket to Tom Bombadil", "owner": "Frodo"])
      try localRealm.write {
        localRealm.add(task)
      }
      frodoLocalTasks = localTasks.where { $0.owner == "Frodo" }
      #expect(frodoLocalTasks.count == 4)
      frodoSyncedTasks = syncedTasks.where { $0.owner == "Frodo" }
      #expect(frodoSyncedTasks.count == 3)
      #expect(frodoLocalTasks.count != frodoSyncedTasks.count)
    }
  }

  @Test func `a synced realm becomes a synced realm of another user`() async throws {
    try await withWorld(SyncWorld.partitioned) { world in
      try await putExampleData(world)
      let users = try await world.users(2)
      var (config, otherConfig) = (
        users[0].configuration(partitionValue: "Some Partition Value"),
        users[1].configuration(partitionValue: "Some Partition Value")
      )
      config.objectTypes = [QsTask.self]
      otherConfig.objectTypes = [QsTask.self]
      let syncedRealm = try await Realm(configuration: config, downloadBeforeOpen: .always)
      try syncedRealm.writeCopy(configuration: otherConfig)
      let otherRealm = try await Realm(configuration: otherConfig)
      #expect(otherRealm.objects(QsTask.self).count == 3)
      let task = QsTask(value: ["name": "Send gift basket to Tom Bombadil", "owner": "Frodo"])
      try otherRealm.write { otherRealm.add(task) }
      try await eventually(in: syncedRealm) { syncedRealm.objects(QsTask.self).count == 4 }
    }
  }

  /// Uploads the three tasks to the server.
  private func putExampleData(_ world: SyncWorld) async throws {
    var configuration = try await world.user().configuration(partitionValue: "Some Partition Value")
    configuration.objectTypes = [QsTask.self]
    let realm = addExampleData(configuration)
    try await realm.upload()
  }
}
