import Foundation
import RealmTestSupport
import Testing

@testable import RealmStorage

/// Salvages damaged files into new files, and compares each new file with what reading the damaged file row by row and
/// value by value finds.
///
/// `REALM_SALVAGE=slow` damages 1,000 copies.
@Suite struct SalvageCopyTests {
  private static let isSlow = ProcessInfo.processInfo.environment["REALM_SALVAGE"] == "slow"
  private static let copies = isSlow ? 500 : 25

  @Test(arguments: [nil, GoldenFile.key])
  func `the new file holds exactly the content that stands on sound nodes`(key: [UInt8]?) throws {
    let whole = try GoldenStructures.bytes(key: key, isClean: true)
    let nodes = try Self.nodes(of: whole, key)
    var generator = SeededGenerator(seed: 3)
    var (read, incomplete) = (0, 0)
    for copy in 0..<Self.copies {
      var bytes = whole
      for _ in 0...generator.below(3) {
        let node = nodes[generator.below(nodes.count)]
        let place = Int(node.offset) + (key == nil ? 0 : 24) + generator.below(node.length)
        bytes[place] ^= UInt8(1 + generator.below(255))
      }
      let storage = try ByteStorage()
      storage.fill(bytes)
      let source: any NodeReader
      let database = try? Database(storage: storage, options: .init(encryptionKey: key))
      if let database {
        source = try database.snapshot()
      } else {
        guard let newest = try Self.newest(bytes, key) else { continue }
        source = newest
      }
      let target = try Database(inMemory: "salvaged")
      let report = try SalvageCopy.run(source, to: target)
      let found = try target.snapshot()
      #expect(IntegrityCheck.run(found).findings.isEmpty, "copy \(copy)")
      #expect(try found.tables().reduce(0) { $0 + Int($1.count) } == report.rows, "copy \(copy)")
      incomplete += report.isComplete ? 0 : 1
      // If the schemas of the damaged file can't be read, there is nothing to compare with.
      guard let damaged = source as? Snapshot, (try? damaged.schemas()) != nil else { continue }
      read += 1
      let expected = try SalvageOracle(damaged).content()
      let content = try SalvageOracle(found).content()
      try #require(Set(content.keys) == Set(expected.keys), "copy \(copy)")
      for (table, rows) in expected { try #require(content[table] == rows, "copy \(copy), table \(table)") }
    }
    #expect(read > Self.copies / 2 && incomplete > Self.copies / 2)
  }

  @Test(arguments: [nil, GoldenFile.key]) func `a sound file is salvaged whole`(key: [UInt8]?) throws {
    try withTemporaryPath { path in
      let bytes = try GoldenStructures.bytes(key: key, isClean: false)
      try Data(bytes).write(to: URL(filePath: path))
      let database = try Database(path: path, options: .init(encryptionKey: key))
      let target = path + ".new"
      let report = try SalvageCopy.write(
        try database.snapshot(), from: path, to: target, encryptionKey: Keys.second)
      #expect(report.isComplete && report.losses.isEmpty)
      let made = try Database(path: target, options: .init(encryptionKey: Keys.second)).snapshot()
      let (before, after) = (try SalvageOracle(database.snapshot()), try SalvageOracle(made))
      #expect(try before.content() == after.content())
      #expect(try made.treeNames() == database.snapshot().treeNames())
      for name in try made.treeNames() {
        let (old, new) = (try database.snapshot().tree(name), try made.tree(name))
        #expect(try old.count() == new.count())
        try old.forEach { (key, value) throws(StorageError) in
          #expect(try new.value(for: key) == value)
          return true
        }
      }
      #expect(throws: StorageError.self) {
        try SalvageCopy.write(try database.snapshot(), from: path, to: target, encryptionKey: nil)
      }
    }
  }

  @Test func `embedded rows that own each other in a ring have no owner and are left out`() throws {
    let database = try Database(inMemory: "ring")
    try database.write { transaction in
      let parts = try transaction.createTable(
        TableSchema("Part", isEmbedded: true, columns: [Column("number", .int64), Column("next", .link)]))
      let owners = try transaction.createTable(
        TableSchema("Owner", columns: [Column("part", .link, target: parts.schema.id)]))
      let rows = try (0..<1000).map { try parts.insert(["number": .int(Int64($0))]) }
      // An object owns a chain of 500 rows, and 500 other rows form a ring.
      for (row, next) in zip(rows, rows.dropFirst()) where row != rows[499] {
        try parts.set(.link(next), "next", ofRow: row)
      }
      try owners.insert(["part": .link(rows[0])])
      try parts.set(.link(rows[500]), "next", ofRow: rows[999])
    }
    let target = try Database(inMemory: "salvaged")
    let report = try SalvageCopy.run(try database.snapshot(), to: target)
    #expect(report.losses.isEmpty && report.rows == 501)
    #expect(
      report.consequences == [.links(table: "Part", column: "next"): 1, .parts(table: "Part"): 1])
    #expect(IntegrityCheck.run(try target.snapshot()).findings.isEmpty)
  }

  @Test
  func `a named tree that is left out is absent, and trees whose names begin with its name are present`()
    throws
  {
    let database = try Database(inMemory: "trees")
    try database.write { transaction in
      for name in ["sync.client", "sync.mine"] { try transaction.tree(name).set([1], for: [2]) }
    }
    let target = try Database(inMemory: "salvaged")
    _ = try SalvageCopy.run(try database.snapshot(), to: target, leavingOut: ["sync.client"])
    #expect(try target.snapshot().treeNames() == ["sync.mine"])
  }

  // MARK: - Damage

  private static func nodes(of bytes: [UInt8], _ key: [UInt8]?) throws -> [Ref] {
    let storage = try ByteStorage()
    storage.fill(bytes)
    return try Database(storage: storage, options: .init(encryptionKey: key)).snapshot().nodes()
  }

  private static func newest(_ bytes: [UInt8], _ key: [UInt8]?) throws -> (any NodeReader)? {
    var found: (any NodeReader)?
    try withTemporaryPath { path in
      try Data(bytes).write(to: URL(filePath: path))
      found = try? NewestVersion.open(path: path, key: key)
    }
    return found
  }
}

/// The readable content of a version, found row by row and value by value. Links name rows by their places among the
/// readable rows.
private struct SalvageOracle {
  private let schemas: [TableSchema]
  /// The tables whose root can be read.
  private var tables: [Table] = []
  /// The rows that are kept, by the ids of their tables.
  private var kept: [UInt32: [UInt64]] = [:]

  init(_ snapshot: Snapshot) throws {
    schemas = try snapshot.schemas()
    tables = schemas.compactMap { (try? snapshot.table($0.name)) ?? nil }
    for table in tables where !table.schema.isEmbedded { kept[table.schema.id] = Self.rows(of: table) }
    for table in tables where !table.schema.isEmbedded {
      for row in kept[table.schema.id] ?? [] { keepParts(of: row, table) }
    }
    for id in kept.keys { kept[id]?.sort() }
  }

  /// The rows that exist and whose primary key, if there is one, can be read. The test for existence does not need the
  /// values of a row.
  private static func rows(of table: Table) -> [UInt64] {
    (0..<4096 as Range<UInt64>).filter { row in
      guard (try? table.contains(row)) ?? false else { return false }
      guard let key = table.schema.primaryKey else { return true }
      return ((try? table.value(key, ofRow: row)) ?? nil) != nil
    }
  }

  private mutating func keepParts(of row: UInt64, _ table: Table) {
    for column in table.schema.properties where column.type == .link {
      guard let target = tables.first(where: { $0.schema.id == column.target }), target.schema.isEmbedded,
        let value = (try? table.value(column, ofRow: row)) ?? nil
      else { continue }
      for link in value.linkTargets(of: column) {
        guard (try? target.contains(link.row)) ?? false else { continue }
        kept[target.schema.id, default: []].append(link.row)
        keepParts(of: link.row, target)
      }
    }
  }

  /// The texts of the rows of each table.
  func content() throws -> [String: [String]] {
    var content: [String: [String]] = [:]
    for schema in schemas { content[schema.name] = [] }
    for table in tables {
      content[table.schema.name] = (kept[table.schema.id] ?? []).map { row in
        table.schema.properties.map { column in
          let value = (try? table.value(column, ofRow: row)) ?? nil
          return "\(column.name): \(value.map { text($0, column) } ?? text(Self.lost(column), column))"
        }.joined(separator: "; ")
      }
    }
    return content
  }

  private static func lost(_ column: Column) -> Value {
    switch column.collection {
    case .list, .set: .list([])
    case .map: .map(ValueMap())
    case .none: column.isOptional || column.canLink ? .null : column.storedDefault ?? column.type.zero
    }
  }

  private func text(_ value: Value, _ column: Column) -> String {
    switch value {
    case .link(let row): place(row, column.target) ?? "null"
    case .typedLink(let table, let row): place(row, table) ?? "null"
    case .list(let elements, _):
      "["
        + elements.map { text($0, column) }.filter { column.type != .link || $0 != "null" }
        .joined(separator: ",") + "]"
    case .map(let map, _):
      "{" + zip(map.keys, map.values).map { "\($0): \(text($1, column))" }.joined(separator: ",") + "}"
    case .null: "null"
    default: "\(value)"
    }
  }

  private func place(_ row: UInt64, _ id: UInt32) -> String? {
    guard let table = tables.first(where: { $0.schema.id == id }), let place = kept[id]?.firstIndex(of: row)
    else { return nil }
    return "\(table.schema.name) #\(place)"
  }
}
