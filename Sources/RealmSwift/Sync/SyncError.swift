public import Foundation
import Synchronization

/// An error of device sync, as `SyncManager.errorHandler` gets it.
///
/// It bridges to an `NSError` of the domain `io.realm.sync`: `catch let error as NSError` catches it too. Two errors are equal if
/// their codes are equal.
public struct SyncError: Error {
  /// The kind of the error. The numbers are stable.
  public enum Code: Int, Sendable {
    /// The session can't continue for a reason that has no other code here. The session is inactive. The message gives the
    /// reason.
    case clientSessionError = 4
    /// The user is logged out or removed, or the server has ended the log-in. The user has to log in again. Files of a logged-out
    /// user and their changes stay.
    case clientUserError = 5
    /// An operation on this device has failed, for example reading or writing the file.
    case clientInternalError = 6
    /// The server has another history than the file, and the app has to decide what happens to the file: either the mode is
    /// `ClientResetMode.manual`, or an automatic reset has failed. See `clientResetInfo()`. The session is inactive.
    case clientResetError = 7
    /// Log-in has failed. Sync does not report this code: `App` throws `AppError`.
    case underlyingAuthError = 8
    /// The user has no permission to use the data of the file. The session is inactive. The file stays; see
    /// `deleteRealmUserInfo()`.
    case permissionDeniedError = 9
    /// The server can't use the queries of a subscription set. The earlier set stays in force.
    case invalidFlexibleSyncSubscriptions = 10
    /// The server has refused changes, and they were undone on this device. `compensatingWriteInfo` names the objects.
    case writeRejected = 11
    /// The server can't be reached, and the session keeps trying. Only an asynchronous open with
    /// `cancelAsyncOpenOnNonFatalErrors` always gets this error. `errorHandler` gets it only if somebody has to do something: a
    /// proxy in front of the server refuses connections with the status 403, the user has more files than the server allows, or
    /// the server is full.
    case connectionFailed = 12
    /// TLS with the server could not be set up, or the server's certificate is not trusted. The session keeps trying. Only an
    /// asynchronous open with `cancelAsyncOpenOnNonFatalErrors` gets this error.
    case tlsHandshakeFailed = 13
    /// The server reports something that an administrator should know. No part of this library makes an error with this code.
    case serverWarning = 14
  }

  /// An action that an error leaves to the app. Pass it to `SyncSession.immediatelyHandleError(_:)` to carry it out. It is
  /// carried out once.
  public final class ActionToken: Sendable {
    private let action: Mutex<(@Sendable () -> Bool)?>

    /// - Parameter action: carries out the action, and returns whether it is done. If it is not, it can be tried again.
    init(_ action: @escaping @Sendable () -> Bool) { self.action = Mutex(action) }

    /// Carries out the action, unless it is done already.
    func run() {
      // The lock is not held: the action moves files and logs it, and the app's own logger must not run under the lock.
      let taken = action.withLock { action -> (@Sendable () -> Bool)? in
        defer { action = nil }
        return action
      }
      guard let taken, !taken() else { return }
      action.withLock { $0 = taken }
    }
  }

  private let error: NSError

  fileprivate init(_ error: NSError) { self.error = error }

  /// Makes an error, for example in tests of a program.
  ///
  /// - Parameters:
  ///   - code: the kind of the error.
  ///   - userInfo: the entries of the `NSError`. The name of the code is added for the key "Error Name".
  public init(_ code: Code, userInfo: [String: Any] = [:]) {
    let info = userInfo.merging([Self.nameKey: "\(code)"]) { given, _ in given }
    error = NSError(domain: Self.errorDomain, code: code.rawValue, userInfo: info)
  }

  /// - Parameters:
  ///   - message: what happened, to which file, and what to do about it.
  ///   - action: what is left to the app.
  ///   - recoveryPath: the path of the file once the action has put it aside.
  ///   - compensatingWrites: what the server has refused.
  ///   - logURL: the address of the server's log entry.
  init(
    _ code: Code, _ message: String, action: ActionToken? = nil, recoveryPath: String? = nil,
    compensatingWrites: [CompensatingWriteInfo]? = nil, logURL: String? = nil
  ) {
    var info: [String: Any] = [NSLocalizedDescriptionKey: message]
    if let action { info[Self.actionKey] = action }
    if let recoveryPath { info[Self.recoveryPathKey] = recoveryPath }
    if let compensatingWrites { info[Self.compensatingWritesKey] = compensatingWrites }
    if let logURL { info[Self.serverLogURLKey] = logURL }
    self.init(code, userInfo: info)
  }

  // Keys of `userInfo`.
  private static let nameKey = "Error Name"
  private static let actionKey = "error_action_token"
  private static let recoveryPathKey = "recovered_realm_location_path"
  private static let compensatingWritesKey = "Compensating Write Info"
  private static let serverLogURLKey = "Server Log URL"

  /// The kind of the error; `.clientInternalError` if its number belongs to no case of `Code`.
  public var code: Code { Code(rawValue: error.code) ?? .clientInternalError }
  /// What happened and what to do about it, in English.
  public var localizedDescription: String { error.localizedDescription }

  /// The domain of the `NSError` to which this error bridges: `io.realm.sync`.
  public static var errorDomain: String { "io.realm.sync" }

  // MARK: - What else there is to know

  /// What the app can do about a `clientResetError`: the path to which the file will be moved, and the token that moves it. Pass
  /// the token to `SyncSession.immediatelyHandleError(_:)` when no realm of the file is open. Nil for other errors, and if the
  /// file can't be moved.
  public func clientResetInfo() -> (String, SyncError.ActionToken)? {
    guard code == .clientResetError, let path = userInfo[Self.recoveryPathKey] as? String,
      let action = userInfo[Self.actionKey] as? ActionToken
    else { return nil }
    return (path, action)
  }

  /// What the app can do about a `clientResetError` or a `permissionDeniedError`: a token that moves the file of the former, and
  /// deletes the file of the latter. Pass it to `SyncSession.immediatelyHandleError(_:)`. Nil for other errors, and if the file
  /// can't be moved or deleted.
  public func deleteRealmUserInfo() -> SyncError.ActionToken? {
    guard code == .clientResetError || code == .permissionDeniedError else { return nil }
    return userInfo[Self.actionKey] as? ActionToken
  }

  /// The address of the entry in the server's log; nil if the server has sent none.
  public var serverLogURL: URL? { (userInfo[Self.serverLogURLKey] as? String).flatMap { URL(string: $0) } }

  /// The objects whose changes the server has refused, if this is a `writeRejected`. Nil for other errors.
  public var compensatingWriteInfo: [CompensatingWriteInfo]? {
    guard code == .writeRejected else { return nil }
    return userInfo[Self.compensatingWritesKey] as? [CompensatingWriteInfo]
  }
}

extension SyncError: CustomNSError, LocalizedError, CustomStringConvertible {
  /// The number of `code`.
  public var errorCode: Int { error.code }
  /// The same as `userInfo`.
  public var errorUserInfo: [String: Any] { error.userInfo }
  /// The entries of the `NSError`.
  public var userInfo: [String: Any] { error.userInfo }
  /// What happened and what to do about it, in English.
  public var errorDescription: String? { error.localizedDescription }
  /// The same as `localizedDescription`.
  public var description: String { error.localizedDescription }
}

extension SyncError: Hashable {
  /// Whether both have the same code.
  public static func == (left: SyncError, right: SyncError) -> Bool { left.error.code == right.error.code }

  public func hash(into hasher: inout Hasher) { hasher.combine(error.code) }
}

extension SyncError {
  /// A pattern for `catch` that matches `Code.clientSessionError`: the session can't continue.
  public static var clientSessionError: Code { .clientSessionError }
  /// A pattern for `catch` that matches `Code.clientUserError`: the user is logged out.
  public static var clientUserError: Code { .clientUserError }
  /// A pattern for `catch` that matches `Code.clientInternalError`: an operation on this device has failed.
  public static var clientInternalError: Code { .clientInternalError }
  /// A pattern for `catch` that matches `Code.clientResetError`: the app has to decide what happens to a file.
  public static var clientResetError: Code { .clientResetError }
  /// A pattern for `catch` that matches `Code.underlyingAuthError`, which sync never reports.
  public static var underlyingAuthError: Code { .underlyingAuthError }
  /// A pattern for `catch` that matches `Code.permissionDeniedError`: the user may not use a file's data.
  public static var permissionDeniedError: Code { .permissionDeniedError }
  /// A pattern for `catch` that matches `Code.invalidFlexibleSyncSubscriptions`: the server can't use the queries of a
  /// subscription set.
  public static var invalidFlexibleSyncSubscriptions: Code { .invalidFlexibleSyncSubscriptions }
  /// A pattern for `catch` that matches `Code.writeRejected`: the server has refused changes.
  public static var writeRejected: Code { .writeRejected }
  /// A pattern for `catch` that matches `Code.connectionFailed`: the server can't be reached.
  public static var connectionFailed: Code { .connectionFailed }
  /// A pattern for `catch` that matches `Code.tlsHandshakeFailed`: TLS with the server could not be set up.
  public static var tlsHandshakeFailed: Code { .tlsHandshakeFailed }
  /// A pattern for `catch` that matches `Code.serverWarning`, which this library never reports.
  public static var serverWarning: Code { .serverWarning }
}

extension SyncError.Code {
  /// Whether an error is a `SyncError` with this code. It lets `catch SyncError.clientUserError` work.
  public static func ~= (code: Self, error: any Error) -> Bool { (error as? SyncError)?.code == code }
}

// Bridges to `NSError` and back, so that `catch let error as NSError` also works on systems where Foundation has no Objective-C
// runtime.
extension SyncError: _ObjectiveCBridgeable {
  public func _bridgeToObjectiveC() -> NSError { error }
  public static func _forceBridgeFromObjectiveC(_ source: NSError, result: inout SyncError?) {
    _ = _conditionallyBridgeFromObjectiveC(source, result: &result)
  }
  public static func _conditionallyBridgeFromObjectiveC(_ source: NSError, result: inout SyncError?) -> Bool {
    result = source.domain == errorDomain ? SyncError(source) : nil
    return result != nil
  }
  public static func _unconditionallyBridgeFromObjectiveC(_ source: NSError?) -> SyncError {
    source.map { SyncError($0) } ?? SyncError(.clientInternalError, "an error without a description")
  }
}
