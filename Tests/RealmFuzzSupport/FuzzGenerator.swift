/// A generator of random numbers that are the same for the same seed (splitmix64).
public struct FuzzGenerator: RandomNumberGenerator, Sendable {
  private var state: UInt64

  public init(seed: UInt64) { state = seed }

  public mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }

  /// A random number from 0 up to a bound.
  ///
  /// - Parameter bound: the first number that is too great; at least 1.
  public mutating func below(_ bound: Int) -> Int {
    // The numbers are not quite equally likely. That does no harm here, and a division would take longer.
    Int(next().multipliedFullWidth(by: UInt64(bound)).high)
  }

  public mutating func chance(_ percent: Int) -> Bool { below(100) < percent }

  public mutating func bytes(_ count: Int) -> [UInt8] {
    (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }
  }

  /// A random element.
  ///
  /// - Precondition: there is at least one element.
  public mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }

  /// A number at which code for counts, lengths and versions often fails.
  public mutating func extremeNumber() -> UInt64 {
    switch below(7) {
    case 0: 0
    case 1: UInt64.max
    case 2: UInt64(below(16))
    case 3: UInt64(below(70_000))
    case 4: UInt64(1) << UInt64(below(64))
    case 5: (UInt64(1) << UInt64(below(64))) &- 1
    default: next()
    }
  }

  /// Random places at which this number of bytes is cut into pieces, some of which may be empty.
  public mutating func cuts(of count: Int) -> [Int] {
    // The input is cut into single bytes if there are not too many.
    if count <= 200, chance(2) { return Array(0..<count) }
    return (0...below(5)).map { _ in below(count + 1) }.sorted()
  }
}
