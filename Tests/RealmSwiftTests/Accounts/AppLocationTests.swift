import Foundation
import Synchronization
import Testing

@_spi(RealmSwiftExperimental) @testable import RealmSwift

/// The addresses and headers of requests.
@Suite struct AppLocationTests {
  let world = AppWorld()

  private func setLocation(_ host: String, _ socket: String, route: String? = nil) {
    let more = route.map { #", "sync_route": "\#($0)""# } ?? ""
    world.server.state.withLock {
      $0.location = #"{"hostname": "\#(host)", "ws_hostname": "\#(socket)"\#(more)}"#
    }
  }

  @Test func `the location is asked for once, and requests go there`() async throws {
    setLocation("https://other.test/", "wss://sockets.test")
    let app = world.app { $0.baseURL = "https://sync.test/" }
    async let first = app.calls.location()
    async let second = app.calls.location()
    let (one, two) = (try await first, try await second)
    #expect(one == two)
    _ = try await app.login(credentials: AppWorld.ann)
    let asked = world.server.state.withLock { $0.asked }
    #expect(
      asked.map(\.url)[0] == "https://sync.test/api/client/v2.0/app/\(world.id)/location"
        && asked[0].token == nil)
    #expect(asked.dropFirst().map(\.host) == ["https://other.test", "https://other.test"])
    #expect(
      try await app.calls.location().syncRoute
        == "wss://sockets.test/api/client/v2.0/app/\(world.id)/realm-sync")
  }

  @Test func `requests have the headers of the app, and the time limit of its configuration`() async throws {
    let app = world.app { $0.defaultRequestTimeoutMS = 2500 }
    app.syncManager.userAgent = "notes/3"
    app.syncManager.customRequestHeaders = ["X-Team": "red", "User-Agent": "mine"]
    app.syncManager.authorizationHeaderName = "X-Token"
    let user = try await app.login(credentials: AppWorld.ann)
    let profile = try #require(world.server.state.withLock { $0.asked.last })
    #expect(profile.line == "GET /auth/profile" && profile.body == "" && profile.timeout == 2.5)
    #expect(profile.headers["X-Token"]?.hasPrefix("Bearer head.") == true)
    #expect(profile.headers["Authorization"] == nil && profile.headers["X-Team"] == "red")
    let agent = try #require(profile.headers["User-Agent"])
    #expect(agent.hasPrefix("RealmSync/1 (") && agent.hasSuffix(") Realm Swift/1 notes/3"))
    #expect(profile.headers["Content-Type"] == "application/json;charset=utf-8" && user.isLoggedIn)
  }

  private static let placesWithoutTLS: [(String, String, String?)] = [
    ("http://sync.test", "wss://sync.test", nil), ("https://sync.test", "ws://sync.test", nil),
    ("https://sync.test", "wss://sync.test", "ws://sync.test/there"),
  ]

  @Test func `a server with TLS can't name a location without TLS`() async {
    for (host, socket, route) in Self.placesWithoutTLS {
      setLocation(host, socket, route: route)
      let app = world.app()
      let error = await appError { _ = try await app.login(credentials: AppWorld.ann) }
      #expect(error == AppLocation.notSecure && world.server.lines.isEmpty, "\(host), \(socket)")
    }
  }

  @Test(arguments: [
    ("ftp://sync.test", "wss://sync.test"), ("https://", "wss://sync.test"),
    ("https://a@sync.test", "wss://b.test"),
    ("https://sync.test?a=b", "wss://b.test"), ("https://sync.test", "https://sync.test"), ("", ""),
  ])
  func `an invalid location is refused`(host: String, socket: String) async {
    setLocation(host, socket)
    let app = world.app()
    let error = await appError { _ = try await app.login(credentials: AppWorld.ann) }
    #expect(error?.code == .httpRequestFailed && world.server.lines.isEmpty)
  }

  @Test func `a server without TLS may name a location with TLS`() async throws {
    let app = world.app { $0.baseURL = "http://sync.test" }
    _ = try await app.login(credentials: AppWorld.ann)
    #expect(world.server.state.withLock { $0.asked.last?.host } == "https://sync.test")
  }

  /// Redirects requests whose address begins with `prefix`.
  private func redirect(_ prefix: String, to target: String) {
    world.server.answer { asked in
      guard asked.url.hasPrefix(prefix) else { return nil }
      return FakeServer.Reply(status: 308, body: "", headers: ["location": target])
    }
  }

  @Test
  func `a redirection of the question for the location is followed, but never to an address without TLS`()
    async throws
  {
    redirect("https://sync.test/api/client/v2.0/app/", to: "https://new.test/location")
    setLocation("https://b.test", "wss://b.test")
    _ = try await world.app().login(credentials: AppWorld.ann)
    #expect(world.server.state.withLock { $0.asked.map(\.url).prefix(2).last } == "https://new.test/location")
    redirect("https://sync.test", to: "http://new.test/location")
    let error = await appError { _ = try await world.app().login(credentials: AppWorld.ann) }
    #expect(error == AppLocation.notSecure)
    redirect("https://", to: "https://again.test/location")
    let circle = await appError { _ = try await world.app().login(credentials: AppWorld.ann) }
    #expect(circle?.localizedDescription.contains("lead to others") == true)
    #expect(!world.server.state.withLock { $0.asked.contains { $0.url.hasPrefix("http:") } })
  }

  @Test func `a request with a token follows no redirection, and asks for the location again`() async throws {
    let app = world.app()
    let user = try await app.login(credentials: AppWorld.ann)
    redirect("https://sync.test/api/client/v2.0/auth", to: "https://evil.test/auth")
    let error = await appError { _ = try await user.refreshCustomData() }
    #expect(error?.code == .httpRequestFailed && error?.httpStatusCode == 308 && user.isLoggedIn)
    #expect(!world.server.state.withLock { $0.asked.contains { $0.host.contains("evil") } })
    setLocation("https://moved.test", "wss://moved.test")
    _ = try await user.refreshCustomData()
    #expect(world.server.state.withLock { $0.asked.last?.host } == "https://moved.test")
  }

  @Test func `another address is accepted if a server answers there`() async throws {
    let app = world.app()
    let user = try await app.login(credentials: AppWorld.ann)
    let told = user.listen()
    let lost = await appError { try await app.updateBaseUrl(to: "no address") }
    #expect(lost?.code == .httpRequestFailed && app.baseURL == "https://sync.test")
    for none in [nil, "", "https://services.cloud.mongodb.com/"] {
      #expect(await appError { try await app.updateBaseUrl(to: none) }?.code == .httpRequestFailed)
    }
    world.server.answer { $0.host == "https://away.test" ? .lost : nil }
    #expect(
      await appError { try await app.updateBaseUrl(to: "https://away.test") }?.code == .httpRequestFailed)
    #expect(told.events == [] && app.baseURL == "https://sync.test")
    setLocation("https://new.test", "wss://new.test")
    try await app.updateBaseUrl(to: "https://new.test/")
    #expect(told.events == ["route"] && app.baseURL == "https://new.test")
    _ = try await user.refreshCustomData()
    #expect(world.server.state.withLock { $0.asked.last?.host } == "https://new.test")
    let isDone = await withCheckedContinuation { (continuation: CheckedContinuation<Bool, Never>) in
      app.updateBaseUrl(to: "https://sync.test") { result in
        continuation.resume(returning: (try? result.get()) != nil)
      }
    }
    #expect(isDone && app.baseURL == "https://sync.test")
  }
}
