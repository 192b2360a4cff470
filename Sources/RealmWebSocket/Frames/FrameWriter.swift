#if Sync
  import NIOCore

  /// Writes the frames that one side sends through a WebSocket.
  public struct FrameWriter: Sendable {
    /// A frame that ends a WebSocket has room for a reason of so many bytes.
    private static let mostOfReason = 123

    private let role: SocketRole

    /// - Parameter role: the side that sends the frames.
    public init(_ role: SocketRole) { self.role = role }

    /// A whole frame.
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
        // Clients mask frames by a key that nobody can know before, so that what they send never looks like HTTP to a proxy.
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

    /// The frame that ends a WebSocket.
    ///
    /// - Parameters:
    ///   - code: one that `CloseCode.isSendable` accepts; nil: none is told, and no reason either.
    ///   - reason: as much of it as fits is told: 123 bytes.
    public func close(_ code: UInt16?, _ reason: String = "") -> ByteBuffer {
      guard let code else { return frame(.close, []) }
      var reason = reason
      while reason.utf8.count > Self.mostOfReason { reason.removeLast() }
      return frame(.close, [UInt8(code >> 8), UInt8(code & 0xff)] + Array(reason.utf8))
    }
  }
#endif
