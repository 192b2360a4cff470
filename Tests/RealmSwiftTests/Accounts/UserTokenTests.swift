import Foundation
import RealmSyncClient
import Synchronization
import Testing

@testable import RealmSwift

/// Access tokens: when they are renewed, and what connections get.
@Suite struct UserTokenTests {
  let world = AppWorld()

  private func loggedIn() async throws -> (App, User) {
    let app = world.app()
    return (app, try await app.login(credentials: AppWorld.ann))
  }

  @Test func `a call during a refresh waits for that refresh`() async throws {
    let (app, user) = try await loggedIn()
    let running = Mutex(0)
    let most = Mutex(0)
    world.server.answer { asked in
      guard asked.line == "POST /auth/session" else { return nil }
      let count = running.withLock { count -> Int in
        count += 1
        return count
      }
      most.withLock { $0 = max($0, count) }
      Thread.sleep(forTimeInterval: 0.05)
      running.withLock { $0 -= 1 }
      return nil
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<20 { group.addTask { try await user.refreshAccessToken() } }
      try await group.waitForAll()
    }
    #expect(most.withLock { $0 } == 1 && world.server.count("POST /auth/session") < 20)
    #expect(app.currentUser === user)
  }

  @Test func `a token that the server no longer accepts is renewed, and the request is sent once more`()
    async throws
  {
    let (app, user) = try await loggedIn()
    world.server.state.withLock { $0.accessTokens = [:] }
    #expect(await appError { try await user.delete() } == nil)
    #expect(
      world.server.lines.suffix(3) == ["DELETE /auth/delete", "POST /auth/session", "DELETE /auth/delete"])
    #expect(app.allUsers.isEmpty)
  }

  @Test func `a request that is refused twice is not sent again, and other refusals are not retried`()
    async throws
  {
    let (app, user) = try await loggedIn()
    world.server.answer { $0.line == "GET /auth/api_keys" ? .error(401, "InvalidSession") : nil }
    #expect(await appError { _ = try await user.apiKeysAuth.fetchAPIKeys() }?.code == .invalidSession)
    #expect(world.server.count("GET /auth/api_keys") == 2 && world.server.count("POST /auth/session") == 1)
    world.server.answer { $0.line == "GET /auth/api_keys" ? .error(401, "AuthError") : nil }
    #expect(await appError { _ = try await user.apiKeysAuth.fetchAPIKeys() }?.code == .authError)
    #expect(world.server.count("GET /auth/api_keys") == 3 && app.currentUser === user)
  }

  @Test func `the result of a refresh after a log-out is dropped`() async throws {
    let (app, user) = try await loggedIn()
    let (isAsked, mayAnswer) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    world.server.answer { asked in
      guard asked.line == "POST /auth/session" else { return nil }
      isAsked.signal()
      mayAnswer.wait()
      return nil
    }
    let server = world.server
    let token = try #require(user.refreshToken)
    let task = Task { try await user.refreshAccessToken() }
    await onQueue { isAsked.wait() }
    try await user.logOut()
    // The server would still accept the token.
    server.state.withLock { $0.refreshTokens[token] = user.id }
    mayAnswer.signal()
    try await task.value
    #expect(user.state == .loggedOut && user.accessToken == nil && app.currentUser == nil)
  }

  private func onQueue(_ body: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      DispatchQueue.global().async {
        body()
        continuation.resume()
      }
    }
  }

  // MARK: - Routes

  @Test func `a route has the address, the token and the headers of the app`() async throws {
    let (app, user) = try await loggedIn()
    app.syncManager.customRequestHeaders = ["X-Team": "red"]
    let route = try await user.route().get()
    #expect(route.url == "wss://sync.test/api/client/v2.0/app/\(world.id)/realm-sync")
    #expect(route.token == user.accessToken && route.certificate == nil)
    #expect(route.headers.contains(NetworkHeader("X-Team", "red")))
    #expect(route.headers.contains { $0.name == "User-Agent" && $0.value.hasPrefix("RealmSync/1 (") })
    #expect(!route.headers.contains { $0.value.contains(route.token) })
    app.syncManager.authorizationHeaderName = "X-Token"
    let headers = try await user.route().get().headers
    #expect(headers.contains(NetworkHeader("X-Token", "Bearer \(route.token)")))
    #expect(world.server.count("POST /auth/session") == 0)
  }

  @Test func `a token that expires soon or was refused is renewed first`() async throws {
    let (app, user) = try await loggedIn()
    let first = try await user.route().get().token
    let second = try await user.route(.token).get().token
    #expect(first != second && user.accessToken == second)
    world.server.state.withLock { $0.lifetime = 5 }
    let third = try await user.route(.token).get().token
    world.server.state.withLock { $0.lifetime = 1800 }
    let fourth = try await user.route().get().token
    #expect(third != fourth && world.server.count("POST /auth/session") == 3)
    #expect(try await user.route().get().token == fourth && app.currentUser === user)
  }

  @Test func `the location is asked for again if a connection there failed`() async throws {
    let (app, user) = try await loggedIn()
    world.server.state.withLock {
      $0.location =
        #"{"hostname": "https://b.test", "ws_hostname": "wss://b.test", "sync_route": "wss://b.test/there"}"#
    }
    #expect(try await user.route().get().url.hasPrefix("wss://sync.test/"))
    #expect(try await user.route(.route).get().url == "wss://b.test/there")
    #expect(app.currentUser === user)
  }

  @Test func `a server that does not answer is tried later, and one that refuses the user ends the session`()
    async throws
  {
    let (app, user) = try await loggedIn()
    let replies: [(FakeServer.Reply, String)] = [
      (.lost, "There is no network."), (.error(503, "ServiceUnavailable"), "ServiceUnavailable"),
      (.error(429, "TooManyRequests"), "TooManyRequests"),
      (FakeServer.Reply(status: 502, body: "<html>"), "502"),
    ]
    for (reply, text) in replies {
      world.server.answer { $0.line == "POST /auth/session" ? reply : nil }
      guard case .failure(.notNow(.unreachable(let found))) = await user.route(.token) else {
        Issue.record("\(text) is answered otherwise")
        continue
      }
      #expect(found.contains(text) && user.isLoggedIn)
    }
    // The refusal of a location is not the refusal of the user.
    world.server.answer { $0.line.hasSuffix("/location") ? .error(403, "Anything") : nil }
    guard case .failure(.notNow) = await user.route(.route) else {
      Issue.record("a refused place is answered otherwise")
      return
    }
    #expect(user.isLoggedIn)
    world.server.answer { $0.line == "POST /auth/session" ? .error(401, "InvalidSession") : nil }
    guard case .failure(.loggedOut(let text)) = await user.route(.token) else {
      Issue.record("a refused refresh is answered otherwise")
      return
    }
    #expect(text.hasPrefix("Unable to refresh the user access token: ") && user.state == .loggedOut)
    guard case .failure(.loggedOut) = await user.route() else {
      Issue.record("a user who is logged out is answered otherwise")
      return
    }
    #expect(app.currentUser == nil)
  }

  // MARK: - Texts

  @Test(arguments: [
    "", "a", "a.b", "a.b.c", "a.b.c.d", "a..c", "a.e30.c", "a.eyJleHAiOiJhIn0.c", "a.eyJleHAiOjF9=.c",
    "a.W10.c",
    "a.eyJleHAiOjFlMzB9.c", "a\r\nX: y.eyJleHAiOjF9.c", "a.eyJleHAiOjF9.c d",
  ])
  func `a text that is not a token is refused`(text: String) {
    #expect(AccessToken(text) == nil)
  }

  @Test func `a token gives its expiry and the data of the user`() throws {
    let token = FakeServer.token(
      #"{"exp": 4000000000, "iat": 1, "user_data": {"a": [1, null, {"b": "ö?>"}]}}"#)
    let read = try #require(AccessToken(token))
    #expect(read.text == token && read.end == Date(timeIntervalSince1970: 4_000_000_000))
    #expect(!read.ends(within: 10) && read.customData["a"]??.arrayValue?.count == 3)
    let other = try #require(AccessToken(FakeServer.token(#"{"exp": 1, "user_data": "text"}"#)))
    #expect(other.ends(within: 10) && other.customData.isEmpty)
  }

  @Test func `tokens, passwords and keys are never logged`() async throws {
    let told = Mutex<[String]>([])
    let before = Logger.shared
    let logger = Logger(level: .all) { level, message in
      told.withLock { $0.append(message) }
      before.log(level, message)
    }
    Logger.shared = logger
    // Another test may have set its own logger meanwhile.
    defer { if Logger.shared === logger { Logger.shared = before } }
    var secrets = ["first password", "refresh-secret-"]
    let (app, user) = try await loggedIn()
    secrets += [user.accessToken, user.refreshToken].compactMap { $0 }
    try await user.refreshAccessToken()
    secrets += [user.accessToken].compactMap { $0 }
    world.server.answer {
      $0.line == "POST /auth/session" ? .error(401, "refresh-secret- of the server's text") : nil
    }
    _ = await user.route(.token)
    let again = try await app.login(credentials: AppWorld.ann)
    secrets += [again.accessToken, again.refreshToken].compactMap { $0 }
    try await again.remove()
    world.restart()
    let messages = told.withLock { $0 }
    for secret in secrets { #expect(!messages.contains { $0.contains(secret) }, "\(secret)") }
  }
}
