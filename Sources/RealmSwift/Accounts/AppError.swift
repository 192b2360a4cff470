public import Foundation
import RealmSyncClient

/// Why a log-in, or another request of an app about its users, did not succeed.
///
/// It stands for an `NSError` of the domain `io.realm.app`: `catch let error as NSError` sees one too.
public struct AppError: Swift.Error {
  /// What kind of error it is. The numbers are stable.
  public enum Code: Int, Sendable {
    /// Anything else: the server has told a kind of error that this library does not know, or what was asked has no meaning
    /// now, as with a user who is removed. Read the message.
    case unknown = -1
    /// The server could not be reached, or its answer is not one of a sync server. Look at the network, and at
    /// `AppConfiguration.baseURL`.
    case httpRequestFailed = 1
    /// The log-in has ended, or the token is not valid. Log in again.
    case invalidSession = 2
    /// The server can't do what is asked as it is asked. The message says what is wrong.
    case badRequest = 3
    /// The server has no such user.
    case userNotFound = 4
    /// The user belongs to another app. Log in with users of this one.
    case userAppDomainMismatch = 5
    /// The server does not let programs of this origin in.
    case domainNotAllowed = 6
    /// More was asked for than the server gives at a time.
    case readSizeLimitExceeded = 7
    /// A value that was given is not allowed. Servers tell `badRequest` in its place.
    case invalidParameter = 8
    /// A value is needed and was not given.
    case missingParameter = 9
    /// A function of the server has failed.
    case functionExecutionError = 10
    /// Something failed in the server. Try again later.
    case internalServerError = 11
    /// The way to log in does not exist, or is switched off on the server.
    case authProviderNotFound = 12
    /// There is no such thing, for example no such API key.
    case valueNotFound = 13
    /// There is such a thing already.
    case valueAlreadyExists = 14
    /// The name is in use. Choose another.
    case valueDuplicateName = 15
    /// The server has no such function.
    case functionNotFound = 16
    /// A function of the server can't be read.
    case functionSyntaxError = 17
    /// A function of the server is not valid.
    case functionInvalid = 18
    /// The user has an API key of this name. Choose another name, or delete that key.
    case apiKeyAlreadyExists = 19
    /// What was asked took longer than the server allows.
    case executionTimeLimitExceeded = 20
    /// The function can't be called by users.
    case notCallable = 21
    /// The e-mail address is confirmed already. Log in.
    case userAlreadyConfirmed = 22
    /// An administrator has disabled the user.
    case userDisabled = 23
    /// The credentials are not accepted.
    case authError = 24
    /// The e-mail address or the identity belongs to another user. Log in as that user, or use another.
    case accountNameInUse = 25
    /// The e-mail address or the password is wrong; the server does not say which.
    case invalidPassword = 26
    /// The server is being worked on. Try again later.
    case maintenanceInProgress = 27
    /// The server's database has failed.
    case mongoDBError = 28
  }

  private let error: NSError
  /// Why no answer was had; nil where the server has answered.
  let problem: NetworkProblem?

  fileprivate init(_ error: NSError) {
    self.error = error
    problem = nil
  }

  init(
    _ code: Code, _ message: String, name: String? = nil, status: Int? = nil, link: String? = nil,
    problem: NetworkProblem? = nil
  ) {
    var info: [String: Any] = [NSLocalizedDescriptionKey: message]
    if let name { info[Self.nameKey] = name }
    if let status { info[Self.statusKey] = status }
    if let link { info[Self.linkKey] = link }
    error = NSError(domain: Self.errorDomain, code: code.rawValue, userInfo: info)
    self.problem = problem
  }

  /// An error of a program's own, with a code and what else there is to know.
  public init(_ code: Code, userInfo: [String: Any] = [:]) {
    error = NSError(domain: Self.errorDomain, code: code.rawValue, userInfo: userInfo)
    problem = nil
  }

  private static let nameKey = "Error Name"
  private static let statusKey = "HTTP Status Code"
  private static let linkKey = "Server Log URL"

  /// What kind of error it is; `.unknown` where its number is that of no case.
  public var code: Code { Code(rawValue: error.code) ?? .unknown }
  /// The status of HTTP that the server has answered; nil where it has not answered.
  public var httpStatusCode: Int? { error.userInfo[Self.statusKey] as? Int }
  /// The kind of the error as the server names it; nil where it has not.
  var name: String? { error.userInfo[Self.nameKey] as? String }
  /// What happened, and what to do.
  public var localizedDescription: String { error.localizedDescription }

  /// The domain of the `NSError` it stands for: `io.realm.app`.
  public static var errorDomain: String { "io.realm.app" }
}

extension AppError: Hashable {
  public static func == (left: Self, right: Self) -> Bool { left.error == right.error }
  public func hash(into hasher: inout Hasher) { hasher.combine(error) }
}

extension AppError: CustomNSError, LocalizedError, CustomStringConvertible {
  /// The number of `code`.
  public var errorCode: Int { error.code }
  /// The same as `userInfo`.
  public var errorUserInfo: [String: Any] { error.userInfo }
  /// What else there is to know, by the keys of an `NSError`: the message, and where the server has answered "HTTP Status Code"
  /// (a number), "Error Name" and "Server Log URL" (texts).
  public var userInfo: [String: Any] { error.userInfo }
  /// What happened, and what to do.
  public var errorDescription: String? { error.localizedDescription }
  public var description: String { error.localizedDescription }
}

extension AppError {
  /// Catches `Code.unknown`: what has no code of its own.
  public static var unknown: Code { .unknown }
  /// Catches `Code.httpRequestFailed`: the server could not be reached.
  public static var httpRequestFailed: Code { .httpRequestFailed }
  /// Catches `Code.invalidSession`: the log-in has ended.
  public static var invalidSession: Code { .invalidSession }
  /// Catches `Code.badRequest`: a request is wrong.
  public static var badRequest: Code { .badRequest }
  /// Catches `Code.userNotFound`: there is no such user.
  public static var userNotFound: Code { .userNotFound }
  /// Catches `Code.userAppDomainMismatch`: the user belongs to another app.
  public static var userAppDomainMismatch: Code { .userAppDomainMismatch }
  /// Catches `Code.domainNotAllowed`: the origin is not let in.
  public static var domainNotAllowed: Code { .domainNotAllowed }
  /// Catches `Code.readSizeLimitExceeded`: too much was asked for.
  public static var readSizeLimitExceeded: Code { .readSizeLimitExceeded }
  /// Catches `Code.invalidParameter`: a value is not allowed.
  public static var invalidParameter: Code { .invalidParameter }
  /// Catches `Code.missingParameter`: a value is missing.
  public static var missingParameter: Code { .missingParameter }
  /// Catches `Code.functionExecutionError`: a function has failed.
  public static var functionExecutionError: Code { .functionExecutionError }
  /// Catches `Code.internalServerError`: the server has failed.
  public static var internalServerError: Code { .internalServerError }
  /// Catches `Code.authProviderNotFound`: the way to log in does not exist.
  public static var authProviderNotFound: Code { .authProviderNotFound }
  /// Catches `Code.valueNotFound`: there is no such thing.
  public static var valueNotFound: Code { .valueNotFound }
  /// Catches `Code.valueAlreadyExists`: there is such a thing already.
  public static var valueAlreadyExists: Code { .valueAlreadyExists }
  /// Catches `Code.valueDuplicateName`: the name is in use.
  public static var valueDuplicateName: Code { .valueDuplicateName }
  /// Catches `Code.functionNotFound`: there is no such function.
  public static var functionNotFound: Code { .functionNotFound }
  /// Catches `Code.functionSyntaxError`: a function can't be read.
  public static var functionSyntaxError: Code { .functionSyntaxError }
  /// Catches `Code.functionInvalid`: a function is not valid.
  public static var functionInvalid: Code { .functionInvalid }
  /// Catches `Code.apiKeyAlreadyExists`: there is such an API key already.
  public static var apiKeyAlreadyExists: Code { .apiKeyAlreadyExists }
  /// Catches `Code.executionTimeLimitExceeded`: it took too long.
  public static var executionTimeLimitExceeded: Code { .executionTimeLimitExceeded }
  /// Catches `Code.notCallable`: a function can't be called.
  public static var notCallable: Code { .notCallable }
  /// Catches `Code.userAlreadyConfirmed`: the user is confirmed already.
  public static var userAlreadyConfirmed: Code { .userAlreadyConfirmed }
  /// Catches `Code.userDisabled`: the user is disabled.
  public static var userDisabled: Code { .userDisabled }
  /// Catches `Code.authError`: the credentials are not accepted.
  public static var authError: Code { .authError }
  /// Catches `Code.accountNameInUse`: the name belongs to another user.
  public static var accountNameInUse: Code { .accountNameInUse }
  /// Catches `Code.invalidPassword`: the address or the password is wrong.
  public static var invalidPassword: Code { .invalidPassword }
  /// Catches `Code.maintenanceInProgress`: the server is being worked on.
  public static var maintenanceInProgress: Code { .maintenanceInProgress }
  /// Catches `Code.mongoDBError`: the server's database has failed.
  public static var mongoDBError: Code { .mongoDBError }
}

extension AppError.Code {
  /// `catch AppError.invalidPassword` catches what has that code.
  public static func ~= (code: Self, error: any Swift.Error) -> Bool {
    (error as? AppError)?.code == code
  }
}

// `catch let error as NSError`, and back, where Foundation has no Objective-C runtime beneath it.
extension AppError: _ObjectiveCBridgeable {
  public func _bridgeToObjectiveC() -> NSError { error }
  public static func _forceBridgeFromObjectiveC(_ source: NSError, result: inout AppError?) {
    _ = _conditionallyBridgeFromObjectiveC(source, result: &result)
  }
  public static func _conditionallyBridgeFromObjectiveC(_ source: NSError, result: inout AppError?) -> Bool {
    result = source.domain == errorDomain ? AppError(source) : nil
    return result != nil
  }
  public static func _unconditionallyBridgeFromObjectiveC(_ source: NSError?) -> AppError {
    source.map { AppError($0) } ?? AppError(.unknown, "an error without a description")
  }
}
