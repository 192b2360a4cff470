import CAllocations
import Foundation
import RealmSwift

enum Level: Int, PersistableEnum {
  case low = 1, high
}

final class Other: Object {
  @Persisted var number = 1
}

final class Everything: Object {
  @Persisted var bool = true
  @Persisted var int = 5
  @Persisted var int8: Int8 = 5
  @Persisted var int16: Int16 = 5
  @Persisted var int32: Int32 = 5
  @Persisted var int64: Int64 = 5
  @Persisted var float: Float = 1.5
  @Persisted var double = 1.5
  @Persisted var date = Date(timeIntervalSince1970: 1.5)
  @Persisted var uuid = UUID()
  @Persisted var objectId = ObjectId.generate()
  @Persisted var decimal: Decimal128 = 1.5
  @Persisted var level = Level.high
  @Persisted var optionalBool: Bool? = true
  @Persisted var optionalInt: Int? = 5
  @Persisted var optionalDouble: Double?
  @Persisted var optionalDate: Date? = Date(timeIntervalSince1970: 1)
  @Persisted var optionalUUID: UUID? = UUID()
  @Persisted var optionalObjectId: ObjectId?
  @Persisted var optionalDecimal: Decimal128? = 2
  @Persisted var optionalLevel: Level? = .low
  @Persisted var short = "fifteen bytes.."
  @Persisted var optionalShort: String? = "short"
  @Persisted var long = "sixteen bytes and some more of them"
  @Persisted var data = Data(repeating: 1, count: 100)
  @Persisted var link: Other?
  @Persisted var list: List<Int>
  @Persisted var set: MutableSet<Int>
  @Persisted var map: Map<String, Int>
}

/// Counts how often reads of properties of managed objects ask for memory: a release build, in which accessors are inlined.
@main
enum AllocationRun {
  static func main() throws {
    let realm = try Realm(
      configuration: Realm.Configuration(
        inMemoryIdentifier: "allocations", objectTypes: [Everything.self, Other.self]))
    let made = Everything()
    made.link = Other()
    made.list.append(objectsIn: 0..<10)
    made.set.insert(objectsIn: 0..<10)
    made.map["a"] = 1
    try realm.write { realm.add(made) }
    guard let object = realm.objects(Everything.self).first, ca_allocations() >= 0 else {
      print("allocations: can't be counted here")
      return
    }
    var table = Table()
    table.add("Bool", 0) { object.bool }
    table.add("Int", 0) { object.int }
    table.add("Int8", 0) { object.int8 }
    table.add("Int16", 0) { object.int16 }
    table.add("Int32", 0) { object.int32 }
    table.add("Int64", 0) { object.int64 }
    table.add("Float", 0) { object.float }
    table.add("Double", 0) { object.double }
    table.add("Date", 0) { object.date }
    table.add("UUID", 0) { object.uuid }
    table.add("ObjectId", 0) { object.objectId }
    table.add("Decimal128", 0) { object.decimal }
    table.add("enum", 0) { object.level }
    table.add("Bool?", 0) { object.optionalBool }
    table.add("Int?", 0) { object.optionalInt }
    table.add("Double?", 0) { object.optionalDouble }
    table.add("Date?", 0) { object.optionalDate }
    table.add("UUID?", 0) { object.optionalUUID }
    table.add("ObjectId?", 0) { object.optionalObjectId }
    table.add("Decimal128?", 0) { object.optionalDecimal }
    table.add("enum?", 0) { object.optionalLevel }
    table.add("String, 15 bytes", 0) { object.short }
    table.add("String?, short", 0) { object.optionalShort }
    table.add("String, longer", 1) { object.long }
    table.add("Data", 1) { object.data }
    table.add("link", 1) { object.link }
    table.add("List, again", 0) { object.list }
    table.add("count of it", 0) { object.list.count }
    table.add("MutableSet, again", 0) { object.set }
    table.add("Map, again", 0) { object.map }
    print(table.text)
    if table.isWrong { exit(1) }
  }
}

struct Table {
  private(set) var text = ""
  private(set) var isWrong = false

  private static let reads = 1000

  /// Counts the allocations of a read, after some that make what is kept.
  mutating func add<Value>(_ name: String, _ most: Int, _ read: () -> Value) {
    for _ in 0..<20 { use(read()) }
    let before = ca_allocations()
    for _ in 0..<Self.reads { use(read()) }
    let count = ca_allocations() - before
    let isMore = count > most * Self.reads
    isWrong = isWrong || isMore
    let each = Double(count) / Double(Self.reads)
    text +=
      "\(name.padding(toLength: 20, withPad: " ", startingAt: 0)) \(each)\(isMore ? ", \(most) at most" : "")\n"
  }
}

/// So that nothing is left out as not used.
@inline(never)
private func use<Value>(_ value: Value) { _ = value }
