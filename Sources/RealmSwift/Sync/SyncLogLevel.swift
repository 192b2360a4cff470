/// How much is told of device sync to a logger of `SyncManager`. Each level includes those before it. The levels are those of
/// `LogLevel`: `Logger.shared` is told of device sync, too.
public enum SyncLogLevel: UInt, Sendable {
  /// Nothing.
  case off = 0
  /// What stops the program.
  case fatal = 1
  /// Errors that are reported.
  case error = 2
  /// What was lost or made anew.
  case warn = 3
  /// Sessions that begin and end, connections, and downloads that replace what a file has.
  case info = 4
  /// Waits between two connections, and what keeps them alive.
  case detail = 5
  /// Messages, without what they carry.
  case debug = 6
  /// As `debug`.
  case trace = 7
  /// Everything.
  case all = 8
}

extension SyncLogLevel {
  init(_ level: LogLevel) { self = SyncLogLevel(rawValue: level.rawValue) ?? .all }

  /// The same level of `Logger`.
  var logLevel: LogLevel { LogLevel(rawValue: rawValue) ?? .all }
}
