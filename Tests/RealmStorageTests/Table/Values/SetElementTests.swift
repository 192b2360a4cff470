import RealmStorage
import RealmTestSupport
import Testing

@Suite struct SetElementTests {
  private func number(_ generator: inout SeededGenerator) -> Value {
    let near: [Double] = [
      0.1, 1.5, 3, 0x1p53, 0x1p60, 0x1p63, 1e22, 1e23, 1e-5, .leastNonzeroMagnitude, 1e308, 0,
    ]
    var double = near[generator.below(near.count)]
    if generator.chance(40) { double = double.nextUp }
    if generator.chance(40) { double = Double(Float(double)) }
    if generator.chance(30) { double = -double }
    switch generator.below(6) {
    case 0: return .int(Int64(exactly: double) ?? (double < 0 ? .min : .max))
    case 1: return .int((Int64(exactly: double) ?? 5) &+ Int64(generator.below(3)))
    case 2: return .float(generator.chance(5) ? .nan : Float(double))
    case 3: return .decimal128(DecimalNumber(generator.chance(5) ? .nan : double).stored)
    case 4: return .decimal128(DecimalNumber(Int64(exactly: double) ?? .max).stored)
    default: return .double(generator.chance(5) ? .nan : double)
    }
  }

  @Test(arguments: [UInt64(1), .random(in: 0...(.max))])
  func `numbers of all types have one order, and equal numbers have the same hash`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let numbers = (0..<150).map { _ in number(&generator) }
    func order(_ left: Value, _ right: Value) -> Int {
      Value.isBefore(left, right) ? -1 : Value.isBefore(right, left) ? 1 : 0
    }
    for left in numbers {
      #expect(order(left, left) == 0)
      for right in numbers {
        #expect(order(left, right) == -order(right, left), "\(left) and \(right), seed \(seed)")
        #expect((SetElement(left) == SetElement(right)) == (order(left, right) == 0))
        if order(left, right) == 0 {
          #expect(
            SetElement(left).hashValue == SetElement(right).hashValue, "\(left) and \(right), seed \(seed)")
        }
      }
    }
    // All pairs in the sorted list are in order, so the order is transitive.
    let sorted = numbers.sorted(by: Value.isBefore)
    for (place, left) in sorted.enumerated() {
      for right in sorted[place...] { #expect(order(left, right) <= 0, "\(left) and \(right), seed \(seed)") }
    }
    guard case .list(let elements, _) = Value.set(numbers) else { return }
    #expect(elements.count == Set(numbers.map { SetElement($0) }).count)
  }

  @Test func `a set of mixed values keeps decimals among its numbers and is read unchanged`() throws {
    let database = try Database(creatingIn: MemoryStorage(), options: .init())
    let decimals = [2.5, 3, .nan].map { Value.decimal128(DecimalNumber($0).stored) }
    let all = decimals + [.int(3), .double(.nan), .float(2.5), .double(9), .string("x"), .bool(true), .null]
    let key = try database.write { transaction in
      let table = try transaction.createTable(
        TableSchema("T", columns: [Column("a", .mixed, collection: .set)]))
      return try table.insert(["a": .set(all)])
    }
    let table = try #require(try database.snapshot().table("T"))
    let read = try table.value(table.schema.columns[0], ofRow: key)
    #expect(
      read == .list([.null, .bool(true), decimals[2], decimals[0], decimals[1], .double(9), .string("x")]))
  }
}
