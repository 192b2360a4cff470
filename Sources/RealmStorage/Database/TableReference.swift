/// A reference to a table that is read without counting references. Its owner has to keep the table as long as this is
/// used.
package struct TableReference: BitwiseCopyable {
  private let content: Unmanaged<TableContent>

  package init(_ table: borrowing Table) { content = .passUnretained(table.content) }

  /// The key of the row with a primary key; nil if there is no such row. It prefetches the head of the row's cluster.
  ///
  /// - Precondition: the primary key of the table has whole numbers and is not optional.
  package func row(withPrimaryKey number: Int64) throws(StorageError) -> UInt64? {
    try content.lend { (content) throws(StorageError) in try content.row(withPrimaryKey: number) }
  }

  // MARK: - One value

  /// The whole number of a column in a row; see `Table.integer(_:ofRow:)`.
  package func integer(_ column: Int, ofRow key: UInt64) throws(StorageError) -> Found<Int64> {
    try content.lend { (content) throws(StorageError) in try content.integer(column, ofRow: key) }
  }

  /// The double of a column in a row; see `Table.double(_:ofRow:)`.
  package func double(_ column: Int, ofRow key: UInt64) throws(StorageError) -> Found<Double> {
    try content.lend { (content) throws(StorageError) in try content.double(column, ofRow: key) }
  }

  /// The text of a column in a row; see `Table.text(_:ofRow:)`.
  package func text(_ column: Int, ofRow key: UInt64) throws(StorageError) -> Found<String> {
    try content.lend { (content) throws(StorageError) in try content.text(column, ofRow: key) }
  }

  /// The result of calling `make` with the bytes of a column of data in a row. No array of the bytes is made.
  package func bytes<Content>(
    _ column: Int, ofRow key: UInt64, _ make: (RawSpan) -> Content
  ) throws(StorageError) -> Found<Content> {
    try content.lend { (content) throws(StorageError) in
      try content.bytes(column, ofRow: key, make)
    }
  }

  // MARK: - The values of rows that stand together

  /// The keys of the rows in the cluster of a row; nil if there is no such row.
  package func rows(around key: UInt64) throws(StorageError) -> RowKeys? {
    try content.lend { (content) throws(StorageError) in try content.rows(around: key) }
  }

  /// Whether the values of a column are strings or data.
  package func isVarying(_ column: Int) -> Bool {
    content.lend { $0.columns[column].kind == .varying }
  }

  /// The values of a column of numbers in the cluster of a row. Doubles are given by their bits.
  ///
  /// - Returns: the values, and for each of them whether it is null. `nulls` is empty if no value is null; both are
  ///   empty if there is no such row.
  package func numbers(
    _ column: Int, around key: UInt64
  ) throws(StorageError) -> (numbers: [Int64], nulls: [Bool]) {
    try content.lend { (content) throws(StorageError) in try content.numbers(column, around: key) }
  }

  /// The values of a column of strings in the cluster of a row; nil if there is no such row, or if the values are so
  /// long or many that they are not in one piece.
  package func texts(_ column: Int, around key: UInt64) throws(StorageError) -> DecodedTexts? {
    try content.lend { (content) throws(StorageError) in try content.texts(column, around: key) }
  }
}
