#if Sync
  /// The codes that say why a WebSocket is closed (RFC 6455, section 7.4).
  public enum CloseCode {
    /// The WebSocket has served its purpose.
    public static let normal: UInt16 = 1000
    /// The side that closes the WebSocket shuts down.
    public static let goingAway: UInt16 = 1001
    /// The other side has broken a rule of the protocol.
    public static let protocolError: UInt16 = 1002
    /// The other side has sent a kind of data that this side does not use.
    public static let unsupportedData: UInt16 = 1003
    /// The code for a close frame without a code. No frame carries it.
    public static let noCode: UInt16 = 1005
    /// A text is not valid UTF-8.
    public static let invalidText: UInt16 = 1007
    /// The other side behaves in a way that this side does not accept, although it breaks no rule of the protocol.
    public static let policyViolation: UInt16 = 1008
    /// A message is too long.
    public static let messageTooLong: UInt16 = 1009
    /// The side that closes the WebSocket has failed.
    public static let internalError: UInt16 = 1011
    /// The side that closes the WebSocket has no room at present.
    public static let tryAgainLater: UInt16 = 1013

    /// Returns true if a close frame may carry the code. The other codes are never sent, such as 1005, or have no
    /// meaning.
    public static func isSendable(_ code: UInt16) -> Bool {
      switch code {
      case 1000...1003, 1007...1014, 3000...4999: true
      default: false
      }
    }
  }
#endif
