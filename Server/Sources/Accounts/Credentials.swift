import Foundation

extension Accounts {
  /// The credentials that a client logs in with.
  public enum Credentials: Sendable, CustomStringConvertible {
    /// No credentials. The log-in makes a new user.
    case anonymous
    /// An e-mail address and a password.
    case emailPassword(email: String, password: String)
    /// The text of an API key.
    case apiKey(String)

    /// Reads the credentials of a request.
    ///
    /// - Parameters:
    ///   - provider: the name of the way to log in, as in `Account.Provider`.
    ///   - fields: the texts of the request's body: `username` and `password`, or `key`.
    /// - Throws: `AccountError`: `.authProviderNotFound` for a provider that does not exist; `.missingParameter`.
    public init(provider name: String, fields: [String: String]) throws {
      func field(_ name: String) throws -> String {
        guard let value = fields[name] else {
          throw AccountError(.missingParameter, "The field \(name) is missing. Send it as a text.")
        }
        return value
      }
      switch Account.Provider(rawValue: name) {
      case .anonymous?: self = .anonymous
      case .emailPassword?:
        self = .emailPassword(email: try field("username"), password: try field("password"))
      case .apiKey?: self = .apiKey(try field("key"))
      case nil: throw AccountError.noProvider(name)
      }
    }

    /// The way to log in.
    public var provider: Account.Provider {
      switch self {
      case .anonymous: .anonymous
      case .emailPassword: .emailPassword
      case .apiKey: .apiKey
      }
    }

    /// The provider's name alone, so that no password or key gets into a log.
    public var description: String { "credentials of \(provider.rawValue)" }
  }

  /// The device that a user logs in on.
  public struct Device: Sendable, Equatable {
    /// The id that a former log-in has returned, 24 hexadecimal digits; nil to get a new id.
    public var id: String?
    /// The kind of the device, as a text for people of 128 characters at most; nil if it is not known.
    public var name: String?

    /// Makes a device with an id and a name, as far as they are known.
    public init(id: String? = nil, name: String? = nil) {
      self.id = id
      self.name = name
    }

    /// - Throws: `AccountError.Code.invalidParameter`.
    package func check() throws {
      guard id.map(Texts.isID) ?? true else {
        throw AccountError(
          .invalidParameter, "The id of the device is not valid. Send the one of a former log-in, or none.")
      }
      if let name { try Texts.checkName(name, of: "device") }
    }
  }

  /// The result of a log-in.
  public struct LogIn: Sendable, Equatable, CustomStringConvertible {
    /// The user who is logged in.
    public let account: Account
    /// The access token, which proves for 30 minutes who asks.
    public let accessToken: String
    /// The refresh token, which gets new access tokens for 60 days.
    public let refreshToken: String
    /// The id of the session, which a log-out ends.
    public let sessionID: String
    /// The id of the device, which the next log-in should name.
    public let deviceID: String

    /// The id of the user who is logged in.
    public var userID: String { account.id }
    /// The ids of the user and the session alone, so that no token gets into a log.
    public var description: String { "log-in of the user \(account.id), session \(sessionID)" }
  }

  /// The user and the session that an access token stands for.
  public struct Access: Sendable, Equatable {
    /// The user, as it was when the token was verified.
    public let account: Account
    /// The id of the session that the token was made in.
    public let sessionID: String
    /// The time at which the token was made.
    public let issuedAt: Date
    /// The time at which the token expires. A connection that was opened with it has to be closed then.
    public let expiresAt: Date

    /// The id of the user.
    public var userID: String { account.id }
  }
}

extension AccountError {
  /// - Parameter name: a name from outside. The message shows it shortened, and without characters that can't be shown.
  static func noProvider(_ name: String) -> AccountError {
    AccountError(
      .authProviderNotFound,
      "There is no authentication provider '\(Texts.printable(name))'. Use one that the app has switched on.")
  }
}
