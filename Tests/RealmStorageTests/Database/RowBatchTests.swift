import RealmStorage
import RealmTestSupport
import Testing

/// Lookups of many rows at once, compared with lookups of single rows.
@Suite struct RowBatchTests {
  private static let schema = TableSchema(
    "Row",
    columns: [Column("id", .int64, index: .unique), Column("number", .double), Column("text", .string)])

  /// Inserts rows with ids in no order and with gaps, and removes some of them.
  private func fill(_ database: Database, count: Int, _ random: inout SeededGenerator) throws {
    try database.write { transaction in
      let table = try transaction.createTable(Self.schema)
      var keys: [UInt64] = []
      for index in 0..<count {
        keys.append(
          try table.insert { (row: inout NewRow) throws(StorageError) in
            try row.set(0, Int64(index * 7_919 % count * 3))
            try row.set(1, Double(index))
            try row.set(2, "text of \(index)")
          })
      }
      for key in keys where Int.random(in: 0..<5, using: &random) == 0 { try table.remove(key) }
    }
  }

  private struct Seen: Equatable {
    var position: Int
    var id: Int64
    var number: Double
    var text: String
  }

  private static func read(_ position: Int, _ group: borrowing RowGroup, _ row: Int) throws(StorageError)
    -> Seen
  {
    let text = try group.texts(2, from: row).bytes(row).withUnsafeBytes {
      String(decoding: $0, as: UTF8.self)
    }
    return Seen(
      position: position, id: try group.integers(0)[row], number: try group.doubles(1)[row], text: text)
  }

  @Test(arguments: [nil, Keys.first], [0, 1, 700, 20_000])
  func `a lookup of many rows finds the same rows as lookups one by one`(key: [UInt8]?, count: Int) throws {
    try withTemporaryPath { path in
      var random = SeededGenerator(seed: 9)
      let database = try Database(path: path, options: .init(encryptionKey: key))
      try fill(database, count: count, &random)
      let table = try #require(try database.snapshot().table("Row"))
      // The ids include existing ones, missing ones between them and outside of them, and some twice.
      let wanted = (0..<3_000).map { _ in Int64.random(in: -5...Int64(3 * count + 5), using: &random) }
      var expected: [Seen] = []
      for (position, id) in wanted.enumerated() {
        let seen = try table.withRow(primaryKey: id) { (group, row) throws(StorageError) in
          try Self.read(position, group, row)
        }
        if let seen { expected.append(seen) }
      }
      var found: [Seen] = []
      try table.forEachRow(withPrimaryKeys: wanted) { (position, group, row) throws(StorageError) in
        found.append(try Self.read(position, group, row))
      }
      #expect(found == expected)
      #expect(count < 700 || expected.count > 500)

      let keys = (0..<3_000).map { _ in UInt64.random(in: 0...UInt64(count + 5), using: &random) }
      expected = []
      for (position, key) in keys.enumerated() {
        let seen = try table.withRow(key) { (group, row) throws(StorageError) in
          try Self.read(position, group, row)
        }
        if let seen { expected.append(seen) }
      }
      found = []
      try table.forEachRow(keys) { (position, group, row) throws(StorageError) in
        found.append(try Self.read(position, group, row))
      }
      #expect(found == expected)
      database.close()
    }
  }

  @Test func `an error that the body throws ends the lookups`() throws {
    try withTemporaryPath { path in
      var random = SeededGenerator(seed: 10)
      let database = try Database(path: path)
      try fill(database, count: 700, &random)
      let table = try #require(try database.snapshot().table("Row"))
      var calls = 0
      #expect(throws: StorageError.self) {
        try table.forEachRow(withPrimaryKeys: Array(0..<2_100)) { (_, _, _) throws(StorageError) in
          calls += 1
          if calls == 100 { throw StorageError.snapshotExpired(path: path) }
        }
      }
      #expect(calls == 100)
      database.close()
    }
  }

  @Test(arguments: [false, true])
  func `keys are read group by group, from any key on`(hasGaps: Bool) throws {
    try withTemporaryPath { path in
      var random = SeededGenerator(seed: 11)
      let database = try Database(path: path)
      var expected: [UInt64] = []
      try database.write { transaction in
        let table = try transaction.createTable(Self.schema)
        for index in 0..<3_000 {
          expected.append(
            try table.insert(["id": .int(Int64(index)), "number": .double(0), "text": .string("")]))
        }
        guard hasGaps else { return }
        for key in expected where Int.random(in: 0..<4, using: &random) == 0 { try table.remove(key) }
        expected = try expected.filter { try table.contains($0) }
      }
      let table = try #require(try database.snapshot().table("Row"))
      for start in [0, 1, expected[700], expected[700] + 1, expected.last!, expected.last! + 1] {
        var found: [UInt64] = []
        var next: UInt64? = start
        while let key = next {
          let group = try table.keys(from: key)
          found += group.keys
          next = group.next
        }
        #expect(found == expected.filter { $0 >= start }, "from \(start)")
      }
    }
  }
}
