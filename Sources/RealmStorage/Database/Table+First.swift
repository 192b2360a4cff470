extension Table {
  /// The first rows in the order of `sorted(_:by:)`, at most `limit`.
  ///
  /// If `limit` is small, it takes about as long as reading the column of the first key once: rows that come after all rows found
  /// so far are skipped.
  ///
  /// - Precondition: the paths lead to single values: none of their columns is a collection. `limit` is not negative.
  public func sorted(
    _ rows: [UInt64]?, by keys: [SortKey], limit: Int
  ) throws(StorageError) -> [UInt64] {
    precondition(limit >= 0, "Table.sorted(_:by:limit:): \(limit) rows can't be asked for")
    return try sorted(rows, by: keys, limit: limit, SortMemory.standard, within: QueryBounds())
  }

  /// Finds the first rows, as `sorted(_:by:limit:)` does, within bounds.
  func sorted(
    _ rows: [UInt64]?, by keys: [SortKey], limit: Int, _ memory: SortMemory, within bounds: QueryBounds
  ) throws(StorageError) -> [UInt64] {
    // The fast way needs a first key in the table itself, because the bound is read from the row; enough rows to gain something;
    // and memory for the rows found so far.
    guard limit > 0, let first = keys.first, first.path.links.isEmpty,
      (rows?.count ?? count) / 2 >= FirstRows.batch(limit), FirstRows.batch(limit) <= memory.rows / 2
    else {
      var rows = rows
      var sorted = try takeSorted(&rows, by: keys, memory, within: bounds)
      if limit < sorted.count { sorted.removeSubrange(limit...) }
      return sorted
    }
    var found = try FirstRows(self, keys, limit: limit)
    var check = BoundsCheck(bounds)
    let reader = reader
    if let rows {
      for start in stride(from: 0, to: rows.count, by: Self.chunk) {
        try bounds.check(reader.access())
        let chunk = Array(rows[start..<min(start + Self.chunk, rows.count)])
        try found.add(
          found.bound.map { (bound) throws(StorageError) in try self.rows(chunk, where: bound) } ?? chunk)
      }
    } else {
      try ClusterWalk.forEach(in: clusters, reader) { (cluster, access) throws(StorageError) in
        try check.next(access)
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

/// Collects candidates: the rows that may be among the `limit` first rows of those seen so far. Rows are compared by
/// two numbers, which stand for their values in the first two keys and are read when the row is found. Rows with equal
/// numbers are sorted by their values.
private struct FirstRows: ~Copyable {
  private struct Candidate {
    /// The number for the first key.
    let first: UInt128
    /// The number for the second key; 0 if `FirstRows.second` is nil, and if `first` does not stand for exactly one
    /// value, because the second key decides only between equal values.
    let second: UInt128
    let row: UInt64
    /// The order in which the candidate was found, which decides between equal candidates.
    var order: Int
  }

  private let table: Table
  private let keys: [SortKey]
  private let limit: Int
  private let first: SortPath
  /// The second key; nil if there is none, or if its column is in another table, where reading each value takes long.
  private let second: SortPath?
  private let secondForm: ColumnForm?
  private var candidates: [Candidate] = []
  /// The numbers of the last of the `limit` first rows; nil until they are known for the first time.
  private var last: (first: UInt128, second: UInt128)?
  /// Whether a row that is found later and has exactly these numbers comes after the last one.
  private var isTold = false
  /// A predicate that rows after the last of the `limit` first rows do not match if they differ from it in the first key. It may
  /// match too many rows.
  private(set) var bound: Predicate?
  private(set) var test: ClusterTest?
  private var firsts: NumberBuffer
  private var stretch: [UInt16] = []
  /// The rows of the present group whose first number is not greater than that of the last row, and these numbers.
  private var near: [UInt16] = []
  private var nearFirsts: [UInt128] = []

  /// The number of candidates at which they are sorted and reduced to the first ones.
  static func batch(_ limit: Int) -> Int { max(limit > Int.max / 4 ? limit : 4 * limit, 256) }

  init(_ table: Table, _ keys: [SortKey], limit: Int) throws(StorageError) {
    let first = try SortPath(keys[0], of: table.form, table.tables)
    let next = keys.dropFirst().first.flatMap { $0.path.links.isEmpty ? $0 : nil }
    let second = try next.map { (key) throws(StorageError) in try SortPath(key, of: table.form, table.tables)
    }
    // Nothing may be thrown from here on, because of the buffer.
    self.table = table
    self.keys = keys
    self.limit = limit
    self.first = first
    self.second = second
    secondForm = next.map { table.content.columns[$0.path.column] }
    firsts = NumberBuffer()
  }

  mutating func add(_ rows: [UInt64]) throws(StorageError) {
    try ClusterWalk.forEachStretch(of: rows, in: table.clusters, table.reader) {
      (rows, cluster, access) throws(StorageError) in
      try add(cluster, rows, access)
    }
  }

  mutating func add(
    _ cluster: borrowing ClusterNode, _ rows: RowMask, _ access: borrowing NodeAccess
  ) throws(StorageError) {
    guard !rows.isEmpty else { return }
    stretch.removeAll(keepingCapacity: true)
    rows.forEach { stretch.append(UInt16($0)) }
    try add(cluster, stretch, access)
  }

  private mutating func add(
    _ cluster: borrowing ClusterNode, _ rows: [UInt16], _ access: borrowing NodeAccess
  ) throws(StorageError) {
    try first.read(0, rows, of: cluster, access, into: &firsts)
    near.removeAll(keepingCapacity: true)
    nearFirsts.removeAll(keepingCapacity: true)
    for (index, row) in rows.enumerated() {
      let one = firsts[index]
      if let last, one > last.first { continue }
      near.append(row)
      nearFirsts.append(one)
    }
    // The second value is read for few rows only, because it may be long. All of them are prefetched first: otherwise each would
    // be waited for by itself.
    if let secondForm { for row in near { cluster.prefetch(secondForm, Int(row), access.lent) } }
    for (row, one) in zip(near, nearFirsts) {
      var two: UInt128 = 0
      if let second, first.isExact(one) { two = try second.number(0, Int(row), of: cluster, access) }
      if let last {
        guard (one, two) < last || (!isTold && (one, two) == last) else { continue }
      }
      candidates.append(
        Candidate(first: one, second: two, row: cluster.key(Int(row)), order: candidates.count))
    }
    if candidates.count >= Self.batch(limit) { try settle() }
  }

  mutating func finish() throws(StorageError) -> [UInt64] {
    Array(try table.sorted(candidates.map(\.row), by: keys).prefix(limit))
  }

  /// Keeps the `limit` first candidates, and those after them that have the same numbers as the last of these, if their
  /// values may decide.
  private mutating func settle() throws(StorageError) {
    candidates.sort { ($0.first, $0.second, $0.order) < ($1.first, $1.second, $1.order) }
    guard candidates.count >= limit else { return }
    let end = candidates[limit - 1]
    isTold = tellsAll(end)
    let count =
      isTold ? limit : candidates[limit...].firstIndex { ($0.first, $0.second) > (end.first, end.second) }
    candidates.removeSubrange((count ?? candidates.count)...)
    // The value of the last row bounds the rest. Rows with equal numbers must not be looked at again and again.
    let isBound = first.isExact(end.first)
    if !isBound || candidates.count > max(limit, Self.batch(limit) / 2) { try sortByValues() }
    for index in candidates.indices { candidates[index].order = index }
    let isNew = last?.first != end.first
    last = (end.first, end.second)
    if isNew || !isBound { try setBound(candidates[limit - 1].row) }
  }

  /// Whether rows that have the numbers of a candidate are equal to it in all keys.
  private func tellsAll(_ candidate: Candidate) -> Bool {
    guard first.isExact(candidate.first) else { return false }
    guard keys.count > 1 else { return true }
    guard keys.count == 2, let second else { return false }
    return second.isExact(candidate.second)
  }

  /// Keeps the `limit` first candidates in the order of their values.
  private mutating func sortByValues() throws(StorageError) {
    let rows = try table.sorted(candidates.map(\.row), by: keys)
    let byRow = Dictionary(candidates.map { ($0.row, $0) }) { first, _ in first }
    candidates = rows.prefix(limit).compactMap { byRow[$0] }
    // Only in a forged file is a row not in the cluster to which its key leads.
    guard candidates.count == limit else { throw table.missingRow }
  }

  private mutating func setBound(_ row: UInt64) throws(StorageError) {
    let path = keys[0].path
    guard let value = try table.value(table.schema.columns[path.column], ofRow: row) else { return }
    // Values without an order, such as NaN and null, match the bound.
    let bound = Predicate.not(.compare(path, keys[0].ascending ? .greater : .less, value))
    self.bound = bound
    test = try TestBuilder(tables: table.tables).test(bound, of: table.form)
  }
}
