import Foundation

/// A message to a user by mail. By its token the user proves to read the mail.
public struct Message: Sendable, Equatable, Encodable, CustomStringConvertible {
  /// What the message is for.
  public enum Kind: String, Sendable, Encodable {
    /// The token confirms the e-mail address, within 24 hours.
    case confirm
    /// The token sets a new password, within 30 minutes.
    case reset
  }

  /// What the message is for.
  public let kind: Kind
  /// The id of the app.
  public let app: String
  /// The e-mail address that the message goes to.
  public let email: String
  /// The id of the user.
  public let userID: String
  /// The secret that the user gives back. It works once.
  public let token: String
  /// The id of the token, which the user gives back together with the token.
  public let tokenID: String

  /// Makes a message.
  public init(kind: Kind, app: String, email: String, userID: String, token: String, tokenID: String) {
    self.kind = kind
    self.app = app
    self.email = email
    self.userID = userID
    self.token = token
    self.tokenID = tokenID
  }

  private enum CodingKeys: String, CodingKey {
    case kind, app, email, token
    case userID = "userId"
    case tokenID = "tokenId"
  }

  /// The message as a JSON object in UTF-8: `kind`, `app`, `email`, `userId`, `token` and `tokenId`, all of them texts.
  ///
  /// - Throws: the errors of `JSONEncoder`.
  public func json() throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return try encoder.encode(self)
  }

  /// A text without the token, so that no token gets into a log.
  public var description: String { "message of the kind \(kind.rawValue) to the user \(userID)" }
}

/// Delivers messages to users.
public protocol Messenger: Sendable {
  /// Delivers a message, or hands it over for delivery.
  ///
  /// - Throws: any error if that was not possible. The error is reported by `Accounts.Options.report`, and must not
  ///   contain the token.
  func deliver(_ message: Message) async throws
}
