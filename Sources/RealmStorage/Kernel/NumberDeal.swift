/// Where numbers go so that those with the same highest bits stand together, in the order they come in.
struct NumberDeal: ~Copyable {
  /// From one bit on they are told apart: by eleven bits, for more places are than a cache keeps.
  private let shift: UInt128
  private let least: UInt128
  /// How many there are of each; then where the next one goes.
  private let next = LargeArray<Int>(count: 1 << bits)

  private static let bits = 11

  /// Of numbers from `least` on, less than two to the power of `width` above it.
  init(least: UInt128, width: Int) {
    self.least = least
    shift = UInt128(max(0, width - Self.bits))
  }

  @inline(__always)
  private func digit(_ number: UInt128) -> Int {
    Int(truncatingIfNeeded: (number &- least) &>> shift) & (1 << Self.bits - 1)
  }

  mutating func expect(_ numbers: borrowing NumberBuffer) {
    for index in 0..<numbers.count {
      let digit = digit(numbers[index])
      // Not added in place, which breaks the compiler where accesses of threads are checked (Swift 6.3).
      next[digit] = next[digit] &+ 1
    }
  }

  /// All were expected.
  mutating func begin() {
    var start = 0
    for digit in 0..<next.count { (next[digit], start) = (start, start + next[digit]) }
  }

  /// Where a number goes.
  @inline(__always)
  mutating func index(of number: UInt128) -> Int {
    let digit = digit(number)
    let index = next[digit]
    next[digit] = index &+ 1
    return index
  }

  /// Where those that belong together stand, once all have their places.
  var ranges: [Range<Int>] {
    var ranges: [Range<Int>] = []
    var start = 0
    for digit in 0..<next.count where next[digit] > start {
      ranges.append(start..<next[digit])
      start = next[digit]
    }
    return ranges
  }
}
