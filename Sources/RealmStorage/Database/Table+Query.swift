extension Table {
  /// The keys of the rows of which a predicate holds, in the order they were made.
  ///
  /// - Precondition: the predicate's columns are there; those it follows are links, those it counts lists.
  public func rows(where predicate: Predicate) throws(StorageError) -> [UInt64] {
    try RowQuery(predicate, of: form, tables).rows(reader)
  }

  /// How many rows a predicate holds of.
  ///
  /// - Precondition: as of `rows(where:)`.
  public func count(where predicate: Predicate) throws(StorageError) -> Int {
    // The most frequent of all needs no plan.
    if case .compare(let path, .equal, let value) = predicate, path.links.isEmpty {
      let column = schema.columns[path.column]
      if column.index != .none, !column.isCollection, column.accepts(value) {
        return try count(with: value, in: column)
      }
    }
    return try RowQuery(predicate, of: form, tables).count(reader)
  }

  /// Whether there is such a row and a predicate holds of it.
  ///
  /// - Precondition: as of `rows(where:)`.
  public func contains(row key: UInt64, where predicate: Predicate) throws(StorageError) -> Bool {
    try !rows([key], where: predicate).isEmpty
  }

  /// Those of the given rows that are there and of which a predicate holds, in the order they are given.
  ///
  /// - Precondition: as of `rows(where:)`.
  public func rows(_ rows: [UInt64], where predicate: Predicate) throws(StorageError) -> [UInt64] {
    try RowQuery(predicate, of: form, tables).rows(of: rows, reader)
  }

  /// Rows in the order of columns' values, and among equals in the order they are given.
  ///
  /// Null comes before all else, or after it where the order is not ascending; NaN before all numbers. A row whose path ends
  /// at a link that is null comes after all values, or before them. Strings and data are ordered by their bytes, links by the
  /// keys of the rows they point to.
  ///
  /// - Parameter rows: nil for all rows, in the order they were made. Rows that are not there are left out.
  /// - Precondition: there are no lists on the paths.
  public func sorted(_ rows: [UInt64]?, by keys: [SortKey]) throws(StorageError) -> [UInt64] {
    var rows = rows
    return try takeSorted(&rows, by: keys, SortMemory.standard, within: QueryBounds())
  }

  /// The same; nothing is left of what was given, so that its memory becomes the result's where nobody else has it.
  func takeSorted(
    _ rows: inout [UInt64]?, by keys: [SortKey], _ memory: SortMemory, within bounds: QueryBounds
  ) throws(StorageError) -> [UInt64] {
    var sort = try RowSort(keys, of: form, tables, taking: &rows, reader, memory, within: bounds)
    return try sort.takeSorted(reader)
  }

  /// Of rows with the same values the first, in the order they are given. Values are the same where a sort would not
  /// part them.
  ///
  /// - Precondition: there are no lists on the paths.
  public func distinct(_ rows: [UInt64], by paths: [ColumnPath]) throws(StorageError) -> [UInt64] {
    var rows: [UInt64]? = rows
    return try takeDistinct(&rows, by: paths, SortMemory.standard, within: QueryBounds())
  }

  /// The same; nothing is left of what was given, so that its memory becomes the result's where nobody else has it.
  func takeDistinct(
    _ rows: inout [UInt64]?, by paths: [ColumnPath], _ memory: SortMemory, within bounds: QueryBounds
  ) throws(StorageError) -> [UInt64] {
    let keys = paths.map { SortKey($0) }
    var sort = try RowSort(keys, of: form, tables, taking: &rows, reader, memory, within: bounds)
    return try sort.takeDistinct(reader)
  }
}

extension Table {
  /// How many rows have a value in a range in an integer, boolean or link column. Null is in no range.
  ///
  /// Takes time in proportion to the rows, a fraction of a nanosecond each.
  ///
  /// - Precondition: the column is one of the table, of whole numbers, and no list.
  public func count(_ column: Int, in range: ClosedRange<Int64>) throws(StorageError) -> Int {
    let column = schema.columns[column]
    precondition(column.storage == .integers, "\(schema.name).\(column.name) is of type \(column.type)")
    return Int(clamping: try IntegerScan.count(column, in: range, of: clusters, beginReading()))
  }
}

extension Table {
  /// The keys of the rows that are stored together from the first one on whose key is not less, and where those after
  /// them start; nil when there are none.
  public func keys(from key: UInt64) throws(StorageError) -> (keys: [UInt64], next: UInt64?) {
    let (rows, next) = try rowKeys(from: key)
    return (rows?.all ?? [], next)
  }

  /// The same, without a list of what runs on.
  package func rowKeys(from key: UInt64) throws(StorageError) -> (rows: RowKeys?, next: UInt64?) {
    guard !clusters.isNull else { return (nil, nil) }
    let access = beginReading()
    let (leaf, next) = try KeyedTree.leafAndNext(for: key, in: clusters, access)
    let cluster = ClusterNode(try access.node(leaf, .cluster))
    return (RowKeys(cluster, from: cluster.lowerBound(key)), next)
  }

  /// For who counted rows in one way and found them in another: in a sound file the numbers agree.
  ///
  /// - Throws: `.corrupted` where they do not.
  package func expect(_ found: Int, of count: Int) throws(StorageError) {
    guard found == count else { throw beginReading().corrupted(.rows, clusters) }
  }

  /// For who found a row that is not where its key leads to, though none was removed: in a sound file there is none.
  package var missingRow: StorageError { beginReading().corrupted(.rows, clusters) }
}
