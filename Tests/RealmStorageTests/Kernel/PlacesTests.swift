import RealmTestSupport
import Testing

@testable import RealmStorage

@Suite struct PlacesTests {
  @Test(arguments: 0..<40)
  func `the places of numbers whose bit is not set are appended in order, wherever the numbers are`(
    seed: UInt64
  ) {
    var generator = SeededGenerator(seed: seed)
    let bits = (0..<generator.below(20)).map { _ in generator.next() & generator.next() }
    let base = generator.chance(50) ? UInt64(generator.below(1000)) : generator.next()
    let numbers = (0..<generator.below(700)).map { _ in
      generator.chance(90)
        ? base &+ UInt64(generator.below(64 * 22)) &- 64 : generator.next()
    }
    var places: [UInt16] = [7, 7]
    places.appendPlaces(of: numbers, without: bits, base: base)
    let expected = numbers.indices.filter { place in
      let distance = numbers[place] &- base
      guard distance < UInt64(64 * bits.count) else { return true }
      return bits[Int(distance / 64)] & 1 << (distance % 64) == 0
    }
    #expect(places == [7, 7] + expected.map { UInt16($0) }, "seed \(seed)")
  }
}
