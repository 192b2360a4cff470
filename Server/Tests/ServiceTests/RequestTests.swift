import Foundation
import Service
import Testing

@Suite(.timeLimit(.minutes(3))) struct RequestTests {
  @Test func `requests to other addresses find nothing`() async throws {
    try await withServer(Place()) { server in
      let client = try await Client.connect(to: server.port)
      let user = try await client.logInAnonymously()
      let unknown = Address.app("location", of: "other")
      #expect(try await client.ask("GET \(unknown)").outcome == "404 AppNotFound")
      let logIn = Address.provider("anon-user", "login", of: "other")
      #expect(try await client.post(logIn).outcome == "404 AppNotFound")
      for path in ["/", "/api/client/v2.0", "/api/client/v1.0/app/dev/location", "/health", "/metrics"] {
        #expect(try await client.ask("GET \(path)").outcome == "404 NotFound", "\(path)")
      }
      for path in ["elsewhere", "auth/providers", "auth/providers/anon-user", "realm-sync"] {
        #expect(try await client.ask("GET \(Address.app(path))").outcome == "404 NotFound", "\(path)")
      }
      for path in ["auth/providers/anon-user/register", "auth/providers/local-userpass/elsewhere"] {
        #expect(try await client.post(Address.app(path)).outcome == "404 NotFound", "\(path)")
      }
      let elsewhere = "GET /api/client/v2.0/auth/elsewhere"
      #expect(try await client.ask(elsewhere, bearer: user.accessToken).outcome == "404 NotFound")
      let call = Address.app("functions/call")
      #expect(try await client.post(call).outcome == "404 FunctionNotFound")
      let reset = Address.provider("local-userpass", "reset/call")
      #expect(try await client.post(reset).outcome == "404 FunctionNotFound")
    }
  }

  @Test func `wrong methods are answered with the allowed ones`() async throws {
    try await withServer(Place()) { server in
      let client = try await Client.connect(to: server.port)
      let user = try await client.logInAnonymously()
      let cases = [
        ("POST \(Address.app("location"))", "GET"),
        ("GET \(Address.provider("anon-user", "login"))", "POST"),
        ("PUT \(Address.provider("local-userpass", "register"))", "POST"),
        ("GET \(Address.session)", "POST, DELETE"), ("POST \(Address.profile)", "GET"),
        ("GET \(Address.delete)", "DELETE"), ("PUT \(Address.keys)", "GET, POST"),
        ("PUT \(Address.keys)/0123456789abcdef01234567", "GET, DELETE"),
      ]
      for (line, methods) in cases {
        let reply = try await client.ask(line, bearer: user.accessToken)
        #expect(reply.outcome == "405 BadRequest", "\(line)")
        #expect(reply.headers["allow"] == methods, "\(line)")
      }
    }
  }

  /// Foundation stops a program that reads a text which ends exactly where it has too many levels.
  private static let deep: [String] = (510...514).flatMap { count in
    let brackets = String(repeating: "[", count: count)
    return [brackets, #"{"a":"# + brackets, #"{"options":{"device":"# + brackets]
  }

  @Test func `bodies that are not JSON objects are refused`() async throws {
    try await withServer(Place()) { server in
      let client = try await Client.connect(to: server.port)
      let bodies =
        [
          "[]", #"[{"username":"a"}]"#, "{", "}", #"{"a":}"#, "nonsense", #""text""#, "1", "true", "{}{}",
          String(repeating: "[", count: 100_000), String(repeating: #"{"a":"#, count: 100_000),
        ] + Self.deep
      let addresses = [
        Address.provider("anon-user", "login"), Address.provider("local-userpass", "login"),
        Address.provider("local-userpass", "register"),
      ]
      for address in addresses {
        for body in bodies {
          let reply = try await client.ask("POST \(address)", body: body)
          #expect(reply.outcome == "400 BadRequest", "\(address) \(body.prefix(20))")
        }
      }
    }
  }

  @Test func `fields that are missing or not texts are reported`() async throws {
    try await withServer(Place()) { server in
      let client = try await Client.connect(to: server.port)
      let logIn = "POST \(Address.provider("local-userpass", "login"))"
      let bodies = [
        "", "{}", #"{"username":"ann@example.com"}"#, #"{"username":1,"password":"secret-1"}"#,
        #"{"username":["ann@example.com"],"password":"secret-1"}"#,
        #"{"username":null,"password":"secret-1"}"#,
      ]
      for body in bodies {
        #expect(try await client.ask(logIn, body: body).outcome == "400 MissingParameter", "\(body)")
      }
      let register = Address.provider("local-userpass", "register")
      #expect(try await client.post(register, ["email": "a@example.com"]).outcome == "400 MissingParameter")
      let bad = ["email": "nobody", "password": "secret-1"]
      #expect(try await client.post(register, bad).outcome == "400 InvalidParameter")
      let short = ["email": "a@example.com", "password": "short"]
      #expect(try await client.post(register, short).outcome == "400 InvalidParameter")
      let key = Address.provider("api-key", "login")
      #expect(try await client.post(key).outcome == "400 MissingParameter")
    }
  }

  @Test func `invalid tokens are refused`() async throws {
    try await withServer(Place()) { server in
      let client = try await Client.connect(to: server.port)
      let user = try await client.logInAnonymously()
      let forged = user.accessToken.dropLast(4) + "AAAA"
      let long = String(repeating: "a", count: 8000)
      let tokens: [String?] = [nil, "a", "a.b.c", String(forged), user.refreshToken, long]
      for line in ["GET \(Address.profile)", "DELETE \(Address.delete)", "GET \(Address.keys)"] {
        for token in tokens {
          let reply = try await client.ask(line, bearer: token)
          #expect(reply.outcome == "401 InvalidSession", "\(line)")
        }
      }
      for token in [nil, "a", "a.b.c", user.accessToken] as [String?] {
        let reply = try await client.ask("POST \(Address.session)", bearer: token)
        #expect(reply.outcome == "401 InvalidSession")
      }
      // None of these requests has ended the session.
      #expect(try await client.profile(user.accessToken).status == 200)
      #expect(try await client.refresh(user).status == 201)
    }
  }
}
