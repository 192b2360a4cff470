#if Sync
  /// Why a WebSocket is closed (RFC 6455, section 7.4).
  public enum CloseCode {
    /// All is done.
    public static let normal: UInt16 = 1000
    /// The side that closes the WebSocket stops.
    public static let goingAway: UInt16 = 1001
    /// The other side has broken a rule.
    public static let protocolError: UInt16 = 1002
    /// The other side has sent what is not used.
    public static let unsupportedData: UInt16 = 1003
    /// No frame carries it: it stands for a frame without a code.
    public static let noCode: UInt16 = 1005
    /// A text is no valid UTF-8.
    public static let invalidText: UInt16 = 1007
    /// The other side does what is allowed, but not in this way.
    public static let policyViolation: UInt16 = 1008
    /// A message is too long.
    public static let messageTooLong: UInt16 = 1009
    /// The side that closes the WebSocket has failed.
    public static let internalError: UInt16 = 1011
    /// There is no room now.
    public static let tryAgainLater: UInt16 = 1013

    /// A frame may carry the code. The others say what no frame said, or are not given to anybody.
    public static func isSendable(_ code: UInt16) -> Bool {
      switch code {
      case 1000...1003, 1007...1014, 3000...4999: true
      default: false
      }
    }
  }
#endif
