import Foundation
import RealmSwift
import Testing

@testable import Accounts

@Suite struct AdministrationTests {
  @Test func `users are listed page by page, in the order of their creation`() async throws {
    let world = try World()
    let accounts = try await world.open()
    var made: [String] = []
    for _ in 0..<5 { made.append(try await accounts.logInAnonymously().userID) }
    var listed: [String] = []
    while true {
      let page = try await accounts.users(after: listed.last, limit: 2)
      if page.isEmpty { break }
      #expect(page.count <= 2)
      listed += page.map(\.id)
    }
    #expect(listed == made)
    for (last, limit) in [(nil, 0), (nil, -1), (nil, 1001), ("x", 10)] as [(String?, Int)] {
      #expect(await refusal { try await accounts.users(after: last, limit: limit) } == .invalidParameter)
    }
  }

  @Test func `users are found by id and by e-mail address`() async throws {
    let world = try World()
    let accounts = try await world.open { $0.autoConfirm = true }
    let id = try await accounts.registerConfirmed("ann@example.com", "secret-1")
    #expect(try await accounts.user(id).email == "ann@example.com")
    #expect(try await accounts.user(email: "Ann@example.com").id == id)
    #expect(try await accounts.user(id).createdAt == world.clock.now)
    #expect(try await accounts.user(id).lastLogIn == nil)
    #expect(await refusal { try await accounts.user(email: "bob@example.com") } == .userNotFound)
    #expect(await refusal { try await accounts.user(email: "bob") } == .invalidParameter)
  }

  @Test func `a request about an unknown user is refused`() async throws {
    let world = try World()
    let accounts = try await world.open()
    let revocations = RevocationList(accounts)
    let endless = String(repeating: "0", count: 1 << 20)
    for id in ["", "x", "0123456789abcdef01234567", "0123456789ABCDEF01234567", endless] {
      #expect(await refusal { try await accounts.user(id) } == .userNotFound)
      #expect(await refusal { try await accounts.disableUser(id) } == .userNotFound)
      #expect(await refusal { try await accounts.enableUser(id) } == .userNotFound)
      #expect(await refusal { try await accounts.deleteUser(id) } == .userNotFound)
      #expect(await refusal { try await accounts.revokeSessions(of: id) } == .userNotFound)
      #expect(await refusal { try await accounts.setRoles([], of: id) } == .userNotFound)
      #expect(await refusal { try await accounts.setCustomData("{}", of: id) } == .userNotFound)
      #expect(await refusal { try await accounts.setPassword("secret-1", of: id) } == .userNotFound)
      #expect(await refusal { try await accounts.confirmUser(id) } == .userNotFound)
    }
    #expect(revocations.all.isEmpty)
  }

  @Test func `roles are set in their order, and each of them once`() async throws {
    let world = try World()
    let accounts = try await world.open()
    let logIn = try await accounts.logInAnonymously()
    try await accounts.setRoles(["editor", "reader", "editor"], of: logIn.userID)
    #expect(try await accounts.verify(logIn.accessToken).account.roles == ["editor", "reader"])
    try await accounts.setRoles(["admin"], of: logIn.userID)
    #expect(try await accounts.user(logIn.userID).roles == ["admin"])
    for roles in [[""], [String(repeating: "a", count: 129)], ["a\u{0}"], (0..<65).map { "role \($0)" }] {
      #expect(await refusal { try await accounts.setRoles(roles, of: logIn.userID) } == .invalidParameter)
    }
    try await accounts.setRoles([], of: logIn.userID)
    #expect(try await accounts.user(logIn.userID).roles.isEmpty)
  }

  @Test func `custom data is a JSON object of limited size`() async throws {
    let world = try World()
    let accounts = try await world.open()
    let id = try await accounts.logInAnonymously().userID
    let deep = "{\"a\":" + String(repeating: "[", count: 600) + String(repeating: "]", count: 600) + "}"
    for json in [
      "", "null", "[]", "\"a\"", "{", "{}{}", "{},{}", "{}],[{}", "\u{feff}{}", "{\"a\":}", "{a:1}",
      "{'a':1}", "{\"a\":1}}", deep, "{\"a\":\"" + String(repeating: "a", count: 4096) + "\"}",
    ] {
      #expect(await refusal { try await accounts.setCustomData(json, of: id) } == .invalidParameter)
    }
    try await accounts.setCustomData("{\"a\":[1,{\"b\":null}]}", of: id)
    #expect(try await accounts.user(id).customData == "{\"a\":[1,{\"b\":null}]}")
    try await accounts.setCustomData(nil, of: id)
    #expect(try await accounts.user(id).customData == nil)
  }

  @Test func `tokens with any accepted custom data are accepted`() async throws {
    let world = try World()
    let accounts = try await world.open()
    let logIn = try await accounts.logInAnonymously()
    var accepted = 0
    for depth in stride(from: 400, through: 560, by: 1) {
      let json = "{\"a\":" + String(repeating: "[", count: depth) + String(repeating: "]", count: depth) + "}"
      let code = await refusal { try await accounts.setCustomData(json, of: logIn.userID) }
      guard code == nil else { continue }
      accepted += 1
      let token = try await accounts.refresh(logIn.refreshToken)
      #expect(await refusal { try await accounts.verify(token) } == nil, "\(depth)")
    }
    #expect(accepted > 0)
  }

  @Test func `an administrator sets a password, which ends the sessions`() async throws {
    let world = try World()
    let accounts = try await world.open { $0.autoConfirm = true }
    let revocations = RevocationList(accounts)
    let id = try await accounts.registerConfirmed("ann@example.com", "secret-1")
    let logIn = try await accounts.logIn("ann@example.com", "secret-1")
    try await accounts.setPassword("secret-2", of: id)
    #expect(await refusal { try await accounts.verify(logIn.accessToken) } == .invalidSession)
    #expect(revocations.all == [Revocation(userID: id, sessionID: nil, reason: .sessionsRevoked)])
    #expect(await refusal { try await accounts.logIn("ann@example.com", "secret-1") } == .invalidPassword)
    #expect(await refusal { try await accounts.logIn("ann@example.com", "secret-2") } == nil)
    #expect(await refusal { try await accounts.setPassword("short", of: id) } == .invalidParameter)
    let anonymous = try await accounts.logInAnonymously().userID
    #expect(await refusal { try await accounts.setPassword("secret-1", of: anonymous) } == .invalidParameter)
  }

  @Test func `an administrator confirms users if no messages are sent`() async throws {
    let world = try World()
    let accounts = try await world.open { $0.messenger = nil }
    let id = try await accounts.register(email: "ann@example.com", password: "secret-1", address: "a")
    #expect(await refusal { try await accounts.logIn("ann@example.com", "secret-1") } == .authError)
    #expect(
      await refusal { try await accounts.resendConfirmation(email: "ann@example.com", address: "a") }
        == .serviceUnavailable)
    try await accounts.confirmUser(id)
    #expect(await refusal { try await accounts.logIn("ann@example.com", "secret-1") } == nil)
    #expect(await refusal { try await accounts.confirmUser(id) } == .userAlreadyConfirmed)
  }

  @Test func `a user who is disabled can't log in, and hears the reason only with the right password`()
    async throws
  {
    let world = try World()
    let accounts = try await world.open { $0.autoConfirm = true }
    let id = try await accounts.registerConfirmed("ann@example.com", "secret-1")
    try await accounts.disableUser(id)
    #expect(await refusal { try await accounts.logIn("ann@example.com", "secret-1") } == .userDisabled)
    #expect(await refusal { try await accounts.logIn("ann@example.com", "wrong-1") } == .invalidPassword)
    try await accounts.enableUser(id)
    #expect(await refusal { try await accounts.logIn("ann@example.com", "secret-1") } == nil)
  }

  @Test func `expired data is removed once in an hour in which the file is written`() async throws {
    let world = try World()
    let accounts = try await world.open()
    _ = try await accounts.logInAnonymously()
    world.clock.advance(61 * 24 * 60 * 60)
    _ = try await accounts.logInAnonymously()
    #expect(try await accounts.read { records in records.realm.objects(StoredSession.self).count } == 1)
  }
}
