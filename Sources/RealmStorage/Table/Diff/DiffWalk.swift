/// Walks over the clusters that only one of two versions of a table has, and pairs their rows by key. If the rows of a
/// shared cluster may differ in their values, it walks over all clusters.
///
/// A copy of a walk continues from the present place of the walk. So the clusters that were found can be walked over
/// several times.
struct DiffWalk {
  /// Rows of one cluster of each version, up to the end of one of the two clusters; or the rest of one cluster if the
  /// other version has no rows left.
  struct Stretch {
    /// The cluster of the older version; nil if that version has no rows left.
    var old: Ref?
    /// The cluster of the newer version; nil if that version has no rows left.
    var new: Ref?
    /// The places in the older cluster of rows that only the older version has.
    var deletions: [Int] = []
    /// The places in the newer cluster of rows that only the newer version has.
    var insertions: [Int] = []
    /// The rows that both versions have.
    var pairs: [RowPair] = []
  }

  private let old: TableDiff.Side
  private let new: TableDiff.Side
  private var oldRows: RowWalk
  private var newRows: RowWalk
  /// The pairs of the last two clusters that had the same keys. They are used again if the next such clusters have as
  /// many rows.
  private var aligned: [RowPair] = []

  /// - Parameter skipsShared: whether clusters that both versions have are skipped. In two versions of one file, the
  ///   rows of such clusters do not differ.
  init(
    _ old: TableDiff.Side, _ new: TableDiff.Side, skipsShared: Bool = true
  ) throws(StorageError) {
    self.old = old
    self.new = new
    let leaves: (old: [Ref], new: [Ref])
    let areReadAlike = new.schema.columns.allSatisfy { column in
      guard let before = old.schema.columns.first(where: { $0.id == column.id }) else {
        // A caller that pairs columns by their names compares this column with a removed column of the same name.
        return old.schema.column(column.name) == nil
      }
      return before.absentValue == column.absentValue && before.hasValues(like: column)
    }
    if skipsShared, areReadAlike {
      leaves = try UnsharedLeaves.find(
        in: old.root.clusters, old.reader.access(), and: new.root.clusters, new.reader.access()
      ) { $0.isKeyedBranch }
    } else {
      // All clusters are compared, also shared ones, because the caller asked for it or because their rows may differ:
      // the rows of a shared cluster that lacks a column have another value if the column's absent value changed, and
      // so have rows whose bytes are read as another type.
      leaves = (try Self.leaves(of: old), try Self.leaves(of: new))
    }
    oldRows = RowWalk(leaves.old)
    newRows = RowWalk(leaves.new)
  }

  private static func leaves(of side: TableDiff.Side) throws(StorageError) -> [Ref] {
    var leaves: [Ref] = []
    try KeyedTree.forEachLeaf(of: side.root.clusters, side.reader.access()) { (leaf) in
      leaves.append(leaf)
      return true
    }
    return leaves
  }

  /// Compares the keys from the present place until one of the two clusters ends. Returns nil at the end of both
  /// versions.
  ///
  /// Ends its accesses when it returns, so that decrypted nodes can be dropped after it.
  @inline(never)
  mutating func next() throws(StorageError) -> Stretch? {
    let (oldReader, newReader) = (old.reader, new.reader)
    let oldAccess = oldReader.access()
    let newAccess = newReader.access()
    let (isOld, isNew) = (!oldRows.isAtEnd, !newRows.isAtEnd)
    guard isOld || isNew else { return nil }
    var stretch = Stretch(old: isOld ? oldRows.ref : nil, new: isNew ? newRows.ref : nil)
    guard isOld else {
      stretch.insertions = try newRows.rest(newAccess)
      return stretch
    }
    guard isNew else {
      stretch.deletions = try oldRows.rest(oldAccess)
      return stretch
    }
    let before = try oldRows.cluster(oldAccess)
    let after = try newRows.cluster(newAccess)
    if oldRows.row == 0, newRows.row == 0, before.isDense, after.isDense, before.firstKey == after.firstKey,
      before.rows == after.rows
    {
      if aligned.count != before.rows { aligned = (0..<before.rows).map { RowPair(old: $0, new: $0) } }
      stretch.pairs = aligned
      (oldRows.row, newRows.row) = (before.rows, after.rows)
    }
    while oldRows.row < before.rows, newRows.row < after.rows {
      let (oldKey, newKey) = (before.key(oldRows.row), after.key(newRows.row))
      if oldKey < newKey {
        stretch.deletions.append(oldRows.row)
        oldRows.row += 1
      } else if newKey < oldKey {
        stretch.insertions.append(newRows.row)
        newRows.row += 1
      } else {
        stretch.pairs.append(RowPair(old: oldRows.row, new: newRows.row))
        oldRows.row += 1
        newRows.row += 1
      }
    }
    oldRows.leaveIfDone(before)
    newRows.leaveIfDone(after)
    return stretch
  }
}

/// The places of one row in the clusters of two versions.
struct RowPair {
  var old: Int
  var new: Int
}

/// A walk over the rows of clusters, in the order of their keys.
private struct RowWalk {
  private let leaves: [Ref]
  private var leaf = 0
  private var lastKey: UInt64?
  var row = 0

  init(_ leaves: [Ref]) { self.leaves = leaves }

  var isAtEnd: Bool { leaf == leaves.count }
  /// The present cluster.
  var ref: Ref { leaves[leaf] }

  /// The present cluster, for reading.
  ///
  /// - Throws: `.corrupted`, also if its keys are not greater than those of the clusters before it.
  @_lifetime(borrow access)
  func cluster(_ access: borrowing NodeAccess) throws(StorageError) -> ClusterNode {
    let cluster = ClusterNode(try access.node(leaves[leaf], .cluster))
    if let lastKey, cluster.firstKey <= lastKey { throw access.corrupted(.keyOrder, leaves[leaf]) }
    return cluster
  }

  /// Returns the places of the remaining rows of the present cluster, and goes on to the next cluster.
  mutating func rest(_ access: borrowing NodeAccess) throws(StorageError) -> [Int] {
    let cluster = try cluster(access)
    let places = Array(row..<cluster.rows)
    row = cluster.rows
    leaveIfDone(cluster)
    return places
  }

  mutating func leaveIfDone(_ cluster: borrowing ClusterNode) {
    guard row == cluster.rows else { return }
    lastKey = cluster.key(row - 1)
    leaf += 1
    row = 0
  }
}
