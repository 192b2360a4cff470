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
    let isAscending = zip(rows, rows.dropFirst()).allSatisfy { $0 <= $1 }
    var found: [UInt64] = []
    let query = RowQuery(predicate, of: form, tables)
    try query.run(on: isAscending ? rows : rows.sorted(), reader) { cluster, passing in
      cluster.appendKeys(passing, to: &found)
    }
    return rows.filter { row in
      var (low, high) = (0, found.count)
      while low < high {
        let middle = (low + high) / 2
        if found[middle] < row { low = middle + 1 } else { high = middle }
      }
      return low < found.count && found[low] == row
    }
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
    var sort = try RowSort(keys, of: form, tables)
    try sort.read(rows, reader)
    return try sort.takeSorted(reader)
  }

  /// Of rows with the same values the first, in the order they are given. Values are the same where a sort would not
  /// part them.
  ///
  /// - Precondition: there are no lists on the paths.
  public func distinct(_ rows: [UInt64], by paths: [ColumnPath]) throws(StorageError) -> [UInt64] {
    var sort = try RowSort(paths.map { SortKey($0) }, of: form, tables)
    try sort.read(rows, reader)
    return try sort.distinct(reader)
  }
}
