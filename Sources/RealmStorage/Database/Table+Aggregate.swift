extension Table {
  /// The sum of the values of a column, without nulls and NaN; zero if there are none. Takes time in proportion to the rows.
  ///
  /// - Parameters:
  ///   - column: the position of the column in the schema.
  ///   - rows: the keys of the rows; nil for all rows. A key that stands twice counts twice, and one that no row has is ignored.
  /// - Precondition: the table has the column, which has whole numbers, floats, doubles or decimals and is not a collection.
  public func sum(_ column: Int, of rows: [UInt64]?) throws(StorageError) -> Sum {
    Sum(try aggregate(column, of: rows))
  }

  /// The average of the values of a column, without nulls and NaN; null if there are none. It is a decimal for a column of
  /// decimals, otherwise a double. Takes time in proportion to the rows.
  ///
  /// - Parameters:
  ///   - column: the position of the column in the schema.
  ///   - rows: the keys of the rows, as in `sum(_:of:)`.
  /// - Precondition: the table has the column, which has whole numbers, floats, doubles or decimals and is not a collection.
  public func average(_ column: Int, of rows: [UInt64]?) throws(StorageError) -> Value {
    try aggregate(column, of: rows).average
  }

  /// The smallest value of a column, without nulls and NaN; null if there is none. Takes time in proportion to the rows.
  ///
  /// - Parameters:
  ///   - column: the position of the column in the schema.
  ///   - rows: the keys of the rows, as in `sum(_:of:)`.
  /// - Precondition: the table has the column, which has whole numbers, floats, doubles, decimals or dates and is not a
  ///   collection.
  public func minimum(_ column: Int, of rows: [UInt64]?) throws(StorageError) -> Value {
    try extreme(column, of: rows, isGreatest: false)
  }

  /// The greatest value of a column, without nulls and NaN; null if there is none. Takes time in proportion to the rows.
  ///
  /// - Parameters:
  ///   - column: the position of the column in the schema.
  ///   - rows: the keys of the rows, as in `sum(_:of:)`.
  /// - Precondition: the table has the column, which has whole numbers, floats, doubles, decimals or dates and is not a
  ///   collection.
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
    // The rows are added one by one, because a key that stands twice counts twice.
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
