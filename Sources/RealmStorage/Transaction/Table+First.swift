extension Table {
  /// The first rows in the order of `sorted(_:by:)`, no more than `limit`.
  ///
  /// Takes about as long as one look at the first key's column where few are asked for: rows that come after all that were
  /// found so far are passed over.
  ///
  /// - Precondition: there are no lists on the paths; `limit` is not negative.
  public func sorted(
    _ rows: [UInt64]?, by keys: [SortKey], limit: Int
  ) throws(StorageError) -> [UInt64] {
    precondition(limit >= 0, "Table.sorted(_:by:limit:): \(limit) rows can't be asked for")
    // The bound is read from the row itself; and among few rows nothing is gained.
    guard limit > 0, let first = keys.first, first.path.links.isEmpty,
      (rows?.count ?? count) / 2 >= FirstRows.batch(limit)
    else { return Array(try sorted(rows, by: keys).prefix(limit)) }
    var found = FirstRows(self, keys, limit: limit)
    if let rows {
      for start in stride(from: 0, to: rows.count, by: Self.chunk) {
        let chunk = Array(rows[start..<min(start + Self.chunk, rows.count)])
        try found.add(
          found.bound.map { (bound) throws(StorageError) in try self.rows(chunk, where: bound) } ?? chunk)
      }
    } else {
      try ClusterWalk.forEach(in: clusters, reader) { (cluster, access) throws(StorageError) in
        let all = RowMask(first: cluster.rows)
        try found.add(
          cluster,
          found.test.map { (test) throws(StorageError) in try test.mask(of: cluster, within: all, access) }
            ?? all, access)
      }
    }
    return try found.finish()
  }

  private static let chunk = 1 << 16
}

/// The first rows of those seen so far, and those that may be among them.
private struct FirstRows {
  private let table: Table
  private let keys: [SortKey]
  private let limit: Int
  /// In order, no more than `limit`.
  private var best: [UInt64] = []
  private var waiting: [UInt64] = []
  /// What no row after the last of `limit` rows passes that differs from it in the first key; it may let too many pass.
  private(set) var bound: Predicate?
  private(set) var test: ClusterTest?
  /// Of the columns that rows are sorted by after the first.
  private let others: [ColumnForm]

  /// So many rows are sorted at once, with the first ones so far.
  static func batch(_ limit: Int) -> Int { max(limit > Int.max / 4 ? limit : 4 * limit, 256) }

  init(_ table: Table, _ keys: [SortKey], limit: Int) {
    self.table = table
    self.keys = keys
    self.limit = limit
    others = keys.dropFirst().filter { $0.path.links.isEmpty }.map { table.content.columns[$0.path.column] }
  }

  mutating func add(_ rows: [UInt64]) throws(StorageError) {
    waiting += rows
    try settleIfMany()
  }

  /// What they are sorted by is asked for now: of rows that are far apart each would be waited for.
  mutating func add(
    _ cluster: borrowing ClusterNode, _ rows: RowMask, _ access: borrowing NodeAccess
  ) throws(StorageError) {
    cluster.appendKeys(rows, to: &waiting)
    for column in others { rows.forEach { cluster.prefetch(column, $0, access.lent) } }
    try settleIfMany()
  }

  mutating func finish() throws(StorageError) -> [UInt64] {
    try settle()
    return best
  }

  private mutating func settleIfMany() throws(StorageError) {
    if waiting.count >= Self.batch(limit) { try settle() }
  }

  /// Rows that are equal keep their order: those of `best` came first.
  private mutating func settle() throws(StorageError) {
    guard !waiting.isEmpty else { return }
    best = Array(try table.sorted(best + waiting, by: keys).prefix(limit))
    waiting.removeAll(keepingCapacity: true)
    let path = keys[0].path
    guard best.count == limit,
      let value = try table.value(table.schema.columns[path.column], ofRow: best[limit - 1])
    else { return }
    // What has no order, as NaN and null, passes either way.
    let bound = Predicate.not(.compare(path, keys[0].ascending ? .greater : .less, value))
    self.bound = bound
    test = try TestBuilder(tables: table.tables).test(bound, of: table.form)
  }
}
