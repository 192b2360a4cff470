/// How much the logger of `SyncManager` gets. A level includes the messages of all levels with smaller numbers.
///
/// The levels are those of `LogLevel`, and the messages are those of `Logger.shared`. So the logger gets messages about local
/// realms as well. The cases below name the messages of device sync, accounts and subscriptions.
public enum SyncLogLevel: UInt, Sendable {
  /// No messages.
  case off = 0
  /// A misuse or damaged data that stops the program.
  case fatal = 1
  /// Failures: a session has ended with an error, the callbacks of a client reset can't be called, a copy failed, a file can't be
  /// read to be put aside, subscriptions could not be stored, or the file with the app's users, or its key, could not be read or
  /// written.
  case error = 2
  /// The server has refused changes or has ended the log-in of a user; a file was moved and not deleted, because it has changes
  /// that were not uploaded or because an app asked for it; a file of a removed user stays because it is not a synced realm; an
  /// `App` was made with another configuration than before.
  case warn = 3
  /// A user has logged in; the connection with the server was lost or could not be made; a file will be downloaded anew or was
  /// reset; another process has the session of a file; a file was copied; the files of a removed user were deleted, or a file
  /// stays until the next start.
  case info = 4
  /// The address of an app's server was found.
  case detail = 5
  /// Nothing more about sync. `Logger.shared` logs local commits at this level.
  case debug = 6
  /// The same messages as `debug`: no message has this level.
  case trace = 7
  /// All messages.
  case all = 8
}

extension SyncLogLevel {
  /// The level of sync that equals a level of `Logger`.
  init(_ level: LogLevel) { self = SyncLogLevel(rawValue: level.rawValue) ?? .all }

  /// The level of `Logger` that equals this one.
  var logLevel: LogLevel { LogLevel(rawValue: rawValue) ?? .all }
}
