import Foundation
import RealmStorage
import RealmSwift
import Testing

/// Changes of an observed file by another process. The tests make them through a second handle.
@Suite struct OtherProcessObserverTests {
  private func withFile(_ key: Data? = nil, _ body: (QueueRealm, Database) throws -> Void) throws {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).realm")
    let configuration = Realm.Configuration(
      fileURL: url, encryptionKey: key, objectTypes: [Dog.self, Person.self])
    defer { _ = try? Realm.deleteFiles(for: configuration) }
    let realm = try QueueRealm(configuration)
    try realm.write { $0.create(Dog.self, value: ["name": "Rex"]) }
    let other = try Database(path: url.path, options: Database.Options(encryptionKey: key.map { Array($0) }))
    defer { other.close() }
    try body(realm, other)
  }

  @Test(arguments: [nil, Data(repeating: 7, count: 64)])
  func `observers hear of the commits of another process, and the realm moves to them`(key: Data?) throws {
    try withFile(key) { realm, other in
      let (heard, moved) = (Heard<Changed>(), Heard<Realm.Notification>())
      let tokens = realm.run { realm in
        [
          realm.objects(Dog.self).observe { heard.add(Changed($0)) },
          realm.observe { notification, _ in moved.add(notification) },
        ]
      }
      #expect(heard.wait(1) == [.initial(1)])
      for count in 2..<6 {
        try other.write { transaction in
          let dogs = try #require(try transaction.table("Dog"))
          _ = try dogs.insert(["name": .string("\(count)")])
        }
        #expect(heard.wait(count).last == .update(count, [], [count - 1]))
      }
      #expect(moved.all.count >= 4)
      withExtendedLifetime(tokens) {}
    }
  }

  @Test
  func `the realm takes in additions of another process to the schema, and removals end its observers`()
    throws
  {
    try withFile { realm, other in
      let (heard, sorted) = (Heard<Changed>(), Heard<Changed>())
      let tokens = realm.run { realm in
        [
          realm.objects(Dog.self).observe { heard.add(Changed($0)) },
          realm.objects(Dog.self).sorted(byKeyPath: "weight").observe { sorted.add(Changed($0)) },
        ]
      }
      #expect(heard.wait(1).count == 1 && sorted.wait(1).count == 1)
      try other.write { transaction in
        let dogs = try #require(try transaction.table("Dog"))
        try dogs.addColumn(Column("legs", .int64))
        _ = try dogs.insert(["name": .string("Max")])
        try transaction.setSchemaVersion(1)
      }
      #expect(heard.wait(2).last == .update(2, [], [1]) && sorted.wait(2).last?.count == 2)
      let schema = try #require(try other.snapshot().table("Dog")?.schema)
      let weight = try #require(schema.columns.firstIndex { $0.name == "weight" })
      try other.write { transaction in
        let dogs = try #require(try transaction.table("Dog"))
        try dogs.dropColumn(weight)
        _ = try dogs.insert(["name": .string("Tim")])
        try transaction.setSchemaVersion(2)
      }
      #expect(heard.wait(3).last?.isError == true && sorted.wait(3).last?.isError == true)
      try other.write { transaction in _ = try transaction.table("Dog")?.insert(["name": .string("Bob")]) }
      realm.settle()
      #expect(heard.all.count == 3 && sorted.all.count == 3)
      // The realm stays at the last version that its classes fit.
      #expect(realm.run { $0.objects(Dog.self).count } == 2)
      withExtendedLifetime(tokens) {}
    }
  }
}
