#if Sync
  /// The side of a WebSocket that reads or writes frames.
  public enum SocketRole: Sendable {
    /// The client sends masked frames, and takes only frames that are not masked.
    case client
    /// The server sends frames that are not masked, and takes only masked frames.
    case server
  }
#endif
