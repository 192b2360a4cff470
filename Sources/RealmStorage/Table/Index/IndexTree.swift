/// Functions that find rows by the values of an indexed column. The index is an ordered tree of `IndexKey`
/// entries without values.
enum IndexTree {
  /// Calls `body` with the key of each row that has the encoded value, in the order of the keys, until `body` returns
  /// false. If the encoding is cut, these are all rows that share it.
  static func forEachRow(
    _ encoded: [UInt8], in root: Ref, _ access: borrowing NodeAccess,
    _ body: (UInt64) throws(StorageError) -> Bool
  ) throws(StorageError) {
    guard !root.isNull else { return }
    var cursor = TreeCursor(root)
    try cursor.seek(encoded.span.bytes, access)
    while cursor.isValid {
      let row = try cursor.withEntry(access) { (leaf, index) throws(StorageError) -> UInt64? in
        let entry = LeafKey(leaf, index)
        guard entry.starts(with: encoded.span.bytes) else { return nil }
        guard let row = IndexKey.row(entry, after: encoded.count) else {
          throw access.corrupted(.structure, root)
        }
        return row
      }
      guard let row, try body(row) else { return }
      try cursor.next(access)
    }
  }

  /// The rows with a value of a column, in the order of their keys.
  // The compiler (6.3.1) stops with an error if it optimizes queries into which this function is inlined.
  @inline(never)
  static func rows(
    with value: Value, of column: Column, table: TableRoot, _ access: borrowing NodeAccess
  ) throws(StorageError) -> [UInt64] {
    if IntegerIndex.serves(column) {
      return try row(with: value, of: column, table: table, access).map { [$0] } ?? []
    }
    let encoded = IndexKey.encode(value, of: column)
    var rows: [UInt64] = []
    try forEachRow(encoded, in: table.index(of: column), access) { (row) throws(StorageError) in
      guard try has(value, encoded, column, row, table, access) else { return true }
      rows.append(row)
      return true
    }
    return rows
  }

  /// The number of rows that have a value of a column. Takes O(log n), except for values whose encoding is cut.
  // This function is not inlined for the same reason as `rows(with:of:)`.
  @inline(never)
  static func count(
    with value: Value, of column: Column, table: TableRoot, _ access: borrowing NodeAccess
  ) throws(StorageError) -> UInt64 {
    if IntegerIndex.serves(column) {
      return try row(with: value, of: column, table: table, access) == nil ? 0 : 1
    }
    guard !IndexKey.isCut(IndexKey.encode(value, of: column), of: column) else {
      return UInt64(try rows(with: value, of: column, table: table, access).count)
    }
    return try count(like: value, of: column, table: table, access)
  }

  /// The number of rows that have a value of a column, or another value with the same encoding. Takes O(log n).
  // This function is not inlined for the same reason as `rows(with:of:)`.
  @inline(never)
  static func count(
    like value: Value, of column: Column, table: TableRoot, _ access: borrowing NodeAccess
  ) throws(StorageError) -> UInt64 {
    if IntegerIndex.serves(column) {
      return try row(with: value, of: column, table: table, access) == nil ? 0 : 1
    }
    var end = IndexKey.encode(value, of: column)
    let length = end.count
    // The byte behind the value in an entry is less than ff.
    end.append(0xff)
    return try OrderedTree.count(
      from: end.span.bytes.extracting(first: length), below: end.span.bytes, in: table.index(of: column),
      access)
  }

  /// The row with a value of a unique column; nil if there is none.
  static func row(
    with value: Value, of column: Column, table: TableRoot, _ access: borrowing NodeAccess
  ) throws(StorageError) -> UInt64? {
    if IntegerIndex.serves(column) {
      guard case .int(let number) = value else { return nil }
      return try IntegerIndex.row(of: number, in: table.index(of: column), access)
    }
    let encoded = IndexKey.encode(value, of: column)
    var found: UInt64?
    try forEachRow(encoded, in: table.index(of: column), access) { (key) throws(StorageError) in
      guard try has(value, encoded, column, key, table, access) else { return true }
      found = key
      return false
    }
    return found
  }

  /// Whether a row whose entry has the encoding of a value has that value. If the encoding is cut,
  /// other values may share it.
  private static func has(
    _ value: Value, _ encoded: [UInt8], _ column: Column, _ row: UInt64, _ table: TableRoot,
    _ access: borrowing NodeAccess
  ) throws(StorageError) -> Bool {
    guard IndexKey.isCut(encoded, of: column) else { return true }
    let found = try TableReading.value(column, ofRow: row, in: table, access)
    return found.map { ValueOrder.areEqual($0, value) } ?? false
  }
}
