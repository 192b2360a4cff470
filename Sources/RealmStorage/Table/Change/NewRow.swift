/// A row that is being made. Columns are named by their position in the schema. An optional column that is not set gets null;
/// another one gets its stored default, or the zero of its type if it has none.
///
/// - Precondition: for all setters, the table has the column, and it has the type of the value. Otherwise the program stops.
public struct NewRow: ~Copyable {
  private let buffer: UncountedReference<AppendBuffer>

  /// - Precondition: the buffer exists as long as this value.
  init(_ buffer: AppendBuffer) { self.buffer = UncountedReference(buffer) }

  /// Whether it is the row of a buffer: the program may have swapped it with another row.
  func isOf(_ buffer: AppendBuffer) -> Bool { self.buffer.use { $0 === buffer } }

  /// Sets the value of a column of any type.
  ///
  /// - Precondition: the value fits the column. Otherwise the program stops.
  /// - Throws: `.limitExceeded`, `.corrupted`.
  public mutating func set(_ column: Int, _ value: Value) throws(StorageError) {
    try buffer.use { (buffer) throws(StorageError) in
      precondition(
        buffer.columns[column].column.accepts(value),
        "column \(buffer.columns[column].column.name) of type \(buffer.columns[column].column.type) can't hold that value"
      )
      try buffer.set(column, value)
    }
  }

  /// Sets the number of a column of whole numbers. In a column of mixed values it sets a whole number too.
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

  /// Sets the value of a column of booleans.
  public mutating func set(_ column: Int, _ flag: Bool) throws(StorageError) {
    try set(column, .bool) { (buffer) throws(StorageError) in try buffer.set(column, Int64(flag ? 1 : 0)) }
  }

  /// Sets the number of a column of doubles.
  public mutating func set(_ column: Int, _ number: Double) throws(StorageError) {
    try set(column, .double) { (buffer) throws(StorageError) in try buffer.set(column, number) }
  }

  /// Sets the point in time of a column of dates.
  public mutating func set(_ column: Int, _ date: Timestamp) throws(StorageError) {
    try set(column, .date) { (buffer) throws(StorageError) in try buffer.set(column, date) }
  }

  /// Sets the text of a column of strings.
  public mutating func set(_ column: Int, _ text: String) throws(StorageError) {
    try set(column, .string) { (buffer) throws(StorageError) in try buffer.set(column, text) }
  }

  /// Sets the value of a column of strings or data by its bytes.
  ///
  /// - Precondition: the bytes of a string are UTF-8.
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
