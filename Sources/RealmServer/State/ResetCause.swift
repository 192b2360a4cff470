/// A cause for which a file can't go on as the replica that it was, and is replaced by what the server has.
public enum ResetCause: String, Sendable, CaseIterable {
  /// The server does not know the replica: it goes on from an older copy of its state.
  case unknown
  /// The replica was given up: it did not connect for too long, whoever runs the server has given it up, or an earlier reset of the file was not finished.
  case retired
  /// The file has a version that the server does not have, or has otherwise.
  case otherHistory = "other-history"
  /// The file does not name the session that it had last: it is a copy, or there is a copy of it.
  case otherSession = "other-session"
  /// The changes that the file has made are not those that the server has of it.
  case otherChanges = "other-changes"
  /// The file has a query set that the server does not have of it.
  case otherQuerySet = "other-query-set"
  /// The server has forgotten what has changed since the file was synced.
  case forgotten
  /// The file is a copy, and its user may not read what the user of the other one may.
  case otherRights = "other-rights"

  /// Whether somebody else may have used the identity of the file: there is a copy of it, or the server goes on from an older copy of its state.
  package var isInDoubt: Bool {
    switch self {
    case .forgotten, .otherRights: false
    case .unknown, .retired, .otherHistory, .otherSession, .otherChanges, .otherQuerySet: true
    }
  }
}

/// A file that can't go on as the replica that it was, and goes on as another one.
public struct ReplicaReset: Sendable, Equatable {
  public let replica: UInt64
  /// The replica as which the file goes on.
  public let successor: UInt64
  public let cause: ResetCause
}
