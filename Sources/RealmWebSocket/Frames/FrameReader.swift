#if Sync
  import NIOCore

  /// Reads the frames that come through a WebSocket, and joins the fragments of messages.
  ///
  /// The decoder of NIO keeps a frame until all of it has come, and then it is unmasked and copied: a message of 24 MiB would
  /// take more than three times as much memory. This reader moves and unmasks bytes as they come, and knows from the head of a
  /// frame that it is to be refused.
  public struct FrameReader: Sendable {
    /// What has come.
    public enum Event: Equatable, Sendable {
      /// A whole message. Fragments were joined.
      case message([UInt8])
      /// A ping, and what its answer repeats.
      case ping([UInt8])
      /// The answer to a ping.
      case pong
      /// The other side ends the WebSocket, by a code and a reason for people; without a code it does not say why.
      case close(UInt16?, String)
      /// The other side breaks a rule. Nothing can be read behind it.
      case failure(FrameFailure)
    }

    private struct Frame: Sendable {
      let kind: FrameKind
      let isFinal: Bool
      let length: Int
      /// 0 of a frame that is not masked.
      let key: UInt32
      var read = 0
    }

    private let role: SocketRole
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

    /// - Parameters:
    ///   - role: the side that reads.
    ///   - maximum: a message has so many bytes at most. No more memory is taken for it.
    public init(_ role: SocketRole, maximum: Int) { (self.role, self.maximum) = (role, maximum) }

    /// A message or a frame has begun, and is not whole.
    public var isUnfinished: Bool { !hasFailed && (isFragmented || frame != nil || !head.isEmpty) }

    /// Bytes that have come of what is not whole.
    public var unfinishedBytes: Int { message.count + control.count }

    /// Reads up to the next event.
    ///
    /// - Parameter bytes: what has come. What is read is taken from its front.
    /// - Returns: nil where all bytes were read, and after a failure.
    public mutating func next(_ bytes: inout ByteBuffer) -> Event? {
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
      if head.count == 2 {
        try check(isMasked)
        try check(kind, isFinal, short)
      }
      let wide = short == 126 ? 2 : short == 127 ? 8 : 0
      guard head.count >= 2 + wide else { return nil }
      let length = wide == 0 ? UInt64(short) : head[2..<2 + wide].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      if head.count == 2 + wide { try check(kind, length, wide) }
      let keyBytes = isMasked ? 4 : 0
      guard head.count == 2 + wide + keyBytes else { return nil }
      let key = head.suffix(keyBytes).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      head.removeAll(keepingCapacity: true)
      return Frame(kind: kind, isFinal: isFinal, length: Int(length), key: key)
    }

    private func check(_ isMasked: Bool) throws(FrameFailure) {
      switch role {
      case .client: guard !isMasked else { throw .masked }
      case .server: guard isMasked else { throw .unmasked }
      }
    }

    private func check(_ kind: FrameKind, _ isFinal: Bool, _ short: UInt8) throws(FrameFailure) {
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
      guard let current = frame else { return }
      let count = min(current.length - current.read, bytes.readableBytes)
      guard count > 0, var part = bytes.readBytes(length: count) else { return }
      if current.key != 0 { Self.unmask(&part, current.key, from: current.read) }
      if current.kind.isControl {
        control += part
      } else if message.isEmpty {
        message = part
      } else {
        message += part
      }
      frame?.read += count
    }

    /// - Parameter start: the place of the part in the payload.
    private static func unmask(_ part: inout [UInt8], _ key: UInt32, from start: Int) {
      for place in part.indices {
        part[place] ^= UInt8(truncatingIfNeeded: key >> UInt32(24 - 8 * ((start + place) & 3)))
      }
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
        return try closeEvent()
      }
    }

    private func closeEvent() throws(FrameFailure) -> Event {
      guard !control.isEmpty else { return .close(nil, "") }
      guard control.count >= 2 else { throw .wrongClose }
      let code = UInt16(control[0]) << 8 | UInt16(control[1])
      guard CloseCode.isSendable(code) else { throw .wrongClose }
      guard let reason = String(validating: control.dropFirst(2), as: UTF8.self) else { throw .wrongText }
      return .close(code, reason)
    }
  }
#endif
