import RealmStorage
import Testing

@Suite struct RemoveAllTests {
  /// Makes a database of dogs with owners, people with a town and lists of dogs, and one town.
  private func made() throws -> Database {
    let database = try Database(inMemory: "test")
    try database.write { transaction in
      let towns = try transaction.createTable(TableSchema("Town", columns: [Column("name", .string)]))
      let dogs = try transaction.createTable(
        TableSchema("Dog", columns: [Column("name", .string, index: .unique)]))
      let people = try transaction.createTable(
        TableSchema(
          "Person",
          columns: [
            Column("id", .int64, index: .unique), Column("town", .link, target: towns.schema.id),
            Column("dogs", .link, collection: .list, target: dogs.schema.id), Column("friend", .link),
          ]))
      try dogs.addColumn(Column("owner", .link, target: people.schema.id))
      let town = try towns.insert(["name": .string("Town")])
      for number in 0..<700 {
        let dog = try dogs.insert(["name": .string("Dog \(number)")])
        let person = try people.insert([
          "id": .int(Int64(number)), "town": .link(town), "dogs": .list([.link(dog), .link(dog)]),
          "friend": number > 0 ? .link(0) : .null,
        ])
        try dogs.set(.link(person), "owner", ofRow: dog)
      }
    }
    return database
  }

  private func counts(_ database: Database) throws -> [Int] {
    let snapshot = try database.snapshot()
    #expect(IntegrityCheck.run(snapshot).findings == [])
    return try ["Town", "Dog", "Person"].map { try snapshot.table($0)?.count ?? -1 }
  }

  @Test func `tables that link only to one another can be emptied at once`() throws {
    let database = try made()
    try database.write { try $0.removeAllRows(of: ["Town", "Dog", "Person", "no such table"]) }
    #expect(try counts(database) == [0, 0, 0])
    try database.write { transaction in
      let dogs = try #require(try transaction.table("Dog"))
      #expect(try dogs.insert(["name": .string("Dog 1")]) == 700)
    }
    #expect(try counts(database) == [0, 1, 0])
  }

  @Test func `links between emptied tables and remaining tables are removed`() throws {
    let database = try made()
    try database.write { try $0.removeAllRows(of: ["Dog", "Person"]) }
    #expect(try counts(database) == [1, 0, 0])
    let other = try made()
    try other.write { try $0.removeAllRows(of: ["Dog"]) }
    #expect(try counts(other) == [1, 0, 700])
    try other.write { try $0.removeAllRows(of: ["Town"]) }
    #expect(try counts(other) == [0, 0, 700])
    let people = try #require(try other.snapshot().table("Person"))
    #expect(try people.value(people.schema.columns[1], ofRow: 5) == .null)
  }

  @Test func `removed rows are back after the transaction is cancelled`() throws {
    let database = try made()
    let transaction = try database.beginWrite()
    try transaction.removeAllRows(of: ["Town", "Dog", "Person"])
    #expect(try transaction.table("Dog")?.reading().count == 0)
    transaction.cancel()
    #expect(try counts(database) == [1, 700, 700])
  }
}
