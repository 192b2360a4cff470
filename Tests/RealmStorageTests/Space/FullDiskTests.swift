import RealmTestSupport
import Testing

@testable import RealmStorage

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A disk on which the file can't grow.
@Suite struct FullDiskTests {
  private static let schema = TableSchema(
    "Thing",
    columns: [
      Column("id", .int64, index: .unique), Column("name", .string, index: .plain), Column("size", .int64),
    ])

  private func insert(_ id: Int64, into database: Database, _ generator: inout SeededGenerator) throws {
    let name = String(
      decoding: generator.bytes(40 + generator.below(120)).map { 97 + $0 % 26 }, as: UTF8.self)
    try database.write { transaction in
      let table = try #require(try transaction.table("Thing"))
      try table.insert { (row: inout NewRow) throws(StorageError) in
        try row.set(0, id)
        try row.set(1, name)
        try row.set(2, id &* 7)
      }
    }
  }

  private func isFull(_ body: () throws -> Void) throws -> Bool {
    do {
      try body()
      return false
    } catch let error as StorageError {
      guard case .system(call: .write, let number, _, _) = error else { throw error }
      #expect(number == ENOSPC)
      return true
    }
  }

  private static let disks: [([UInt8]?, Int)] =
    [(nil, 200), (nil, 1_000), (Keys.first, 200)]
    + (Slow.isAsked ? [(nil, 5_500), (nil, 6_000), (nil, 6_400), (Keys.first, 3_000)] : [])

  @Test(arguments: disks)
  func `on a full disk rows stay readable and can be deleted one by one until there is room`(
    key: [UInt8]?, kibibytes: Int
  ) throws {
    try withTemporaryPath { path in
      var generator = SeededGenerator(seed: UInt64(kibibytes))
      let options = Database.Options(encryptionKey: key)
      _ = try Database(path: path, options: options)
      let disk = SmallDisk(size: kibibytes << 10)
      let database = try Database(
        storage: FileStorage(path: path, readOnly: false, calls: disk), options: options)
      try database.write { _ = try $0.createTable(Self.schema) }
      var ids: [Int64] = []
      while try !isFull({ try insert(Int64(ids.count), into: database, &generator) }) {
        ids.append(Int64(ids.count))
      }
      #expect(ids.count > kibibytes / 2)
      // Refused inserts do not use up the reserve that deletions need.
      for _ in 0..<100 where try !isFull({ try insert(Int64(ids.count), into: database, &generator) }) {
        ids.append(Int64(ids.count))
      }
      #expect(try database.snapshot().table("Thing")?.count == ids.count)
      #expect(IntegrityCheck.run(try database.snapshot()).findings == [])

      var deleted = 0
      ids.shuffle(using: &generator)
      for _ in 0..<ids.count / 2 {
        let id = ids.removeLast()
        deleted += 1
        try database.write { transaction in
          let table = try #require(try transaction.table("Thing"))
          let row = try #require(try table.reading().row(withPrimaryKey: .int(id)))
          #expect(try table.remove(row))
        }
      }
      let before = ids.count
      while try !isFull({ try insert(Int64(100_000 + ids.count), into: database, &generator) }) {
        ids.append(Int64(100_000 + ids.count))
      }
      #expect(ids.count > before + before / 5)
      #expect(try database.snapshot().table("Thing")?.count == ids.count)
      #expect(IntegrityCheck.run(try database.snapshot()).findings == [])
    }
  }

  @Test(arguments: [nil, Keys.first])
  func `a transaction that is refused room before its commit may find room at the commit`(
    key: [UInt8]?
  ) throws {
    try withTemporaryPath { path in
      var generator = SeededGenerator(seed: 5)
      var options = Database.Options(encryptionKey: key)
      options.spillBytes = 1 << 12
      options.clusterRows = 32
      _ = try Database(path: path, options: options)
      let database = try Database(
        storage: FileStorage(path: path, readOnly: false, calls: SmallDisk(size: 1 << 20)), options: options)
      try database.write { _ = try $0.createTable(Self.schema) }
      var count = 0
      while try !isFull({ try insert(Int64(count), into: database, &generator) }) { count += 1 }
      // The pages of held versions can't be used again.
      var held = [try database.snapshot()]
      var changes: Int64 = 0
      while true {
        let transaction = try database.beginWrite()
        let table = try #require(try transaction.table("Thing"))
        #expect(try table.changeIntegers(2) { $0 + 1 } == count)
        if try isFull({ try transaction.commit() }) { break }
        changes += 1
        held.append(try database.snapshot())
        try #require(changes < 200)
      }
      for (snapshot, more) in [
        (held[0], 0), (held[held.count - 1], changes), (try database.snapshot(), changes),
      ] {
        #expect(IntegrityCheck.run(snapshot).findings == [])
        let table = try #require(try snapshot.table("Thing"))
        #expect(table.count == count)
        let row = try #require(try table.row(withPrimaryKey: .int(9)))
        #expect(try table.value(table.schema.columns[2], ofRow: row) == .int(63 + more))
      }
    }
  }
}
