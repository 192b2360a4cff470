/// Reads the rows of a table in the order of an indexed column from its index, ascending or descending.
enum IndexOrder {
  /// Rows whose values have the same encoding in the index, in the order of their keys.
  struct Group {
    var rows: [UInt64]
    /// Whether the values may differ, because the encoding is cut.
    var isCut: Bool
  }

  /// Calls `body` with one group after another until it returns false.
  ///
  /// - Returns: false if a group has more than `most` rows; `body` is not called with that group. Otherwise true.
  /// - Precondition: `IndexSpan.serves` the column.
  static func forEachGroup(
    of column: Column, in root: Ref, ascending: Bool, atMost most: Int, _ access: borrowing NodeAccess,
    _ body: (Group) throws(StorageError) -> Bool
  ) throws(StorageError) -> Bool {
    guard !root.isNull else { return true }
    if IntegerIndex.serves(column) {
      _ = try forEachNumber(in: root, ascending: ascending, access, body)
      return true
    }
    var cursor = TreeCursor(root)
    if ascending { try cursor.seekFirst(access) } else { try cursor.seekLast(access) }
    var (value, rows): ([UInt8], [UInt64]) = ([], [])
    while cursor.isValid {
      let entry = try cursor.withEntry(access) { leaf, index in leaf.key(index) }
      guard let length = IndexKey.valueLength(entry.span.bytes, of: column), length <= entry.count,
        let row = IndexKey.row(LeafKey(entry.span.bytes), after: length)
      else { throw access.corrupted(.structure, root) }
      if rows.isEmpty || !entry.starts(with: value) || value.count != length {
        guard try give(rows, value, column, ascending, body) else { return true }
        (value, rows) = (Array(entry[..<length]), [])
      }
      rows.append(row)
      guard rows.count <= most else { return false }
      if ascending { try cursor.next(access) } else { try cursor.previous(access) }
    }
    _ = try give(rows, value, column, ascending, body)
    return true
  }

  private static func give(
    _ rows: [UInt64], _ value: [UInt8], _ column: Column, _ ascending: Bool,
    _ body: (Group) throws(StorageError) -> Bool
  ) throws(StorageError) -> Bool {
    if rows.isEmpty { return true }
    let isCut = IndexKey.isCut(value, of: column)
    return try body(Group(rows: ascending ? rows : rows.reversed(), isCut: isCut))
  }

  /// Calls `body` with a group for each row of an integer index. Each number in the index of a primary key belongs to
  /// one row.
  private static func forEachNumber(
    in ref: Ref, ascending: Bool, _ access: borrowing NodeAccess,
    _ body: (Group) throws(StorageError) -> Bool
  ) throws(StorageError) -> Bool {
    guard ref.isKeyedBranch else {
      let leaf = IntegerIndexNode(try access.node(ref, .integerIndex))
      for place in 0..<leaf.count {
        let row = leaf.row(ascending ? place : leaf.count - 1 - place)
        guard try body(Group(rows: [row], isCut: false)) else { return false }
      }
      return true
    }
    let branch = KeyedBranch(try access.node(ref))
    for index in 0..<branch.count {
      let child = branch.child(ascending ? index : branch.count - 1 - index)
      guard try forEachNumber(in: child, ascending: ascending, access, body) else { return false }
    }
    return true
  }
}
