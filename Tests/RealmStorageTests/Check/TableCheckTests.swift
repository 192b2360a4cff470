import RealmTestSupport
import Testing

@testable import RealmStorage

/// Tables whose nodes are sound one by one and contradict each other.
@Suite struct TableCheckTests {
  private static let marker: Int64 = 0x1122_3344_5566_7788

  @Test func `the check finds nothing wrong in a table that the engine made`() throws {
    let database = try Database(inMemory: "check")
    try make(database) { _, _ in }
    let report = try IntegrityCheck.run(database.snapshot())
    #expect(report.findings == [])
    #expect(report.entries == 6)
  }

  @Test(arguments: [-1, 1_000_000_000])
  func `nanoseconds out of range are found, and read as no nanoseconds`(nanoseconds: Int32) throws {
    let database = try Database(inMemory: "check")
    var moment = Timestamp(seconds: 7)
    moment.nanoseconds = nanoseconds
    try database.write { transaction in
      let table = try transaction.createTable(TableSchema("Event", columns: [Column("time", .date)]))
      _ = try table.insert(["time": .date(Timestamp(seconds: 6, nanoseconds: 5))])
      _ = try table.insert(["time": .date(moment)])
    }
    try expect(database, .structure, "cluster")
    let table = try #require(try database.snapshot().table("Event"))
    var found: [Value] = []
    try table.forEach { _, values in
      found += values
      return true
    }
    #expect(found == [.date(Timestamp(seconds: 6, nanoseconds: 5)), .date(Timestamp(seconds: 7))])
  }

  @Test func `an index entry with another value than its row is found, and the index is named`() throws {
    let database = try Database(inMemory: "check")
    try make(database) { writer, editor in
      let column = try #require(writer.schema.column("number"))
      let index = try writer.flushed().index(of: column)
      let access = editor.access()
      let view = try access.node(index)
      let body = view.bytes(at: 0, count: view.bodyLength).array
      let entry = IndexKey.encode(.int(Self.marker), of: column)
      let places = (0..<body.count - entry.count).filter { body[$0..<$0 + entry.count].elementsEqual(entry) }
      try #require(places.count == 1)
      // Writes another value, which has the same place in the order.
      editor.arena.edit(index) { $0.store(entry[7] ^ 1, at: places[0] + 7) }
    }
    try expect(database, .index, "leaf of index Person.number at offset")
  }

  @Test func `a link that is missing in the index of links is found, and its column is named`() throws {
    let database = try Database(inMemory: "check")
    try make(database) { writer, _ in
      try writer.links.remove(
        target: 0, table: writer.schema.id, column: friend(writer).id, source: 1)
    }
    try expect(database, .link, "of links to Person at offset")
  }

  @Test func `a surplus entry in the index of links is found, and its column is named`() throws {
    let database = try Database(inMemory: "check")
    try make(database) { writer, _ in
      try writer.links.add(target: 2, table: writer.schema.id, column: friend(writer).id, source: 0)
    }
    try expect(database, .link, "of links to Person at offset")
  }

  @Test func `a link to a row that does not exist is found, and its column is named`() throws {
    let database = try Database(inMemory: "check")
    try make(database) { writer, _ in
      // The entry of the link is removed first. So the row goes, and the link to it stays.
      try writer.links.remove(
        target: 0, table: writer.schema.id, column: friend(writer).id, source: 1)
      #expect(try writer.remove(0))
    }
    try expect(database, .link, "cluster of column Person.friend at offset")
  }

  @Test func `damage in two tables gives two findings`() throws {
    let database = try Database(inMemory: "check")
    for name in ["Person", "Animal"] {
      try make(database, name) { writer, _ in
        try writer.links.remove(
          target: 0, table: writer.schema.id, column: friend(writer).id, source: 1)
      }
    }
    let report = try IntegrityCheck.run(database.snapshot())
    #expect(report.findings.count == 2)
    #expect(
      "\(report.findings)".contains("links to Animal") && "\(report.findings)".contains("links to Person"))
  }

  @Test func `the progress of the check goes from nothing to all`() throws {
    let database = try Database(inMemory: "check")
    try make(database) { _, _ in }
    var shares: [Double] = []
    _ = try IntegrityCheck.run(database.snapshot()) { shares.append($0) }
    #expect(shares == shares.sorted() && shares.last == 1)
  }

  /// Makes a table of three rows, the second with a link to the first, and a tree of three entries. `forge` then
  /// damages the table.
  private func make(
    _ database: Database, _ name: String = "Person", _ forge: (TableWriter, NodeEditor) throws -> Void
  ) throws {
    let transaction = try database.beginWrite()
    let table = try transaction.createTable(
      TableSchema(
        name,
        columns: [
          Column("number", .int64, index: .plain), Column("name", .string), Column("friend", .link),
        ]))
    let first = try table.insert(["number": .int(1), "name": .string("first")])
    try table.insert(["number": .int(Self.marker), "friend": .link(first)])
    try table.insert([:])
    for number in UInt8(0)..<3 { try transaction.tree("notes").set([number], for: [number]) }
    let writer = try #require(try transaction.tables().writer(name))
    _ = try writer.flushed()
    try forge(writer, transaction.editor)
    try transaction.commit()
  }

  private func friend(_ writer: TableWriter) throws -> Column { try #require(writer.schema.column("friend")) }

  private func expect(_ database: Database, _ finding: Corruption.Finding, _ words: String) throws {
    let report = try IntegrityCheck.run(database.snapshot())
    try #require(report.findings.count == 1)
    guard case .corrupted(let corruption, path: _) = report.findings[0] else {
      Issue.record("\(report.findings[0])")
      return
    }
    #expect(corruption.finding == finding)
    #expect("\(corruption)".contains(words), "\(corruption)")
  }
}
