import RealmTestSupport
import Testing

@testable import RealmStorage

@Suite struct RareValuesTests {
  @Test(arguments: 0..<20)
  func `rare values behave like an array, whether or not all values are the usual one`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var model = [Int](repeating: generator.below(2), count: generator.below(5))
    var values =
      generator.chance(50)
      ? RareValues(model, usual: 0)
      : RareValues(repeating: model.first ?? 0, count: model.count, usual: 0)
    for _ in 0..<300 {
      let value = generator.chance(5) ? generator.below(3) : 0
      switch generator.below(12) {
      case 0..<6:
        values.append(value)
        model.append(value)
      case 6, 7:
        let row = generator.below(model.count + 1)
        values.insert(value, at: row)
        model.insert(value, at: row)
      case 8..<11 where !model.isEmpty:
        let row = generator.below(model.count)
        values.remove(at: row)
        model.remove(at: row)
      case 11 where generator.chance(20):
        let places = model.indices.filter { _ in generator.chance(80) }
        values.keep(places.map { UInt16($0) })
        model = places.map { model[$0] }
      default: break
      }
      #expect(values.count == model.count, "seed \(seed)")
      #expect(model.indices.map { values[$0] } == model, "seed \(seed)")
      #expect(values.others.isEmpty ? model.allSatisfy { $0 == 0 } : values.others == model, "seed \(seed)")
    }
  }
}
