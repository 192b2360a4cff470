import RealmStorage

/// Values of rows that stand together, decoded at once, column by column: who walks rows reads the same columns of one
/// after another. What is read in no such order is read from the table.
///
/// Used by one thread, with one table at a time. It holds copies of 512 values a column at most, and decides nothing.
final class RowWindow {
  // No access is checked for another at the same time: of one thread, none lasts longer than a method.
  @exclusivity(unchecked) private var table: TableReference?
  @exclusivity(unchecked) private var rows = WindowRows()
  /// By position in the schema.
  @exclusivity(unchecked) private var columns: [DecodedColumn] = []

  private struct DecodedColumn {
    var isDecoded = false
    /// By row; of a column of texts none.
    var numbers: [Int64] = []
    var texts: [String] = []
    /// None where no value is null.
    var nulls: [Bool] = []
    /// It was decoded of the rows before these, and they were walked through.
    var isPromised = false
    /// Of these rows it can't be decoded.
    var isRefused = false
    /// The row that was read last, and how many were read in order up to it.
    var last = UInt64.max
    var run = 0
  }

  /// So many rows read in order promise more of them.
  private static let promisingRun = 16
  /// Rows that are left out between two that are read in order.
  private static let maximumGap: UInt64 = 8

  /// From now on values are read of a table, which somebody else keeps; where it is nil nothing may be read.
  func begin(_ table: TableReference?) {
    rows = WindowRows()
    self.table = table
    columns = table.map { Array(repeating: DecodedColumn(), count: $0.columnCount) } ?? []
  }

  // MARK: - Values that are decoded

  /// A whole number, nil where it is null; nothing where it is not decoded.
  @inline(__always)
  func decodedInteger(_ column: Int, ofRow key: UInt64) -> Int64?? {
    guard let row = decodedRow(key, column) else { return .none }
    return .some(isNull(row, column) ? nil : columns[column].numbers[row])
  }

  /// The same of a double.
  @inline(__always)
  func decodedDouble(_ column: Int, ofRow key: UInt64) -> Double?? {
    guard let row = decodedRow(key, column) else { return .none }
    return .some(
      isNull(row, column) ? nil : Double(bitPattern: UInt64(bitPattern: columns[column].numbers[row])))
  }

  /// The same of a text.
  @inline(__always)
  func decodedText(_ column: Int, ofRow key: UInt64) -> String?? {
    guard let row = decodedRow(key, column) else { return .none }
    return .some(isNull(row, column) ? nil : columns[column].texts[row])
  }

  /// The place of a row among those that the column was decoded of.
  @inline(__always)
  private func decodedRow(_ key: UInt64, _ column: Int) -> Int? {
    columns[column].isDecoded ? rows.index(of: key) : nil
  }

  @inline(__always)
  private func isNull(_ row: Int, _ column: Int) -> Bool {
    !columns[column].nulls.isEmpty && columns[column].nulls[row]
  }

  // MARK: - Values

  /// See `Table.integer`.
  func integer(_ column: Int, ofRow key: UInt64) throws(StorageError) -> Found<Int64> {
    if let decoded = decodedInteger(column, ofRow: key) { return Found(decoded) }
    return try read(column, key) { (table) throws(StorageError) in try table.integer(column, ofRow: key) }
  }

  /// See `Table.double`.
  func double(_ column: Int, ofRow key: UInt64) throws(StorageError) -> Found<Double> {
    if let decoded = decodedDouble(column, ofRow: key) { return Found(decoded) }
    return try read(column, key) { (table) throws(StorageError) in try table.double(column, ofRow: key) }
  }

  /// See `Table.text`.
  func text(_ column: Int, ofRow key: UInt64) throws(StorageError) -> Found<String> {
    if let decoded = decodedText(column, ofRow: key) { return Found(decoded) }
    return try read(column, key) { (table) throws(StorageError) in try table.text(column, ofRow: key) }
  }

  /// What `make` makes of the bytes of a column of data, which are not kept; `empty` where there are none.
  func bytes<Content>(
    _ column: Int, ofRow key: UInt64, _ empty: Content, _ make: (RawSpan) -> Content
  ) throws(StorageError) -> Found<Content> {
    try table?.bytes(column, ofRow: key, empty, make) ?? .noRow
  }

  // MARK: - Decoding

  private func read<Content>(
    _ column: Int, _ key: UInt64, _ body: (TableReference) throws(StorageError) -> Found<Content>
  ) throws(StorageError) -> Found<Content> {
    guard let table else { return .noRow }
    // What can't be decoded may be the value of another row: it is told where that is read.
    if isWalk(column, key) { try? decode(column, key, table) }
    return try body(table)
  }

  /// Notes that a row is read; answers whether more after it likely will.
  private func isWalk(_ column: Int, _ key: UInt64) -> Bool {
    let step = key &- columns[column].last
    columns[column].last = key
    columns[column].run = step <= Self.maximumGap ? columns[column].run + 1 : 0
    if rows.contains(key) {
      if columns[column].isRefused { return false }
      return columns[column].isPromised || columns[column].run >= Self.promisingRun
    }
    return columns[column].run >= Self.promisingRun || (columns[column].isDecoded && isBehind(key))
  }

  /// The row comes soon after those of the window.
  private func isBehind(_ key: UInt64) -> Bool { rows.count > 0 && key &- rows.last <= Self.maximumGap }

  private func decode(_ column: Int, _ key: UInt64, _ table: TableReference) throws(StorageError) {
    if !rows.contains(key) {
      let isBehind = isBehind(key)
      guard let found = try table.rows(around: key) else { return }
      for column in columns.indices {
        columns[column].isPromised = isBehind && columns[column].isDecoded
        columns[column].isDecoded = false
        columns[column].isRefused = false
      }
      rows = WindowRows(found)
    }
    columns[column].isRefused = true
    if table.isText(column) {
      guard let decoded = try table.texts(column, around: rows.first) else { return }
      (columns[column].texts, columns[column].nulls) = decoded
    } else {
      (columns[column].numbers, columns[column].nulls) = try table.numbers(column, around: rows.first)
    }
    columns[column].isRefused = false
    columns[column].isDecoded = true
  }
}

extension Found {
  fileprivate init(_ content: Content?) {
    self = content.map { .value($0) } ?? .null
  }
}

/// The rows of a window.
private struct WindowRows {
  private(set) var first: UInt64 = 0
  private(set) var last: UInt64 = 0
  private(set) var count = 0
  /// Their number where they run on without a gap; else 0.
  private var denseCount: UInt64 = 0
  /// Where they do not.
  private var keys: [UInt64] = []
  /// The place that was looked up last.
  private var place = 0

  init() {}

  init(_ rows: RowKeys) {
    (first, last, count, keys) = (rows.first, rows.last, rows.count, rows.keys)
    if keys.isEmpty { denseCount = UInt64(count) }
  }

  func contains(_ key: UInt64) -> Bool { count > 0 && key >= first && key <= last }

  @inline(__always)
  mutating func index(of key: UInt64) -> Int? {
    let distance = key &- first
    if distance < denseCount { return Int(truncatingIfNeeded: distance) }
    return keys.isEmpty ? nil : search(key)
  }

  private mutating func search(_ key: UInt64) -> Int? {
    if keys[place] == key { return place }
    if place + 1 < count, keys[place + 1] == key {
      place += 1
      return place
    }
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if keys[middle] < key { low = middle + 1 } else { high = middle }
    }
    guard low < count, keys[low] == key else { return nil }
    place = low
    return low
  }
}
