import CRealmPlatform

/// Makes strings from UTF-8.
///
/// The standard library keeps up to 15 bytes in the String itself, with a last byte that tells how many bytes there are
/// and whether all are ASCII. Such strings are made here by putting the bytes there, which takes a fifth of the time of
/// an initializer. The layout is part of Swift's ABI on Apple's systems (swift: docs/ABI, StringObject.swift, "small
/// form"). It is used only after a test at run time has found it.
struct TextMaker {
  // The value is kept here, because a static constant would be read through a call.
  private let knowsLayout = Self.knowsLayout

  /// The text of well-formed UTF-8; nil for other bytes.
  @inline(__always)
  func text(_ bytes: RawSpan) -> String? {
    guard knowsLayout, let words = Self.words(bytes) else {
      return Self.isText(bytes) ? bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } : nil
    }
    return Self.cell(words, bytes)?.string
  }

  /// The cell of a short text of well-formed UTF-8; nil for other bytes, and if the layout is another one.
  @inline(__always)
  func cell(_ bytes: RawSpan) -> TextCell? {
    guard knowsLayout, let words = Self.words(bytes) else { return nil }
    return Self.cell(words, bytes)
  }

  @inline(__always)
  private static func cell(_ words: Words, _ bytes: RawSpan) -> TextCell? {
    let isASCII = (words.low | words.high) & highBits == 0
    return isASCII || isText(bytes) ? cell(words, count: bytes.byteCount, isASCII: isASCII) : nil
  }

  /// Whether bytes are well-formed UTF-8.
  static func isText(_ bytes: RawSpan) -> Bool {
    bytes.withUnsafeBytes { cp_is_utf8($0.bindMemory(to: UInt8.self).baseAddress, $0.count) != 0 }
  }

  // MARK: - Texts that are kept in the String itself

  /// The bytes of a text, the first byte lowest, with zeros behind them.
  private typealias Words = (low: UInt64, high: UInt64)

  /// The highest bit of each byte, which is not set in ASCII.
  private static let highBits: UInt64 = 0x8080_8080_8080_8080

  @inline(__always)
  private static func cell(_ words: Words, count: Int, isASCII: Bool) -> TextCell {
    let last = UInt64((isASCII ? 0xE0 : 0xA0) | count)
    return TextCell(low: words.low, high: words.high | last << 56)
  }

  /// The bytes as words; nil for more than 15 bytes.
  @inline(__always)
  private static func words(_ bytes: RawSpan) -> Words? {
    let count = bytes.byteCount
    if count >= 8 {
      guard count <= 15 else { return nil }
      let low = bytes.unsafeLoadUnaligned(fromByteOffset: 0, as: UInt64.self)
      // The last eight bytes, without those that are among the first eight.
      let last = bytes.unsafeLoadUnaligned(fromByteOffset: count - 8, as: UInt64.self)
      return (low, count == 8 ? 0 : last >> UInt64(8 * (16 - count)))
    }
    if count >= 4 {
      let first = bytes.unsafeLoadUnaligned(fromByteOffset: 0, as: UInt32.self)
      let last = bytes.unsafeLoadUnaligned(fromByteOffset: count - 4, as: UInt32.self)
      return (UInt64(first) | UInt64(last) << UInt64(8 * (count - 4)), 0)
    }
    var low: UInt64 = 0
    for offset in 0..<count {
      low |= UInt64(bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self)) << UInt64(8 * offset)
    }
    return (low, 0)
  }

  /// Whether the standard library makes the same words of a text as this type does.
  static let knowsLayout: Bool = {
    guard MemoryLayout<String>.size == MemoryLayout<Words>.size, UInt16(1).littleEndian == 1 else {
      return false
    }
    // The strings are made of bytes at run time, because a constant string has another form.
    return ["", "abc", "abcdefg", "é", "abcdefgh", "abcdefghijklmno", "abcdefghijklmé"].allSatisfy { sample in
      let bytes = Array(sample.utf8)
      let isASCII = bytes.allSatisfy { $0 < 0x80 }
      guard let words = words(bytes.span.bytes) else { return false }
      let made = cell(words, count: bytes.count, isASCII: isASCII)
      return (made.low, made.high) == unsafeBitCast(String(decoding: bytes, as: UTF8.self), to: Words.self)
    }
  }()
}
