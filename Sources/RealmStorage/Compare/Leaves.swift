/// The clusters of a table.
enum Leaves {
  /// Calls `body` with each in their order until it answers false; answers whether it wanted all.
  ///
  /// Gives up its right to read before each, so that decrypted nodes can be forgotten behind it.
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

  /// The leaf that may hold `key`, and the least key that may stand in the leaf after it.
  @inline(never)
  static func leaf(
    for key: UInt64, of side: TableDiff.Side
  ) throws(StorageError) -> (Ref, UInt64?) {
    let reader = side.reader
    let access = reader.access()
    let (leaf, next) = try KeyedTree.leafAndNext(for: key, in: side.root.clusters, access)
    let cluster = ClusterNode(try access.node(leaf, .cluster))
    // Only a forged tree has rows before the least key of a leaf, or behind that of the next one.
    guard cluster.firstKey >= key, next.map({ cluster.key(cluster.rows - 1) < $0 }) ?? true else {
      throw access.corrupted(.keyOrder, leaf)
    }
    return (leaf, next)
  }

  /// The places of the rows of a leaf.
  @inline(never)
  static func places(in leaf: Ref, of side: TableDiff.Side) throws(StorageError) -> [Int] {
    let reader = side.reader
    let access = reader.access()
    return Array(0..<ClusterNode(try access.node(leaf, .cluster)).rows)
  }
}
