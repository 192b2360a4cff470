import Foundation
import RealmSwift

enum Mood: String, PersistableEnum {
  case calm, merry, cross
}

class Person: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted(indexed: true) var name = ""
  @Persisted var age: Int
  @Persisted var height: Double?
  @Persisted var isMember = false
  @Persisted var mood = Mood.calm
  @Persisted var secondMood: Mood?
  @Persisted var born: Date?
  @Persisted var dog: Dog?
  @Persisted var dogs: List<Dog>
  @Persisted var words: List<String>

  convenience init(id: Int, name: String, age: Int) {
    self.init()
    self.id = id
    self.name = name
    self.age = age
  }
}

class Dog: Object {
  @Persisted var name: String
  @Persisted var weight: Float
  @Persisted var owner: Person?
  @Persisted var friend: Dog?
  @Persisted(originProperty: "dogs") var people: LinkingObjects<Person>
}

/// A class with a property of every type.
class Everything: Object {
  @Persisted(primaryKey: true) var key: UUID
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
  @Persisted var mood: Mood
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
  @Persisted var optionalMood: Mood?
  @Persisted var bools: List<Bool>
  @Persisted var ints: List<Int>
  @Persisted var doubles: List<Double>
  @Persisted var datas: List<Data>
  @Persisted var dates: List<Date>
  @Persisted var uuids: List<UUID>
  @Persisted var objectIds: List<ObjectId>
  @Persisted var decimals: List<Decimal128>
  @Persisted var moods: List<Mood>
  @Persisted var optionalStrings: List<String?>
}

/// A class with a property of its own beside the stored one.
class Visitor: Object {
  @Persisted var name: String
  var greeting = "hello"
  let number: Int

  override init() {
    number = 7
    super.init()
    name = "nobody"
  }
}

class Base: Object {
  @Persisted var id: Int
}
class Derived: Base {
  @Persisted var title: String
}
enum Nested {
  class Inner: Object {
    @Persisted var value: Int
  }
  class Abstract: Object {
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
}

/// A realm in memory that no other test has.
func memoryRealm(_ types: [ObjectBase.Type]? = nil) throws -> Realm {
  let name = UUID().uuidString
  return try Realm(configuration: Realm.Configuration(inMemoryIdentifier: name, objectTypes: types))
}

/// A place for a file, which is removed with this object.
final class TemporaryFile: Sendable {
  let url: URL

  init(named name: String = "") {
    url = FileManager.default.temporaryDirectory.appendingPathComponent("\(name)\(UUID().uuidString).realm")
  }

  var configuration: Realm.Configuration { Realm.Configuration(fileURL: url) }

  deinit {
    for suffix in ["", ".management", ".note"] {
      try? FileManager.default.removeItem(atPath: url.path + suffix)
    }
  }
}

/// A realm of the current thread, even in code that may be suspended. The test uses it only until its next suspension.
func opened(_ configuration: Realm.Configuration) throws -> Realm { try Realm(configuration: configuration) }
