extension Table {
  /// The keys of the rows that match a predicate, in the order in which they were made.
  ///
  /// - Precondition: the table has the columns of the predicate; the columns that its paths follow are links, and those whose
  ///   elements it counts are collections.
  public func rows(where predicate: Predicate) throws(StorageError) -> [UInt64] {
    try RowQuery(predicate, of: form, tables).rows(reader)
  }

  /// The number of rows that match a predicate.
  ///
  /// - Precondition: the same as that of `rows(where:)`.
  public func count(where predicate: Predicate) throws(StorageError) -> Int {
    // The most frequent predicate needs no plan.
    if case .compare(let path, .equal, let value) = predicate, path.links.isEmpty {
      let column = schema.columns[path.column]
      if column.index != .none, !column.isCollection, column.accepts(value) {
        return try count(with: value, in: column)
      }
    }
    return try RowQuery(predicate, of: form, tables).count(reader)
  }

  /// Whether a row exists and matches a predicate.
  ///
  /// - Precondition: the same as that of `rows(where:)`.
  public func contains(row key: UInt64, where predicate: Predicate) throws(StorageError) -> Bool {
    try !rows([key], where: predicate).isEmpty
  }

  /// The given rows that exist and match a predicate, in the given order.
  ///
  /// - Precondition: the same as that of `rows(where:)`.
  public func rows(_ rows: [UInt64], where predicate: Predicate) throws(StorageError) -> [UInt64] {
    try RowQuery(predicate, of: form, tables).rows(of: rows, reader)
  }

  /// Sorts rows by the values of columns. Rows with equal values keep their order.
  ///
  /// In ascending order null comes before all other values, and NaN before all numbers; in descending order they come after them.
  /// A row whose path ends at a null link comes before all values in ascending order, and after them in descending order. Strings
  /// and data are ordered by their bytes, links by the keys of the rows to which they lead.
  ///
  /// - Parameters:
  ///   - rows: the keys of the rows; nil for all rows, in the order in which they were made. Keys that no row has are left out.
  ///   - keys: the columns to sort by. A later one decides between rows that are equal in all earlier ones.
  /// - Precondition: the paths lead to single values: none of their columns is a collection.
  public func sorted(_ rows: [UInt64]?, by keys: [SortKey]) throws(StorageError) -> [UInt64] {
    var rows = rows
    return try takeSorted(&rows, by: keys, SortMemory.standard, within: QueryBounds())
  }

  /// Sorts rows, as `sorted(_:by:)` does. It takes the rows out of `rows`, so that the result can use their memory if no other
  /// variable has them.
  func takeSorted(
    _ rows: inout [UInt64]?, by keys: [SortKey], _ memory: SortMemory, within bounds: QueryBounds
  ) throws(StorageError) -> [UInt64] {
    var sort = try RowSort(keys, of: form, tables, taking: &rows, reader, memory, within: bounds)
    return try sort.takeSorted(reader)
  }

  /// The first row of each group of rows with equal values in some columns, in the given order. Values are equal if a sort treats
  /// them as equal.
  ///
  /// - Precondition: the paths lead to single values: none of their columns is a collection.
  public func distinct(_ rows: [UInt64], by paths: [ColumnPath]) throws(StorageError) -> [UInt64] {
    var rows: [UInt64]? = rows
    return try takeDistinct(&rows, by: paths, SortMemory.standard, within: QueryBounds())
  }

  /// Finds distinct rows, as `distinct(_:by:)` does. It takes the rows out of `rows`, so that the result can use their memory if
  /// no other variable has them.
  func takeDistinct(
    _ rows: inout [UInt64]?, by paths: [ColumnPath], _ memory: SortMemory, within bounds: QueryBounds
  ) throws(StorageError) -> [UInt64] {
    let keys = paths.map { SortKey($0) }
    var sort = try RowSort(keys, of: form, tables, taking: &rows, reader, memory, within: bounds)
    return try sort.takeDistinct(reader)
  }
}

extension Table {
  /// The number of rows whose value in a column is in a range. Null is in no range. Booleans count as 0 and 1, links as the keys
  /// of their rows.
  ///
  /// Takes time in proportion to the rows, a fraction of a nanosecond for each.
  ///
  /// - Parameter column: the position of the column in the schema.
  /// - Precondition: the table has the column, which has whole numbers, booleans or links and is not a collection.
  public func count(_ column: Int, in range: ClosedRange<Int64>) throws(StorageError) -> Int {
    let column = schema.columns[column]
    precondition(column.storage == .integers, "\(schema.name).\(column.name) is of type \(column.type)")
    return Int(clamping: try IntegerScan.count(column, in: range, of: clusters, reader))
  }
}

extension Table {
  /// The keys of a group of rows that are stored together: from the first row on whose key is at least `key`.
  ///
  /// - Returns: the keys, and the first possible key after them, with which to call this again; nil if no rows follow.
  public func keys(from key: UInt64) throws(StorageError) -> (keys: [UInt64], next: UInt64?) {
    let (rows, next) = try rowKeys(from: key)
    return (rows?.all ?? [], next)
  }

  /// The keys of a group of rows, as `keys(from:)` returns them. Keys that follow one another without gaps are not listed.
  package func rowKeys(from key: UInt64) throws(StorageError) -> (rows: RowKeys?, next: UInt64?) {
    guard !clusters.isNull else { return (nil, nil) }
    let access = beginReading()
    let (leaf, next) = try KeyedTree.leafAndNext(for: key, in: clusters, access)
    let cluster = ClusterNode(try access.node(leaf, .cluster))
    return (RowKeys(cluster, from: cluster.lowerBound(key)), next)
  }

  /// Checks that two ways of counting rows agree. In a sound file they do.
  ///
  /// - Throws: `.corrupted` if they do not.
  package func expect(_ found: Int, of count: Int) throws(StorageError) {
    guard found == count else { throw beginReading().corrupted(.rows, clusters) }
  }

  /// The error of a row that is not in the cluster to which its key leads. A sound file has no such row.
  package var missingRow: StorageError { beginReading().corrupted(.rows, clusters) }
}
