import Foundation
import RealmStorage
import RealmSwift
import Testing

/// Changes that another process makes in a file that this process has open. The tests make them through a second
/// handle.
@Suite struct OtherProcessTests {
  private func withFile(_ body: (Realm, Database) throws -> Void) throws {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).realm")
    defer { _ = try? Realm.deleteFiles(for: Realm.Configuration(fileURL: url)) }
    let realm = try Realm(
      configuration: Realm.Configuration(fileURL: url, objectTypes: [Dog.self, Person.self]))
    try realm.write { realm.create(Dog.self, value: ["name": "Rex"]) }
    let other = try Database(path: url.path)
    try body(realm, other)
    other.close()
  }

  @Test func `reads and writes take in the classes and properties that another process adds`() throws {
    try withFile { realm, other in
      let dog = try #require(realm.objects(Dog.self).first)
      let row = try #require(try other.snapshot().table("Dog")?.rows(where: .always).first)
      try other.write { transaction in
        let dogs = try #require(try transaction.table("Dog"))
        try dogs.addColumn(Column("legs", .int64))
        try dogs.addColumn(Column("nick", .string, isOptional: true))
        _ = try transaction.createTable(TableSchema("Cat", columns: [Column("name", .string)]))
        try dogs.set(.string("Max"), "name", ofRow: row)
        try transaction.setSchemaVersion(1)
      }
      #expect(dog.name == "Rex")
      #expect(realm.refresh() && dog.name == "Max")
      try realm.write {
        dog.name = "Bob"
        realm.create(Dog.self, value: ["name": "Tim"])
      }
      #expect(realm.objects(Dog.self).where { $0.name == "Tim" }.count == 1)
      let table = try #require(try other.snapshot().table("Dog"))
      let legs = try #require(table.schema.columns.first { $0.name == "legs" })
      for row in try table.rows(where: .always) { #expect(try table.value(legs, ofRow: row) == .int(0)) }
    }
  }

  @Test func `a write sees additions of another process without an earlier refresh`() throws {
    try withFile { realm, other in
      try other.write { transaction in
        try transaction.table("Dog")?.addColumn(Column("legs", .int64))
        try transaction.setSchemaVersion(1)
      }
      try realm.write { realm.create(Dog.self, value: ["name": "Tim"]) }
      #expect(realm.objects(Dog.self).count == 2)
    }
  }

  @Test
  func
    `after a property was removed reading goes on as before, and the next write throws and changes nothing`()
    throws
  {
    try withFile { realm, other in
      let dog = try #require(realm.objects(Dog.self).first)
      #expect(dog.weight == 0)
      let schema = try #require(try other.snapshot().table("Dog")?.schema)
      let weight = try #require(schema.columns.firstIndex { $0.name == "weight" })
      try other.write { transaction in
        try transaction.table("Dog")?.dropColumn(weight)
        try transaction.setSchemaVersion(1)
      }
      #expect(!realm.refresh() && dog.weight == 0)
      let version = other.version
      let error = #expect(throws: Realm.Error.self) {
        try realm.write { dog.name = "never" }
      }
      #expect(error?.code == .schemaMismatch)
      #expect(other.version == version && dog.name == "Rex")
    }
  }
}
