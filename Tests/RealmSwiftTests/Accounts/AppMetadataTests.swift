import Foundation
import Synchronization
import Testing

@testable import RealmSwift

/// The data that an app keeps of its users over a restart.
@Suite struct AppMetadataTests {
  let world = AppWorld()

  @Test func `a user who is logged in stays so after a restart, without a network`() async throws {
    var id = ""
    do {
      let app = world.app()
      _ = try await app.login(credentials: AppWorld.ben)
      let user = try await app.login(credentials: AppWorld.ann)
      id = user.id
    }
    world.server.state.withLock { $0.isOffline = true }
    let app = world.app()
    let user = try #require(app.currentUser)
    #expect(user.id == id && user.isLoggedIn && app.allUsers.count == 2)
    #expect(user.profile.email == "ann@example.org")
    #expect(user.identities.map(\.providerType) == ["local-userpass"])
    #expect(user.refreshToken?.hasPrefix("refresh-secret-") == true)
  }

  @Test func `a current user who is logged out gives way to a user who is logged in`() async throws {
    let app = world.app()
    let ben = try await app.login(credentials: AppWorld.ben)
    let ann = try await app.login(credentials: AppWorld.ann)
    try await ann.logOut()
    #expect(world.app().currentUser?.id == ben.id)
    #expect(world.app().allUsers[ann.id]?.state == .loggedOut)
  }

  @Test func `custom data come from the stored token`() async throws {
    world.server.state.withLock { $0.userData = #"{"team": "red", "size": 3}"# }
    let app = world.app()
    let user = try await app.login(credentials: AppWorld.ann)
    #expect(user.customData["team"]??.stringValue == "red" && user.customData["size"]??.asInt() == 3)
    #expect(world.app().currentUser?.customData == user.customData)
    world.server.state.withLock { $0.userData = #"{"team": "blue"}"# }
    #expect(try await user.refreshCustomData()["team"]??.stringValue == "blue")
    #expect(user.customData.count == 1)
    let plain = await withCheckedContinuation { (continuation: CheckedContinuation<String?, Never>) in
      user.refreshCustomData { result in
        continuation.resume(returning: (try? result.get())?["team"] as? String)
      }
    }
    #expect(plain == "blue")
  }

  @Test func `other users can't read the key, and the file is encrypted`() async throws {
    let app = world.app()
    let user = try await app.login(credentials: AppWorld.ann)
    let key = try FileManager.default.attributesOfItem(atPath: world.paths.key)
    #expect(key[.posixPermissions] as? Int == 0o600 && key[.size] as? Int == 64)
    let token = try #require(user.refreshToken)
    let bytes = try Data(contentsOf: URL(fileURLWithPath: world.paths.metadata))
    #expect(bytes.range(of: Data(token.utf8)) == nil && bytes.range(of: Data(user.id.utf8)) == nil)
    let names = try FileManager.default.contentsOfDirectory(atPath: world.paths.metadataFolder)
    #expect(names.filter { $0.hasPrefix("key") } == ["key"])
    #expect(world.paths.metadata.hasSuffix("\(world.id)/server-utility/metadata/sync_metadata.realm"))
  }

  @Test func `the app's own key replaces the stored one`() async throws {
    let key = Data(0..<64)
    _ = try await world.app { $0.metadataKey = key }.login(credentials: AppWorld.ann)
    #expect(!world.isThere(world.paths.key))
    #expect(world.app { $0.metadataKey = key }.currentUser != nil)
  }

  @Test func `metadata with another key are moved away, and realm files stay`() async throws {
    var path = ""
    do {
      let app = world.app { $0.metadataKey = Data(0..<64) }
      path = try world.makeFile(of: try await app.login(credentials: AppWorld.ann))
    }
    let app = world.app()
    #expect(app.allUsers.isEmpty && world.isThere(path))
    let names = try FileManager.default.contentsOfDirectory(atPath: world.paths.metadataFolder)
    #expect(names.contains { $0.hasPrefix("sync_metadata.realm.unreadable-") })
    let user = try await app.login(credentials: AppWorld.ann)
    #expect(world.app().currentUser?.id == user.id && world.paths.file(of: user.id, .flexible).path == path)
  }

  @Test(arguments: ["no database at all, but a text that is long enough", ""])
  func `damaged metadata are replaced by new ones`(content: String) async throws {
    try FileManager.default.createDirectory(
      atPath: world.paths.metadataFolder, withIntermediateDirectories: true)
    try Data(content.utf8).write(to: URL(fileURLWithPath: world.paths.metadata))
    try Data("short".utf8).write(to: URL(fileURLWithPath: world.paths.key))
    let user = try await world.app().login(credentials: AppWorld.ann)
    #expect(world.app().currentUser?.id == user.id)
  }

  @Test func `an app whose metadata can't be stored works until it ends`() async throws {
    try FileManager.default.createDirectory(at: world.root, withIntermediateDirectories: true)
    try Data("a file".utf8).write(to: world.root.appendingPathComponent("mongodb-realm"))
    let app = world.app()
    let user = try await app.login(credentials: AppWorld.ann)
    #expect(app.currentUser === user)
    #expect(world.app().currentUser == nil)
  }

  @Test func `deleted files are remembered until the server knows of them`() async throws {
    let app = world.app()
    let (ann, ben) = (
      try await app.login(credentials: AppWorld.ann), try await app.login(credentials: AppWorld.ben)
    )
    let large = UInt64.max - 4
    for number in [large, 7] { app.note(goneReplica: number, of: ann.id) }
    app.note(goneReplica: 8, of: ben.id)
    #expect(app.goneReplicas(of: ann.id) == [7, large])
    let next = world.app()
    #expect(next.goneReplicas(of: ann.id) == [7, large] && next.goneReplicas(of: ben.id) == [8])
    next.forget(goneReplica: large, of: ann.id)
    next.forget(goneReplica: 8, of: ann.id)
    #expect(next.goneReplicas(of: ann.id) == [7])
    let last = world.app()
    #expect(last.goneReplicas(of: ann.id) == [7] && last.goneReplicas(of: ben.id) == [8])
    withExtendedLifetime((app, next)) {}
  }

  @Test func `apps with different ids share no data`() async throws {
    let other = AppWorld()
    let app = world.app()
    _ = try await app.login(credentials: AppWorld.ann)
    let second = other.app { $0.rootDirectory = world.root }
    #expect(second.currentUser == nil && second.appId != app.appId)
  }

  @Test func `an app id has one object, with the configuration that was given first`() {
    let configuration = AppConfiguration(baseURL: "https://sync.test/", transport: world.server)
    configuration.rootDirectory = world.root
    configuration.defaultRequestTimeoutMS = 5000
    let app = App.registered(world.id, configuration)
    #expect(App.registered(world.id) === app && App.registered(world.id, AppConfiguration()) === app)
    configuration.baseURL = "https://elsewhere.test"
    #expect(app.configuration.baseURL == "https://sync.test/" && app.baseURL == "https://sync.test")
    #expect(app.configuration.defaultRequestTimeoutMS == 5000)
    #expect(app.configuration.enableSessionMultiplexing && app.configuration.syncTimeouts == nil)
    MisuseTests().expectStop(["Invalid app id", "''"]) { _ = App.registered("") }
    MisuseTests().expectStop(["Invalid app id", "'..'"]) { _ = App.registered("..") }
    MisuseTests().expectStop(["Invalid encryption key", "metadataKey", "3 bytes"]) {
      AppConfiguration().metadataKey = Data([1, 2, 3])
    }
  }

  @Test func `time limits have defaults, and are copied`() {
    let options = SyncTimeoutOptions(connectTimeout: 5)
    #expect(options.connectTimeout == 5 && options.connectionLingerTime == 30_000)
    #expect(options.pingKeepalivePeriod == 60_000 && options.pongKeepaliveTimeout == 120_000)
    #expect(options.fastReconnectLimit == 60_000 && SyncTimeoutOptions().connectTimeout == 120_000)
    let app = world.app { $0.syncTimeouts = options }
    options.connectTimeout = 6
    #expect(app.configuration.syncTimeouts?.connectTimeout == 5)
    #expect(options.copy().connectTimeout == 6)
  }
}
