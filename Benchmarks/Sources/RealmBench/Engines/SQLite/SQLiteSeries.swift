import CSQLite

/// A growing table of SQLite. Numbers are the table's own keys; UUIDs are 16 bytes with an index, as a program has them that
/// declares such a primary key.
final class SQLiteSeries: SeriesTable {
  private let connection: SQLiteConnection
  private var insert: SQLiteStatement?
  /// As large a cache as for this many Persons: more than the file takes.
  private static let expected = 4 << 20

  init(folder: String, keys: SeriesKeys) throws {
    connection = try SQLiteConnection(path: folder + "/series.sqlite", expecting: Self.expected)
    try connection.execute(
      """
      CREATE TABLE Row(
        id \(keys == .uuids ? "BLOB NOT NULL" : "INTEGER") PRIMARY KEY, number REAL NOT NULL, text TEXT NOT NULL)
      """)
    insert = try connection.prepare("INSERT INTO Row VALUES(?1, ?2, ?3)")
  }

  func insert(_ rows: SeriesRows) throws {
    guard let insert else { throw BenchmarkError("the SQLite file is closed") }
    try connection.execute("BEGIN IMMEDIATE")
    for row in rows.places {
      var text = rows.text(row)
      insert.bind(2, rows.value(row))
      try text.withUTF8 { text in
        insert.bind(3, text)
        guard rows.keys == .uuids else {
          insert.bind(1, rows.number(row))
          return try insert.run()
        }
        try withUnsafeBytes(of: rows.uuid(row)) { uuid in
          insert.bindData(1, uuid)
          try insert.run()
        }
      }
    }
    try connection.execute("COMMIT")
  }

  func read(_ rows: SeriesRows) throws -> Answer {
    try connection.reading {
      let select = try connection.prepare("SELECT number, text FROM Row WHERE id = ?1")
      var answer = Answer()
      func read(_ row: Int) throws {
        guard try select.step() else { throw BenchmarkError("row \(row) is not there") }
        answer.add(rows.hash(row, select.double(0), select.text(1)))
        select.reset()
      }
      for row in rows.few {
        guard rows.keys == .uuids else {
          select.bind(1, rows.number(row))
          try read(row)
          continue
        }
        try withUnsafeBytes(of: rows.uuid(row)) { uuid in
          select.bindData(1, uuid)
          try read(row)
        }
      }
      return answer
    }
  }

  func count() throws -> Int {
    try connection.reading {
      let select = try connection.prepare("SELECT count(*) FROM Row")
      guard try select.step() else { throw BenchmarkError("a count without a row") }
      return Int(select.integer(0))
    }
  }

  var writtenNodeBytes: Int? { nil }

  func close() throws {
    insert = nil
    try connection.close()
  }
}
