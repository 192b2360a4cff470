import Foundation
import RealmSwift
import Testing

@testable import Accounts

@Suite struct EmailPasswordTests {
  @Test func `a registered user can log in after the address is confirmed`() async throws {
    let world = try World()
    let accounts = try await world.open()
    let id = try await accounts.register(email: "ann@example.com", password: "secret-1", address: "a")
    #expect(await refusal { try await accounts.logIn("ann@example.com", "secret-1") } == .authError)
    let message = try #require(world.messenger.last(.confirm))
    #expect(message.userID == id && message.email == "ann@example.com" && message.app == "app-1")
    try await accounts.confirm(token: message.token, tokenID: message.tokenID)
    let logIn = try await accounts.logIn("ann@example.com", "secret-1")
    #expect(logIn.userID == id && logIn.account.isConfirmed && logIn.account.email == "ann@example.com")
    #expect(logIn.account.identities.map(\.provider) == [.emailPassword])
    #expect(logIn.account.lastLogIn == world.clock.now)
  }

  @Test func `a confirmation token works once, for one user, for a day`() async throws {
    let world = try World()
    let accounts = try await world.open()
    try await accounts.register(email: "ann@example.com", password: "secret-1", address: "a")
    let first = try #require(world.messenger.last(.confirm))
    try await accounts.register(email: "bob@example.com", password: "secret-1", address: "a")
    let second = try #require(world.messenger.last(.confirm))
    for (token, id) in [
      (first.token, second.tokenID), (second.token, first.tokenID), ("", first.tokenID), (first.token, ""),
      (sloppy(first.token), first.tokenID), (first.tokenID, first.token),
      (String(repeating: "a", count: 1 << 20), first.tokenID),
      (first.token, String(repeating: "0", count: 1 << 20)),
    ] {
      #expect(await refusal { try await accounts.confirm(token: token, tokenID: id) } == .badRequest)
    }
    #expect(
      await refusal {
        try await accounts.reset(token: first.token, tokenID: first.tokenID, password: "secret-2")
      } == .badRequest)
    world.clock.advance(24 * 60 * 60 - 1)
    try await accounts.confirm(token: first.token, tokenID: first.tokenID)
    #expect(
      await refusal { try await accounts.confirm(token: first.token, tokenID: first.tokenID) } == .badRequest)
    world.clock.advance(1)
    #expect(
      await refusal { try await accounts.confirm(token: second.token, tokenID: second.tokenID) }
        == .badRequest)
    try await accounts.purge()
    #expect(try await accounts.read { records in records.realm.objects(StoredMessageToken.self).isEmpty })
  }

  @Test func `the confirmation message can be sent again`() async throws {
    let world = try World()
    let accounts = try await world.open()
    try await accounts.register(email: "ann@example.com", password: "secret-1", address: "a")
    let first = try #require(world.messenger.last(.confirm))
    try await accounts.resendConfirmation(email: " ANN@example.com", address: "a")
    try await accounts.retryCustomConfirmation(email: "ann@example.com", address: "a")
    #expect(world.messenger.all.count == 3 && Set(world.messenger.all.map(\.token)).count == 3)
    #expect(
      await refusal { try await accounts.resendConfirmation(email: "bob@example.com", address: "a") }
        == .userNotFound)
    try await accounts.confirm(token: first.token, tokenID: first.tokenID)
    let last = try #require(world.messenger.last(.confirm))
    #expect(
      await refusal { try await accounts.confirm(token: last.token, tokenID: last.tokenID) } == .badRequest)
    #expect(
      await refusal { try await accounts.resendConfirmation(email: "ann@example.com", address: "a") }
        == .userAlreadyConfirmed)
  }

  @Test func `users are confirmed at once if the app says so`() async throws {
    let world = try World()
    let accounts = try await world.open { $0.autoConfirm = true }
    try await accounts.register(email: "ann@example.com", password: "secret-1", address: "a")
    #expect(await refusal { try await accounts.logIn("ann@example.com", "secret-1") } == nil)
    #expect(world.messenger.all.isEmpty)
  }

  @Test func `addresses are compared without spaces and case`() async throws {
    let world = try World()
    let accounts = try await world.open { $0.autoConfirm = true }
    let id = try await accounts.register(email: " Ann@Example.COM\n", password: "secret-1", address: "a")
    #expect(try await accounts.logIn("ann@example.com", "secret-1").userID == id)
    #expect(try await accounts.logIn("ANN@EXAMPLE.COM ", "secret-1").userID == id)
    #expect(try await accounts.user(email: "aNN@example.com").id == id)
    #expect(
      await refusal {
        try await accounts.register(email: "ann@EXAMPLE.com", password: "secret-2", address: "a")
      } == .accountNameInUse)
    // This address has the same letter, with its accent as a separate scalar.
    let accented = try await accounts.register(
      email: "ren\u{e9}@example.com", password: "secret-1", address: "a")
    #expect(try await accounts.logIn("rene\u{301}@example.com", "secret-1").userID == accented)
    #expect(accented != id)
  }

  @Test func `only one of two registrations of one address at the same time succeeds`() async throws {
    let world = try World()
    let accounts = try await world.open { $0.autoConfirm = true }
    let codes = await withTaskGroup(of: AccountError.Code?.self) { group in
      for number in 0..<8 {
        group.addTask {
          await refusal {
            try await accounts.register(
              email: "ann@example.com", password: "secret-\(number)", address: "a")
          }
        }
      }
      var codes: [AccountError.Code?] = []
      for await code in group { codes.append(code) }
      return codes
    }
    #expect(codes.filter { $0 == nil }.count == 1)
    #expect(codes.filter { $0 == .accountNameInUse }.count == 7)
    #expect(try await accounts.users().count == 1)
  }

  @Test func `a password is the same however its letters are composed`() async throws {
    let world = try World()
    let accounts = try await world.open { $0.autoConfirm = true }
    try await accounts.register(email: "ann@example.com", password: "pass\u{e9}word", address: "a")
    #expect(await refusal { try await accounts.logIn("ann@example.com", "passe\u{301}word") } == nil)
  }

  @Test func `an invalid address or password is refused`() async throws {
    let world = try World()
    let accounts = try await world.open { $0.autoConfirm = true }
    for email in [
      "", " ", "ann", "@", "ann@", "@example.com", "a@b@c", "a b@example.com", "a\u{0}@example.com",
      "a\n@example.com", "a,b@example.com", "<a@example.com>", "a\u{202e}@example.com", "\"a\"@example.com",
      String(repeating: "a", count: 65) + "@example.com", "a@" + String(repeating: "b", count: 253),
      String(repeating: "a", count: 1 << 20),
    ] {
      #expect(
        await refusal { try await accounts.register(email: email, password: "secret-1", address: "a") }
          == .invalidParameter)
      #expect(await refusal { try await accounts.logIn(email, "secret-1") } == .invalidPassword)
    }
    let endless = String(repeating: "\u{301}", count: 1 << 20)
    for password in ["", "12345", String(repeating: "a", count: 129), endless] {
      #expect(
        await refusal {
          try await accounts.register(email: "ann@example.com", password: password, address: "a")
        } == .invalidParameter)
    }
    let longest = String(repeating: "\u{1f600}", count: 128)
    for (number, password) in ["123456", longest, "a\u{0}bcde"].enumerated() {
      let email = "ann\(number)@example.com"
      try await accounts.register(email: email, password: password, address: "a")
      #expect(await refusal { try await accounts.logIn(email, password) } == nil)
    }
    // The characters after a zero byte also count.
    #expect(await refusal { try await accounts.logIn("ann2@example.com", "a\u{0}bcdX") } == .invalidPassword)
  }

  @Test func `a user stays if the confirmation message could not be sent`() async throws {
    let world = try World()
    let accounts = try await world.open()
    world.messenger.setFails(true)
    #expect(
      await refusal {
        try await accounts.register(email: "ann@example.com", password: "secret-1", address: "a")
      } == .serviceUnavailable)
    world.messenger.setFails(false)
    try await accounts.resendConfirmation(email: "ann@example.com", address: "a")
    let message = try #require(world.messenger.last(.confirm))
    try await accounts.confirm(token: message.token, tokenID: message.tokenID)
    #expect(await refusal { try await accounts.logIn("ann@example.com", "secret-1") } == nil)
  }

  @Test func `a provider that is switched off is refused with its name`() async throws {
    let world = try World()
    let accounts = try await world.open { $0.providers = [.anonymous] }
    let refused = await thrown { try await accounts.logIn("ann@example.com", "secret-1") }
    #expect(refused?.code == .authProviderNotFound && refused?.message.contains("local-userpass") == true)
    #expect(
      await refusal {
        try await accounts.register(email: "ann@example.com", password: "secret-1", address: "a")
      } == .authProviderNotFound)
    #expect(await refusal { try await accounts.logInAnonymously() } == nil)
  }
}
