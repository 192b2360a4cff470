/// The cause for which a file can't go on as the replica that it was. Its content is then replaced by what the server
/// has.
public enum ResetCause: String, Sendable, CaseIterable {
  /// The server does not know the replica: it goes on from an older copy of its state.
  case unknown
  /// The replica was given up: it did not connect for too long, its user or the administrator of the server gave it up,
  /// or an earlier reset of the file was not finished.
  case retired
  /// The file has a version that the server does not have, or that has another tag at the server.
  case otherHistory = "other-history"
  /// The file does not name the number of its last session. So it is a copy, or there is a copy of it.
  case otherSession = "other-session"
  /// The changesets of the file are not those that the server has from it.
  case otherChanges = "other-changes"
  /// The file has a query set that the server does not have from it.
  case otherQuerySet = "other-query-set"
  /// The server has removed the history since the version that the file needs.
  case forgotten
  /// The file is a copy, and its user may not read what the user of the other file may.
  case otherRights = "other-rights"

  /// Whether another file may have used the same replica, because there is a copy of the file, or because the server
  /// goes on from an older copy of its state.
  package var isInDoubt: Bool {
    switch self {
    case .forgotten, .otherRights: false
    case .unknown, .retired, .otherHistory, .otherSession, .otherChanges, .otherQuerySet: true
    }
  }
}

/// A reset of a file: the file could not go on as the replica that it was, and goes on as another one.
public struct ReplicaReset: Sendable, Equatable {
  public let replica: UInt64
  /// The number of the replica that the file is now.
  public let successor: UInt64
  public let cause: ResetCause
}
