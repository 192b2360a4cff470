import Foundation
import Service
import Testing

@Suite(.timeLimit(.minutes(3))) struct EmailTests {
  private static let register = Address.provider("local-userpass", "register")
  private static let ann = "ann@example.com"
  private static let password = "a long secret"

  private func fields(_ email: String, _ password: String = Self.password) -> [String: String] {
    ["email": email, "password": password]
  }

  private func logIn(
    _ client: Client, _ email: String, _ password: String = Self.password
  ) async throws -> Reply {
    try await client.logIn("local-userpass", ["username": email, "password": password])
  }

  private func link(_ client: Client, _ email: String, to token: String?) async throws -> Reply {
    let address = Address.provider("local-userpass", "login") + "?link=true"
    return try await client.post(address, ["username": email, "password": Self.password], bearer: token)
  }

  @Test func `an address is registered once, and logs in only with its password`() async throws {
    try await withServer(Place()) { server in
      let client = try await Client.connect(to: server.port)
      let made = try await client.post(Self.register, fields(Self.ann))
      #expect(made.status == 201)
      #expect(made.text == "{}")
      // Capital letters do not make another address.
      let again = try await client.post(Self.register, fields("Ann@Example.com"))
      #expect(again.outcome == "409 AccountNameInUse")
      let wrong = try await logIn(client, Self.ann, "another secret")
      #expect(wrong.outcome == "401 InvalidPassword")
      #expect(!wrong.text.contains("another secret"))
      let user = try await logIn(client, Self.ann).decoded(LoggedIn.self)
      let profile = try await client.profile(user.accessToken).decoded(Profile.self)
      #expect(profile.userId == user.userId)
      #expect(profile.providers == ["local-userpass"])
      #expect(profile.data.email == Self.ann)
      #expect(try await client.refresh(user).status == 201)
    }
  }

  @Test func `an anonymous user gets an address, and stays the same user`() async throws {
    try await withServer(Place()) { server in
      let client = try await Client.connect(to: server.port)
      #expect(try await client.post(Self.register, fields(Self.ann)).status == 201)
      let user = try await client.logInAnonymously()
      #expect(try await link(client, Self.ann, to: nil).outcome == "401 InvalidSession")
      let linked = try await link(client, Self.ann, to: user.accessToken).decoded(LoggedIn.self)
      #expect(linked.userId == user.userId)
      let profile = try await client.profile(linked.accessToken).decoded(Profile.self)
      #expect(profile.providers == ["anon-user", "local-userpass"])
      #expect(profile.data.email == Self.ann)
      // Both refresh tokens belong to the session.
      #expect(try await client.refresh(user).status == 201)
      #expect(try await client.refresh(linked).status == 201)
      #expect(try await logIn(client, Self.ann).decoded(LoggedIn.self).userId == user.userId)
      // The address is in use now.
      let other = try await client.logInAnonymously()
      #expect(try await link(client, Self.ann, to: other.accessToken).outcome == "409 AccountNameInUse")
      let anonymous = Address.provider("anon-user", "login") + "?link=true"
      let reply = try await client.post(anonymous, bearer: other.accessToken)
      #expect(reply.outcome == "400 InvalidParameter")
    }
  }

  @Test func `no message is sent without a messenger`() async throws {
    try await withServer(Place()) { server in
      let client = try await Client.connect(to: server.port)
      for path in ["confirm/send", "confirm/call", "reset/send"] {
        let reply = try await client.post(Address.provider("local-userpass", path), ["email": Self.ann])
        #expect(reply.outcome == "503 ServiceUnavailable", "\(path)")
      }
      let token = ["token": "a", "tokenId": "b", "password": Self.password]
      for path in ["confirm", "reset"] {
        let reply = try await client.post(Address.provider("local-userpass", path), token)
        #expect(reply.outcome == "400 BadRequest", "\(path)")
      }
    }
  }

  @Test func `a user who is not confirmed can't log in before an administrator confirms the user`()
    async throws
  {
    let definition = "id: dev\ndevelopment: true\nproviders: [email-password]\n"
    let place = try Place(["dev": definition])
    try await withServer(place) { server in
      let client = try await Client.connect(to: server.port)
      #expect(try await client.post(Self.register, fields(Self.ann)).status == 201)
      #expect(try await logIn(client, Self.ann).outcome == "401 AuthError")
      let lines = await place.ask(.users(app: "dev", after: nil), server).lines
      let line = try #require(lines.first)
      #expect(line.contains("not confirmed"))
      let id = String(line.prefix(24))
      #expect(await !place.ask(.confirm(app: "dev", user: id), server).isError)
      #expect(try await logIn(client, Self.ann).status == 200)
    }
  }
}
