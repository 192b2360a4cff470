import Foundation
import RealmSwift
import RealmTestSupport
import Testing

@testable import RealmStorage

/// Files of a later version of the library.
@Suite struct LaterFileTests {
  private func make(_ path: String, _ rule: AttributeRule) throws -> Realm.Configuration {
    let configuration = Realm.Configuration(
      fileURL: URL(filePath: path), objectTypes: [Person.self, Dog.self])
    let realm = try Realm(configuration: configuration)
    try realm.write { realm.add(Person()) }
    let database = try Database(path: path)
    try database.write { transaction in
      let writer = try #require(try transaction.tables().writer("Person"))
      try writer.changeSchema { $0.unknown.table = [Attribute(number: 60, rule: rule, value: [])] }
    }
    return configuration
  }

  @Test func `a realm with a feature that forbids reading is not opened`() throws {
    try withTemporaryPath { path in
      let configuration = try make(path, .knownToRead)
      let error = #expect(throws: Realm.Error.self) { try Realm(configuration: configuration) }
      #expect(error?.code == .unsupportedFileFormatVersion)
      #expect(error?.localizedDescription.contains("attribute 60 of table Person") == true)
    }
  }

  @Test func `a realm with a feature that forbids writing is read, and begins no transaction`() throws {
    try withTemporaryPath { path in
      let realm = try Realm(configuration: make(path, .knownToWrite))
      #expect(realm.objects(Person.self).count == 1)
      for _ in 0..<2 {
        let error = #expect(throws: Realm.Error.self) { try realm.write { realm.deleteAll() } }
        #expect(error?.code == .unsupportedFileFormatVersion)
      }
      #expect(realm.objects(Person.self).count == 1)
    }
  }

  @Test func `a realm that changes the schema keeps an attribute that may be ignored`() throws {
    try withTemporaryPath { path in
      var configuration = try make(path, .ignorable)
      configuration.schemaVersion = 2
      configuration.objectTypes = [Person.self, Dog.self, Cat.self]
      let realm = try Realm(configuration: configuration)
      try realm.write { realm.deleteAll() }
      let schemas = try Database(path: path).snapshot().schemas()
      #expect(schemas.first { $0.name == "Person" }?.unknown.table.map(\.number) == [60])
    }
  }
}

private class Cat: Object {
  @Persisted var name: String
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
