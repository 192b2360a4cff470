/// A sort key of a table: where its value is, the numbers that stand for it, and their direction. Numbers are in the order of
/// the sort: those of one that descends are inverted.
struct SortPath {
  let path: BoundPath
  let sort: SortColumn
  let ascending: Bool

  /// - Precondition: there are no lists on the path.
  init(_ key: SortKey, of table: TableForm, _ tables: any TableFinder) throws(StorageError) {
    path = try BoundPath(key.path, of: table, tables)
    precondition(!path.isMany, "\(table.schema.name): there is a list on the path to \(path.column.name)")
    sort = SortColumn(path.column, dictionary: path.dictionary)
    ascending = key.ascending
  }

  /// A column's number as that of the sort, and the other way around.
  @inline(__always)
  private func directed(_ number: UInt128) -> UInt128 { ascending ? number : ~number }

  /// Whether values with this number are one; else they begin alike.
  @inline(__always)
  func isExact(_ number: UInt128) -> Bool { sort.isExact(directed(number)) }

  /// See `SortColumn.number`.
  @inline(__always)
  func number(
    _ depth: Int, _ row: Int, of cluster: borrowing ClusterNode, _ access: borrowing NodeAccess
  ) throws(StorageError) -> UInt128 {
    directed(try path.sortNumber(sort, depth, row, of: cluster, access))
  }

  /// The numbers of some rows of a cluster, in place of those that the buffer has.
  func read(
    _ depth: Int, _ rows: [UInt16], of cluster: borrowing ClusterNode, _ access: borrowing NodeAccess,
    into numbers: inout NumberBuffer
  ) throws(StorageError) {
    numbers.begin(rows.count)
    try path.appendSortNumbers(sort, depth, rows, of: cluster, access, to: &numbers)
    if !ascending { numbers.replaceEach { ~$0 } }
  }

  /// No number of a cluster's values is less or greater; nil where it does not tell that itself.
  func bounds(of cluster: borrowing ClusterNode) -> ClosedRange<UInt128>? {
    guard let bounds = sort.bounds(of: cluster) else { return nil }
    return ascending ? bounds : ~bounds.upperBound...(~bounds.lowerBound)
  }

  // MARK: - Short numbers

  /// Bits of the short numbers; nil where it has none. What is not reached by links has none.
  var shortBits: Int? { path.steps.isEmpty ? sort.shortBits : nil }

  /// Inverts the short numbers where it descends.
  private var shortFlip: UInt128 { ascending ? 0 : UInt128(1) << UInt128(shortBits ?? 0) - 1 }

  /// The same of numbers in an order that leaves room for another one.
  func shorten(_ numbers: inout NumberBuffer) {
    let (sort, flip, invert) = (sort, shortFlip, ascending ? 0 : UInt128.max)
    numbers.replaceEach { sort.short($0 ^ invert) ^ flip }
  }
}

extension BoundPath {
  /// What sorts see of the one value it leads to: see `SortColumn`.
  ///
  /// - Precondition: there are no lists on it.
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

  /// The same of some rows of a cluster, one after another.
  func appendSortNumbers(
    _ sort: SortColumn, _ depth: Int, _ rows: [UInt16], of cluster: borrowing ClusterNode,
    _ access: borrowing NodeAccess, to numbers: inout NumberBuffer
  ) throws(StorageError) {
    if steps.isEmpty { return try sort.appendNumbers(depth, rows, of: cluster, access, to: &numbers) }
    for row in rows { numbers.append(try sortNumber(sort, depth, Int(row), of: cluster, access)) }
  }
}
