import Foundation
import Testing

@testable import Accounts

@Suite struct LinkingTests {
  @Test func `an anonymous user gets an e-mail address, and keeps id and session`() async throws {
    let world = try World()
    let accounts = try await world.open { $0.autoConfirm = true }
    let anonymous = try await accounts.logInAnonymously()
    let registered = try await accounts.registerConfirmed("ann@example.com", "secret-1")
    let access = try await accounts.verify(anonymous.accessToken)
    let linked = try await accounts.logIn("ann@example.com", "secret-1", linkTo: access)
    #expect(linked.userID == anonymous.userID && linked.sessionID == anonymous.sessionID)
    #expect(linked.account.identities.map(\.provider) == [.anonymous, .emailPassword])
    #expect(linked.account.email == "ann@example.com" && !linked.account.isAnonymous)
    #expect(Set(linked.account.identities.map(\.id)).count == 2)
    #expect(await refusal { try await accounts.user(registered) } == .userNotFound)
    #expect(try await accounts.logIn("ann@example.com", "secret-1").userID == anonymous.userID)
    #expect(try await accounts.users().count == 1)
  }

  @Test func `both refresh tokens of a linked session end with one log-out`() async throws {
    let world = try World()
    let accounts = try await world.open { $0.autoConfirm = true }
    let revocations = RevocationList(accounts)
    let anonymous = try await accounts.logInAnonymously()
    try await accounts.registerConfirmed("ann@example.com", "secret-1")
    let access = try await accounts.verify(anonymous.accessToken)
    let linked = try await accounts.logIn("ann@example.com", "secret-1", linkTo: access)
    for token in [anonymous.refreshToken, linked.refreshToken] {
      #expect(await refusal { try await accounts.refresh(token) } == nil)
    }
    try await accounts.logOut(anonymous.refreshToken)
    for token in [anonymous.refreshToken, linked.refreshToken] {
      #expect(await refusal { try await accounts.refresh(token) } == .invalidSession)
    }
    for token in [anonymous.accessToken, linked.accessToken] {
      #expect(await refusal { try await accounts.verify(token) } == .invalidSession)
    }
    #expect(revocations.all.count == 1)
  }

  @Test func `an identity with which another user has logged in can't be linked`() async throws {
    let world = try World()
    let accounts = try await world.open { $0.autoConfirm = true }
    try await accounts.registerConfirmed("ann@example.com", "secret-1")
    _ = try await accounts.logIn("ann@example.com", "secret-1")
    let anonymous = try await accounts.logInAnonymously()
    let access = try await accounts.verify(anonymous.accessToken)
    #expect(
      await refusal { try await accounts.logIn("ann@example.com", "secret-1", linkTo: access) }
        == .accountNameInUse)
    let key = try await accounts.createServerAPIKey(name: "robot")
    #expect(
      await refusal {
        try await accounts.logIn(.apiKey(key.key), address: Accounts.testAddress, linkTo: access)
      } == .accountNameInUse)
    #expect(try await accounts.user(anonymous.userID).identities.count == 1)
  }

  @Test func `a user with roles or data from an administrator is not merged into another user`() async throws
  {
    let world = try World()
    let accounts = try await world.open { $0.autoConfirm = true }
    let id = try await accounts.registerConfirmed("ann@example.com", "secret-1")
    try await accounts.setRoles(["editor"], of: id)
    let access = try await accounts.verify(try await accounts.logInAnonymously().accessToken)
    #expect(
      await refusal { try await accounts.logIn("ann@example.com", "secret-1", linkTo: access) }
        == .accountNameInUse)
    #expect(try await accounts.user(id).roles == ["editor"])
  }

  @Test func `only identities that are proved and confirmed can be linked`() async throws {
    let world = try World()
    let accounts = try await world.open()
    try await accounts.register(email: "ann@example.com", password: "secret-1", address: "a")
    let anonymous = try await accounts.logInAnonymously()
    let access = try await accounts.verify(anonymous.accessToken)
    #expect(
      await refusal { try await accounts.logIn("ann@example.com", "wrong-1", linkTo: access) }
        == .invalidPassword)
    #expect(
      await refusal { try await accounts.logIn("ann@example.com", "secret-1", linkTo: access) } == .authError)
    #expect(
      await refusal {
        try await accounts.logIn(.anonymous, address: Accounts.testAddress, linkTo: access)
      } == .invalidParameter)
    #expect(try await accounts.user(anonymous.userID).identities.count == 1)
  }

  @Test func `a user has one e-mail address, and a second link of it changes nothing`() async throws {
    let world = try World()
    let accounts = try await world.open { $0.autoConfirm = true }
    try await accounts.registerConfirmed("ann@example.com", "secret-1")
    try await accounts.registerConfirmed("bob@example.com", "secret-2")
    let logIn = try await accounts.logIn("ann@example.com", "secret-1")
    let access = try await accounts.verify(logIn.accessToken)
    #expect(
      await refusal { try await accounts.logIn("bob@example.com", "secret-2", linkTo: access) }
        == .invalidParameter)
    let again = try await accounts.logIn("ann@example.com", "secret-1", linkTo: access)
    #expect(again.userID == logIn.userID && again.account.identities.count == 1)
    #expect(await refusal { try await accounts.logIn("bob@example.com", "secret-2") } == nil)
  }

  @Test func `a session that has ended and a disabled user can't be linked`() async throws {
    let world = try World()
    let accounts = try await world.open { $0.autoConfirm = true }
    try await accounts.registerConfirmed("ann@example.com", "secret-1")
    let first = try await accounts.logInAnonymously()
    let ended = try await accounts.verify(first.accessToken)
    try await accounts.logOut(first.refreshToken)
    #expect(
      await refusal { try await accounts.logIn("ann@example.com", "secret-1", linkTo: ended) }
        == .invalidSession)
    let second = try await accounts.logInAnonymously()
    let disabled = try await accounts.verify(second.accessToken)
    try await accounts.disableUser(second.userID)
    #expect(
      await refusal { try await accounts.logIn("ann@example.com", "secret-1", linkTo: disabled) }
        == .userDisabled)
    #expect(await refusal { try await accounts.logIn("ann@example.com", "secret-1") } == nil)
  }
}
