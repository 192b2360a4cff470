import Foundation
import RealmSwift
import Testing

@testable import Accounts

@Suite struct SessionTests {
  @Test func `a refresh token has the form of a JSON Web Token with its times`() async throws {
    let world = try World()
    let accounts = try await world.open()
    let parts = parts(of: try await accounts.logInAnonymously().refreshToken)
    #expect(parts.count == 3 && parts[2].count == 43)
    let times = try object(in: parts[1])
    #expect(times["iat"] as? Int == 1_800_000_000)
    #expect(times["exp"] as? Int == 1_800_000_000 + 60 * 24 * 60 * 60)
    #expect(times.count == 2)
  }

  @Test func `only the last part of a refresh token counts, and only in its standard form`() async throws {
    let world = try World()
    let accounts = try await world.open()
    let token = try await accounts.logInAnonymously().refreshToken
    let parts = parts(of: token)
    #expect(await refusal { try await accounts.refresh("x.y.\(parts[2])") } == nil)
    #expect(sloppy(parts[2]) != parts[2])
    for forged in [
      "\(parts[0]).\(parts[1]).\(sloppy(parts[2]))", "\(token)=", String(token.dropLast()), parts[2], "",
      "\(parts[0]).\(parts[1]).\(RandomSecret().text)", "\(parts[0]).\(parts[1]).", "..\(parts[2]).",
      String(repeating: "a", count: 1 << 20), String(repeating: ".", count: 1 << 20),
    ] {
      #expect(await refusal { try await accounts.refresh(forged) } == .invalidSession)
    }
  }

  @Test func `a refresh token makes access tokens for 60 days, and use does not change its expiry`()
    async throws
  {
    let world = try World()
    let accounts = try await world.open()
    let logIn = try await accounts.logInAnonymously()
    world.clock.advance(60 * 24 * 60 * 60 - 1)
    let token = try await accounts.refresh(logIn.refreshToken)
    #expect(try await accounts.verify(token).sessionID == logIn.sessionID)
    world.clock.advance(1)
    #expect(await refusal { try await accounts.refresh(logIn.refreshToken) } == .invalidSession)
    #expect(await refusal { try await accounts.verify(token) } == .invalidSession)
    try await accounts.purge()
    #expect(try await accounts.read { records in records.realm.objects(StoredSession.self).isEmpty })
  }

  @Test func `a log-out ends one session with its access tokens, and announces it`() async throws {
    let world = try World()
    let accounts = try await world.open { $0.autoConfirm = true }
    let revocations = RevocationList(accounts)
    try await accounts.registerConfirmed("ann@example.com", "secret-1")
    let one = try await accounts.logIn("ann@example.com", "secret-1")
    let other = try await accounts.logIn("ann@example.com", "secret-1")
    #expect(one.sessionID != other.sessionID && one.deviceID != other.deviceID)
    try await accounts.logOut(one.refreshToken)
    #expect(await refusal { try await accounts.refresh(one.refreshToken) } == .invalidSession)
    #expect(await refusal { try await accounts.verify(one.accessToken) } == .invalidSession)
    #expect(await refusal { try await accounts.logOut(one.refreshToken) } == .invalidSession)
    #expect(await refusal { try await accounts.refresh(other.refreshToken) } == nil)
    #expect(await refusal { try await accounts.verify(other.accessToken) } == nil)
    #expect(
      revocations.all == [
        Revocation(userID: one.userID, sessionID: one.sessionID, reason: .sessionEnded)
      ])
  }

  @Test func `all sessions of a user can be revoked, and sessions of other users continue`() async throws {
    let world = try World()
    let accounts = try await world.open()
    let revocations = RevocationList(accounts)
    let (one, other) = (try await accounts.logInAnonymously(), try await accounts.logInAnonymously())
    try await accounts.revokeSessions(of: one.userID)
    #expect(await refusal { try await accounts.refresh(one.refreshToken) } == .invalidSession)
    #expect(await refusal { try await accounts.verify(one.accessToken) } == .invalidSession)
    #expect(await refusal { try await accounts.verify(other.accessToken) } == nil)
    #expect(
      revocations.all == [Revocation(userID: one.userID, sessionID: nil, reason: .sessionsRevoked)])
  }

  @Test func `the tokens of a user who is disabled are refused until the user is enabled`() async throws {
    let world = try World()
    let accounts = try await world.open()
    let revocations = RevocationList(accounts)
    let logIn = try await accounts.logInAnonymously()
    try await accounts.disableUser(logIn.userID)
    #expect(await refusal { try await accounts.refresh(logIn.refreshToken) } == .userDisabled)
    #expect(await refusal { try await accounts.verify(logIn.accessToken) } == .userDisabled)
    #expect(
      revocations.all == [Revocation(userID: logIn.userID, sessionID: nil, reason: .userDisabled)])
    try await accounts.enableUser(logIn.userID)
    #expect(await refusal { try await accounts.refresh(logIn.refreshToken) } == nil)
    #expect(await refusal { try await accounts.verify(logIn.accessToken) } == nil)
  }

  @Test func `no data of a deleted user is left`() async throws {
    let world = try World()
    let accounts = try await world.open { $0.autoConfirm = true }
    let revocations = RevocationList(accounts)
    let id = try await accounts.registerConfirmed("ann@example.com", "secret-1")
    let logIn = try await accounts.logIn("ann@example.com", "secret-1")
    let key = try await accounts.createAPIKey(name: "robot", for: id)
    try await accounts.sendReset(email: "ann@example.com", address: Accounts.testAddress)
    await accounts.deliveries.settle()
    let message = try #require(world.messenger.last(.reset))
    try await accounts.deleteUser(id)
    #expect(revocations.all == [Revocation(userID: id, sessionID: nil, reason: .userDeleted)])
    #expect(await refusal { try await accounts.refresh(logIn.refreshToken) } == .invalidSession)
    #expect(await refusal { try await accounts.verify(logIn.accessToken) } == .invalidSession)
    #expect(await refusal { try await accounts.logIn("ann@example.com", "secret-1") } == .invalidPassword)
    #expect(
      await refusal { try await accounts.logIn(.apiKey(key.key), address: Accounts.testAddress) }
        == .authError)
    #expect(
      await refusal {
        try await accounts.reset(token: message.token, tokenID: message.tokenID, password: "secret-2")
      } == .badRequest)
    #expect(await refusal { try await accounts.user(id) } == .userNotFound)
    let counts = try await accounts.read { records in
      [
        records.realm.objects(StoredUser.self).count, records.realm.objects(StoredSession.self).count,
        records.realm.objects(StoredAPIKey.self).count, records.realm.objects(StoredMessageToken.self).count,
      ]
    }
    #expect(counts == [0, 0, 0, 0])
  }

  @Test func `the oldest session ends if a user would have more than a thousand`() async throws {
    let world = try World()
    let accounts = try await world.open()
    let revocations = RevocationList(accounts)
    let id = try await accounts.createServerAPIKey(name: "robot")
    let first = try await accounts.logIn(.apiKey(id.key), address: Accounts.testAddress)
    world.clock.advance(1)
    let now = world.clock.now
    try await accounts.write { records in
      let user = try records.existingUser(first.userID)
      for _ in 1..<1000 { _ = records.openSession(for: user, by: .nothing, device: Accounts.Device(), now) }
    }
    #expect(await refusal { try await accounts.verify(first.accessToken) } == nil)
    world.clock.advance(1)
    let last = try await accounts.logIn(.apiKey(id.key), address: Accounts.testAddress)
    #expect(await refusal { try await accounts.verify(first.accessToken) } == .invalidSession)
    #expect(await refusal { try await accounts.verify(last.accessToken) } == nil)
    #expect(revocations.all.map(\.sessionID) == [first.sessionID])
  }

  @Test func `a device keeps its id, and an invalid id is refused`() async throws {
    let world = try World()
    let accounts = try await world.open()
    let first = try await accounts.logInAnonymously()
    let device = Accounts.Device(id: first.deviceID, name: "Ann's phone")
    let second = try await accounts.logIn(.anonymous, device: device, address: Accounts.testAddress)
    #expect(second.deviceID == first.deviceID)
    for device in [
      Accounts.Device(id: "phone"), Accounts.Device(id: ""), Accounts.Device(name: ""),
      Accounts.Device(name: String(repeating: "a", count: 129)), Accounts.Device(name: "a\u{0}b"),
    ] {
      #expect(
        await refusal {
          try await accounts.logIn(.anonymous, device: device, address: Accounts.testAddress)
        } == .invalidParameter)
    }
  }
}
