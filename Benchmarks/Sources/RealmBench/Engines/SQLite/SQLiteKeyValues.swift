import CSQLite

/// Keys and values in a table that is stored in the index of its keys.
final class SQLiteKeyValues: KeyValueFile {
  private let path: String
  private let connection: SQLiteConnection
  /// The number of Persons for which the cache is large enough. The cache is larger than the file.
  private static let expected = 8 << 20

  init(folder: String) throws {
    path = folder + "/pairs.sqlite"
    connection = try SQLiteConnection(path: path, expecting: Self.expected)
    try connection.execute(
      "CREATE TABLE IF NOT EXISTS Pair(key BLOB PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID")
  }

  func insert(_ source: inout PairSource, _ promise: Promise) throws {
    connection.setSynchronous(promise == .durable ? "FULL" : "NORMAL")
    let insert = try connection.prepare("INSERT INTO Pair VALUES(?1, ?2)")
    try connection.execute("BEGIN IMMEDIATE")
    while let pairs = source.next() {
      for pair in pairs {
        try pair.key.withUnsafeBytes { key in
          try pair.value.withUnsafeBytes { value in
            insert.bindData(1, key)
            insert.bindData(2, value)
            try insert.run()
          }
        }
      }
    }
    try connection.execute("COMMIT")
    connection.setSynchronous("FULL")
  }

  func read(_ keys: [[UInt8]]) throws -> Answer {
    // Each call has a connection of its own, because many threads read at once.
    let connection = try SQLiteConnection(path: path, expecting: Self.expected)
    return try connection.reading {
      let select = try connection.prepare("SELECT value FROM Pair WHERE key = ?1")
      var answer = Answer()
      for key in keys {
        try key.withUnsafeBytes { key in
          select.bindData(1, key)
          guard try select.step() else { throw BenchmarkError("no value of a key") }
          answer.add(select.data(0))
          select.reset()
        }
      }
      return answer
    }
  }

  func scan(from keys: [[UInt8]], count: Int) throws -> Answer {
    try connection.reading {
      let select = try connection.prepare(
        "SELECT key, value FROM Pair WHERE key >= ?1 ORDER BY key LIMIT \(count)")
      var answer = Answer()
      for key in keys {
        try key.withUnsafeBytes { key in
          select.bindData(1, key)
          while try select.step() { answer.add(select.data(1)) }
          select.reset()
        }
      }
      return answer
    }
  }

  func remove(_ keys: [[UInt8]]) throws {
    let remove = try connection.prepare("DELETE FROM Pair WHERE key = ?1")
    try connection.execute("BEGIN IMMEDIATE")
    for key in keys {
      try key.withUnsafeBytes { key in
        remove.bindData(1, key)
        try remove.run()
      }
    }
    try connection.execute("COMMIT")
  }

  func count() throws -> Int {
    try connection.reading {
      let select = try connection.prepare("SELECT count(*) FROM Pair")
      guard try select.step() else { throw BenchmarkError("a count without a row") }
      return Int(select.integer(0))
    }
  }

  func compact(to folder: String) throws -> Bool {
    try connection.execute("VACUUM INTO '\(folder)/pairs.sqlite'")
    return true
  }

  func close() throws { try connection.close() }
}
