/// A sort key of a table: the path to its value, the numbers that stand for the value, and the direction. The numbers
/// are in the order of the sort: the numbers of a descending key are inverted.
struct SortPath {
  let path: BoundPath
  let sort: SortColumn
  let ascending: Bool

  /// - Precondition: there are no collections on the path.
  init(_ key: SortKey, of table: TableForm, _ tables: any TableFinder) throws(StorageError) {
    path = try BoundPath(key.path, of: table, tables)
    precondition(!path.isMany, "\(table.schema.name): there is a list on the path to \(path.column.name)")
    sort = SortColumn(path.column, dictionary: path.dictionary)
    ascending = key.ascending
  }

  /// Turns a number of the column into one of the sort, and a number of the sort into one of the column.
  @inline(__always)
  private func directed(_ number: UInt128) -> UInt128 { ascending ? number : ~number }

  /// Whether all values with this number are equal. Otherwise they may differ, like texts with the same first bytes.
  @inline(__always)
  func isExact(_ number: UInt128) -> Bool { sort.isExact(directed(number)) }

  /// See `SortColumn.number`.
  @inline(__always)
  func number(
    _ depth: Int, _ row: Int, of cluster: borrowing ClusterNode, _ access: borrowing NodeAccess
  ) throws(StorageError) -> UInt128 {
    directed(try path.sortNumber(sort, depth, row, of: cluster, access))
  }

  /// Puts the numbers of some rows of a cluster into the buffer, in place of those that it has.
  func read(
    _ depth: Int, _ rows: [UInt16], of cluster: borrowing ClusterNode, _ access: borrowing NodeAccess,
    into numbers: inout NumberBuffer
  ) throws(StorageError) {
    numbers.begin(rows.count)
    try path.appendSortNumbers(sort, depth, rows, of: cluster, access, to: &numbers)
    if !ascending { numbers.replaceEach { ~$0 } }
  }

  /// Bounds of the numbers of a cluster's values: no number is less or greater. It is nil if the cluster does not state
  /// them.
  func bounds(of cluster: borrowing ClusterNode) -> ClosedRange<UInt128>? {
    guard let bounds = sort.bounds(of: cluster) else { return nil }
    return ascending ? bounds : ~bounds.upperBound...(~bounds.lowerBound)
  }

  // MARK: - Short numbers

  /// The number of bits of the short numbers; nil if there are none. A path with links has none, because short numbers
  /// have no form for a value that is not reached.
  var shortBits: Int? { path.steps.isEmpty ? sort.shortBits : nil }

  /// The bits of short numbers to invert: all of them for a descending key, otherwise none.
  private var shortFlip: UInt128 { ascending ? 0 : UInt128(1) << UInt128(shortBits ?? 0) - 1 }

  /// Replaces numbers by the short numbers, which have the same order and leave room for another number.
  func shorten(_ numbers: inout NumberBuffer) {
    let (sort, flip, invert) = (sort, shortFlip, ascending ? 0 : UInt128.max)
    numbers.replaceEach { sort.short($0 ^ invert) ^ flip }
  }
}

extension BoundPath {
  /// The number of the single value to which the path leads: see `SortColumn`.
  ///
  /// - Precondition: there are no collections on the path.
  @inline(__always)
  func sortNumber(
    _ sort: SortColumn, _ depth: Int, _ row: Int, of cluster: borrowing ClusterNode,
    _ access: borrowing NodeAccess
  ) throws(StorageError) -> UInt128 {
    if steps.isEmpty { return try sort.number(depth, row, of: cluster, access) }
    return try reach(0, row, of: cluster, access) { (row, cluster, access) throws(StorageError) in
      try sort.number(depth, row, of: cluster, access)
    } ?? SortColumn.unreached
  }

  /// Adds the numbers of some rows of a cluster to the buffer, in the order of `rows`.
  func appendSortNumbers(
    _ sort: SortColumn, _ depth: Int, _ rows: [UInt16], of cluster: borrowing ClusterNode,
    _ access: borrowing NodeAccess, to numbers: inout NumberBuffer
  ) throws(StorageError) {
    if steps.isEmpty { return try sort.appendNumbers(depth, rows, of: cluster, access, to: &numbers) }
    for row in rows { numbers.append(try sortNumber(sort, depth, Int(row), of: cluster, access)) }
  }
}
