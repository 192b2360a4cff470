import CRealmPlatform

extension PackedIntegers {
  /// The places of those of the first `count` distances that lie in `range`.
  package static func mask(
    _ bytes: RawSpan, _ count: Int, width: Int, in range: ClosedRange<UInt64>
  ) -> RowMask {
    let greatest = width == 64 ? UInt64.max : 1 << UInt64(width) - 1
    guard range.lowerBound <= greatest else { return .none }
    let (low, span) = (range.lowerBound, min(range.upperBound, greatest) - range.lowerBound)
    if low == 0, span == greatest { return RowMask(first: count) }
    precondition(bytes.byteCount >= byteCount(count, width: width), "packed values outside of their column")
    if width == 1 {
      let ones = RowMask(bits: bytes, count: count)
      return low == 1 ? ones : RowMask(first: count).subtracting(ones)
    }
    return bytes.withUnsafeBytes { values in
      let base = values.baseAddress
      return RowMask(count: count) { mask in
        switch width {
        case 2: cp_mask_in_range_2(base, count, UInt8(low), UInt8(span), mask)
        case 4: cp_mask_in_range_4(base, count, UInt8(low), UInt8(span), mask)
        case 8: cp_mask_in_range_8(base, count, UInt8(low), UInt8(span), mask)
        case 16: cp_mask_in_range_16(base, count, UInt16(low), UInt16(span), mask)
        case 32: cp_mask_in_range_32(base, count, UInt32(low), UInt32(span), mask)
        default: cp_mask_in_range_64(base, count, low, span, mask)
        }
      }
    }
  }

  /// The sum of the first `count` distances; `count` is at most 512.
  package static func sum(_ bytes: RawSpan, _ count: Int, width: Int) -> UInt128 {
    precondition(bytes.byteCount >= byteCount(count, width: width), "packed values outside of their column")
    return bytes.withUnsafeBytes { values in
      let base = values.baseAddress
      switch width {
      case 0: return 0
      case 1: return UInt128(RowMask(bits: bytes, count: count).count)
      case 8: return UInt128(cp_sum_8(base, count))
      case 16: return UInt128(cp_sum_16(base, count))
      case 32: return UInt128(cp_sum_32(base, count))
      case 64:
        var halves: (UInt64, UInt64) = (0, 0)
        withUnsafeMutablePointer(to: &halves) { halves in
          halves.withMemoryRebound(to: UInt64.self, capacity: 2) { cp_sum_64(base, count, $0) }
        }
        return UInt128(halves.0) + UInt128(halves.1) << 32
      default:
        var sum: UInt128 = 0
        for index in 0..<count { sum += UInt128(load(bytes, index, width: width)) }
        return sum
      }
    }
  }
}

/// Doubles and floats, which are stored without packing.
package enum PackedReals {
  /// The places of those of the first `count` numbers that lie in `range`. NaN lies in no range.
  package static func mask(doubles bytes: RawSpan, _ count: Int, in range: ClosedRange<Double>) -> RowMask {
    precondition(bytes.byteCount >= 8 * count, "packed values outside of their column")
    return bytes.withUnsafeBytes { values in
      RowMask(count: count) {
        cp_mask_doubles(values.baseAddress, count, range.lowerBound, range.upperBound, $0)
      }
    }
  }

  package static func mask(floats bytes: RawSpan, _ count: Int, in range: ClosedRange<Float>) -> RowMask {
    precondition(bytes.byteCount >= 4 * count, "packed values outside of their column")
    return bytes.withUnsafeBytes { values in
      RowMask(count: count) {
        cp_mask_floats(values.baseAddress, count, range.lowerBound, range.upperBound, $0)
      }
    }
  }

  /// The sum of those of the first `count` numbers that are not NaN, and how many these are.
  package static func sum(_ bytes: RawSpan, _ count: Int, isDouble: Bool) -> (sum: Double, count: Int) {
    precondition(bytes.byteCount >= (isDouble ? 8 : 4) * count, "packed values outside of their column")
    return bytes.withUnsafeBytes { values in
      var numbers = 0
      let sum =
        isDouble
        ? cp_sum_doubles(values.baseAddress, count, &numbers)
        : cp_sum_floats(values.baseAddress, count, &numbers)
      return (sum, numbers)
    }
  }

  /// The least and the greatest of those of the first `count` numbers that are not NaN; nil if there are none.
  package static func extremes(_ bytes: RawSpan, _ count: Int, isDouble: Bool) -> ClosedRange<Double>? {
    precondition(bytes.byteCount >= (isDouble ? 8 : 4) * count, "packed values outside of their column")
    return bytes.withUnsafeBytes { values in
      var pair = (0.0, 0.0)
      withUnsafeMutablePointer(to: &pair) { pair in
        pair.withMemoryRebound(to: Double.self, capacity: 2) { pair in
          isDouble
            ? cp_extremes_doubles(values.baseAddress, count, pair)
            : cp_extremes_floats(values.baseAddress, count, pair)
        }
      }
      return pair.0 <= pair.1 ? pair.0...pair.1 : nil
    }
  }

  @inline(__always)
  package static func load(_ bytes: RawSpan, _ index: Int, isDouble: Bool) -> Double {
    isDouble
      ? Double(bitPattern: PackedIntegers.load(bytes, index, width: 64))
      : Double(Float(bitPattern: UInt32(PackedIntegers.load(bytes, index, width: 32))))
  }
}
