import Foundation
import RealmSwift
import RealmTestSupport
import Testing

private class Leaf: Object {
  @Persisted var id: Int
  @Persisted var bool: Bool?
  @Persisted var int: Int?
  @Persisted var float: Float?
  @Persisted var double: Double?
  @Persisted var text: String?
  @Persisted var data: Data?
  @Persisted var date: Date?
  @Persisted var objectId: ObjectId?
  @Persisted var uuid: UUID?
  @Persisted var decimal: Decimal128?
  @Persisted var any: AnyRealmValue
  @Persisted var next: Leaf?
  @Persisted var leaves: List<Leaf>

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite struct SortTests {
  private let realm: Realm
  private var leaves: Results<Leaf> { realm.objects(Leaf.self) }

  init() throws { realm = try memoryRealm([Leaf.self]) }

  private func fill(_ generator: inout SeededGenerator, _ count: Int) throws {
    try realm.write {
      realm.deleteAll()
      var all: [Leaf] = []
      for id in 0..<count {
        let leaf = realm.create(Leaf.self, value: ["id": id])
        if generator.chance(70), let next = all.randomElement(using: &generator) { leaf.next = next }
        let number = generator.below(4)
        if generator.chance(80) { leaf.bool = number > 1 }
        if generator.chance(80) { leaf.int = number - 2 }
        if generator.chance(80) { leaf.float = Float(number) / 2 }
        if generator.chance(80) { leaf.double = Double(number) / 4 - 0.25 }
        if generator.chance(80) { leaf.text = String(repeating: "long text ", count: 3) + "\(number)" }
        if generator.chance(80) { leaf.data = Data(repeating: 0xff, count: 20) + [UInt8(number)] }
        if generator.chance(80) { leaf.date = Date(timeIntervalSince1970: Double(number) / 2) }
        if generator.chance(80) { leaf.objectId = try ObjectId(string: "00000000000000000000000\(number)") }
        if generator.chance(80) {
          leaf.uuid = UUID(uuidString: "00000000-0000-0000-0000-0000000000f\(number)")
        }
        if generator.chance(80) { leaf.decimal = Decimal128(value: number) }
        leaf.any =
          [.none, .bool(true), .int(number), .double(1.5), .string("b"), .data(Data([1])), .uuid(UUID())][
            generator.below(7)]
        all.append(leaf)
      }
      all[0].leaves.append(objectsIn: all.shuffled(using: &generator).prefix(count / 2))
    }
  }

  /// The order by a property of `next.next`, from a model. The value is nil for a leaf that has no such link.
  private func model<Value>(
    _ leaves: [Leaf], _ depth: Int, _ ascending: Bool, _ value: (Leaf) -> Value?,
    _ isLess: (Value, Value) -> Bool
  ) -> [Int] {
    let found = leaves.map { leaf -> (isReached: Bool, value: Value?) in
      let end = (0..<depth).reduce(leaf as Leaf?) { found, _ in found?.next }
      return (end != nil, end.flatMap(value))
    }
    func order(_ left: Int, _ right: Int) -> Int {
      let (left, right) = (found[left], found[right])
      if !left.isReached || !right.isReached { return (left.isReached ? 0 : 1) - (right.isReached ? 0 : 1) }
      guard let first = left.value, let second = right.value else {
        return (left.value == nil ? 0 : 1) - (right.value == nil ? 0 : 1)
      }
      return isLess(first, second) ? -1 : isLess(second, first) ? 1 : 0
    }
    return leaves.indices.sorted {
      let order = order($0, $1)
      return order == 0 ? $0 < $1 : (order < 0) == ascending
    }.map { leaves[$0].id }
  }

  private func check<Value>(
    _ name: String, _ value: (Leaf) -> Value?, _ isLess: (Value, Value) -> Bool, _ hint: String
  ) {
    for depth in 0..<3 {
      let path = String(repeating: "next.", count: depth) + name
      for ascending in [true, false] {
        let expected = model(Array(leaves), depth, ascending, value, isLess)
        let sorted = leaves.sorted(byKeyPath: path, ascending: ascending)
        #expect(sorted.map(\.id) == expected, "\(hint) \(path) \(ascending)")
        #expect(leaves.sorted(byKeyPath: path, ascending: ascending).first?.id == expected.first)
        let head = leaves.sorted(byKeyPath: path, ascending: ascending)
        #expect((0..<3).map { head[$0].id } == Array(expected.prefix(3)))
        let list = leaves[0].leaves
        #expect(
          list.sorted(byKeyPath: path, ascending: ascending).map(\.id)
            == model(Array(list), depth, ascending, value, isLess), "\(hint) \(path) \(ascending) of a list")
      }
    }
  }

  @Test(arguments: 0..<2, [40, 600])
  func `every type is sorted through links as by a model`(seed: UInt64, count: Int) throws {
    var generator = SeededGenerator(seed: seed)
    try fill(&generator, count)
    let hint = "seed \(seed), \(count) leaves,"
    check("bool", \.bool, { !$0 && $1 }, hint)
    check("int", \.int, <, hint)
    check("float", \.float, <, hint)
    check("double", \.double, <, hint)
    check("text", \.text, <, hint)
    check("data", \.data, { $0.lexicographicallyPrecedes($1) }, hint)
    check("date", \.date, <, hint)
    check("objectId", \.objectId, <, hint)
    check("uuid", \.uuid, { $0.uuidString < $1.uuidString }, hint)
    check("decimal", \.decimal, <, hint)
  }

  @Test func `objects without the link come last in ascending order, even by a second descriptor`() throws {
    try realm.write {
      let leaf = realm.create(Leaf.self, value: ["id": 0, "int": 5])
      let other = realm.create(Leaf.self, value: ["id": 1, "int": 3])
      let none = realm.create(Leaf.self, value: ["id": 2])
      for (id, next) in [(3, leaf), (4, nil), (5, other), (6, none), (7, nil)] {
        realm.create(Leaf.self, value: ["id": id, "bool": id > 4, "next": next as Any])
      }
    }
    let some = leaves.where { $0.id > 2 }
    #expect(some.sorted(by: \.next?.int).map(\.id) == [6, 5, 3, 4, 7])
    #expect(some.sorted(by: \.next?.int, ascending: false).map(\.id) == [4, 7, 3, 5, 6])
    let keys = [SortDescriptor(keyPath: "bool"), SortDescriptor(keyPath: "next.int", ascending: false)]
    #expect(some.sorted(by: keys).map(\.id) == [4, 3, 7, 5, 6])
    let two = [SortDescriptor(keyPath: "next.int"), SortDescriptor(keyPath: "id", ascending: false)]
    #expect(some.sorted(by: two).map(\.id) == [6, 5, 3, 7, 4])
    #expect(some.sorted(by: two).last?.id == 4 && some.sorted(by: two).prefix(2).map(\.id) == [6, 5])
  }

  @Test func `data and values of any type are sorted by key path`() throws {
    let values: [AnyRealmValue] = [
      .none, .bool(false), .bool(true), .int(-1), .double(0.5), .int(1), .string("a"), .string("b"),
      .data(Data([0])), .date(Date(timeIntervalSince1970: 0)),
      .objectId(ObjectId("000000000000000000000001")),
      .uuid(UUID()),
    ]
    try realm.write {
      for index in values.indices.reversed() {
        realm.create(Leaf.self, value: ["id": index, "data": Data([UInt8(index), 0]), "any": values[index]])
      }
    }
    let ids = Array(values.indices)
    #expect(leaves.sorted(by: \.any).map(\.id) == ids)
    #expect(leaves.sorted(by: \.any, ascending: false).map(\.id) == ids.reversed())
    #expect(leaves.sorted(by: \.data).map(\.id) == ids && leaves.sorted(byKeyPath: "any").map(\.id) == ids)
    #expect(leaves.sorted(by: \.any).first?.id == 0)
  }
}
