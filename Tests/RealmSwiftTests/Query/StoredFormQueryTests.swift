import Foundation
import RealmSwift
import Testing

enum Shade: String, PersistableEnum { case amber, azure, beige }
enum Tier: Int, PersistableEnum { case low = 1, middle = 5, high = 9 }

private struct Meters: CustomPersistable {
  var value: Double
  init(persistedValue: Double) { value = persistedValue }
  init(_ value: Double) { self.value = value }
  var persistableValue: Double { value }
}

private struct Tag: FailableCustomPersistable {
  var text: String
  init?(persistedValue: String) {
    if persistedValue.isEmpty { return nil }
    text = persistedValue
  }
  var persistableValue: String { text }
}

private class Specimen: Object {
  @Persisted var id: Int
  @Persisted var shade = Shade.amber
  @Persisted var maybeShade: Shade?
  @Persisted var grade = Tier.low
  @Persisted var maybeGrade: Tier?
  @Persisted var shades: List<Shade>
  @Persisted var grades: MutableSet<Tier>
  @Persisted var maybeGrades: List<Tier?>
  @Persisted var length = Meters(0)
  @Persisted var maybeLength: Meters?
  @Persisted var lengths: List<Meters>
  @Persisted var tag: Tag?
  @Persisted var int: Int?
  @Persisted var int8: Int8?
  @Persisted var int16: Int16?
  @Persisted var int32: Int32?
  @Persisted var int64: Int64?
  @Persisted var float: Float?
  @Persisted var double: Double?
  @Persisted var decimal: Decimal128?
  @Persisted var date: Date?
  @Persisted var ints: List<Int>
  @Persisted var maybeDates: MutableSet<Date?>
  @Persisted var next: Specimen?

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite struct StoredFormQueryTests {
  private let realm: Realm
  private var samples: Results<Specimen> { realm.objects(Specimen.self) }

  init() throws {
    realm = try memoryRealm([Specimen.self])
    try realm.write {
      var last: Specimen?
      for id in 0..<6 {
        let sample = realm.create(Specimen.self, value: ["id": id])
        sample.next = last
        last = sample
        sample.shade = Shade.allCases[id % 3]
        sample.grade = Tier.allCases[id % 3]
        sample.length = Meters(Double(id))
        guard id > 0 else { continue }
        (sample.maybeShade, sample.maybeGrade) = (sample.shade, sample.grade)
        sample.shades.append(objectsIn: Shade.allCases[..<(id % 3)])
        sample.grades.insert(objectsIn: Tier.allCases[..<(id % 3)])
        sample.maybeGrades.append(objectsIn: [nil, sample.grade])
        sample.maybeLength = sample.length
        sample.lengths.append(objectsIn: [Meters(0.5), sample.length])
        sample.tag = Tag(persistedValue: "tag \(id)")
        (sample.int, sample.int8, sample.int16) = (id, Int8(id), Int16(id))
        (sample.int32, sample.int64) = (Int32(id), Int64(id))
        (sample.float, sample.double) = (Float(id), Double(id))
        (sample.decimal, sample.date) = (Decimal128(value: id), Date(timeIntervalSince1970: Double(id)))
        sample.ints.append(objectsIn: 1...id)
        sample.maybeDates.insert(nil)
        if id > 2 { sample.maybeDates.insert(Date(timeIntervalSince1970: Double(id))) }
      }
    }
  }

  private func ids(_ query: (Query<Specimen>) -> Query<Bool>) -> [Int] { samples.where(query).map(\.id) }

  @Test func `an optional value may be in a range, and nil is in no range`() {
    #expect(ids { $0.int.contains(2...4) } == [2, 3, 4] && ids { $0.int.contains(2..<4) } == [2, 3])
    #expect(ids { $0.int8.contains(2...4) } == [2, 3, 4] && ids { $0.int8.contains(2..<4) } == [2, 3])
    #expect(ids { $0.int16.contains(2...4) } == [2, 3, 4] && ids { $0.int32.contains(2..<4) } == [2, 3])
    #expect(
      ids { $0.int64.contains(-5...1) } == [1] && ids { !$0.int64.contains(-5...1) } == [0, 2, 3, 4, 5])
    #expect(ids { $0.float.contains(2.5...4) } == [3, 4] && ids { $0.double.contains(2.5..<4) } == [3])
    #expect(ids { $0.decimal.contains(2...4) } == [2, 3, 4] && ids { $0.decimal.contains(2..<4) } == [2, 3])
    let dates = Date(timeIntervalSince1970: 2)...Date(timeIntervalSince1970: 3)
    #expect(ids { $0.date.contains(dates) } == [2, 3])
    #expect(ids { $0.date.contains(dates.lowerBound..<dates.upperBound) } == [2])
    #expect(
      ids { $0.next.int.contains(2...4) } == [3, 4, 5]
        && ids { $0.maybeGrade.rawValue.contains(2...9) } == [1, 2, 4, 5])
    #expect(ids { $0.maybeLength.persistableValue.contains(1.5...3) } == [2, 3])
  }

  @Test func `the least and the greatest element of a collection may be in a range`() {
    #expect(ids { $0.ints.contains(1...3) } == [1, 2, 3] && ids { $0.ints.contains(1..<3) } == [1, 2])
    #expect(ids { !$0.ints.contains(1...3) } == [0, 4, 5])
    let day = Date(timeIntervalSince1970: 4)
    #expect(ids { $0.maybeDates.contains(Date(timeIntervalSince1970: 0)...day) } == [3, 4])
    #expect(ids { $0.maybeDates.contains(Date(timeIntervalSince1970: 0)..<day) } == [3])
    #expect(
      ids { $0.grades.rawValue.contains(1...1) } == [1, 4]
        && ids { $0.maybeGrades.rawValue.contains(6...9) } == [2, 5])
    #expect(ids { $0.lengths.persistableValue.contains(0.5...2) } == [1, 2])
  }

  @Test func `enumerations are queried by their raw values`() {
    #expect(
      ids { $0.shade.rawValue == "azure" } == [1, 4] && ids { $0.shade.rawValue != "azure" } == [0, 2, 3, 5])
    #expect(ids { $0.shade.rawValue.contains("a") && !$0.shade.rawValue.starts(with: "a") } == [])
    #expect(ids { $0.shade.rawValue.starts(with: "A", options: .caseInsensitive) } == [0, 1, 3, 4])
    #expect(
      ids { $0.shade.rawValue.ends(with: "ge") } == [2, 5] && ids { $0.shade.rawValue.like("?z*") } == [1, 4])
    #expect(
      ids { $0.shade.rawValue < "azure" } == [0, 3]
        && ids { $0.shade.rawValue.in(["beige", "none"]) } == [2, 5])
    #expect(ids { $0.maybeShade.rawValue == "amber" } == [3] && ids { $0.maybeShade.rawValue == nil } == [0])
    #expect(ids { $0.maybeShade.rawValue.contains("z") } == [1, 4])
    #expect(ids { $0.grade.rawValue > 1 } == [1, 2, 4, 5] && ids { $0.grade.rawValue == 4 } == [])
    #expect(
      ids { $0.grade.rawValue.contains(5...7) } == [1, 4]
        && ids { $0.maybeGrade.rawValue.in([1, nil]) } == [0, 3])
    #expect(ids { $0.next.shade.rawValue == "azure" } == [2, 5])
    #expect(
      ids { $0.shades.rawValue.contains("azure") } == [2, 5]
        && ids { $0.shades.rawValue == "amber" } == [1, 2, 4, 5])
    #expect(ids { $0.grades.rawValue.containsAny(in: [5, 9]) } == [2, 5])
    #expect(ids { $0.maybeGrades.rawValue.contains(nil) } == [1, 2, 3, 4, 5])
    #expect(
      ids { $0.maybeGrades.rawValue.contains(9) } == [2, 5]
        && ids { $0.shades.rawValue.count == 2 } == [2, 5])
  }

  @Test func `types of a program are queried by their stored form`() {
    #expect(
      ids { $0.length.persistableValue == 3 } == [3] && ids { $0.length.persistableValue > 3.5 } == [4, 5])
    #expect(
      ids { $0.length.persistableValue.contains(1..<3) } == [1, 2]
        && ids { $0.length.persistableValue.in([2]) } == [2])
    #expect(ids { $0.maybeLength.persistableValue == nil } == [0])
    #expect(
      ids { $0.tag.persistableValue.ends(with: "4") } == [4]
        && ids { $0.tag.persistableValue == "tag 2" } == [2])
    #expect(ids { $0.lengths.persistableValue.contains(4) } == [4])
    #expect(
      ids { $0.shade.persistableValue.contains("z") } == [1, 4] && ids { $0.int.persistableValue == 5 } == [5]
    )
  }

  @Test func `a key path through a collection names the property of its objects`() {
    #expect(SortDescriptor(keyPath: \Person.dogs[0].name).keyPath == "dogs.name")
    #expect(SortDescriptor(keyPath: \Dog.people[3].age, ascending: false).keyPath == "people.age")
  }

  private func name<Value: _RealmSchemaDiscoverable>(_ type: Value.Type) -> String { "\(type)" }

  @Test func `the types of properties conform to the constraints of existing programs`() {
    #expect(name(Bool.self) + name(Int.self) + name(Int8.self) + name(Int16.self) == "BoolIntInt8Int16")
    #expect(
      name(Int32.self) + name(Int64.self) + name(Float.self) + name(Double.self) == "Int32Int64FloatDouble")
    #expect(name(String.self) + name(Data.self) + name(Date.self) + name(UUID.self) == "StringDataDateUUID")
    #expect(name(Decimal128.self) + name(ObjectId.self) + name(Shade.self) == "Decimal128ObjectIdShade")
    #expect(name(AnyRealmValue.self) + name(NSNumber.self) == "AnyRealmValueNSNumber")
    #expect(
      name(Int?.self) == "Optional<Int>" && name(Person.self) == "Person"
        && name(List<Int>.self) == "List<Int>")
  }
}
