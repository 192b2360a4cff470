import Foundation
import Synchronization

/// How much a logger tells. Each level includes those before it.
public enum LogLevel: UInt, Sendable {
  /// Nothing.
  case off = 0
  /// What stops the program: a programmer's error, or damage that was read.
  case fatal = 1
  /// What is thrown by opening, committing and copying.
  case error = 2
  /// What was lost or made anew: a version that was not whole, a file that did not fit its classes.
  case warn = 3
  /// Files that are opened, compacted and copied.
  case info = 4
  /// Files that are closed.
  case detail = 5
  /// Transactions.
  case debug = 6
  /// As `debug`.
  case trace = 7
  /// Everything.
  case all = 8
}

extension LogLevel: Comparable {
  public static func < (left: LogLevel, right: LogLevel) -> Bool { left.rawValue < right.rawValue }
}

extension LogLevel: CustomStringConvertible {
  public var description: String {
    switch self {
    case .off: "off"
    case .fatal: "fatal"
    case .error: "error"
    case .warn: "warn"
    case .info: "info"
    case .detail: "detail"
    case .debug: "debug"
    case .trace: "trace"
    case .all: "all"
    }
  }
}

/// Is told what realms do. No stored value or key is part of what it is told, but that the message of a programmer's error
/// (`fatal`) may name the value that was given.
///
///     Logger.shared = Logger(level: .info) { level, message in print(level, message) }
public final class Logger: Sendable {
  private let function: @Sendable (LogLevel, String) -> Void
  private let threshold: Mutex<LogLevel>

  /// - Parameter logFunction: called on whatever thread does what is told, one call at a time for each.
  public init(level: LogLevel, logFunction: @escaping @Sendable (LogLevel, String) -> Void) {
    threshold = Mutex(level)
    function = logFunction
  }

  /// What is told at most.
  public var level: LogLevel {
    get { threshold.withLock { $0 } }
    set { threshold.withLock { $0 = newValue } }
  }

  private static let current = Mutex(
    Logger(level: .warn) { level, message in
      // What stops the program is printed by that, and errors are thrown.
      guard level > .error else { return }
      FileHandle.standardError.write(Data("Realm: \(level): \(message)\n".utf8))
    })

  /// Is told what all realms of the process do. At first one that prints warnings to standard error.
  public static var shared: Logger {
    get { current.withLock { $0 } }
    set { current.withLock { $0 = newValue } }
  }

  func log(_ level: LogLevel, _ message: @autoclosure () -> String) {
    guard level <= self.level else { return }
    function(level, message())
  }
}
