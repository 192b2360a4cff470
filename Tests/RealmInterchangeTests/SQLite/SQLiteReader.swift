import RealmInterchange

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Reads a SQLite file with the functions of SQLite's library, if the library is on this machine.
final class SQLiteReader {
  typealias Handle = OpaquePointer
  private typealias Open =
    @convention(c) (UnsafePointer<CChar>, UnsafeMutablePointer<Handle?>, CInt, UnsafePointer<CChar>?) -> CInt
  private typealias Prepare =
    @convention(c) (Handle?, UnsafePointer<CChar>, CInt, UnsafeMutablePointer<Handle?>, UnsafeRawPointer?) ->
    CInt
  private typealias OfHandle = @convention(c) (Handle?) -> CInt
  private typealias IntOfColumn = @convention(c) (Handle?, CInt) -> CInt
  private typealias Int64OfColumn = @convention(c) (Handle?, CInt) -> Int64
  private typealias DoubleOfColumn = @convention(c) (Handle?, CInt) -> Double
  private typealias BytesOfColumn = @convention(c) (Handle?, CInt) -> UnsafeRawPointer?

  /// The content of a cell. A text is kept as its bytes.
  enum Cell: Equatable {
    case null
    case integer(Int64)
    case real(Double)
    case text([UInt8])
    case blob([UInt8])

    static func text(_ string: String) -> Cell { .text(Array(string.utf8)) }
  }

  struct Failure: Error {
    var code: CInt
    var what: String
  }

  nonisolated(unsafe) private static let library: UnsafeMutableRawPointer? =
    (["libsqlite3.so.0", "libsqlite3.so", "libsqlite3.dylib"] as [String]).lazy
    .compactMap { dlopen($0, RTLD_NOW) }.first

  static var isThere: Bool { library != nil }

  private var handle: Handle?

  init(path: String) throws {
    let open = try Self.function("sqlite3_open_v2", Open.self)
    // The 1 opens the file for reading only: https://sqlite.org/c3ref/open.html.
    let code = open(path, &handle, 1, nil)
    guard code == 0 else { throw Failure(code: code, what: path) }
  }

  deinit { if let close = try? Self.function("sqlite3_close_v2", OfHandle.self) { _ = close(handle) } }

  private static func function<Function>(_ name: String, _ type: Function.Type) throws -> Function {
    guard let symbol = dlsym(library, name) else { throw Failure(code: -1, what: name) }
    return unsafeBitCast(symbol, to: Function.self)
  }

  /// The rows that a statement returns.
  func rows(_ sql: String) throws -> [[Cell]] {
    let prepare = try Self.function("sqlite3_prepare_v2", Prepare.self)
    let (step, finalize) = (
      try Self.function("sqlite3_step", OfHandle.self), try Self.function("sqlite3_finalize", OfHandle.self)
    )
    let count = try Self.function("sqlite3_column_count", OfHandle.self)
    var statement: Handle?
    let code = prepare(handle, sql, -1, &statement, nil)
    guard code == 0 else { throw Failure(code: code, what: sql) }
    defer { _ = finalize(statement) }
    var rows: [[Cell]] = []
    while true {
      let code = step(statement)
      if code == 101 { return rows }
      guard code == 100 else { throw Failure(code: code, what: sql) }
      rows.append(try (0..<count(statement)).map { try cell(statement, $0) })
    }
  }

  private func cell(_ statement: Handle?, _ column: CInt) throws -> Cell {
    switch try Self.function("sqlite3_column_type", IntOfColumn.self)(statement, column) {
    case 1: .integer(try Self.function("sqlite3_column_int64", Int64OfColumn.self)(statement, column))
    case 2: .real(try Self.function("sqlite3_column_double", DoubleOfColumn.self)(statement, column))
    case 3: .text(try bytes("sqlite3_column_text", statement, column))
    case 4: .blob(try bytes("sqlite3_column_blob", statement, column))
    default: .null
    }
  }

  private func bytes(_ name: String, _ statement: Handle?, _ column: CInt) throws -> [UInt8] {
    let start = try Self.function(name, BytesOfColumn.self)(statement, column)
    let count = try Self.function("sqlite3_column_bytes", IntOfColumn.self)(statement, column)
    return [UInt8](UnsafeRawBufferPointer(start: start, count: Int(count)))
  }
}
