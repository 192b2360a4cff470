import RealmStorage

/// The form of the body of an upload or a step in its frame.
enum BodyForm {
  case plain
  /// The body is a zlib stream that stores the bytes uncompressed, so that changes to the body are read after the
  /// stream is expanded, too.
  case stored

  static let upload: UInt8 = 12
  static let step: UInt8 = 14

  /// - Parameter number: the message number.
  func frame(_ number: UInt8, _ body: [UInt8]) -> [UInt8] {
    guard self == .stored, !body.isEmpty else { return [number, 0] + body }
    var frame = [number]
    frame.appendVarint(UInt64(body.count))
    return frame + Self.stream(body)
  }

  /// A stream of RFC 1950 with a block of RFC 1951 that is not compressed.
  private static func stream(_ bytes: [UInt8]) -> [UInt8] {
    var stream: [UInt8] = [0x78, 0x01]
    var start = 0
    while start < bytes.count {
      let end = min(bytes.count, start + 0xffff)
      let count = UInt16(end - start)
      stream.append(end == bytes.count ? 1 : 0)
      for number in [count, ~count] {
        stream += [UInt8(truncatingIfNeeded: number), UInt8(truncatingIfNeeded: number >> 8)]
      }
      stream += bytes[start..<end]
      start = end
    }
    let sum = adler32(bytes)
    for shift in [24, 16, 8, 0] as [UInt32] { stream.append(UInt8(truncatingIfNeeded: sum >> shift)) }
    return stream
  }

  private static func adler32(_ bytes: [UInt8]) -> UInt32 {
    var (low, high): (UInt64, UInt64) = (1, 0)
    for byte in bytes {
      low += UInt64(byte)
      high += low
    }
    return UInt32(high % 65_521) << 16 | UInt32(low % 65_521)
  }

  /// A frame with a compressed body, as a sender makes it; nil if compression would make it longer.
  static func compressed(_ number: UInt8, _ body: [UInt8]) -> [UInt8]? {
    guard let stream = Deflate.compressed(body) else { return nil }
    var frame = [number]
    frame.appendVarint(UInt64(body.count))
    return frame + stream
  }
}
