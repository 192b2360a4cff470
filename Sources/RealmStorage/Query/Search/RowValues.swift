/// Whole values of rows in some columns, where no number tells them.
struct RowValues {
  /// Nil in place of what is not reached.
  typealias Tuple = [Value?]

  let columns: [SortPath]
  let clusters: Ref

  /// The values of rows, in the order of their keys here.
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
    // The rows were found before: only in a forged tree is one of them not where its key leads to.
    guard count == keys.count else { throw reader.access().corrupted(.keyOrder, clusters) }
  }

  /// Less, equal or greater, by the directions of the columns. What is not reached comes after all values.
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

  /// Values of some of the rows that part all of them into groups: they ascend, each once.
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

  /// The groups of rows: odd ones are those that equal a bound, even ones those below it.
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
