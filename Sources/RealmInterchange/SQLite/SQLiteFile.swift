internal import RealmStorage

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A SQLite file that is being made.
final class SQLiteFile {
  private static let ok: CInt = 0
  private static let done: CInt = 101
  /// SQLITE_READONLY, SQLITE_IOERR, SQLITE_FULL and SQLITE_CANTOPEN: https://sqlite.org/rescode.html.
  private static let ofTarget: Set<CInt> = [8, 10, 13, 14]
  /// Read, write, create: https://sqlite.org/c3ref/c_open_autoproxy.html.
  private static let flags: CInt = 0x2 | 0x4

  private let library: SQLiteLibrary
  /// For messages: the file gets another name when it is complete.
  private let shownPath: String
  private var handle: SQLiteLibrary.Handle?

  init(path: String, shownAs shownPath: String, _ library: SQLiteLibrary) throws(InterchangeError) {
    (self.shownPath, self.library) = (shownPath, library)
    try check(library.open(path, &handle, Self.flags, nil))
  }

  deinit { _ = library.close(handle) }

  func run(_ sql: String) throws(InterchangeError) {
    let statement = try prepared(sql)
    defer { _ = library.finalize(statement) }
    var code = library.step(statement)
    // Some statements answer rows, which nobody wants.
    while code == 100 { code = library.step(statement) }
    try check(code)
  }

  func prepared(_ sql: String) throws(InterchangeError) -> SQLiteLibrary.Handle? {
    var statement: SQLiteLibrary.Handle?
    try check(library.prepare(handle, sql, -1, &statement, nil))
    return statement
  }

  func finish(_ statement: SQLiteLibrary.Handle?) { _ = library.finalize(statement) }

  /// Runs a statement with some values.
  func run(_ statement: SQLiteLibrary.Handle?, _ values: [SQLiteValue]) throws(InterchangeError) {
    for (position, value) in values.enumerated() { try bind(value, CInt(position + 1), statement) }
    try check(library.step(statement))
    try check(library.reset(statement))
  }

  private func bind(
    _ value: SQLiteValue, _ place: CInt, _ statement: SQLiteLibrary.Handle?
  ) throws(InterchangeError) {
    // The library copies what it is given: it is told so by −1 as the destructor.
    let copying = unsafeBitCast(-1, to: SQLiteLibrary.Destructor?.self)
    switch value {
    case .null: try check(library.bindNull(statement, place))
    case .integer(let number): try check(library.bindInteger(statement, place, number))
    case .real(let number): try check(library.bindDouble(statement, place, number))
    case .text(let text) where text.utf8.count > Int(CInt.max): try refuseLength()
    case .blob(let bytes) where bytes.count > Int(CInt.max): try refuseLength()
    case .text(let text):
      let bytes = Array(text.utf8)
      let code = bytes.withUnsafeBytes { bytes in
        // No bytes have no address, which would be null.
        let start = bytes.baseAddress.map { $0.assumingMemoryBound(to: CChar.self) }
        return bytes.isEmpty
          ? library.bindText(statement, place, "", 0, copying)
          : library.bindText(statement, place, start, CInt(bytes.count), copying)
      }
      try check(code)
    case .blob(let bytes):
      let code = bytes.withUnsafeBytes { content in
        content.isEmpty
          ? library.bindBlob(statement, place, "", 0, copying)
          : library.bindBlob(statement, place, content.baseAddress, CInt(content.count), copying)
      }
      try check(code)
    }
  }

  private func refuseLength() throws(InterchangeError) {
    throw InterchangeError("SQLite can't hold a value of 2 GiB or more, which the file has.")
  }

  private func check(_ code: CInt) throws(InterchangeError) {
    guard code != Self.ok, code != Self.done else { return }
    let words = library.message(handle).map { String(cString: $0) } ?? "no memory"
    throw InterchangeError(
      "SQLite can't write \(shownPath): \(words) (code \(code)).", isOfTarget: Self.ofTarget.contains(code))
  }
}

/// What SQLite stores.
enum SQLiteValue {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)
  case blob([UInt8])

  /// - Parameter names: of tables, for links in values of any type.
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
