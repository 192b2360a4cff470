/// The clusters of a table.
enum Leaves {
  /// Calls `body` with each cluster in order until it returns false. Returns false if `body` has ended it.
  ///
  /// The access to nodes ends before each call, so that decrypted nodes can be forgotten afterwards.
  static func forEach(
    of side: TableDiff.Side, _ body: (Ref) throws(StorageError) -> Bool
  ) throws(StorageError) -> Bool {
    var next: UInt64? = 0
    while let key = next, !side.root.clusters.isNull {
      let (leaf, following) = try leaf(for: key, of: side)
      guard try body(leaf) else { return false }
      next = following
    }
    return true
  }

  /// The leaf that may have `key`, and the least key that may be in the next leaf.
  @inline(never)
  static func leaf(
    for key: UInt64, of side: TableDiff.Side
  ) throws(StorageError) -> (Ref, UInt64?) {
    let reader = side.reader
    let access = reader.access()
    let (leaf, next) = try KeyedTree.leafAndNext(for: key, in: side.root.clusters, access)
    let cluster = ClusterNode(try access.node(leaf, .cluster))
    // Only a forged tree has rows before the least key of a leaf, or from the least key of the next leaf on.
    guard cluster.firstKey >= key, next.map({ cluster.key(cluster.rows - 1) < $0 }) ?? true else {
      throw access.corrupted(.keyOrder, leaf)
    }
    return (leaf, next)
  }

  /// The places of all rows of a leaf.
  @inline(never)
  static func places(in leaf: Ref, of side: TableDiff.Side) throws(StorageError) -> [Int] {
    let reader = side.reader
    let access = reader.access()
    return Array(0..<ClusterNode(try access.node(leaf, .cluster)).rows)
  }
}
