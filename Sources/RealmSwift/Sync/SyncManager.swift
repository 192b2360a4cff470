import Foundation
import Synchronization

/// A closure that gets the errors of device sync.
///
/// - Parameters:
///   - error: the error.
///   - session: the session in which it occurred; nil if it belongs to no session.
public typealias ErrorReportingBlock = @Sendable (_ error: any Error, _ session: SyncSession?) -> Void

/// The settings that all sync sessions of an app share. Each `App` has one. Any thread may read and set the properties.
public final class SyncManager: Sendable {
  private struct State {
    var errorHandler: ErrorReportingBlock?
    var userAgent = ProcessInfo.processInfo.processName
    var authorizationHeaderName: String?
    var customRequestHeaders: [String: String]?
    var timeouts: SyncTimeouts?
    var logger: (@Sendable (SyncLogLevel, String) -> Void)?
    /// The closures that are called when headers are set.
    var headerObservers: [@Sendable () -> Void] = []
  }
  private let state = Mutex(State())

  init() {}

  /// The closure that gets the errors of sessions. It is called on the main queue; in a program that does not serve its main
  /// queue, on the queue `realm.sync.callbacks`. It may be set at any time. With nil, the default, errors are not reported;
  /// refused changes are kept, and a later session of the file reports them.
  ///
  /// The errors are of the type `SyncError`, and `Realm.Error.multipleSyncAgents` if another process has the session of a file.
  /// Problems that end by themselves, such as a lost network, are not reported.
  public var errorHandler: ErrorReportingBlock? {
    get { state.withLock { $0.errorHandler } }
    set { state.withLock { $0.errorHandler = newValue } }
  }

  /// The text at the end of the header `User-Agent`. The default is the name of the process. Set it before the first synced realm
  /// is opened.
  public var userAgent: String {
    get { state.withLock { $0.userAgent } }
    set { state.withLock { $0.userAgent = newValue } }
  }

  /// The name of the header with the access token; nil for `Authorization`. Setting it makes sessions connect again.
  public var authorizationHeaderName: String? {
    get { state.withLock { $0.authorizationHeaderName } }
    set { set { $0.authorizationHeaderName = newValue } }
  }

  /// Further headers of all requests and connections. Setting them makes sessions connect again.
  public var customRequestHeaders: [String: String]? {
    get { state.withLock { $0.customRequestHeaders } }
    set { set { $0.customRequestHeaders = newValue } }
  }

  /// The timeouts of connections; nil for those of `AppConfiguration.syncTimeouts`. Set them before the first synced realm is
  /// opened: existing connections do not change.
  public var timeoutOptions: SyncTimeoutOptions? {
    get { state.withLock { $0.timeouts }.map { SyncTimeoutOptions($0) } }
    set {
      let values = newValue?.values
      state.withLock { $0.timeouts = values }
    }
  }

  /// The level of `Logger.shared`.
  @available(*, deprecated, message: "Use Logger.shared.level.")
  public var logLevel: SyncLogLevel {
    get { SyncLogLevel(Logger.shared.level) }
    set { Logger.shared.level = newValue.logLevel }
  }

  /// A closure that gets the messages of `Logger.shared`; nil if none was set here. Setting it replaces `Logger.shared` by a
  /// logger with the same level; setting nil leaves `Logger.shared` as it is.
  @available(*, deprecated, message: "Use Logger.shared.")
  public var logger: (@Sendable (SyncLogLevel, String) -> Void)? {
    get { state.withLock { $0.logger } }
    set {
      state.withLock { $0.logger = newValue }
      guard let newValue else { return }
      Logger.shared = Logger(level: Logger.shared.level) { level, text in newValue(SyncLogLevel(level), text)
      }
    }
  }

  private func set(_ change: @Sendable (inout State) -> Void) {
    let observers = state.withLock { state in
      change(&state)
      return state.headerObservers
    }
    for observer in observers { observer() }
  }

  /// Calls `body` whenever headers are set.
  func observeHeaders(_ body: @escaping @Sendable () -> Void) {
    state.withLock { $0.headerObservers.append(body) }
  }
}
