/// Compares paired rows of a table of two databases, and reports how the objects differ.
struct RowComparison {
  typealias Body = (RowDifference) throws(StorageError) -> Bool
  typealias TableOfSide = ComparedSide.TableOfSide

  /// A column of both tables, whose values have the same type in both.
  struct ColumnPair {
    var old: Column
    var new: Column
    /// How two cells are compared before a difference is reported.
    var way: Way
  }

  enum Way {
    /// Two cells are equal if and only if their stored values are equal.
    case stored
    /// Links must be followed to compare two cells.
    case seen
    /// Two cells are equal if their stored values are equal. Otherwise, links must be followed.
    case storedThenSeen
  }

  let old: ComparedSide
  let new: ComparedSide
  let oldTable: TableOfSide?
  let newTable: TableOfSide?
  private let columns: [ColumnPair]
  /// True if the values of objects are reported, and not only which objects differ.
  let tellsValues: Bool

  /// - Parameter areVersions: True for two versions of one file, in which links to the same row lead to the same
  ///   object.
  init(
    _ pair: ComparedSchemas.Pair, _ old: ComparedSide, _ new: ComparedSide, areVersions: Bool,
    tellsValues: Bool
  ) {
    self.old = old
    self.new = new
    oldTable = pair.old.flatMap { old[$0.id] }
    newTable = pair.new.flatMap { new[$0.id] }
    self.tellsValues = tellsValues
    columns = pair.columns.map { before, after in
      let way: Way = !before.canLink ? .stored : areVersions ? .storedThenSeen : .seen
      return ColumnPair(old: before, new: after, way: way)
    }
  }

  private var name: String { oldTable?.name ?? newTable?.name ?? "" }

  /// Reports the objects of a stretch that differ. Returns false if `body` has ended it.
  func tell(_ stretch: DiffWalk.Stretch, _ body: Body) throws(StorageError) -> Bool {
    for key in try keys(stretch.deletions, of: stretch.old, oldTable) {
      guard try tellRemoved(key, body) else { return false }
    }
    for pair in try differing(stretch) {
      guard try tellChanged(pair.old, pair.new, in: pair.columns, body) else { return false }
    }
    for key in try keys(stretch.insertions, of: stretch.new, newTable) {
      guard try tellAdded(key, body) else { return false }
    }
    return true
  }

  /// The keys of some rows of a cluster.
  @inline(never)
  func keys(_ rows: [Int], of leaf: Ref?, _ table: TableOfSide?) throws(StorageError) -> [UInt64] {
    guard let leaf, let table, !rows.isEmpty else { return [] }
    let reader = table.side.reader
    let access = reader.access()
    let cluster = ClusterNode(try access.node(leaf, .cluster))
    return rows.map { [cluster = copy cluster] in cluster.key($0) }
  }

  // MARK: - Which rows differ

  private typealias Differing = (old: UInt64, new: UInt64, columns: [Int])

  /// The keys of the pairs of rows that differ or may differ, with the columns in which they do.
  @inline(never)
  private func differing(_ stretch: DiffWalk.Stretch) throws(StorageError) -> [Differing] {
    guard let oldLeaf = stretch.old, let newLeaf = stretch.new, let oldTable, let newTable,
      !stretch.pairs.isEmpty
    else { return [] }
    let (oldReader, newReader) = (oldTable.side.reader, newTable.side.reader)
    let oldAccess = oldReader.access()
    let newAccess = newReader.access()
    let before = ClusterNode(try oldAccess.node(oldLeaf, .cluster))
    let after = ClusterNode(try newAccess.node(newLeaf, .cluster))
    let clusters = ClusterPair(before, after, oldTable.side, newTable.side, oldAccess.lent, newAccess.lent)
    var found: [(pair: Int, column: Int)] = []
    for (place, column) in columns.enumerated() {
      if case .seen = column.way {
        for (index, pair) in stretch.pairs.enumerated() {
          let left = try TableReading.value(
            column.old, pair.old, of: before, oldTable.side.root.dictionaries.view, oldAccess)
          let right = try TableReading.value(
            column.new, pair.new, of: after, newTable.side.root.dictionaries.view, newAccess)
          if try !areEqual(left, right, column) { found.append((index, place)) }
        }
      } else {
        try clusters.forEachDifference(stretch.pairs, column.old, column.new) { found.append(($0, place)) }
      }
    }
    guard !found.isEmpty else { return [] }
    // The columns of a pair stay in their order.
    found.sort { ($0.pair, $0.column) < ($1.pair, $1.column) }
    var differing: [Differing] = []
    var last = -1
    for (pair, column) in found {
      if pair != last {
        let rows = stretch.pairs[pair]
        differing.append((before.key(rows.old), after.key(rows.new), []))
        last = pair
      }
      differing[differing.count - 1].columns.append(column)
    }
    return differing
  }

  private func areEqual(_ left: Value, _ right: Value, _ column: ColumnPair) throws(StorageError) -> Bool {
    if left == .null || right == .null { return left == right }
    if column.old.type == .mixed, left.linkTargets(of: column.old).isEmpty,
      right.linkTargets(of: column.new).isEmpty
    {
      return left == right
    }
    return try old.seen(left, column.old) == new.seen(right, column.new)
  }

  // MARK: - How they differ

  func tellRemoved(_ key: UInt64, _ body: Body) throws(StorageError) -> Bool {
    guard let oldTable else { return true }
    var cells: [RowDifference.Cell] = []
    if tellsValues {
      for column in oldTable.columns {
        let value = try old.seen(old.value(column, ofRow: key, in: oldTable), column)
        cells.append(RowDifference.Cell(column: column, old: value, new: nil))
      }
    }
    let identity = try old.identity(ofRow: key, in: oldTable)
    return try body(RowDifference(table: name, kind: .removed, identity: identity, cells: cells))
  }

  func tellAdded(_ key: UInt64, _ body: Body) throws(StorageError) -> Bool {
    guard let newTable else { return true }
    var cells: [RowDifference.Cell] = []
    if tellsValues {
      for column in newTable.columns {
        let value = try new.seen(new.value(column, ofRow: key, in: newTable), column)
        cells.append(RowDifference.Cell(column: column, old: nil, new: value))
      }
    }
    let identity = try new.identity(ofRow: key, in: newTable)
    return try body(RowDifference(table: name, kind: .added, identity: identity, cells: cells))
  }

  /// Reports an object of both databases if it differs in some of the given columns. Links are followed.
  ///
  /// - Parameter places: The columns that differ or may differ; nil to compare all columns.
  func tellChanged(
    _ oldKey: UInt64, _ newKey: UInt64, in places: [Int]? = nil, _ body: Body
  ) throws(StorageError) -> Bool {
    guard let oldTable, let newTable else { return true }
    var cells: [RowDifference.Cell] = []
    for place in places ?? Array(columns.indices) {
      let column = columns[place]
      let before = try old.seen(old.value(column.old, ofRow: oldKey, in: oldTable), column.old)
      let after = try new.seen(new.value(column.new, ofRow: newKey, in: newTable), column.new)
      if before != after { cells.append(RowDifference.Cell(column: column.new, old: before, new: after)) }
    }
    guard !cells.isEmpty else { return true }
    let identity = try old.identity(ofRow: oldKey, in: oldTable)
    return try body(
      RowDifference(table: name, kind: .changed, identity: identity, cells: tellsValues ? cells : []))
  }
}
