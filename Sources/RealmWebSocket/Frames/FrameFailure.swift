#if Sync
  /// The reason why a side ends a WebSocket: the other side has broken a rule, or has sent something that this side
  /// does not take.
  public enum FrameFailure: Error, Equatable, Sendable {
    /// A frame has an unknown kind, or a bit is set that has no meaning.
    case unknownFrame
    /// A frame from a server is masked.
    case masked
    /// A frame from a client is not masked.
    case unmasked
    /// A text message has arrived. Only messages of bytes are used.
    case text
    /// A continuation has arrived without a beginning, or a new message before the end of a fragmented one.
    case wrongFragment
    /// A control frame has more than 125 bytes, or is a fragment.
    case wrongControl
    /// The length of a frame is written with more bytes than it needs, or has more than 63 bits.
    case wrongLength
    /// A message has more bytes than the reader takes.
    case tooLong
    /// A close frame has a code that no frame may carry, or only one byte of a code.
    case wrongClose
    /// The reason in a close frame is not valid UTF-8.
    case wrongText
    /// The rest of a message does not arrive in time.
    case tooSlow
    /// This side has no room for the messages that are arriving.
    case tooMuch

    /// The code with which the WebSocket is closed.
    public var code: UInt16 {
      switch self {
      case .text: CloseCode.unsupportedData
      case .tooLong: CloseCode.messageTooLong
      case .wrongText: CloseCode.invalidText
      case .tooSlow: CloseCode.policyViolation
      case .tooMuch: CloseCode.tryAgainLater
      case .unknownFrame, .masked, .unmasked, .wrongFragment, .wrongControl, .wrongLength, .wrongClose:
        CloseCode.protocolError
      }
    }

    /// A sentence that says what is wrong. It has at most 123 bytes, which is the room that a close frame has.
    public var text: String {
      switch self {
      case .unknownFrame: "A frame is of no known kind."
      case .masked: "A frame of a server is masked."
      case .unmasked: "A frame of a client is not masked."
      case .text: "Texts are not used."
      case .wrongFragment: "A fragment is missing, or there is one too many."
      case .wrongControl: "A frame of control is too long, or a fragment."
      case .wrongLength: "The length of a frame is written with too many bytes."
      case .tooLong: "A message is too long."
      case .wrongClose: "A frame that ends the WebSocket has no valid code."
      case .wrongText: "The reason for the end is no valid text."
      case .tooSlow: "A message took too long to come."
      case .tooMuch: "Too many messages are being sent to the server. Try again later."
      }
    }
  }
#endif
