import RealmTestSupport
import Testing

@testable import RealmStorage

@Suite struct SpaceReportTests {
  @Test(arguments: [nil, Keys.first], [TableModel.everything, TableModel.few])
  func `each node counts once, for the table, column, index or tree that it belongs to`(
    key: [UInt8]?, columns: [Column]
  ) throws {
    let seed: UInt64 = 5
    print("seed \(seed)")
    var generator = SeededGenerator(seed: seed)
    var options = Database.Options(encryptionKey: key)
    options.clusterRows = 8
    let database = try Database(creatingIn: MemoryStorage(name: "space"), options: options)
    var model = TableModel()
    try database.write { transaction in
      let table = try transaction.createTable(
        TableSchema(TableModel.name, columns: columns))
      while model.rows.count < 100 { _ = try model.insert(table, &generator) }
      for _ in 0..<40 { _ = try model.change(table, &generator) }
      // One of the removed rows is not at an end of its cluster, so that the cluster stores keys.
      _ = try table.remove([30, 32])
      model.remove([30, 32], table.schema)
      try transaction.createTable(TableSchema("Empty", columns: [Column("a", .string, index: .plain)]))
      try transaction.tree("notes").set([UInt8](repeating: 1, count: 100_000), for: [1])
    }
    let snapshot = try database.snapshot()
    let report = try SpaceReport(snapshot)
    let check = IntegrityCheck.run(snapshot)
    #expect(report.liveBytes == check.liveBytes)
    #expect(report.parts.reduce(0) { $0 + $1.space.nodes } == check.nodes)
    #expect(report.kinds.reduce(0) { $0 + $1.space.bytes } == check.liveBytes)
    #expect(report.liveBytes + report.metaBytes + report.otherBytes == report.fileBytes)
    let table = try part("table \(TableModel.name)", report)
    #expect(table.entries == UInt64(model.rows.count) && table.packedBytes > 0)
    try expectColumns(of: try #require(try snapshot.table(TableModel.name)), report)
    let repeating = columns.contains { $0.name == "city" } ? "city" : "string"
    let dictionary = try part("column \(TableModel.name).\(repeating)", report)
    #expect(dictionary.entries > 0 && dictionary.packedBytes > 0)
    let notes = try part("tree notes", report)
    #expect(notes.entries == 1 && notes.space.bytes > 100_000)
    #expect(try part("index Empty.a", report).space.nodes == 0)
  }

  private func expectColumns(of table: Table, _ report: SpaceReport) throws {
    let name = table.schema.name
    var packed: UInt64 = 0
    for column in table.schema.columns {
      let found = try part("column \(name).\(column.name)", report)
      #expect((found.space.nodes > 0) == (column.storage.hasPieces), "\(column.name)")
      packed += found.packedBytes
      guard column.index != .none else { continue }
      let index = try part("index \(name).\(column.name)", report)
      #expect(index.entries == UInt64(table.count) && index.space.nodes > 0)
    }
    // Packed values are only a part of the clusters, which also have headers and descriptors.
    #expect(try packed < part("table \(name)", report).space.bytes)
    #expect(try part("column \(name).score", report).packedBytes >= UInt64(8 * table.count))
    #expect(try part("links to \(name)", report).entries > 0)
  }

  private func part(_ name: String, _ report: SpaceReport) throws -> SpaceReport.Part {
    try #require(report.parts.first { "\($0.part)" == name }, "\(name)")
  }
}
