import CSQLite

/// Records in SQLite, with a WAL that any number of processes share.
final class SQLiteRecords: RecordFile {
  private let path: String
  private let connection: SQLiteConnection
  private var update: SQLiteStatement?
  /// The number of records that decides the size of the cache. A file of a million records has 1 GiB.
  private static let expected = 2 << 20

  init(folder: String) throws {
    path = folder + "/records.sqlite"
    connection = try SQLiteConnection(path: path, expecting: Self.expected)
    // With this timeout SQLite waits for the other process's commit instead of failing.
    try connection.execute("PRAGMA busy_timeout = 10000")
    try connection.execute(
      "CREATE TABLE IF NOT EXISTS Record(id INTEGER PRIMARY KEY, number REAL NOT NULL, text TEXT NOT NULL)")
    update = try connection.prepare("UPDATE Record SET number = ?2 WHERE id = ?1")
  }

  func fill(count: Int, textBytes: Int) throws {
    let insert = try connection.prepare("INSERT INTO Record VALUES(?1, ?2, ?3)")
    try connection.execute("BEGIN IMMEDIATE")
    for id in 0..<count {
      var text = RecordText.make(id, bytes: textBytes)
      insert.bind(1, Int64(id))
      insert.bind(2, Double(id))
      try text.withUTF8 { text in
        insert.bind(3, text)
        try insert.run()
      }
    }
    try connection.execute("COMMIT")
  }

  func set(_ number: Double, of id: Int64) throws {
    guard let update else { throw BenchmarkError("the SQLite file is closed") }
    update.bind(1, id)
    update.bind(2, number)
    try update.run()
  }

  func pin() throws -> () throws -> Void {
    let reader = try SQLiteConnection(path: path, expecting: Self.expected)
    // A transaction reads the version at the time of its first statement.
    try reader.execute("BEGIN; SELECT id FROM Record LIMIT 1;")
    return {
      try reader.execute("COMMIT")
      try reader.close()
    }
  }

  func sum() throws -> Answer {
    let select = try connection.prepare("SELECT number FROM Record")
    var answer = Answer()
    while try select.step() { answer.add(select.double(0)) }
    return answer
  }

  func close() throws {
    update = nil
    try connection.close()
  }
}
