/// What a frame of a WebSocket is (RFC 6455, section 5.2).
enum FrameKind: UInt8 {
  case continuation = 0
  case text = 1
  case binary = 2
  case close = 8
  case ping = 9
  case pong = 10

  /// Frames of control may stand between the fragments of a message.
  var isControl: Bool { rawValue >= 8 }
}

/// Why a WebSocket is closed (RFC 6455, section 7.4).
enum CloseCode {
  static let normal: UInt16 = 1000
  static let goingAway: UInt16 = 1001
  static let protocolError: UInt16 = 1002
  static let unsupportedData: UInt16 = 1003
  static let invalidText: UInt16 = 1007
  static let policyViolation: UInt16 = 1008
  static let messageTooLong: UInt16 = 1009
  static let internalError: UInt16 = 1011
  static let tryAgainLater: UInt16 = 1013

  /// A frame may carry the code. The others say what no frame said, or are not given to anybody.
  static func isSendable(_ code: UInt16) -> Bool {
    switch code {
    case 1000...1003, 1007...1014, 3000...4999: true
    default: false
    }
  }
}
