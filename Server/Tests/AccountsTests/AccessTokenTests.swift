import Foundation
import RealmSwift
import Synchronization
import Testing

@testable import Accounts

@Suite struct AccessTokenTests {
  @Test func `an access token names its user and its session, and has an expiry`() async throws {
    let world = try World()
    let accounts = try await world.open()
    let logIn = try await accounts.logInAnonymously()
    let access = try await accounts.verify(logIn.accessToken)
    #expect(access.userID == logIn.userID && access.sessionID == logIn.sessionID)
    #expect(access.issuedAt == world.clock.now && access.expiresAt == world.clock.now + 30 * 60)
    let parts = parts(of: logIn.accessToken)
    let (header, payload) = (try object(in: parts[0]), try object(in: parts[1]))
    #expect(header["alg"] as? String == "EdDSA" && header["typ"] as? String == "JWT")
    #expect(header["kid"] is String && header.count == 3)
    #expect(payload["exp"] as? Int == 1_800_001_800 && payload["iat"] as? Int == 1_800_000_000)
    #expect(payload["sub"] as? String == logIn.userID && payload["app"] as? String == "app-1")
    #expect(payload["sid"] as? String == logIn.sessionID && payload["user_data"] == nil)
  }

  @Test func `a token without a signature, or with another algorithm, is refused`() async throws {
    let world = try World()
    let accounts = try await world.open()
    let token = try await accounts.logInAnonymously().accessToken
    let parts = parts(of: token)
    let kid = try #require(try object(in: parts[0])["kid"] as? String)
    for header in [
      #"{"alg":"none","typ":"JWT"}"#, #"{"alg":"none","kid":"\#(kid)","typ":"JWT"}"#,
      #"{"alg":"HS256","kid":"\#(kid)","typ":"JWT"}"#, #"{"alg":"eddsa","kid":"\#(kid)","typ":"JWT"}"#,
      #"{"kid":"\#(kid)","alg":"EdDSA","typ":"JWT"}"#, #"{"alg":"EdDSA","typ":"JWT"}"#, "", "{}",
    ] {
      for signature in [parts[2], ""] {
        let forged = "\(part(header)).\(parts[1]).\(signature)"
        #expect(await refusal { try await accounts.verify(forged) } == .invalidSession, "\(header)")
      }
    }
    #expect(await refusal { try await accounts.verify(token) } == nil)
  }

  @Test func `a token that another key has signed is refused, even with the id of the right key`()
    async throws
  {
    let world = try World()
    let accounts = try await world.open()
    let token = try await accounts.logInAnonymously().accessToken
    let parts = parts(of: token)
    let kid = try #require(try object(in: parts[0])["kid"] as? String)
    let claims = try AccessToken.claims(
      of: token, signedBy: accounts.keys.withLock { $0 }, app: "app-1", world.clock.now)
    for id in [kid, "0123456789abcdef01234567"] {
      let other = try #require(SigningKey(id: id, secret: Sodium.newSecretKey()))
      let forged = AccessToken.text(of: claims, customData: nil, signedBy: other)
      #expect(await refusal { try await accounts.verify(forged) } == .invalidSession)
    }
  }

  @Test func `a token whose payload was changed is refused`() async throws {
    let world = try World()
    let accounts = try await world.open()
    let (token, other) = (try await accounts.logInAnonymously(), try await accounts.logInAnonymously())
    let (mine, others) = (parts(of: token.accessToken), parts(of: other.accessToken))
    let payload = String(decoding: Base64URL.bytes(of: mine[1][...]) ?? [], as: UTF8.self)
    let longer = payload.replacing("1800001800", with: "1900001800")
    #expect(longer != payload)
    for changed in [others[1], part(longer), part("{}"), part(payload + " "), ""] {
      let forged = "\(mine[0]).\(changed).\(mine[2])"
      #expect(await refusal { try await accounts.verify(forged) } == .invalidSession)
    }
  }

  @Test func `a token that is cut, too long or in another form is refused`() async throws {
    let world = try World()
    let accounts = try await world.open()
    let token = try await accounts.logInAnonymously().accessToken
    let parts = parts(of: token)
    let signature = sloppy(parts[2])
    #expect(signature != parts[2])
    for forged in [
      "", ".", "..", "...", parts[0], "\(parts[0]).\(parts[1])", "\(parts[0]).\(parts[1]).", "\(token).",
      "\(token).\(parts[2])", " \(token)", "\(token)\n", String(token.dropLast()), String(token.dropFirst()),
      "\(token)=", "\(token)A", "\(parts[0]).\(parts[1]).\(signature)",
      "\(parts[0])=.\(parts[1]).\(parts[2])", "\(parts[0]).\(parts[1])=.\(parts[2])",
      token.replacing(".", with: "\u{2024}"), "\u{0}", token + "\u{301}",
      String(repeating: "a", count: 1 << 20), String(repeating: ".", count: 1 << 20),
    ] {
      #expect(await refusal { try await accounts.verify(forged) } == .invalidSession)
    }
  }

  @Test func `a token of another app is refused, even if the same key has signed it`() async throws {
    let world = try World()
    let accounts = try await world.open()
    let token = try await accounts.logInAnonymously().accessToken
    let copy = world.folder.appendingPathComponent("copy.realm")
    try await accounts.backup(to: copy)
    let same = try await world.open { $0.fileURL = copy }
    #expect(await refusal { try await same.verify(token) } == nil)
    await same.close()
    let other = try await world.open { options in
      options.fileURL = copy
      options.app = "app-2"
    }
    #expect(await refusal { try await other.verify(token) } == .invalidSession)
  }

  @Test func `a token is valid for 30 minutes, and clocks may differ by 30 seconds`() async throws {
    let world = try World()
    let accounts = try await world.open()
    let token = try await accounts.logInAnonymously().accessToken
    world.clock.advance(-30)
    #expect(await refusal { try await accounts.verify(token) } == nil)
    world.clock.advance(-1)
    #expect(await refusal { try await accounts.verify(token) } == .invalidSession)
    world.clock.advance(31 + 30 * 60 + 29)
    #expect(await refusal { try await accounts.verify(token) } == nil)
    world.clock.advance(1)
    #expect(await refusal { try await accounts.verify(token) } == .invalidSession)
  }

  @Test func `tokens of the previous key are accepted, and those of the key before it are not`() async throws
  {
    let world = try World()
    let accounts = try await world.open()
    let first = try await accounts.logInAnonymously().accessToken
    try await accounts.rotateSigningKey()
    let second = try await accounts.logInAnonymously().accessToken
    #expect(parts(of: first)[0] != parts(of: second)[0])
    for token in [first, second] { #expect(await refusal { try await accounts.verify(token) } == nil) }
    await accounts.close()
    let opened = try await world.open()
    for token in [first, second] { #expect(await refusal { try await opened.verify(token) } == nil) }
    try await opened.rotateSigningKey()
    #expect(await refusal { try await opened.verify(first) } == .invalidSession)
    #expect(await refusal { try await opened.verify(second) } == nil)
  }

  @Test func `the previous key verifies tokens until its last token has expired, and is removed then`()
    async throws
  {
    let world = try World()
    let accounts = try await world.open()
    let token = try await accounts.logInAnonymously().accessToken
    let header = parts(of: token)[0]
    try await accounts.rotateSigningKey()
    let ring = accounts.keys.withLock { $0 }
    #expect(ring.key(of: header[...], world.clock.now + 1829) != nil)
    #expect(ring.key(of: header[...], world.clock.now + 1830) == nil)
    world.clock.advance(1829)
    try await accounts.purge()
    #expect(try await accounts.read { records in records.realm.objects(StoredSigningKey.self).count } == 2)
    world.clock.advance(1)
    try await accounts.purge()
    #expect(try await accounts.read { records in records.realm.objects(StoredSigningKey.self).count } == 1)
  }

  @Test func `custom data is in the tokens that are made after it was set`() async throws {
    let world = try World()
    let accounts = try await world.open()
    let logIn = try await accounts.logInAnonymously()
    try await accounts.setCustomData(" {\"team\": \"blue \\\" é\", \"level\": 3}\n", of: logIn.userID)
    let token = try await accounts.refresh(logIn.refreshToken)
    let payload = try object(in: parts(of: token)[1])
    let data = try #require(payload["user_data"] as? [String: Any])
    #expect(data["team"] as? String == "blue \" é" && data["level"] as? Int == 3)
    #expect(try await accounts.verify(token).account.customData?.contains("blue") == true)
  }
}
