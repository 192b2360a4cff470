import Foundation
import RealmStorage

/// The persons, written with the storage engine alone.
enum BulkInsert {
  private static let schema = TableSchema(
    "Person",
    columns: [
      Column("id", .int64, index: .unique), Column("name", .string), Column("email", .string),
      Column("age", .int64), Column("score", .double), Column("active", .bool), Column("created", .date),
      Column("city", .string, index: .plain), Column("bio", .string, isOptional: true),
    ])

  /// Inserts persons in one durable commit, into a new file that is removed afterwards.
  ///
  /// - Returns: The seconds that this takes, without the time to make the values.
  static func seconds(of count: Int, in folder: URL) throws -> Double {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let database = try Database(path: folder.appending(path: "bulk.realm").path, options: DatabaseOptions())
    defer { database.close() }
    var making = 0.0
    let start = ContinuousClock.now
    try database.write { transaction in
      let table = try transaction.createTable(schema)
      for first in stride(from: 0, to: count, by: 1000) {
        let began = ContinuousClock.now
        let persons = (first..<min(count, first + 1000)).map { PersonValues(place($0, of: count)) }
        making += (ContinuousClock.now - began) / .seconds(1)
        for person in persons { try insert(person, into: table) }
      }
    }
    return (ContinuousClock.now - start) / .seconds(1) - making
  }

  /// A place that is as good as random, because 7,919 is a prime number that divides no usual count.
  private static func place(_ number: Int, of count: Int) -> Int {
    count % 7_919 == 0 ? number : number * 7_919 % count
  }

  private static func insert(_ person: PersonValues, into table: WritableTable) throws {
    try table.insert { (row: inout NewRow) throws(StorageError) in
      try row.set(0, Int64(person.id))
      try row.set(1, person.name)
      try row.set(2, person.email)
      try row.set(3, Int64(person.age))
      try row.set(4, person.score)
      try row.set(5, person.active)
      try row.set(6, Timestamp(seconds: Int64(person.created)))
      try row.set(7, person.city)
      if let bio = person.bio { try row.set(8, bio) }
    }
  }
}
