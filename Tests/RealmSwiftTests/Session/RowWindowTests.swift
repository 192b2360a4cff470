import RealmStorage
import RealmTestSupport
import Testing

@testable import RealmSwift

/// Tests that compare values read through a window with values read from the table.
@Suite struct RowWindowTests {
  private static let schema = TableSchema(
    "Row",
    columns: [
      Column("number", .int64), Column("maybe", .int64, isOptional: true), Column("real", .double),
      Column("maybeReal", .double, isOptional: true), Column("text", .string),
      Column("maybeText", .string, isOptional: true), Column("few", .string), Column("long", .string),
      Column("short", .string),
    ])

  /// Adds rows, of which the third in each thousand has a long text, and removes some of them.
  private func fill(_ database: Database, count: Int, removing: Int, _ random: inout SeededGenerator) throws {
    try database.write { transaction in
      let table = try transaction.createTable(Self.schema)
      var keys: [UInt64] = []
      for index in 0..<count {
        let isNull = Int.random(in: 0..<4, using: &random) == 0
        let long = String(repeating: "long", count: index % 1_000 == 3 ? 5_000 : index % 40)
        keys.append(
          try table.insert([
            "number": .int(.random(in: .min ... .max, using: &random)),
            "maybe": isNull ? .null : .int(Int64(index % 30_000)), "real": .double(Double(index) / 3),
            "maybeReal": isNull ? .double(.nan) : .null, "text": .string("text of row \(index) – ü"),
            "maybeText": isNull ? .null : .string("\(index)"), "few": .string("one of \(index % 3)"),
            "long": .string(long), "short": .string("\(index)ü".prefix(index % 5 + 3).description),
          ]))
      }
      for key in keys where removing > 0 && Int.random(in: 0..<removing, using: &random) == 0 {
        try table.remove(key)
      }
      // The rows that existed before have the default of the new column.
      try table.addColumn(Column("added", .int64, isOptional: true))
    }
  }

  /// True if a value read through the window is the value of the table. The values that the window decodes at once are
  /// also compared and counted.
  private func compare(
    _ table: Table, _ window: inout RowWindow, _ column: Int, _ key: UInt64,
    _ plain: inout (numbers: Int, texts: Int)
  ) throws -> Bool {
    func agrees<Content: Equatable>(_ plain: Content?, _ read: Found<Content>, _ expected: Found<Content>)
      -> Bool
    { read == expected && (plain == nil || .value(plain!) == expected) }
    switch table.schema.columns[column].type {
    case .double:
      let read = try window.double(column, ofRow: key).map(\.bitPattern)
      let number = window.plainNumber(column, ofRow: key).map { UInt64(bitPattern: $0) }
      if number != nil { plain.numbers += 1 }
      return agrees(number, read, try table.double(column, ofRow: key).map(\.bitPattern))
    case .string:
      let read = try window.text(column, ofRow: key)
      let text = window.plainText(column, ofRow: key)?.text
      if text != nil { plain.texts += 1 }
      return agrees(text, read, try table.text(column, ofRow: key))
    default:
      let read = try window.integer(column, ofRow: key)
      let number = window.plainNumber(column, ofRow: key)
      if number != nil { plain.numbers += 1 }
      return agrees(number, read, try table.integer(column, ofRow: key))
    }
  }

  @Test(arguments: [nil, Keys.first], [0, 2, 50])
  func `a window reads the values of the table, in any order`(key: [UInt8]?, removing: Int) throws {
    try withTemporaryPath { path in
      var random = SeededGenerator(seed: UInt64(removing) + 7)
      let database = try Database(path: path, options: .init(encryptionKey: key))
      try fill(database, count: 6_000, removing: removing, &random)
      let table = try #require(try database.snapshot().table("Row"))
      var window = RowWindow(columns: Array(table.schema.columns.indices))
      window.begin(TableReference(table))
      var key: UInt64 = 0
      var plain = (numbers: 0, texts: 0)
      for walk in 0..<40 {
        // Each walk reads some columns, with small and large steps, forward and backward, and sometimes reads a row
        // twice.
        let columns = (0..<Int.random(in: 1...4, using: &random)).map { _ in
          table.schema.columns.indices.randomElement(using: &random)!
        }
        if Int.random(in: 0..<2, using: &random) == 0 { key = .random(in: 0..<6_100, using: &random) }
        let step = [1, 1, 1, 3, 9, 600, .max, 0].randomElement(using: &random)!
        for _ in 0..<Int.random(in: 1...1_500, using: &random) {
          for column in columns {
            let isSame = try compare(table, &window, column, key, &plain)
            #expect(isSame, "walk \(walk), row \(key), column \(column)")
            guard isSame else { return }
          }
          key = (key &+ UInt64(bitPattern: Int64(step))) % 6_100
        }
      }
      #expect(plain.numbers > 100 && plain.texts > 100, "\(plain)")
    }
  }

  @Test func `a window of another table forgets the table before`() throws {
    try withTemporaryPath { path in
      let database = try Database(path: path)
      try database.write { transaction in
        for (name, offset) in [("A", 0), ("B", 1_000)] {
          let table = try transaction.createTable(TableSchema(name, columns: [Column("number", .int64)]))
          for index in 0..<100 { try table.insert(["number": .int(Int64(offset + index))]) }
        }
      }
      var window = RowWindow(columns: [0])
      for (name, offset) in [("A", 0), ("B", 1_000), ("A", 0)] {
        let table = try #require(try database.snapshot().table(name))
        window.begin(TableReference(table))
        for index in 0..<100 {
          #expect(try window.integer(0, ofRow: UInt64(index)) == .value(Int64(offset + index)))
        }
        #expect(try window.integer(0, ofRow: 100) == .noRow)
      }
    }
  }
}

extension Found {
  fileprivate func map<Other>(_ body: (Content) -> Other) -> Found<Other> {
    switch self {
    case .noRow: .noRow
    case .null: .null
    case .value(let content): .value(body(content))
    }
  }
}
