/// A position in an ordered tree that can move. It holds refs and indices, never addresses.
package struct TreeCursor {
  private let root: Ref
  /// The branches from the root down, and the index of the child taken in each.
  private var path: [(ref: Ref, index: Int)] = []
  private var leaf = Ref.null
  private var index = 0

  package init(_ root: Ref) { self.root = root }

  /// True if the cursor stands on an entry.
  package var isValid: Bool { !leaf.isNull }

  /// Moves to the first entry whose key is not less than `key`.
  package mutating func seek(_ key: RawSpan, _ access: borrowing NodeAccess) throws(StorageError) {
    try descend(access) { branch in branch.search(key) }
    guard isValid else { return }
    index = try OrderedTree.leaf(leaf, access).search(key).index
    try skipToNextLeafIfAtEnd(access)
  }

  package mutating func seekFirst(_ access: borrowing NodeAccess) throws(StorageError) {
    try descend(access) { _ in 0 }
    index = 0
  }

  package mutating func seekLast(_ access: borrowing NodeAccess) throws(StorageError) {
    try descend(access) { branch in branch.count - 1 }
    if isValid { index = try OrderedTree.leaf(leaf, access).count - 1 }
  }

  /// Moves to the entry that has `position` entries before it.
  package mutating func seek(position: UInt64, _ access: borrowing NodeAccess) throws(StorageError) {
    var rest = position
    try descend(access) { branch in
      var child = 0
      while child < branch.count - 1, rest >= branch.rows(child) {
        rest -= branch.rows(child)
        child += 1
      }
      return child
    }
    guard isValid else { return }
    if rest < UInt64(try OrderedTree.leaf(leaf, access).count) { index = Int(rest) } else { leaf = .null }
  }

  package mutating func next(_ access: borrowing NodeAccess) throws(StorageError) {
    index += 1
    try skipToNextLeafIfAtEnd(access)
  }

  package mutating func previous(_ access: borrowing NodeAccess) throws(StorageError) {
    guard index == 0 else {
      index -= 1
      return
    }
    try moveLeaf(by: -1, access)
    if isValid { index = try OrderedTree.leaf(leaf, access).count - 1 }
  }

  /// Calls `body` with the leaf and the index of the entry that the cursor stands on.
  package func withEntry<Result>(
    _ access: borrowing NodeAccess, _ body: (LeafNode, Int) throws(StorageError) -> Result
  ) throws(StorageError) -> Result {
    try body(OrderedTree.leaf(leaf, access), index)
  }

  /// Calls `body` with the current entry and the entries behind it in its leaf, until `body` returns false. If `body`
  /// never returns false, the cursor moves to the next leaf and the function returns true.
  mutating func forEachInLeaf(
    _ access: borrowing NodeAccess, _ body: (LeafNode, Int) throws(StorageError) -> Bool
  ) throws(StorageError) -> Bool {
    let entries = try OrderedTree.leaf(leaf, access)
    for index in index..<entries.count { guard try body(entries, index) else { return false } }
    try moveLeaf(by: 1, access)
    index = 0
    return true
  }

  /// Calls `body` with the current leaf and the index of the current entry, then with each leaf behind it and the index
  /// 0, until `body` returns false.
  mutating func forEachLeaf(
    _ access: borrowing NodeAccess, _ body: (LeafNode, Int) throws(StorageError) -> Bool
  ) throws(StorageError) {
    while isValid, try body(OrderedTree.leaf(leaf, access), index) {
      try moveLeaf(by: 1, access)
      index = 0
    }
  }

  private mutating func descend(
    _ access: borrowing NodeAccess, _ choose: (BranchNode) -> Int
  ) throws(StorageError) {
    path.removeAll(keepingCapacity: true)
    try descend(from: root, access, choose)
  }

  private mutating func descend(
    from start: Ref, _ access: borrowing NodeAccess, _ choose: (BranchNode) -> Int
  ) throws(StorageError) {
    var ref = start
    while ref.isBranch {
      let branch = BranchNode(try access.node(ref))
      let child = choose(branch)
      path.append((ref, child))
      ref = branch.child(child)
      OrderedTree.prefetch(ref, access)
    }
    leaf = ref
  }

  private mutating func skipToNextLeafIfAtEnd(_ access: borrowing NodeAccess) throws(StorageError) {
    guard try index >= OrderedTree.leaf(leaf, access).count else { return }
    try moveLeaf(by: 1, access)
    index = 0
  }

  /// Moves to the next or the previous leaf. A forged tree may lead to a leaf twice, and then without end, so the
  /// function checks that the keys go on in order.
  private mutating func moveLeaf(by step: Int, _ access: borrowing NodeAccess) throws(StorageError) {
    let from = try OrderedTree.leaf(leaf, access)
    let edge = from.key(step > 0 ? from.count - 1 : 0)
    try findNextLeaf(by: step, access)
    guard isValid else { return }
    let to = try OrderedTree.leaf(leaf, access)
    let order = edge.span.bytes.compare(to.key(step > 0 ? 0 : to.count - 1).span.bytes)
    guard order * step < 0 else { throw access.corrupted(.keyOrder, leaf) }
  }

  private mutating func findNextLeaf(by step: Int, _ access: borrowing NodeAccess) throws(StorageError) {
    while let (ref, child) = path.popLast() {
      let branch = BranchNode(try access.node(ref))
      let sibling = child + step
      guard sibling >= 0, sibling < branch.count else { continue }
      path.append((ref, sibling))
      try descend(from: branch.child(sibling), access) { step > 0 ? 0 : $0.count - 1 }
      return
    }
    leaf = .null
  }
}
