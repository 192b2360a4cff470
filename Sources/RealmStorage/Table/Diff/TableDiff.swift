/// Finds what differs between two versions of a table, at the cost of the clusters that only one of them has.
///
/// Rows are paired by key and their cells compared, so a split, a merge, another packing, another code for a value or a
/// moved node is no difference.
struct TableDiff {
  /// A table of one version.
  struct Side {
    var schema: TableSchema
    var root: TableRoot
    var reader: any NodeReader
  }

  private let old: Side
  private let new: Side
  private let columns: [(old: Column, new: Column, position: Int)]
  private var oldRows: RowWalk
  private var newRows: RowWalk
  private var changes = TableChanges()

  /// The changes from one version of a table to another.
  static func changes(from old: Side, to new: Side) throws(StorageError) -> TableChanges {
    var diff = try TableDiff(old, new)
    while try diff.step() {}
    return diff.changes
  }

  private init(_ old: Side, _ new: Side) throws(StorageError) {
    self.old = old
    self.new = new
    // A column's id is given once, and stays when its type changes.
    columns = new.schema.columns.enumerated().compactMap { position, column in
      old.schema.columns.first { $0.id == column.id }.map { ($0, column, position) }
    }
    let leaves: (old: [Ref], new: [Ref])
    if columns.allSatisfy({ $0.old.absentValue == $0.new.absentValue && $0.old.hasValues(like: $0.new) }) {
      leaves = try UnsharedLeaves.find(
        in: old.root.clusters, old.reader.access(), and: new.root.clusters, new.reader.access()
      ) { $0.isKeyedBranch }
    } else {
      // Rows of clusters that lack such a column have another value now, and their clusters are the same. So have rows whose
      // bytes are read as another type.
      leaves = (try Self.leaves(of: old), try Self.leaves(of: new))
    }
    oldRows = RowWalk(leaves.old)
    newRows = RowWalk(leaves.new)
  }

  private static func leaves(of side: Side) throws(StorageError) -> [Ref] {
    var leaves: [Ref] = []
    try KeyedTree.forEachLeaf(of: side.root.clusters, side.reader.access()) { (leaf) in
      leaves.append(leaf)
      return true
    }
    return leaves
  }

  /// Compares from where the walks stand until one of the two clusters ends. False at the end of both.
  ///
  /// Gives up its right to read at its end, so that decrypted nodes can be forgotten behind it.
  private mutating func step() throws(StorageError) -> Bool {
    let (oldReader, newReader) = (old.reader, new.reader)
    let oldAccess = oldReader.access()
    let newAccess = newReader.access()
    let (isOld, isNew) = (!oldRows.isAtEnd, !newRows.isAtEnd)
    guard isOld || isNew else { return false }
    guard isOld else {
      changes.insertions += try newRows.rest(newAccess)
      return true
    }
    guard isNew else {
      changes.deletions += try oldRows.rest(oldAccess)
      return true
    }
    let before = try oldRows.cluster(oldAccess)
    let after = try newRows.cluster(newAccess)
    var pairs: [RowPair] = []
    while oldRows.row < before.rows, newRows.row < after.rows {
      let (oldKey, newKey) = (before.key(oldRows.row), after.key(newRows.row))
      if oldKey < newKey {
        changes.deletions.append(oldKey)
        oldRows.row += 1
      } else if newKey < oldKey {
        changes.insertions.append(newKey)
        newRows.row += 1
      } else {
        pairs.append(RowPair(old: oldRows.row, new: newRows.row))
        oldRows.row += 1
        newRows.row += 1
      }
    }
    try compare(pairs, ClusterPair(before, after, old, new, oldAccess.lent, newAccess.lent))
    oldRows.leaveIfDone(before)
    newRows.leaveIfDone(after)
    return true
  }

  private mutating func compare(_ pairs: [RowPair], _ clusters: ClusterPair) throws(StorageError) {
    guard !pairs.isEmpty else { return }
    var changed = [[Int]](repeating: [], count: pairs.count)
    for column in columns {
      try clusters.forEachDifference(pairs, column.old, column.new) { changed[$0].append(column.position) }
    }
    for (pair, columns) in zip(pairs, changed) where !columns.isEmpty {
      changes.modifications.append(.init(key: clusters.key(pair), columns: columns))
    }
  }
}

/// A row in two clusters.
struct RowPair {
  var old: Int
  var new: Int
}

/// Rows of clusters that stand in order.
private struct RowWalk {
  private let leaves: [Ref]
  private var leaf = 0
  private var lastKey: UInt64?
  var row = 0

  init(_ leaves: [Ref]) { self.leaves = leaves }

  var isAtEnd: Bool { leaf == leaves.count }

  /// The cluster it stands in.
  ///
  /// - Throws: `.corrupted`, also where its keys do not follow those before it.
  @_lifetime(borrow access)
  func cluster(_ access: borrowing NodeAccess) throws(StorageError) -> ClusterNode {
    let cluster = ClusterNode(try access.node(leaves[leaf], .cluster))
    if let lastKey, cluster.firstKey <= lastKey { throw access.corrupted(.keyOrder, leaves[leaf]) }
    return cluster
  }

  /// The keys of the rows that are left of the cluster, which it leaves.
  mutating func rest(_ access: borrowing NodeAccess) throws(StorageError) -> [UInt64] {
    let cluster = try cluster(access)
    let keys = (row..<cluster.rows).map { cluster.key($0) }
    row = cluster.rows
    leaveIfDone(cluster)
    return keys
  }

  mutating func leaveIfDone(_ cluster: ClusterNode) {
    guard row == cluster.rows else { return }
    lastKey = cluster.key(row - 1)
    leaf += 1
    row = 0
  }
}

extension Column {
  /// Whether the same bytes are the same value in both.
  func hasValues(like other: Column) -> Bool {
    // A collection has bits for its nulls only where there may be some.
    type == other.type && collection == other.collection && (!isCollection || isOptional == other.isOptional)
      && (type != .link || target == other.target)
  }
}
