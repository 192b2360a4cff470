/// Walks over the clusters that only one of two versions of a table has, and pairs their rows by key.
///
/// A copy of a walk begins where the walk stands, so that what one walk found can be gone through several times.
struct DiffWalk {
  /// Rows of a cluster of each version, up to the end of one of the two; or the rest of one cluster alone.
  struct Stretch {
    /// The cluster of the older version, where there is one.
    var old: Ref?
    /// The cluster of the newer version, where there is one.
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
  /// The pairs of clusters that have the same rows, as of the last ones.
  private var aligned: [RowPair] = []

  /// - Parameter skipsShared: clusters that both have are left out: rows of two versions of one file differ in none of them.
  init(
    _ old: TableDiff.Side, _ new: TableDiff.Side, skipsShared: Bool = true
  ) throws(StorageError) {
    self.old = old
    self.new = new
    let leaves: (old: [Ref], new: [Ref])
    let areReadAlike = new.schema.columns.allSatisfy { column in
      guard let before = old.schema.columns.first(where: { $0.id == column.id }) else {
        // Who pairs columns by their names compares it with the one that was removed.
        return old.schema.column(column.name) == nil
      }
      return before.absentValue == column.absentValue && before.hasValues(like: column)
    }
    if skipsShared, areReadAlike {
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

  private static func leaves(of side: TableDiff.Side) throws(StorageError) -> [Ref] {
    var leaves: [Ref] = []
    try KeyedTree.forEachLeaf(of: side.root.clusters, side.reader.access()) { (leaf) in
      leaves.append(leaf)
      return true
    }
    return leaves
  }

  /// Compares the keys from where the walk stands until one of the two clusters ends. Nil at the end of both versions.
  ///
  /// Gives up its right to read at its end, so that decrypted nodes can be forgotten behind it.
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
  var ref: Ref { leaves[leaf] }

  /// The cluster it stands in, to read.
  ///
  /// - Throws: `.corrupted`, also where its keys do not follow those before it.
  @_lifetime(borrow access)
  func cluster(_ access: borrowing NodeAccess) throws(StorageError) -> ClusterNode {
    let cluster = ClusterNode(try access.node(leaves[leaf], .cluster))
    if let lastKey, cluster.firstKey <= lastKey { throw access.corrupted(.keyOrder, leaves[leaf]) }
    return cluster
  }

  /// The places of the rows that are left of the cluster, which it leaves.
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
