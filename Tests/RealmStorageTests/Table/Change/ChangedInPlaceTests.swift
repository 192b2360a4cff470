import RealmStorage
import RealmTestSupport
import Testing

@Suite struct ChangedInPlaceTests {
  /// A value is changed in place, or its cluster is packed anew. The values must be the same in both cases.
  @Test func `values that are changed one by one are read as they were set`() throws {
    let columns = [
      Column("wide", .int64), Column("narrow", .int64), Column("number", .double),
      Column("perhaps", .int64, isOptional: true), Column("half", .float, isOptional: true),
    ]
    let database = try Database(inMemory: "test")
    var generator = SeededGenerator(seed: 5)
    var rows: [[Value]] = []
    func value(_ column: Int) -> Value {
      switch column {
      case 0: .int(generator.chance(20) ? Int64.max : Int64(generator.below(70_000)) - 35_000)
      case 1: .int(Int64(generator.below(256)) - 128)
      case 2: .double(Double(generator.below(1_000)) / 8)
      case 3: generator.chance(10) ? .null : .int(Int64(generator.below(100_000)))
      default: generator.chance(10) ? .null : .float(Float(generator.below(1_000)))
      }
    }
    try database.write { transaction in
      let table = try transaction.createTable(TableSchema("T", columns: columns))
      for _ in 0..<700 {
        let values = columns.indices.map { value($0) }
        try table.insert { (row: inout NewRow) throws(StorageError) in
          for index in columns.indices { try row.set(index, values[index]) }
        }
        rows.append(values)
      }
    }
    for _ in 0..<300 {
      try database.write { transaction in
        guard let table = try transaction.table("T") else { return }
        for _ in 0..<1 + generator.below(3) {
          let (row, column) = (generator.below(rows.count), generator.below(columns.count))
          rows[row][column] = value(column)
          try table.set(rows[row][column], columns[column].name, ofRow: UInt64(row))
        }
      }
    }
    let snapshot = try database.snapshot()
    var read: [[Value]] = []
    try snapshot.table("T")?.forEach { (_, values) throws(StorageError) in
      read.append(values)
      return true
    }
    #expect(read == rows)
    #expect(IntegrityCheck.run(snapshot).findings == [])
  }
}
