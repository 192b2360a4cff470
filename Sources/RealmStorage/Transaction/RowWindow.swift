/// Values of rows that stand together, decoded at once, column by column: who walks rows reads the same columns of one
/// after another. What is read in no such order is read from the table.
///
/// Used by one thread, with one table at a time. It holds copies of 512 values a column at most, and decides nothing.
package final class RowWindow {
  // No access is checked for another at the same time: of one thread, none lasts longer than a method.
  @exclusivity(unchecked) private var content: Unmanaged<TableContent>?
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

  package init() {}

  /// From now on values are read of a table, which somebody else keeps; where it is nil nothing may be read.
  package func begin(_ table: borrowing Table?) {
    rows = WindowRows()
    switch table {
    case .some(let table):
      content = .passUnretained(table.content)
      columns = Array(repeating: DecodedColumn(), count: table.content.columns.count)
    case .none:
      content = nil
      columns = []
    }
  }

  fileprivate func integer(_ column: Int, ofRow key: UInt64) throws(StorageError) -> Found<Int64> {
    if let row = decodedRow(key, column) {
      return isNull(row, column) ? .null : .value(columns[column].numbers[row])
    }
    return try read(column, key) { (content, key) throws(StorageError) in
      try content.integer(column, ofRow: key)
    }
  }

  fileprivate func double(_ column: Int, ofRow key: UInt64) throws(StorageError) -> Found<Double> {
    if let row = decodedRow(key, column) {
      return isNull(row, column)
        ? .null : .value(Double(bitPattern: UInt64(bitPattern: columns[column].numbers[row])))
    }
    return try read(column, key) { (content, key) throws(StorageError) in
      try content.double(column, ofRow: key)
    }
  }

  fileprivate func text(_ column: Int, ofRow key: UInt64) throws(StorageError) -> Found<String> {
    if let row = decodedRow(key, column) {
      return isNull(row, column) ? .null : .value(columns[column].texts[row])
    }
    return try read(column, key) { (content, key) throws(StorageError) in
      try content.text(column, ofRow: key)
    }
  }

  /// Bytes are made of what is read, and not kept.
  fileprivate func bytes<Content>(
    _ column: Int, ofRow key: UInt64, _ empty: Content, _ make: (RawSpan) -> Content
  ) throws(StorageError) -> Found<Content> {
    guard let content else { return .noRow }
    return try content.lend { (content) throws(StorageError) in
      try content.bytes(column, ofRow: key, empty, make)
    }
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

  // MARK: - Decoding

  @inline(never)
  private func read<Content>(
    _ column: Int, _ key: UInt64, _ body: (TableContent, UInt64) throws(StorageError) -> Found<Content>
  ) throws(StorageError) -> Found<Content> {
    guard let content else { return .noRow }
    return try content.lend { (content) throws(StorageError) in
      // What can't be decoded may be the value of another row: it is told where that is read.
      if isWalk(column, key) { try? decode(column, key, content) }
      return try body(content, key)
    }
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

  private func decode(_ column: Int, _ key: UInt64, _ content: TableContent) throws(StorageError) {
    if !rows.contains(key) {
      let isBehind = isBehind(key)
      guard let found = try content.rows(around: key) else { return }
      for column in columns.indices {
        columns[column].isPromised = isBehind && columns[column].isDecoded
        columns[column].isDecoded = false
        columns[column].isRefused = false
      }
      rows = found
    }
    columns[column].isRefused = true
    if content.columns[column].kind == .varying {
      guard let decoded = try content.texts(column, around: rows.first) else { return }
      (columns[column].texts, columns[column].nulls) = decoded
    } else {
      (columns[column].numbers, columns[column].nulls) = try content.numbers(column, around: rows.first)
    }
    columns[column].isRefused = false
    columns[column].isDecoded = true
  }
}

/// A window that somebody else keeps meanwhile: used without counting references.
package struct RowWindowReference: BitwiseCopyable {
  private let window: Unmanaged<RowWindow>

  package init(_ window: RowWindow) { self.window = .passUnretained(window) }

  /// See `Table.integer`.
  package func integer(_ column: Int, ofRow key: UInt64) throws(StorageError) -> Found<Int64> {
    try window.lend { (window) throws(StorageError) in try window.integer(column, ofRow: key) }
  }

  /// See `Table.double`.
  package func double(_ column: Int, ofRow key: UInt64) throws(StorageError) -> Found<Double> {
    try window.lend { (window) throws(StorageError) in try window.double(column, ofRow: key) }
  }

  /// See `Table.text`.
  package func text(_ column: Int, ofRow key: UInt64) throws(StorageError) -> Found<String> {
    try window.lend { (window) throws(StorageError) in try window.text(column, ofRow: key) }
  }

  /// What `make` makes of the bytes of a column of data, without an array of them; `empty` where there are none.
  package func bytes<Content>(
    _ column: Int, ofRow key: UInt64, _ empty: Content, _ make: (RawSpan) -> Content
  ) throws(StorageError) -> Found<Content> {
    try window.lend { (window) throws(StorageError) in try window.bytes(column, ofRow: key, empty, make) }
  }
}
