import Foundation
import Service
import Testing

@Suite(.timeLimit(.minutes(3))) struct LogInTests {
  @Test func `an anonymous user logs in, gets another token, and logs out`() async throws {
    try await withServer(Place()) { server in
      let client = try await Client.connect(to: server.port)
      let user = try await client.logInAnonymously()
      let profile = try await client.profile(user.accessToken)
      #expect(profile.status == 200)
      let told = try profile.decoded(Profile.self)
      #expect(told.userId == user.userId)
      #expect(told.providers == ["anon-user"])
      #expect(told.data.email == nil)
      let refreshed = try await client.refresh(user)
      #expect(refreshed.status == 201)
      let token = try refreshed.decoded(Refreshed.self).accessToken
      #expect(try await client.profile(token).status == 200)
      let end = try await client.logOut(user)
      #expect(end.status == 204)
      #expect(end.body.isEmpty)
      #expect(try await client.refresh(user).outcome == "401 InvalidSession")
      #expect(try await client.profile(user.accessToken).outcome == "401 InvalidSession")
      #expect(try await client.profile(token).outcome == "401 InvalidSession")
      #expect(try await client.logOut(user).outcome == "401 InvalidSession")
    }
  }

  @Test func `each anonymous log-in makes a user, on the device that it names`() async throws {
    try await withServer(Place()) { server in
      let client = try await Client.connect(to: server.port)
      let first = try await client.logInAnonymously()
      let address = Address.provider("anon-user", "login")
      let device = #"{"options":{"device":{"deviceId":"\#(first.deviceId)","platform":"linux","age":3}}}"#
      let second = try await client.ask("POST \(address)", body: device).decoded(LoggedIn.self)
      #expect(first.userId != second.userId)
      #expect(first.deviceId == second.deviceId)
      // The id of another server and a name that can't be shown are not reasons to refuse.
      let other = #"{"options":{"device":{"deviceId":"mine","deviceName":"\u202Ephone 👩‍💻"}}}"#
      #expect(try await client.ask("POST \(address)", body: other).status == 200)
      for (id, name) in [("0123456789ABCDEF01234567", "phone"), (first.deviceId, #"\u2028"#)] {
        let told = #"{"options":{"device":{"deviceId":"\#(id)","deviceName":"\#(name)"}}}"#
        #expect(try await client.ask("POST \(address)", body: told).status == 200, "\(told)")
      }
      // The log-in also works without a body, and with a body that lacks the optional parts.
      for body in ["", "{}", #"{"options":1}"#, #"{"options":{"device":[]}}"#] {
        #expect(try await client.ask("POST \(address)", body: body).status == 200)
      }
    }
  }

  @Test func `a user is deleted with all its tokens`() async throws {
    try await withServer(Place()) { server in
      let client = try await Client.connect(to: server.port)
      let user = try await client.logInAnonymously()
      let gone = try await client.ask("DELETE \(Address.delete)", bearer: user.accessToken)
      #expect(gone.status == 204)
      #expect(try await client.profile(user.accessToken).outcome == "401 InvalidSession")
      #expect(try await client.refresh(user).outcome == "401 InvalidSession")
    }
  }

  private struct Location: Decodable {
    let hostname: String
    let wsHostname: String
    let syncRoute: String
  }

  @Test func `clients are told the address that they asked, or the public one`() async throws {
    let place = try Place()
    let address = Address.app("location")
    try await withServer(place) { server in
      let client = try await Client.connect(to: server.port)
      let reply = try await client.ask("GET \(address)")
      #expect(reply.status == 200)
      #expect(reply.headers["content-type"] == "application/json")
      let location = try reply.decoded(Location.self)
      #expect(location.hostname == "http://localhost")
      #expect(location.wsHostname == "ws://localhost")
      #expect(location.syncRoute == "ws://localhost\(Address.app("realm-sync"))")
    }
    try await withServer(place, settings: { $0.publicAddress = "https://sync.example.org" }) { server in
      let client = try await Client.connect(to: server.port)
      let location = try await client.ask("GET \(address)").decoded(Location.self)
      #expect(location.hostname == "https://sync.example.org")
      #expect(location.wsHostname == "wss://sync.example.org")
      #expect(location.syncRoute == "wss://sync.example.org\(Address.app("realm-sync"))")
    }
  }

  @Test func `a token names the app of its user`() async throws {
    let place = try Place(["alpha": openDefinition("alpha"), "beta": openDefinition("beta")])
    try await withServer(place) { server in
      let client = try await Client.connect(to: server.port)
      for app in ["alpha", "beta"] {
        let user = try await client.logInAnonymously(to: app)
        let profile = try await client.profile(user.accessToken).decoded(Profile.self)
        #expect(profile.userId == user.userId)
        #expect(try await client.refresh(user).status == 201)
        #expect(try await client.logOut(user).status == 204)
        #expect(try await client.refresh(user).outcome == "401 InvalidSession")
      }
    }
  }

  @Test func `providers that are switched off or unknown are reported`() async throws {
    try await withServer(Place(["dev": openDefinition()])) { server in
      let client = try await Client.connect(to: server.port)
      let fields = ["username": "ann@example.com", "password": "secret-1", "key": "rk_1"]
      for provider in ["local-userpass", "api-key", "custom-token", "oauth2-google", "%F0%9F%90%95"] {
        let reply = try await client.logIn(provider, fields)
        #expect(reply.outcome == "404 AuthProviderNotFound", "\(provider)")
        #expect(!reply.text.contains("secret-1"))
      }
    }
  }
}
