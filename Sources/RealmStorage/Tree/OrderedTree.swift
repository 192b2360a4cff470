/// Keys and values in the order of the keys, byte by byte: a B+tree whose branches count what lies below them.
///
/// A tree is named by the ref of its root, null while it is empty. Reading needs a `NodeAccess`; changing it answers a
/// new root and leaves all nodes of the old one as they are. All operations take time in proportion to the height.
package enum OrderedTree {
  /// The longest key, in bytes.
  package static let maximumKeyLength = 1024
  /// The longest value that stands in its leaf; longer ones stand apart.
  package static let maximumInlineValue = 1024

  package static func count(_ root: Ref, _ access: borrowing NodeAccess) throws(StorageError) -> UInt64 {
    if root.isNull { return 0 }
    let view = try access.node(root)
    return root.isBranch ? BranchNode(view).totalRows : UInt64(try leaf(root, access).count)
  }

  /// Calls `body` with the value of a key; answers nil when there is none.
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

  /// How many keys are less than `key`.
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

  /// How many keys are not less than `low` and less than `high`.
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
        // From here on they have nothing in common.
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

  /// Asks for what a search reads of a node, as soon as it is known which: else each step of it waits for its line. What
  /// stands higher than a leaf and its parent is near. (Of trees whose values name nothing: leaves of others stand higher.)
  @inline(__always)
  static func prefetch(_ ref: Ref, _ access: borrowing NodeAccess) {
    if ref.level <= 1 { access.prefetch(ref, count: searchedBytes) }
  }
  private static let searchedBytes = 2048

  /// A leaf, which is what a ref that is no branch must be.
  @_lifetime(borrow access)
  static func leaf(_ ref: Ref, _ access: borrowing NodeAccess) throws(StorageError) -> LeafNode {
    LeafNode(try access.node(ref, .leaf))
  }
}

extension Ref {
  var isBranch: Bool { rawKind == NodeKind.branch.rawValue }
}

/// How large the nodes of a tree grow.
package struct TreeShape: Sendable {
  /// Bytes of a leaf's refs and body at which it splits.
  package var leafBytes: Int
  /// Bytes of a branch's refs and body at which it splits.
  package var branchBytes: Int
  /// Children of a branch at most.
  package var fanOut: Int

  package init(leafBytes: Int, branchBytes: Int, fanOut: Int) {
    self.leafBytes = leafBytes
    self.branchBytes = branchBytes
    self.fanOut = fanOut
  }

  /// What stands around refs and body of a node, also in an encrypted file: a full one takes whole units then.
  private static let around = NodeEditor.headerLength + NodeCipher.nonceLength

  /// Of trees whose entries are a few bytes: a commit that changes one entry writes the leaf, and a branch of each level.
  package static let small = TreeShape(leafBytes: 2048 - around, branchBytes: 2048 - around, fanOut: 32)

  package static let standard = TreeShape(leafBytes: 4096 - around, branchBytes: 4096 - around, fanOut: 64)
}
