import RealmStorage
import RealmTestSupport
import Testing

/// Lookups by primary key in the transaction that adds and removes the rows.
@Suite struct KeyLookupTests {
  enum Kind: CaseIterable {
    case number, smallNumber, optionalNumber, text, uuid

    var column: Column {
      switch self {
      case .number: Column("key", .int64, index: .unique)
      case .smallNumber: Column("key", .int64, index: .unique)
      case .optionalNumber: Column("key", .int64, isOptional: true, index: .unique)
      case .text: Column("key", .string, index: .unique)
      case .uuid: Column("key", .uuid, index: .unique)
      }
    }

    func value(_ number: Int) -> Value {
      switch self {
      case .number: .int(Int64(number) * 1_000_003)
      case .smallNumber: .int(Int64(number))
      case .optionalNumber: number == 0 ? .null : .int(Int64(number))
      // Some texts share more bytes than an index stores. Some are about as long as that limit and have zeros in them.
      case .text:
        switch number % 4 {
        case 0: .string("\(number)")
        case 1: .string(String(repeating: "long ", count: 60) + "\(number)")
        case 2: .string(String(repeating: "\0", count: 120 + number % 9) + "\(number)")
        default: .string(String(repeating: "m", count: 110 + number % 30) + "\(number)")
        }
      case .uuid:
        .uuid(SixteenBytes((0..<16).map { UInt8(truncatingIfNeeded: number >> ($0 % 4)) &+ UInt8($0) }))
      }
    }
  }

  @Test(arguments: Kind.allCases)
  func `a row is found by its key from its insertion until its removal`(kind: Kind) throws {
    let seed = UInt64(7)
    var random = SeededGenerator(seed: seed)
    try withTemporaryPath { path in
      let database = try Database(path: path)
      try database.write { transaction in
        _ = try transaction.createTable(
          TableSchema("Row", columns: [kind.column, Column("link", .link, target: 0), Column("n", .int64)]))
      }
      var rows: [Value: UInt64] = [:]
      for _ in 0..<12 {
        try database.write { transaction in
          let table = try #require(try transaction.table("Row"))
          for _ in 0..<120 {
            let value = kind.value(.random(in: 0..<400, using: &random))
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<4 where rows[value] == nil:
              rows[value] = try table.insert([
                "key": value, "link": rows.values.first.map { .link($0) } ?? .null,
              ])
            case 4 where rows[value] != nil: try table.remove(rows.removeValue(forKey: value)!)
            case 5: _ = try table.reading()
            default: #expect(try table.row(withPrimaryKey: value) == rows[value], "seed \(seed), \(value)")
            }
          }
        }
        let table = try #require(try database.snapshot().table("Row"))
        for (value, row) in rows { #expect(try table.row(withPrimaryKey: value) == row) }
      }
      #expect(rows.count > 50)
    }
  }
}
