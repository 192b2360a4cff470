/// Rows with what sorts see of them: numbers in place of values, and the values only of rows that the numbers do not part.
struct RowSort {
  private let columns: [(path: BoundPath, sort: SortColumn, ascending: Bool)]
  private(set) var rows: [UInt64] = []
  /// For each column the rows' numbers, inverted where the order is not ascending.
  private var keys: [[UInt128]]

  /// - Precondition: there are no lists on the paths.
  init(
    _ sortKeys: [SortKey], of table: TableForm, _ tables: any TableFinder
  ) throws(StorageError) {
    var columns: [(path: BoundPath, sort: SortColumn, ascending: Bool)] = []
    for key in sortKeys {
      let path = try BoundPath(key.path, of: table, tables)
      precondition(!path.isMany, "\(table.schema.name): there is a list on the path to \(path.column.name)")
      columns.append((path, SortColumn(path.column), key.ascending))
    }
    self.columns = columns
    keys = Array(repeating: [], count: columns.count)
  }

  /// Looks the rows up.
  ///
  /// - Parameter given: nil for all rows.
  mutating func read(
    _ given: [UInt64]?, in clusters: Ref, count: Int, _ begin: () -> NodeAccess
  ) throws(StorageError) {
    let expected = given?.count ?? count
    var rows: [UInt64] = []
    rows.reserveCapacity(min(expected, 1 << 20))
    for column in columns.indices { keys[column].reserveCapacity(min(expected, 1 << 20)) }
    if let given {
      try ClusterWalk.forEachRow(of: given, in: clusters, begin) {
        (row, cluster, access) throws(StorageError) in
        rows.append(cluster.key(row))
        for column in columns.indices { try add(column, row, cluster, access) }
      }
    } else {
      try ClusterWalk.forEach(in: clusters, begin) { (cluster, access) throws(StorageError) in
        for row in 0..<cluster.rows { rows.append(cluster.key(row)) }
        for column in columns.indices {
          for row in 0..<cluster.rows { try add(column, row, cluster, access) }
        }
      }
    }
    self.rows = rows
  }

  @inline(__always)
  private mutating func add(
    _ column: Int, _ row: Int, _ cluster: borrowing ClusterNode, _ access: borrowing NodeAccess
  ) throws(StorageError) {
    let key = try columns[column].path.sortKey(row, of: cluster, access)
    keys[column].append(columns[column].ascending ? key : ~key)
  }

  // MARK: - Sorting

  private struct Item {
    var key: UInt128
    var place: Int
  }

  /// - Parameter tuple: the values of a row in the columns.
  func sorted(clusters: Ref, _ begin: () -> NodeAccess) throws(StorageError) -> [UInt64] {
    guard let first = keys.first else { return rows }
    var items: [Item] = []
    items.reserveCapacity(first.count)
    for place in first.indices { items.append(Item(key: first[place], place: place)) }
    if columns.count == 1 {
      items.sort { $0.key != $1.key ? $0.key < $1.key : $0.place < $1.place }
    } else {
      items.sort { left, right in
        if left.key != right.key { return left.key < right.key }
        return order(left.place, right.place).order < 0
      }
    }
    try settle(&items, clusters, begin)
    return items.map { rows[$0.place] }
  }

  /// How two rows stand by their numbers, up to the first column that does not tell all; whether there is one.
  private func order(_ left: Int, _ right: Int) -> (order: Int, isOpen: Bool) {
    for column in columns.indices {
      let (first, second) = (keys[column][left], keys[column][right])
      if first != second { return (first < second ? -1 : 1, false) }
      if !isExact(column, first) { return (left < right ? -1 : 1, true) }
    }
    return (left < right ? -1 : 1, false)
  }

  private func isExact(_ column: Int, _ key: UInt128) -> Bool {
    columns[column].sort.isExact(columns[column].ascending ? key : ~key)
  }

  /// Sorts rows that the numbers do not part by their values.
  private func settle(_ items: inout [Item], _ clusters: Ref, _ begin: () -> NodeAccess) throws(StorageError)
  {
    var start = 0
    while start < items.count {
      var end = start + 1
      while end < items.count, items[end].key == items[start].key,
        order(items[start].place, items[end].place).isOpen
      {
        end += 1
      }
      if end - start > 1 {
        let places = items[start..<end].map(\.place)
        let tuples = try values(places, clusters, begin)
        let settled = places.indices.sorted { left, right in
          for (index, column) in columns.enumerated() {
            let order = ValueOrder.sort(tuples[left][index], tuples[right][index])
            if order != 0 { return column.ascending ? order < 0 : order > 0 }
          }
          return places[left] < places[right]
        }
        for (index, place) in settled.enumerated() { items[start + index].place = places[place] }
      }
      start = end
    }
  }

  private func values(
    _ places: [Int], _ clusters: Ref, _ begin: () -> NodeAccess
  ) throws(StorageError) -> [[Value]] {
    var tuples: [[Value]] = []
    try ClusterWalk.forEachRow(of: places.map { rows[$0] }, in: clusters, begin) {
      (row, cluster, access) throws(StorageError) in
      var tuple: [Value] = []
      for column in columns { tuple.append(try column.path.value(row, of: cluster, access)) }
      tuples.append(tuple)
    }
    return tuples
  }

  // MARK: - Distinct

  /// Of rows with the same values the first.
  func distinct(clusters: Ref, _ begin: () -> NodeAccess) throws(StorageError) -> [UInt64] {
    if columns.isEmpty { return Array(rows.prefix(1)) }
    var found: [UInt64] = []
    if columns.count == 1, keys[0].allSatisfy({ isExact(0, $0) }) {
      var seen: Set<UInt128> = []
      for place in rows.indices where seen.insert(keys[0][place]).inserted { found.append(rows[place]) }
      return found
    }
    var seen: Set<[UInt128]> = []
    var seenValues: Set<[Value]> = []
    for place in rows.indices {
      if columns.indices.allSatisfy({ isExact($0, keys[$0][place]) }) {
        if seen.insert(columns.indices.map { keys[$0][place] }).inserted { found.append(rows[place]) }
      } else {
        for tuple in try values([place], clusters, begin)
        where seenValues.insert(tuple.map(ValueOrder.canonical)).inserted { found.append(rows[place]) }
      }
    }
    return found
  }
}
