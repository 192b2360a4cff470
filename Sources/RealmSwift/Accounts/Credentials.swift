/// What somebody logs in with: `App.login(credentials:)`.
public enum Credentials: Sendable {
  /// The access token of an app at Facebook.
  case facebook(accessToken: String)
  /// The code that Google gives for a server.
  case google(serverAuthCode: String)
  /// The id token that Google gives.
  case googleId(token: String)
  /// The id token that Apple gives.
  case apple(idToken: String)
  /// An e-mail address and a password, which were registered by `App.emailPasswordAuth`.
  case emailPassword(email: String, password: String)
  /// A JSON Web Token of a server of one's own.
  case jwt(token: String)
  /// What a function of the server takes, which then says who logs in.
  case function(payload: Document)
  /// The text of an API key of a user.
  case userAPIKey(String)
  /// The text of an API key of the server.
  case serverAPIKey(String)
  /// Nothing: the server makes a new user. While such a user is logged in, it is that user again.
  case anonymous

  /// The way to log in.
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

  /// What a server is sent to see who logs in.
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
  /// The name of the provider alone, so that no password or token gets into a log.
  public var description: String { "credentials of \(provider.rawValue)" }
  /// The same as `description`.
  public var debugDescription: String { description }
  /// Without children.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// The name of a way to log in.
public struct Provider: RawRepresentable, Hashable, Sendable {
  /// As servers name it.
  public let rawValue: String

  /// The way to log in that servers name so.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// An e-mail address and a password.
  public static let usernamePassword = Provider(rawValue: "local-userpass")
  /// Facebook.
  public static let facebook = Provider(rawValue: "oauth2-facebook")
  /// Google.
  public static let google = Provider(rawValue: "oauth2-google")
  /// Apple.
  public static let apple = Provider(rawValue: "oauth2-apple")
  /// A JSON Web Token.
  public static let jwt = Provider(rawValue: "custom-token")
  /// Nothing: each log-in makes a user.
  public static let anonymous = Provider(rawValue: "anon-user")
  /// A function of the server.
  public static let function = Provider(rawValue: "custom-function")
  /// An API key of a user.
  public static let userAPIKey = Provider(rawValue: "api-key")
  /// An API key of the server.
  public static let serverAPIKey = Provider(rawValue: "api-key")
}
