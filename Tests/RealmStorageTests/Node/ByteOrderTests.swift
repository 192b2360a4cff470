import RealmStorage
import RealmTestSupport
import Testing

@Suite struct ByteOrderTests {
  private func compare(_ left: [UInt8], _ right: [UInt8]) -> Int {
    left.span.bytes.compare(right.span.bytes).signum()
  }

  private func commonPrefix(_ left: [UInt8], _ right: [UInt8]) -> Int {
    left.span.bytes.commonPrefix(right.span.bytes)
  }

  private func plainOrder(_ left: [UInt8], _ right: [UInt8]) -> Int {
    if left == right { return 0 }
    return left.lexicographicallyPrecedes(right) ? -1 : 1
  }

  private func plainPrefix(_ left: [UInt8], _ right: [UInt8]) -> Int {
    var count = 0
    while count < min(left.count, right.count), left[count] == right[count] { count += 1 }
    return count
  }

  /// Random bytes of a few kinds, including those next to the sign bit.
  private func word(_ generator: inout SeededGenerator, below limit: Int) -> [UInt8] {
    let alphabet: [UInt8] = [0, 1, 0x7f, 0x80, 0xff]
    let length = generator.below(limit)
    return (0..<length).map { _ in alphabet[generator.below(alphabet.count)] }
  }

  @Test(arguments: 0..<8)
  func `order and common prefix of bytes are those of plain arrays`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<300 {
      let start = word(&generator, below: 20)
      let left = start + word(&generator, below: 3)
      let right = start + word(&generator, below: 3)
      let order = compare(left, right)
      let back = compare(right, left)
      let common = commonPrefix(left, right)
      #expect(order == plainOrder(left, right), "\(left) \(right)")
      #expect(back == -order, "\(left) \(right)")
      #expect(common == plainPrefix(left, right), "\(left) \(right)")
    }
  }

  @Test func `empty bytes come before all others`() {
    let order = compare([], [0])
    let same = compare([], [])
    let common = commonPrefix([], [0])
    #expect(order == -1)
    #expect(same == 0)
    #expect(common == 0)
  }

  @Test func `a copy of raw bytes has the same bytes`() {
    let bytes = [UInt8](0..<100)
    let copy = bytes.span.bytes.array
    #expect(copy == bytes)
  }
}
