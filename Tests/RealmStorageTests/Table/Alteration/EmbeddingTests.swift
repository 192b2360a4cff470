import RealmTestSupport
import Testing

@testable import RealmStorage

/// Tables whose rows become embedded rows, each with one owner.
@Suite struct EmbeddingTests {
  /// Makes a table of owners with a part, a list of parts and a map of parts. Each part has an embedded leaf of its
  /// own.
  private func make(
    _ body: (WriteTransaction, _ owners: WritableTable, _ parts: WritableTable) throws -> Void
  )
    throws -> Database
  {
    let database = try Database(creatingIn: SimulatedDisk())
    try database.write { transaction in
      let leaves = try transaction.createTable(
        TableSchema("Leaf", isEmbedded: true, columns: [Column("name", .string)]))
      let parts = try transaction.createTable(
        TableSchema(
          "Part",
          columns: [
            Column("name", .string), Column("leaf", .link, target: leaves.schema.id), Column("any", .mixed),
          ]))
      let owners = try transaction.createTable(
        TableSchema(
          "Owner",
          columns: [
            Column("part", .link, target: parts.schema.id),
            Column("list", .link, collection: .list, target: parts.schema.id),
            Column("map", .link, collection: .map, target: parts.schema.id), Column("any", .mixed),
          ]))
      try body(transaction, owners, parts)
    }
    return database
  }

  private func part(_ name: String, _ parts: WritableTable, _ transaction: WriteTransaction) throws -> UInt64
  {
    let leaf = try #require(try transaction.table("Leaf")).insert(["name": .string("leaf of \(name)")])
    return try parts.insert([
      "name": .string(name), "leaf": .link(leaf), "any": .list([.list([.string(name)]), .int(1)]),
    ])
  }

  private func embed(_ database: Database) throws {
    try database.write { transaction in try #require(try transaction.table("Part")).setEmbedded(true) }
    let snapshot = try database.snapshot()
    #expect(IntegrityCheck.run(snapshot).findings == [])
  }

  /// The names of the parts by their rows. The leaf of each part must have the matching name.
  private func names(_ snapshot: Snapshot) throws -> [UInt64: String] {
    let (parts, leaves) = (try #require(try snapshot.table("Part")), try #require(try snapshot.table("Leaf")))
    var names: [UInt64: String] = [:]
    var rows: [(key: UInt64, values: [Value])] = []
    try parts.forEach { key, values in
      rows.append((key, values))
      return true
    }
    for (key, values) in rows {
      guard case .string(let name) = values[0], case .link(let leaf) = values[1] else { continue }
      let leafName = try leaves.value(leaves.schema.columns[0], ofRow: leaf)
      #expect(leafName == .string("leaf of \(name)"))
      #expect(values[2] == .list([.list([.string(name)]), .int(1)]))
      names[key] = name
    }
    #expect(leaves.count == parts.count)
    return names
  }

  @Test
  func `rows without a link to them are removed with the rows they own when their table becomes embedded`()
    throws
  {
    let database = try make { transaction, owners, parts in
      let kept = try part("kept", parts, transaction)
      _ = try part("lost", parts, transaction)
      try owners.insert(["part": .link(kept)])
    }
    try embed(database)
    #expect(try names(database.snapshot()).values.sorted() == ["kept"])
  }

  @Test func `if several links lead to a row that becomes embedded, each link gets its own copy`() throws {
    let database = try make { transaction, owners, parts in
      let (a, b) = (try part("a", parts, transaction), try part("b", parts, transaction))
      try owners.insert(["part": .link(a), "list": .list([.link(a), .link(b), .link(a)])])
      try owners.insert([
        "map": .map(ValueMap(["x": .link(b), "y": .link(a), "z": .null])), "list": .list([.link(b)]),
      ])
    }
    try embed(database)
    let snapshot = try database.snapshot()
    let names = try names(snapshot)
    #expect(names.values.sorted() == ["a", "a", "a", "a", "b", "b", "b"])
    let owners = try #require(try snapshot.table("Owner"))
    var found: [[String]] = []
    var linked: [UInt64] = []
    try owners.forEach { _, values in
      for value in values.prefix(3) {
        let rows = value.linkTargets(of: owners.schema.columns[0]).map(\.row)
        linked += rows
        found.append(rows.map { names[$0] ?? "" })
      }
      return true
    }
    #expect(found == [["a"], ["a", "b", "a"], [], [], ["b"], ["b", "a"]])
    #expect(Set(linked).count == linked.count)
  }

  @Test func `links in mixed values to rows that become embedded become null`() throws {
    let database = try make { transaction, owners, parts in
      let a = try part("a", parts, transaction)
      let link = Value.typedLink(table: parts.schema.id, row: a)
      try owners.insert(["part": .link(a), "any": link])
      try owners.insert(["any": .list([link, .int(5), link])])
    }
    try embed(database)
    let owners = try #require(try database.snapshot().table("Owner"))
    #expect(try owners.value(owners.schema.columns[3], ofRow: 0) == .null)
    #expect(try owners.value(owners.schema.columns[3], ofRow: 1) == .list([.null, .int(5), .null]))
    #expect(try names(database.snapshot()).count == 1)
  }

  @Test func `embedded rows become ordinary rows again`() throws {
    let database = try make { transaction, owners, parts in
      try owners.insert(["part": .link(try part("a", parts, transaction))])
    }
    try embed(database)
    try database.write { transaction in try #require(try transaction.table("Part")).setEmbedded(false) }
    _ = try database.write { transaction in
      try #require(try transaction.table("Owner")).set(.null, "part", ofRow: 0)
    }
    #expect(try names(database.snapshot()).count == 1)
    #expect(IntegrityCheck.run(try database.snapshot()).findings == [])
  }
}
