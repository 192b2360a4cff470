#if Sync
  /// The side of a WebSocket that reads or writes frames.
  public enum SocketRole: Sendable {
    /// It sends masked frames, and takes only those that are not masked.
    case client
    /// It sends frames that are not masked, and takes only masked ones.
    case server
  }
#endif
