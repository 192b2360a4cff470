import RealmStorage

/// Values of rows that stand together, decoded at once, column by column: who walks rows reads the same columns of one
/// after another. What is read in no such order is read from the table.
///
/// Used by one thread, with one table at a time. It holds copies of 512 values a column at most, and decides nothing.
struct RowWindow {
  private var table: TableReference?
  private var rows = WindowRows()
  /// By property.
  private var columns: [DecodedColumn]

  private struct DecodedColumn {
    /// Its position in the table's schema.
    let column: Int
    var isDecoded = false
    /// It is decoded, and none of its numbers is null.
    var isPlain = false
    /// By row; of a column of texts none.
    var numbers: [Int64] = []
    /// Which numbers are null; none where none is.
    var nulls: [Bool] = []
    /// By row; of a column of numbers none.
    var texts: [TextCell] = []
    /// Those that are not short, by the places that are told by row.
    var longTexts: [String] = []
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

  /// - Parameter columns: by property, their positions in the table's schema; -1 for one that is not stored, and never read
  ///   here.
  init(columns: [Int]) {
    self.columns = columns.map { DecodedColumn(column: $0) }
  }

  /// From now on values are read of a table, which somebody else keeps; where it is nil nothing may be read.
  mutating func begin(_ table: TableReference?) {
    // Nothing was read of none.
    if self.table != nil {
      rows = WindowRows()
      for property in columns.indices {
        columns[property] = DecodedColumn(column: columns[property].column)
      }
    }
    self.table = table
  }

  // MARK: - Values that are decoded

  /// A whole number, or the bits of a double, of a plain column; nil where it is not that.
  @inline(__always)
  func plainNumber(_ property: Int, ofRow key: UInt64) -> Int64? {
    guard columns[property].isPlain, let place = rows.place(of: key) else { return nil }
    return columns[property].numbers[place]
  }

  /// A short text of a plain column; nil where it is not that.
  @inline(__always)
  func plainText(_ property: Int, ofRow key: UInt64) -> TextCell? {
    guard columns[property].isPlain, let place = rows.place(of: key) else { return nil }
    let cell = columns[property].texts[place]
    return cell.isShort ? cell : nil
  }

  /// A whole number, nil where it is null; nothing where it is not decoded.
  @inline(__always)
  mutating func decodedInteger(_ property: Int, ofRow key: UInt64) -> Int64?? {
    guard let row = decodedRow(key, property) else { return .none }
    return .some(isNull(row, property) ? nil : columns[property].numbers[row])
  }

  /// The same of a double.
  @inline(__always)
  mutating func decodedDouble(_ property: Int, ofRow key: UInt64) -> Double?? {
    guard let row = decodedRow(key, property) else { return .none }
    return .some(
      isNull(row, property) ? nil : Double(bitPattern: UInt64(bitPattern: columns[property].numbers[row])))
  }

  /// The same of a text.
  @inline(__always)
  mutating func decodedText(_ property: Int, ofRow key: UInt64) -> String?? {
    guard let row = decodedRow(key, property) else { return .none }
    let cell = columns[property].texts[row]
    if cell.isShort { return .some(cell.text) }
    return .some(cell.isNull ? nil : columns[property].longTexts[Int(cell.low)])
  }

  /// The place of a row among those that the column was decoded of.
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

  /// What `make` makes of the bytes of a column of data, which are not kept; `empty` where there are none.
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
    // What can't be decoded may be the value of another row: it is told where that is read.
    if isWalk(property, key) { try? decode(property, key, table) }
    return try body(table, columns[property].column)
  }

  /// Notes that a row is read; answers whether more after it likely will.
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

  /// The row comes soon after those of the window.
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
    // In a forged file a key may lead to other rows than stand with it.
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
  /// Their number where they run on without a gap; else 0.
  private var denseCount: UInt64 = 0
  /// Where they do not.
  private var keys: [UInt64] = []
  /// The row that was searched for last, and its place.
  private var known: (key: UInt64, place: Int) = (.max, 0)

  init() {}

  init(_ rows: RowKeys) {
    (first, last, count, keys) = (rows.first, rows.last, rows.count, rows.keys)
    known = (first, 0)
    if keys.isEmpty { denseCount = UInt64(count) }
  }

  /// The place of a row, where that takes no search. Not of no rows.
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
