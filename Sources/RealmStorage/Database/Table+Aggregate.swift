extension Table {
  /// The sum of a column's values, nulls and NaN aside; without any, zero.
  ///
  /// - Parameter rows: nil for all rows. A row that is given twice counts twice, one that is not there not at all.
  /// - Precondition: the column is one of the table, of whole numbers, floats, doubles or decimals, and no list.
  public func sum(_ column: Int, of rows: [UInt64]?) throws(StorageError) -> Sum {
    Sum(try aggregate(column, of: rows))
  }

  /// The average of a column's values, nulls and NaN aside: a double, of decimals a decimal; null without any.
  ///
  /// - Parameter rows: as of `sum(_:of:)`.
  /// - Precondition: as of `sum(_:of:)`.
  public func average(_ column: Int, of rows: [UInt64]?) throws(StorageError) -> Value {
    try aggregate(column, of: rows).average
  }

  /// The least of a column's values, nulls and NaN aside; null without any.
  ///
  /// - Parameter rows: as of `sum(_:of:)`.
  /// - Precondition: the column is one of the table, of whole numbers, floats, doubles, decimals or dates, and no list.
  public func minimum(_ column: Int, of rows: [UInt64]?) throws(StorageError) -> Value {
    try extreme(column, of: rows, isGreatest: false)
  }

  /// The greatest of a column's values, nulls and NaN aside; null without any.
  ///
  /// - Parameter rows: as of `sum(_:of:)`.
  /// - Precondition: as of `minimum(_:of:)`.
  public func maximum(_ column: Int, of rows: [UInt64]?) throws(StorageError) -> Value {
    try extreme(column, of: rows, isGreatest: true)
  }

  private func aggregate(_ position: Int, of rows: [UInt64]?) throws(StorageError) -> Aggregate {
    let column = schema.columns[position]
    check(column, column.type.isNumber && !column.isCollection)
    var total = Aggregate(column)
    guard let rows else {
      try ClusterWalk.forEach(in: clusters, reader, ahead: { total.place.prefetch($0, $1) }) { cluster, _ in
        total.add(cluster, RowMask(first: cluster.rows))
      }
      return total
    }
    if zip(rows, rows.dropFirst()).allSatisfy({ $0 < $1 }) {
      try ClusterWalk.forEach(of: rows, in: clusters, reader) { cluster, rows, _ in
        total.add(cluster, rows)
      }
      return total
    }
    // One by one, since a row that is given twice counts twice.
    try ClusterWalk.forEachRow(of: rows, in: clusters, reader) { row, cluster, _ in
      var one = RowMask.none
      one.insert(row)
      total.add(cluster, one)
    }
    return total
  }

  private func extreme(
    _ position: Int, of rows: [UInt64]?, isGreatest: Bool
  ) throws(StorageError) -> Value {
    let column = schema.columns[position]
    check(column, (column.type.isNumber || column.type == .date) && !column.isCollection)
    var extreme = Extreme(column, isGreatest: isGreatest)
    if let rows {
      try ClusterWalk.forEachRow(of: rows, in: clusters, reader) {
        (row, cluster, access) throws(StorageError) in
        var one = RowMask.none
        one.insert(row)
        try extreme.add(cluster, one, access)
      }
    } else {
      try ClusterWalk.forEach(in: clusters, reader) { (cluster, access) throws(StorageError) in
        try extreme.add(cluster, RowMask(first: cluster.rows), access)
      }
    }
    return extreme.value
  }

  private func check(_ column: Column, _ fits: Bool) {
    precondition(fits, "\(schema.name).\(column.name) is of type \(column.type): there is no such aggregate")
  }
}
