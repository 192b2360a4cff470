/// A table that somebody else keeps meanwhile: read without counting references.
package struct TableReference: BitwiseCopyable {
  private let content: Unmanaged<TableContent>

  package init(_ table: borrowing Table) { content = .passUnretained(table.content) }

  /// See `Table`. What is read of the row soon is asked for.
  ///
  /// - Precondition: the table has a primary key of whole numbers, which are never null.
  package func row(withPrimaryKey number: Int64) throws(StorageError) -> UInt64? {
    try content.lend { (content) throws(StorageError) in try content.row(withPrimaryKey: number) }
  }

  // MARK: - One value

  /// See `Table.integer`.
  package func integer(_ column: Int, ofRow key: UInt64) throws(StorageError) -> Found<Int64> {
    try content.lend { (content) throws(StorageError) in try content.integer(column, ofRow: key) }
  }

  /// See `Table.double`.
  package func double(_ column: Int, ofRow key: UInt64) throws(StorageError) -> Found<Double> {
    try content.lend { (content) throws(StorageError) in try content.double(column, ofRow: key) }
  }

  /// See `Table.text`.
  package func text(_ column: Int, ofRow key: UInt64) throws(StorageError) -> Found<String> {
    try content.lend { (content) throws(StorageError) in try content.text(column, ofRow: key) }
  }

  /// What `make` makes of the bytes of a column of data, without an array of them.
  package func bytes<Content>(
    _ column: Int, ofRow key: UInt64, _ make: (RawSpan) -> Content
  ) throws(StorageError) -> Found<Content> {
    try content.lend { (content) throws(StorageError) in
      try content.bytes(column, ofRow: key, make)
    }
  }

  // MARK: - The values of rows that stand together

  /// The rows that stand with a row; nil where that is not there.
  package func rows(around key: UInt64) throws(StorageError) -> RowKeys? {
    try content.lend { (content) throws(StorageError) in try content.rows(around: key) }
  }

  /// The column's values are strings or data.
  package func isVarying(_ column: Int) -> Bool {
    content.lend { $0.columns[column].kind == .varying }
  }

  /// The values of a column of numbers, and which of them are null, if any: doubles as their bits.
  package func numbers(
    _ column: Int, around key: UInt64
  ) throws(StorageError) -> (numbers: [Int64], nulls: [Bool]) {
    try content.lend { (content) throws(StorageError) in try content.numbers(column, around: key) }
  }

  /// The values of a column of strings; nil where they do not stand in one piece, and so are long or many.
  package func texts(_ column: Int, around key: UInt64) throws(StorageError) -> DecodedTexts? {
    try content.lend { (content) throws(StorageError) in try content.texts(column, around: key) }
  }
}
