import Foundation
import Synchronization
import Testing

@testable import RealmSwift

/// The requests about e-mail addresses and API keys.
@Suite struct ProviderClientTests {
  let world = AppWorld()

  private func last() throws -> FakeServer.Asked {
    try #require(world.server.state.withLock { $0.asked.last })
  }

  @Test func `each request about an address has its path and its fields`() async throws {
    let app = world.app()
    let auth = app.emailPasswordAuth
    let root = "POST /app/\(world.id)/auth/providers/local-userpass/"
    func expect(_ step: String, _ fields: [String: String]) throws {
      let asked = try last()
      #expect(asked.line == root + step && asked.token == nil)
      #expect(asked.fields as? [String: String] == fields)
    }
    try await auth.registerUser(email: "a", password: "b")
    try expect("register", ["email": "a", "password": "b"])
    try await auth.confirmUser("t", tokenId: "i")
    try expect("confirm", ["token": "t", "tokenId": "i"])
    try await auth.resendConfirmationEmail("a")
    try expect("confirm/send", ["email": "a"])
    try await auth.retryCustomConfirmation("a")
    try expect("confirm/call", ["email": "a"])
    try await auth.sendResetPasswordEmail("a")
    try expect("reset/send", ["email": "a"])
    try await auth.resetPassword(to: "p", token: "t", tokenId: "i")
    try expect("reset", ["password": "p", "token": "t", "tokenId": "i"])
    try await auth.callResetPasswordFunction(email: "a", password: "b", args: ["x", 5])
    let asked = try last()
    #expect(asked.line == root + "reset/call")
    #expect(
      asked.body
        == #"{"arguments":["x",{"$numberLong":"5"}],"email":"a","password":"b"}"#)
  }

  @Test func `an error of a request about an address is reported, in both forms`() async throws {
    let app = world.app()
    world.server.answer { $0.line.hasSuffix("/register") ? .error(409, "AccountNameInUse") : nil }
    let thrown = await appError { try await app.emailPasswordAuth.registerUser(email: "a", password: "b") }
    #expect(thrown?.code == .accountNameInUse)
    let told = await withCheckedContinuation { (continuation: CheckedContinuation<AppError?, Never>) in
      app.emailPasswordAuth.registerUser(email: "a", password: "b") { error in
        continuation.resume(returning: error as? AppError)
      }
    }
    #expect(told == thrown)
  }

  @Test func `API keys are made, found and changed with the access token`() async throws {
    let app = world.app()
    let user = try await app.login(credentials: AppWorld.ann)
    let auth = user.apiKeysAuth
    #expect(auth.app === app)
    let id = try ObjectId(string: "0123456789abcdef01234567")
    let key = #""_id": "0123456789abcdef01234567", "name": "build""#
    world.server.answer { asked in
      switch asked.line {
      case "POST /auth/api_keys":
        FakeServer.Reply(status: 201, body: "{\(key), \"disabled\": false, \"key\": \"rk_a\"}")
      case "GET /auth/api_keys": FakeServer.Reply(body: "[{\(key), \"disabled\": true}]")
      case "GET /auth/api_keys/0123456789abcdef01234567": FakeServer.Reply(body: "{\(key)}")
      default: asked.line.contains("api_keys") ? FakeServer.Reply(status: 204, body: "") : nil
      }
    }
    let made = try await auth.createAPIKey(named: "build")
    #expect(made.objectId == id && made.name == "build" && !made.disabled && made.key == "rk_a")
    let asked = world.server.state.withLock { $0.asked.last }
    #expect(asked?.text("name") == "build" && asked?.token == user.accessToken)
    let all = try await auth.fetchAPIKeys()
    #expect(all.count == 1 && all[0].disabled && all[0].key == nil)
    #expect(try await auth.fetchAPIKey(id).name == "build")
    try await auth.disableAPIKey(id)
    try await auth.enableAPIKey(id)
    try await auth.deleteAPIKey(id)
    #expect(
      world.server.lines.suffix(3) == [
        "PUT /auth/api_keys/0123456789abcdef01234567/disable",
        "PUT /auth/api_keys/0123456789abcdef01234567/enable",
        "DELETE /auth/api_keys/0123456789abcdef01234567",
      ])
    let count = await withCheckedContinuation { (continuation: CheckedContinuation<Int?, Never>) in
      auth.fetchAPIKeys { (keys: [UserAPIKey]?, _: (any Error)?) in
        continuation.resume(returning: keys?.count)
      }
    }
    #expect(count == 1)
  }

  @Test func `a key with an invalid id is not understood, and a user who is logged out has no keys`()
    async throws
  {
    let app = world.app()
    let user = try await app.login(credentials: AppWorld.ann)
    world.server.answer {
      $0.line == "GET /auth/api_keys" ? FakeServer.Reply(body: #"[{"_id": "5", "name": "a"}]"#) : nil
    }
    #expect(await appError { _ = try await user.apiKeysAuth.fetchAPIKeys() }?.code == .httpRequestFailed)
    try await user.logOut()
    #expect(await appError { _ = try await user.apiKeysAuth.fetchAPIKeys() }?.code == .unknown)
    #expect(world.server.count("GET /auth/api_keys") == 1)
  }
}
