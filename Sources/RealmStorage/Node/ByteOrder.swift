#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

extension RawSpan {
  /// Compares byte by byte, unsigned. If one is the start of the other, the shorter one comes first.
  ///
  /// - Returns: A negative number, zero or a positive number.
  @inline(__always)
  package func compare(_ other: RawSpan) -> Int { compare(other, head: other.head) }

  /// Compares with bytes whose head is known already, because a key that is searched for is compared with many others.
  @inline(__always)
  func compare(_ other: RawSpan, head otherHead: UInt64) -> Int {
    let head = head
    // Most keys differ in their first bytes.
    if head != otherHead { return head < otherHead ? -1 : 1 }
    return compareRest(other)
  }

  /// The first 8 bytes as a number, the highest byte first. Missing bytes count as zeros. Byte strings with different
  /// heads have the order of their heads.
  @inline(__always)
  var head: UInt64 {
    byteCount >= 8 ? unsafeLoadUnaligned(as: UInt64.self).bigEndian : shortHead
  }

  /// The number that `count` bytes make, the highest byte first. `count` is 1 to 8.
  @inline(__always)
  func number(at offset: Int, count: Int) -> UInt64 {
    if offset &+ 8 <= byteCount {
      return unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self).bigEndian
        &>> UInt64(64 &- 8 &* count)
    }
    return extracting(offset..<offset &+ count).shortHead &>> UInt64(64 &- 8 &* count)
  }

  /// The head of fewer than 8 bytes. From 4 bytes on, it is made of the first 4 and the last 4 bytes, which overlap.
  private var shortHead: UInt64 {
    if byteCount >= 4 {
      let first = UInt64(unsafeLoadUnaligned(as: UInt32.self).bigEndian)
      let last = UInt64(unsafeLoadUnaligned(fromByteOffset: byteCount &- 4, as: UInt32.self).bigEndian)
      return first &<< 32 | last &<< UInt64(8 &* (8 &- byteCount))
    }
    guard byteCount > 0 else { return 0 }
    var head: UInt64 = 0
    for offset in 0..<byteCount {
      head |= UInt64(unsafeLoad(fromByteOffset: offset, as: UInt8.self)) &<< UInt64(56 &- 8 &* offset)
    }
    return head
  }

  /// Compares two byte strings with the same head.
  @inline(never)
  private func compareRest(_ other: RawSpan) -> Int {
    let common = min(byteCount, other.byteCount)
    if common > 16 {
      let order = withUnsafeBytes { left in
        other.withUnsafeBytes { right in memcmp(left.baseAddress! + 8, right.baseAddress! + 8, common - 8) }
      }
      if order != 0 { return Int(order) }
    } else if common > 8 {
      let left = unsafeLoadUnaligned(fromByteOffset: common &- 8, as: UInt64.self).bigEndian
      let right = other.unsafeLoadUnaligned(fromByteOffset: common &- 8, as: UInt64.self).bigEndian
      if left != right { return left < right ? -1 : 1 }
    }
    return byteCount - other.byteCount
  }

  /// The number of equal bytes at the start of both.
  package func commonPrefix(_ other: RawSpan) -> Int {
    let limit = min(byteCount, other.byteCount)
    var count = 0
    while count &+ 8 <= limit {
      let differing =
        unsafeLoadUnaligned(fromByteOffset: count, as: UInt64.self).littleEndian
        ^ other.unsafeLoadUnaligned(fromByteOffset: count, as: UInt64.self).littleEndian
      if differing != 0 { return count &+ differing.trailingZeroBitCount / 8 }
      count &+= 8
    }
    while count < limit,
      unsafeLoad(fromByteOffset: count, as: UInt8.self)
        == other.unsafeLoad(fromByteOffset: count, as: UInt8.self)
    { count &+= 1 }
    return count
  }

  /// A copy that can be kept.
  package var array: [UInt8] { withUnsafeBytes { [UInt8]($0) } }
}

extension [UInt8] {
  /// Appends the bytes of a number, the lowest first.
  @inline(__always)
  package mutating func appendInteger<Number: FixedWidthInteger & BitwiseCopyable>(_ number: Number) {
    Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
  }

  /// Appends the bytes of a number, the highest first.
  package mutating func appendHighestFirst<Number: FixedWidthInteger & BitwiseCopyable>(_ number: Number) {
    Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0) }
  }

  /// Appends the highest `count` bytes of a number, the highest first.
  @inline(__always)
  mutating func appendHighestFirst(_ number: UInt64, count: Int) {
    Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0.prefix(count)) }
  }

  package mutating func append(_ bytes: RawSpan) { bytes.withUnsafeBytes { append(contentsOf: $0) } }

  /// Appends the UTF-8 bytes of a text. Most texts store them in one piece, which is faster to append than single
  /// bytes.
  mutating func append(utf8 text: String) {
    if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
      // This counts no reference to the text.
      append(text.utf8Span.span.bytes)
    } else {
      let isDone: Void? = text.utf8.withContiguousStorageIfAvailable { append(contentsOf: $0) }
      if isDone == nil { append(contentsOf: text.utf8) }
    }
  }
}
