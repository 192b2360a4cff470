#if Sync
  /// A rule of WebSockets that the other side has broken.
  public enum FrameFailure: Error, Equatable, Sendable {
    /// A frame is of no kind that there is, or has a bit set that means nothing.
    case unknownFrame
    /// A frame of a server is masked.
    case masked
    /// A frame of a client is not masked.
    case unmasked
    /// A text was sent, and only bytes are used.
    case text
    /// A fragment is missing, or there is one too many.
    case wrongFragment
    /// A frame of control has more than 125 bytes, or is a fragment.
    case wrongControl
    /// The length of a frame is written with more bytes than it needs, or has more than 63 bits.
    case wrongLength
    /// A message has more bytes than the reader takes.
    case tooLong
    /// A frame that ends the WebSocket has a code that no frame may carry, or half of one.
    case wrongClose
    /// The reason for the end is no valid UTF-8.
    case wrongText
    /// The rest of a message does not come in time.
    case tooSlow
    /// There is no room for the messages that are being sent.
    case tooMuch

    /// What the WebSocket is closed with.
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

    /// What is wrong, as a sentence of at most 123 bytes, which is what a frame that closes a WebSocket has room for.
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
