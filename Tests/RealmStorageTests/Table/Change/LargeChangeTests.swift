import RealmTestSupport
import Testing

@testable import RealmStorage

/// Transactions whose changes are far larger than the memory they may hold.
@Suite struct LargeChangeTests {
  private static let columns = [
    Column("id", .int64, index: .unique), Column("name", .string), Column("score", .double),
    Column("count", .int64), Column("kind", .string, index: .plain),
  ]

  private static func name(_ number: Int) -> String { "the name of number \(number * 7919)" }

  private static func row(_ number: Int) -> [String: Value] {
    [
      "id": .int(Int64(number)), "name": .string(name(number)), "score": .double(Double(number)),
      "count": .int(Int64(number & 1023)), "kind": .string("kind \(number % 17)"),
    ]
  }

  private static func filled(_ disk: SimulatedDisk, _ key: [UInt8]?, spillBytes: Int) throws -> Database {
    var options = Database.Options(encryptionKey: key)
    options.spillBytes = spillBytes
    options.clusterRows = 16
    let database = try Database(creatingIn: disk, options: options)
    try database.write { transaction in
      let table = try transaction.createTable(TableSchema("Thing", columns: columns))
      for number in 0..<rows { _ = try table.insert(row(number)) }
    }
    return database
  }

  private static let rows = 8_000

  private static func arenaBytes(_ transaction: WriteTransaction) -> Int {
    transaction.editor.arena.usedBytes
  }

  @Test(arguments: [false, true]) func `changing and removing many rows takes little memory`(
    isEncrypted: Bool
  )
    throws
  {
    let database = try Self.filled(SimulatedDisk(), isEncrypted ? Keys.first : nil, spillBytes: 1 << 15)
    let held = try database.snapshot()
    try database.write { transaction in
      let table = try #require(try transaction.table("Thing"))
      _ = try table.changeDoubles(2) { $0 + 1 }
      // All scores together take 64,000 bytes.
      #expect(Self.arenaBytes(transaction) < 2 * (1 << 15))
    }
    try database.write { transaction in
      let table = try #require(try transaction.table("Thing"))
      _ = try table.changeIntegers(3, ofRows: (0..<UInt64(Self.rows)).filter { $0 % 3 == 0 }) { $0 + 5_000 }
      #expect(Self.arenaBytes(transaction) < 2 * (1 << 15))
    }
    try database.write { transaction in
      let table = try #require(try transaction.table("Thing"))
      #expect(try table.remove((0..<UInt64(Self.rows)).filter { $0 & 1 == 1 }) == Self.rows / 2)
      // The limit includes the indexes, which are made anew completely.
      #expect(Self.arenaBytes(transaction) < 5 * (1 << 14))
    }
    let snapshot = try database.snapshot()
    #expect(IntegrityCheck.run(snapshot).findings == [])
    #expect(IntegrityCheck.run(held).findings == [])
    let table = try #require(try snapshot.table("Thing"))
    #expect(table.count == Self.rows / 2)
    for number in stride(from: 0, to: Self.rows, by: 62) {
      let row = try #require(try table.row(withPrimaryKey: .int(Int64(number))))
      #expect(try table.value(table.schema.columns[1], ofRow: row) == .string(Self.name(number)))
      #expect(try table.value(table.schema.columns[2], ofRow: row) == .double(Double(number + 1)))
      let count = Int64(number & 1023) + (number % 3 == 0 ? 5_000 : 0)
      #expect(try table.value(table.schema.columns[3], ofRow: row) == .int(count))
      #expect(try table.row(withPrimaryKey: .int(Int64(number + 1))) == nil)
    }
    for kind in 0..<17 {
      let expected = stride(from: 0, to: Self.rows, by: 2).filter { $0 % 17 == kind }.count
      #expect(try table.count(with: .string("kind \(kind)"), in: table.schema.columns[4]) == expected)
    }
  }

  @Test func `nodes written before the commit can be changed again, and a cancel frees their pages`() throws {
    let disk = SimulatedDisk()
    let database = try Self.filled(disk, nil, spillBytes: 1 << 14)
    let before = try database.snapshot()
    var lengths: [UInt64] = []
    for _ in 0..<4 {
      let transaction = try database.beginWrite()
      let cancelled = try #require(try transaction.table("Thing"))
      _ = try cancelled.changeDoubles(2) { $0 + 1 }
      _ = try cancelled.remove((0..<UInt64(Self.rows)).filter { $0 % 5 == 0 })
      transaction.cancel()
      lengths.append(try disk.length())
    }
    #expect(Set(lengths).count == 1, "each takes the pages that the one before gave back: \(lengths)")
    try database.write { transaction in
      let table = try #require(try transaction.table("Thing"))
      for _ in 0..<3 { _ = try table.changeDoubles(2) { $0 + 1 } }
      _ = try table.remove((0..<UInt64(Self.rows)).filter { $0 % 3 == 0 })
      _ = try table.changeDoubles(2) { $0 * 2 }
    }
    let after = try database.snapshot()
    #expect(IntegrityCheck.run(before).findings == [])
    #expect(IntegrityCheck.run(after).findings == [])
    let table = try #require(try after.table("Thing"))
    #expect(table.count == Self.rows - (Self.rows + 2) / 3)
    #expect(try table.value(table.schema.columns[2], ofRow: 100) == .double(206))
    #expect(try table.value(table.schema.columns[2], ofRow: 99) == nil)
  }

  @Test func `very large rows are written early, before there is a branch above them`() throws {
    var options = Database.Options()
    options.spillBytes = 1 << 16
    options.clusterRows = 16
    let database = try Database(creatingIn: SimulatedDisk(), options: options)
    let columns = [Column("content", .data), Column("score", .double)]
    // The rows of each cluster have 300 KiB of content.
    func content(_ number: Int) -> [UInt8] {
      [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 19_000)
    }
    try database.write { transaction in
      let table = try transaction.createTable(TableSchema("Large", columns: columns))
      var most = 0
      for number in 0..<600 {
        _ = try table.insert(["content": .data(content(number)), "score": .double(1)])
        most = max(most, Self.arenaBytes(transaction))
      }
      #expect(most < 1 << 20)
    }
    try database.write { transaction in
      let table = try #require(try transaction.table("Large"))
      for number in 0..<600 where number % 5 == 0 {
        _ = try table.set(.data(content(number + 1)), 0, ofRow: UInt64(number))
      }
      #expect(try table.remove((0..<600).filter { $0 % 3 == 0 }) == 200)
    }
    let snapshot = try database.snapshot()
    #expect(IntegrityCheck.run(snapshot).findings == [])
    let table = try #require(try snapshot.table("Large"))
    #expect(table.count == 400)
    for number in [1, 5, 598, 599] {
      let expected = content(number % 5 == 0 ? number + 1 : number)
      #expect(try table.value(table.schema.columns[0], ofRow: UInt64(number)) == .data(expected))
    }
  }
}
