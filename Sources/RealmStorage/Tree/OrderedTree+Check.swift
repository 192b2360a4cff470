extension OrderedTree {
  /// Verifies a whole tree: the order of its keys, its separators and its counts. The function reads each node, so each
  /// node is verified too. It reads each node with a new access, so that decrypted nodes can leave the cache after they
  /// are checked.
  ///
  /// Calls `visit` with each value that names a ref. Returns the number of entries.
  package static func check(
    _ root: Ref, _ reader: any NodeReader,
    visit: (TreeValue, borrowing NodeAccess) throws(StorageError) -> Void
  ) throws(StorageError) -> UInt64 {
    guard !root.isNull else { return 0 }
    var last: [UInt8]?
    return try check(root, reader, from: [], below: nil, &last, visit)
  }

  private static func check(
    _ ref: Ref, _ reader: any NodeReader, from lower: [UInt8], below upper: [UInt8]?,
    _ last: inout [UInt8]?,
    _ visit: (TreeValue, borrowing NodeAccess) throws(StorageError) -> Void
  ) throws(StorageError) -> UInt64 {
    guard ref.isBranch else {
      return try checkLeaf(ref, reader.access(), from: lower, below: upper, &last, visit)
    }
    let children = try children(of: ref, reader.access(), from: lower)
    var sum: UInt64 = 0
    for (index, child) in children.enumerated() {
      let end = index + 1 < children.count ? children[index + 1].start : upper
      if let end, child.start.span.bytes.compare(end.span.bytes) >= 0 {
        throw reader.access().corrupted(.keyOrder, ref)
      }
      let rows = try check(child.ref, reader, from: child.start, below: end, &last, visit)
      guard rows == child.rows else { throw reader.access().corrupted(.rows, ref) }
      sum &+= rows
    }
    return sum
  }

  private static func children(
    of ref: Ref, _ access: borrowing NodeAccess, from lower: [UInt8]
  ) throws(StorageError) -> [(start: [UInt8], rows: UInt64, ref: Ref)] {
    let branch = BranchNode(try access.node(ref))
    return (0..<branch.count).map { index in
      (index == 0 ? lower : branch.separator(index).array, branch.rows(index), branch.child(index))
    }
  }

  private static func checkLeaf(
    _ ref: Ref, _ access: borrowing NodeAccess, from lower: [UInt8], below upper: [UInt8]?,
    _ last: inout [UInt8]?,
    _ visit: (TreeValue, borrowing NodeAccess) throws(StorageError) -> Void
  ) throws(StorageError) -> UInt64 {
    let leaf = try leaf(ref, access)
    for index in 0..<leaf.count {
      let key = leaf.key(index)
      let isAfterLast = last.map { $0.span.bytes.compare(key.span.bytes) < 0 } ?? true
      let isInBounds =
        key.span.bytes.compare(lower.span.bytes) >= 0
        && (upper.map { key.span.bytes.compare($0.span.bytes) < 0 } ?? true)
      guard isAfterLast, isInBounds else { throw access.corrupted(.keyOrder, ref) }
      last = key
      let value = leaf.value(index)
      if value.ref != nil { try visit(value, access) }
    }
    return UInt64(leaf.count)
  }
}
