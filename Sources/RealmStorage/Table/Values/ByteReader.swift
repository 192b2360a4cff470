/// Reads a record from bytes that may have any content.
package struct ByteReader {
  private let source: [UInt8]
  private var at = 0

  package init(_ bytes: [UInt8]) { source = bytes }

  /// The bytes from an offset on.
  ///
  /// - Precondition: the offset is in `0...bytes.count`.
  init(_ bytes: [UInt8], at offset: Int) {
    precondition(
      (0...bytes.count).contains(offset), "ByteReader: there is no offset \(offset) in \(bytes.count) bytes")
    (source, at) = (bytes, offset)
  }

  /// The number of bytes that were read.
  var offset: Int { at }

  package var isAtEnd: Bool { at == source.count }
  /// The number of bytes that are left.
  package var count: Int { source.count - at }

  /// The byte that is read next; nil at the end.
  package var next: UInt8? { at < source.count ? source[at] : nil }

  package mutating func integer<Integer: FixedWidthInteger>(_ type: Integer.Type) -> Integer? {
    guard MemoryLayout<Integer>.size <= source.count - at else { return nil }
    defer { at += MemoryLayout<Integer>.size }
    return source.load(type, at: at)
  }

  package mutating func bytes(_ count: Int) -> ArraySlice<UInt8>? {
    guard count >= 0, count <= source.count - at else { return nil }
    defer { at += count }
    return source[at..<at + count]
  }

  /// Reads a varint: 7 bits in each byte, the lowest first, with bit 7 set in all bytes but the last.
  package mutating func varint() -> UInt64? {
    // Most varints are lengths and small numbers.
    if at < source.count, source[at] < 0x80 {
      defer { at += 1 }
      return UInt64(source[at])
    }
    return longVarint()
  }

  private mutating func longVarint() -> UInt64? {
    var value: UInt64 = 0
    for shift in stride(from: 0, to: 64, by: 7) {
      guard let byte = integer(UInt8.self), shift < 63 || byte <= 1 else { return nil }
      value |= UInt64(byte & 0x7f) << UInt64(shift)
      if byte & 0x80 == 0 { return value }
    }
    return nil
  }

  /// Reads a length as a varint, and that number of bytes.
  package mutating func counted() -> ArraySlice<UInt8>? {
    guard let length = varint(), length <= UInt64(source.count - at) else { return nil }
    return bytes(Int(length))
  }

  /// Skips a length, which is a varint, and that number of bytes.
  ///
  /// - Returns: false if there is no valid length or there are too few bytes, or if `isText` is true and the
  ///   bytes are not valid UTF-8.
  mutating func skipCounted(isText: Bool) -> Bool {
    guard let length = varint(), length <= UInt64(source.count - at) else { return false }
    defer { at += Int(length) }
    return !isText || TextMaker.isText(source.span.bytes.extracting(at..<at + Int(length)))
  }

  /// Skips `count` bytes. Returns false if there are fewer.
  mutating func skip(_ count: Int) -> Bool {
    guard count <= source.count - at else { return false }
    at += count
    return true
  }

  /// Reads a length as a varint, and that number of bytes of UTF-8.
  package mutating func text() -> String? {
    guard let length = varint(), length <= UInt64(source.count - at) else { return nil }
    defer { at += Int(length) }
    return TextMaker().text(source.span.bytes.extracting(at..<at + Int(length)))
  }
}

extension [UInt8] {
  package mutating func appendVarint(_ value: UInt64) {
    var rest = value
    while rest > 0x7f {
      append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    append(UInt8(rest))
  }
}
