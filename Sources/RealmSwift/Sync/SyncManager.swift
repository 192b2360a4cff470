import Foundation
import Synchronization

/// Is called with an error of device sync, and the session that it concerns; nil where it concerns none.
public typealias ErrorReportingBlock = @Sendable (_ error: any Error, _ session: SyncSession?) -> Void

/// What all sessions of an app have in common. There is one for each `App`.
public final class SyncManager: Sendable {
  private struct State {
    var errorHandler: ErrorReportingBlock?
    var userAgent = ProcessInfo.processInfo.processName
    var authorizationHeaderName: String?
    var customRequestHeaders: [String: String]?
    var timeouts: SyncTimeouts?
    var logger: (@Sendable (SyncLogLevel, String) -> Void)?
    /// Are called when headers are set.
    var headerObservers: [@Sendable () -> Void] = []
  }
  private let state = Mutex(State())

  init() {}

  /// Is called with errors of sessions, on the main queue; in a program that does not serve its main queue, on the queue
  /// `realm.sync.callbacks`. It may be set at any time. What goes on by itself, as a network that is away, is not reported. Errors are `SyncError`s, and
  /// `Realm.Error.multipleSyncAgents` where another process has the session of a file.
  public var errorHandler: ErrorReportingBlock? {
    get { state.withLock { $0.errorHandler } }
    set { state.withLock { $0.errorHandler = newValue } }
  }

  /// What the header `User-Agent` ends with: the name of the program at first. It is to be set before the first realm is opened that is synced.
  public var userAgent: String {
    get { state.withLock { $0.userAgent } }
    set { state.withLock { $0.userAgent = newValue } }
  }

  /// The name of the header that has the access token; nil for `Authorization`. Sessions connect anew when it is set.
  public var authorizationHeaderName: String? {
    get { state.withLock { $0.authorizationHeaderName } }
    set { set { $0.authorizationHeaderName = newValue } }
  }

  /// Headers that all requests and connections have, beside those that they need. Sessions connect anew when they are set.
  public var customRequestHeaders: [String: String]? {
    get { state.withLock { $0.customRequestHeaders } }
    set { set { $0.customRequestHeaders = newValue } }
  }

  /// How long sessions wait; nil for the default. To be set before the first realm is opened that is synced; it has no effect on connections that there are.
  public var timeoutOptions: SyncTimeoutOptions? {
    get { state.withLock { $0.timeouts }.map { SyncTimeoutOptions($0) } }
    set {
      let values = newValue?.values
      state.withLock { $0.timeouts = values }
    }
  }

  /// How much `Logger.shared` tells.
  @available(*, deprecated, message: "Use Logger.shared.level.")
  public var logLevel: SyncLogLevel {
    get { SyncLogLevel(Logger.shared.level) }
    set { Logger.shared.level = newValue.logLevel }
  }

  /// Is told what `Logger.shared` is told; nil where none was set here.
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
