import Foundation

/// A token that proves for a while who asks. The server has signed it; only what it says is read here.
package struct AccessToken: Sendable {
  package let text: String
  /// When it ends, by the server's clock.
  package let end: Date
  /// What the server keeps for the user.
  package let customData: Document

  private struct Claims: Decodable {
    let exp: Int64
  }

  private static let longest = 1 << 20

  /// Nil for a text that is no token.
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

  /// Whether a text has nothing in it that ends a header of HTTP.
  static func fitsHeader(_ text: String) -> Bool { text.utf8.allSatisfy { (0x21...0x7e).contains($0) } }

  /// The bytes that a text of base64url stands for.
  private static func bytes(of text: Substring) -> Data? {
    var text = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
    guard text.utf8.allSatisfy({ $0 != UInt8(ascii: "=") }) else { return nil }
    text += String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    return Data(base64Encoded: text)
  }

  /// Whether it has ended, or does so soon.
  package func ends(within seconds: TimeInterval) -> Bool { end.timeIntervalSinceNow < seconds }
}

/// What a server answers to a log-in.
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

  /// - Throws: `AppError` where it is none.
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

  /// What a server answers to a refresh token.
  ///
  /// - Throws: `AppError` where it is none.
  package init(_ answer: ServerAnswer) throws {
    guard let token = AccessToken(try answer.content(as: Answer.self).access) else {
      throw answer.notUnderstood
    }
    self = token
  }
}
