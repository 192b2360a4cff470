/// Finds rows by the values of an indexed column: an ordered tree of `IndexKey` entries without values.
enum IndexTree {
  /// Calls `body` with the key of each row that has the value encoded, in the order of the keys, until it answers
  /// false. Where the encoding is cut these are all rows that share it.
  static func forEachRow(
    _ encoded: [UInt8], in root: Ref, _ access: borrowing NodeAccess,
    _ body: (UInt64) throws(StorageError) -> Bool
  ) throws(StorageError) {
    guard !root.isNull else { return }
    var cursor = TreeCursor(root)
    try cursor.seek(encoded.span.bytes, access)
    while cursor.isValid {
      let entry = try cursor.withEntry(access) { leaf, index in leaf.key(index) }
      guard entry.starts(with: encoded) else { return }
      guard let row = IndexKey.row(entry, after: encoded.count) else {
        throw access.corrupted(.structure, root)
      }
      guard try body(row) else { return }
      try cursor.next(access)
    }
  }

  /// How many rows have the value encoded, which is not cut. O(log n).
  static func count(
    _ encoded: [UInt8], in root: Ref, _ access: borrowing NodeAccess
  ) throws(StorageError) -> UInt64 {
    let end = encoded + [0xff]
    return try OrderedTree.rank(end.span.bytes, in: root, access)
      &- OrderedTree.rank(encoded.span.bytes, in: root, access)
  }

  /// The row with a value of a unique column; nil where there is none.
  static func row(
    with value: Value, of column: Column, table: TableRoot, _ access: borrowing NodeAccess
  ) throws(StorageError) -> UInt64? {
    let encoded = IndexKey.encode(value, of: column)
    var found: UInt64?
    try forEachRow(encoded, in: table.index(of: column), access) { (key) throws(StorageError) in
      if IndexKey.isCut(encoded) {
        guard try TableReading.value(column, ofRow: key, in: table.clusters, access) == value else {
          return true
        }
      }
      found = key
      return false
    }
    return found
  }
}
