#if Sync
  import NIOCore

  /// Makes the frames that one side sends through a WebSocket.
  public struct FrameWriter: Sendable {
    /// The greatest number of bytes of a reason in a close frame.
    private static let mostOfReason = 123

    private let role: SocketRole

    /// - Parameter role: the side that sends the frames.
    public init(_ role: SocketRole) { self.role = role }

    /// Returns a whole frame that is not a fragment.
    public func frame(_ kind: FrameKind, _ payload: [UInt8]) -> ByteBuffer {
      let mask: UInt8 = role == .client ? 0x80 : 0
      var buffer = ByteBufferAllocator().buffer(capacity: payload.count + 14)
      buffer.writeInteger(0x80 | kind.rawValue)
      if payload.count <= 125 {
        buffer.writeInteger(mask | UInt8(payload.count))
      } else if payload.count <= Int(UInt16.max) {
        buffer.writeInteger(mask | 126)
        buffer.writeInteger(UInt16(payload.count))
      } else {
        buffer.writeInteger(mask | 127)
        buffer.writeInteger(UInt64(payload.count))
      }
      switch role {
      case .server: buffer.writeBytes(payload)
      case .client:
        // A client masks frames with a key that nobody can predict, so that its data can't look like HTTP to a proxy.
        let key = UInt32.random(in: 0...UInt32.max)
        buffer.writeInteger(key)
        buffer.writeBytes(Self.masked(payload, key))
      }
      return buffer
    }

    private static func masked(_ payload: [UInt8], _ key: UInt32) -> [UInt8] {
      var masked = payload
      for place in masked.indices {
        masked[place] ^= UInt8(truncatingIfNeeded: key >> UInt32(24 - 8 * (place & 3)))
      }
      return masked
    }

    /// Returns the frame that ends a WebSocket.
    ///
    /// - Parameters:
    ///   - code: a code that `CloseCode.isSendable` accepts; nil for a frame without a code and a reason.
    ///   - reason: the reason. If it has more than 123 bytes, it is shortened to whole characters that fit.
    public func close(_ code: UInt16?, _ reason: String = "") -> ByteBuffer {
      guard let code else { return frame(.close, []) }
      var reason = reason
      while reason.utf8.count > Self.mostOfReason { reason.removeLast() }
      return frame(.close, [UInt8(code >> 8), UInt8(code & 0xff)] + Array(reason.utf8))
    }
  }
#endif
