import Foundation
import Testing

@testable import Accounts

@Suite struct APIKeyTests {
  private func logIn(_ key: Accounts.NewAPIKey, _ accounts: Accounts) async throws -> Accounts.LogIn {
    try await accounts.logIn(.apiKey(key.key), address: Accounts.testAddress)
  }

  @Test func `a key logs in the user who made it`() async throws {
    let world = try World()
    let accounts = try await world.open { $0.autoConfirm = true }
    let id = try await accounts.registerConfirmed("ann@example.com", "secret-1")
    let key = try await accounts.createAPIKey(name: "robot", for: id)
    #expect(key.key.hasPrefix("rk_") && key.key.count == 46 && key.info.name == "robot")
    let logIn = try await logIn(key, accounts)
    #expect(logIn.userID == id)
    #expect(try await accounts.verify(logIn.accessToken).userID == id)
    #expect(try await accounts.apiKeys(of: id) == [key.info])
    #expect(try await accounts.apiKey(key.info.id, of: id) == key.info)
  }

  @Test func `an unknown key is refused`() async throws {
    let world = try World()
    let accounts = try await world.open()
    let key = try await accounts.createServerAPIKey(name: "robot").key
    for forged in [
      "", "rk_", String(key.dropLast()), "\(key)=", sloppy(key), String(key.dropFirst(3)),
      "RK_\(key.dropFirst(3))",
      "rk_\(RandomSecret().text)", String(repeating: "a", count: 1 << 20),
    ] {
      #expect(
        await refusal { try await accounts.logIn(.apiKey(forged), address: "forger") } == .authError)
    }
  }

  @Test func `a key that is disabled logs no user in, and the sessions that it began end`() async throws {
    let world = try World()
    let accounts = try await world.open { $0.autoConfirm = true }
    let revocations = RevocationList(accounts)
    let id = try await accounts.registerConfirmed("ann@example.com", "secret-1")
    let key = try await accounts.createAPIKey(name: "robot", for: id)
    let (byKey, byPassword) = (
      try await logIn(key, accounts), try await accounts.logIn("ann@example.com", "secret-1")
    )
    try await accounts.disableAPIKey(key.info.id, of: id)
    #expect(try await accounts.apiKey(key.info.id, of: id).isDisabled)
    #expect(await refusal { try await logIn(key, accounts) } == .authError)
    #expect(await refusal { try await accounts.verify(byKey.accessToken) } == .invalidSession)
    #expect(await refusal { try await accounts.verify(byPassword.accessToken) } == nil)
    #expect(
      revocations.all == [Revocation(userID: id, sessionID: byKey.sessionID, reason: .sessionEnded)])
    try await accounts.enableAPIKey(key.info.id, of: id)
    #expect(await refusal { try await logIn(key, accounts) } == nil)
    try await accounts.deleteAPIKey(key.info.id, of: id)
    #expect(await refusal { try await logIn(key, accounts) } == .authError)
    #expect(await refusal { try await accounts.apiKey(key.info.id, of: id) } == .valueNotFound)
    #expect(revocations.all.count == 2)
  }

  @Test func `names of keys are checked, and are unique for each user`() async throws {
    let world = try World()
    let accounts = try await world.open { $0.autoConfirm = true }
    let ann = try await accounts.registerConfirmed("ann@example.com", "secret-1")
    let bob = try await accounts.registerConfirmed("bob@example.com", "secret-1")
    _ = try await accounts.createAPIKey(name: "robot", for: ann)
    _ = try await accounts.createAPIKey(name: "robot", for: bob)
    _ = try await accounts.createServerAPIKey(name: "robot")
    #expect(
      await refusal { try await accounts.createAPIKey(name: "robot", for: ann) } == .apiKeyAlreadyExists)
    #expect(await refusal { try await accounts.createServerAPIKey(name: "robot") } == .apiKeyAlreadyExists)
    let endless = String(repeating: "\u{301}", count: 1 << 20)
    for name in ["", String(repeating: "a", count: 129), "a\u{0}", "a\nb", endless] {
      #expect(await refusal { try await accounts.createAPIKey(name: name, for: ann) } == .invalidParameter)
      #expect(await refusal { try await accounts.createServerAPIKey(name: name) } == .invalidParameter)
    }
  }

  @Test func `only users who are not anonymous have keys, and each user sees only its own`() async throws {
    let world = try World()
    let accounts = try await world.open { $0.autoConfirm = true }
    let anonymous = try await accounts.logInAnonymously().userID
    #expect(await refusal { try await accounts.createAPIKey(name: "robot", for: anonymous) } == .authError)
    #expect(await refusal { try await accounts.apiKeys(of: anonymous) } == .authError)
    let ann = try await accounts.registerConfirmed("ann@example.com", "secret-1")
    let bob = try await accounts.registerConfirmed("bob@example.com", "secret-1")
    let key = try await accounts.createAPIKey(name: "robot", for: ann).info.id
    let server = try await accounts.createServerAPIKey(name: "robot").info
    for (id, owner) in [(key, bob), (server.id, ann), (server.id, server.userID), ("x", ann), ("", ann)] {
      #expect(await refusal { try await accounts.apiKey(id, of: owner) } == .valueNotFound)
      #expect(await refusal { try await accounts.enableAPIKey(id, of: owner) } == .valueNotFound)
      #expect(await refusal { try await accounts.disableAPIKey(id, of: owner) } == .valueNotFound)
      #expect(await refusal { try await accounts.deleteAPIKey(id, of: owner) } == .valueNotFound)
    }
    #expect(await refusal { try await accounts.disableServerAPIKey(key) } == .valueNotFound)
    #expect(await refusal { try await accounts.deleteServerAPIKey(key) } == .valueNotFound)
    #expect(try await accounts.apiKeys(of: bob).isEmpty)
    try await accounts.disableUser(ann)
    #expect(await refusal { try await accounts.apiKeys(of: ann) } == .userDisabled)
    #expect(await refusal { try await accounts.apiKeys(of: "nobody") } == .userNotFound)
  }

  @Test func `a user has at most a hundred keys`() async throws {
    let world = try World()
    let accounts = try await world.open { $0.autoConfirm = true }
    let id = try await accounts.registerConfirmed("ann@example.com", "secret-1")
    let now = world.clock.now
    try await accounts.write { records in
      let user = try records.existingUser(id)
      for number in 0..<99 {
        _ = try records.addKey("key \(number)", of: user, isServerKey: false, RandomSecret(), now)
      }
    }
    #expect(await refusal { try await accounts.createAPIKey(name: "the hundredth", for: id) } == nil)
    #expect(await refusal { try await accounts.createAPIKey(name: "one more", for: id) } == .badRequest)
    #expect(try await accounts.apiKeys(of: id).count == 100)
  }

  @Test func `a key of the server has a user of its own`() async throws {
    let world = try World()
    let accounts = try await world.open()
    let revocations = RevocationList(accounts)
    let key = try await accounts.createServerAPIKey(name: "robot")
    let first = try await logIn(key, accounts)
    #expect(first.userID == key.info.userID)
    #expect(first.account.identities.map(\.provider) == [.apiKey])
    #expect(try await accounts.serverAPIKeys() == [key.info])
    try await accounts.disableServerAPIKey(key.info.id)
    #expect(await refusal { try await logIn(key, accounts) } == .authError)
    #expect(await refusal { try await accounts.verify(first.accessToken) } == .invalidSession)
    try await accounts.enableServerAPIKey(key.info.id)
    #expect(try await logIn(key, accounts).userID == first.userID)
    try await accounts.disableUser(first.userID)
    #expect(await refusal { try await logIn(key, accounts) } == .userDisabled)
    try await accounts.deleteServerAPIKey(key.info.id)
    #expect(await refusal { try await logIn(key, accounts) } == .authError)
    #expect(await refusal { try await accounts.user(first.userID) } == .userNotFound)
    #expect(try await accounts.serverAPIKeys().isEmpty)
    #expect(revocations.all.map(\.reason) == [.sessionEnded, .userDisabled, .userDeleted])
  }
}
