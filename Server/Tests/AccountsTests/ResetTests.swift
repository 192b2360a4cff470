import Foundation
import RealmSwift
import Testing

@testable import Accounts

@Suite struct ResetTests {
  /// Asks for a reset of a password.
  ///
  /// - Returns: The message that was sent.
  private func resetMessage(_ email: String, _ accounts: Accounts, _ world: World) async throws -> Message? {
    let known = world.messenger.all.count
    try await accounts.sendReset(email: email, address: "a")
    await accounts.deliveries.settle()
    return world.messenger.all.count > known ? world.messenger.last(.reset) : nil
  }

  @Test func `a reset sets the password, and ends all sessions`() async throws {
    let world = try World()
    let accounts = try await world.open { $0.autoConfirm = true }
    let revocations = RevocationList(accounts)
    let id = try await accounts.registerConfirmed("ann@example.com", "secret-1")
    let logIn = try await accounts.logIn("ann@example.com", "secret-1")
    let message = try #require(try await resetMessage("Ann@example.com", accounts, world))
    #expect(message.userID == id && message.email == "ann@example.com")
    try await accounts.reset(token: message.token, tokenID: message.tokenID, password: "secret-2")
    #expect(await refusal { try await accounts.refresh(logIn.refreshToken) } == .invalidSession)
    #expect(await refusal { try await accounts.verify(logIn.accessToken) } == .invalidSession)
    #expect(revocations.all == [Revocation(userID: id, sessionID: nil, reason: .sessionsRevoked)])
    #expect(await refusal { try await accounts.logIn("ann@example.com", "secret-1") } == .invalidPassword)
    #expect(await refusal { try await accounts.logIn("ann@example.com", "secret-2") } == nil)
  }

  @Test func `a reset token works once, and for 30 minutes`() async throws {
    let world = try World()
    let accounts = try await world.open { $0.autoConfirm = true }
    try await accounts.registerConfirmed("ann@example.com", "secret-1")
    let first = try #require(try await resetMessage("ann@example.com", accounts, world))
    let second = try #require(try await resetMessage("ann@example.com", accounts, world))
    #expect(
      await refusal {
        try await accounts.reset(token: first.token, tokenID: second.tokenID, password: "secret-2")
      } == .badRequest)
    #expect(
      await refusal { try await accounts.confirm(token: first.token, tokenID: first.tokenID) } == .badRequest)
    #expect(
      await refusal {
        try await accounts.reset(token: first.token, tokenID: first.tokenID, password: "short")
      } == .invalidParameter)
    world.clock.advance(30 * 60 - 1)
    try await accounts.reset(token: first.token, tokenID: first.tokenID, password: "secret-2")
    for used in [first, second] {
      #expect(
        await refusal {
          try await accounts.reset(token: used.token, tokenID: used.tokenID, password: "secret-3")
        } == .badRequest)
    }
    let third = try #require(try await resetMessage("ann@example.com", accounts, world))
    world.clock.advance(30 * 60)
    #expect(
      await refusal {
        try await accounts.reset(token: third.token, tokenID: third.tokenID, password: "secret-3")
      } == .badRequest)
    #expect(await refusal { try await accounts.logIn("ann@example.com", "secret-2") } == nil)
  }

  @Test func `a reset of the password also confirms the address`() async throws {
    let world = try World()
    let accounts = try await world.open()
    try await accounts.register(email: "ann@example.com", password: "secret-1", address: "a")
    let message = try #require(try await resetMessage("ann@example.com", accounts, world))
    try await accounts.reset(token: message.token, tokenID: message.tokenID, password: "secret-2")
    #expect(await refusal { try await accounts.logIn("ann@example.com", "secret-2") } == nil)
  }

  @Test func `a reset for an unknown address has the same answer, and sends no message`() async throws {
    let world = try World()
    let accounts = try await world.open { $0.autoConfirm = true }
    #expect(try await resetMessage("nobody@example.com", accounts, world) == nil)
    let id = try await accounts.registerConfirmed("ann@example.com", "secret-1")
    try await accounts.disableUser(id)
    #expect(try await resetMessage("ann@example.com", accounts, world) == nil)
    #expect(try await accounts.read { records in records.realm.objects(StoredMessageToken.self).isEmpty })
    #expect(
      await refusal { try await accounts.sendReset(email: "nobody", address: "a") } == .invalidParameter)
    await accounts.close()
    let silent = try await world.open { $0.messenger = nil }
    #expect(
      await refusal { try await silent.sendReset(email: "nobody@example.com", address: "a") }
        == .serviceUnavailable)
  }

  @Test func `a reset forgets the earlier wrong passwords`() async throws {
    let world = try World()
    let accounts = try await world.open { $0.autoConfirm = true }
    try await accounts.registerConfirmed("ann@example.com", "secret-1")
    for _ in 0..<10 { _ = await refusal { try await accounts.logIn("ann@example.com", "wrong-1") } }
    #expect(await refusal { try await accounts.logIn("ann@example.com", "secret-1") } == .tooManyRequests)
    let message = try #require(try await resetMessage("ann@example.com", accounts, world))
    try await accounts.reset(token: message.token, tokenID: message.tokenID, password: "secret-2")
    #expect(await refusal { try await accounts.logIn("ann@example.com", "secret-2") } == nil)
  }
}
