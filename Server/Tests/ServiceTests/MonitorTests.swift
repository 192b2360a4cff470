import Foundation
import Logging
import Service
import Testing

@Suite(.timeLimit(.minutes(3))) struct MonitorTests {
  private struct Health: Decodable { let apps: [String: String] }

  /// The address and the token that a running server writes for administrators.
  private struct Address: Decodable {
    let port: Int
    let token: String
  }

  private func address(_ place: Place) throws -> Address {
    try JSONDecoder().decode(Address.self, from: Data(contentsOf: place.administration))
  }

  private func body(_ request: AdministrationRequest) throws -> String {
    String(decoding: try JSONEncoder().encode(request), as: UTF8.self)
  }

  @Test func `a server that runs is healthy`() async throws {
    let place = try Place(["alpha": openDefinition("alpha"), "beta": openDefinition("beta")])
    try await withServer(place) { server in
      let client = try await Client.connect(to: server.monitorPort)
      let reply = try await client.ask("GET /health")
      #expect(reply.status == 200)
      #expect(try reply.decoded(Health.self).apps == ["alpha": "goes on", "beta": "goes on"])
      for path in ["/", "/healthy", "/metrics/alpha", "/api/client/v2.0/app/alpha/location"] {
        #expect(try await client.ask("GET \(path)").status == 404, "\(path)")
      }
    }
  }

  @Test func `metrics have figures of connections, files and the log`() async throws {
    let place = try Place()
    try await withServer(place) { server in
      let monitor = try await Client.connect(to: server.monitorPort)
      let user = try await Client.connect(to: server.port).logInAnonymously()
      let socket = try await Client.socket(at: server.port, token: user.accessToken)
      _ = try await socket.start(on: 1)
      _ = try await socket.hello(on: 2)
      let reply = try await monitor.ask("GET /metrics")
      #expect(reply.status == 200)
      #expect(reply.headers["content-type"]?.hasPrefix("text/plain") == true)
      let lines = reply.text.split(separator: "\n").map { String($0) }
      let expected = [
        "# TYPE realm_server_up gauge", "realm_server_up{app=\"dev\"} 1",
        "realm_server_connections{app=\"dev\"} 1", "realm_server_channels{app=\"dev\"} 2",
        "realm_server_replicas{app=\"dev\"} 2",
      ]
      for line in expected { #expect(lines.contains(line), "\(line)") }
      let names = [
        "log_end", "log_applied", "history_begin", "oldest_cursor", "unrouted_sessions", "unsent_bytes",
        "file_bytes", "history_bytes", "history_cuts",
      ]
      for name in names {
        #expect(lines.contains { $0.hasPrefix("realm_server_\(name){app=\"dev\"") }, "\(name)")
        #expect(lines.contains { $0.hasPrefix("# HELP realm_server_\(name) ") }, "\(name)")
      }
      socket.close()
      let isGone = try await becomes {
        try await monitor.ask("GET /metrics").text.contains("realm_server_connections{app=\"dev\"} 0\n")
      }
      #expect(isGone)
    }
  }

  @Test func `history that no file needs is removed once in each interval of the setting`() async throws {
    let (place, lines) = (try Place(), LogLines())
    let logger = Logger(label: "test", factory: { _ in LogKeeper(lines) })
    try await withServer(place, logger: logger, settings: { $0.trimEvery = 1 }) { server in
      let monitor = try await Client.connect(to: server.monitorPort)
      let user = try await Client.connect(to: server.port).logInAnonymously()
      let socket = try await Client.socket(at: server.port, token: user.accessToken)
      _ = try await socket.start(on: 1)
      let isRemoved = try await becomes {
        let text = try await monitor.ask("GET /metrics").text
        let line = text.split(separator: "\n").first { $0.hasPrefix("realm_server_history_begin{") }
        return line?.split(separator: " ").last.flatMap { Int($0) } ?? 0 > 0
      }
      #expect(isRemoved)
      // A reader of the log sees when the removal is done.
      let isTold = try await becomes { lines.all.contains { $0.contains("history is removed") } }
      #expect(isTold)
      #expect(lines.all.contains { $0.contains("history is being removed") })
    }
  }

  @Test func `only a client with the token may administer`() async throws {
    let place = try Place()
    try await withServer(place) { server in
      let client = try await Client.connect(to: server.monitorPort)
      let address = try address(place)
      #expect(address.port == server.monitorPort)
      #expect(address.token.utf8.count >= 43)
      let users = try body(.users(app: "dev", after: nil))
      let line = "POST /administration"
      let wrongTokens: [String?] = [nil, "a", String(address.token.dropLast()), address.token + "a"]
      for token in wrongTokens {
        #expect(try await client.ask(line, bearer: token, body: users).status == 401)
      }
      #expect(try await client.ask("GET /administration", bearer: address.token).status == 404)
      for wrong in ["", "{}", "[]", "{", #"{"shutDown":{"app":"dev"}}"#, #"{"users":{}}"#] {
        #expect(try await client.ask(line, bearer: address.token, body: wrong).status == 400, "\(wrong)")
      }
      let reply = try await client.ask(line, bearer: address.token, body: users)
      #expect(reply.status == 200)
      #expect(try reply.decoded(AdministrationAnswer.self) == AdministrationAnswer([]))
      let user = try await Client.connect(to: server.port).logInAnonymously()
      let listed = try await client.ask(line, bearer: address.token, body: users)
      let answer = try listed.decoded(AdministrationAnswer.self)
      #expect(answer.lines.count == 1)
      #expect(answer.lines.first?.hasPrefix("\(user.userId)  -  anon-user") == true)
      let other = try body(.users(app: "other", after: nil))
      let unknown = try await client.ask(line, bearer: address.token, body: other)
      #expect(try unknown.decoded(AdministrationAnswer.self).isError)
      // The port for clients does not accept administration.
      let front = try await Client.connect(to: server.port)
      #expect(try await front.ask(line, bearer: address.token, body: users).outcome == "404 NotFound")
    }
  }
}
