/// The groups that some numbers, the bounds, part all numbers into: those below the first bound, those that equal it, those
/// between it and the second, and so on.
struct NumberGroups: ~Copyable {
  /// So many bounds at most: a group's number fits a byte.
  static let mostBounds = 127

  /// Behind the bounds the greatest number stands, which none is greater than.
  private let bounds = LargeArray<UInt128>(count: mostBounds + 1)
  private let boundCount: Int

  /// - Precondition: the bounds ascend, and are no more than `mostBounds`.
  init(_ sorted: [UInt128]) {
    precondition(sorted.count <= Self.mostBounds, "too many groups of numbers")
    boundCount = sorted.count
    for place in 0..<bounds.count { bounds[place] = place < sorted.count ? sorted[place] : .max }
  }

  var count: Int { 2 * boundCount + 1 }

  /// The number of a group in which all are the same; nil of one in which they may differ.
  func only(_ group: Int) -> UInt128? { group & 1 == 1 ? bounds[group / 2] : nil }

  /// The group of a number.
  @inline(__always)
  func group(of number: UInt128) -> Int {
    // How many bounds are less. Halving without a branch: of two numbers that are as likely one is guessed wrong.
    var less = 0
    var step = (Self.mostBounds + 1) / 2
    while step > 0 {
      less &+= bounds[less &+ step &- 1] < number ? step : 0
      step /= 2
    }
    return 2 &* less &+ (less < boundCount && bounds[less] == number ? 1 : 0)
  }

  /// Some numbers that stand evenly among others: no more than `count`, in order, each once.
  static func evenly(among numbers: [UInt128], count: Int) -> [UInt128] {
    let sorted = numbers.sorted()
    var found: [UInt128] = []
    for place in 0..<min(count, mostBounds) {
      let number = sorted[(2 * place + 1) * sorted.count / (2 * min(count, mostBounds))]
      if found.last != number { found.append(number) }
    }
    return found
  }
}
