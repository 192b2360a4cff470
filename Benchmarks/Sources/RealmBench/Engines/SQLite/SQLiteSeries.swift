import CSQLite

/// A growing table of SQLite. Numbers are the table's own keys. UUIDs are 16 bytes with an index, as in a program that
/// declares such a primary key.
final class SQLiteSeries: SeriesTable {
  private let connection: SQLiteConnection
  private var insert: SQLiteStatement?
  /// The number of Persons for which the cache is large enough. The cache is larger than the file.
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
        try withKey(rows, row, of: insert) { try insert.run() }
      }
    }
    try connection.execute("COMMIT")
  }

  /// Calls `body` with a row's key as the statement's first parameter.
  private func withKey(
    _ rows: SeriesRows, _ row: Int, of statement: SQLiteStatement, _ body: () throws -> Void
  ) throws {
    guard rows.keys == .uuids else {
      statement.bind(1, rows.number(row))
      return try body()
    }
    try withUnsafeBytes(of: rows.uuid(row)) { uuid in
      statement.bindData(1, uuid)
      try body()
    }
  }

  func read(_ rows: SeriesRows) throws -> Answer {
    try connection.reading {
      let select = try connection.prepare("SELECT number, text FROM Row WHERE id = ?1")
      var answer = Answer()
      for row in rows.few {
        try withKey(rows, row, of: select) {
          guard try select.step() else { throw BenchmarkError("row \(row) is not there") }
          answer.add(rows.hash(row, select.double(0), select.text(1)))
          select.reset()
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
