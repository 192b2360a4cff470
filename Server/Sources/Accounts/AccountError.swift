/// The reason why a request about an account was refused. The message is for people: it says what was wrong and what to
/// do, and contains no token, password or key.
public struct AccountError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The kind of an error. The raw values are the names in answers to clients.
  public enum Code: String, Sendable, CaseIterable {
    /// A token is unknown, forged, expired or revoked.
    case invalidSession = "InvalidSession"
    /// The request can't be fulfilled as it is.
    case badRequest = "BadRequest"
    /// There is no such user.
    case userNotFound = "UserNotFound"
    /// A value that was given is not allowed.
    case invalidParameter = "InvalidParameter"
    /// A value is needed and was not given.
    case missingParameter = "MissingParameter"
    /// The way to log in does not exist, or is switched off.
    case authProviderNotFound = "AuthProviderNotFound"
    /// There is no such thing, for example no such API key.
    case valueNotFound = "ValueNotFound"
    /// The e-mail address is confirmed already.
    case userAlreadyConfirmed = "UserAlreadyConfirmed"
    /// An administrator has disabled the user.
    case userDisabled = "UserDisabled"
    /// The credentials are not accepted.
    case authError = "AuthError"
    /// The name or the identity belongs to another user.
    case accountNameInUse = "AccountNameInUse"
    /// The e-mail address or the password is wrong. The error does not say which of the two.
    case invalidPassword = "InvalidPassword"
    /// The user has an API key of that name.
    case apiKeyAlreadyExists = "APIKeyAlreadyExists"
    /// A limit on attempts was reached.
    case tooManyRequests = "TooManyRequests"
    /// The server can't do it now.
    case serviceUnavailable = "ServiceUnavailable"
    /// Something failed in the server.
    case internalServerError = "InternalServerError"
  }

  /// The kind of the error.
  public let code: Code
  /// What was wrong and what to do, in plain English.
  public let message: String

  /// Makes an error.
  ///
  /// - Parameter message: a text without secrets, because it is sent to clients and may be logged.
  public init(code: Code, message: String) {
    self.code = code
    self.message = message
  }

  init(_ code: Code, _ message: String) { self.init(code: code, message: message) }

  /// The status of an HTTP answer that reports the error.
  public var httpStatus: Int {
    switch code {
    case .badRequest, .invalidParameter, .missingParameter, .userAlreadyConfirmed: 400
    case .invalidSession, .authError, .invalidPassword, .userDisabled: 401
    case .userNotFound, .authProviderNotFound, .valueNotFound: 404
    case .accountNameInUse, .apiKeyAlreadyExists: 409
    case .tooManyRequests: 429
    case .internalServerError: 500
    case .serviceUnavailable: 503
    }
  }

  /// The code's name and the message.
  public var description: String { "\(code.rawValue): \(message)" }
}

extension AccountError {
  /// The error is the same for an address that nobody has and for a wrong password, so that it tells nothing about
  /// accounts.
  static let wrongPassword = AccountError(
    .invalidPassword, "The e-mail address or the password is wrong. Check both, or reset the password.")
  static let wrongKey = AccountError(.authError, "This API key is not known. Use one that exists.")
  static let badAccessToken = AccountError(
    .invalidSession, "The access token is not valid. Get a new one with the refresh token, or log in again.")
  static let expiredAccessToken = AccountError(
    .invalidSession, "The access token has expired. Get a new one with the refresh token.")
  static let endedSession = AccountError(.invalidSession, "This session has ended. Log in again.")
  static let disabledUser = AccountError(
    .userDisabled, "This user is disabled. Ask the administrator of the app.")
  static let unknownUser = AccountError(.userNotFound, "There is no such user. Check the id or the address.")
  static let unknownKey = AccountError(
    .valueNotFound, "This user has no such API key. List the keys to see their ids.")
  static let nameInUse = AccountError(
    .accountNameInUse, "The e-mail address is in use. Log in with it, or choose another.")
  static let identityInUse = AccountError(
    .accountNameInUse, "These credentials belong to another user. Log in as that user, or use others.")
  static let badMessageToken = AccountError(
    .badRequest,
    "The token is not valid: it was used before, has expired, or is another. Ask for a new message.")
}
