/// The part of a tree below a node, and what the branch above says of it.
private struct Subtree {
  var ref: Ref
  var lower: [UInt8]
  /// The key that all keys are less than; nil if there is no such limit.
  var upper: [UInt8]?
  /// The number of entries; nil if it is not known.
  var count: UInt64?
}

extension Salvage {
  /// A function that is called with an entry and the ref of its leaf. Returns whether to continue.
  typealias EntryBody = (
    [UInt8], TreeValue, Ref, borrowing NodeAccess
  ) throws(StorageError) -> Bool

  /// Calls `body` with each entry of an ordered tree that can be read, in order, until it returns false.
  func forEachEntry(
    below root: Ref, _ tree: SalvagedNodes, _ body: EntryBody
  ) throws(StorageError) {
    guard !root.isNull else { return }
    let source = source
    let count = try? OrderedTree.count(root, source.access())
    _ = try visit(Subtree(ref: root, lower: [], upper: nil, count: count), tree, body)
  }

  private func visit(
    _ subtree: Subtree, _ tree: SalvagedNodes, _ body: EntryBody
  ) throws(StorageError) -> Bool {
    guard subtree.ref.isBranch else { return try visitLeaf(subtree, tree, body) }
    let source = source
    var children: [Subtree] = []
    do throws(StorageError) {
      children = try Self.children(of: subtree, source.access())
    } catch {
      try lose(subtree, tree, error)
    }
    for child in children { guard try visit(child, tree, body) else { return false } }
    return true
  }

  private func visitLeaf(
    _ subtree: Subtree, _ tree: SalvagedNodes, _ body: EntryBody
  ) throws(StorageError) -> Bool {
    // This access ends with the function, so that decrypted nodes can leave the cache afterwards.
    let source = source
    let access = source.access()
    do throws(StorageError) {
      try Self.checkOrder(ofLeaf: subtree, access)
    } catch {
      try lose(subtree, tree, error)
      return true
    }
    let leaf = try OrderedTree.leaf(subtree.ref, access)
    for index in 0..<leaf.count {
      guard try body(leaf.key(index), leaf.value(index), subtree.ref, access) else { return false }
    }
    return true
  }

  private func lose(
    _ subtree: Subtree, _ tree: SalvagedNodes, _ error: StorageError
  ) throws(StorageError) {
    let keys: Loss.Keys =
      tree.what == .entries ? .entries(from: subtree.lower, below: subtree.upper) : .unknown
    try lose(tree.what, of: tree.part, count: subtree.count, keys: keys, error)
  }

  private static func children(
    of subtree: Subtree, _ access: borrowing NodeAccess
  ) throws(StorageError) -> [Subtree] {
    let branch = BranchNode(try access.node(subtree.ref, .branch))
    var children: [Subtree] = []
    for index in 0..<branch.count {
      let lower = index == 0 ? subtree.lower : branch.separator(index).array
      let upper = index + 1 < branch.count ? branch.separator(index + 1).array : subtree.upper
      if let upper, lower.span.bytes.compare(upper.span.bytes) >= 0 {
        throw access.corrupted(.keyOrder, subtree.ref)
      }
      children.append(
        Subtree(ref: branch.child(index), lower: lower, upper: upper, count: branch.rows(index)))
    }
    return children
  }

  private static func checkOrder(
    ofLeaf subtree: Subtree, _ access: borrowing NodeAccess
  ) throws(StorageError) {
    let leaf = try OrderedTree.leaf(subtree.ref, access)
    var last: [UInt8]?
    for index in 0..<leaf.count {
      let key = leaf.key(index)
      let isAfterLast = last.map { $0.span.bytes.compare(key.span.bytes) < 0 } ?? true
      let isBelow = subtree.upper.map { key.span.bytes.compare($0.span.bytes) < 0 } ?? true
      guard isAfterLast, isBelow, key.span.bytes.compare(subtree.lower.span.bytes) >= 0 else {
        throw access.corrupted(.keyOrder, subtree.ref)
      }
      last = key
    }
  }
}
