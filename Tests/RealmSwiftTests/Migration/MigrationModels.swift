import Foundation
import RealmSwift
import Testing

// The classes of one program in several versions. The versions have the same tables, because they use the same names.

class Person1: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var first = ""
  @Persisted var last = ""
  @Persisted var years = 0
  @Persisted var pet: Beast1?
  @Persisted var tags: List<String>
  override class func _realmObjectName() -> String? { "Person" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class Beast1: Object {
  @Persisted var name = ""
  override class func _realmObjectName() -> String? { "Pet" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class Person2: Object {
  @Persisted(primaryKey: true) var key: String
  @Persisted(indexed: true) var fullName: String
  @Persisted var age: Int
  @Persisted var pets: List<Beast2>
  @Persisted var tags: MutableSet<String>
  override class func _realmObjectName() -> String? { "Person" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class Beast2: EmbeddedObject {
  @Persisted var name = ""
  @Persisted var legs: Int
  override class func _realmObjectName() -> String? { "Pet" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class PersonWithNewKey: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var first = ""
  override class func _realmObjectName() -> String? { "Person" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class Kept: Object {
  @Persisted(primaryKey: true) var key: Int
  @Persisted var name = ""
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Tests that migrate files of these classes.
protocol MigrationFileTests {}

extension MigrationFileTests {
  static var first: [ObjectBase.Type] { [Person1.self, Beast1.self] }
  static var second: [ObjectBase.Type] { [Person2.self, Beast2.self] }

  /// Opens a realm of some classes, and releases it.
  func open(
    _ file: TemporaryFile, _ types: [ObjectBase.Type], version: UInt64 = 0,
    block: MigrationBlock? = nil, _ body: (Realm) throws -> Void
  ) throws {
    try autoreleasing {
      try body(opened(configuration(file, types, version: version, block: block)))
    }
  }

  func configuration(
    _ file: TemporaryFile, _ types: [ObjectBase.Type], version: UInt64 = 0, block: MigrationBlock? = nil
  ) -> Realm.Configuration {
    Realm.Configuration(
      fileURL: file.url, schemaVersion: version, migrationBlock: block, objectTypes: types)
  }

  /// A file of the first version of the classes with `count` people.
  func filled(_ count: Int = 3) throws -> TemporaryFile {
    let file = TemporaryFile()
    try open(file, Self.first) { realm in
      try realm.write {
        let pets = ["Rex", "Tom"].map { realm.create(Beast1.self, value: [$0]) }
        for number in 0..<count {
          let person = realm.create(
            Person1.self,
            value: ["id": number, "first": "f\(number)", "last": "l\(number)", "years": 20 + number])
          person.pet = pets[0]
          person.tags.append(objectsIn: ["b", "a", "b"])
        }
      }
    }
    return file
  }

  /// Checks that opening the file is refused, and that the file has not changed.
  func refusal(
    _ file: TemporaryFile, _ types: [ObjectBase.Type], count: Int = 3, block: MigrationBlock? = nil
  ) throws -> String {
    let error = #expect(throws: Realm.Error.self) {
      try open(file, types, version: 1, block: block) { _ in }
    }
    #expect(error?.code == .schemaMismatch && error?.fileURL == file.url)
    try open(file, Self.first) { realm in
      #expect(realm.objects(Person1.self).map(\.id) == Array(0..<count))
      #expect(realm.objects(Person1.self).allSatisfy { $0.first == "f\($0.id)" && $0.pet?.name == "Rex" })
      try realm.verify()
    }
    return error?.localizedDescription ?? ""
  }
}
