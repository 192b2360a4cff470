import RealmStorage

/// Records in this project's storage engine.
final class StorageRecords: RecordFile {
  private let database: Database

  private static let table = "Record"
  private static let schema = TableSchema(
    table,
    columns: [Column("id", .int64, index: .unique), Column("number", .double), Column("text", .string)])

  init(folder: String, isEncrypted: Bool) throws {
    let key = isEncrypted ? (0..<64).map { UInt8($0) } : nil
    database = try Database(path: folder + "/records.realm", options: .init(encryptionKey: key))
  }

  func fill(count: Int, textBytes: Int) throws {
    try database.write { transaction in
      let table = try transaction.createTable(Self.schema)
      for id in 0..<count {
        try table.insert { (row: inout NewRow) throws(StorageError) in
          try row.set(0, Int64(id))
          try row.set(1, Double(id))
          try row.set(2, RecordText.make(id, bytes: textBytes))
        }
      }
    }
  }

  func set(_ number: Double, of id: Int64) throws {
    try database.write { transaction in
      guard let table = try transaction.table(Self.table),
        let row = try table.reading().row(withPrimaryKey: .int(id))
      else { throw BenchmarkError("no record \(id)") }
      try table.set(.double(number), "number", ofRow: row)
    }
  }

  func pin() throws -> () throws -> Void {
    var pinned: Snapshot? = try database.snapshot()
    return { if pinned != nil { pinned = nil } }
  }

  func sum() throws -> Answer {
    var answer = Answer()
    guard let table = try database.snapshot().table(Self.table) else {
      throw BenchmarkError("there is no table of records")
    }
    try table.forEachGroup { (group) throws(StorageError) in
      let numbers = try group.doubles(1)
      for row in 0..<group.count { answer.add(numbers[row]) }
      return true
    }
    return answer
  }

  func close() { database.close() }
}
