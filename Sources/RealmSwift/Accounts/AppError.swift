public import Foundation
import RealmSyncClient

/// An error of a log-in, or of another request of an app about its users.
///
/// It bridges to an `NSError` of the domain `io.realm.app`: `catch let error as NSError` catches it too.
public struct AppError: Swift.Error {
  /// The kind of the error. The numbers are stable.
  public enum Code: Int, Sendable {
    /// No other code fits: the server has answered with a kind of error that this library does not know, or the request makes no
    /// sense now, such as one of a user who is logged out or removed. Read the message.
    case unknown = -1
    /// The server could not be reached, or the answer is not one of a sync server. Check the network and
    /// `AppConfiguration.baseURL`.
    case httpRequestFailed = 1
    /// The log-in has ended, or the token is not valid. The user has to log in again.
    case invalidSession = 2
    /// The server can't carry out the request in this form. The message says what is wrong.
    case badRequest = 3
    /// The server has no such user.
    case userNotFound = 4
    /// The user belongs to another app. Log in with users of this one.
    case userAppDomainMismatch = 5
    /// The server does not accept requests from the origin of this program.
    case domainNotAllowed = 6
    /// The request asks for more data than the server returns at once.
    case readSizeLimitExceeded = 7
    /// A value in the request is not allowed. Servers answer `badRequest` instead.
    case invalidParameter = 8
    /// A value that the request needs is missing.
    case missingParameter = 9
    /// A function of the server has failed.
    case functionExecutionError = 10
    /// Something failed in the server. Try again later.
    case internalServerError = 11
    /// The way to log in does not exist, or is switched off on the server.
    case authProviderNotFound = 12
    /// The requested item does not exist, for example an API key.
    case valueNotFound = 13
    /// The item exists already.
    case valueAlreadyExists = 14
    /// The name is in use. Choose another.
    case valueDuplicateName = 15
    /// The server has no such function.
    case functionNotFound = 16
    /// A function of the server can't be read.
    case functionSyntaxError = 17
    /// A function of the server is not valid.
    case functionInvalid = 18
    /// The user has an API key with this name already. Choose another name, or delete that key.
    case apiKeyAlreadyExists = 19
    /// The request took longer than the server allows.
    case executionTimeLimitExceeded = 20
    /// The function can't be called by users.
    case notCallable = 21
    /// The e-mail address is confirmed already. The user can log in.
    case userAlreadyConfirmed = 22
    /// An administrator has disabled the user.
    case userDisabled = 23
    /// The credentials are not accepted.
    case authError = 24
    /// The e-mail address or the identity belongs to another user. Log in as that user, or use another address.
    case accountNameInUse = 25
    /// The e-mail address or the password is wrong; the server does not say which.
    case invalidPassword = 26
    /// The server is under maintenance. Try again later.
    case maintenanceInProgress = 27
    /// The server's database has failed.
    case mongoDBError = 28
  }

  private let error: NSError
  /// The network's failure that left the request without an answer; nil if the server has answered.
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

  /// Makes an error, for example in tests of a program.
  ///
  /// - Parameters:
  ///   - code: the kind of the error.
  ///   - userInfo: the entries of the `NSError`. The value for `NSLocalizedDescriptionKey` becomes the description.
  public init(_ code: Code, userInfo: [String: Any] = [:]) {
    error = NSError(domain: Self.errorDomain, code: code.rawValue, userInfo: userInfo)
    problem = nil
  }

  private static let nameKey = "Error Name"
  private static let statusKey = "HTTP Status Code"
  private static let linkKey = "Server Log URL"

  /// The kind of the error; `.unknown` if its number belongs to no case of `Code`.
  public var code: Code { Code(rawValue: error.code) ?? .unknown }
  /// The HTTP status of the server's answer; nil if there was no answer.
  public var httpStatusCode: Int? { error.userInfo[Self.statusKey] as? Int }
  /// The server's name for the kind of the error; nil if the server has given none.
  var name: String? { error.userInfo[Self.nameKey] as? String }
  /// What happened and what to do about it, in English.
  public var localizedDescription: String { error.localizedDescription }

  /// The domain of the `NSError` to which this error bridges: `io.realm.app`.
  public static var errorDomain: String { "io.realm.app" }
}

extension AppError: Hashable {
  /// Whether both errors have equal codes and equal entries in `userInfo`.
  public static func == (left: Self, right: Self) -> Bool { left.error == right.error }
  public func hash(into hasher: inout Hasher) { hasher.combine(error) }
}

extension AppError: CustomNSError, LocalizedError, CustomStringConvertible {
  /// The number of `code`.
  public var errorCode: Int { error.code }
  /// The same as `userInfo`.
  public var errorUserInfo: [String: Any] { error.userInfo }
  /// The entries of the `NSError`: the message for `NSLocalizedDescriptionKey`. If the server has answered, there may also be
  /// "HTTP Status Code" (a number), "Error Name" and "Server Log URL" (texts).
  public var userInfo: [String: Any] { error.userInfo }
  /// What happened and what to do about it, in English.
  public var errorDescription: String? { error.localizedDescription }
  /// The same as `localizedDescription`.
  public var description: String { error.localizedDescription }
}

extension AppError {
  /// A pattern for `catch` that matches errors with the code `.unknown`: no other code fits.
  public static var unknown: Code { .unknown }
  /// A pattern for `catch` that matches `Code.httpRequestFailed`: the server could not be reached.
  public static var httpRequestFailed: Code { .httpRequestFailed }
  /// A pattern for `catch` that matches `Code.invalidSession`: the log-in has ended.
  public static var invalidSession: Code { .invalidSession }
  /// A pattern for `catch` that matches `Code.badRequest`: the server can't carry out the request.
  public static var badRequest: Code { .badRequest }
  /// A pattern for `catch` that matches `Code.userNotFound`: the server has no such user.
  public static var userNotFound: Code { .userNotFound }
  /// A pattern for `catch` that matches `Code.userAppDomainMismatch`: the user belongs to another app.
  public static var userAppDomainMismatch: Code { .userAppDomainMismatch }
  /// A pattern for `catch` that matches `Code.domainNotAllowed`: the server does not accept the program's origin.
  public static var domainNotAllowed: Code { .domainNotAllowed }
  /// A pattern for `catch` that matches `Code.readSizeLimitExceeded`: the request asks for too much data.
  public static var readSizeLimitExceeded: Code { .readSizeLimitExceeded }
  /// A pattern for `catch` that matches `Code.invalidParameter`: a value is not allowed.
  public static var invalidParameter: Code { .invalidParameter }
  /// A pattern for `catch` that matches `Code.missingParameter`: a value is missing.
  public static var missingParameter: Code { .missingParameter }
  /// A pattern for `catch` that matches `Code.functionExecutionError`: a function of the server has failed.
  public static var functionExecutionError: Code { .functionExecutionError }
  /// A pattern for `catch` that matches `Code.internalServerError`: something failed in the server.
  public static var internalServerError: Code { .internalServerError }
  /// A pattern for `catch` that matches `Code.authProviderNotFound`: the way to log in does not exist.
  public static var authProviderNotFound: Code { .authProviderNotFound }
  /// A pattern for `catch` that matches `Code.valueNotFound`: the requested item does not exist.
  public static var valueNotFound: Code { .valueNotFound }
  /// A pattern for `catch` that matches `Code.valueAlreadyExists`: the item exists already.
  public static var valueAlreadyExists: Code { .valueAlreadyExists }
  /// A pattern for `catch` that matches `Code.valueDuplicateName`: the name is in use.
  public static var valueDuplicateName: Code { .valueDuplicateName }
  /// A pattern for `catch` that matches `Code.functionNotFound`: the server has no such function.
  public static var functionNotFound: Code { .functionNotFound }
  /// A pattern for `catch` that matches `Code.functionSyntaxError`: a function of the server can't be parsed.
  public static var functionSyntaxError: Code { .functionSyntaxError }
  /// A pattern for `catch` that matches `Code.functionInvalid`: a function of the server is not valid.
  public static var functionInvalid: Code { .functionInvalid }
  /// A pattern for `catch` that matches `Code.apiKeyAlreadyExists`: the user has an API key with this name already.
  public static var apiKeyAlreadyExists: Code { .apiKeyAlreadyExists }
  /// A pattern for `catch` that matches `Code.executionTimeLimitExceeded`: the request took too long.
  public static var executionTimeLimitExceeded: Code { .executionTimeLimitExceeded }
  /// A pattern for `catch` that matches `Code.notCallable`: users can't call the function.
  public static var notCallable: Code { .notCallable }
  /// A pattern for `catch` that matches `Code.userAlreadyConfirmed`: the e-mail address is confirmed already.
  public static var userAlreadyConfirmed: Code { .userAlreadyConfirmed }
  /// A pattern for `catch` that matches `Code.userDisabled`: an administrator has disabled the user.
  public static var userDisabled: Code { .userDisabled }
  /// A pattern for `catch` that matches `Code.authError`: the credentials are not accepted.
  public static var authError: Code { .authError }
  /// A pattern for `catch` that matches `Code.accountNameInUse`: the address or identity belongs to another user.
  public static var accountNameInUse: Code { .accountNameInUse }
  /// A pattern for `catch` that matches `Code.invalidPassword`: the address or the password is wrong.
  public static var invalidPassword: Code { .invalidPassword }
  /// A pattern for `catch` that matches `Code.maintenanceInProgress`: the server is under maintenance.
  public static var maintenanceInProgress: Code { .maintenanceInProgress }
  /// A pattern for `catch` that matches `Code.mongoDBError`: the server's database has failed.
  public static var mongoDBError: Code { .mongoDBError }
}

extension AppError.Code {
  /// Whether an error is an `AppError` with this code. It lets `catch AppError.invalidPassword` work.
  public static func ~= (code: Self, error: any Swift.Error) -> Bool {
    (error as? AppError)?.code == code
  }
}

// Bridges to `NSError` and back, so that `catch let error as NSError` also works on systems where Foundation has no Objective-C
// runtime.
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
