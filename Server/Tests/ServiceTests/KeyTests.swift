import Foundation
import Service
import Testing

@Suite(.timeLimit(.minutes(3))) struct KeyTests {
  private struct Key: Decodable, Equatable {
    let _id: String
    let name: String
    let disabled: Bool
    let key: String?
  }

  private func logIn(_ client: Client, _ key: String) async throws -> Reply {
    try await client.logIn("api-key", ["key": key])
  }

  @Test func `a user makes, lists and removes keys`() async throws {
    let place = try Place()
    try await withServer(place) { server in
      let client = try await Client.connect(to: server.port)
      let user = try await logIn(client, place.serverKey("robot", server)).decoded(LoggedIn.self)
      let token = user.accessToken
      #expect(try await client.ask("GET \(Address.keys)", bearer: token).text == "[]")
      let reply = try await client.post(Address.keys, ["name": "phone"], bearer: token)
      #expect(reply.status == 201)
      let made = try reply.decoded(Key.self)
      #expect(made.name == "phone" && !made.disabled)
      #expect(made.key?.hasPrefix("rk_") == true)
      let twice = try await client.post(Address.keys, ["name": "phone"], bearer: token)
      #expect(twice.outcome == "409 APIKeyAlreadyExists")
      #expect(try await client.post(Address.keys, bearer: token).outcome == "400 MissingParameter")
      let bad = try await client.post(Address.keys, ["name": ""], bearer: token)
      #expect(bad.outcome == "400 InvalidParameter")
      // The key itself is shown only once.
      let known = Key(_id: made._id, name: "phone", disabled: false, key: nil)
      let all = try await client.ask("GET \(Address.keys)", bearer: token)
      #expect(try all.decoded([Key].self) == [known])
      let one = "\(Address.keys)/\(made._id)"
      #expect(try await client.ask("GET \(one)", bearer: token).decoded(Key.self) == known)
      #expect(try await client.ask("DELETE \(one)", bearer: token).status == 204)
      #expect(try await client.ask("GET \(one)", bearer: token).outcome == "404 ValueNotFound")
      #expect(try await client.ask("DELETE \(one)", bearer: token).outcome == "404 ValueNotFound")
      let unknown = "GET \(Address.keys)/elsewhere"
      #expect(try await client.ask(unknown, bearer: token).outcome == "404 ValueNotFound")
      #expect(try await client.ask("PUT \(one)/elsewhere", bearer: token).outcome == "404 NotFound")
    }
  }

  @Test func `a key logs in until it is disabled, and its sessions end then`() async throws {
    let place = try Place()
    try await withServer(place) { server in
      let client = try await Client.connect(to: server.port)
      let owner = try await logIn(client, place.serverKey("robot", server)).decoded(LoggedIn.self)
      let made = try await client.post(Address.keys, ["name": "phone"], bearer: owner.accessToken)
      let key = try made.decoded(Key.self)
      let text = try #require(key.key)
      let user = try await logIn(client, text).decoded(LoggedIn.self)
      #expect(user.userId == owner.userId)
      let one = "\(Address.keys)/\(key._id)"
      let disabled = try await client.ask("PUT \(one)/disable", bearer: owner.accessToken)
      #expect(disabled.status == 204)
      #expect(try await logIn(client, text).outcome == "401 AuthError")
      #expect(try await client.refresh(user).outcome == "401 InvalidSession")
      #expect(try await client.refresh(owner).status == 201)
      let listed = try await client.ask("GET \(one)", bearer: owner.accessToken).decoded(Key.self)
      #expect(listed.disabled)
      let enabled = try await client.ask("PUT \(one)/enable", bearer: owner.accessToken)
      #expect(enabled.status == 204)
      #expect(try await logIn(client, text).status == 200)
      for wrong in ["", "rk_", "rk_1", String(text.dropLast()), text + "A", String(text.dropFirst(3))] {
        #expect(try await logIn(client, wrong).outcome == "401 AuthError")
      }
    }
  }

  @Test func `an anonymous user has no keys`() async throws {
    try await withServer(Place()) { server in
      let client = try await Client.connect(to: server.port)
      let token = try await client.logInAnonymously().accessToken
      let made = try await client.post(Address.keys, ["name": "phone"], bearer: token)
      #expect(made.outcome == "401 AuthError")
      #expect(try await client.ask("GET \(Address.keys)", bearer: token).outcome == "401 AuthError")
    }
  }
}
