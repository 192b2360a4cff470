import CRealmPlatform
import RealmTestSupport
import Testing

@testable import RealmStorage

@Suite struct GatherTests {
  @Test(arguments: [0, 1, 2, 4, 8, 16, 32, 64], 0..<6)
  func `packed values that are gathered at places equal the unpacked values at these places`(
    width: Int, seed: Int
  ) throws {
    var generator = SeededGenerator(seed: UInt64(width * 100 + seed))
    let count = 1 + generator.below(512)
    let base = Int64(generator.below(1000)) - 500
    let greatest = width == 64 ? UInt64.max >> 1 : (1 << UInt64(width)) - 1
    let values = (0..<count).map { _ in
      base &+ Int64(bitPattern: greatest == 0 ? 0 : generator.next() % (greatest + 1))
    }
    let bytes = PackedIntegers.pack(values, base: base, width: width)
    let places = places(below: count, &generator)
    let made = Gather.packed(places, of: bytes.span.bytes, count: count, width: width, base: base)
    let expected = places.map { values[Int($0)] }
    let found = PackedIntegers.unpack(
      made.bytes.span.bytes, count: places.count, width: made.width, base: made.least)
    #expect(found == expected)
    #expect(made.least == expected.min() && made.greatest == expected.max())
    // The result is packed as if the other values had never existed.
    let range = UInt64(bitPattern: made.greatest &- made.least)
    #expect(made.width == PackedIntegers.width(forRange: range))
    #expect(made.bytes == PackedIntegers.pack(expected, base: made.least, width: made.width))
  }

  @Test(arguments: [4, 8, 12, 16])
  func `gathered values of a fixed size stand one after another`(size: Int) {
    var generator = SeededGenerator(seed: UInt64(size))
    let count = 1 + generator.below(300)
    let bytes = generator.bytes(count * size)
    let places = places(below: count, &generator)
    let made = Gather.fixed(places, of: bytes.span.bytes, count: count, size: size)
    #expect(made == places.flatMap { bytes[Int($0) * size..<(Int($0) + 1) * size] })
  }

  @Test(arguments: 0..<40)
  func `gathered values of varying size keep their bytes and flags`(seed: Int) {
    var generator = SeededGenerator(seed: UInt64(seed))
    let count = 1 + generator.below(200)
    let longest = 1 + generator.below(80)
    var (heap, words): ([UInt8], [UInt16]) = ([], [])
    var values: [[UInt8]] = []
    for _ in 0..<count {
      values.append(generator.bytes(generator.below(longest)))
      heap += values[values.count - 1]
      words.append(UInt16(heap.count) | UInt16(generator.below(4)) << 14)
    }
    let places = places(below: count, &generator)
    let start = generator.below(40)
    let bytes = places.flatMap { values[Int($0)] }
    // The places count from the start of a larger column that contains these values.
    let first = generator.below(100)
    let shifted = places.map { $0 + UInt16(first) }
    #expect(
      Gather.length(shifted[...], from: first, words: words.span.bytes, endBits: 14) == bytes.count)
    // The target has exactly the room that is needed, or more, and the bytes before `start` must stay.
    let before = generator.bytes(start)
    var made = before + [UInt8](repeating: 0x5a, count: bytes.count + generator.below(20))
    let behind = made[(start + bytes.count)...].count
    var ends = [UInt16](repeating: 0x5a5a, count: places.count + 1)
    var heapSpan = made.mutableSpan
    var heapBytes = heapSpan.mutableBytes
    var endSpan = ends.mutableSpan
    var endBytes = endSpan.mutableBytes
    let end = Gather.varying(
      shifted[...], from: first, words: words.span.bytes, endBits: 14, of: heap.span.bytes, to: &heapBytes,
      at: start, words: &endBytes)
    #expect(end == start + bytes.count)
    #expect(Array(made.prefix(end)) == before + bytes && made.count == end + behind)
    var next = start
    let expected = places.map { place in
      next += values[Int(place)].count
      return UInt16(next) | words[Int(place)] & 0xc000
    }
    #expect(ends == expected + [0x5a5a])
  }

  /// Such values occur in a node that changed after it was verified.
  @Test func `nothing is written for values that end before they begin or outside of their heap`() {
    for ends: [UInt16] in [[20, 10, 26], [20, 19, 26], [5, 200, 300], [5, 27, 26]] {
      let heap = [UInt8](repeating: 1, count: 26)
      var target = [UInt8](repeating: 0x5a, count: 120)
      var words = [UInt16](repeating: 0, count: 2)
      // The room is in the middle of the target, so that a write before or behind it is noticed.
      let answer = target.withUnsafeMutableBytes { target in
        cp_gather_values(ends, 14, heap, heap.count, [1, 2], 2, 0, target.baseAddress! + 60, 16, 0, &words)
      }
      #expect(answer == -1)
      #expect(target[..<60].allSatisfy { $0 == 0x5a } && target[76...].allSatisfy { $0 == 0x5a })
    }
  }

  /// Some of the places in ascending order, at least one.
  private func places(below count: Int, _ generator: inout SeededGenerator) -> [UInt16] {
    let share = 1 + generator.below(100)
    let places = (0..<UInt16(count)).filter { _ in generator.chance(share) }
    return places.isEmpty ? [UInt16(generator.below(count))] : places
  }
}
