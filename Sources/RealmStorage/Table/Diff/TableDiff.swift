/// Finds the differences between two versions of a table, in time in proportion to the number of clusters that only one
/// of them has.
///
/// Rows are paired by their keys, and their cells are compared. So a split, a merge, another packing, another code for
/// a value or a moved node is no difference.
struct TableDiff {
  /// A table in one version.
  struct Side {
    var schema: TableSchema
    var root: TableRoot
    var reader: any NodeReader
  }

  private let old: Side
  private let new: Side
  private let columns: [(old: Column, new: Column, position: Int)]
  private var changes = TableChanges()

  /// The changes from one version of a table to another.
  static func changes(from old: Side, to new: Side) throws(StorageError) -> TableChanges {
    var diff = TableDiff(old, new)
    var walk = try DiffWalk(old, new)
    while let stretch = try walk.next() { try diff.add(stretch) }
    return diff.changes
  }

  private init(_ old: Side, _ new: Side) {
    self.old = old
    self.new = new
    // A column's id is given only once, and stays the same if the type of the column changes.
    columns = new.schema.columns.enumerated().compactMap { position, column in
      // Programs do not see companions.
      guard !column.isCompanion else { return nil }
      return old.schema.columns.first { $0.id == column.id }.map { ($0, column, position) }
    }
  }

  /// Ends its accesses when it returns, as `DiffWalk.next` does, so that decrypted nodes can be dropped after it.
  private mutating func add(_ stretch: DiffWalk.Stretch) throws(StorageError) {
    let (oldReader, newReader) = (old.reader, new.reader)
    let oldAccess = oldReader.access()
    let newAccess = newReader.access()
    if let leaf = stretch.old, !stretch.deletions.isEmpty {
      let cluster = ClusterNode(try oldAccess.node(leaf, .cluster))
      for row in stretch.deletions { changes.deletions.append(cluster.key(row)) }
    }
    guard let leaf = stretch.new else { return }
    let after = ClusterNode(try newAccess.node(leaf, .cluster))
    for row in stretch.insertions { changes.insertions.append(after.key(row)) }
    guard let leaf = stretch.old, !stretch.pairs.isEmpty else { return }
    let before = ClusterNode(try oldAccess.node(leaf, .cluster))
    try compare(stretch.pairs, ClusterPair(before, after, old, new, oldAccess.lent, newAccess.lent))
  }

  private mutating func compare(_ pairs: [RowPair], _ clusters: ClusterPair) throws(StorageError) {
    var changed = [[Int]](repeating: [], count: pairs.count)
    for column in columns {
      try clusters.forEachDifference(pairs, column.old, column.new) { changed[$0].append(column.position) }
    }
    for (pair, columns) in zip(pairs, changed) where !columns.isEmpty {
      changes.modifications.append(.init(key: clusters.key(pair), columns: columns))
    }
  }
}

extension Column {
  /// Whether the same bytes mean the same value in both columns.
  func hasValues(like other: Column) -> Bool {
    // A collection has bits that mark nulls only if its elements may be null.
    type == other.type && collection == other.collection && (!isCollection || isOptional == other.isOptional)
      && (type != .link || target == other.target)
  }
}
