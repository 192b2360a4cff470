import CSQLite

/// A connection to an SQLite file.
final class SQLiteConnection {
  private var handle: OpaquePointer?

  init(path: String, expecting count: Int) throws {
    let status = sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nil)
    guard status == SQLITE_OK else { throw BenchmarkError("SQLite can't open \(path): \(status)") }
    // The cache has room for the whole file. With a smaller cache, the size of the cache would be measured.
    let cache = max(1 << 20, count / 2)
    try execute(
      """
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = FULL;
      PRAGMA fullfsync = 1;
      PRAGMA cache_size = -\(cache);
      """)
  }

  deinit { sqlite3_close_v2(handle) }

  func execute(_ statements: String) throws {
    let status = sqlite3_exec(handle, statements, nil, nil, nil)
    guard status == SQLITE_OK else { throw error(status, statements) }
  }

  /// - Parameter isKept: whether the statement will be run many times.
  func prepare(_ text: String, isKept: Bool = true) throws -> SQLiteStatement {
    var statement: OpaquePointer?
    let flags = isKept ? UInt32(SQLITE_PREPARE_PERSISTENT) : 0
    let status = sqlite3_prepare_v3(handle, text, -1, flags, &statement, nil)
    guard status == SQLITE_OK, let statement else { throw error(status, text) }
    return SQLiteStatement(statement)
  }

  /// Calls `body` in a transaction that only reads.
  func reading<Result>(_ body: () throws -> Result) throws -> Result {
    try execute("BEGIN")
    let result = try body()
    try execute("COMMIT")
    return result
  }

  func setSynchronous(_ mode: String) { sqlite3_exec(handle, "PRAGMA synchronous = \(mode)", nil, nil, nil) }

  func close() throws {
    let status = sqlite3_close(handle)
    guard status == SQLITE_OK else { throw error(status, "close") }
    handle = nil
  }

  private func error(_ status: Int32, _ what: String) -> BenchmarkError {
    BenchmarkError("SQLite: \(String(cString: sqlite3_errmsg(handle))) (\(status)) of \(what)")
  }
}

/// A prepared statement. Columns are counted from 0, parameters from 1.
final class SQLiteStatement {
  private let handle: OpaquePointer

  init(_ handle: OpaquePointer) { self.handle = handle }

  deinit { sqlite3_finalize(handle) }

  func bind(_ parameter: Int32, _ number: Int64) { sqlite3_bind_int64(handle, parameter, number) }
  func bind(_ parameter: Int32, _ number: Double) { sqlite3_bind_double(handle, parameter, number) }
  func bindNull(_ parameter: Int32) { sqlite3_bind_null(handle, parameter) }

  /// Binds a text, which must stay at its address until the next `reset`.
  func bind(_ parameter: Int32, _ text: UnsafeBufferPointer<UInt8>) {
    text.withMemoryRebound(to: CChar.self) {
      _ = sqlite3_bind_text(handle, parameter, $0.baseAddress, Int32($0.count), nil)
    }
  }

  /// Binds bytes, which must stay at their address until the next `reset`.
  func bindData(_ parameter: Int32, _ bytes: UnsafeRawBufferPointer) {
    sqlite3_bind_blob(handle, parameter, bytes.baseAddress, Int32(bytes.count), nil)
  }

  /// Runs the statement up to its next row. Returns whether there is a row.
  func step() throws -> Bool {
    switch sqlite3_step(handle) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    case let status: throw BenchmarkError("SQLite: a statement failed with \(status)")
    }
  }

  func reset() { sqlite3_reset(handle) }

  /// Runs a statement that returns no rows.
  func run() throws {
    defer { reset() }
    _ = try step()
  }

  func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }
  func double(_ column: Int32) -> Double { sqlite3_column_double(handle, column) }
  func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

  /// The text of a column, which is valid until the next step.
  func text(_ column: Int32) -> UnsafeRawBufferPointer {
    let start = sqlite3_column_text(handle, column)
    return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column)))
  }

  /// The bytes of a column, which are valid until the next step.
  func data(_ column: Int32) -> UnsafeRawBufferPointer {
    let start = sqlite3_column_blob(handle, column)
    return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column)))
  }
}
