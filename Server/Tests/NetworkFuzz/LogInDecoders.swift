import Accounts
import Foundation
import RealmFuzzSupport
import Service

/// The decoders for the bodies of requests about users, and for the tokens and keys in requests.
enum LogInDecoders {
  static var all: [FuzzedDecoder] { [body, texts, secrets, token] }

  private static let words = [
    "{", "}", "[", "]", ",", ":", "\"", "\\u0000", "\\u202e", "\\ud800", "null", "1e5", "{}", "\"username\"",
    "\"password\"", "\"key\"", "\"options\"", "\"device\"", "\"deviceId\"", "\"platform\"",
    "\"deviceName\"", "@", "0123456789abcdef01234567", "0123456789ABCDEF01234567", "ann@example.com", "rk_",
    "\\", "(", "<", ";",
  ]
  private static let memory = MemoryBound(constant: 1 << 20, perByte: 4000)

  // MARK: - Bodies

  private static var body: FuzzedDecoder {
    FuzzedDecoder("log-in-body", quick: 10_000) {
      FuzzedDecoder.Trial(
        samples: try NetworkFuzz.kept.samples("log-in-body"), mutator: ByteMutator(.text(words: words)),
        memory: memory
      ) { bytes, _ in
        do {
          let body = try RequestBody(bytes)
          do {
            try body.device.check()
          } catch {
            throw FuzzFailure("a log-in is refused because of its device: \(error)")
          }
          guard body.texts.count <= bytes.count else { throw FuzzFailure("too many fields are read") }
          return try hasCredentials(body.texts)
        } catch is AccountError {
          return false
        }
      }
    }
  }

  /// True if a user may log in with the fields in a way that needs fields.
  private static func hasCredentials(_ fields: [String: String]) throws -> Bool {
    guard try Accounts.Credentials(provider: "anon-user", fields: fields).provider == .anonymous else {
      throw FuzzFailure("anonymous credentials are others")
    }
    var isAccepted = false
    for provider in ["local-userpass", "api-key"] {
      do {
        let credentials = try Accounts.Credentials(provider: provider, fields: fields)
        guard credentials.provider.rawValue == provider else { throw FuzzFailure("credentials are others") }
        isAccepted = true
      } catch let error as AccountError {
        guard error.code == .missingParameter else {
          throw FuzzFailure("credentials are refused as \(error.code)")
        }
      }
    }
    return isAccepted
  }

  /// E-mail addresses, passwords, names and custom data. Each input is tried as each of them.
  private static var texts: FuzzedDecoder {
    FuzzedDecoder("account-texts", quick: 10_000) {
      FuzzedDecoder.Trial(
        samples: try NetworkFuzz.kept.samples("account-texts"), mutator: ByteMutator(.text(words: words)),
        memory: memory
      ) { bytes, _ in
        let text = String(decoding: bytes, as: UTF8.self)
        var isAccepted = false
        if let email = try accepted({ try EmailAddress(text).text }) {
          try RoundTrip.check(email) { try EmailAddress($0).text }
          isAccepted = true
        }
        if let password = try accepted({ try Password(text).text }) {
          try RoundTrip.check(password) { try Password($0).text }
        }
        if try accepted({ try Texts.checkName(text, of: "key") }) != nil, text.unicodeScalars.count > 128 {
          throw FuzzFailure("a name is too long")
        }
        if try accepted({ try Texts.checkObject(text) }) != nil { isAccepted = true }
        guard Texts.printable(text).unicodeScalars.count <= 64 else { throw FuzzFailure("a text is not cut") }
        return isAccepted
      }
    }
  }

  /// The value; nil if it is refused with an error of its type.
  private static func accepted<Value>(_ read: () throws -> Value) throws -> Value? {
    do {
      return try read()
    } catch is AccountError {
      return nil
    }
  }

  // MARK: - Tokens and keys

  /// The texts of refresh tokens and API keys, and the texts of their bytes.
  private static var secrets: FuzzedDecoder {
    FuzzedDecoder("secrets") {
      FuzzedDecoder.Trial(
        samples: try NetworkFuzz.kept.samples("secrets"),
        mutator: ByteMutator(.text(words: [".", "-", "_", "=", "rk_", "A", "eyJ0eXAiOiJyZWZyZXNoIn0"])),
        memory: memory
      ) { bytes, _ in
        let text = String(decoding: bytes, as: UTF8.self)
        let hashes = [RefreshToken.hash(of: text), APIKeyText.hash(of: text)].compactMap(\.self)
        guard hashes.allSatisfy({ $0.utf8.count == 43 }) else { throw FuzzFailure("a hash is none") }
        if let meant = Base64URL.bytes(of: text[...]), Base64URL.text(of: meant) != text {
          throw FuzzFailure("two texts stand for the same bytes")
        }
        return !hashes.isEmpty
      }
    }
  }

  /// Access tokens, with a check of their signature. An input that begins with a brace is the payload of a token, and
  /// is signed.
  private static var token: FuzzedDecoder {
    FuzzedDecoder("access-token", quick: 1000) {
      guard Sodium.isReady, let key = SigningKey(id: "0123456789abcdef01234567", secret: secretKey) else {
        throw FuzzFailure("there is no key to sign with")
      }
      let ring = KeyRing(current: key, former: nil, formerEnd: .distantPast)
      let now = Date(timeIntervalSince1970: 1_800_000_100)
      let payloads = try NetworkFuzz.kept.samples("access-token")
      let tokens = payloads.map { signed($0, key) }
      let claims = ["\"exp\"", "\"iat\"", "\"app\"", "\"sid\"", "\"sub\"", "."]
      return FuzzedDecoder.Trial(
        samples: payloads + tokens.map { Array($0.utf8) },
        mutator: ByteMutator(.text(words: words + claims)), memory: memory
      ) { bytes, _ in
        let isPayload = bytes.first == UInt8(ascii: "{")
        let text = isPayload ? signed(bytes, key) : String(decoding: bytes, as: UTF8.self)
        do {
          let claims = try AccessToken.claims(of: text, signedBy: ring, app: "tasks", now)
          guard claims.app == "tasks" else { throw FuzzFailure("a token of another app is accepted") }
        } catch let error as AccountError {
          guard error.code == .invalidSession else {
            throw FuzzFailure("a token is refused as \(error.code)")
          }
          return false
        }
        guard isPayload || tokens.contains(text) else {
          throw FuzzFailure("a token is accepted that nobody signed")
        }
        return true
      }
    }
  }

  /// The first key of RFC 8032, section 7.1: the secret part, and then the public part.
  private static let secretKey: [UInt8] = keyWords.flatMap { word in
    (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(56 - 8 * $0)) }
  }

  private static let keyWords: [UInt64] = [
    0x9d61_b19d_effd_5a60, 0xba84_4af4_92ec_2cc4, 0x4449_c569_7b32_6919, 0x703b_ac03_1cae_7f60,
    0xd75a_9801_82b1_0ab7, 0xd54b_fed3_c964_073a, 0x0ee1_72f3_daa6_2325, 0xaf02_1a68_f707_511a,
  ]

  private static func signed(_ payload: [UInt8], _ key: SigningKey) -> String {
    let text = "\(key.header).\(Base64URL.text(of: payload))"
    return "\(text).\(Base64URL.text(of: Sodium.signature(of: Array(text.utf8), by: key.secret)))"
  }
}
