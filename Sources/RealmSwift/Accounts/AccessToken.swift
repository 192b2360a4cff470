import Foundation
import RealmInterchange

/// A token by which a request proves for a limited time which user sends it. The server has signed it. This type reads
/// the content of the token, and does not check the signature.
package struct AccessToken: Sendable {
  package let text: String
  /// When the token expires, by the server's clock.
  package let end: Date
  /// The custom data that the server keeps for the user, as it was when the token was made.
  package let customData: Document

  private struct Claims: Decodable {
    let exp: Int64
  }

  private static let longest = 1 << 20

  /// Reads a token.
  ///
  /// - Returns: nil if the text is not a token.
  package init?(_ text: String) {
    guard text.utf8.count <= Self.longest, Self.fitsHeader(text) else { return nil }
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let payload = Self.bytes(of: parts[1]),
      let claims = try? JSONDecoder.decode(Claims.self, fromOthers: payload)
    else { return nil }
    self.text = text
    end = Date(timeIntervalSince1970: TimeInterval(claims.exp))
    let whole = try? ExtendedJSON.read(payload)
    customData = whole?.documentValue?["user_data"]??.documentValue ?? [:]
  }

  /// Whether a text has only characters that may stand in the value of an HTTP header: those of ASCII from `!` to `~`.
  static func fitsHeader(_ text: String) -> Bool { text.utf8.allSatisfy { (0x21...0x7e).contains($0) } }

  /// Decodes base64url without padding; nil if the text is not valid.
  private static func bytes(of text: Substring) -> Data? {
    var text = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
    guard text.utf8.allSatisfy({ $0 != UInt8(ascii: "=") }) else { return nil }
    text += String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    return Data(base64Encoded: text)
  }

  /// Whether the token has expired, or expires within this number of seconds by this device's clock.
  package func ends(within seconds: TimeInterval) -> Bool { end.timeIntervalSinceNow < seconds }
}

/// The server's answer to a log-in.
package struct LogInAnswer: Sendable {
  package let userID: String
  package let deviceID: String?
  package let access: AccessToken
  package let refreshToken: String

  private struct Answer: Decodable {
    let access: String
    let refresh: String
    let user: String
    let device: String?

    private enum CodingKeys: String, CodingKey {
      case access = "access_token"
      case refresh = "refresh_token"
      case user = "user_id"
      case device = "device_id"
    }
  }

  /// Reads the answer.
  ///
  /// - Throws: `AppError` if the answer is an error or does not answer a log-in.
  package init(_ answer: ServerAnswer) throws {
    let content = try answer.content(as: Answer.self)
    // The id becomes the name of a folder.
    guard let access = AccessToken(content.access), !content.refresh.isEmpty,
      AccessToken.fitsHeader(content.refresh), SyncPaths.isName(content.user)
    else { throw answer.notUnderstood }
    (userID, deviceID) = (content.user, content.device)
    (self.access, refreshToken) = (access, content.refresh)
  }
}

extension AccessToken {
  private struct Answer: Decodable {
    let access: String

    private enum CodingKeys: String, CodingKey {
      case access = "access_token"
    }
  }

  /// Reads the access token that a server returns for a refresh token.
  ///
  /// - Throws: `AppError` if the answer is an error or has no access token.
  package init(_ answer: ServerAnswer) throws {
    guard let token = AccessToken(try answer.content(as: Answer.self).access) else {
      throw answer.notUnderstood
    }
    self = token
  }
}
