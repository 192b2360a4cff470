/// Access that was given before and ends now. Connections that belong to it are to be closed.
public struct Revocation: Sendable, Equatable {
  /// Why access ends.
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

  /// Whose access ends.
  public let userID: String
  /// The session that ends; nil where all sessions of the user do.
  public let sessionID: String?
  /// Why access ends.
  public let reason: Reason

  /// A revocation of one session, or of all sessions of a user.
  public init(userID: String, sessionID: String?, reason: Reason) {
    self.userID = userID
    self.sessionID = sessionID
    self.reason = reason
  }
}
