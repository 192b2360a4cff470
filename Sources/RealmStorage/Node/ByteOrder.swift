#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

extension RawSpan {
  /// Compares byte by byte, unsigned; the shorter of two with a common start comes first.
  ///
  /// - Returns: negative, zero or positive.
  @inline(__always)
  package func compare(_ other: RawSpan) -> Int {
    let common = min(byteCount, other.byteCount)
    // Most differ in their first bytes.
    if common >= 8 {
      let (left, right) = (
        unsafeLoadUnaligned(as: UInt64.self).bigEndian, other.unsafeLoadUnaligned(as: UInt64.self).bigEndian
      )
      if left != right { return left < right ? -1 : 1 }
    }
    return compareWhole(other, common)
  }

  @inline(never)
  private func compareWhole(_ other: RawSpan, _ common: Int) -> Int {
    if common > 0 {
      let order = withUnsafeBytes { left in
        other.withUnsafeBytes { right in memcmp(left.baseAddress!, right.baseAddress!, common) }
      }
      if order != 0 { return Int(order) }
    }
    return byteCount - other.byteCount
  }

  /// How many bytes the two have in common at their start.
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
  /// Appends the bytes of a number, the highest first.
  mutating func appendHighestFirst<Number: FixedWidthInteger & BitwiseCopyable>(_ number: Number) {
    Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0) }
  }

  package mutating func append(_ bytes: RawSpan) { bytes.withUnsafeBytes { append(contentsOf: $0) } }
}
