/// Searches in ascending integers, of 8 bytes each or packed.
///
/// A place is first guessed from the least and the greatest integer. Keys that were given in order are evenly spread.
/// For these the search touches two or three cache lines and no branch is mispredicted, so that the processor can load
/// what the result names while it waits for the lines. If the guess is wrong, the search goes on by halving.
package enum SortedIntegers {
  /// The last place whose word is not greater than `key`; 0 if there is none.
  ///
  /// - Precondition: the bytes hold `count` words, at least 1.
  @inline(__always)
  package static func last(notGreaterThan key: UInt64, in bytes: RawSpan, count: Int) -> Int {
    precondition(count > 0 && count <= bytes.byteCount / 8, "words outside of their bytes")
    let words = Words<UInt64>(bytes)
    let (least, greatest) = (words[0], words[count - 1])
    if key >= greatest { return count - 1 }
    if key <= least { return 0 }
    let guess = place(of: key &- least, below: greatest &- least, last: count &- 1)
    // The guess is below the last place, because the key is less than the greatest word.
    if words[guess] <= key {
      return words[guess &+ 1] > key ? guess : words.last(notGreaterThan: key, guess &+ 1, count &- 1)
    }
    return words.last(notGreaterThan: key, 0, guess)
  }

  /// The place of `value` among packed values; nil if it is not there.
  ///
  /// - Precondition: the bytes hold `count` values of `width` bits, at least 1. With width 0 each value is its own
  ///   place.
  @inline(__always)
  package static func find(_ value: UInt64, in bytes: RawSpan, count: Int, width: Int) -> Int? {
    switch width {
    case 0: value < UInt64(count) ? Int(value) : nil
    case 8: find(value, in: bytes, count, as: UInt8.self)
    case 16: find(value, in: bytes, count, as: UInt16.self)
    case 32: find(value, in: bytes, count, as: UInt32.self)
    case 64: find(value, in: bytes, count, as: UInt64.self)
    default: findBits(value, in: bytes, count: count, width: width)
    }
  }

  private static func find<Word: FixedWidthInteger & UnsignedInteger & BitwiseCopyable>(
    _ value: UInt64, in bytes: RawSpan, _ count: Int, as type: Word.Type
  ) -> Int? {
    precondition(
      count > 0 && count <= bytes.byteCount / MemoryLayout<Word>.size, "packed values outside of their column"
    )
    let words = Words<Word>(bytes)
    let (least, greatest) = (words[0], words[count - 1])
    guard let value = Word(exactly: value), value >= least, value <= greatest else { return nil }
    if value == greatest { return count - 1 }
    let guess = place(of: UInt64(value - least), below: UInt64(greatest - least), last: count &- 1)
    let found = words[guess]
    if found == value { return guess }
    let place =
      found < value
      ? words.last(notGreaterThan: value, guess, count &- 1)
      : words.last(notGreaterThan: value, 0, guess)
    return words[place] == value ? place : nil
  }

  /// Values of fewer than 8 bits are so few that they are compared one by one.
  private static func findBits(_ value: UInt64, in bytes: RawSpan, count: Int, width: Int) -> Int? {
    for place in 0..<min(count, 1 << width) where PackedIntegers.load(bytes, place, width: width) == value {
      return place
    }
    return nil
  }

  /// Whether packed values ascend, without equal ones. With width 0 each value is its own place.
  package static func ascend(_ bytes: RawSpan, count: Int, width: Int) -> Bool {
    switch width {
    case 0: true
    case 8: ascend(bytes, count, as: UInt8.self)
    case 16: ascend(bytes, count, as: UInt16.self)
    case 32: ascend(bytes, count, as: UInt32.self)
    case 64: ascend(bytes, count, as: UInt64.self)
    default:
      (1..<max(count, 1)).allSatisfy { place in
        PackedIntegers.load(bytes, place - 1, width: width) < PackedIntegers.load(bytes, place, width: width)
      }
    }
  }

  private static func ascend<Word: FixedWidthInteger & UnsignedInteger & BitwiseCopyable>(
    _ bytes: RawSpan, _ count: Int, as type: Word.Type
  ) -> Bool {
    precondition(
      count > 0 && count <= bytes.byteCount / MemoryLayout<Word>.size, "packed values outside of their column"
    )
    let words = Words<Word>(bytes)
    var last = words[0]
    for place in 1..<max(count, 1) {
      let word = words[place]
      if word <= last { return false }
      last = word
    }
    return true
  }

  /// The place at which `distance` falls if `range` is spread evenly over the places; it is below the last place.
  @inline(__always)
  package static func place(of distance: UInt64, below range: UInt64, last: Int) -> Int {
    // Both are shifted so that they have at most 32 bits. Then nothing overflows.
    let shift = UInt64(max(0, 32 - range.leadingZeroBitCount))
    let guess = (distance &>> shift) &* UInt64(last) / max(range &>> shift, 1)
    return min(Int(truncatingIfNeeded: guess), last &- 1)
  }

  /// Little-endian words at any address, whose bounds were checked.
  private struct Words<Word: FixedWidthInteger & UnsignedInteger & BitwiseCopyable>: ~Escapable {
    let bytes: RawSpan

    @inline(__always)
    @_lifetime(copy bytes)
    init(_ bytes: RawSpan) { self.bytes = bytes }

    @inline(__always)
    subscript(place: Int) -> Word {
      Word(
        littleEndian: bytes.unsafeLoadUnaligned(
          fromUncheckedByteOffset: place &* MemoryLayout<Word>.size, as: Word.self))
    }

    /// The last place of `first..<end` whose word is not greater than `key`; `first` if there is none.
    func last(notGreaterThan key: Word, _ first: Int, _ end: Int) -> Int {
      var (first, count) = (first, end &- first)
      while count > 1 {
        let half = count &>> 1
        if self[first &+ half] <= key { first = first &+ half }
        count = count &- half
      }
      return first
    }
  }
}
