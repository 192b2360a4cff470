/// A row being made. Columns are named by their position in the schema; those not set get null, or the zero of their
/// type.
///
/// - Precondition: of all setters, the table has the column, and it is of the value's type.
public struct NewRow: ~Copyable {
  private let buffer: AppendBuffer

  init(_ buffer: AppendBuffer) { self.buffer = buffer }

  public mutating func set(_ column: Int, _ value: Value) throws(StorageError) {
    precondition(
      buffer.columns[column].column.accepts(value),
      "column \(buffer.columns[column].column.name) of type \(buffer.columns[column].column.type) can't hold that value"
    )
    try buffer.set(column, value)
  }

  /// Of an integer column, whatever its width.
  public mutating func set(_ column: Int, _ number: Int64) throws(StorageError) {
    let type = buffer.columns[column].column.type
    if type == .int64, !buffer.columns[column].isVarying {
      try buffer.set(column, number)
    } else {
      try set(column, .int(number))
    }
  }

  public mutating func set(_ column: Int, _ flag: Bool) throws(StorageError) {
    check(column, .bool)
    try buffer.set(column, Int64(flag ? 1 : 0))
  }

  public mutating func set(_ column: Int, _ number: Double) throws(StorageError) {
    check(column, .double)
    try buffer.set(column, number)
  }

  public mutating func set(_ column: Int, _ date: Timestamp) throws(StorageError) {
    check(column, .date)
    try buffer.set(column, date)
  }

  public mutating func set(_ column: Int, _ text: String) throws(StorageError) {
    check(column, .string)
    try buffer.set(column, text)
  }

  private func check(_ column: Int, _ type: ColumnType) {
    precondition(
      buffer.columns[column].column.type == type && !buffer.columns[column].column.isCollection,
      "column \(buffer.columns[column].column.name) of type \(buffer.columns[column].column.type) can't hold that value"
    )
  }
}
