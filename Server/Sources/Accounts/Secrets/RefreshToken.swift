/// A refresh token: a text by which a client gets access tokens. It has the three parts of a JSON Web Token, because
/// clients read from the second part until when it is valid. Only the third part counts. It is a secret, whose hash
/// leads to the session.
package enum RefreshToken {
  private static let header = Base64URL.text(of: Array(#"{"typ":"refresh"}"#.utf8))
  private static let longest = 512

  /// - Parameters:
  ///   - issued: the time at which the token was made, in seconds since 1970.
  ///   - expires: the time until which the token is valid, in seconds since 1970.
  static func text(of secret: RandomSecret, issued: Int, expires: Int) -> String {
    let times = Base64URL.text(of: Array(#"{"exp":\#(expires),"iat":\#(issued)}"#.utf8))
    return "\(header).\(times).\(secret.text)"
  }

  /// The hash that is stored for a token; nil for a text that is not a token.
  package static func hash(of text: String) -> String? {
    guard text.utf8.count <= longest else { return nil }
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3 else { return nil }
    return RandomSecret(parts[2])?.hash(for: .refreshToken)
  }
}
