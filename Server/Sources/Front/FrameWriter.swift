import NIOCore

/// Writes the frames that a server sends through a WebSocket. They are not masked.
enum FrameWriter {
  /// A whole frame.
  static func frame(_ kind: FrameKind, _ payload: [UInt8]) -> ByteBuffer {
    var buffer = ByteBufferAllocator().buffer(capacity: payload.count + 10)
    buffer.writeInteger(0x80 | kind.rawValue)
    if payload.count <= 125 {
      buffer.writeInteger(UInt8(payload.count))
    } else if payload.count <= Int(UInt16.max) {
      buffer.writeInteger(UInt8(126))
      buffer.writeInteger(UInt16(payload.count))
    } else {
      buffer.writeInteger(UInt8(127))
      buffer.writeInteger(UInt64(payload.count))
    }
    buffer.writeBytes(payload)
    return buffer
  }

  /// The frame that ends a WebSocket.
  ///
  /// - Parameters:
  ///   - code: nil: none is told.
  ///   - reason: as much of it as fits is told.
  static func close(_ code: UInt16?, _ reason: String) -> ByteBuffer {
    guard let code else { return frame(.close, []) }
    var reason = reason
    while reason.utf8.count > 123 { reason.removeLast() }
    return frame(.close, [UInt8(code >> 8), UInt8(code & 0xff)] + Array(reason.utf8))
  }
}
