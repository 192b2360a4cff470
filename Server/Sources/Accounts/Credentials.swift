import Foundation

extension Accounts {
  /// What somebody logs in with.
  public enum Credentials: Sendable, CustomStringConvertible {
    /// Makes a new user.
    case anonymous
    /// An e-mail address and a password.
    case emailPassword(email: String, password: String)
    /// The text of an API key.
    case apiKey(String)

    /// Credentials of a request.
    ///
    /// - Parameters:
    ///   - provider: the name of the way to log in, as in `Account.Provider`.
    ///   - fields: the texts of the request's body: `username` and `password`, or `key`.
    /// - Throws: `AccountError`: `.authProviderNotFound` for a provider that there is not;
    ///   `.missingParameter`.
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

  /// The device that somebody logs in on.
  public struct Device: Sendable, Equatable {
    /// The id that a former log-in answered, 24 hexadecimal digits; nil to get a new one.
    public var id: String?
    /// What kind of device it is, to be read by people: 128 characters at most. Nil where nothing is known.
    public var name: String?

    /// A device with an id and a name, where they are known.
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

  /// What a log-in answers.
  public struct LogIn: Sendable, Equatable, CustomStringConvertible {
    /// Who is logged in.
    public let account: Account
    /// Proves for 30 minutes who asks.
    public let accessToken: String
    /// Gets new access tokens, for 60 days.
    public let refreshToken: String
    /// What a log-out ends.
    public let sessionID: String
    /// The device, to be given at the next log-in.
    public let deviceID: String

    /// The id of the user who is logged in.
    public var userID: String { account.id }
    /// The ids alone, so that no token gets into a log.
    public var description: String { "log-in of the user \(account.id), session \(sessionID)" }
  }

  /// Whom an access token stands for.
  public struct Access: Sendable, Equatable {
    /// The user, as it was when the token was verified.
    public let account: Account
    /// The session that the token was made in.
    public let sessionID: String
    /// When the token was made.
    public let issuedAt: Date
    /// When the token expires. What it opened is to be closed then.
    public let expiresAt: Date

    /// The id of the user.
    public var userID: String { account.id }
  }
}

extension AccountError {
  /// - Parameter name: comes from outside, and is shortened and cleaned to be told.
  static func noProvider(_ name: String) -> AccountError {
    AccountError(
      .authProviderNotFound,
      "There is no authentication provider '\(Texts.printable(name))'. Use one that the app has switched on.")
  }
}
