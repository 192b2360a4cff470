import Foundation
import RealmSwift
import RealmTestSupport
import Testing

private class IndexedAny: Object {
  @Persisted(indexed: true) var any: AnyRealmValue
  @Persisted var same: AnyRealmValue

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Numbers in `AnyRealmValue` are equal if their values are equal. One rule holds in all places.
@Suite struct NumbersByValueTests {
  private static var classes: [[AnyRealmValue]] {
    [
      [.int(1), .float(1), .double(1), .decimal128("1"), .decimal128("1.00")],
      [.int(0), .float(-0.0), .double(0), .double(-0.0), .decimal128("0"), .decimal128("-0.0")],
      [.double(0.1), .decimal128("0.1"), .decimal128("0.10")], [.float(0.1), .double(Double(Float(0.1)))],
      [.float(1.5), .double(1.5), .decimal128("1.5")],
      [.int(1 << 53), .double(0x1p53), .float(0x1p53), .decimal128("9007199254740992")],
      [.int(1 << 53 + 1), .decimal128("9007199254740993")],
      [.int(1 << 60), .double(0x1p60), .decimal128("1152921504606846976")],
      [.decimal128("1152921504606847000")],
      [.int(.max), .decimal128("9223372036854775807")], [.double(0x1p63), .float(0x1p63)],
      [.int(.min), .double(-0x1p63), .decimal128("-9223372036854775808")],
      [.double(1e300), .decimal128("1E+300")], [.decimal128("1E+6000")], [.decimal128("1E-6000")],
      [.double(.leastNonzeroMagnitude), .decimal128("5E-324")],
      [.double(.infinity), .float(.infinity), .decimal128("Infinity")],
      [.double(-.infinity), .decimal128("-Infinity")],
      [.double(.nan), .float(.nan), .decimal128("NaN"), .double(-.nan)],
      [.bool(true)], [.bool(false)], [.string("1")], [.none], [.date(Date(timeIntervalSince1970: 1))],
      [.string("\u{e9}")], [.string("e\u{301}")],
    ]
  }

  @Test func `a query with an index finds the same objects as a query without one`() throws {
    let realm = try memoryRealm([IndexedAny.self, Dog.self, Person.self])
    let rex = try realm.write { realm.create(Dog.self, value: ["name": "Rex"]) }
    let values = Self.classes.joined() + [.object(rex), .fromArray([.int(1)])]
    try realm.write {
      for _ in 0..<20 {
        for value in values { realm.create(IndexedAny.self, value: ["any": value, "same": value]) }
      }
    }
    let all = realm.objects(IndexedAny.self)
    func check() {
      for value in values {
        let expected = all.where { $0.same == value }.count
        #expect(all.where { $0.any == value }.count == expected, "\(value)")
      }
      #expect(all.where { $0.any == AnyRealmValue.string("1") }.count == 20)
      #expect(
        all.where { $0.any.in([.int(1), .double(1), .string("1")]) }.count
          == all.where { $0.same.in([.int(1), .double(1), .string("1")]) }.count)
    }
    check()
    // Values that link to a deleted object become null.
    #expect(all.where { $0.any == AnyRealmValue.object(rex) }.count == 20)
    try realm.write { realm.delete(rex) }
    #expect(all.where { $0.any == AnyRealmValue.none }.count == 40)
  }

  private func realm() throws -> Realm { try memoryRealm([Box.self, Dog.self, Person.self]) }

  @Test func `equality and hash follow the same rule for numbers`() {
    for (first, values) in Self.classes.enumerated() {
      for (second, others) in Self.classes.enumerated() {
        for value in values {
          for other in others {
            #expect((value == other) == (first == second), "\(value) and \(other)")
            if first == second { #expect(value.hashValue == other.hashValue, "\(value) and \(other)") }
          }
        }
      }
    }
    #expect(Set(Self.classes.flatMap { $0 }).count == Self.classes.count)
  }

  @Test(arguments: 0..<4 as Range<UInt64>)
  func `managed and unmanaged sets, lists, queries and distinct follow one rule for numbers`(seed: UInt64)
    throws
  {
    var generator = SeededGenerator(seed: seed)
    let realm = try realm()
    let all = Self.classes.enumerated().flatMap { number, values in values.map { (number, $0) } }
      .shuffled(using: &generator)
    let (box, plain) = (Box(value: ["id": 1]), Box(value: ["id": 2]))
    for box in [box, plain] {
      box.set.insert(objectsIn: all.map(\.1))
      box.list.append(objectsIn: all.map(\.1))
    }
    let count = box.set.count
    try realm.write { realm.add(box) }
    #expect(box.set.count == count && count == Self.classes.count, "no element goes, seed \(seed)")
    for (number, value) in all {
      let first = all.firstIndex { $0.0 == number }
      for list in [box.list, plain.list] {
        #expect(list.index(of: value) == first && list.firstIndex(of: value) == first && list.contains(value))
      }
      #expect(box.set.contains(value) && plain.set.contains(value) && box.set.index(of: value) != nil)
      #expect(box.set.filter { $0 == value }.count == 1)
    }
    let absent = AnyRealmValue.int(77)
    #expect(!box.list.contains(absent) && !plain.list.contains(absent) && !plain.set.contains(absent))
    try realm.write {
      realm.delete(box)
      for (id, entry) in all.enumerated() { realm.create(Box.self, value: [id, entry.1] as [Any]) }
    }
    for (number, value) in all {
      let found = Set(realm.objects(Box.self).where { $0.any == value }.map(\.id))
      // In a query NaN is equal to nothing.
      let isNaN =
        value.doubleValue?.isNaN == true || value.floatValue?.isNaN == true
        || value.decimal128Value?.isNaN == true
      let same = Set(all.indices.filter { all[$0].0 == number })
      #expect(found == (isNaN ? [] : same), "\(value), seed \(seed)")
    }
    try realm.verify()
  }

  @Test func `values of maps, and lists in values, follow the rule for numbers`() throws {
    let (first, second) = (Map<String, AnyRealmValue>(), Map<String, AnyRealmValue>())
    first["a"] = .int(1)
    second["a"] = .decimal128("1.0")
    #expect(first == second)
    #expect(AnyRealmValue.fromArray([.float(2), .bool(true)]) == .fromArray([.int(2), .bool(true)]))
    #expect(AnyRealmValue.fromArray([.int(1)]) != .fromArray([.bool(true)]))
    #expect(AnyRealmValue.fromDictionary(["k": .double(.nan)]) == .fromDictionary(["k": .float(.nan)]))
  }

  @Test func `lists of numbers find the values that sets of numbers hold`() throws {
    let realm = try memoryRealm([Everything.self])
    let object = Everything()
    object.doubles.append(objectsIn: [1, -0.0, .nan])
    object.decimals.append(objectsIn: ["NaN", "1.50"])
    for _ in 0..<2 {
      #expect(object.doubles.index(of: 0) == 1 && object.doubles.index(of: .nan) == 2)
      #expect(object.decimals.index(of: "1.5") == 1 && object.decimals.index(of: "NaN") == 0)
      #expect(object.doubles.contains(.nan) && object.decimals.contains("1.5000"))
      if object.realm == nil { try realm.write { realm.add(object) } }
    }
  }

  @Test func `nil and NSNull do not become decimals`() {
    #expect(Decimal128(value: NSNull()).isNaN && Decimal128(value: Int?.none as Any).isNaN)
  }
}
