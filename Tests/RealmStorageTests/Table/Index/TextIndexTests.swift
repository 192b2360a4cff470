import RealmTestSupport
import Testing

@testable import RealmStorage

/// Indexes of texts, whose entries are made of many rows at once.
@Suite struct TextIndexTests {
  private static let schema = TableSchema(
    "Thing",
    columns: [
      Column("id", .int64, index: .unique), Column("kind", .string, isOptional: true, index: .plain),
      Column("word", .string, index: .plain),
    ])

  private struct Row {
    var id: Int64
    var kind: Value
    var word: Value
  }

  /// A few values, so that they repeat: null, the empty text, texts with zeros, texts near the limit for indexes, and
  /// texts too long for a piece.
  private static let kinds: [Value] = [
    .null, .string(""), .string("a"), .string("a\0b"), .string("\0"), .string("abcdefghi"),
    .string(String(repeating: "k", count: 247)), .string(String(repeating: "k", count: 248)),
    .string(String(repeating: "k", count: 249)), .string(String(repeating: "long", count: 1_500)),
    .string(String(repeating: "very long", count: 7_500)),
  ]

  /// The rows that the table finds for a value.
  private static func rows(_ table: Table, _ column: Int, _ value: Value) throws -> [UInt64] {
    try table.rows(where: .compare(ColumnPath(column), .equal, value))
  }

  private static func expect(_ table: Table, _ model: [UInt64: Row], _ seed: UInt64) throws {
    #expect(table.count == model.count, "seed \(seed)")
    for kind in kinds {
      let found = try rows(table, 1, kind)
      #expect(found.sorted() == model.filter { $0.value.kind == kind }.keys.sorted(), "seed \(seed)")
    }
    for (row, values) in model.shuffled().prefix(3) {
      #expect(try rows(table, 2, values.word).contains(row), "seed \(seed)")
    }
  }

  @Test(arguments: 0..<6 as Range<UInt64>, [nil, Keys.first])
  func `rows are found by their texts in the transaction that adds them and later`(
    seed: UInt64, key: [UInt8]?
  ) throws {
    var generator = SeededGenerator(seed: seed)
    var options = Database.Options(encryptionKey: key)
    // The clusters are full after few rows in some runs, and seldom full in others.
    options.clusterRows = [8, 32, 512][Int(seed) % 3]
    let database = try Database(creatingIn: SimulatedDisk(), options: options)
    try database.write { _ = try $0.createTable(Self.schema) }
    // With even seeds the longest texts, which can't have codes, are left out, so that clusters have codes.
    let kinds = seed % 2 == 0 ? Array(Self.kinds.dropLast(2)) : Self.kinds
    var model: [UInt64: Row] = [:]
    for _ in 0..<12 {
      let before = model
      let isKept = generator.chance(75)
      do {
        try database.write { transaction in
          let table = try #require(try transaction.table("Thing"))
          for _ in 0..<1 + generator.below(60) {
            let row = Row(
              id: Int64(generator.below(100_000)), kind: kinds[generator.below(kinds.count)],
              word: .string("w\(generator.below(generator.chance(50) ? 5 : 100_000))"))
            switch generator.below(20) {
            case 0:
              try Self.expect(try table.reading(), model, seed)
            case 1 where !model.isEmpty:
              let key = model.keys.sorted()[generator.below(model.count)]
              try table.set(row.kind, "kind", ofRow: key)
              model[key]?.kind = row.kind
            case 2 where !model.isEmpty:
              let key = model.keys.sorted()[generator.below(model.count)]
              #expect(try table.remove([key]) == 1)
              model[key] = nil
            default:
              // A refused row with the id of an existing row leaves nothing behind.
              let isThere = model.values.contains { $0.id == row.id } || generator.chance(5)
              let id = isThere ? (model.values.first?.id ?? row.id) : row.id
              let isTaken = model.values.contains { $0.id == id }
              do {
                let key = try table.insert(["id": .int(id), "kind": row.kind, "word": row.word])
                #expect(!isTaken, "seed \(seed)")
                model[key] = Row(id: id, kind: row.kind, word: row.word)
              } catch StorageError.duplicateKey {
                #expect(isTaken, "seed \(seed)")
              }
            }
          }
          if !isKept { throw Cancelled() }
        }
      } catch is Cancelled {
        model = before
      }
      let snapshot = try database.snapshot()
      #expect(IntegrityCheck.run(snapshot).findings == [], "seed \(seed)")
      try Self.expect(try #require(try snapshot.table("Thing")), model, seed)
    }
  }

  private struct Cancelled: Error {}

  @Test func `a text and its UTF-8 bytes give the same index key`() {
    for isOptional in [false, true] {
      let column = Column("text", .string, isOptional: isOptional, index: .plain)
      for length in [0, 1, 7, 8, 9, 123, 124, 125, 246, 247, 248, 249, 500] {
        for zeros in [0, 1, 2, length] where zeros <= length {
          let text =
            String(repeating: "a", count: length - zeros) + String(repeating: "\0", count: zeros)
          var encoded: [UInt8] = []
          let bytes = Array(text.utf8)
          IndexKey.append(text: bytes.span.bytes, of: column, to: &encoded)
          #expect(encoded == IndexKey.encode(.string(text), of: column))
          // The expected bytes: each zero takes two bytes, and a longer key is cut at the limit and ends with ff.
          let plain: [UInt8] =
            (isOptional ? [1] : [])
            + bytes.flatMap { (byte: UInt8) -> [UInt8] in byte == 0 ? [0, 0xff] : [byte] }
          let most = IndexKey.maximumText + (isOptional ? 1 : 0)
          #expect(encoded == (plain.count < most ? plain + [0, 0] : Array(plain.prefix(most)) + [0xff]))
        }
      }
    }
  }
}
