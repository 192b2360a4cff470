/// Keys and values in the order of the keys, which are compared byte by byte. The tree is a B+tree whose branches count
/// the entries below them.
///
/// A tree is named by the ref of its root, which is null while the tree is empty. Reading needs a `NodeAccess`. A
/// change returns a new root and leaves all nodes of the old tree as they are. All operations take time in proportion
/// to the height.
package enum OrderedTree {
  /// The longest key, in bytes.
  package static let maximumKeyLength = 1024
  /// The longest value that stands in its leaf, in bytes. Longer values are stored in nodes of their own.
  package static let maximumInlineValue = 1024

  package static func count(_ root: Ref, _ access: borrowing NodeAccess) throws(StorageError) -> UInt64 {
    if root.isNull { return 0 }
    let view = try access.node(root)
    return root.isBranch ? BranchNode(view).totalRows : UInt64(try leaf(root, access).count)
  }

  /// Calls `body` with the value of a key. Returns nil if the tree does not have the key.
  package static func find<Result>(
    _ key: RawSpan, in root: Ref, _ access: borrowing NodeAccess,
    _ body: (TreeValue) throws(StorageError) -> Result
  ) throws(StorageError) -> Result? {
    guard !root.isNull else { return nil }
    var ref = root
    while ref.isBranch {
      let branch = BranchNode(try access.node(ref))
      ref = branch.child(branch.search(key))
      prefetch(ref, access)
    }
    let leaf = try leaf(ref, access)
    let (index, found) = leaf.search(key)
    return found ? try body(leaf.value(index)) : nil
  }

  /// The number of keys that are less than `key`.
  package static func rank(
    _ key: RawSpan, in root: Ref, _ access: borrowing NodeAccess
  ) throws(StorageError) -> UInt64 {
    guard !root.isNull else { return 0 }
    var ref = root
    var before: UInt64 = 0
    while ref.isBranch {
      let branch = BranchNode(try access.node(ref))
      let index = branch.search(key)
      for earlier in 0..<index { before &+= branch.rows(earlier) }
      ref = branch.child(index)
    }
    return before &+ UInt64(try leaf(ref, access).search(key).index)
  }

  /// The number of keys that are not less than `low` and less than `high`.
  ///
  /// - Precondition: `low` is not greater than `high`.
  package static func count(
    from low: RawSpan, below high: RawSpan, in root: Ref, _ access: borrowing NodeAccess
  ) throws(StorageError) -> UInt64 {
    guard !root.isNull else { return 0 }
    var ref = root
    while ref.isBranch {
      let branch = BranchNode(try access.node(ref))
      let first = branch.search(low)
      let last = branch.search(high, from: first)
      if first < last {
        // Below this branch the paths to the two keys have no node in common.
        var between = branch.rows(first) &- (try rank(low, in: branch.child(first), access))
        for index in (first + 1)..<last { between &+= branch.rows(index) }
        return between &+ (try rank(high, in: branch.child(last), access))
      }
      ref = branch.child(first)
    }
    let leaf = try leaf(ref, access)
    let first = leaf.search(low).index
    return UInt64(leaf.search(high, from: first).index - first)
  }

  /// Prefetches the bytes that a search reads of a node, as soon as the node is known. Otherwise each step of the
  /// search would wait for its cache line. Nodes above a leaf and its parent are not prefetched, because they are in
  /// the cache already. (The test of the level fits trees whose values name no refs; the leaves of other trees have
  /// higher levels.)
  @inline(__always)
  static func prefetch(_ ref: Ref, _ access: borrowing NodeAccess) {
    if ref.level <= 1 { access.prefetch(ref, count: searchedBytes) }
  }
  private static let searchedBytes = 2048

  /// The leaf at `ref`. A ref that is not a branch must be a leaf.
  @_lifetime(borrow access)
  static func leaf(_ ref: Ref, _ access: borrowing NodeAccess) throws(StorageError) -> LeafNode {
    LeafNode(try access.node(ref, .leaf))
  }
}

extension Ref {
  var isBranch: Bool { rawKind == NodeKind.branch.rawValue }
}

/// The sizes that the nodes of a tree may reach.
package struct TreeShape: Sendable {
  /// The number of bytes of refs and body above which a leaf splits.
  package var leafBytes: Int
  /// The number of bytes of refs and body above which a branch splits.
  package var branchBytes: Int
  /// The most children of a branch.
  package var fanOut: Int

  package init(leafBytes: Int, branchBytes: Int, fanOut: Int) {
    self.leafBytes = leafBytes
    self.branchBytes = branchBytes
    self.fanOut = fanOut
  }

  /// The bytes that a node takes besides its refs and body, also in an encrypted file. Because they are subtracted, a
  /// full node takes whole units.
  private static let around = NodeEditor.headerLength + NodeCipher.nonceLength

  /// The shape for trees whose entries are a few bytes each. A commit that changes one entry writes the leaf and one
  /// branch of each level, so these are small.
  package static let small = TreeShape(leafBytes: 2048 - around, branchBytes: 2048 - around, fanOut: 32)

  package static let standard = TreeShape(leafBytes: 4096 - around, branchBytes: 4096 - around, fanOut: 64)
}
