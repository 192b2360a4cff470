/// Reads whole values of rows in some columns, for rows that no number tells apart.
struct RowValues {
  /// The values of a row; nil for a value that is not reached, because a link on the path is null.
  typealias Tuple = [Value?]

  let columns: [SortPath]
  let clusters: Ref

  /// The values of rows, in the order of `keys`.
  func read(
    _ keys: [UInt64], _ reader: any NodeReader, within bounds: QueryBounds
  ) throws(StorageError) -> [Tuple] {
    var tuples: [Tuple] = []
    tuples.reserveCapacity(keys.count)
    try forEach(keys, reader, within: bounds) { tuples.append($0) }
    return tuples
  }

  /// Calls `body` with the values of one row after another.
  private func forEach(
    _ keys: [UInt64], _ reader: any NodeReader, within bounds: QueryBounds, _ body: (Tuple) -> Void
  ) throws(StorageError) {
    var check = BoundsCheck(bounds)
    var count = 0
    try ClusterWalk.forEachStretch(of: keys, in: clusters, reader) {
      (rows, cluster, access) throws(StorageError) in
      try check.next(access)
      for row in rows {
        var tuple: Tuple = []
        tuple.reserveCapacity(columns.count)
        for column in columns { tuple.append(try column.path.value(Int(row), of: cluster, access)) }
        count += 1
        body(tuple)
      }
    }
    // The rows were found before, so only in a forged tree is one of them not where its key leads.
    guard count == keys.count else { throw reader.access().corrupted(.keyOrder, clusters) }
  }

  /// A negative number, zero or a positive number if the left tuple is less, equal or greater. The directions of the
  /// columns are applied. In an ascending column a value that is not reached comes after all others, in a descending
  /// one before them.
  func order(_ left: Tuple, _ right: Tuple) -> Int {
    for (index, column) in columns.enumerated() {
      let order: Int
      if let one = left[index], let two = right[index] {
        order = ValueOrder.sort(one, two)
      } else {
        order = (left[index] == nil ? 1 : 0) - (right[index] == nil ? 1 : 0)
      }
      if order != 0 { return column.ascending ? order : -order }
    }
    return 0
  }

  // MARK: - Groups

  private static let mostBounds = 15

  /// Values of some of the rows, which split all rows into groups. They ascend, and each one occurs once.
  func groupBounds(
    of keys: [UInt64], _ reader: any NodeReader, within bounds: QueryBounds
  ) throws(StorageError) -> [Tuple] {
    let count = min(keys.count, 8 * Self.mostBounds)
    let some = (0..<count).map { keys[$0 * keys.count / count] }
    let sorted = try read(some, reader, within: bounds).sorted { order($0, $1) < 0 }
    var found: [Tuple] = []
    for place in 0..<min(count, Self.mostBounds) {
      let tuple = sorted[(2 * place + 1) * count / (2 * min(count, Self.mostBounds))]
      if found.last.map({ order($0, tuple) != 0 }) ?? true { found.append(tuple) }
    }
    return found
  }

  /// The groups of rows. Rows that equal the bound at place n are in group 2 · n + 1. Rows that are less than it, and
  /// greater than the bound before it, are in group 2 · n.
  func groups(
    of keys: [UInt64], between groupBounds: [Tuple], _ reader: any NodeReader, within bounds: QueryBounds
  ) throws(StorageError) -> [UInt8] {
    var groups: [UInt8] = []
    groups.reserveCapacity(keys.count)
    try forEach(keys, reader, within: bounds) { tuple in
      let less = groupBounds.partitioningIndex { order($0, tuple) >= 0 }
      let isBound = less < groupBounds.count && order(groupBounds[less], tuple) == 0
      groups.append(UInt8(2 * less + (isBound ? 1 : 0)))
    }
    return groups
  }
}
