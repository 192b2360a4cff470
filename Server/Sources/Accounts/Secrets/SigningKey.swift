import Foundation

/// A key that access tokens are signed with.
package struct SigningKey: Sendable {
  package let secret: [UInt8]
  /// The first part of each token that the key signs. No other first part is accepted, so that nobody can choose how a
  /// token is verified.
  package let header: String

  var publicKey: [UInt8] { Array(secret.suffix(32)) }

  /// - Parameter secret: 64 bytes. With another length the result is nil.
  package init?(id: String, secret: [UInt8]) {
    guard secret.count == Sodium.secretKeyLength else { return nil }
    self.secret = secret
    header = Base64URL.text(of: Array(#"{"alg":"EdDSA","kid":"\#(id)","typ":"JWT"}"#.utf8))
  }
}

/// The keys whose tokens are accepted.
package struct KeyRing: Sendable {
  /// The key that signs.
  let current: SigningKey
  /// The key that signed before. It verifies tokens until its last token has expired.
  let former: SigningKey?
  /// The time at which the last token of the former key has expired.
  let formerEnd: Date

  package init(current: SigningKey, former: SigningKey?, formerEnd: Date) {
    (self.current, self.former, self.formerEnd) = (current, former, formerEnd)
  }

  /// The key whose tokens have a header; nil if no valid key has it.
  func key(of header: Substring, _ now: Date) -> SigningKey? {
    // The headers are compared by their bytes, because Swift takes some texts for equal that have different bytes.
    if header.utf8.elementsEqual(current.header.utf8) { return current }
    guard let former, now < formerEnd, header.utf8.elementsEqual(former.header.utf8) else { return nil }
    return former
  }
}
