/// The groups into which some numbers, the bounds, split all numbers: the numbers below the first bound, those that
/// equal it, those between it and the second bound, and so on.
struct NumberGroups: ~Copyable {
  /// The greatest number of bounds. The number of a group then fits a byte.
  static let mostBounds = 127

  /// The bounds. Behind them stands the greatest possible number, because no number is greater.
  private let bounds = LargeArray<UInt128>(count: mostBounds + 1)
  private let boundCount: Int

  /// - Precondition: the bounds ascend, and there are at most `mostBounds` of them.
  init(_ sorted: [UInt128]) {
    precondition(sorted.count <= Self.mostBounds, "too many groups of numbers")
    boundCount = sorted.count
    for place in 0..<bounds.count { bounds[place] = place < sorted.count ? sorted[place] : .max }
  }

  var count: Int { 2 * boundCount + 1 }

  /// The number that all numbers of a group equal; nil for a group whose numbers may differ.
  func only(_ group: Int) -> UInt128? { group & 1 == 1 ? bounds[group / 2] : nil }

  /// The group of a number.
  @inline(__always)
  func group(of number: UInt128) -> Int {
    // The number of bounds that are less. The search halves without a branch, because a branch with two ways that are
    // equally likely is mispredicted half of the time.
    var less = 0
    var step = (Self.mostBounds + 1) / 2
    while step > 0 {
      less &+= bounds[less &+ step &- 1] < number ? step : 0
      step /= 2
    }
    return 2 &* less &+ (less < boundCount && bounds[less] == number ? 1 : 0)
  }

  /// Some numbers that are evenly spread among others: at most `count`, in order, each one once.
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
