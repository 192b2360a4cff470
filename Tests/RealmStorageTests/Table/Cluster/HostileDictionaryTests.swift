import RealmTestSupport
import Testing

@testable import RealmStorage

/// Dictionaries and codes that the engine never writes. Reading them throws an error that says so, and the check names
/// the column.
@Suite struct HostileDictionaryTests {
  private static let column = "city"

  /// A table of 32 rows in two clusters of codes. `forge` returns another root for its dictionary.
  private func made(_ forge: (Ref, NodeEditor) throws -> Ref) throws -> Database {
    var options = Database.Options()
    options.clusterRows = 16
    let database = try Database(creatingIn: MemoryStorage(name: "hostile"), options: options)
    let transaction = try database.beginWrite()
    let table = try transaction.createTable(
      TableSchema("Person", columns: [Column(Self.column, .string), Column("age", .int64)]))
    for number in 0..<32 { try table.insert([Self.column: .string("city \(number % 4)")]) }
    let writer = try #require(try transaction.tables().writer("Person"))
    let root = try writer.flushed()
    let column = try #require(writer.schema.column(Self.column))
    let id = column.id
    try #require(!root.dictionaries[id].isNull)
    try writer.dictionaries.writer(of: column).root = forge(root.dictionaries[id], transaction.editor)
    try transaction.commit()
    return database
  }

  private func piece(_ values: [String?], _ editor: NodeEditor) throws -> Ref {
    var buffer = PieceBuffer()
    for value in values {
      if let value { try buffer.append(value, editor: editor) } else { buffer.appendNull() }
    }
    return buffer.makePieces(from: 0, editor: editor)[0].ref
  }

  /// Reads and changes the column in every possible way. Returns the findings of the calls that threw.
  private func findings(_ database: Database) throws -> [Corruption.Finding] {
    let table = try #require(try database.snapshot().table("Person"))
    let column = try #require(table.schema.column(Self.column))
    let reads: [() throws -> Void] = [
      { for key in UInt64(0)..<32 { _ = try table.value(column, ofRow: key) } },
      { try table.forEach { _, _ in true } },
      {
        try table.forEachGroup { (group) throws(StorageError) in
          let texts = try group.texts(0, from: 0)
          for row in 0..<group.count { _ = try texts.bytes(row).byteCount }
          return true
        }
      },
      { try database.write { _ = try $0.table("Person")?.set(.string("new"), Self.column, ofRow: 3) } },
    ]
    return try reads.compactMap { read in
      do {
        try read()
        return nil
      } catch StorageError.corrupted(let corruption, _) {
        return corruption.finding
      }
    }
  }

  private func expectNamed(_ database: Database) throws {
    let report = try IntegrityCheck.run(database.snapshot())
    try #require(!report.findings.isEmpty)
    #expect("\(report.findings[0])".contains("column Person.city"), "\(report.findings[0])")
  }

  @Test func `a code that the dictionary lacks is damage`() throws {
    let database = try made { _, editor in try piece(["one", "two"], editor) }
    #expect(try findings(database) == [.code, .code, .code, .code])
    try expectNamed(database)
  }

  @Test func `codes without a dictionary are damage`() throws {
    let database = try made { _, _ in .null }
    #expect(try findings(database).prefix(3) == [.code, .code, .code])
    try expectNamed(database)
  }

  @Test func `a null in a dictionary is damage`() throws {
    let database = try made { _, editor in try piece(["one", nil, "two", "three"], editor) }
    #expect(try findings(database).prefix(3) == [.structure, .structure, .structure])
    try expectNamed(database)
  }

  @Test func `two codes for the same value are damage`() throws {
    try expectNamed(try made { _, editor in try piece(["one", "two", "one", "three"], editor) })
  }

  @Test func `a value in a dictionary of texts that is not text is damage`() throws {
    let database = try made { _, editor in
      var buffer = PieceBuffer()
      for value: [UInt8] in [[0xff], [1], [2], [3]] { try buffer.append(value.span.bytes, editor: editor) }
      return buffer.makePieces(from: 0, editor: editor)[0].ref
    }
    #expect(try findings(database).prefix(2) == [.structure, .structure])
    try expectNamed(database)
  }

  @Test func `a dictionary whose root is another kind of node is damage`() throws {
    let database = try made { _, editor in
      let arena = editor.arena
      let node = arena.make(kind: .chunk, level: 0, refCount: 0, bodyLength: 8)
      node.store(UInt64(0), at: 0)
      return node.ref
    }
    #expect(try findings(database).prefix(3) == [.structure, .structure, .structure])
    try expectNamed(database)
  }

  @Test(arguments: [[0, 3], [0, 1], [1, 2], [0, 70]], [[2, 2], [1, 3], [2, 1 << 20]])
  func `dictionary branches with wrong counts or keys end in an error`(
    leastKeys: [UInt64], rows: [UInt64]
  ) throws {
    let database = try made { _, editor in
      let leaves = [try piece(["one", "two"], editor), try piece(["three", "four"], editor)]
      let arena = editor.arena
      let node = arena.make(kind: .keyedBranch, level: 1, refCount: 2, bodyLength: 32)
      for (index, leaf) in leaves.enumerated() {
        node.setRef(index, to: leaf)
        node.store(leastKeys[index], at: 8 * index)
        node.store(rows[index], at: 8 * (2 + index))
      }
      return node.ref
    }
    // A change may replace the branch by a correct one, so the check runs first.
    try expectNamed(database)
    _ = try findings(database)
  }

  @Test func `a dictionary of a column without codes is damage`() throws {
    let database = try made { root, _ in root }
    let transaction = try database.beginWrite()
    let writer = try #require(try transaction.tables().writer("Person"))
    _ = try writer.flushed()
    let age = try #require(writer.schema.column("age"))
    try writer.dictionaries.writer(of: age).root = piece(["one"], transaction.editor)
    try transaction.commit()
    let report = try IntegrityCheck.run(database.snapshot())
    #expect("\(report.findings)".contains("table of table Person"), "\(report.findings)")
  }
}
