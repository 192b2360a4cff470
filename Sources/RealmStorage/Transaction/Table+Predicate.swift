extension Table {
  /// The keys of the rows of which a predicate holds, in the order they were made.
  ///
  /// - Precondition: the predicate's columns are there; those it follows are links, those it counts lists.
  public func rows(where predicate: Predicate) throws(StorageError) -> [UInt64] {
    var found: [UInt64] = []
    try search(predicate) { found.append($0) }
    return found
  }

  /// How many rows a predicate holds of.
  ///
  /// - Precondition: as of `rows(where:)`.
  public func count(where predicate: Predicate) throws(StorageError) -> Int {
    var count = 0
    try search(predicate) { _ in count += 1 }
    return count
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
    let condition = try BoundCondition(predicate, of: form, tables)
    guard !clusters.isNull else { return [] }
    let access = beginReading()
    var found: [UInt64] = []
    for key in rows {
      let cluster = ClusterNode(try access.node(KeyedTree.leaf(for: key, in: clusters, access), .cluster))
      if let row = cluster.row(of: key), try condition.holds(row, of: cluster, access) { found.append(key) }
    }
    return found
  }

  private func search(_ predicate: Predicate, _ body: (UInt64) -> Void) throws(StorageError) {
    let condition = try BoundCondition(predicate, of: form, tables)
    var next: UInt64? = 0
    while let key = next, !clusters.isNull {
      let access = beginReading()
      let (leaf, following) = try KeyedTree.leafAndNext(for: key, in: clusters, access)
      let cluster = ClusterNode(try access.node(leaf, .cluster))
      for row in 0..<cluster.rows where try condition.holds(row, of: cluster, access) {
        body(cluster.key(row))
      }
      next = following
    }
  }

  /// Rows in the order of columns' values, and among equals in the order they are given.
  ///
  /// Null comes before all else, or after it where the order is not ascending; NaN before all numbers. Strings and data
  /// are ordered by their bytes, links by the keys of the rows they point to.
  ///
  /// - Parameter rows: nil for all rows, in the order they were made. Rows that are not there are left out.
  /// - Precondition: there are no lists on the paths.
  public func sorted(_ rows: [UInt64]?, by keys: [SortKey]) throws(StorageError) -> [UInt64] {
    let (rows, tuples) = try values(keys.map(\.path), of: rows)
    let order = rows.indices.sorted { left, right in
      for (index, key) in keys.enumerated() {
        let order = ValueOrder.sort(tuples[left][index], tuples[right][index])
        if order != 0 { return key.ascending ? order < 0 : order > 0 }
      }
      return left < right
    }
    return order.map { rows[$0] }
  }

  /// Of rows with the same values the first, in the order they are given. Values are the same where a sort would not
  /// part them.
  ///
  /// - Precondition: there are no lists on the paths.
  public func distinct(_ rows: [UInt64], by paths: [ColumnPath]) throws(StorageError) -> [UInt64] {
    let (rows, tuples) = try values(paths, of: rows)
    var seen: Set<[Value]> = []
    return rows.indices.filter { seen.insert(tuples[$0].map(ValueOrder.canonical)).inserted }.map { rows[$0] }
  }

  /// The rows given, or all.
  func given(_ rows: [UInt64]?) throws(StorageError) -> [UInt64] {
    if let rows { return rows }
    return try self.rows(where: .always)
  }

  private func values(
    _ paths: [ColumnPath], of rows: [UInt64]?
  ) throws(StorageError) -> (rows: [UInt64], tuples: [[Value]]) {
    var bound: [BoundPath] = []
    for path in paths {
      let path = try BoundPath(path, of: form, tables)
      precondition(!path.isMany, "\(schema.name): there is a list on the path to \(path.column.name)")
      bound.append(path)
    }
    guard !clusters.isNull else { return ([], []) }
    var (found, tuples): ([UInt64], [[Value]]) = ([], [])
    let access = beginReading()
    for key in try given(rows) {
      let cluster = ClusterNode(try access.node(KeyedTree.leaf(for: key, in: clusters, access), .cluster))
      guard let row = cluster.row(of: key) else { continue }
      var tuple: [Value] = []
      for path in bound { tuple.append(try path.value(row, of: cluster, access)) }
      found.append(key)
      tuples.append(tuple)
    }
    return (found, tuples)
  }
}
