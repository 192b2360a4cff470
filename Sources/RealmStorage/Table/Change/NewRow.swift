/// A row being made. Columns are named by their position in the schema. A column that is not set gets null where it is
/// optional, else its stored default, else the zero of its type.
///
/// - Precondition: of all setters, the table has the column, and it is of the value's type.
public struct NewRow: ~Copyable {
  private let buffer: UncountedReference<AppendBuffer>

  /// - Precondition: the buffer is there for as long as this is.
  init(_ buffer: AppendBuffer) { self.buffer = UncountedReference(buffer) }

  /// Whether it is the row that was begun of a buffer: it may have been swapped with another's.
  func isOf(_ buffer: AppendBuffer) -> Bool { self.buffer.use { $0 === buffer } }

  public mutating func set(_ column: Int, _ value: Value) throws(StorageError) {
    try buffer.use { (buffer) throws(StorageError) in
      precondition(
        buffer.columns[column].column.accepts(value),
        "column \(buffer.columns[column].column.name) of type \(buffer.columns[column].column.type) can't hold that value"
      )
      try buffer.set(column, value)
    }
  }

  /// Of an integer column, whatever its width.
  public mutating func set(_ column: Int, _ number: Int64) throws(StorageError) {
    let isSetAlone = try buffer.use { (buffer) throws(StorageError) in
      guard buffer.columns[column].column.type == .int64, !buffer.columns[column].isVarying else {
        return false
      }
      try buffer.set(column, number)
      return true
    }
    if !isSetAlone { try set(column, .int(number)) }
  }

  public mutating func set(_ column: Int, _ flag: Bool) throws(StorageError) {
    try set(column, .bool) { (buffer) throws(StorageError) in try buffer.set(column, Int64(flag ? 1 : 0)) }
  }

  public mutating func set(_ column: Int, _ number: Double) throws(StorageError) {
    try set(column, .double) { (buffer) throws(StorageError) in try buffer.set(column, number) }
  }

  public mutating func set(_ column: Int, _ date: Timestamp) throws(StorageError) {
    try set(column, .date) { (buffer) throws(StorageError) in try buffer.set(column, date) }
  }

  public mutating func set(_ column: Int, _ text: String) throws(StorageError) {
    try set(column, .string) { (buffer) throws(StorageError) in try buffer.set(column, text) }
  }

  /// Of a column of texts or data, as its bytes.
  ///
  /// - Precondition: those of a text are UTF-8.
  mutating func set(_ column: Int, bytes: RawSpan) throws(StorageError) {
    let buffer = buffer
    try buffer.use { (buffer) throws(StorageError) in
      precondition(
        buffer.columns[column].single == .string || buffer.columns[column].single == .data,
        "column \(buffer.columns[column].column.name) of type \(buffer.columns[column].column.type) can't hold bytes"
      )
      try buffer.set(column, bytes: bytes)
    }
  }

  @inline(__always)
  private func set(
    _ column: Int, _ type: ColumnType, _ body: (AppendBuffer) throws(StorageError) -> Void
  ) throws(StorageError) {
    try buffer.use { (buffer) throws(StorageError) in
      precondition(
        buffer.columns[column].single == type,
        "column \(buffer.columns[column].column.name) of type \(buffer.columns[column].column.type) can't hold that value"
      )
      try body(buffer)
    }
  }
}
