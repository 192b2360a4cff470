/// 32 random bytes, which are told to somebody once. Only their hash is stored: as nobody can guess them, a
/// fast hash is enough.
struct RandomSecret: Sendable {
  /// What a secret is for. The same bytes have another hash for another purpose, so that no secret can be
  /// used as another.
  enum Purpose: String, Sendable {
    case refreshToken = "refresh-token"
    case apiKey = "api-key"
    case confirm
    case reset
  }

  private static let length = 32
  private let bytes: [UInt8]

  /// A new one.
  init() { bytes = Sodium.random(Self.length) }

  /// The one that a text stands for; nil for what is none.
  init?(_ text: Substring) {
    guard text.utf8.count <= 2 * Self.length, let bytes = Base64URL.bytes(of: text),
      bytes.count == Self.length
    else { return nil }
    self.bytes = bytes
  }

  /// 43 characters of base64url.
  var text: String { Base64URL.text(of: bytes) }

  /// What is stored, 43 characters of base64url.
  func hash(for purpose: Purpose) -> String {
    Base64URL.text(of: Sodium.hash(Array(purpose.rawValue.utf8) + [0] + bytes))
  }
}

/// The text of an API key: a prefix, by which people and programs that look for leaked secrets know it, and a
/// secret.
package enum APIKeyText {
  private static let prefix = "rk_"

  static func text(of secret: RandomSecret) -> String { prefix + secret.text }

  /// What is stored of a key; nil for a text that is no key.
  package static func hash(of text: String) -> String? {
    guard text.utf8.count <= 64, text.hasPrefix(prefix) else { return nil }
    return RandomSecret(text.dropFirst(prefix.count))?.hash(for: .apiKey)
  }
}
