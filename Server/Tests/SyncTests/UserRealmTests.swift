import Foundation
import RealmSwift
import Service
import Testing

/// The realms of a user who logs out, is removed, or is refused by the server.
@Suite(.timeLimit(.minutes(3))) @MainActor struct UserRealmTests {
  private let ann = Credentials.emailPassword(email: "ann@example.com", password: "correct horse")

  private func logIn(_ world: SyncWorld) async throws -> User {
    let (app, credentials) = (world.app(), ann)
    return try await within { try await app.login(credentials: credentials) }
  }

  private func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

  /// The errors that the error handler of the app gets.
  private func errors(_ world: SyncWorld) -> Calls<any Error> {
    let errors = Calls<any Error>()
    world.app().syncManager.errorHandler = { error, _ in errors.add(error) }
    return errors
  }

  // MARK: - Logging out

  @Test
  func `a realm of a user who logs out can be used, and its changes are uploaded after the next log-in`()
    async throws
  {
    try await withWorld { world in
      let other = try await world.user()
      let user = try await world.registered("ann@example.com")
      let realm = try await opened(user.notes(), .once)
      try realm.write { realm.add(Note(1)) }
      try await realm.upload()
      let session = try realm.sync()
      try await within { try await user.logOut() }
      #expect(session.state == .inactive)
      try await eventually { session.connectionState == .disconnected }
      #expect(Realm.fileExists(for: user.notes()))
      try realm.write { realm.add(Note(2)) }
      #expect(realm.noteIDs == [1, 2])
      // No changes are uploaded meanwhile.
      let others = try await opened(other.notes(), .always)
      #expect(others.noteIDs == [1])
      try others.write { others.add(Note(3)) }
      try await others.upload()
      #expect(try await logIn(world) === user)
      #expect(session.state == .active && realm.syncSession === session)
      try await realm.upload()
      try await eventually(in: realm) { realm.noteIDs == [1, 2, 3] }
      try await eventually(in: others) { others.noteIDs == [1, 2, 3] }
    }
  }

  @Test func `the changes of a realm that is opened during a log-out are uploaded after the next log-in`()
    async throws
  {
    try await withWorld { world in
      let other = try await world.user()
      let user = try await world.registered("ann@example.com")
      do {
        let realm = try await opened(user.notes(), .once)
        try realm.write { realm.add(Note(1)) }
        try await realm.upload()
      }
      try await within { try await user.logOut() }
      try await eventually { user.allSessions.isEmpty }
      do {
        let realm = try opened(user.notes())
        #expect(realm.noteIDs == [1])
        try realm.write { realm.add(Note(2)) }
        #expect(try realm.sync().state == .inactive)
      }
      try await eventually { user.allSessions.isEmpty }
      let realm = try opened(user.notes())
      #expect(realm.noteIDs == [1, 2])
      _ = try await logIn(world)
      try await realm.upload()
      let others = try await opened(other.notes(), .always)
      #expect(others.noteIDs == [1, 2])
    }
  }

  @Test func `an open with a download fails while its user is logged out`() async throws {
    try await withWorld { world in
      let user = try await world.registered("ann@example.com")
      let configuration = user.notes()
      try await within { try await user.logOut() }
      let error = await thrown { _ = try await opened(configuration, .always) } as? SyncError
      #expect(error?.code == .clientUserError)
      #expect(try opened(configuration).noteIDs.isEmpty)
    }
  }

  @Test func `realms of other users continue when one user logs out`() async throws {
    try await withWorld { world in
      let users = try await world.users(2)
      let (first, second) = (try opened(users[0].notes()), try opened(users[1].notes()))
      try await first.download()
      try await within { try await users[1].logOut() }
      #expect(try first.sync().state == .active)
      #expect(try second.sync().state == .inactive)
      try first.write { first.add(Note(1)) }
      try await first.upload()
      #expect(second.noteIDs.isEmpty)
    }
  }

  @Test func `the realm of an anonymous user who logs out stays usable while it is open`() async throws {
    try await withWorld { world in
      let user = try await world.anonymous()
      let realm = try await opened(user.notes(), .once)
      try realm.write { realm.add(Note(1)) }
      try await realm.upload()
      try await within { try await user.logOut() }
      #expect(user.state == .removed)
      #expect(try realm.sync().state == .inactive)
      try realm.write { realm.add(Note(2)) }
      #expect(realm.noteIDs == [1, 2])
    }
  }

  // MARK: - Users whom the server lets in no more

  @Test func `a user who is revoked is logged out, the app is told, and files and changes stay`() async throws
  {
    try await withWorld { world in
      let other = try await world.user()
      let user = try await world.registered("ann@example.com")
      let told = errors(world)
      let realm = try await opened(user.notes(), .once)
      let others = try await opened(other.notes(), .once)
      try await world.administer(.logOut(app: world.id(of: SyncWorld.main), user: user.id))
      try await eventually { user.state == .loggedOut }
      #expect(try realm.sync().state == .inactive)
      #expect(world.app().allUsers[user.id] === user && world.app().currentUser === other)
      let error = try await told.first() as? SyncError
      #expect(error?.code == .clientUserError)
      #expect(error?.localizedDescription.isEmpty == false)
      try realm.write { realm.add(Note(1)) }
      #expect(realm.noteIDs == [1] && Realm.fileExists(for: user.notes()))
      // Other users are not affected.
      #expect(try others.sync().state == .active)
      #expect(other.isLoggedIn)
      _ = try await logIn(world)
      try await realm.upload()
      try await eventually(in: others) { others.noteIDs == [1] }
      #expect(told.count == 1)
    }
  }

  @Test func `a user who is disabled is logged out, and continues when enabled again`() async throws {
    try await withWorld { world in
      let (app, id) = (world.app(), world.id(of: SyncWorld.main))
      let user = try await world.registered("ann@example.com")
      let realm = try await opened(user.notes(), .once)
      try await world.administer(.disable(app: id, user: user.id))
      try await eventually { user.state == .loggedOut }
      let credentials = ann
      let error = await thrown { _ = try await app.login(credentials: credentials) } as? AppError
      #expect(error?.code == .userDisabled)
      try realm.write { realm.add(Note(1)) }
      try await world.administer(.enable(app: id, user: user.id))
      _ = try await logIn(world)
      try await realm.upload()
      #expect(try realm.sync().state == .active)
    }
  }

  @Test func `an anonymous user who is revoked is logged out, and the user's files stay`() async throws {
    try await withWorld { world in
      let user = try await world.anonymous()
      let realm = try await opened(user.notes(), .once)
      try realm.write { realm.add(Note(1)) }
      try await realm.upload()
      try await world.administer(.logOut(app: world.id(of: SyncWorld.main), user: user.id))
      try await eventually { user.state == .loggedOut }
      #expect(world.app().allUsers[user.id] === user)
      #expect(realm.noteIDs == [1] && Realm.fileExists(for: user.notes()))
    }
  }

  @Test func `a user whom the server deletes while a realm is open is logged out`() async throws {
    try await withWorld { world in
      let user = try await world.registered("ann@example.com")
      let told = errors(world)
      let realm = try await opened(user.notes(), .once)
      try await world.administer(.delete(app: world.id(of: SyncWorld.main), user: user.id))
      try await eventually { user.state == .loggedOut }
      #expect(try await told.first() is SyncError)
      let (app, credentials) = (world.app(), ann)
      let error = await thrown { _ = try await app.login(credentials: credentials) } as? AppError
      #expect(error?.code == .invalidPassword)
      #expect(realm.noteIDs.isEmpty)
    }
  }

  // MARK: - Removing and deleting

  @Test func `a user who is removed is unknown to the app, and an open realm stays usable`() async throws {
    try await withWorld { world in
      let app = world.app()
      let user = try await world.registered("ann@example.com")
      let realm = try await opened(user.notes(), .once)
      try await within { try await user.remove() }
      #expect(user.state == .removed && !user.isLoggedIn && user.refreshToken == nil)
      #expect(app.currentUser == nil && app.allUsers.isEmpty)
      try realm.write { realm.add(Note(1)) }
      #expect(realm.noteIDs == [1])
      let error = await thrown { try await user.remove() } as? AppError
      #expect(error?.code == .unknown)
      // The server still knows the user, who is another object then.
      let again = try await logIn(world)
      #expect(again !== user && again.id == user.id && user.state == .removed)
      #expect(app.allUsers == [again.id: again])
    }
  }

  @Test func `a user who is deleted is gone on the server, and so are the files`() async throws {
    try await withWorld { world in
      let app = world.app()
      let user = try await world.registered("ann@example.com")
      let path = try #require(user.notes().fileURL).path
      do {
        let realm = try await opened(user.notes(), .once)
        try realm.write { realm.add(Note(1)) }
        try await realm.upload()
      }
      try await eventually { user.allSessions.isEmpty }
      #expect(exists(path))
      try await within { try await user.delete() }
      #expect(user.state == .removed && app.currentUser == nil && app.allUsers.isEmpty)
      for suffix in ["", ".note", ".management"] { #expect(!exists(path + suffix), "\(suffix)") }
      let credentials = ann
      let error = await thrown { _ = try await app.login(credentials: credentials) } as? AppError
      #expect(error?.code == .invalidPassword)
      // The address can be registered again.
      let next = try await world.registered("ann@example.com")
      #expect(next.id != user.id)
      // The objects that the user wrote stay.
      let realm = try await opened(next.notes(), .once)
      #expect(realm.noteIDs == [1])
    }
  }

  @Test func `a user who is logged out can't be deleted, and nothing changes`() async throws {
    try await withWorld { world in
      let user = try await world.registered("ann@example.com")
      try await within { try await user.logOut() }
      let error = await thrown { try await user.delete() } as? AppError
      #expect(error?.code == .unknown)
      #expect(user.state == .loggedOut && world.app().allUsers[user.id] === user)
      #expect(try await logIn(world) === user)
    }
  }

  // MARK: - The next start

  private static let key = Data((0..<64).map { UInt8($0) })

  /// The app as a program gets it at its start. A process has one object for an id, so this is an app with another id
  /// that gets a copy of the data about the users.
  private func restarted(_ world: SyncWorld) throws -> App {
    let (id, configuration) = (world.app().appId, world.app().configuration)
    let folder = configuration.rootDirectory.appendingPathComponent("mongodb-realm")
    func metadata(_ id: String) -> URL { folder.appendingPathComponent("\(id)/server-utility/metadata") }
    let name = "sync_metadata.realm"
    try FileManager.default.createDirectory(
      at: metadata("\(id)-next"), withIntermediateDirectories: true)
    try FileManager.default.copyItem(
      at: metadata(id).appendingPathComponent(name),
      to: metadata("\(id)-next").appendingPathComponent(name))
    return App(id: "\(id)-next", configuration: configuration)
  }

  @Test func `an app that is started again knows the users and the current one, without a network`()
    async throws
  {
    try await withWorld { world in
      _ = world.app { $0.metadataKey = Self.key }
      let users = try await world.users(3)
      world.app().switch(to: users[1])
      try await within { try await users[2].logOut() }
      let ann = try await world.registered("ann@example.com")
      let id = world.id(of: SyncWorld.main)
      try await world.administer(.customData(app: id, user: ann.id, #"{"team":"red"}"#))
      try await within { _ = try await ann.refreshCustomData() }
      try await within { try await users[0].remove() }
      world.app().switch(to: users[1])
      await world.stop()
      let app = try restarted(world)
      #expect(Set(app.allUsers.keys) == [users[1].id, users[2].id, ann.id])
      let current = try #require(app.currentUser)
      #expect(current.id == users[1].id && current !== users[1] && current.isLoggedIn)
      #expect(current.accessToken == users[1].accessToken && current.refreshToken == users[1].refreshToken)
      #expect(app.allUsers[users[2].id]?.state == .loggedOut)
      let known = try #require(app.allUsers[ann.id])
      #expect(known.profile.email == "ann@example.com" && known.customData == ann.customData)
      #expect(known.identities.map(\.providerType) == ["local-userpass"])
      #expect(known.identities.map(\.identifier) == ann.identities.map(\.identifier))
      // A realm can be opened.
      let realm = try opened(current.notes())
      #expect(realm.noteIDs.isEmpty)
      try realm.sync().suspend()
    }
  }

  @Test func `the next start deletes the files of removed users, except changes that no server has`()
    async throws
  {
    try await withWorld { world in
      _ = world.app { $0.metadataKey = Self.key }
      let users = try await world.users(3)
      let configurations = [users[0].notes(), users[1].notes(at: world.file("own")), users[2].notes()]
      for (number, configuration) in configurations.enumerated() {
        let realm = try await opened(configuration, .once)
        try realm.write { realm.add(Note(number)) }
        try await realm.upload()
        guard number == 2 else { continue }
        try realm.sync().suspend()
        try realm.write { realm.add(Note(10)) }
      }
      try await eventually { users.allSatisfy { $0.allSessions.isEmpty } }
      let paths = try configurations.map { try #require($0.fileURL).path }
      for user in users { try await within { try await user.remove() } }
      #expect(paths.allSatisfy { exists($0) })
      let app = try restarted(world)
      #expect(app.allUsers.isEmpty)
      #expect(paths.allSatisfy { !exists($0) })
      let folder = app.configuration.rootDirectory.appendingPathComponent("mongodb-realm/\(app.appId)")
      let kept = try FileManager.default.contentsOfDirectory(
        atPath: folder.appendingPathComponent("recovered-realms").path)
      #expect(kept.count == 1 && kept[0].hasPrefix("recovered_realm-"))
    }
  }
}
