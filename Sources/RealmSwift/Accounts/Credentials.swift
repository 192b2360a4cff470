/// What a user logs in with: `App.login(credentials:)`.
public enum Credentials: Sendable {
  /// An access token that Facebook has given the user.
  case facebook(accessToken: String)
  /// The code that Google gives a program for its server.
  case google(serverAuthCode: String)
  /// An id token that Google has given the user.
  case googleId(token: String)
  /// An id token that Apple has given the user.
  case apple(idToken: String)
  /// An e-mail address and a password that were registered by `App.emailPasswordAuth`.
  case emailPassword(email: String, password: String)
  /// A JSON Web Token that a server of the app's owner has made.
  case jwt(token: String)
  /// The argument of a function of the server, which decides who logs in.
  case function(payload: Document)
  /// The text of an API key of a user; see `APIKeyAuth`.
  case userAPIKey(String)
  /// The text of an API key that belongs to the server and not to a user.
  case serverAPIKey(String)
  /// No proof at all: the server makes a new user. If an anonymous user is logged in to the app, that user is used instead.
  case anonymous

  /// The provider of the credentials.
  var provider: Provider {
    switch self {
    case .facebook: .facebook
    case .google, .googleId: .google
    case .apple: .apple
    case .emailPassword: .usernamePassword
    case .jwt: .jwt
    case .function: .function
    case .userAPIKey: .userAPIKey
    case .serverAPIKey: .serverAPIKey
    case .anonymous: .anonymous
    }
  }

  /// The fields of the log-in request by which the server recognizes the user.
  var fields: Document {
    switch self {
    case .facebook(let token): ["accessToken": .string(token)]
    case .google(let code): ["authCode": .string(code)]
    case .googleId(let token), .apple(let token): ["id_token": .string(token)]
    case .emailPassword(let email, let password):
      ["username": .string(email), "password": .string(password)]
    case .jwt(let token): ["token": .string(token)]
    case .function(let payload): payload
    case .userAPIKey(let key), .serverAPIKey(let key): ["key": .string(key)]
    case .anonymous: [:]
    }
  }
}

extension Credentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The name of the provider. The text has no password or token, so that it may be logged.
  public var description: String { "credentials of \(provider.rawValue)" }
  /// The same as `description`.
  public var debugDescription: String { description }
  /// A mirror without children, so that no password or token is printed.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// The name of a way to log in, as servers use it.
public struct Provider: RawRepresentable, Hashable, Sendable {
  /// The name that servers use.
  public let rawValue: String

  /// Makes a provider with the name that servers use.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Log-in by an e-mail address and a password.
  public static let usernamePassword = Provider(rawValue: "local-userpass")
  /// Log-in by a Facebook account.
  public static let facebook = Provider(rawValue: "oauth2-facebook")
  /// Log-in by a Google account.
  public static let google = Provider(rawValue: "oauth2-google")
  /// Log-in by an Apple account.
  public static let apple = Provider(rawValue: "oauth2-apple")
  /// Log-in by a JSON Web Token of the app owner's server.
  public static let jwt = Provider(rawValue: "custom-token")
  /// Anonymous log-in: the server makes a new user.
  public static let anonymous = Provider(rawValue: "anon-user")
  /// Log-in by a function of the server.
  public static let function = Provider(rawValue: "custom-function")
  /// Log-in by an API key of a user.
  public static let userAPIKey = Provider(rawValue: "api-key")
  /// Log-in by an API key of the server.
  public static let serverAPIKey = Provider(rawValue: "api-key")
}
