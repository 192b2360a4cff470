import Foundation
import RealmSwift
import RealmTestSupport
import Testing

private class Fruit: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var name: String?
  @Persisted var weight: Int
  @Persisted var basket: Basket?
  @Persisted var seeds: List<Int>

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class Basket: Object {
  @Persisted(primaryKey: true) var name: String
  @Persisted var fruits: List<Fruit>

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite struct DistinctTests {
  private let realm: Realm
  private var fruits: Results<Fruit> { realm.objects(Fruit.self) }

  init() throws { realm = try memoryRealm([Fruit.self, Basket.self]) }

  private func fill(_ generator: inout SeededGenerator, _ count: Int) throws {
    try realm.write {
      realm.deleteAll()
      let baskets = ["left", "right"].map { realm.create(Basket.self, value: ["name": $0]) }
      for id in 0..<count {
        let fruit = realm.create(Fruit.self, value: ["id": id, "weight": generator.below(5)])
        if generator.chance(80) { fruit.name = "kind \(generator.below(4))" }
        if generator.chance(80) { fruit.basket = baskets[generator.below(2)] }
        baskets[generator.below(2)].fruits.append(fruit)
      }
    }
  }

  /// The first object of each group with the same key, from a model.
  private func firsts<Key: Hashable>(_ fruits: [Fruit], _ key: (Fruit) -> Key) -> [Int] {
    var seen: Set<Key> = []
    return fruits.filter { seen.insert(key($0)).inserted }.map(\.id)
  }

  @Test(arguments: 0..<6) func `distinct keeps the first of the objects with the same values`(seed: UInt64)
    throws
  {
    var generator = SeededGenerator(seed: seed)
    try fill(&generator, 5 + generator.below(80))
    let all = Array(fruits)
    #expect(fruits.distinct(by: ["name"]).map(\.id) == firsts(all) { $0.name })
    #expect(
      fruits.distinct(by: [\Fruit.name, \Fruit.weight]).map(\.id)
        == firsts(all) { [$0.name, "\($0.weight)"] })
    #expect(fruits.distinct(by: ["basket.name"]).map(\.id) == firsts(all) { $0.basket?.name })
    #expect(fruits.distinct(by: ["basket"]).map(\.id) == firsts(all) { $0.basket?.name })
    let heavy = fruits.where { $0.weight > 1 }
    #expect(heavy.distinct(by: ["name"]).map(\.id) == firsts(all.filter { $0.weight > 1 }) { $0.name })
    // Filters come first, even if they are added later.
    #expect(
      fruits.distinct(by: ["name"]).where { $0.weight > 1 }.map(\.id)
        == firsts(all.filter { $0.weight > 1 }) { $0.name })
    let sorted = Array(fruits.sorted(by: \.weight, ascending: false))
    #expect(
      fruits.sorted(by: \.weight, ascending: false).distinct(by: ["name"]).map(\.id)
        == firsts(sorted) { $0.name })
    let after = fruits.distinct(by: ["name"]).sorted(by: \.weight)
    #expect(Set(after.map(\.id)) == Set(firsts(all) { $0.name }))
    #expect(after.map(\.weight) == after.map(\.weight).sorted())
    for basket in realm.objects(Basket.self) {
      #expect(basket.fruits.distinct(by: ["name"]).map(\.id) == firsts(Array(basket.fruits)) { $0.name })
    }
  }

  @Test func `distinct results are live, counted and empty as others are`() throws {
    var generator = SeededGenerator(seed: 3)
    try fill(&generator, 40)
    let names = fruits.distinct(by: ["name"]).sorted(by: \.name)
    let before = names.count
    #expect(before == Set(fruits.map(\.name)).count && !names.isEmpty)
    try realm.write {
      let fruit = realm.create(Fruit.self, value: ["id": 1000, "name": "another"])
      #expect(names.count == before + 1 && names.contains(fruit))
      realm.delete(realm.objects(Fruit.self).where { $0.name != "another" })
      #expect(names.map(\.name) == ["another"])
      realm.delete(fruit)
      #expect(names.isEmpty && names.first == nil && names.count == 0)
    }
  }

  @Test func `the place of the first object that matches a condition is found`() throws {
    var generator = SeededGenerator(seed: 8)
    try fill(&generator, 60)
    let sorted = fruits.sorted(by: \.weight)
    let heavy = fruits.where { $0.weight > 2 }
    for weight in 0...5 {
      #expect(fruits.index(matching: { $0.weight == weight }) == fruits.firstIndex { $0.weight == weight })
      #expect(sorted.index(matching: { $0.weight == weight }) == sorted.firstIndex { $0.weight == weight })
      #expect(heavy.index(matching: { $0.weight == weight }) == heavy.firstIndex { $0.weight == weight })
      let distinct = sorted.distinct(by: ["name"])
      #expect(
        distinct.index(matching: { $0.weight == weight }) == distinct.firstIndex { $0.weight == weight })
      let basket = realm.objects(Basket.self)[0]
      #expect(
        basket.fruits.index(matching: { $0.weight == weight })
          == basket.fruits.firstIndex { $0.weight == weight })
    }
    #expect(fruits.where { $0.weight > 7 }.isEmpty)
    #expect(!fruits.where { $0.weight > 1 }.isEmpty)
  }

  @Test func `objects are distinguished only by existing single values`() throws {
    let stops = MisuseTests()
    stops.expectStop(["Invalid sort", "Fruit.seeds", "told apart"]) {
      _ = try memoryRealm([Fruit.self, Basket.self]).objects(Fruit.self).distinct(by: ["seeds"])
    }
    stops.expectStop(["Unknown property", "Fruit", "none"]) {
      _ = try memoryRealm([Fruit.self, Basket.self]).objects(Fruit.self).distinct(by: ["none"])
    }
    stops.expectStop(["Unmanaged collection", "made distinct"]) { _ = Basket().fruits.distinct(by: ["name"]) }
  }
}
