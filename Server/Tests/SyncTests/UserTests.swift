import Foundation
import RealmSwift
import Service
import Testing

/// The log-ins and log-outs of users, and the data that an app has about them. `UserRealmTests` tests their realms.
@Suite(.timeLimit(.minutes(3))) @MainActor struct UserTests {
  private let ann = Credentials.emailPassword(email: "ann@example.com", password: "correct horse")

  private func logIn(_ world: SyncWorld, _ credentials: Credentials) async throws -> User {
    let app = world.app()
    return try await within { try await app.login(credentials: credentials) }
  }

  /// The code of the `AppError` that `body` throws.
  private func code(_ body: @MainActor () async throws -> Void) async -> AppError.Code? {
    (await thrown(by: body) as? AppError)?.code
  }

  // MARK: - The current user

  @Test func `a log-in makes a user, who becomes the current one`() async throws {
    try await withWorld { world in
      let app = world.app()
      #expect(app.currentUser == nil && app.allUsers.isEmpty)
      let user = try await world.registered("ann@example.com")
      #expect(user.isLoggedIn && user.state == .loggedIn)
      #expect(!user.id.isEmpty)
      #expect(user.accessToken?.isEmpty == false && user.refreshToken?.isEmpty == false)
      #expect(user.accessToken != user.refreshToken)
      #expect(user.identities.map(\.providerType) == ["local-userpass"])
      #expect(user.identities.allSatisfy { !$0.identifier.isEmpty })
      #expect(user.profile.email == "ann@example.com" && user.profile.name == nil)
      #expect(user.profile.metadata["email"]??.stringValue == "ann@example.com")
      #expect(user.customData.isEmpty)
      #expect(app.currentUser === user)
      #expect(app.allUsers == [user.id: user])
      #expect(App(id: app.appId).currentUser === user)
    }
  }

  @Test func `the user who logs in last is the current one, until the app switches to another`() async throws
  {
    try await withWorld { world in
      let app = world.app()
      let users = try await world.users(3)
      #expect(Set(app.allUsers.keys) == Set(users.map(\.id)) && app.allUsers.count == 3)
      #expect(app.currentUser === users[2])
      #expect(app.switch(to: users[0]) === users[0])
      #expect(app.currentUser === users[0])
      #expect(users.allSatisfy { $0.isLoggedIn })
      // A user who is not the current one may log out.
      try await within { try await users[1].logOut() }
      #expect(app.currentUser === users[0])
      #expect(users.map(\.state) == [.loggedIn, .loggedOut, .loggedIn])
      try await within { try await users[0].logOut() }
      #expect(app.currentUser === users[2])
      try await within { try await users[2].remove() }
      #expect(app.currentUser == nil)
      #expect(Set(app.allUsers.keys) == [users[0].id, users[1].id])
    }
  }

  @Test func `a user who logs in again is the same object, with other tokens`() async throws {
    try await withWorld { world in
      let app = world.app()
      let user = try await world.registered("ann@example.com")
      let token = user.refreshToken
      try await within { try await user.logOut() }
      #expect(user.state == .loggedOut && !user.isLoggedIn)
      #expect(user.accessToken == nil && user.refreshToken == nil)
      #expect(app.currentUser == nil && app.allUsers[user.id] === user)
      #expect(user.profile.email == "ann@example.com")
      // The user is logged out already.
      try await within { try await user.logOut() }
      #expect(try await logIn(world, ann) === user)
      #expect(user.isLoggedIn && user.refreshToken != nil && user.refreshToken != token)
      #expect(app.currentUser === user)
    }
  }

  @Test func `each app of a process has its own users`() async throws {
    try await withWorld(apps: ["red": SyncWorld.development, "blue": SyncWorld.development]) { world in
      let (red, blue) = (try await world.user(of: "red"), try await world.user(of: "blue"))
      #expect(world.app("red").allUsers == [red.id: red])
      #expect(world.app("blue").currentUser === blue)
      try await within { try await red.logOut() }
      #expect(blue.isLoggedIn && world.app("red").currentUser == nil)
    }
  }

  // MARK: - Anonymous users

  @Test func `anonymous credentials mean one user as long as that user is logged in, even offline`()
    async throws
  {
    try await withWorld { world in
      let first = try await world.anonymous()
      #expect(first.identities.map(\.providerType) == ["anon-user"])
      let other = try await world.user()
      #expect(world.app().currentUser === other)
      await world.stop()
      #expect(try await world.anonymous() === first)
      #expect(world.app().currentUser === first)
    }
  }

  @Test func `an anonymous user who logs out is removed`() async throws {
    try await withWorld { world in
      let app = world.app()
      let user = try await world.anonymous()
      try await within { try await user.logOut() }
      #expect(user.state == .removed && user.accessToken == nil)
      #expect(app.currentUser == nil && app.allUsers.isEmpty)
      #expect(await code { try await user.logOut() } == .unknown)
      let next = try await world.anonymous()
      #expect(next.id != user.id && app.allUsers == [next.id: next])
    }
  }

  @Test func `an anonymous user who gets an e-mail address has two identities, and can log in again`()
    async throws
  {
    try await withWorld { world in
      let app = world.app()
      let user = try await world.anonymous()
      try await within {
        try await app.emailPasswordAuth.registerUser(email: "ann@example.com", password: "correct horse")
      }
      let credentials = ann
      let linked = try await within { try await user.linkUser(credentials: credentials) }
      #expect(linked === user && user.isLoggedIn && app.currentUser === user)
      #expect(user.identities.map(\.providerType).sorted() == ["anon-user", "local-userpass"])
      #expect(Set(user.identities.map(\.identifier)).count == 2)
      #expect(user.profile.email == "ann@example.com")
      try await within { try await user.logOut() }
      #expect(user.state == .loggedOut)
      #expect(try await logIn(world, ann) === user)
      #expect(user.identities.count == 2)
    }
  }

  @Test func `credentials that can't be linked are refused, and nothing changes`() async throws {
    try await withWorld { world in
      let other = try await world.registered("ann@example.com")
      let user = try await world.anonymous()
      #expect(await code { _ = try await user.linkUser(credentials: .anonymous) } == .badRequest)
      let credentials = ann
      #expect(await code { _ = try await user.linkUser(credentials: credentials) } == .accountNameInUse)
      #expect(user.identities.count == 1 && user.isLoggedIn && other.identities.count == 1)
      try await within { try await other.logOut() }
      #expect(await code { _ = try await other.linkUser(credentials: credentials) } == .unknown)
      #expect(other.state == .loggedOut)
    }
  }

  // MARK: - Refusals

  @Test func `wrong credentials are refused with the code of the server`() async throws {
    try await withWorld { world in
      let app = world.app()
      _ = try await world.registered("ann@example.com")
      let current = app.currentUser
      let cases: [(Credentials, AppError.Code)] = [
        (.emailPassword(email: "ann@example.com", password: "wrong horse"), .invalidPassword),
        // The error does not reveal which addresses are known.
        (.emailPassword(email: "bob@example.com", password: "correct horse"), .invalidPassword),
        (.emailPassword(email: "", password: ""), .invalidPassword),
        (.userAPIKey("rk_nothing"), .authError),
        (.facebook(accessToken: "token"), .authProviderNotFound),
        (.jwt(token: "token"), .authProviderNotFound),
      ]
      for (credentials, expected) in cases {
        let error = await thrown { _ = try await self.logIn(world, credentials) } as? AppError
        #expect(error?.code == expected, "\(credentials)")
        #expect(error?.httpStatusCode == (expected == .authProviderNotFound ? 404 : 401), "\(credentials)")
        #expect(error?.localizedDescription.isEmpty == false)
        #expect(error?.localizedDescription.contains("horse") == false)
      }
      #expect(app.currentUser === current && app.allUsers.count == 1)
    }
  }

  @Test func `an address is registered once, with a password that is long enough`() async throws {
    try await withWorld { world in
      let auth = world.app().emailPasswordAuth
      let names = ["ann@example.com", "ANN@example.com"]
      try await within { try await auth.registerUser(email: names[0], password: "correct horse") }
      for name in names {
        let code = await code { try await auth.registerUser(email: name, password: "other horse") }
        #expect(code == .accountNameInUse, "\(name)")
      }
      for (name, password) in [("bob@example.com", "short"), ("nobody", "correct horse")] {
        let code = await code { try await auth.registerUser(email: name, password: password) }
        #expect(code == .badRequest, "\(name)")
      }
      #expect(world.app().currentUser == nil)
      #expect(try await logIn(world, ann).isLoggedIn)
    }
  }

  @Test func `an address that was not confirmed does not log in, until an administrator has confirmed it`()
    async throws
  {
    try await withWorld("development: true\nemail:\n  auto-confirm: false\n") { world in
      let app = world.app()
      try await within {
        try await app.emailPasswordAuth.registerUser(email: "ann@example.com", password: "correct horse")
      }
      let id = world.id(of: SyncWorld.main)
      let credentials = ann
      #expect(await code { _ = try await self.logIn(world, credentials) } == .authError)
      let lines = try await world.administer(.users(app: id, after: nil))
      let line = try #require(lines.first)
      try await world.administer(.confirm(app: id, user: String(line.prefix(24))))
      let user = try await logIn(world, ann)
      #expect(line.hasPrefix(user.id))
    }
  }

  @Test func `a server that is down is reported as such, and the user does not change`() async throws {
    try await withWorld { world in
      let user = try await world.registered("ann@example.com")
      await world.stop()
      let credentials = ann
      let error = await thrown { _ = try await self.logIn(world, credentials) } as? AppError
      #expect(error?.code == .httpRequestFailed && error?.httpStatusCode == nil)
      #expect(await code { try await user.delete() } == .httpRequestFailed)
      #expect(await code { try await user.refreshCustomData() } == .httpRequestFailed)
      #expect(user.isLoggedIn && world.app().currentUser === user)
      // The log-out counts, even if the server was not told.
      #expect(await code { try await user.logOut() } == .httpRequestFailed)
      #expect(user.state == .loggedOut)
    }
  }

  @Test func `an app without an address fails at once with a remedy`() async throws {
    let root = FileManager.default.temporaryDirectory.appendingPathComponent("app-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: root) }
    let configuration = AppConfiguration()
    configuration.rootDirectory = root
    let app = App(id: "nowhere-\(UUID().uuidString)", configuration: configuration)
    let error = await thrown { _ = try await app.login(credentials: .anonymous) } as? AppError
    #expect(error?.code == .httpRequestFailed)
    #expect(error?.localizedDescription.contains("AppConfiguration(baseURL:)") == true)
    #expect(app.allUsers.isEmpty)
  }

  // MARK: - API keys

  @Test func `a user makes keys, whose texts are shown once, and lists and deletes them`() async throws {
    try await withWorld { world in
      let user = try await world.registered("ann@example.com")
      let keys = user.apiKeysAuth
      #expect(try await within { try await keys.fetchAPIKeys().count } == 0)
      let made = try await within { try await keys.createAPIKey(named: "phone") }
      #expect(made.name == "phone" && !made.disabled && made.key?.isEmpty == false)
      let other = try await within { try await keys.createAPIKey(named: "tablet") }
      let all = try await within { try await keys.fetchAPIKeys() }
      #expect(all.map(\.objectId) == [made.objectId, other.objectId])
      #expect(all.map(\.name) == ["phone", "tablet"] && all.allSatisfy { $0.key == nil })
      let one = try await within { try await keys.fetchAPIKey(made.objectId) }
      #expect(one.objectId == made.objectId && one.name == "phone" && one.key == nil)
      #expect(await code { _ = try await keys.createAPIKey(named: "phone") } == .apiKeyAlreadyExists)
      try await within { try await keys.deleteAPIKey(made.objectId) }
      #expect(await code { _ = try await keys.fetchAPIKey(made.objectId) } == .valueNotFound)
      #expect(await code { try await keys.deleteAPIKey(made.objectId) } == .valueNotFound)
      #expect(try await within { try await keys.fetchAPIKeys().map(\.name) } == ["tablet"])
    }
  }

  @Test func `a key logs its user in, except while it is disabled`() async throws {
    try await withWorld { world in
      let user = try await world.registered("ann@example.com")
      let keys = user.apiKeysAuth
      let made = try await within { try await keys.createAPIKey(named: "phone") }
      let text = try #require(made.key)
      #expect(try await logIn(world, .userAPIKey(text)) === user)
      // The sessions that a key has begun end with it.
      _ = try await logIn(world, ann)
      try await within { try await keys.disableAPIKey(made.objectId) }
      #expect(try await within { try await keys.fetchAPIKey(made.objectId).disabled })
      #expect(await code { _ = try await self.logIn(world, .userAPIKey(text)) } == .authError)
      try await within { try await keys.enableAPIKey(made.objectId) }
      #expect(try await !within { try await keys.fetchAPIKey(made.objectId).disabled })
      #expect(try await logIn(world, .userAPIKey(text)) === user)
      _ = try await logIn(world, ann)
      try await within { try await keys.deleteAPIKey(made.objectId) }
      #expect(await code { _ = try await self.logIn(world, .userAPIKey(text)) } == .authError)
    }
  }

  @Test func `an anonymous user has no keys`() async throws {
    try await withWorld { world in
      let keys = try await world.anonymous().apiKeysAuth
      #expect(await code { _ = try await keys.createAPIKey(named: "phone") } == .authError)
    }
  }

  // MARK: - Custom data

  @Test func `custom data that an administrator sets are there after a refresh`() async throws {
    try await withWorld { world in
      let user = try await world.registered("ann@example.com")
      let id = world.id(of: SyncWorld.main)
      let json = #"{"team":"red","age":3,"tags":["a",null],"home":{"city":"Rome"}}"#
      try await world.administer(.customData(app: id, user: user.id, json))
      #expect(user.customData.isEmpty)
      let before = user.accessToken
      let data = try await within { try await user.refreshCustomData() }
      #expect(data == user.customData && user.accessToken != before)
      #expect(data["team"]??.stringValue == "red" && data["age"]??.asInt() == 3)
      #expect(data["home"]??.documentValue?["city"]??.stringValue == "Rome")
      #expect(data["tags"]??.arrayValue?.count == 2)
      try await world.administer(.customData(app: id, user: user.id, nil))
      let results = Calls<[String]>()
      user.refreshCustomData { result in
        results.add(((try? result.get()) ?? ["failed": true]).keys.compactMap { $0 as? String })
      }
      #expect(try await results.first() == [] && user.customData.isEmpty)
      // A log-in also brings the custom data.
      try await world.administer(.customData(app: id, user: user.id, #"{"team":"blue"}"#))
      #expect(try await logIn(world, ann).customData["team"]??.stringValue == "blue")
    }
  }

  // MARK: - Completions

  @Test func `completions are called once, and not on the main thread`() async throws {
    try await withWorld { world in
      let app = world.app()
      let calls = Calls<(isMain: Bool, isGood: Bool)>()
      app.emailPasswordAuth.registerUser(email: "ann@example.com", password: "correct horse") { error in
        calls.add((Thread.isMainThread, error == nil))
      }
      try await eventually { calls.count == 1 }
      app.login(credentials: ann) { result in
        calls.add((Thread.isMainThread, (try? result.get())?.isLoggedIn == true))
      }
      try await eventually { calls.count == 2 }
      let user = try #require(app.currentUser)
      user.apiKeysAuth.createAPIKey(named: "phone") { result in
        calls.add((Thread.isMainThread, (try? result.get())?.name == "phone"))
      }
      try await eventually { calls.count == 3 }
      user.logOut { error in calls.add((Thread.isMainThread, error == nil)) }
      try await eventually { calls.count == 4 }
      user.delete { error in calls.add((Thread.isMainThread, error is AppError)) }
      try await eventually { calls.count == 5 }
      #expect(calls.all.allSatisfy { !$0.isMain && $0.isGood }, "\(calls.all)")
    }
  }
}
