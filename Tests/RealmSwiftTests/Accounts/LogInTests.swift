import Foundation
import Synchronization
import Testing

@_spi(RealmSwiftExperimental) @testable import RealmSwift

/// Log-ins, and the current user after them.
@Suite struct LogInTests {
  let world = AppWorld()

  @Test func `a log-in asks for tokens and the profile, and makes the user the current one`() async throws {
    let app = world.app()
    #expect(app.currentUser == nil && app.allUsers.isEmpty)
    let user = try await app.login(credentials: AppWorld.ann)
    #expect(
      world.server.lines == [
        "POST /app/\(world.id)/auth/providers/local-userpass/login", "GET /auth/profile",
      ])
    #expect(user.isLoggedIn && user.state == .loggedIn)
    #expect(app.currentUser === user && app.allUsers == [user.id: user])
    #expect(user.accessToken?.isEmpty == false && user.refreshToken?.isEmpty == false)
    #expect(user.profile.email == "ann@example.org" && user.profile.name == "Somebody")
    #expect(user.profile.birthday == nil && user.profile.metadata.count == 2)
    #expect(user.identities.map(\.providerType) == ["local-userpass"])
  }

  @Test func `the body has the credentials and the device, and the device keeps its id`() async throws {
    let app = world.app()
    _ = try await app.login(credentials: AppWorld.ann)
    _ = try await app.login(credentials: AppWorld.ben)
    let bodies = world.server.state.withLock { $0.asked.filter { $0.line.hasSuffix("/login") }.map(\.body) }
    let fields = try bodies.map {
      try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
    }
    #expect(fields[0]["username"] as? String == "ann@example.org")
    #expect(fields[0]["password"] as? String == "first password")
    #expect(fields[0]["provider"] as? String == "local-userpass")
    let devices = fields.map { ($0["options"] as? [String: Any])?["device"] as? [String: Any] ?? [:] }
    #expect(devices[0]["deviceId"] == nil)
    #expect((devices[0]["platform"] as? String)?.isEmpty == false)
    #expect(devices[1]["deviceId"] as? String == "d0d0d0d0d0d0d0d0d0d0d0d0")
  }

  private static let waysToLogIn: [(Credentials, String, Document)] = [
    (.anonymous, "anon-user", [:]),
    (.emailPassword(email: "a", password: "b"), "local-userpass", ["username": "a", "password": "b"]),
    (.jwt(token: "t"), "custom-token", ["token": "t"]),
    (.function(payload: ["x": "y"]), "custom-function", ["x": "y"]),
    (.userAPIKey("k"), "api-key", ["key": "k"]), (.serverAPIKey("k"), "api-key", ["key": "k"]),
    (.apple(idToken: "t"), "oauth2-apple", ["id_token": "t"]),
    (.googleId(token: "t"), "oauth2-google", ["id_token": "t"]),
    (.google(serverAuthCode: "c"), "oauth2-google", ["authCode": "c"]),
    (.facebook(accessToken: "t"), "oauth2-facebook", ["accessToken": "t"]),
  ]

  @Test func `each kind of credentials has its name and its fields, and is printed without the fields`() {
    for (credentials, provider, fields) in Self.waysToLogIn {
      let call = ServerCall.logIn(credentials, app: "a b", device: nil)
      #expect(call.path == "/app/a%20b/auth/providers/\(provider)/login" && call.method == .post)
      var body = call.body ?? [:]
      #expect(body["provider"]??.stringValue == provider)
      body["provider"] = nil
      body["options"] = nil
      #expect(body == fields)
      var dumped = ""
      dump(credentials, to: &dumped)
      for text in ["\(credentials)", String(reflecting: credentials)] {
        #expect(text == "credentials of \(provider)")
      }
      #expect(dumped == "- credentials of \(provider)\n")
    }
  }

  @Test func `a log-in that fails changes nothing`() async throws {
    let app = world.app()
    let wrong = Credentials.emailPassword(email: "ann@example.org", password: "another")
    let error = await appError { _ = try await app.login(credentials: wrong) }
    #expect(error?.code == .invalidPassword && error?.httpStatusCode == 401)
    world.server.answer { $0.line == "GET /auth/profile" ? .error(500, "InternalServerError") : nil }
    let second = await appError { _ = try await app.login(credentials: AppWorld.ann) }
    #expect(second?.code == .internalServerError)
    world.server.answer { $0.line.hasSuffix("/login") ? FakeServer.Reply(body: #"{"user_id": ".."}"#) : nil }
    let third = await appError { _ = try await app.login(credentials: AppWorld.ann) }
    #expect(third?.code == .httpRequestFailed)
    #expect(app.currentUser == nil && app.allUsers.isEmpty)
  }

  @Test func `a user whose id leads out of its folder is refused`() async throws {
    let app = world.app()
    let token = FakeServer.token(#"{"exp": 4000000000}"#)
    world.server.answer {
      $0.line.hasSuffix("/login")
        ? FakeServer.Reply(body: #"{"access_token": "\#(token)", "refresh_token": "r", "user_id": ".."}"#)
        : nil
    }
    let error = await appError { _ = try await app.login(credentials: AppWorld.ann) }
    #expect(error?.code == .httpRequestFailed && app.allUsers.isEmpty)
  }

  @Test
  func `a log-in with anonymous credentials returns the anonymous user who is logged in, without a network`()
    async throws
  {
    let app = world.app()
    let user = try await app.login(credentials: .anonymous)
    let other = try await app.login(credentials: AppWorld.ann)
    world.server.state.withLock { $0.isOffline = true }
    let again = try await app.login(credentials: .anonymous)
    #expect(again === user && app.currentUser === user && other.isLoggedIn)
    let restarted = world.app()
    #expect(try await restarted.login(credentials: .anonymous).id == user.id)
  }

  @Test func `an anonymous user who has linked an address is no longer anonymous`() async throws {
    let app = world.app()
    let user = try await app.login(credentials: .anonymous)
    let linked = try await user.linkUser(credentials: AppWorld.ann)
    #expect(linked === user && app.currentUser === user)
    #expect(user.identities.map(\.providerType) == ["anon-user", "local-userpass"])
    #expect(world.server.state.withLock { $0.asked.contains { $0.url.hasSuffix("/login?link=true") } })
    let other = try await app.login(credentials: .anonymous)
    #expect(other !== user)
    #expect(await appError { _ = try await user.linkUser(credentials: .anonymous) }?.code == .badRequest)
    try await user.logOut()
    #expect(user.state == .loggedOut)
    #expect(await appError { _ = try await user.linkUser(credentials: AppWorld.ben) }?.code == .unknown)
  }

  @Test func `a second user becomes the current one, and the first stays logged in`() async throws {
    let app = world.app()
    let ann = try await app.login(credentials: AppWorld.ann)
    let ben = try await app.login(credentials: AppWorld.ben)
    #expect(app.currentUser === ben && ann.isLoggedIn && app.allUsers.count == 2)
    #expect(app.switch(to: ann) === ann)
    #expect(app.currentUser === ann)
    try await ann.logOut()
    #expect(app.currentUser === ben && app.allUsers.count == 2)
    try await ben.remove()
    #expect(app.currentUser == nil && app.allUsers == [ann.id: ann])
  }

  @Test func `completions are called on their own queue`() async throws {
    let app = world.app()
    let isThere = await withCheckedContinuation { (continuation: CheckedContinuation<Bool, Never>) in
      app.login(credentials: AppWorld.ann) { result in
        dispatchPrecondition(condition: .onQueue(App.callbacks))
        continuation.resume(returning: (try? result.get()) != nil)
      }
    }
    #expect(isThere && app.currentUser != nil)
    let wrong = Credentials.emailPassword(email: "ann@example.org", password: "another")
    let code = await withCheckedContinuation {
      (continuation: CheckedContinuation<AppError.Code?, Never>) in
      app.login(credentials: wrong) { result in
        guard case .failure(let error) = result else { return continuation.resume(returning: nil) }
        continuation.resume(returning: (error as? AppError)?.code)
      }
    }
    #expect(code == .invalidPassword)
    let user = try #require(app.currentUser)
    let error = await withCheckedContinuation { (continuation: CheckedContinuation<AppError?, Never>) in
      user.logOut { error in
        dispatchPrecondition(condition: .onQueue(App.callbacks))
        continuation.resume(returning: error as? AppError)
      }
    }
    #expect(error == nil && app.currentUser == nil)
  }

  @Test func `the default address has no server`() async throws {
    let app = world.app { $0.baseURL = nil }
    #expect(app.baseURL == "https://services.cloud.mongodb.com")
    let error = await appError { _ = try await app.login(credentials: .anonymous) }
    #expect(error?.code == .httpRequestFailed && error?.httpStatusCode == nil)
    #expect(error?.localizedDescription.contains("AppConfiguration(baseURL:)") == true)
    #expect(world.server.state.withLock { $0.asked.isEmpty })
  }
}
