import Foundation
import RealmInterchange

/// The claims of an access token. Times are in seconds since 1970.
package struct AccessClaims: Sendable, Equatable, Decodable {
  /// The id of the app.
  package let app: String
  /// The time at which the token expires.
  package let exp: Int
  /// The time at which the token was made.
  package let iat: Int
  /// The id of the session.
  package let sid: String
  /// The id of the user.
  package let sub: String
}

/// JSON Web Tokens, signed with Ed25519 (RFC 7515, RFC 8037).
package enum AccessToken {
  /// The greatest size of a token in bytes. No token of this server is longer.
  private static let longest = 16 << 10

  /// The text of a token.
  ///
  /// - Parameters:
  ///   - claims: texts without characters that JSON escapes.
  ///   - customData: a JSON object that was checked.
  static func text(of claims: AccessClaims, customData: String?, signedBy key: SigningKey) -> String {
    let data = customData.map { ",\"user_data\":\($0)" } ?? ""
    let payload =
      "{\"app\":\"\(claims.app)\",\"exp\":\(claims.exp),\"iat\":\(claims.iat),\"sid\":\"\(claims.sid)\","
      + "\"sub\":\"\(claims.sub)\"\(data)}"
    let signed = key.header + "." + Base64URL.text(of: Array(payload.utf8))
    return signed + "." + Base64URL.text(of: Sodium.signature(of: Array(signed.utf8), by: key.secret))
  }

  /// The claims of a token, if the token is valid. No part of it is read as JSON before the signature has proved that
  /// this server wrote it.
  ///
  /// - Throws: `AccountError.Code.invalidSession`.
  package static func claims(
    of token: String, signedBy ring: KeyRing, app: String, _ now: Date
  ) throws -> AccessClaims {
    guard token.utf8.count <= longest else { throw AccountError.badAccessToken }
    let parts = token.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let key = ring.key(of: parts[0], now),
      let signature = Base64URL.bytes(of: parts[2]),
      Sodium.isSignature(signature, of: Array("\(parts[0]).\(parts[1])".utf8), by: key.publicKey),
      let payload = Base64URL.bytes(of: parts[1]),
      let claims = try? JSONDecoder.decode(AccessClaims.self, fromOthers: Data(payload)), claims.app == app
    else { throw AccountError.badAccessToken }
    let seconds = now.timeIntervalSince1970
    let skew = TimeInterval(Accounts.Bounds.clockSkew)
    guard TimeInterval(claims.iat) <= seconds + skew else { throw AccountError.badAccessToken }
    guard seconds < TimeInterval(claims.exp) + skew else { throw AccountError.expiredAccessToken }
    return claims
  }
}
