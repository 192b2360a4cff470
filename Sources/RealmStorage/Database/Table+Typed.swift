/// What stands in a row's column.
public enum Found<Content> {
  /// There is no such row.
  case noRow
  case null
  case value(Content)
}

extension Found: Sendable where Content: Sendable {}
extension Found: Equatable where Content: Equatable {}

/// Reads of one value, by the column's position in the schema. O(log n).
extension Table {
  /// A whole number; of a boolean column 0 or 1, of a link the key of the row it points to.
  ///
  /// - Precondition: the column is one of the table, of whole numbers, booleans or links, and no list.
  public func integer(_ column: Int, ofRow key: UInt64) throws(StorageError) -> Found<Int64> {
    try content.integer(column, ofRow: key)
  }

  /// - Precondition: the column is one of the table, of doubles, and no list.
  public func double(_ column: Int, ofRow key: UInt64) throws(StorageError) -> Found<Double> {
    try content.double(column, ofRow: key)
  }

  /// - Precondition: the column is one of the table, of floats, and no list.
  public func float(_ column: Int, ofRow key: UInt64) throws(StorageError) -> Found<Float> {
    try content.float(column, ofRow: key)
  }

  /// - Precondition: the column is one of the table, of dates, and no list.
  public func date(_ column: Int, ofRow key: UInt64) throws(StorageError) -> Found<Timestamp> {
    try content.date(column, ofRow: key)
  }

  /// - Precondition: the column is one of the table, of strings, and no list.
  /// - Throws: `.corrupted` for what is no UTF-8, too.
  public func text(_ column: Int, ofRow key: UInt64) throws(StorageError) -> Found<String> {
    try content.text(column, ofRow: key)
  }

  /// - Precondition: the column is one of the table, of data, and no list.
  public func bytes(_ column: Int, ofRow key: UInt64) throws(StorageError) -> Found<[UInt8]> {
    try content.bytes(column, ofRow: key)
  }
}
