/// The end of access that was given before. Connections that belong to it have to be closed.
public struct Revocation: Sendable, Equatable {
  /// The reason why access ends.
  public enum Reason: String, Sendable {
    /// An administrator has disabled the user.
    case userDisabled
    /// The user is deleted.
    case userDeleted
    /// All sessions of the user were ended: by an administrator, or because the password was set anew.
    case sessionsRevoked
    /// One session was ended: by a log-out, because its API key was disabled or deleted, or because the user
    /// had too many.
    case sessionEnded
  }

  /// The id of the user whose access ends.
  public let userID: String
  /// The id of the session that ends; nil if all sessions of the user end.
  public let sessionID: String?
  /// The reason why access ends.
  public let reason: Reason

  /// Makes a revocation of one session, or of all sessions of a user.
  public init(userID: String, sessionID: String?, reason: Reason) {
    self.userID = userID
    self.sessionID = sessionID
    self.reason = reason
  }
}
