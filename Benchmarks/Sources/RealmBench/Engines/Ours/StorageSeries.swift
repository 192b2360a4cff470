import RealmStorage

/// A growing table of this project's storage engine.
final class StorageSeries: SeriesTable {
  private let database: Database
  private static let table = "Row"

  init(folder: String, isEncrypted: Bool, keys: SeriesKeys) throws {
    let key = isEncrypted ? (0..<64).map { UInt8($0) } : nil
    database = try Database(path: folder + "/series.realm", options: .init(encryptionKey: key))
    let schema = TableSchema(
      Self.table,
      columns: [
        Column("id", keys == .uuids ? .uuid : .int64, index: .unique), Column("number", .double),
        Column("text", .string),
      ])
    try database.write { _ = try $0.createTable(schema) }
  }

  func insert(_ rows: SeriesRows) throws {
    try database.write { transaction in
      guard let table = try transaction.table(Self.table) else { throw BenchmarkError("there is no table") }
      for row in rows.places {
        try table.insert { (new: inout NewRow) throws(StorageError) in
          if rows.keys == .uuids {
            try new.set(0, Self.key(rows, row))
          } else {
            try new.set(0, rows.number(row))
          }
          try new.set(1, rows.value(row))
          try new.set(2, rows.text(row))
        }
      }
    }
  }

  private static func key(_ rows: SeriesRows, _ row: Int) -> Value {
    rows.keys == .uuids
      ? .uuid(withUnsafeBytes(of: rows.uuid(row)) { SixteenBytes(Array($0)) }) : .int(rows.number(row))
  }

  func read(_ rows: SeriesRows) throws -> Answer {
    guard let table = try database.snapshot().table(Self.table) else {
      throw BenchmarkError("there is no table")
    }
    var answer = Answer()
    for row in rows.few {
      guard let key = try table.row(withPrimaryKey: Self.key(rows, row)),
        case .double(let value) = try table.value(table.schema.columns[1], ofRow: key),
        case .string(var text) = try table.value(table.schema.columns[2], ofRow: key)
      else { throw BenchmarkError("row \(row) is not there") }
      answer.add(text.withUTF8 { rows.hash(row, value, UnsafeRawBufferPointer($0)) })
    }
    return answer
  }

  func count() throws -> Int { try database.snapshot().table(Self.table)?.count ?? 0 }

  var writtenNodeBytes: Int? { database.writeStatistics.nodeBytes - database.writeStatistics.movedBytes }

  func close() { database.close() }
}
