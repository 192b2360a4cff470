extension CreatedRows {
  /// Reads rows of a version.
  ///
  /// - Parameters:
  ///   - rows: The places of the rows in the group, in ascending order.
  ///   - key: The position of the primary key.
  /// - Throws: `.corrupted`.
  init(
    _ group: borrowing RowGroup, _ rows: [Int], _ schema: TableSchema, key: Int
  ) throws(StorageError) {
    var keys: [UInt64] = []
    keys.reserveCapacity(rows.count)
    for row in rows { keys.append(try group.key(row)) }
    var names = Encoded(position: key)
    try names.append(group, rows, schema.columns[key], isKey: true)
    var (columns, others): ([Encoded], [Int]) = ([], [])
    for (position, column) in schema.columns.enumerated() where position != key && !column.isCompanion {
      guard !column.isCollection, !column.canLink else {
        others.append(position)
        continue
      }
      var encoded = Encoded(position: position)
      try encoded.append(group, rows, column, isKey: false)
      columns.append(encoded)
    }
    self.init(keys: keys, names: names, columns: columns, others: others)
  }
}

extension CreatedRows.Encoded {
  fileprivate mutating func append(
    _ group: borrowing RowGroup, _ rows: [Int], _ column: Column, isKey: Bool
  ) throws(StorageError) {
    reserve(rows.count)
    guard column.holdsPlainBytes, !isKey else {
      let usual = column.defaultValue
      for row in rows { append(try group.value(position, row), usual, column, isKey: isKey) }
      return
    }
    var next = 0
    while next < rows.count {
      let texts = try group.texts(position, from: rows[next])
      while next < rows.count, texts.rows.contains(rows[next]) {
        let row = rows[next]
        next += 1
        if texts.isLong(row) {
          appendApart()
        } else if texts.isNull(row) {
          appendNull(isKey: false)
        } else {
          append(try texts.bytes(row), column, isKey: false)
        }
      }
    }
  }
}
