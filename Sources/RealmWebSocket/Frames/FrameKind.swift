#if Sync
  /// The kinds of frames, by their opcodes (RFC 6455, section 5.2).
  public enum FrameKind: UInt8, Sendable {
    /// The next part of a message.
    case continuation = 0
    /// A text message, or the first part of one.
    case text = 1
    /// A message of bytes, or the first part of one.
    case binary = 2
    /// The sender ends the WebSocket.
    case close = 8
    /// The sender asks for a pong, to learn whether the other side still answers.
    case ping = 9
    /// The answer to a ping.
    case pong = 10

    /// True for a control frame. Control frames may stand between the fragments of a message.
    public var isControl: Bool { rawValue >= 8 }
  }
#endif
