extension OrderedTree {
  /// Verifies a whole tree: order of keys, separators and counts. Each node is touched, so each is verified too.
  ///
  /// `visit` is called with each value that names a ref. Answers how many entries there are.
  package static func check(
    _ root: Ref, _ access: borrowing NodeAccess, visit: (TreeValue) throws(StorageError) -> Void
  ) throws(StorageError) -> UInt64 {
    guard !root.isNull else { return 0 }
    var last: [UInt8]?
    return try check(root, access, from: [], below: nil, &last, visit)
  }

  private static func check(
    _ ref: Ref, _ access: borrowing NodeAccess, from lower: [UInt8], below upper: [UInt8]?,
    _ last: inout [UInt8]?,
    _ visit: (TreeValue) throws(StorageError) -> Void
  ) throws(StorageError) -> UInt64 {
    guard ref.isBranch else { return try checkLeaf(ref, access, from: lower, below: upper, &last, visit) }
    let branch = BranchNode(try access.node(ref))
    var sum: UInt64 = 0
    for index in 0..<branch.count {
      let start = index == 0 ? lower : branch.separator(index).array
      let end = index + 1 < branch.count ? branch.separator(index + 1).array : upper
      if let end, start.span.bytes.compare(end.span.bytes) >= 0 { throw access.corrupted(.keyOrder, ref) }
      let rows = try check(branch.child(index), access, from: start, below: end, &last, visit)
      guard rows == branch.rows(index) else { throw access.corrupted(.rows, ref) }
      sum &+= rows
    }
    return sum
  }

  private static func checkLeaf(
    _ ref: Ref, _ access: borrowing NodeAccess, from lower: [UInt8], below upper: [UInt8]?,
    _ last: inout [UInt8]?,
    _ visit: (TreeValue) throws(StorageError) -> Void
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
      if value.ref != nil { try visit(value) }
    }
    return UInt64(leaf.count)
  }
}
