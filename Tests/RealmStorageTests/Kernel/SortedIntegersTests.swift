import RealmTestSupport
import Testing

@testable import RealmStorage

@Suite struct SortedIntegersTests {
  /// Ascending numbers: without gaps, evenly apart, random, or in clumps.
  private static func ascending(_ count: Int, below limit: UInt64, _ generator: inout SeededGenerator)
    -> [UInt64]
  {
    var numbers: Set<UInt64> = []
    let start = generator.next() % (limit / 2)
    let step = UInt64(1 + generator.below(3))
    let isEven = generator.chance(50)
    while numbers.count < count {
      let count = UInt64(numbers.count)
      numbers.insert(isEven ? (start + count * step) % limit : generator.next() % limit)
      if !isEven, generator.chance(30), let some = numbers.first { numbers.insert((some &+ 1) % limit) }
    }
    return numbers.sorted().suffix(count)
  }

  private static func bytes(_ numbers: [UInt64], width: Int) -> [UInt8] {
    PackedIntegers.pack(numbers.map { Int64(bitPattern: $0) }, base: 0, width: width)
  }

  @Test(arguments: 0..<4)
  func `a search in sorted integers finds the same as a look at each`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<400 {
      let count = 1 + generator.below(80)
      let limit = [UInt64(300), 70_000, 1 << 33, .max][generator.below(4)]
      let numbers = Self.ascending(count, below: limit, &generator)
      let words = Self.bytes(numbers, width: 64)
      var keys = numbers + numbers.map { $0 &+ 1 } + numbers.map { $0 &- 1 }
      keys += [0, .max, generator.next(), generator.next() % limit]
      for key in keys {
        let expected = max(numbers.count { $0 <= key } - 1, 0)
        let found = SortedIntegers.last(notGreaterThan: key, in: words.span.bytes, count: count)
        #expect(found == expected, "\(key) in \(numbers)")
      }
    }
  }

  @Test(arguments: [1, 2, 4, 8, 16, 32, 64])
  func `a search finds each packed value, and no other value`(width: Int) {
    var generator = SeededGenerator(seed: UInt64(width))
    let limit = width == 64 ? UInt64.max : 1 << UInt64(width)
    for _ in 0..<200 {
      let count = 1 + generator.below(min(200, Int(clamping: limit / 2)))
      var numbers: Set<UInt64> = []
      while numbers.count < count { numbers.insert(generator.next() % limit) }
      let sorted = numbers.sorted()
      let bytes = Self.bytes(sorted, width: width)
      for key in sorted + sorted.map({ $0 &+ 1 }) + [0, .max, generator.next() % limit] {
        let found = SortedIntegers.find(key, in: bytes.span.bytes, count: count, width: width)
        #expect(found == sorted.firstIndex(of: key), "\(key) in \(sorted)")
      }
      #expect(Self.ascend(sorted, width: width))
      guard count > 1 else { continue }
      var turned = sorted
      turned.swapAt(0, generator.below(count - 1) + 1)
      #expect(!Self.ascend(turned, width: width))
      #expect(!Self.ascend([sorted[0]] + sorted.dropLast(), width: width))
    }
  }

  private static func ascend(_ numbers: [UInt64], width: Int) -> Bool {
    let bytes = bytes(numbers, width: width)
    return SortedIntegers.ascend(bytes.span.bytes, count: numbers.count, width: width)
  }

  @Test func `with width 0 each value equals its place`() {
    let none: [UInt8] = []
    let found = [7, 8, .max].map { SortedIntegers.find($0, in: none.span.bytes, count: 8, width: 0) }
    #expect(found == [7, nil, nil])
  }
}
