import RealmInterchange
import RealmStorage
import RealmTestSupport
import Testing

/// Databases that are written as lines, and made again from those lines.
@Suite struct WholeDatabaseTests {
  @Test(arguments: Slow.seeds(24, slow: 1500))
  func `a database made from the lines of a random one is equal to it`(seed: UInt64) throws {
    let original = try RandomDatabase.make(seed: seed).snapshot()
    let lines = try RandomDatabase.lines(of: original)
    let database = try Database(inMemory: "again")
    let read = try RandomDatabase.read(lines, into: database)
    #expect(read.problems.map(\.description) == [], "seed \(seed)")
    let copy = try database.snapshot()
    let rows = try original.tables().filter { !$0.schema.isEmbedded }.reduce(0) { $0 + $1.count }
    let entries = try original.treeNames().reduce(0) { try $0 + original.tree($1).count() }
    #expect(read.objects == rows, "seed \(seed)")
    #expect(read.entries == entries, "seed \(seed)")
    let differences = try RandomDatabase.differences(from: original, to: copy)
    #expect(differences == [], "seed \(seed)")
    let versions = (try original.schemaVersion(), try copy.schemaVersion())
    #expect(versions.0 == versions.1, "seed \(seed)")
    #expect(IntegrityCheck.run(copy).isClean, "seed \(seed)")
  }

  @Test(arguments: Slow.seeds(8, slow: 300))
  func `the lines of a copy are the lines of its original`(seed: UInt64) throws {
    let original = try RandomDatabase.make(seed: 1000 + seed, rows: 6).snapshot()
    let database = try Database(inMemory: "again")
    let lines = try RandomDatabase.lines(of: original)
    try RandomDatabase.read(lines, into: database)
    let again = try RandomDatabase.lines(of: try database.snapshot())
    // Objects of tables without a primary key have the keys of their rows, which are the same as long as no row was
    // removed.
    #expect(again.count == lines.count, "seed \(seed)")
    for (one, other) in zip(lines, again) where one != other {
      let node = try JSONParser.value(of: one)
      // Links in sets are in the order of their rows, which changes if rows before them were removed.
      guard node["object"] != nil else {
        #expect(one == other, "seed \(seed)")
        continue
      }
      #expect(one.sorted() == other.sorted(), "seed \(seed): \(String(decoding: one, as: UTF8.self))")
    }
  }

  @Test(arguments: Slow.seeds(6, slow: 200))
  func `lines with their objects in another order make the same database`(seed: UInt64) throws {
    // Rows without a primary key would get other keys, and links to them are compared by these keys.
    let original = try RandomDatabase.make(seed: 2000 + seed, isKeyed: true).snapshot()
    let lines = try RandomDatabase.lines(of: original)
    let head = try ObjectLines(original).head().count
    var generator = SeededGenerator(seed: seed)
    let shuffled = lines[..<head] + lines[head...].shuffled(using: &generator)
    let database = try Database(inMemory: "shuffled")
    let read = try RandomDatabase.read(Array(shuffled), into: database)
    #expect(read.problems.map(\.description) == [], "seed \(seed)")
    let differences = try RandomDatabase.differences(from: original, to: try database.snapshot())
    #expect(differences == [], "seed \(seed)")
  }

  @Test(arguments: Slow.seeds(4, slow: 100))
  func `lines that are read again over their own objects change nothing`(seed: UInt64) throws {
    let original = try RandomDatabase.make(seed: 3000 + seed, isKeyed: true).snapshot()
    let lines = try RandomDatabase.lines(of: original)
    let database = try Database(inMemory: "twice")
    try RandomDatabase.read(lines, into: database)
    let before = try database.snapshot()
    let read = try RandomDatabase.read(lines, into: database, isNew: false, duplicates: .replace)
    #expect(read.problems.map(\.description) == [], "seed \(seed)")
    let after = try database.snapshot()
    let differences = try RandomDatabase.differences(from: before, to: after)
    #expect(differences == [], "seed \(seed)")
    #expect(IntegrityCheck.run(after).isClean, "seed \(seed)")
    let again = try RandomDatabase.read(lines, into: database, isNew: false)
    let objects = try before.tables().filter { !$0.schema.isEmbedded }.reduce(0) { $0 + $1.count }
    #expect(again.problems.count == objects, "seed \(seed)")
    #expect(again.problems.allSatisfy { $0.reason.contains("primary key of another object") })
    let unchanged = try RandomDatabase.differences(from: after, to: try database.snapshot())
    #expect(unchanged == [], "seed \(seed)")
  }

  /// Each of two tables has a ring of rows, one with a primary key and one without. Rows before the rings were removed.
  @Test func `rings of links and links to rows without a primary key lead to the same objects`() throws {
    let database = try Database(inMemory: "rings")
    try database.write { transaction in
      for (name, key) in [("Keyed", true), ("Free", false)] {
        let table = try transaction.createTable(
          TableSchema(
            name,
            columns: [
              Column("name", .string, index: key ? .unique : .none), Column("next", .link),
              Column("all", .link, collection: .set), Column("any", .mixed, collection: .list),
            ]))
        let gone = try (0..<5).map { try table.insert(["name": .string("gone \($0)")]) }
        let rows = try (0..<7).map { try table.insert(["name": .string("row \($0)")]) }
        try table.remove(gone)
        for (place, row) in rows.enumerated() {
          let next = rows[(place + 1) % rows.count]
          try table.set(.link(next), "next", ofRow: row)
          try table.set(.set([.link(row), .link(next)]), "all", ofRow: row)
          try table.set(.list([.typedLink(table: table.schema.id, row: next)]), "any", ofRow: row)
        }
      }
    }
    let lines = try RandomDatabase.lines(of: try database.snapshot())
    let copy = try Database(inMemory: "copy")
    let read = try RandomDatabase.read(lines, into: copy)
    #expect(read.problems.map(\.description) == [])
    let snapshot = try copy.snapshot()
    #expect(IntegrityCheck.run(snapshot).isClean)
    for name in ["Keyed", "Free"] {
      let table = try #require(try snapshot.table(name))
      #expect(table.count == 7)
      let keys = try (0..<7).map { try table.key(at: $0) }
      for (place, key) in keys.enumerated() {
        let next = keys[(place + 1) % 7]
        let values = try table.values(ofRow: key)
        #expect(
          values == [
            .string("row \(place)"), .link(next), .set([.link(key), .link(next)]),
            .list([.typedLink(table: table.schema.id, row: next)]),
          ], "\(name), \(place)")
      }
    }
  }

  @Test func `lines for people have the table, the key of the row and the object`() throws {
    let database = try Database(inMemory: "people")
    let row = try database.write { transaction in
      try transaction.createTable(TableSchema("T", columns: [Column("a", .int64)])).insert(["a": .int(5)])
    }
    let snapshot = try database.snapshot()
    let table = try #require(try snapshot.table("T"))
    var lines: [String] = []
    try ObjectLines(snapshot).forEachText(of: table) {
      lines.append(String(decoding: $0, as: UTF8.self))
      return true
    }
    #expect(lines == ["T\t\(row)\t{\"a\":5}"])
  }

  @Test func `no line is written after the receiver of lines has asked to stop`() throws {
    let database = try Database(inMemory: "ten")
    try database.write { transaction in
      let table = try transaction.createTable(TableSchema("T", columns: [Column("a", .int64)]))
      for number in 0..<10 { try table.insert(["a": .int(Int64(number))]) }
    }
    let snapshot = try database.snapshot()
    let table = try #require(try snapshot.table("T"))
    let keys = try [7, 2, 5].map { try table.key(at: $0) }
    var lines: [String] = []
    let put = { (bytes: [UInt8]) in
      lines.append(String(decoding: bytes, as: UTF8.self))
      return lines.count % 3 != 0
    }
    try ObjectLines(snapshot).forEachPlainObject(of: table, put)
    try ObjectLines(snapshot).forEachPlainObject(of: table, rows: keys + keys, put)
    #expect(lines == [0, 1, 2, 7, 2, 5].map { #"{"a":\#($0)}"# })
  }
}
