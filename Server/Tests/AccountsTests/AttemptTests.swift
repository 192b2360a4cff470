import Foundation
import Testing

@testable import Accounts

@Suite struct AttemptTests {
  @Test func `a wrong password and an unknown address have the same error`() async throws {
    let world = try World()
    let accounts = try await world.open { $0.autoConfirm = true }
    try await accounts.registerConfirmed("ann@example.com", "secret-1")
    let wrong = await thrown { try await accounts.logIn("ann@example.com", "wrong-1") }
    let unknown = await thrown { try await accounts.logIn("bob@example.com", "secret-1") }
    #expect(wrong != nil && wrong == unknown && wrong?.code == .invalidPassword && wrong?.httpStatus == 401)
  }

  @Test func `an account is closed for ten minutes after ten wrong passwords, for every client`() async throws
  {
    let world = try World()
    let accounts = try await world.open { $0.autoConfirm = true }
    try await accounts.registerConfirmed("ann@example.com", "secret-1")
    try await accounts.registerConfirmed("bob@example.com", "secret-1")
    for _ in 0..<10 {
      #expect(await refusal { try await accounts.logIn("Ann@example.com", "wrong-1") } == .invalidPassword)
      world.clock.advance(1)
    }
    #expect(await refusal { try await accounts.logIn("ann@example.com", "secret-1") } == .tooManyRequests)
    #expect(
      await refusal { try await accounts.logIn("ann@example.com", "secret-1", from: "192.0.2.2") }
        == .tooManyRequests)
    #expect(await refusal { try await accounts.logIn("bob@example.com", "secret-1") } == nil)
    world.clock.advance(589)
    #expect(await refusal { try await accounts.logIn("ann@example.com", "secret-1") } == .tooManyRequests)
    world.clock.advance(1)
    #expect(await refusal { try await accounts.logIn("ann@example.com", "secret-1") } == nil)
  }

  @Test func `right passwords do not count as attempts`() async throws {
    let world = try World()
    let accounts = try await world.open { options in
      options.autoConfirm = true
      options.limits.failuresPerAccount = 2
      options.limits.failuresPerAddress = 2
    }
    try await accounts.registerConfirmed("ann@example.com", "secret-1")
    for _ in 0..<4 {
      #expect(await refusal { try await accounts.logIn("ann@example.com", "secret-1") } == nil)
    }
    #expect(await refusal { try await accounts.logIn("ann@example.com", "wrong-1") } == .invalidPassword)
    #expect(await refusal { try await accounts.logIn("ann@example.com", "secret-1") } == nil)
  }

  @Test func `an address is closed after its failures at any accounts, even with keys`() async throws {
    let world = try World()
    let accounts = try await world.open { $0.autoConfirm = true }
    try await accounts.registerConfirmed("ann@example.com", "secret-1")
    let key = try await accounts.createServerAPIKey(name: "robot")
    for number in 0..<49 {
      _ = await refusal { try await accounts.logIn("user\(number)@example.com", "wrong-1") }
    }
    let wrong = Accounts.Credentials.apiKey("rk_\(RandomSecret().text)")
    #expect(
      await refusal { try await accounts.logIn(wrong, address: Accounts.testAddress) } == .authError)
    #expect(await refusal { try await accounts.logIn("ann@example.com", "secret-1") } == .tooManyRequests)
    #expect(
      await refusal { try await accounts.logIn(.apiKey(key.key), address: Accounts.testAddress) }
        == .tooManyRequests)
    #expect(
      await refusal { try await accounts.logIn("ann@example.com", "secret-1", from: "192.0.2.2") } == nil)
    #expect(await refusal { try await accounts.logInAnonymously() } == nil)
  }

  @Test func `attempts at the same time are limited too`() async throws {
    let world = try World()
    let accounts = try await world.open { $0.autoConfirm = true }
    try await accounts.registerConfirmed("ann@example.com", "secret-1")
    let codes = await withTaskGroup(of: AccountError.Code?.self) { group in
      for _ in 0..<40 {
        group.addTask { await refusal { try await accounts.logIn("ann@example.com", "wrong-1") } }
      }
      var codes: [AccountError.Code?] = []
      for await code in group { codes.append(code) }
      return codes
    }
    #expect(codes.filter { $0 == .invalidPassword }.count == 10)
    #expect(codes.filter { $0 == .tooManyRequests }.count == 30)
  }

  @Test func `messages are limited for their address, and for the client that asks`() async throws {
    let world = try World()
    let accounts = try await world.open()
    for _ in 0..<5 { try await accounts.sendReset(email: "ann@example.com", address: "a") }
    #expect(
      await refusal { try await accounts.sendReset(email: "ann@example.com", address: "b") }
        == .tooManyRequests)
    #expect(
      await refusal {
        try await accounts.register(email: "ann@example.com", password: "secret-1", address: "b")
      } == .tooManyRequests)
    for number in 5..<50 {
      try await accounts.sendReset(email: "user\(number)@example.com", address: "a")
      await accounts.deliveries.settle()
    }
    #expect(
      await refusal { try await accounts.sendReset(email: "bob@example.com", address: "a") }
        == .tooManyRequests)
    #expect(await refusal { try await accounts.sendReset(email: "bob@example.com", address: "b") } == nil)
    world.clock.advance(600)
    #expect(await refusal { try await accounts.sendReset(email: "ann@example.com", address: "a") } == nil)
  }

  @Test func `a limited number of attempts is stored, and the oldest go first`() {
    let start = Date(timeIntervalSince1970: 0)
    var attempts = Attempts(most: 2, seconds: 10, capacity: 100)
    func add(_ key: String, _ seconds: Double) -> Bool { attempts.add(key, start + seconds) }
    for number in 0..<10_000 {
      #expect(add("key \(number)", Double(number) / 100_000))
      #expect(attempts.count <= 100)
    }
    #expect(add("key 9999", 1))
    #expect(!add("key 9999", 1))
    // Old attempts are removed first to make room.
    #expect(add("key 9999", 12))
    for number in 0..<99 { #expect(add("other \(number)", 13)) }
    #expect(add("key 9999", 13))
    #expect(!add("key 9999", 13))
  }
}
