#if Sync
  /// What a frame of a WebSocket is (RFC 6455, section 5.2).
  enum SocketFrameKind: UInt8 {
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
  enum SocketCloseCode {
    static let normal: UInt16 = 1000
    static let protocolError: UInt16 = 1002
    static let unsupportedData: UInt16 = 1003
    /// No frame carries it: it stands for a frame without a code.
    static let noCode: UInt16 = 1005
    static let invalidText: UInt16 = 1007
    static let messageTooLong: UInt16 = 1009

    /// A frame may carry the code. The others say what no frame said, or are not given to anybody.
    static func isSendable(_ code: UInt16) -> Bool {
      switch code {
      case 1000...1003, 1007...1014, 3000...4999: true
      default: false
      }
    }
  }

  /// A rule that a server has broken.
  enum SocketFrameFailure: Error, Sendable {
    case unknownFrame, masked, text, wrongFragment, wrongControl, wrongLength, tooLong, wrongClose, wrongText

    /// What the WebSocket is closed with.
    var code: UInt16 {
      switch self {
      case .text: SocketCloseCode.unsupportedData
      case .tooLong: SocketCloseCode.messageTooLong
      case .wrongText: SocketCloseCode.invalidText
      case .unknownFrame, .masked, .wrongFragment, .wrongControl, .wrongLength, .wrongClose:
        SocketCloseCode.protocolError
      }
    }

    /// At most 123 bytes, which is what a frame that closes a WebSocket has room for.
    var text: String {
      switch self {
      case .unknownFrame: "A frame is of no known kind."
      case .masked: "A frame of a server is masked."
      case .text: "Texts are not used."
      case .wrongFragment: "A fragment is missing, or there is one too many."
      case .wrongControl: "A frame of control is too long, or a fragment."
      case .wrongLength: "The length of a frame is written with too many bytes."
      case .tooLong: "A message is too long."
      case .wrongClose: "A frame that ends the WebSocket has no valid code."
      case .wrongText: "The reason for the end is no valid text."
      }
    }
  }
#endif
