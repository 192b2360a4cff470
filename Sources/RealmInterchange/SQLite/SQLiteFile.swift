import CRealmSQLite
internal import RealmStorage

/// A SQLite file while it is written.
final class SQLiteFile {
  private static let ok: CInt = 0
  private static let row: CInt = 100
  private static let done: CInt = 101
  /// SQLITE_READONLY, SQLITE_IOERR, SQLITE_FULL and SQLITE_CANTOPEN: https://sqlite.org/rescode.html.
  private static let ofTarget: Set<CInt> = [8, 10, 13, 14]

  /// The path in messages, which the file gets when it is complete.
  private let shownPath: String
  private var handle: OpaquePointer?

  /// Makes the file.
  ///
  /// - Throws: `InterchangeError` if SQLite's library is missing on this machine, with the name of the package that has
  ///   it; if the library is too old; or if it can't make the file.
  init(path: String, shownAs shownPath: String) throws(InterchangeError) {
    self.shownPath = shownPath
    switch cs_load() {
    case 0: break
    case 1:
      throw InterchangeError(
        "SQLite's library is not on this machine: install it (Debian, Ubuntu: apt-get install libsqlite3-0), and try again."
      )
    default:
      throw InterchangeError("SQLite's library on this machine is too old: a function of it is missing.")
    }
    try check(cs_open(path, &handle))
  }

  deinit { if let handle { cs_close(handle) } }

  func run(_ sql: String) throws(InterchangeError) {
    let statement = try prepared(sql)
    defer { cs_finalize(statement) }
    var code = cs_step(statement)
    // Some statements return rows, which are not used.
    while code == Self.row { code = cs_step(statement) }
    try check(code)
  }

  func prepared(_ sql: String) throws(InterchangeError) -> OpaquePointer? {
    var statement: OpaquePointer?
    try check(cs_prepare(handle, sql, &statement))
    return statement
  }

  func finish(_ statement: OpaquePointer?) { cs_finalize(statement) }

  /// Runs a prepared statement with values for its parameters.
  func run(_ statement: OpaquePointer?, _ values: [SQLiteValue]) throws(InterchangeError) {
    for (position, value) in values.enumerated() { try bind(value, CInt(position + 1), statement) }
    try check(cs_step(statement))
    try check(cs_reset(statement))
  }

  private func bind(
    _ value: SQLiteValue, _ place: CInt, _ statement: OpaquePointer?
  ) throws(InterchangeError) {
    switch value {
    case .null: try check(cs_bind_null(statement, place))
    case .integer(let number): try check(cs_bind_integer(statement, place, number))
    case .real(let number): try check(cs_bind_real(statement, place, number))
    case .text(let text): try check(cs_bind_text(statement, place, text, try length(text.utf8.count)))
    case .blob(let bytes): try check(cs_bind_blob(statement, place, bytes, try length(bytes.count)))
    }
  }

  private func length(_ count: Int) throws(InterchangeError) -> CInt {
    guard let length = CInt(exactly: count) else {
      throw InterchangeError("SQLite can't hold a value of 2 GiB or more, which the file has.")
    }
    return length
  }

  private func check(_ code: CInt) throws(InterchangeError) {
    guard code != Self.ok, code != Self.done else { return }
    let words = handle.flatMap { cs_message($0) }.map { String(cString: $0) } ?? "no memory"
    throw InterchangeError(
      "SQLite can't write \(shownPath): \(words) (code \(code)).", isOfTarget: Self.ofTarget.contains(code))
  }
}

/// A value in the form in which SQLite stores it.
enum SQLiteValue {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)
  case blob([UInt8])

  /// Makes SQLite's form of a value.
  ///
  /// - Parameter names: the names of the tables, for links in values of any type.
  init(_ value: Value, _ type: ColumnType, _ names: TableNames) {
    switch value {
    case .null: self = .null
    case .bool(let flag): self = .integer(flag ? 1 : 0)
    case .int(let number): self = .integer(number)
    case .float(let number): self = .real(Double(number))
    case .double(let number): self = .real(number)
    case .string(let text): self = .text(text)
    case .data(let bytes): self = .blob(bytes)
    case .date(let date):
      self = .text(
        DateText.text(date) ?? "\(date.seconds) seconds and \(date.nanoseconds) nanoseconds since 1970")
    case .objectID, .uuid, .decimal128: self = .text(value.text)
    case .link(let key): self = .integer(Int64(bitPattern: key))
    case .typedLink, .list, .map: self = .text(value.json(ofOne: .mixed, names))
    }
  }
}
