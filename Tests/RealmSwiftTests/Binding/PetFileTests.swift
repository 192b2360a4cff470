import Foundation
import RealmSwift
import Testing

/// The classes of one table, in several versions of a program.
class Pet1: Object {
  @Persisted var name = ""
  @Persisted var age = 0
  override class func _realmObjectName() -> String? { "Pet" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class Pet2: Object {
  @Persisted(indexed: true) var name = ""
  @Persisted var age = 0
  @Persisted(indexed: true) var nick: String?
  @Persisted var weight = 3.5
  @Persisted var friends: List<Pet2>
  @Persisted var any: AnyRealmValue
  override class func _realmObjectName() -> String? { "Pet" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class PetWithoutAge: Object {
  @Persisted var name = ""
  override class func _realmObjectName() -> String? { "Pet" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class PetWithIndex: Object {
  @Persisted var age = 0
  @Persisted(indexed: true) var name = ""
  override class func _realmObjectName() -> String? { "Pet" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class PetWithKey: Object {
  @Persisted(primaryKey: true) var name = ""
  @Persisted var age = 0
  override class func _realmObjectName() -> String? { "Pet" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class PetWithOptionals: Object {
  @Persisted var name: String?
  @Persisted var age: String
  override class func _realmObjectName() -> String? { "Pet" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// The tests that open files with one of these classes.
protocol PetFileTests {}

extension PetFileTests {
  /// Opens the file with one class, calls `body` and releases the realm.
  @discardableResult
  func open<Result>(
    _ file: TemporaryFile, _ type: ObjectBase.Type, version: UInt64 = 0,
    _ change: (inout Realm.Configuration) -> Void = { _ in },
    _ body: (Realm) throws -> Result
  ) throws -> Result {
    var configuration = Realm.Configuration(
      fileURL: file.url, schemaVersion: version, objectTypes: [type])
    change(&configuration)
    return try autoreleasing { try body(Realm(configuration: configuration)) }
  }

  func makePets(_ file: TemporaryFile, version: UInt64 = 0) throws {
    try open(file, Pet1.self, version: version) { realm in
      try realm.write {
        for age in 0..<1000 { realm.create(Pet1.self, value: ["name": "pet \(age % 10)", "age": age]) }
      }
    }
  }

  func refusal(_ file: TemporaryFile, _ type: ObjectBase.Type, version: UInt64 = 0) -> String {
    let error = #expect(throws: Realm.Error.self) { try open(file, type, version: version) { _ in } }
    #expect(error?.code == .schemaMismatch && error?.fileURL == file.url)
    return error?.localizedDescription ?? ""
  }
}
