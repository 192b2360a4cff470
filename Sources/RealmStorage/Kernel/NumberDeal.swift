/// Gives places to numbers, so that numbers with the same highest bits stand together, in the order in which they come.
struct NumberDeal: ~Copyable {
  /// The lowest of the bits that tell the numbers apart. There are eleven of these bits, because a cache does not hold
  /// more places.
  private let shift: UInt128
  private let least: UInt128
  /// How many numbers there are with each value of these bits; after `begin`, the place of the next such number.
  private let next = LargeArray<Int>(count: 1 << bits)

  private static let bits = 11

  /// Makes a deal for numbers that are at least `least`, and less than `least` plus 2 to the power of `width`.
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
      // The count is not changed in place, because that breaks the compiler if accesses of threads are checked (Swift
      // 6.3).
      next[digit] = next[digit] &+ 1
    }
  }

  /// Turns the counts into places. All numbers have to be expected before.
  mutating func begin() {
    var start = 0
    for digit in 0..<next.count { (next[digit], start) = (start, start + next[digit]) }
  }

  /// The place of a number. Each call gives a place away.
  @inline(__always)
  mutating func index(of number: UInt128) -> Int {
    let digit = digit(number)
    let index = next[digit]
    next[digit] = index &+ 1
    return index
  }

  /// The ranges of places whose numbers belong together, once all numbers have their places.
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
