/// Reads a record from bytes that may be anything.
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

  /// Bytes that were read.
  var offset: Int { at }

  package var isAtEnd: Bool { at == source.count }
  /// Bytes that are left.
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

  /// 7 bits a byte, lowest first, bit 7 set on all but the last.
  package mutating func varint() -> UInt64? {
    // Most are lengths and small numbers.
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

  /// A length as a varint, and so many bytes.
  package mutating func counted() -> ArraySlice<UInt8>? {
    guard let length = varint(), length <= UInt64(source.count - at) else { return nil }
    return bytes(Int(length))
  }

  /// Reads over a length as a varint and so many bytes.
  ///
  /// - Returns: false for what is none, or no UTF-8 where it is to be a text.
  mutating func skipCounted(isText: Bool) -> Bool {
    guard let length = varint(), length <= UInt64(source.count - at) else { return false }
    defer { at += Int(length) }
    return !isText || TextMaker.isText(source.span.bytes.extracting(at..<at + Int(length)))
  }

  /// Reads over so many bytes; false where there are less.
  mutating func skip(_ count: Int) -> Bool {
    guard count <= source.count - at else { return false }
    at += count
    return true
  }

  /// A length as a varint, and so many bytes of UTF-8.
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
