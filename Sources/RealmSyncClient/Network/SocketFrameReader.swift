#if Sync
  import NIOCore

  /// Reads the frames that a server sends through a WebSocket, and joins the fragments of messages.
  ///
  /// The decoder of NIO keeps a frame until all of it has come, and copies it then. This reader moves bytes on as they come, and
  /// knows from the head of a frame that it is to be refused.
  struct SocketFrameReader {
    enum Event: Equatable, Sendable {
      case message([UInt8])
      case ping([UInt8])
      case pong
      /// The server ends the WebSocket; nil: it does not say why.
      case close(UInt16?, String)
      /// The server breaks a rule. Nothing can be read behind it.
      case failure(SocketFrameFailure)
    }

    private struct Frame {
      let kind: SocketFrameKind
      let isFinal: Bool
      let length: Int
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

    /// Reads up to the next event.
    ///
    /// - Returns: nil where all bytes were read, and after a failure.
    mutating func next(_ bytes: inout ByteBuffer) -> Event? {
      while !hasFailed {
        do throws(SocketFrameFailure) {
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
    private mutating func readHead() throws(SocketFrameFailure) -> Frame? {
      guard head.count >= 2 else { return nil }
      let isFinal = head[0] & 0x80 != 0
      guard head[0] & 0x70 == 0, let kind = SocketFrameKind(rawValue: head[0] & 0x0f) else {
        throw .unknownFrame
      }
      guard head[1] & 0x80 == 0 else { throw .masked }
      let short = head[1]
      if head.count == 2 { try check(kind, isFinal, short) }
      let wide = short == 126 ? 2 : short == 127 ? 8 : 0
      guard head.count == 2 + wide else { return nil }
      let length = wide == 0 ? UInt64(short) : head[2...].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      try check(kind, length, wide)
      head.removeAll(keepingCapacity: true)
      return Frame(kind: kind, isFinal: isFinal, length: Int(length))
    }

    private func check(
      _ kind: SocketFrameKind, _ isFinal: Bool, _ short: UInt8
    ) throws(SocketFrameFailure) {
      switch kind {
      case .text: throw .text
      case .binary: guard !isFragmented else { throw .wrongFragment }
      case .continuation: guard isFragmented else { throw .wrongFragment }
      case .close, .ping, .pong: guard isFinal && short <= 125 else { throw .wrongControl }
      }
    }

    private func check(
      _ kind: SocketFrameKind, _ length: UInt64, _ wide: Int
    ) throws(SocketFrameFailure) {
      let isShortest = wide == 0 || (wide == 2 ? length > 125 : length > UInt64(UInt16.max))
      guard isShortest && length <= UInt64(Int64.max) else { throw .wrongLength }
      guard kind.isControl || length <= UInt64(maximum - message.count) else { throw .tooLong }
    }

    // MARK: - Payloads

    private mutating func readPayload(_ bytes: inout ByteBuffer) {
      guard let current = frame else { return }
      let count = min(current.length - current.read, bytes.readableBytes)
      guard count > 0, let part = bytes.readBytes(length: count) else { return }
      if current.kind.isControl {
        control += part
      } else if message.isEmpty {
        message = part
      } else {
        message += part
      }
      frame?.read += count
    }

    /// - Returns: nil for a fragment that others follow.
    private mutating func finish(_ frame: Frame) throws(SocketFrameFailure) -> Event? {
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
        return try closeEvent()
      }
    }

    private func closeEvent() throws(SocketFrameFailure) -> Event {
      guard !control.isEmpty else { return .close(nil, "") }
      guard control.count >= 2 else { throw .wrongClose }
      let code = UInt16(control[0]) << 8 | UInt16(control[1])
      guard SocketCloseCode.isSendable(code) else { throw .wrongClose }
      guard let reason = String(validating: control.dropFirst(2), as: UTF8.self) else { throw .wrongText }
      return .close(code, reason)
    }
  }
#endif
