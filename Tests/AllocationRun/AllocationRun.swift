import CRealmAllocations
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

/// Counts the allocations of reads of properties of managed objects. It needs a release build, in which accessors are
/// inlined.
@main
enum AllocationRun {
  static func main() throws {
    let realm = try Realm(
      configuration: Realm.Configuration(
        inMemoryIdentifier: "allocations", objectTypes: [Everything.self, Other.self]))
    try realm.write {
      for _ in 0..<Table.objects {
        let made = Everything()
        made.link = Other()
        made.list.append(objectsIn: 0..<10)
        made.set.insert(objectsIn: 0..<10)
        made.map["a"] = 1
        realm.add(made)
      }
    }
    guard ca_allocations() >= 0 else {
      print("allocations: can't be counted here")
      return
    }
    // The objects are read in a random order, so that nothing is read ahead.
    var generator = SystemRandomNumberGenerator()
    let objects = realm.objects(Everything.self).shuffled(using: &generator)
    var table = Table(objects)
    table.add("Bool", 0) { $0.bool }
    table.add("Int", 0) { $0.int }
    table.add("Int8", 0) { $0.int8 }
    table.add("Int16", 0) { $0.int16 }
    table.add("Int32", 0) { $0.int32 }
    table.add("Int64", 0) { $0.int64 }
    table.add("Float", 0) { $0.float }
    table.add("Double", 0) { $0.double }
    table.add("Date", 0) { $0.date }
    table.add("UUID", 0) { $0.uuid }
    table.add("ObjectId", 0) { $0.objectId }
    table.add("Decimal128", 0) { $0.decimal }
    table.add("enum", 0) { $0.level }
    table.add("Bool?", 0) { $0.optionalBool }
    table.add("Int?", 0) { $0.optionalInt }
    table.add("Double?", 0) { $0.optionalDouble }
    table.add("Date?", 0) { $0.optionalDate }
    table.add("UUID?", 0) { $0.optionalUUID }
    table.add("ObjectId?", 0) { $0.optionalObjectId }
    table.add("Decimal128?", 0) { $0.optionalDecimal }
    table.add("enum?", 0) { $0.optionalLevel }
    table.add("String, 15 bytes", 0) { $0.short }
    table.add("String?, short", 0) { $0.optionalShort }
    table.add("String, longer", 1) { $0.long }
    // The two allocations are for Foundation's data object and for its bytes.
    table.add("Data", 2) { $0.data }
    table.add("link", 1) { $0.link }
    table.add("List, again", 0) { $0.list }
    table.add("count of it", 0) { $0.list.count }
    table.add("element of it", 0) { $0.list[0] }
    table.add("MutableSet, again", 0) { $0.set }
    table.add("Map, again", 0) { $0.map }
    print(table.text)
    if table.isWrong { exit(1) }
  }
}

struct Table {
  static let objects = 1000

  private let all: [Everything]
  private(set) var text = ""
  private(set) var isWrong = false

  init(_ all: [Everything]) { self.all = all }

  /// Counts the allocations of reads of all objects. Each object is read once before, which makes what the object
  /// keeps.
  mutating func add<Value>(_ name: String, _ most: Int, _ read: (Everything) -> Value) {
    for object in all { use(read(object)) }
    let before = ca_allocations()
    for object in all { use(read(object)) }
    let count = ca_allocations() - before
    // A few allocations that are made once, and not for each object, are allowed.
    let isMore = count > most * all.count + all.count / 500
    isWrong = isWrong || isMore
    let each = Double(count) / Double(all.count)
    text +=
      "\(name.padding(toLength: 20, withPad: " ", startingAt: 0)) \(each)\(isMore ? ", \(most) at most" : "")\n"
  }
}

/// Uses a value, so that the compiler does not remove the read.
@inline(never)
private func use<Value>(_ value: Value) { _ = value }
