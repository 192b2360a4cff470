import Foundation
import Synchronization

/// The levels of messages to a logger. A logger of one level also gets the messages of all levels before it.
public enum LogLevel: UInt, Sendable {
  /// No message.
  case off = 0
  /// Messages about what stops the program: a programmer's error, or damage that was read.
  case fatal = 1
  /// Messages about errors of opening, committing and copying, which are also thrown or passed to a completion.
  case error = 2
  /// Messages about what was lost or made anew, for example a version that was not whole, or a file that did not fit its classes.
  case warn = 3
  /// Messages about files that are opened, compacted and copied, and about log-ins and connections of device sync.
  case info = 4
  /// Messages about files that are closed.
  case detail = 5
  /// Messages about transactions.
  case debug = 6
  /// The same messages as `debug`.
  case trace = 7
  /// All messages.
  case all = 8
}

extension LogLevel: Comparable {
  /// Whether a logger of the right level gets more messages than one of the left level.
  public static func < (left: LogLevel, right: LogLevel) -> Bool { left.rawValue < right.rawValue }
}

extension LogLevel: CustomStringConvertible {
  /// The name of the case.
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

/// Gets messages about what realms do.
///
/// Messages name paths of files, which for synced realms contain the id of the user and the value of the partition, and ids of
/// users and apps. They contain no password, token or encryption key. Values of objects are in two kinds of messages:
///
/// - A message of the level `fatal` may contain the value that the program gave, or the stored value that could not be read as
///   the type of its property.
/// - A message of the level `error` about a migration that failed may contain up to three values for each property that was
///   wrong, such as primary keys that several objects have, and the description of an error that the `migrationBlock` threw.
///
///     Logger.shared = Logger(level: .info) { level, message in print(level, message) }
public final class Logger: Sendable {
  private let function: @Sendable (LogLevel, String) -> Void
  private let threshold: Mutex<LogLevel>

  /// Makes a logger.
  ///
  /// - Parameters:
  ///   - level: the messages of this level and of those before it are passed on.
  ///   - logFunction: is called with each message, on the thread that does what the message is about. Several threads may call it
  ///     at the same time.
  public init(level: LogLevel, logFunction: @escaping @Sendable (LogLevel, String) -> Void) {
    threshold = Mutex(level)
    function = logFunction
  }

  /// The messages of this level and of those before it are passed on. It may be changed at any time, on any thread.
  public var level: LogLevel {
    get { threshold.withLock { $0 } }
    set { threshold.withLock { $0 = newValue } }
  }

  private static let current = Mutex(
    Logger(level: .warn) { level, message in
      // An error that stops the program is printed when it stops, and other errors are thrown.
      guard level > .error else { return }
      FileHandle.standardError.write(Data("Realm: \(level): \(message)\n".utf8))
    })

  /// The logger of all realms in the process. At first it prints warnings to standard error, and nothing else. It may be replaced
  /// at any time, on any thread.
  public static var shared: Logger {
    get { current.withLock { $0 } }
    set { current.withLock { $0 = newValue } }
  }

  func log(_ level: LogLevel, _ message: @autoclosure () -> String) {
    guard level <= self.level else { return }
    function(level, message())
  }
}
