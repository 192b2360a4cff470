#if Sync
  import NIOCore

  /// Writes the frames that a client sends through a WebSocket.
  enum SocketFrameWriter {
    /// A whole frame.
    static func frame(_ kind: SocketFrameKind, _ payload: [UInt8]) -> ByteBuffer {
      var buffer = ByteBufferAllocator().buffer(capacity: payload.count + 14)
      buffer.writeInteger(0x80 | kind.rawValue)
      if payload.count <= 125 {
        buffer.writeInteger(0x80 | UInt8(payload.count))
      } else if payload.count <= Int(UInt16.max) {
        buffer.writeInteger(UInt8(0x80 | 126))
        buffer.writeInteger(UInt16(payload.count))
      } else {
        buffer.writeInteger(UInt8(0x80 | 127))
        buffer.writeInteger(UInt64(payload.count))
      }
      // Clients mask frames by a key that nobody can know before, so that what they send never looks like HTTP to a proxy.
      let key = UInt32.random(in: 0...UInt32.max)
      buffer.writeInteger(key)
      buffer.writeBytes(masked(payload, key))
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
    ///   - code: nil: none is told.
    ///   - reason: at most 123 bytes.
    static func close(_ code: UInt16?, _ reason: String = "") -> ByteBuffer {
      guard let code else { return frame(.close, []) }
      return frame(.close, [UInt8(code >> 8), UInt8(code & 0xff)] + Array(reason.utf8))
    }
  }
#endif
