/// A predicate made ready for a table: rows are tested, or found by an index where one finds them faster.
///
/// Lives as long as one query, in one thread.
struct RowQuery {
  private let predicate: Predicate
  private let table: TableForm
  private let tables: any TableFinder
  /// Parts of which all must hold, that an index can answer: the rows with one of the values.
  private let indexed: [IndexedPart]
  /// The only part is for an index.
  private let isLookup: Bool
  private let bounds: QueryBounds

  struct IndexedPart {
    var column: Column
    /// Each once.
    var values: [Value]
  }

  /// - Precondition: the tables have the columns, and tests fit them, as `Predicate` says.
  init(
    _ predicate: Predicate, of table: TableForm, _ tables: any TableFinder,
    within bounds: QueryBounds = QueryBounds()
  ) {
    self.bounds = bounds
    self.predicate = predicate
    self.table = table
    self.tables = tables
    indexed = Self.indexedParts(predicate, table.schema)
    if case .and = predicate { isLookup = false } else { isLookup = !indexed.isEmpty }
  }

  /// Made where rows are tested: with many values that takes longer than to look them up.
  private func test() throws(StorageError) -> ClusterTest {
    try TestBuilder(tables: tables).test(predicate, of: table)
  }

  private static func indexedParts(_ predicate: Predicate, _ schema: TableSchema) -> [IndexedPart] {
    var found: [IndexedPart] = []
    var rest = [predicate]
    while let next = rest.popLast() {
      switch next {
      case .and(let parts): rest += parts.reversed()
      case .compare(let path, .equal, let value): found += indexedPart(path, [value], schema)
      case .isIn(let path, let values): found += indexedPart(path, values, schema)
      default: break
      }
    }
    return found
  }

  /// Constants of another type than the column's may equal its values all the same: these are for the scan.
  private static func indexedPart(
    _ path: ColumnPath, _ values: [Value], _ schema: TableSchema
  ) -> [IndexedPart] {
    let column = schema.columns[path.column]
    guard path.links.isEmpty, column.index != .none, !column.isCollection, values.allSatisfy(column.accepts)
    else {
      return []
    }
    return [IndexedPart(column: column, values: column.type == .mixed ? unequal(values) : distinct(values))]
  }

  /// Values of several types may be equal: the rows of equal ones are the same.
  private static func unequal(_ values: [Value]) -> [Value] {
    var unequal: [Value] = []
    for value in values.sorted(by: { ValueOrder.sort($0, $1) < 0 }) {
      // Collections that differ may stand at one place of the order.
      let alike = unequal.reversed().prefix { ValueOrder.sort($0, value) == 0 }
      if !alike.contains(where: { ValueOrder.areEqual($0, value) }) { unequal.append(value) }
    }
    return unequal
  }

  /// Whole numbers ascend, so that those are looked up one after another that stand together.
  private static func distinct(_ values: [Value]) -> [Value] {
    guard values.count > 1 else { return values }
    var numbers: [Int64] = []
    numbers.reserveCapacity(values.count)
    for value in values {
      guard case .int(let number) = value else { return Array(Set(values)) }
      numbers.append(number)
    }
    numbers.sort()
    var distinct: [Value] = []
    distinct.reserveCapacity(numbers.count)
    for index in numbers.indices where index == 0 || numbers[index] != numbers[index - 1] {
      distinct.append(.int(numbers[index]))
    }
    return distinct
  }

  // MARK: - Running

  /// The rows that pass, in the order of their keys.
  func rows(_ reader: any NodeReader) throws(StorageError) -> [UInt64] {
    if isLookup, let found = try candidates(reader.access()) { return found }
    let test = try test()
    if let constant = test as? ConstantTest, !constant.holds { return [] }
    // An index that was asked leaves too many.
    let candidates = isLookup ? nil : try candidates(reader.access())
    var found: [UInt64] = []
    try run(test, on: candidates, reader) { cluster, passing in cluster.appendKeys(passing, to: &found) }
    return found
  }

  /// The first rows that pass, no more than `limit`. What comes behind them is not read, but for rows that an index finds.
  func rows(atMost limit: Int, _ reader: any NodeReader) throws(StorageError) -> [UInt64] {
    if limit == 0 { return [] }
    let candidates = try candidates(reader.access())
    if isLookup, let candidates { return Array(candidates.prefix(limit)) }
    let test = try test()
    if let constant = test as? ConstantTest, !constant.holds { return [] }
    var found: [UInt64] = []
    if let candidates {
      // Few enough to be tested all.
      try run(test, on: candidates, reader) { cluster, passing in cluster.appendKeys(passing, to: &found) }
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

  /// Those of some rows that are there and pass, in the order they are given.
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

  /// How the rows are found, in words.
  func explanation(_ access: borrowing NodeAccess) throws(StorageError) -> String {
    if case .always = predicate { return "takes all" }
    if isLookup, let part = indexed.first {
      guard let count = try lookupCount(part, access) else { return "looks at each" }
      return "finds \(count) by the index of \(part.column.name)"
    }
    if let best = try bestPart(access) {
      return "looks at the \(best.count) that the index of \(best.part.column.name) finds"
    }
    return "looks at each"
  }

  /// Calls `body` with each cluster that has rows that pass, and these. Makes a test each time.
  ///
  /// - Parameter keys: of the rows to be tested; nil for all.
  /// - Precondition: the keys do not fall.
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

  /// How many rows pass.
  func count(_ reader: any NodeReader) throws(StorageError) -> Int {
    if isLookup, let count = try lookupCount(indexed[0], reader.access()) { return Int(clamping: count) }
    let test = try test()
    if let constant = test as? ConstantTest { return constant.holds ? Int(clamping: table.root.rows) : 0 }
    if indexed.isEmpty, let test = test as? IntegerTest, let range = test.onlyRange {
      return Int(
        clamping: try IntegerScan.count(test.column, in: range, of: table.root.clusters, reader.access()))
    }
    var count = 0
    let candidates = isLookup ? nil : try candidates(reader.access())
    try run(test, on: candidates, reader) { _, passing in count += passing.count }
    return count
  }

  // MARK: - Planning

  /// A row found by an index costs as much as this many in a scan.
  private static let indexCost: UInt64 = 16

  /// How many rows an index finds; nil for lists so long that to look them up costs more than a scan.
  private func lookupCount(
    _ part: IndexedPart, _ access: borrowing NodeAccess
  ) throws(StorageError) -> UInt64? {
    guard UInt64(part.values.count) &* Self.indexCost <= table.root.rows else { return nil }
    var count: UInt64 = 0
    for value in part.values {
      count &+= try IndexTree.count(with: value, of: part.column, table: table.root, access)
    }
    return count
  }

  /// The part whose index finds the fewest rows, where these are few enough; nil for a scan.
  private func bestPart(
    _ access: borrowing NodeAccess
  ) throws(StorageError) -> (part: IndexedPart, count: UInt64)? {
    var best: (part: IndexedPart, count: UInt64)?
    for part in indexed {
      guard let count = try lookupCount(part, access) else { continue }
      if best.map({ count < $0.count }) ?? true { best = (part, count) }
    }
    guard let best, best.count &* Self.indexCost <= table.root.rows else { return nil }
    return best
  }

  /// The rows that an index finds, in the order of their keys, where it leaves few enough; nil for a scan.
  private func candidates(_ access: borrowing NodeAccess) throws(StorageError) -> [UInt64]? {
    guard let best = try bestPart(access) else { return nil }
    var rows: [UInt64] = []
    for value in best.part.values {
      rows += try IndexTree.rows(with: value, of: best.part.column, table: table.root, access)
    }
    return best.part.values.count > 1 ? rows.sorted() : rows
  }
}

extension IntegerTest {
  /// The range of the values that pass, where these are all.
  var onlyRange: ClosedRange<Int64>? {
    ranges.count == 1 && !verdict.isNegated && !verdict.nullPasses ? ranges[0] : nil
  }
}
