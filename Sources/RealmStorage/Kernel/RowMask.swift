/// A set of up to 512 rows that are stored together.
package struct RowMask: Equatable {
  package static let maximumRows = 512

  /// A bit for each row, the first row in the lowest bit.
  var words: SIMD8<UInt64>

  @inline(__always)
  init(words: SIMD8<UInt64>) { self.words = words }

  // These are computed, because a static constant would be read through a call.
  package static var none: RowMask {
    @inline(__always) get { RowMask(words: SIMD8(repeating: 0)) }
  }

  private static var all: RowMask {
    @inline(__always) get { RowMask(words: SIMD8(repeating: .max)) }
  }

  /// A set of the first `count` rows.
  @inline(__always)
  package init(first count: Int) {
    precondition(count >= 0 && count <= Self.maximumRows, "a mask has 512 rows")
    self = .all
    guard count < Self.maximumRows else { return }
    // The words are set one by one, because processors without wide comparisons take ten times as long to set all at
    // once.
    let last = count >> 6
    words[last] = (1 << UInt64(count & 63)) &- 1
    var word = last + 1
    while word < 8 {
      words[word] = 0
      word += 1
    }
  }

  /// A set by the bits of the first `count` rows, the first row in the lowest bit.
  package init(bits: RawSpan, count: Int) {
    let length = (count + 7) / 8
    precondition(length <= bits.byteCount && count <= Self.maximumRows, "bits outside of their column")
    if bits.byteCount >= 64 {
      words = bits.unsafeLoadUnaligned(as: SIMD8<UInt64>.self)
      if count < Self.maximumRows { self = self & RowMask(first: count) }
      return
    }
    var words = SIMD8<UInt64>(repeating: 0)
    bits.withUnsafeBytes { from in
      withUnsafeMutableBytes(of: &words) {
        $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: from[..<length]))
      }
    }
    self = RowMask(words: words) & RowMask(first: count)
  }

  /// A set whose words are written by a kernel.
  @inline(__always)
  init(count: Int, _ fill: (UnsafeMutablePointer<UInt64>) -> Void) {
    precondition(count <= Self.maximumRows, "a mask has 512 rows")
    var words = SIMD8<UInt64>(repeating: 0)
    withUnsafeMutablePointer(to: &words) { words in
      words.withMemoryRebound(to: UInt64.self, capacity: 8) { fill($0) }
    }
    self.words = words
  }

  @inline(__always)
  package static func & (left: RowMask, right: RowMask) -> RowMask {
    RowMask(words: left.words & right.words)
  }
  @inline(__always)
  package static func | (left: RowMask, right: RowMask) -> RowMask {
    RowMask(words: left.words | right.words)
  }

  /// The rows that are not in the other set.
  @inline(__always)
  package func subtracting(_ other: RowMask) -> RowMask { RowMask(words: words & ~other.words) }

  package var isEmpty: Bool { words == SIMD8(repeating: 0) }

  package var count: Int {
    var count = 0
    for index in 0..<8 { count += words[index].nonzeroBitCount }
    return count
  }

  @inline(__always)
  package func contains(_ row: Int) -> Bool { words[row >> 6] >> UInt64(row & 63) & 1 != 0 }

  @inline(__always)
  package mutating func insert(_ row: Int) { words[row >> 6] |= 1 << UInt64(row & 63) }

  /// The rows from `row` on, which becomes the first row.
  package func from(_ row: Int) -> RowMask {
    let (skip, shift) = (row >> 6, UInt64(row & 63))
    var moved = RowMask.none
    for index in 0..<max(0, 8 - skip) {
      var word = words[index + skip] >> shift
      if shift > 0, index + skip + 1 < 8 { word |= words[index + skip + 1] << (64 - shift) }
      moved.words[index] = word
    }
    return moved
  }

  /// The rows of the set, moved up by `rows`.
  ///
  /// - Precondition: no row is moved past the last one.
  package func moved(by rows: Int) -> RowMask {
    let (skip, shift) = (rows >> 6, UInt64(rows & 63))
    var moved = RowMask.none
    for index in min(skip, 8)..<8 {
      var word = words[index - skip] << shift
      if shift > 0, index - skip > 0 { word |= words[index - skip - 1] >> (64 - shift) }
      moved.words[index] = word
    }
    return moved
  }

  /// Calls `body` with each row, in order.
  @inline(__always)
  package func forEach<Failure: Error>(_ body: (Int) throws(Failure) -> Void) throws(Failure) {
    for index in 0..<8 {
      var word = words[index]
      while word != 0 {
        try body((index << 6) + word.trailingZeroBitCount)
        word &= word &- 1
      }
    }
  }
}
