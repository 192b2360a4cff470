#if Sync
  import NIOCore

  /// Reads the frames that arrive through a WebSocket, and joins the fragments of messages.
  ///
  /// NIO's decoder keeps a frame until all of it has arrived, and then unmasks and copies it. So a message of 24 MiB
  /// would take more than three times as much memory. This reader moves and unmasks bytes as they arrive, and refuses a
  /// frame as soon as its head shows that it can't be taken.
  public struct FrameReader: Sendable {
    /// Something that has arrived.
    public enum Event: Equatable, Sendable {
      /// A whole message, whose fragments are joined.
      case message([UInt8])
      /// A ping, with the bytes that the pong has to repeat.
      case ping([UInt8])
      /// The answer to a ping.
      case pong
      /// A close frame, with its code and a reason for people; without a code, nil and an empty reason.
      case close(UInt16?, String)
      /// The bytes can't be taken, for this reason. Nothing after them can be read.
      case failure(FrameFailure)
    }

    private struct Frame: Sendable {
      let kind: FrameKind
      let isFinal: Bool
      let length: Int
      /// The key of the mask; 0 if the frame is not masked.
      let key: UInt32
      var read = 0
    }

    private let role: SocketRole
    /// The greatest number of bytes that a message may have.
    private let maximum: Int
    private var head: [UInt8] = []
    /// The frame whose payload is being read; nil if the next bytes belong to a head.
    private var frame: Frame?
    private var message: [UInt8] = []
    /// True if a message has begun whose last fragment has not arrived.
    private var isFragmented = false
    private var control: [UInt8] = []
    private var hasFailed = false

    /// - Parameters:
    ///   - role: the side that reads.
    ///   - maximum: the greatest number of bytes that a message may have. No more memory is used for a message.
    public init(_ role: SocketRole, maximum: Int) { (self.role, self.maximum) = (role, maximum) }

    /// True if a message or a frame has begun and has not arrived completely.
    public var isUnfinished: Bool { !hasFailed && (isFragmented || frame != nil || !head.isEmpty) }

    /// The number of payload bytes that have arrived of unfinished messages and control frames.
    public var unfinishedBytes: Int { message.count + control.count }

    /// Reads up to the next event.
    ///
    /// - Parameter bytes: the bytes that have arrived. The bytes that are read are removed from their front.
    /// - Returns: nil if all bytes were read without an event, and after a failure.
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

    /// Checks the part of the head that has arrived.
    ///
    /// - Returns: the frame; nil if the head has not arrived completely.
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

    /// - Parameter start: the position of the part in the payload.
    private static func unmask(_ part: inout [UInt8], _ key: UInt32, from start: Int) {
      for place in part.indices {
        part[place] ^= UInt8(truncatingIfNeeded: key >> UInt32(24 - 8 * ((start + place) & 3)))
      }
    }

    /// - Returns: nil for a fragment that is not the last one of its message.
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
