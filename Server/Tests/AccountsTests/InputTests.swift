import Foundation
import Testing

@testable import Accounts

@Suite struct InputTests {
  init() throws { try #require(Sodium.isReady) }

  @Test func `base64url is written in the standard form, and only that form is read`() {
    for length in 0..<70 {
      let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ length) }
      let text = Base64URL.text(of: bytes)
      let usual = Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
        .replacing("=", with: "")
      #expect(text == usual)
      #expect(Base64URL.bytes(of: text[...]) == bytes)
    }
    for text in ["A", "AB", "AAB", "AA=", "AA==", "A A", "+/+/", "AAAA\n", "\u{e9}", "AAAAA", "\u{212a}AAA"] {
      #expect(Base64URL.bytes(of: text[...]) == nil)
    }
  }

  @Test func `custom data with any number of levels is refused or accepted`() throws {
    for count in 1...600 {
      let (opened, closed) = (String(repeating: "[", count: count), String(repeating: "]", count: count))
      #expect(throws: AccountError.self) { try Texts.checkObject(#"{"a":\#(opened)}"#) }
      let whole = #"{"a":\#(opened)\#(closed)}"#
      if count < 498 { try Texts.checkObject(whole) }
      if count > 510 { #expect(throws: AccountError.self) { try Texts.checkObject(whole) } }
    }
  }

  @Test func `secrets are compared by their bytes`() {
    for text in ["", "a", "a longer secret", "\u{e9}"] { #expect(SecretComparison.areEqual(text, text)) }
    let others = [("", "a"), ("a", "ab"), ("ab", "ba"), ("secret-1", "secret-2"), ("\u{e9}", "e\u{301}")]
    for (one, other) in others { #expect(!SecretComparison.areEqual(one, other)) }
  }

  @Test func `credentials come from the fields of a request`() throws {
    guard
      case .emailPassword(let email, let password) = try Accounts.Credentials(
        provider: "local-userpass", fields: ["username": "a", "password": "b"])
    else { throw AccountError(.badRequest, "other credentials") }
    #expect(email == "a" && password == "b")
    #expect(try Accounts.Credentials(provider: "anon-user", fields: [:]).provider == .anonymous)
    #expect(try Accounts.Credentials(provider: "api-key", fields: ["key": "k"]).provider == .apiKey)
  }

  @Test func `a missing field is named, and so is an unknown provider`() async {
    for (provider, fields, name) in [
      ("local-userpass", ["username": "a"], "password"), ("local-userpass", ["password": "a"], "username"),
      ("api-key", [:], "key"),
    ] as [(String, [String: String], String)] {
      let refused = await thrown { try Accounts.Credentials(provider: provider, fields: fields) }
      #expect(refused?.code == .missingParameter && refused?.message.contains(name) == true)
    }
    for provider in ["custom-token", "custom-function", "oauth2-google", "", "a\u{0}\n\u{202e}b"] {
      let refused = await thrown { try Accounts.Credentials(provider: provider, fields: [:]) }
      #expect(refused?.code == .authProviderNotFound && refused?.httpStatus == 404)
      #expect(refused?.message.unicodeScalars.allSatisfy(Texts.isVisible) == true)
      if provider.contains("-") { #expect(refused?.message.contains(provider) == true) }
    }
    let long = String(repeating: "a", count: 1 << 20)
    let refused = await thrown { try Accounts.Credentials(provider: long, fields: [:]) }
    #expect(refused.map { $0.message.utf8.count < 300 } == true)
  }

  @Test func `each error has the name and the status that clients know`() {
    let known: [String: Int] = [
      "InvalidSession": 401, "BadRequest": 400, "UserNotFound": 404, "InvalidParameter": 400,
      "MissingParameter": 400, "AuthProviderNotFound": 404, "ValueNotFound": 404, "UserAlreadyConfirmed": 400,
      "UserDisabled": 401, "AuthError": 401, "AccountNameInUse": 409, "InvalidPassword": 401,
      "APIKeyAlreadyExists": 409, "TooManyRequests": 429, "ServiceUnavailable": 503,
      "InternalServerError": 500,
    ]
    let all = AccountError.Code.allCases.map { ($0.rawValue, AccountError($0, "").httpStatus) }
    #expect(Dictionary(uniqueKeysWithValues: all) == known)
  }

  @Test func `the hash of a secret depends on its purpose`() {
    let secret = RandomSecret()
    let hashes = [RandomSecret.Purpose.refreshToken, .apiKey, .confirm, .reset].map { secret.hash(for: $0) }
    #expect(Set(hashes).count == 4 && !hashes.contains(secret.text))
    #expect(RandomSecret(secret.text[...])?.hash(for: .reset) == hashes[3])
  }
}
