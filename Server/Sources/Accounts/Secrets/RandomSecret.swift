/// A secret of 32 random bytes, which is shown once. Only its hash is stored. A fast hash is enough, because nobody can
/// guess the bytes.
struct RandomSecret: Sendable {
  /// The purpose of a secret. The same bytes have another hash for another purpose, so that no secret can be used in
  /// place of another.
  enum Purpose: String, Sendable {
    case refreshToken = "refresh-token"
    case apiKey = "api-key"
    case confirm
    case reset
  }

  private static let length = 32
  private let bytes: [UInt8]

  /// Makes a new secret.
  init() { bytes = Sodium.random(Self.length) }

  /// Reads the secret that a text stands for; nil if the text is not a secret.
  init?(_ text: Substring) {
    guard text.utf8.count <= 2 * Self.length, let bytes = Base64URL.bytes(of: text),
      bytes.count == Self.length
    else { return nil }
    self.bytes = bytes
  }

  /// The text of the secret: 43 characters of base64url.
  var text: String { Base64URL.text(of: bytes) }

  /// The hash that is stored: 43 characters of base64url.
  func hash(for purpose: Purpose) -> String {
    Base64URL.text(of: Sodium.hash(Array(purpose.rawValue.utf8) + [0] + bytes))
  }
}

/// The text of an API key: a prefix and a secret. People and programs that look for leaked secrets know keys by the
/// prefix.
package enum APIKeyText {
  private static let prefix = "rk_"

  static func text(of secret: RandomSecret) -> String { prefix + secret.text }

  /// The hash that is stored for a key; nil for a text that is not a key.
  package static func hash(of text: String) -> String? {
    guard text.utf8.count <= 64, text.hasPrefix(prefix) else { return nil }
    return RandomSecret(text.dropFirst(prefix.count))?.hash(for: .apiKey)
  }
}
