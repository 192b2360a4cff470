import RealmTestSupport
import Testing

@testable import RealmStorage

@Suite struct HiddenTableTests {
  private func make(_ path: String) throws -> Database {
    let database = try Database(path: path)
    try database.write { transaction in
      let open = try transaction.createTable(TableSchema("Thing", columns: [Column("a", .int64)]))
      let hidden = try transaction.createTable(
        TableSchema("Thing", isHidden: true, columns: [Column("b", .string, index: .plain)]))
      try open.insert(["a": .int(1)])
      try hidden.insert(["b": .string("x")])
      try hidden.insert(["b": .string("y")])
      #expect(try transaction.schemas().map(\.columns[0].name) == ["a"])
      #expect(try transaction.table("Thing")?.schema.columns[0].name == "a")
      #expect(try transaction.hiddenTable("Thing")?.schema.columns[0].name == "b")
      #expect(try transaction.hiddenTable("Other") == nil)
    }
    return database
  }

  @Test func `a hidden table has its own namespace and is in no listing`() throws {
    try withTemporaryPath { path in
      let database = try make(path)
      let snapshot = try database.snapshot()
      #expect(try snapshot.schemas().map(\.isHidden) == [false])
      #expect(try snapshot.table("Thing")?.count == 1)
      let hidden = try #require(try snapshot.hiddenTable("Thing"))
      #expect(hidden.count == 2 && hidden.schema.isHidden)
      #expect(try hidden.rows(with: .string("y"), in: hidden.schema.columns[0]) == [1])
      #expect(try FileInfo(database).tableCount == 1)
      #expect(try Salvage(snapshot).tables.count == 1)
      #expect(try snapshot.hiddenTable("Other") == nil)
    }
  }

  @Test func `a hidden table is checked, counted, copied, compacted and compared like other tables`() throws {
    try withTemporaryPath { path in
      let database = try make(path)
      let first = try database.snapshot()
      let report = IntegrityCheck.run(first)
      #expect(report.problem == nil && report.entries == 3)
      let names = try SpaceReport(first).parts.map(\.part.description)
      #expect(names.contains("hidden table Thing") && names.contains("hidden index Thing.b"))
      try database.write { transaction in
        let hidden = try #require(try transaction.hiddenTable("Thing"))
        try hidden.set(.string("z"), 0, ofRow: 1)
        try hidden.addColumn(Column("c", .int64))
      }
      let second = try database.snapshot()
      #expect(
        try second.changes(inTable: "Thing", isHidden: true, since: first).modifications.map(\.key) == [1])
      let open = try second.changes(inTable: "Thing", since: first)
      #expect(open.insertions.isEmpty && open.deletions.isEmpty && open.modifications.isEmpty)
      try second.copy(to: path + ".copy")
      let copy = try Database(path: path + ".copy")
      #expect(try copy.snapshot().hiddenTable("Thing")?.count == 2)
      copy.close()
      #expect(try Database.compact(path: path + ".copy"))
      let compacted = try Database(path: path + ".copy").snapshot()
      #expect(try compacted.hiddenTable("Thing")?.schema.columns.map(\.name) == ["b", "c"])
    }
  }

  @Test func `damage in a hidden table is reported with a name that says hidden`() throws {
    try withTemporaryPath { path in
      let database = try make(path)
      try database.write { transaction in
        let writer = try #require(try transaction.tables().writer("Thing", isHidden: true))
        try writer.index(of: writer.schema.columns[0])?.remove(.string("x"), row: 0)
      }
      let findings = try IntegrityCheck.run(database.snapshot()).findings
      #expect(findings.count == 1 && "\(findings)".contains("hidden index Thing.b"), "\(findings)")
    }
  }
}
