import Foundation
import Logging
import Service
import Testing

@Suite(.timeLimit(.minutes(3))) struct SecretTests {
  /// Makes all requests that need a secret.
  ///
  /// - Returns: The secrets.
  private func use(_ server: RunningServer, _ place: Place) async throws -> [String] {
    let client = try await Client.connect(to: server.port)
    let password = "a long secret"
    let wrong = "another secret"
    let email = ["email": "ann@example.com", "password": password]
    _ = try await client.post(Address.provider("local-userpass", "register"), email)
    let ann = ["username": "ann@example.com", "password": password]
    let user = try await client.logIn("local-userpass", ann).decoded(LoggedIn.self)
    _ = try await client.logIn("local-userpass", ["username": "ann@example.com", "password": wrong])
    let token = try await client.refresh(user).decoded(Refreshed.self).accessToken
    let serverKey = try await place.serverKey("robot", server)
    let made = try await client.post(Address.keys, ["name": "phone"], bearer: token)
    struct Key: Decodable { let key: String }
    let key = try made.decoded(Key.self).key
    for key in [key, serverKey, key + "x"] { _ = try await client.logIn("api-key", ["key": key]) }
    let socket = try await Client.socket(at: server.port, token: token)
    _ = try await socket.start(on: 1)
    socket.send([8, 0xff], on: 1)
    _ = try await socket.message(22, on: 1)
    // Refused requests also have secrets.
    _ = try await Client.upgrade(at: server.port, protocols: "realm-sync.1, realm-token.\(token)x")
    _ = try await client.ask("GET /elsewhere?token=\(token)", bearer: token, body: password)
    _ = try await client.ask("POST \(Address.session)", bearer: user.refreshToken + "x")
    _ = try await client.ask("DELETE \(Address.profile)", bearer: token)
    _ = try await client.post(Address.provider("local-userpass", "reset"), ["token": key, "tokenId": "1"])
    let monitor = try await Client.connect(to: server.monitorPort)
    struct Told: Decodable { let token: String }
    let told = try JSONDecoder().decode(Told.self, from: Data(contentsOf: place.administration))
    _ = try await monitor.ask("POST /administration", bearer: told.token, body: "{}")
    _ = try await monitor.ask("POST /administration", bearer: told.token + "x", body: "{}")
    _ = try await client.logOut(user)
    _ = try await socket.closeCode()
    let tokens = [user.accessToken, user.refreshToken, token]
    let parts = tokens.flatMap { $0.split(separator: ".").map { String($0) } }
    return [password, wrong, serverKey, key, told.token] + tokens + parts
  }

  @Test func `the log has no tokens, passwords or keys`() async throws {
    let (place, lines) = (try Place(), LogLines())
    let logger = Logger(label: "test", factory: { _ in LogKeeper(lines) })
    try await withServer(place, logger: logger) { server in
      let secrets = try await use(server, place)
      #expect(secrets.count == 17)
      await server.stop(wait: 0, grace: .milliseconds(500))
      #expect(lines.all.contains { $0.contains("A WebSocket is accepted.") })
      #expect(lines.all.contains { $0.contains("the server stops") })
      for (place, secret) in secrets.enumerated() {
        #expect(secret.utf8.count > 8)
        #expect(!lines.all.contains { $0.contains(secret) }, "the secret \(place)")
      }
    }
  }
}
