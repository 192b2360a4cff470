import Foundation
import RealmSwift

enum Season: String, PersistableEnum {
  case spring, summer, autumn, winter
}

enum Level: Int, PersistableEnum {
  case low = 1
  case high = 2
}

/// A length, which is stored as a number.
struct Length: CustomPersistable, Hashable {
  var meters: Double

  init(meters: Double) { self.meters = meters }
  init(persistedValue: Double) { meters = persistedValue }
  var persistableValue: Double { meters }
}

/// A property for a single value of every type.
class AllValues: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var bool: Bool
  @Persisted var int: Int
  @Persisted var int8: Int8
  @Persisted var int16: Int16
  @Persisted var int32: Int32
  @Persisted var int64: Int64
  @Persisted var float: Float
  @Persisted var double: Double
  @Persisted var string: String
  @Persisted var data: Data
  @Persisted var date: Date
  @Persisted var uuid: UUID
  @Persisted var objectId: ObjectId
  @Persisted var decimal: Decimal128
  @Persisted var season = Season.spring
  @Persisted var level = Level.low
  @Persisted var length = Length(meters: 1)
  @Persisted var optionalBool: Bool?
  @Persisted var optionalInt: Int?
  @Persisted var optionalInt8: Int8?
  @Persisted var optionalInt16: Int16?
  @Persisted var optionalInt32: Int32?
  @Persisted var optionalInt64: Int64?
  @Persisted var optionalFloat: Float?
  @Persisted var optionalDouble: Double?
  @Persisted var optionalString: String?
  @Persisted var optionalData: Data?
  @Persisted var optionalDate: Date?
  @Persisted var optionalUUID: UUID?
  @Persisted var optionalObjectId: ObjectId?
  @Persisted var optionalDecimal: Decimal128?
  @Persisted var optionalSeason: Season?
  @Persisted var optionalLevel: Level?
  @Persisted var optionalLength: Length?

  /// Sets all properties except the key to values that differ for each number.
  func fill(_ number: Int) throws {
    bool = number.isMultiple(of: 2)
    (int, int8, int16) = (number - (1 << 60), Int8(number), Int16(number) - 30_000)
    (int32, int64) = (Int32(number) - 2_000_000_000, Int64.max - Int64(number))
    (float, double) = (Float(number) / 3, Double(number) / 3)
    (string, data) = ("text \(number) – ü 🙂", Data([0, 255, UInt8(number)]))
    date = Date(timeIntervalSince1970: 1_700_000_000.25 + Double(number))
    (uuid, objectId) = (UUID(), ObjectId.generate())
    decimal = try Decimal128(string: "\(number).0000000000000000000000000000001")
    (season, level, length) = (.winter, .high, Length(meters: Double(number)))
  }

  /// Sets all optional properties to the values of the others, or to nil.
  func fillOptionals(_ hasValues: Bool) {
    (optionalBool, optionalInt) = hasValues ? (bool, int) : (nil, nil)
    (optionalInt8, optionalInt16) = hasValues ? (int8, int16) : (nil, nil)
    (optionalInt32, optionalInt64) = hasValues ? (int32, int64) : (nil, nil)
    (optionalFloat, optionalDouble) = hasValues ? (float, double) : (nil, nil)
    (optionalString, optionalData) = hasValues ? (string, data) : (nil, nil)
    (optionalDate, optionalUUID) = hasValues ? (date, uuid) : (nil, nil)
    (optionalObjectId, optionalDecimal) = hasValues ? (objectId, decimal) : (nil, nil)
    (optionalSeason, optionalLevel) = hasValues ? (season, level) : (nil, nil)
    optionalLength = hasValues ? length : nil
  }
}

/// Lists with elements of every type.
class AllLists: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var bools: List<Bool>
  @Persisted var ints: List<Int>
  @Persisted var int8s: List<Int8>
  @Persisted var floats: List<Float>
  @Persisted var doubles: List<Double>
  @Persisted var strings: List<String>
  @Persisted var datas: List<Data>
  @Persisted var dates: List<Date>
  @Persisted var uuids: List<UUID>
  @Persisted var objectIds: List<ObjectId>
  @Persisted var decimals: List<Decimal128>
  @Persisted var seasons: List<Season>
  @Persisted var lengths: List<Length>
  @Persisted var anys: List<AnyRealmValue>
  @Persisted var optionalInts: List<Int?>
  @Persisted var optionalStrings: List<String?>
}

/// Sets with elements of every type.
class AllSets: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var bools: MutableSet<Bool>
  @Persisted var ints: MutableSet<Int>
  @Persisted var int8s: MutableSet<Int8>
  @Persisted var floats: MutableSet<Float>
  @Persisted var doubles: MutableSet<Double>
  @Persisted var strings: MutableSet<String>
  @Persisted var datas: MutableSet<Data>
  @Persisted var dates: MutableSet<Date>
  @Persisted var uuids: MutableSet<UUID>
  @Persisted var objectIds: MutableSet<ObjectId>
  @Persisted var decimals: MutableSet<Decimal128>
  @Persisted var seasons: MutableSet<Season>
  @Persisted var lengths: MutableSet<Length>
  @Persisted var anys: MutableSet<AnyRealmValue>
  @Persisted var optionalInts: MutableSet<Int?>
  @Persisted var optionalStrings: MutableSet<String?>
}

/// Maps with values of every type.
class AllMaps: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var bools: Map<String, Bool>
  @Persisted var ints: Map<String, Int>
  @Persisted var int8s: Map<String, Int8>
  @Persisted var floats: Map<String, Float>
  @Persisted var doubles: Map<String, Double>
  @Persisted var strings: Map<String, String>
  @Persisted var datas: Map<String, Data>
  @Persisted var dates: Map<String, Date>
  @Persisted var uuids: Map<String, UUID>
  @Persisted var objectIds: Map<String, ObjectId>
  @Persisted var decimals: Map<String, Decimal128>
  @Persisted var seasons: Map<String, Season>
  @Persisted var lengths: Map<String, Length>
  @Persisted var anys: Map<String, AnyRealmValue>
  @Persisted var optionalInts: Map<String, Int?>
  @Persisted var optionalStrings: Map<String, String?>
}

/// The values of collections, by the names of properties.
enum Elements {
  /// The values for a number. They differ for each number.
  static func all(_ number: Int) throws -> [String: [Any]] {
    var all: [String: [Any]] = [:]
    all["bools"] = [number.isMultiple(of: 2)]
    all["ints"] = [number, -number, Int.max]
    all["int8s"] = [Int8(number), Int8(-number)]
    all["floats"] = [Float(number) / 3, -Float.infinity]
    all["doubles"] = [Double(number) / 3, Double.greatestFiniteMagnitude]
    all["strings"] = ["", "text \(number)", "ü 🙂"]
    all["datas"] = [Data(), Data([UInt8(number), 0])]
    let date = Date(timeIntervalSince1970: 1_700_000_000.5)
    all["dates"] = [date.addingTimeInterval(Double(number)), Date(timeIntervalSince1970: -1)]
    all["uuids"] = [UUID(), UUID()]
    all["objectIds"] = [ObjectId.generate(), ObjectId.generate()]
    all["decimals"] = [try Decimal128(string: "\(number).10"), try Decimal128(string: "-1E+300")]
    all["seasons"] = [Season.spring, Season.autumn]
    all["lengths"] = [Length(meters: Double(number))]
    all["anys"] = [AnyRealmValue.int(number), AnyRealmValue.string("any"), AnyRealmValue.none]
    all["optionalInts"] = [number, NSNull()]
    all["optionalStrings"] = [NSNull(), "text \(number)"]
    return all
  }

  /// The values for a number, by keys.
  static func byKeys(_ number: Int) throws -> [String: [String: Any]] {
    try all(number).mapValues { values in
      var map: [String: Any] = [:]
      for (place, value) in values.enumerated() { map["key \(place)"] = value }
      return map
    }
  }
}
