import NIOCore

/// Reads the frames that a client sends through a WebSocket, and joins the fragments of messages.
///
/// The decoder of NIO keeps a frame until all of it has come, and then it is unmasked and copied: a message
/// of 24 MiB would take more than three times as much memory. This reader unmasks bytes as they come, and
/// knows from the head of a frame that it is to be refused.
struct FrameReader {
  enum Event: Equatable, Sendable {
    case message([UInt8])
    case ping([UInt8])
    case pong
    /// The client ends the WebSocket; nil: it does not say why.
    case close(UInt16?)
    /// The client breaks a rule. Nothing can be read behind it.
    case failure(FrameFailure)
  }

  private struct Frame {
    let kind: FrameKind
    let isFinal: Bool
    let length: Int
    let key: UInt32
    var read = 0
  }

  /// Bytes of a message.
  private let maximum: Int
  private var head: [UInt8] = []
  /// The frame whose payload comes next.
  private var frame: Frame?
  private var message: [UInt8] = []
  /// A message has begun whose last fragment has not come.
  private var isFragmented = false
  private var control: [UInt8] = []
  private var hasFailed = false

  init(maximum: Int) { self.maximum = maximum }

  /// A message or a frame has begun, and is not whole.
  var isUnfinished: Bool { !hasFailed && (isFragmented || frame != nil || !head.isEmpty) }

  /// Bytes that have come of what is not whole.
  var unfinishedBytes: Int { message.count + control.count }

  /// Reads up to the next event.
  ///
  /// - Returns: nil where all bytes were read, and after a failure.
  mutating func next(_ bytes: inout ByteBuffer) -> Event? {
    while !hasFailed {
      do throws(FrameFailure) {
        if frame == nil {
          guard let byte = bytes.readInteger(as: UInt8.self) else { return nil }
          head.append(byte)
          frame = try readHead()
        }
        readPayload(&bytes)
        if let frame {
          guard frame.read == frame.length else { return nil }
          self.frame = nil
          if let event = try finish(frame) { return event }
        }
      } catch {
        hasFailed = true
        (message, control) = ([], [])
        return .failure(error)
      }
    }
    return nil
  }

  // MARK: - Heads

  /// Checks the head as far as it has come.
  ///
  /// - Returns: nil where more of it is to come.
  private mutating func readHead() throws(FrameFailure) -> Frame? {
    guard head.count >= 2 else { return nil }
    let (isFinal, isMasked) = (head[0] & 0x80 != 0, head[1] & 0x80 != 0)
    let short = head[1] & 0x7f
    guard head[0] & 0x70 == 0, let kind = FrameKind(rawValue: head[0] & 0x0f) else { throw .unknownFrame }
    if head.count == 2 { try check(kind, isFinal, isMasked, short) }
    let wide = short == 126 ? 2 : short == 127 ? 8 : 0
    guard head.count >= 2 + wide else { return nil }
    let length = wide == 0 ? UInt64(short) : head[2..<2 + wide].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    if head.count == 2 + wide { try check(kind, length, wide) }
    guard head.count == 2 + wide + 4 else { return nil }
    let key = head.suffix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    head.removeAll(keepingCapacity: true)
    return Frame(kind: kind, isFinal: isFinal, length: Int(length), key: key)
  }

  private func check(
    _ kind: FrameKind, _ isFinal: Bool, _ isMasked: Bool, _ short: UInt8
  ) throws(FrameFailure) {
    guard isMasked else { throw .unmasked }
    switch kind {
    case .text: throw .text
    case .binary: guard !isFragmented else { throw .wrongFragment }
    case .continuation: guard isFragmented else { throw .wrongFragment }
    case .close, .ping, .pong: guard isFinal && short <= 125 else { throw .wrongControl }
    }
  }

  private func check(_ kind: FrameKind, _ length: UInt64, _ wide: Int) throws(FrameFailure) {
    let isShortest = wide == 0 || (wide == 2 ? length > 125 : length > UInt64(UInt16.max))
    guard isShortest && length <= UInt64(Int64.max) else { throw .wrongLength }
    guard kind.isControl || length <= UInt64(maximum - message.count) else { throw .tooLong }
  }

  // MARK: - Payloads

  private mutating func readPayload(_ bytes: inout ByteBuffer) {
    guard var current = frame else { return }
    let count = min(current.length - current.read, bytes.readableBytes)
    guard count > 0, var part = bytes.readBytes(length: count) else { return }
    let (key, start) = (current.key, current.read)
    for place in part.indices {
      part[place] ^= UInt8(truncatingIfNeeded: key >> UInt32(24 - 8 * ((start + place) & 3)))
    }
    if current.kind.isControl {
      control += part
    } else if message.isEmpty {
      message = part
    } else {
      message += part
    }
    current.read += count
    frame = current
  }

  /// - Returns: nil for a fragment that others follow.
  private mutating func finish(_ frame: Frame) throws(FrameFailure) -> Event? {
    switch frame.kind {
    case .text, .binary, .continuation:
      isFragmented = !frame.isFinal
      guard frame.isFinal else { return nil }
      defer { message = [] }
      return .message(message)
    case .ping:
      defer { control = [] }
      return .ping(control)
    case .pong:
      control = []
      return .pong
    case .close:
      defer { control = [] }
      return try .close(closeCode())
    }
  }

  private func closeCode() throws(FrameFailure) -> UInt16? {
    guard !control.isEmpty else { return nil }
    guard control.count >= 2 else { throw .wrongClose }
    let code = UInt16(control[0]) << 8 | UInt16(control[1])
    guard CloseCode.isSendable(code) else { throw .wrongClose }
    guard String(validating: control.dropFirst(2), as: UTF8.self) != nil else { throw .wrongText }
    return code
  }
}

/// A rule that a client has broken.
enum FrameFailure: Error, Sendable {
  case unknownFrame, unmasked, text, wrongFragment, wrongControl, wrongLength, tooLong, wrongClose, wrongText
  case tooSlow, tooMuch

  /// What the WebSocket is closed with.
  var code: UInt16 {
    switch self {
    case .text: CloseCode.unsupportedData
    case .tooLong: CloseCode.messageTooLong
    case .wrongText: CloseCode.invalidText
    case .tooSlow: CloseCode.policyViolation
    case .tooMuch: CloseCode.tryAgainLater
    case .unknownFrame, .unmasked, .wrongFragment, .wrongControl, .wrongLength, .wrongClose:
      CloseCode.protocolError
    }
  }

  var text: String {
    switch self {
    case .unknownFrame: "A frame is of no known kind."
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
