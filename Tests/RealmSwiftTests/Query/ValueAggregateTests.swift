import Foundation
import RealmSwift
import RealmTestSupport
import Testing

class Sums: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var ints: List<Int>
  @Persisted var bytes: List<Int8>
  @Persisted var optionalInts: List<Int?>
  @Persisted var floats: List<Float>
  @Persisted var doubles: List<Double?>
  @Persisted var decimals: List<Decimal128>
  @Persisted var dates: List<Date>
  @Persisted var moods: List<Mood>
  @Persisted var intSet: MutableSet<Int>
  @Persisted var doubleSet: MutableSet<Double>
  @Persisted var intMap: Map<String, Int>
  @Persisted var doubleMap: Map<String, Double?>
  @Persisted var words: List<String?>
  @Persisted var anything: List<AnyRealmValue>
  @Persisted var items: List<Everything>
  @Persisted var itemSet: MutableSet<Everything>
}

private let types: [ObjectBase.Type] = [Sums.self, Everything.self, Dog.self, Person.self]

@Suite struct ValueAggregateTests {
  private func filled(_ generator: inout SeededGenerator) -> Sums {
    let sums = Sums()
    let count = generator.below(9)
    for place in 0..<count {
      let number = generator.below(200) - 100
      sums.ints.append(number)
      sums.bytes.append(Int8(number / 10))
      sums.optionalInts.append(generator.chance(30) ? nil : number)
      sums.floats.append(generator.chance(20) ? .nan : Float(number) / 4)
      sums.doubles.append(generator.chance(20) ? nil : generator.chance(20) ? .nan : Double(number) / 8)
      sums.decimals.append(generator.chance(20) ? "NaN" : Decimal128(value: number) / 10)
      sums.dates.append(Date(timeIntervalSinceReferenceDate: Double(number)))
      sums.moods.append(Mood.allCases[generator.below(3)])
      sums.intSet.insert(number)
      sums.doubleSet.insert(generator.chance(20) ? .nan : Double(number) / 4)
      sums.intMap["\(place)"] = number
      sums.doubleMap["\(place)"] = .some(
        generator.chance(20) ? nil : generator.chance(20) ? .nan : Double(number) / 8)
      let item = Everything()
      (item.int, item.int8, item.int16, item.int32, item.int64) = (
        number, Int8(number / 20), Int16(number), Int32(number), Int64(number)
      )
      (item.float, item.double, item.decimal) = (
        Float(number) / 4, Double(number) / 8, Decimal128(value: number) / 100
      )
      item.date = Date(timeIntervalSinceReferenceDate: Double(number))
      if generator.chance(50) {
        (item.optionalInt, item.optionalDouble, item.optionalDecimal) = (number, .nan, "1.5")
        (item.optionalFloat, item.optionalDate, item.optionalInt8) = (1.5, item.date, 1)
      }
      sums.items.append(item)
      // A list may have an object twice, and then counts it twice.
      if generator.chance(20) { sums.items.append(item) }
      sums.itemSet.insert(item)
    }
    return sums
  }

  private func numbers(_ sums: Sums) -> [String] {
    func texts<T>(_ values: T?...) -> String {
      values.map { $0.map { "\($0)" } ?? "nil" }.joined(separator: " ")
    }
    return [
      texts(sums.ints.min(), sums.ints.max(), sums.ints.sum()), texts(sums.ints.average() as Double?),
      texts(sums.ints.average() as Int?), texts(sums.bytes.sum(), sums.bytes.min()),
      texts(sums.optionalInts.min(), sums.optionalInts.max(), sums.optionalInts.sum()),
      texts(sums.optionalInts.average() as Double?),
      texts(sums.floats.min(), sums.floats.max(), sums.floats.sum()),
      texts(sums.doubles.min(), sums.doubles.max(), sums.doubles.sum()),
      texts(sums.doubles.average() as Double?),
      texts(sums.decimals.min(), sums.decimals.max(), sums.decimals.sum(), sums.decimals.average()),
      texts(sums.dates.min(), sums.dates.max()), texts(sums.moods.min(), sums.moods.max()),
      texts(sums.intSet.min(), sums.intSet.max(), sums.intSet.sum()), texts(sums.intSet.average() as Double?),
      texts(sums.doubleSet.min(), sums.doubleSet.max(), sums.doubleSet.sum(), sums.doubleSet.average()),
      texts(sums.intMap.min(), sums.intMap.max(), sums.intMap.sum()), texts(sums.intMap.average() as Double?),
      texts(sums.doubleMap.min(), sums.doubleMap.max(), sums.doubleMap.sum()),
      texts(sums.doubleMap.average() as Double?),
    ]
  }

  private func properties<C: RealmCollection>(_ items: C) -> [String] where C.Element == Everything {
    func all<T: _HasPersistedType>(_ path: KeyPath<Everything, T>, _ name: String) -> [String]
    where T.PersistedType: MinMaxType & AddableType {
      let (least, greatest, sum): (T?, T?, T) = (
        items.min(ofProperty: name), items.max(ofProperty: name), items.sum(ofProperty: name)
      )
      let average: Double? = name.lowercased().contains("decimal") ? nil : items.average(ofProperty: name)
      #expect("\(items.min(of: path) as Any)" == "\(least as Any)" && "\(items.sum(of: path))" == "\(sum)")
      #expect("\(items.max(of: path) as Any)" == "\(greatest as Any)")
      let own: T? = items.average(of: path)
      return ["\(least as Any) \(greatest as Any) \(sum) \(average as Any) \(own as Any)"]
    }
    let numbers = [
      all(\.int, "int"), all(\.int8, "int8"), all(\.int16, "int16"), all(\.int32, "int32"),
      all(\.int64, "int64"),
      all(\.float, "float"), all(\.double, "double"), all(\.decimal, "decimal"),
      all(\.optionalInt, "optionalInt"),
      all(\.optionalInt8, "optionalInt8"), all(\.optionalFloat, "optionalFloat"),
      all(\.optionalDouble, "optionalDouble"), all(\.optionalDecimal, "optionalDecimal"),
    ].flatMap { $0 }
    let dates =
      [items.min(of: \.date), items.max(of: \.date), items.min(ofProperty: "optionalDate")] as [Date?]
    return numbers + dates.map { "\($0 as Any)" }
  }

  @Test(arguments: 0..<12 as Range<UInt64>)
  func `unmanaged collections have the same sums, averages and extremes as managed ones`(seed: UInt64) throws
  {
    var generator = SeededGenerator(seed: seed)
    let realm = try memoryRealm(types)
    let sums = filled(&generator)
    let before = numbers(sums) + properties(sums.items) + properties(sums.itemSet)
    try realm.write { realm.add(sums) }
    let after = numbers(sums) + properties(sums.items) + properties(sums.itemSet)
    #expect(before == after, "seed \(seed)")
    let loose = List<Everything>()
    loose.append(objectsIn: sums.items)
    #expect(
      properties(loose) == properties(sums.items),
      "objects of a realm in a list that is in none, seed \(seed)")
    #expect(properties(AnyRealmCollection(loose)) == properties(AnyRealmCollection(sums.items)))
  }

  @Test func `nil and NaN are left out, and an empty collection has no extreme`() throws {
    let realm = try memoryRealm(types)
    let (sums, empty) = (Sums(value: ["id": 1]), Sums(value: ["id": 2]))
    sums.doubles.append(objectsIn: [.nan, nil, 2, 1])
    sums.floats.append(objectsIn: [.nan, 3, 2])
    sums.optionalInts.append(objectsIn: [nil, 4, 6])
    sums.decimals.append(objectsIn: ["NaN", "2.50", "2.5"])
    for _ in 0..<2 {
      #expect(sums.doubles.min() == .some(1) && sums.doubles.max() == .some(2) && sums.doubles.sum() == 3)
      #expect(sums.doubles.average() == 1.5 && sums.floats.max() == 3 && sums.floats.min() == 2)
      #expect(sums.optionalInts.average() == 5.0 && sums.optionalInts.sum() == 10)
      #expect(sums.decimals.max()?.stringValue == "2.5" && sums.decimals.sum().stringValue == "5")
      #expect(empty.ints.min() == nil && empty.ints.sum() == 0 && (empty.ints.average() as Double?) == nil)
      #expect(empty.optionalInts.max() == nil && empty.optionalInts.sum() == 0 && empty.intMap.sum() == 0)
      #expect(
        empty.doubleMap.min() == nil && empty.items.max(of: \.int) == nil
          && empty.items.sum(of: \.double) == 0)
      if sums.realm == nil { try realm.write { realm.add([sums, empty]) } }
    }
  }

  @Test(arguments: 0..<4 as Range<UInt64>)
  func `values are sorted and made distinct, and the results are live`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let realm = try memoryRealm(types)
    let sums = Sums(value: ["id": 1])
    try realm.write { realm.add(sums) }
    let (up, down) = (sums.words.sorted(ascending: true), sums.words.sorted(ascending: false))
    let (once, both) = (sums.words.distinct(), sums.words.distinct().sorted(ascending: false))
    for _ in 0..<10 {
      let words = (0..<generator.below(9)).map { _ in
        [nil, "", "a", "b", "\u{e9}", "e\u{301}", "B"][generator.below(7)]
      }
      try realm.write {
        sums.words.removeAll()
        sums.words.append(objectsIn: words)
        #expect(up.count == words.count)
      }
      func order(_ words: [String?]) -> [[UInt8]?] { words.map { $0.map { Array($0.utf8) } } }
      func isLess(_ left: [UInt8]?, _ right: [UInt8]?) -> Bool {
        guard let left, let right else { return left == nil && right != nil }
        return left.lexicographicallyPrecedes(right)
      }
      var met = Set<[UInt8]?>()
      let distinct = order(words).filter { met.insert($0).inserted }
      #expect(order(Array(up)) == order(words).sorted(by: isLess), "seed \(seed)")
      #expect(order(Array(down)) == order(words).sorted { isLess($1, $0) }, "seed \(seed)")
      #expect(order(Array(once)) == distinct && order(Array(both)) == distinct.sorted { isLess($1, $0) })
      #expect(up.first.map { order([$0]) } == Array(up).first.map { order([$0]) } && up.realm == realm)
    }
    try realm.write { realm.delete(sums) }
    #expect(up.isInvalidated && up.isEmpty && once.isEmpty)
  }

  @Test func `results of values are searched, aggregated and coded like lists of them`() throws {
    let realm = try memoryRealm(types)
    let sums = Sums(
      value: ["id": 1, "ints": [3, 1, 3, 2], "intSet": [5, 4], "intMap": ["b": 1, "a": 2]] as [String: Any])
    sums.anything.append(objectsIn: [.string("x"), .fromArray([.int(1)]), .int(2), .double(2), .none])
    try realm.write { realm.add(sums) }
    let sorted = sums.ints.sorted(ascending: false)
    #expect(
      Array(sorted) == [3, 3, 2, 1] && sorted.index(of: 2) == 2 && sorted.contains(1) && !sorted.contains(9))
    #expect(sorted.max() == 3 && sorted.sum() == 9 && sorted.average() == 2.25 && sorted == sorted)
    #expect(sorted != sums.ints.sorted(ascending: false) && sorted[3] == 1 && sorted.last == 1)
    #expect(Array(sorted.distinct()) == [3, 2, 1] && Array(sums.intSet.sorted(ascending: false)) == [5, 4])
    #expect(Array(sums.intMap.sorted(ascending: true)) == [1, 2])
    #expect(Array(AnyRealmCollection(sums.ints).sorted(ascending: true)) == [1, 2, 3, 3])
    #expect(AnyRealmCollection(sorted).sum() == 9 && sorted.description.contains("[3] 1"))
    #expect(String(decoding: try JSONEncoder().encode(sorted), as: UTF8.self) == "[3,3,2,1]")
    let inner = try #require(AnyRealmCollection(sums.anything)[1].listValue)
    try realm.write { inner.append(.int(7)) }
    #expect(sums.anything[1].listValue?.count == 2)
  }
}

extension MisuseTests {
  @Test func `sums beyond their type, and the order of unmanaged values, stop the program`() {
    expectStop(["Overflow"]) { _ = Sums(value: ["ints": [Int.max, 1]]).ints.sum() }
    expectStop(["Invalid sum", "Int8"]) { _ = Sums(value: ["bytes": [100, 100]]).bytes.sum() }
    expectStop(["Unmanaged collection", "List<Int>", "sorted"]) { _ = Sums().ints.sorted(ascending: true) }
    expectStop(["Unknown property", "Everything", "none"]) {
      let _: Int = Sums().items.sum(ofProperty: "none")
    }
    expectStop(["Invalid aggregate", "Everything.string"]) {
      let _: Int = Sums().items.sum(ofProperty: "string")
    }
    expectStop(["Index out of range", "2"]) {
      let realm = try memoryRealm(types)
      let sums = Sums(value: ["ints": [1]])
      try realm.write { realm.add(sums) }
      _ = sums.ints.sorted(ascending: true)[2]
    }
  }
}
