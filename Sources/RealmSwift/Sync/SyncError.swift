public import Foundation
import Synchronization

/// What has gone wrong with device sync, as `SyncManager.errorHandler` is told it.
///
/// It stands for an `NSError` of the domain `io.realm.sync`: `catch let error as NSError` sees one too. Two errors are equal
/// where their codes are.
public struct SyncError: Error {
  /// What kind of error it is. The numbers are stable.
  public enum Code: Int, Sendable {
    /// The server can't go on with this file, for another reason than those below. The session is inactive; the message says why.
    case clientSessionError = 4
    /// The server does not let the user in any more: the user is logged out, and is to log in again. Files and changes stay.
    case clientUserError = 5
    /// Something on this device has failed: the file can't be read or written, say.
    case clientInternalError = 6
    /// The server has another history than the file, and the app is to say what happens to the file, as it wants that of all resets or an automatic
    /// one has failed: see `clientResetInfo()`. The session is inactive.
    case clientResetError = 7
    /// Log-in has failed. Not reported: `App` throws its own errors.
    case underlyingAuthError = 8
    /// The user may not use this file's data. The session is inactive. The file stays; see `deleteRealmUserInfo()`.
    case permissionDeniedError = 9
    /// The server can't use the queries of a subscription set. The set before it stays in force.
    case invalidFlexibleSyncSubscriptions = 10
    /// The server has refused changes, which were undone here. `compensatingWriteInfo` names the objects.
    case writeRejected = 11
    /// The server can't be reached; the session tries again. Told to who opens a realm with `cancelAsyncOpenOnNonFatalErrors`. `errorHandler` is told
    /// only where somebody has to do something: what stands before the server, as a proxy, refuses connections by the status 403; the user
    /// has more files than the server allows; or the server is full.
    case connectionFailed = 12
    /// There is no TLS with the server, or its certificate is not trusted. Told as `connectionFailed` is.
    case tlsHandshakeFailed = 13
    /// The server says something that an administrator should know. The session goes on.
    case serverWarning = 14
  }

  /// What an error leaves to the app: it happens when the token is given to `SyncSession.immediatelyHandleError(_:)`, once.
  public final class ActionToken: Sendable {
    private let action: Mutex<(@Sendable () -> Bool)?>

    /// - Parameter action: answers whether it is done. What is not done can be tried again.
    init(_ action: @escaping @Sendable () -> Bool) { self.action = Mutex(action) }

    /// Does it, until it is done.
    func run() {
      // Not under the lock: files are moved, of which a logger of the app is told.
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

  /// An error with a code and what else there is to know. The name of the code is added, under the key "Error Name".
  public init(_ code: Code, userInfo: [String: Any] = [:]) {
    let info = userInfo.merging([Self.nameKey: "\(code)"]) { given, _ in given }
    error = NSError(domain: Self.errorDomain, code: code.rawValue, userInfo: info)
  }

  /// - Parameters:
  ///   - message: what happened, to which file, and what to do.
  ///   - action: what is left to the app.
  ///   - recoveryPath: where the file will be, once the action has put it aside.
  ///   - compensatingWrites: what the server has refused.
  ///   - logURL: where the server's log tells more.
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

  /// What kind of error it is; `.clientInternalError` where its number is that of no case.
  public var code: Code { Code(rawValue: error.code) ?? .clientInternalError }
  /// What happened, and what to do.
  public var localizedDescription: String { error.localizedDescription }

  /// The domain of the `NSError` it stands for: `io.realm.sync`.
  public static var errorDomain: String { "io.realm.sync" }

  // MARK: - What else there is to know

  /// Of a `clientResetError`, where the file will be put aside, and what does so: give the token to
  /// `SyncSession.immediatelyHandleError(_:)` once no realm of the file is open. Nil of other errors.
  public func clientResetInfo() -> (String, SyncError.ActionToken)? {
    guard code == .clientResetError, let path = userInfo[Self.recoveryPathKey] as? String,
      let action = userInfo[Self.actionKey] as? ActionToken
    else { return nil }
    return (path, action)
  }

  /// Of a `clientResetError` or `permissionDeniedError`, what puts the file aside or deletes it: give the token to
  /// `SyncSession.immediatelyHandleError(_:)`. Nil of other errors.
  public func deleteRealmUserInfo() -> SyncError.ActionToken? {
    guard code == .clientResetError || code == .permissionDeniedError else { return nil }
    return userInfo[Self.actionKey] as? ActionToken
  }

  /// Where the server's log tells more; nil where the server has not said it.
  public var serverLogURL: URL? { (userInfo[Self.serverLogURLKey] as? String).flatMap { URL(string: $0) } }

  /// Of a `writeRejected`, the objects whose changes the server has refused. Nil of other errors.
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
  /// What else there is to know, by the keys of an `NSError`.
  public var userInfo: [String: Any] { error.userInfo }
  /// What happened, and what to do.
  public var errorDescription: String? { error.localizedDescription }
  public var description: String { error.localizedDescription }
}

extension SyncError: Hashable {
  /// Whether both have the same code.
  public static func == (left: SyncError, right: SyncError) -> Bool { left.error.code == right.error.code }

  public func hash(into hasher: inout Hasher) { hasher.combine(error.code) }
}

extension SyncError {
  /// Catches `Code.clientSessionError`: the server can't go on with a file.
  public static var clientSessionError: Code { .clientSessionError }
  /// Catches `Code.clientUserError`: the user is logged out by the server.
  public static var clientUserError: Code { .clientUserError }
  /// Catches `Code.clientInternalError`: something on this device has failed.
  public static var clientInternalError: Code { .clientInternalError }
  /// Catches `Code.clientResetError`: the app is to say what happens to a file.
  public static var clientResetError: Code { .clientResetError }
  /// Catches `Code.underlyingAuthError`: never reported.
  public static var underlyingAuthError: Code { .underlyingAuthError }
  /// Catches `Code.permissionDeniedError`: the user may not use a file's data.
  public static var permissionDeniedError: Code { .permissionDeniedError }
  /// Catches `Code.invalidFlexibleSyncSubscriptions`: the server can't use queries.
  public static var invalidFlexibleSyncSubscriptions: Code { .invalidFlexibleSyncSubscriptions }
  /// Catches `Code.writeRejected`: the server has refused changes.
  public static var writeRejected: Code { .writeRejected }
  /// Catches `Code.connectionFailed`: the server can't be reached.
  public static var connectionFailed: Code { .connectionFailed }
  /// Catches `Code.tlsHandshakeFailed`: there is no TLS with the server.
  public static var tlsHandshakeFailed: Code { .tlsHandshakeFailed }
  /// Catches `Code.serverWarning`: the server says something that an administrator should know.
  public static var serverWarning: Code { .serverWarning }
}

extension SyncError.Code {
  /// `catch SyncError.clientUserError` catches what has that code.
  public static func ~= (code: Self, error: any Error) -> Bool { (error as? SyncError)?.code == code }
}

// `catch let error as NSError`, and back, where Foundation has no Objective-C runtime beneath it.
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
