/// A predicate that is prepared for a table. Its rows are tested, or found by an index if that is faster.
///
/// A query lives as long as one search, and is used by one thread.
struct RowQuery {
  private let predicate: Predicate
  private let table: TableForm
  private let tables: any TableFinder
  private let indexes: IndexPlan
  private let bounds: QueryBounds
  private let prepared = Prepared()

  /// Holds the test of the predicate once it is made.
  private final class Prepared {
    var test: ClusterTest?
  }

  /// - Precondition: the tables have the columns of the predicate, and its tests fit the columns' types, as `Predicate`
  ///   says.
  init(
    _ predicate: Predicate, of table: TableForm, _ tables: any TableFinder,
    within bounds: QueryBounds = QueryBounds()
  ) {
    self.bounds = bounds
    self.predicate = predicate
    self.table = table
    self.tables = tables
    indexes = IndexPlan(predicate, table.schema)
  }

  /// The test of the predicate. It is made when rows are tested first, because a test with many values takes longer to
  /// make than the values take to be looked up in an index.
  private func test() throws(StorageError) -> ClusterTest {
    if let test = prepared.test { return test }
    let test = try TestBuilder(tables: tables, bounds: bounds).test(predicate, of: table)
    prepared.test = test
    return test
  }

  /// Whether indexes take less time than a scan, and the best one finds at most `most` rows.
  func isFound(byIndexAmong most: Int, _ access: borrowing NodeAccess) throws(StorageError) -> Bool {
    try indexes.chosen(table.root, access).first.map { $0.count <= UInt64(most) } ?? false
  }

  // MARK: - Running

  private static let mostExpected: UInt64 = 1 << 24

  /// The rows that pass, in the order of their keys.
  func rows(_ reader: any NodeReader) throws(StorageError) -> [UInt64] {
    let candidates = try indexes.candidates(table.root, reader.access())
    if let candidates, candidates.isExact { return candidates.rows }
    let test = try test()
    var found: [UInt64] = []
    if let constant = test as? ConstantTest {
      if !constant.holds { return [] }
      // Room is reserved because an array that grows exists twice for a while. It is limited because a file may state
      // any number of rows.
      found.reserveCapacity(Int(min(table.root.rows, Self.mostExpected)))
    }
    try run(test, on: candidates?.rows, reader) { cluster, passing in
      cluster.appendKeys(passing, to: &found)
    }
    return found
  }

  /// The first rows that pass, at most `limit`. The rows behind them are not read, except rows that an index finds.
  func rows(atMost limit: Int, _ reader: any NodeReader) throws(StorageError) -> [UInt64] {
    if limit == 0 { return [] }
    let reads = try indexes.isWorthReading(for: limit, table.root, reader.access())
    let candidates = reads ? try indexes.candidates(table.root, reader.access()) : nil
    if let candidates, candidates.isExact { return Array(candidates.rows.prefix(limit)) }
    let test = try test()
    if let constant = test as? ConstantTest, !constant.holds { return [] }
    var found: [UInt64] = []
    if let candidates {
      // The candidates are so few that all of them are tested.
      try run(test, on: candidates.rows, reader) { cluster, passing in
        cluster.appendKeys(passing, to: &found)
      }
      return Array(found.prefix(limit))
    }
    var check = BoundsCheck(bounds)
    try ClusterWalk.walk(
      in: table.root.clusters, reader,
      until: { (cluster, access) throws(StorageError) in
        try check.next(access)
        let passing = try test.mask(of: cluster, within: RowMask(first: cluster.rows), access)
        if !passing.isEmpty { cluster.appendKeys(passing, to: &found) }
        return found.count >= limit
      })
    return Array(found.prefix(limit))
  }

  /// The rows among those given that exist and pass, in the order in which they are given.
  func rows(of rows: [UInt64], _ reader: any NodeReader) throws(StorageError) -> [UInt64] {
    let isAscending = zip(rows, rows.dropFirst()).allSatisfy { $0 <= $1 }
    var found: [UInt64] = []
    try run(on: isAscending ? rows : rows.sorted(), reader) { cluster, passing in
      cluster.appendKeys(passing, to: &found)
    }
    return rows.filter { row in
      let place = found.partitioningIndex { $0 >= row }
      return place < found.count && found[place] == row
    }
  }

  /// Describes how the rows are found.
  func explanation(_ access: borrowing NodeAccess) throws(StorageError) -> String {
    if case .always = predicate { return "takes all" }
    let chosen = try indexes.chosen(table.root, access)
    guard let first = chosen.first else { return "looks at each" }
    let isExact = indexes.isWhole && chosen.count == indexes.parts.count && chosen.allSatisfy(\.part.isExact)
    let verb = isExact ? "finds" : "looks at"
    if chosen.count > 1 {
      let names = chosen.map { "\($0.part.name) (\($0.count))" }.joined(separator: " and ")
      return "\(verb) those that the indexes of \(names) have in common"
    }
    return isExact
      ? "finds \(first.count) by the index of \(first.part.name)"
      : "looks at the \(first.count) that the index of \(first.part.name) finds"
  }

  /// Calls `body` with each cluster that has rows that pass, and with these rows.
  ///
  /// - Parameter keys: the keys of the rows to be tested; nil for all rows.
  /// - Precondition: no key is less than the key before it.
  func run(
    on keys: [UInt64]?, _ reader: any NodeReader, _ body: (borrowing ClusterNode, RowMask) -> Void
  ) throws(StorageError) {
    try run(test(), on: keys, reader, body)
  }

  private func run(
    _ test: ClusterTest, on keys: [UInt64]?, _ reader: any NodeReader,
    _ body: (borrowing ClusterNode, RowMask) -> Void
  ) throws(StorageError) {
    let clusters = table.root.clusters
    var check = BoundsCheck(bounds)
    guard let keys else {
      return try ClusterWalk.forEach(in: clusters, reader, ahead: test.prefetch) {
        (cluster, access) throws(StorageError) in
        try check.next(access)
        let passing = try test.mask(of: cluster, within: RowMask(first: cluster.rows), access)
        if !passing.isEmpty { body(cluster, passing) }
      }
    }
    try ClusterWalk.forEach(of: keys, in: clusters, reader) { (cluster, rows, access) throws(StorageError) in
      try check.next(access)
      let passing = try test.mask(of: cluster, within: rows, access)
      if !passing.isEmpty { body(cluster, passing) }
    }
  }

  /// The number of rows that pass.
  func count(_ reader: any NodeReader) throws(StorageError) -> Int {
    if let only = indexes.onlyCounted, let count = try only.count(table.root, isExact: true, reader.access())
    {
      return Int(clamping: count)
    }
    let candidates = try indexes.candidates(table.root, reader.access())
    if let candidates, candidates.isExact { return candidates.rows.count }
    let test = try test()
    if let constant = test as? ConstantTest { return constant.holds ? Int(clamping: table.root.rows) : 0 }
    if indexes.parts.isEmpty, let test = test as? IntegerTest, let range = test.onlyRange {
      return Int(
        clamping: try IntegerScan.count(
          test.column, in: range, of: table.root.clusters, reader, within: bounds))
    }
    var count = 0
    try run(test, on: candidates?.rows, reader) { _, passing in count += passing.count }
    return count
  }
}

extension IntegerTest {
  /// The range of the values that pass, if these are a single range without null; otherwise nil.
  var onlyRange: ClosedRange<Int64>? {
    ranges.count == 1 && !verdict.isNegated && !verdict.nullPasses ? ranges[0] : nil
  }
}
