/// A test of a column of links. A row passes if a row to which it links passes.
final class LinkTest: ClusterTest {
  let column: Column
  let target: TargetTest
  /// Whether a link that is null passes.
  let nullPasses: Bool
  override var cost: Int { (column.isCollection ? 400 : 100) + target.test.cost }

  init(_ column: Column, _ target: TargetTest, nullPasses: Bool) {
    self.column = column
    self.target = target
    self.nullPasses = nullPasses
  }

  override func mask(
    of cluster: borrowing ClusterNode, within rows: RowMask, _ access: borrowing NodeAccess
  ) throws(StorageError) -> RowMask {
    if column.isCollection { return try elementMask(of: cluster, within: rows, access) }
    guard let descriptor = cluster.integers(of: column.id), Int(descriptor.nullCount) < cluster.rows else {
      return nullPasses ? rows : .none
    }
    let nulls = cluster.nulls(descriptor)
    var found = nullPasses ? nulls & rows : .none
    try rows.subtracting(nulls).forEach { (row) throws(StorageError) in
      if try target.passes(UInt64(bitPattern: cluster.integer(descriptor, row)), access) { found.insert(row) }
    }
    return found
  }

  private func elementMask(
    of cluster: borrowing ClusterNode, within rows: RowMask, _ access: borrowing NodeAccess
  ) throws(StorageError) -> RowMask {
    var found = RowMask.none
    guard cluster.composite(of: column.id) != nil else { return found }
    try rows.forEach { (row) throws(StorageError) in
      let passes = try TableReading.containsLink(column, row, of: cluster, access) {
        (key) throws(StorageError) in try target.passes(key, access)
      }
      if passes { found.insert(row) }
    }
    return found
  }
}

/// A test of the rows to which links lead.
///
/// The first few rows are looked up. If there are many, the whole table is tested once, which costs less than looking
/// up the row of each link. If the test follows links itself, each row is tested only once: otherwise links that lead
/// in circles would be followed in more ways than there are rows.
final class TargetTest {
  let test: ClusterTest
  private let clusters: Ref
  private let rows: UInt64
  private var lookups: UInt64 = 0
  private var passing: KeySet?
  private let bounds: QueryBounds
  private let isCostly: Bool
  /// For each row that was looked up, whether it passes. It is used only if the test is costly.
  private var known: [UInt64: Bool] = [:]

  init(_ test: ClusterTest, of root: TableRoot, within bounds: QueryBounds = QueryBounds()) {
    self.test = test
    self.bounds = bounds
    isCostly = test.cost >= Self.costly
    clusters = root.clusters
    rows = root.rows
  }

  /// The number of rows in a scan that cost as much as one row that is looked up.
  private static let lookupCost: UInt64 = 32
  /// The least cost of a costly test. All tests that follow links cost at least this much.
  private static let costly = 100

  func passes(_ key: UInt64, _ access: borrowing NodeAccess) throws(StorageError) -> Bool {
    if let passing { return passing.contains(key) }
    if isCostly, let known = known[key] { return known }
    guard !clusters.isNull else { throw access.corrupted(.link, clusters) }
    lookups += 1
    if lookups * Self.lookupCost > rows {
      let all = try KeySet(test, clusters, access, within: bounds)
      known = [:]
      passing = all
      return all.contains(key)
    }
    let leaf = try KeyedTree.leaf(for: key, in: clusters, access)
    let cluster = ClusterNode(try access.node(leaf, .cluster))
    guard let row = cluster.row(of: key) else { throw access.corrupted(.link, leaf) }
    var one = RowMask.none
    one.insert(row)
    let passes = try !test.mask(of: cluster, within: one, access).isEmpty
    if isCostly { known[key] = passes }
    return passes
  }
}

/// The keys of the rows that pass a test: as bits if they are close together, otherwise as a list.
struct KeySet {
  private var first: UInt64 = 0
  private var bits: [UInt64] = []
  private var keys: [UInt64] = []

  init(
    _ test: ClusterTest, _ clusters: Ref, _ access: borrowing NodeAccess, within bounds: QueryBounds
  ) throws(StorageError) {
    var keys: [UInt64] = []
    var check = BoundsCheck(bounds)
    try ClusterWalk.visit(clusters, access) { (cluster, access) throws(StorageError) in
      try check.next(access)
      let passing = try test.mask(of: cluster, within: RowMask(first: cluster.rows), access)
      passing.forEach { keys.append(cluster.key($0)) }
    }
    guard let least = keys.first, let greatest = keys.last, greatest >= least,
      greatest - least < 64 * UInt64(keys.count)
    else {
      self.keys = keys
      return
    }
    first = least
    bits = [UInt64](repeating: 0, count: Int((greatest - least) / 64) + 1)
    for key in keys where key >= least && key <= greatest {
      bits[Int((key - least) / 64)] |= 1 << ((key - least) % 64)
    }
  }

  @inline(__always)
  func contains(_ key: UInt64) -> Bool {
    if !bits.isEmpty {
      guard key >= first, (key - first) / 64 < UInt64(bits.count) else { return false }
      return bits[Int((key - first) / 64)] >> ((key - first) % 64) & 1 != 0
    }
    var (low, high) = (0, keys.count)
    while low < high {
      let middle = (low + high) / 2
      if keys[middle] < key { low = middle + 1 } else { high = middle }
    }
    return low < keys.count && keys[low] == key
  }
}

/// A test of a column that is read value by value: a column of collections, mixed values or decimals.
final class ValuesTest: ClusterTest {
  let column: Column
  let test: ValueTest
  override var cost: Int { 300 }

  init(_ column: Column, _ test: ValueTest) {
    self.column = column
    self.test = test
  }

  override func mask(
    of cluster: borrowing ClusterNode, within rows: RowMask, _ access: borrowing NodeAccess
  ) throws(StorageError) -> RowMask {
    var found = RowMask.none
    try rows.forEach { (row) throws(StorageError) in
      let passes: Bool
      if column.isCollection, case .count(let comparison, let number) = test {
        passes = comparison.holds(try TableReading.count(column, row, of: cluster, access), number)
      } else if column.isCollection {
        passes = try TableReading.contains(column, row, of: cluster, access) {
          test.holds($0, ordersNull: false)
        }
      } else {
        let value = try TableReading.value(column, row, of: cluster, dictionary: .null, access)
        passes = test.holds(value, ordersNull: false)
      }
      if passes { found.insert(row) }
    }
    return found
  }
}
