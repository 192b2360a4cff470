import CRealmPlatform

/// Integers that are stored as their distances from a base. All distances have the same number of bits, which is a
/// power of two.
///
/// With width 0 nothing is stored, and all integers are the base. Distances fill each byte from its lowest bits up;
/// those of 8 bits and more are little-endian (FORMAT.md, "Columns").
@usableFromInline
package enum PackedIntegers {
  /// The width, in bits, that holds every distance up to `range`: 0, 1, 2, 4, 8, 16, 32 or 64.
  package static func width(forRange range: UInt64) -> Int {
    switch range {
    case 0: 0
    case 1: 1
    case ..<4: 2
    case ..<16: 4
    case ..<256: 8
    case ..<65_536: 16
    case ..<(1 << 32): 32
    default: 64
    }
  }

  package static func isWidth(_ width: Int) -> Bool {
    width == 0 || (width <= 64 && width.nonzeroBitCount == 1)
  }

  /// The number of bytes that `count` packed values take, without padding.
  package static func byteCount(_ count: Int, width: Int) -> Int { (count * width + 7) / 8 }

  /// The distance at `index`.
  @inlinable
  @inline(__always)
  package static func load(_ bytes: RawSpan, _ index: Int, width: Int) -> UInt64 {
    switch width {
    case 0: 0
    case 8: UInt64(load(bytes, index, as: UInt8.self))
    case 16: UInt64(load(bytes, index, as: UInt16.self))
    case 32: UInt64(load(bytes, index, as: UInt32.self))
    case 64: load(bytes, index, as: UInt64.self)
    default:
      UInt64(load(bytes, index * width / 8, as: UInt8.self) >> UInt8(index * width % 8))
        & (1 << UInt64(width) - 1)
    }
  }

  /// The distance at `index`, for distances of 3 bytes each, the lowest byte first.
  @inline(__always)
  package static func loadThreeBytes(_ bytes: RawSpan, _ index: Int) -> UInt64 {
    precondition(index >= 0 && 3 * (index + 1) <= bytes.byteCount, "a packed value outside of its column")
    let low = bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: 3 &* index, as: UInt16.self)
    let high = bytes.unsafeLoad(fromUncheckedByteOffset: 3 &* index &+ 2, as: UInt8.self)
    return UInt64(UInt16(littleEndian: low)) | UInt64(high) << 16
  }

  /// All `count` values: `base` plus their distances of 3 bytes each.
  package static func unpackThreeBytes(_ bytes: RawSpan, count: Int, base: UInt64) -> [UInt64] {
    precondition(bytes.byteCount >= 3 * count, "packed values outside of their column")
    return [UInt64](unsafeUninitializedCapacity: count) { buffer, filled in
      for index in 0..<count { buffer[index] = base &+ loadThreeBytes(bytes, index) }
      filled = count
    }
  }

  package static func packThreeBytes(_ values: [Int64], base: Int64) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: 3 * values.count) { bytes, filled in
      for (index, value) in values.enumerated() {
        let distance = UInt64(bitPattern: value &- base)
        for byte in 0..<3 {
          bytes[3 * index + byte] = UInt8(truncatingIfNeeded: distance >> UInt64(8 * byte))
        }
      }
      filled = 3 * values.count
    }
  }

  @inlinable
  @inline(__always)
  static func load<Integer: FixedWidthInteger & BitwiseCopyable>(
    _ bytes: RawSpan, _ index: Int, as type: Integer.Type
  ) -> Integer {
    let size = MemoryLayout<Integer>.size
    // One comparison: a negative index is greater than all as an unsigned number.
    let count = UInt(bitPattern: bytes.byteCount) / UInt(bitPattern: size)
    precondition(UInt(bitPattern: index) < count, "a packed value outside of its column")
    return Integer(
      littleEndian: bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: index &* size, as: Integer.self))
  }

  /// The number at `index` that 12 or 16 bytes make, the highest byte first.
  @inline(__always)
  package static func number(_ bytes: RawSpan, _ index: Int, size: Int) -> UInt128 {
    precondition(index >= 0 && (index + 1) * size <= bytes.byteCount, "a value outside of its column")
    let high = bytes.unsafeLoadUnaligned(fromByteOffset: index * size, as: UInt64.self).bigEndian
    if size == 12 {
      let low = bytes.unsafeLoadUnaligned(fromByteOffset: index * size + 8, as: UInt32.self).bigEndian
      return UInt128(high) << 32 | UInt128(low)
    }
    let low = bytes.unsafeLoadUnaligned(fromByteOffset: index * size + 8, as: UInt64.self).bigEndian
    return UInt128(high) << 64 | UInt128(low)
  }

  package static func unpack(_ bytes: RawSpan, count: Int, width: Int, base: Int64) -> [Int64] {
    precondition(bytes.byteCount >= byteCount(count, width: width), "packed values outside of their column")
    return [Int64](unsafeUninitializedCapacity: count) { buffer, filled in
      // Each width has a loop of its own, so that the width is not checked for each value.
      switch width {
      case 8: for index in 0..<count { buffer[index] = base &+ Int64(load(bytes, index, as: UInt8.self)) }
      case 16: for index in 0..<count { buffer[index] = base &+ Int64(load(bytes, index, as: UInt16.self)) }
      case 32: for index in 0..<count { buffer[index] = base &+ Int64(load(bytes, index, as: UInt32.self)) }
      default:
        for index in 0..<count {
          buffer[index] = base &+ Int64(bitPattern: load(bytes, index, width: width))
        }
      }
      filled = count
    }
  }

  /// The number of those of the first `count` distances that lie in `range`.
  package static func count(
    _ bytes: RawSpan, _ count: Int, width: Int, in range: ClosedRange<UInt64>
  ) -> Int {
    let greatest = width == 64 ? UInt64.max : 1 << UInt64(width) - 1
    guard range.lowerBound <= greatest else { return 0 }
    let (low, span) = (range.lowerBound, min(range.upperBound, greatest) - range.lowerBound)
    if low == 0, span == greatest { return count }
    precondition(bytes.byteCount >= byteCount(count, width: width), "packed values outside of their column")
    return bytes.withUnsafeBytes { values in
      let base = values.baseAddress
      switch width {
      case 8: return cp_count_in_range_8(base, count, UInt8(low), UInt8(span))
      case 16: return cp_count_in_range_16(base, count, UInt16(low), UInt16(span))
      case 32: return cp_count_in_range_32(base, count, UInt32(low), UInt32(span))
      case 64: return cp_count_in_range_64(base, count, low, span)
      default:
        var found = 0
        for index in 0..<count where load(bytes, index, width: width) &- low <= span { found += 1 }
        return found
      }
    }
  }

  package static func pack(_ values: [Int64], base: Int64, width: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: byteCount(values.count, width: width))
    var target = bytes.mutableSpan
    pack(values, base: base, width: width, into: target.mutableBytes)
    return bytes
  }

  /// Packs the values into `target`, which has room for the bytes that `byteCount` says.
  package static func pack(
    _ values: [Int64], base: Int64, width: Int, into target: consuming MutableRawSpan
  ) {
    precondition(
      target.byteCount >= byteCount(values.count, width: width), "packed values outside of their column")
    target.withUnsafeMutableBytes { target in
      switch width {
      case 0: break
      case 8: store(values, base, as: UInt8.self, to: target)
      case 16: store(values, base, as: UInt16.self, to: target)
      case 32: store(values, base, as: UInt32.self, to: target)
      case 64: store(values, base, as: UInt64.self, to: target)
      default: storeBits(values, base, width, to: target)
      }
    }
  }

  /// - Precondition: there is room for the values.
  @inline(__always)
  private static func store<Integer: FixedWidthInteger & UnsignedInteger & BitwiseCopyable>(
    _ values: [Int64], _ base: Int64, as type: Integer.Type, to target: UnsafeMutableRawBufferPointer
  ) {
    guard let start = target.baseAddress else { return }
    let size = MemoryLayout<Integer>.size
    // Without checks in the loop the compiler handles many values at a time.
    for index in values.indices {
      let distance = UInt64(bitPattern: values[index] &- base)
      start.storeBytes(
        of: Integer(truncatingIfNeeded: distance).littleEndian, toByteOffset: index &* size, as: Integer.self)
    }
  }

  /// - Precondition: there is room for the values, and the width is 1, 2 or 4.
  private static func storeBits(
    _ values: [Int64], _ base: Int64, _ width: Int, to target: UnsafeMutableRawBufferPointer
  ) {
    var (bits, filled, next): (UInt64, Int, Int) = (0, 0, 0)
    for value in values {
      bits |= UInt64(bitPattern: value &- base) << UInt64(filled)
      filled += width
      guard filled == 8 else { continue }
      target[next] = UInt8(truncatingIfNeeded: bits)
      (bits, filled, next) = (0, 0, next + 1)
    }
    if filled > 0 { target[next] = UInt8(truncatingIfNeeded: bits) }
  }
}
