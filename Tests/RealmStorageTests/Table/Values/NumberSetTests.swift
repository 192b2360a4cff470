import RealmTestSupport
import Testing

@testable import RealmStorage

@Suite struct NumberSetTests {
  /// The kind of numbers that a test uses.
  enum Source: CaseIterable, Sendable {
    case upwards, downwards, close, far, extremes

    func next(_ count: Int, _ generator: inout SeededGenerator) -> Int64 {
      switch self {
      case .upwards: Int64(count)
      case .downwards: -Int64(count)
      case .close: Int64(generator.below(20_000)) - 10_000
      case .far: Int64(bitPattern: generator.next())
      case .extremes:
        generator.chance(50)
          ? [Int64.min, .min + 1, .max, .max - 1, 0][generator.below(5)] : Int64(generator.below(5000))
      }
    }
  }

  @Test(arguments: Source.allCases, 0..<3)
  func `a set of numbers holds the inserted numbers and no others`(source: Source, seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var (numbers, model) = (NumberSet(), Set<Int64>())
    for count in 0..<8000 {
      // Now and then comes a number of another kind, which may change the form of the set.
      let from = generator.below(3000) == 0 ? Source.far : source
      let number = from.next(count, &generator)
      #expect(numbers.contains(number) == model.contains(number), "seed \(seed)")
      if model.insert(number).inserted { numbers.insert(number) }
      for near in [number &- 1, number &+ 1, number &+ 64] {
        #expect(numbers.contains(near) == model.contains(near), "seed \(seed)")
      }
    }
    #expect(numbers.count == model.count)
    #expect(model.allSatisfy { numbers.contains($0) }, "seed \(seed)")
  }

  @Test(arguments: [1, 3, 100, 1 << 30], 0..<3)
  func `a set of row keys holds these keys, and finds the places of other keys in a list`(
    step: UInt64, seed: UInt64
  ) {
    var generator = SeededGenerator(seed: seed)
    let keys = (0..<UInt64(generator.below(2000))).filter { _ in generator.chance(70) }.map {
      500 + step * $0
    }
    var numbers = NumberSet(keys.shuffled(using: &generator))
    #expect(numbers.count == keys.count)
    var model = Set(keys)
    let others = (0..<2500).map { 490 + step * UInt64($0) + UInt64(generator.below(2)) } + [0, .max]
    for _ in 0..<2 {
      var places: [UInt16] = []
      numbers.appendPlacesOfOthers(others, to: &places)
      let expected = others.indices.filter { !model.contains(others[$0]) }
      #expect(places == expected.map { UInt16($0) }, "seed \(seed)")
      // The set takes other keys, too.
      for key in others.prefix(40) where model.insert(key).inserted { numbers.insert(Int64(key)) }
    }
  }

  @Test(arguments: [1, 50, 1 << 40], [1, -1])
  func `rows are found by integer primary keys of any distance and order`(step: Int64, sign: Int64)
    throws
  {
    let database = try Database(inMemory: "numbers")
    var generator = SeededGenerator(seed: 1)
    let numbers = (0..<Int64(3000)).map { sign * step * $0 }.shuffled(using: &generator)
    try database.write { transaction in
      let table = try transaction.createTable(
        TableSchema("Number", columns: [Column("id", .int64, index: .unique)]))
      for number in numbers { try table.insert(["id": .int(number)]) }
      #expect(throws: StorageError.self) { try table.insert(["id": .int(numbers[7])]) }
    }
    #expect(try IntegrityCheck.run(database.snapshot()).findings == [])
    let table = try #require(try database.snapshot().table("Number"))
    for (row, number) in numbers.enumerated() {
      #expect(try table.row(withPrimaryKey: .int(number)) == UInt64(row))
    }
  }
}
