import RealmTestSupport
import Testing

@testable import RealmStorage

/// Differences between two versions are applied to another file.
@Suite struct AppliedDiffTests {
  /// The differences between successive versions of a file make the same versions in another file. They are undone
  /// there and applied again.
  @Test(arguments: Slow.seeds(9, slow: 200), [nil, Keys.first])
  func `a file to which all differences of another file are applied equals that file`(
    seed: UInt64, key: [UInt8]?
  ) throws {
    var generator = SeededGenerator(seed: seed)
    let source = try database(seed, key: key)
    let copy = try database(seed + 1, key: nil)
    var model = TableModel()
    var last = try source.snapshot()
    for round in 0..<6 {
      try source.write { transaction in
        if round == 0 {
          let columns = [TableModel.ofEachType, TableModel.few, TableModel.everything][Int(seed % 3)]
          try transaction.createTable(TableSchema(TableModel.name, columns: columns))
          let part = try transaction.createTable(
            TableSchema("Part", isEmbedded: true, columns: [Column("n", .int64)]))
          let owner = try transaction.createTable(
            TableSchema("Owner", columns: [Column("parts", .link, collection: .list, target: part.schema.id)])
          )
          for _ in 0..<10 { try owner.insert([:]) }
        }
        let table = try #require(try transaction.table(TableModel.name))
        for _ in 0..<generator.below(round == 0 ? 150 : 50) {
          #expect(try model.change(table, &generator) == nil)
        }
        try changeParts(transaction, &generator)
        if round == 3 { try table.addColumn(Column("later", .string, isOptional: true)) }
        if round == 3 { for row in model.rows.keys { model.rows[row]?["later"] = .null } }
      }
      let new = try source.snapshot()
      let changes = try new.rowChanges(since: last)
      let context = "seed \(seed), round \(round)"
      try copy.write { try $0.apply(changes.map(\.change)) }
      try expectSame(copy, new, context)
      try copy.write { try $0.apply(changes.reversed().compactMap(\.inverse)) }
      if round != 0, round != 3 { try expectSame(copy, last, "\(context), undone") }
      let rest = changes.filter { ![.createTable, .addColumn].contains($0.change.name) }
      try copy.write { try $0.apply(rest.map(\.change)) }
      try expectSame(copy, new, "\(context), again")
      last = new
    }
  }

  private func database(_ seed: UInt64, key: [UInt8]?) throws -> Database {
    var options = Database.Options(encryptionKey: key)
    options.clusterRows = [512, 8, 40][Int(seed % 3)]
    return try Database(creatingIn: SimulatedDisk(), options: options)
  }

  /// Inserts, removes and changes parts, each with one owner.
  private func changeParts(_ transaction: WriteTransaction, _ generator: inout SeededGenerator) throws {
    let owners = try #require(try transaction.table("Owner"))
    let parts = try #require(try transaction.table("Part"))
    for _ in 0..<generator.below(20) {
      let owner = UInt64(generator.below(10))
      let count = try owners.listCount(0, ofRow: owner) ?? 0
      let place = generator.below(count + 1)
      if place == count || generator.chance(50) {
        let part = try parts.insert(["n": .int(Int64(generator.below(100)))])
        try owners.insert([.link(part)], at: place, ofList: 0, ofRow: owner)
      } else if case .link(let part)? = try owners.element(at: place, ofList: 0, ofRow: owner),
        generator.chance(50)
      {
        try parts.set(.int(-1), "n", ofRow: part)
      } else {
        try owners.removeElements(place..<place + 1, ofList: 0, ofRow: owner)
      }
    }
  }

  private func expectSame(_ database: Database, _ version: Snapshot, _ context: String) throws {
    let snapshot = try database.snapshot()
    let (found, expected) = (try RowReplay(snapshot), try RowReplay(version))
    #expect(found == expected, "\(context)")
    #expect(IntegrityCheck.run(snapshot).findings.isEmpty, "\(context)")
  }
}
