/// The result of reading the value of a column in a row.
public enum Found<Content> {
  /// The table has no such row.
  case noRow
  /// The row has null in the column.
  case null
  /// The row has this value in the column.
  case value(Content)
}

extension Found: Sendable where Content: Sendable {}
extension Found: Equatable where Content: Equatable {}

/// Reading of single values. `column` is the position of the column in the schema. O(log n).
extension Table {
  /// The whole number of a column in a row. A boolean is read as 0 or 1, and a link as the key of its row.
  ///
  /// - Precondition: the table has the column, which has whole numbers, booleans or links and is not a collection.
  public func integer(_ column: Int, ofRow key: UInt64) throws(StorageError) -> Found<Int64> {
    try content.integer(column, ofRow: key)
  }

  /// The double of a column in a row.
  ///
  /// - Precondition: the table has the column, which has doubles and is not a collection.
  public func double(_ column: Int, ofRow key: UInt64) throws(StorageError) -> Found<Double> {
    try content.double(column, ofRow: key)
  }

  /// The float of a column in a row.
  ///
  /// - Precondition: the table has the column, which has floats and is not a collection.
  public func float(_ column: Int, ofRow key: UInt64) throws(StorageError) -> Found<Float> {
    try content.float(column, ofRow: key)
  }

  /// The date of a column in a row.
  ///
  /// - Precondition: the table has the column, which has dates and is not a collection.
  public func date(_ column: Int, ofRow key: UInt64) throws(StorageError) -> Found<Timestamp> {
    try content.date(column, ofRow: key)
  }

  /// The text of a column in a row.
  ///
  /// - Precondition: the table has the column, which has strings and is not a collection.
  /// - Throws: as all functions that read; also `.corrupted` if the bytes are not UTF-8.
  public func text(_ column: Int, ofRow key: UInt64) throws(StorageError) -> Found<String> {
    try content.text(column, ofRow: key)
  }

  /// The bytes of a column in a row.
  ///
  /// - Precondition: the table has the column, which has data and is not a collection.
  public func bytes(_ column: Int, ofRow key: UInt64) throws(StorageError) -> Found<[UInt8]> {
    try content.bytes(column, ofRow: key)
  }
}
