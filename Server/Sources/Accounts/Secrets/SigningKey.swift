import Foundation

/// A key that access tokens are signed with.
package struct SigningKey: Sendable {
  package let secret: [UInt8]
  /// The first part of each token that it signs. Nothing else is accepted there, so that nobody chooses how a
  /// token is verified.
  package let header: String

  var publicKey: [UInt8] { Array(secret.suffix(32)) }

  /// - Parameter secret: 64 bytes; with others this is nil.
  package init?(id: String, secret: [UInt8]) {
    guard secret.count == Sodium.secretKeyLength else { return nil }
    self.secret = secret
    header = Base64URL.text(of: Array(#"{"alg":"EdDSA","kid":"\#(id)","typ":"JWT"}"#.utf8))
  }
}

/// The keys whose tokens are accepted.
package struct KeyRing: Sendable {
  /// Signs.
  let current: SigningKey
  /// Signed before, and verifies until its last token has expired.
  let former: SigningKey?
  /// When the last token of the former key has expired.
  let formerEnd: Date

  package init(current: SigningKey, former: SigningKey?, formerEnd: Date) {
    (self.current, self.former, self.formerEnd) = (current, former, formerEnd)
  }

  /// The key that signs tokens with a header; nil where none does.
  func key(of header: Substring, _ now: Date) -> SigningKey? {
    // Compared by their bytes, since texts are equal in Swift where only some of their characters look the
    // same.
    if header.utf8.elementsEqual(current.header.utf8) { return current }
    guard let former, now < formerEnd, header.utf8.elementsEqual(former.header.utf8) else { return nil }
    return former
  }
}
