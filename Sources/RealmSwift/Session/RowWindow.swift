import RealmStorage

/// Values of rows that are stored together. Each column is decoded for all these rows at once, because code that walks
/// over rows reads the same columns of one row after another. Values that are not read in such an order are read from
/// the table.
///
/// One thread uses a window, with one table at a time. The window holds copies of at most 512 values for each column.
/// It does not check whether a row may be read; its `ObjectContext` does.
struct RowWindow {
  private var table: TableReference?
  private var rows = WindowRows()
  /// The decoded columns, by the position of the property.
  private var columns: [DecodedColumn]

  private struct DecodedColumn {
    /// The position of the column in the table's schema.
    let column: Int
    var isDecoded = false
    /// Whether the column is decoded, and none of its numbers is null.
    var isPlain = false
    /// The numbers, by the index of the row; empty for a column of texts.
    var numbers: [Int64] = []
    /// Whether each number is null, by the index of the row; empty if none is null.
    var nulls: [Bool] = []
    /// The texts, by the index of the row; empty for a column of numbers.
    var texts: [TextCell] = []
    /// The texts that are not short. A cell in `texts` has the index of its text.
    var longTexts: [String] = []
    /// Whether the column was decoded for the rows before these, and a walk came from those rows.
    var isPromised = false
    /// Whether the column can't be decoded for these rows.
    var isRefused = false
    /// The key of the row that was read last, and the number of rows that were read in order up to it.
    var last = UInt64.max
    var run = 0
  }

  /// The number of rows that must be read in order before more such reads are expected.
  private static let promisingRun = 16
  /// The greatest difference between the keys of two rows that count as read in order.
  private static let maximumGap: UInt64 = 8

  /// - Parameter columns: for each property, the position of its column in the table's schema. It is -1 for a property
  ///   that is not stored, and is never read here.
  init(columns: [Int]) {
    self.columns = columns.map { DecodedColumn(column: $0) }
  }

  /// Sets the table from which values are read. The caller keeps the table. If it is nil, nothing may be read.
  mutating func begin(_ table: TableReference?) {
    // If there was no table, nothing was read.
    if self.table != nil {
      rows = WindowRows()
      for property in columns.indices {
        columns[property] = DecodedColumn(column: columns[property].column)
      }
    }
    self.table = table
  }

  // MARK: - Values that are decoded

  /// A whole number of a plain column, or the bits of a double; nil if the column is not plain, or the row is not found
  /// without a search.
  @inline(__always)
  func plainNumber(_ property: Int, ofRow key: UInt64) -> Int64? {
    guard columns[property].isPlain, let place = rows.place(of: key) else { return nil }
    return columns[property].numbers[place]
  }

  /// A short text of a plain column; nil if the column is not plain, the text is not short, or the row is not found
  /// without a search.
  @inline(__always)
  func plainText(_ property: Int, ofRow key: UInt64) -> TextCell? {
    guard columns[property].isPlain, let place = rows.place(of: key) else { return nil }
    let cell = columns[property].texts[place]
    return cell.isShort ? cell : nil
  }

  /// A whole number, or nil for null. The outer optional is nil if the value is not decoded.
  @inline(__always)
  mutating func decodedInteger(_ property: Int, ofRow key: UInt64) -> Int64?? {
    guard let row = decodedRow(key, property) else { return .none }
    return .some(isNull(row, property) ? nil : columns[property].numbers[row])
  }

  /// A double, or nil for null. The outer optional is nil if the value is not decoded.
  @inline(__always)
  mutating func decodedDouble(_ property: Int, ofRow key: UInt64) -> Double?? {
    guard let row = decodedRow(key, property) else { return .none }
    return .some(
      isNull(row, property) ? nil : Double(bitPattern: UInt64(bitPattern: columns[property].numbers[row])))
  }

  /// A text, or nil for null. The outer optional is nil if the value is not decoded.
  @inline(__always)
  mutating func decodedText(_ property: Int, ofRow key: UInt64) -> String?? {
    guard let row = decodedRow(key, property) else { return .none }
    let cell = columns[property].texts[row]
    if cell.isShort { return .some(cell.text) }
    return .some(cell.isNull ? nil : columns[property].longTexts[Int(cell.low)])
  }

  /// The index of a row; nil if the column was not decoded for it.
  @inline(__always)
  private mutating func decodedRow(_ key: UInt64, _ property: Int) -> Int? {
    columns[property].isDecoded ? rows.index(of: key) : nil
  }

  @inline(__always)
  private func isNull(_ row: Int, _ property: Int) -> Bool {
    !columns[property].nulls.isEmpty && columns[property].nulls[row]
  }

  // MARK: - Values

  /// See `Table.integer`.
  mutating func integer(_ property: Int, ofRow key: UInt64) throws(StorageError) -> Found<Int64> {
    if let decoded = decodedInteger(property, ofRow: key) { return Found(decoded) }
    return try read(property, key) { (table, column) throws(StorageError) in
      try table.integer(column, ofRow: key)
    }
  }

  /// See `Table.double`.
  mutating func double(_ property: Int, ofRow key: UInt64) throws(StorageError) -> Found<Double> {
    if let decoded = decodedDouble(property, ofRow: key) { return Found(decoded) }
    return try read(property, key) { (table, column) throws(StorageError) in
      try table.double(column, ofRow: key)
    }
  }

  /// See `Table.text`.
  mutating func text(_ property: Int, ofRow key: UInt64) throws(StorageError) -> Found<String> {
    if let decoded = decodedText(property, ofRow: key) { return Found(decoded) }
    return try read(property, key) { (table, column) throws(StorageError) in
      try table.text(column, ofRow: key)
    }
  }

  /// The result of `make` for the bytes in a column of data. The window does not keep the bytes.
  func bytes<Content>(
    _ property: Int, ofRow key: UInt64, _ make: (RawSpan) -> Content
  ) throws(StorageError) -> Found<Content> {
    try table?.bytes(columns[property].column, ofRow: key, make) ?? .noRow
  }

  // MARK: - Decoding

  private mutating func read<Content>(
    _ property: Int, _ key: UInt64,
    _ body: (TableReference, _ column: Int) throws(StorageError) -> Found<Content>
  ) throws(StorageError) -> Found<Content> {
    guard let table else { return .noRow }
    // An error of decoding may concern the value of another row. It is reported when that value is read.
    if isWalk(property, key) { try? decode(property, key, table) }
    return try body(table, columns[property].column)
  }

  /// Notes that a row is read. Returns whether more rows after it are expected to be read in order.
  private mutating func isWalk(_ property: Int, _ key: UInt64) -> Bool {
    let step = key &- columns[property].last
    columns[property].last = key
    columns[property].run = step <= Self.maximumGap ? columns[property].run + 1 : 0
    if rows.contains(key) {
      if columns[property].isRefused { return false }
      return columns[property].isPromised || columns[property].run >= Self.promisingRun
    }
    return columns[property].run >= Self.promisingRun || (columns[property].isDecoded && isBehind(key))
  }

  /// Whether the row comes soon after the rows of the window.
  private func isBehind(_ key: UInt64) -> Bool { rows.count > 0 && key &- rows.last <= Self.maximumGap }

  private mutating func decode(_ property: Int, _ key: UInt64, _ table: TableReference) throws(StorageError) {
    if !rows.contains(key) {
      let isBehind = isBehind(key)
      guard let found = try table.rows(around: key) else { return }
      for property in columns.indices {
        columns[property].isPromised = isBehind && columns[property].isDecoded
        columns[property].isDecoded = false
        columns[property].isPlain = false
        columns[property].isRefused = false
      }
      rows = WindowRows(found)
    }
    columns[property].isRefused = true
    let column = columns[property].column
    let count: Int
    if table.isVarying(column) {
      guard let texts = try table.texts(column, around: key) else { return }
      (columns[property].texts, columns[property].longTexts) = (texts.cells, texts.long)
      count = texts.cells.count
    } else {
      (columns[property].numbers, columns[property].nulls) = try table.numbers(column, around: key)
      count = columns[property].numbers.count
    }
    // In a forged file, a key may lead to other rows than those that are stored with it.
    columns[property].isDecoded = count == rows.count
    columns[property].isRefused = count != rows.count
    columns[property].isPlain = count == rows.count && columns[property].nulls.isEmpty
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
  /// The number of rows if their keys have no gaps; otherwise 0.
  private var denseCount: UInt64 = 0
  /// The keys if they have gaps; otherwise empty.
  private var keys: [UInt64] = []
  /// The key that was searched for last, and its index.
  private var known: (key: UInt64, place: Int) = (.max, 0)

  init() {}

  init(_ rows: RowKeys) {
    (first, last, count, keys) = (rows.first, rows.last, rows.count, rows.keys)
    known = (first, 0)
    if keys.isEmpty { denseCount = UInt64(count) }
  }

  /// The index of a row if it is found without a search; otherwise nil. The window must have rows.
  @inline(__always)
  func place(of key: UInt64) -> Int? {
    let distance = key &- first
    if distance < denseCount { return Int(truncatingIfNeeded: distance) }
    return key == known.key ? known.place : nil
  }

  func contains(_ key: UInt64) -> Bool { count > 0 && key >= first && key <= last }

  @inline(__always)
  mutating func index(of key: UInt64) -> Int? {
    if let place = place(of: key) { return place }
    return keys.isEmpty ? nil : search(key)
  }

  private mutating func search(_ key: UInt64) -> Int? {
    let next = known.place + 1
    if next < count, keys[next] == key {
      known = (key, next)
      return next
    }
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if keys[middle] < key { low = middle + 1 } else { high = middle }
    }
    guard low < count, keys[low] == key else { return nil }
    known = (key, low)
    return low
  }
}
