/// A B+tree of elements that are found by their position. A higher layer defines the layout of the leaves. It tells
/// this tree how many elements a leaf has and which leaves replace a leaf that changes.
///
/// A root that is not a branch is the only leaf, and a null root is an empty tree. An operation on one position takes
/// time in proportion to the height.
package enum PositionTree {
  /// The most children of a branch.
  package static let fanOut = 32
  /// A branch with at most this number of children is joined with a neighbour if both fit into one branch.
  private static let fewChildren = 8
  /// The number of elements of a tree is less than this number.
  static let maximumCount = UInt64(1) << 62

  /// A leaf and its position in the tree.
  package struct Place {
    package var leaf: Ref
    /// The number of elements before the leaf.
    package var before: UInt64
    /// The number of elements in the leaf, as the branch above it counts them; nil for a root that is the only leaf.
    package var count: UInt64?
  }

  /// The leaf that holds a position, or the last leaf if the position is behind all elements.
  @inline(__always)
  package static func leaf(
    at position: UInt64, in root: Ref, _ access: borrowing NodeAccess
  ) throws(StorageError) -> Place {
    var (ref, rest, count) = (root, position, UInt64?.none)
    while ref.isPositionBranch {
      let branch = try PositionBranch(ref, access)
      let (index, before) = branch.search(rest)
      rest &-= before
      ref = branch.child(index)
      count = branch.elements(index)
    }
    return Place(leaf: ref, before: position &- rest, count: count)
  }

  /// The number of elements. `countOfLeaf` returns the number for a root that is the only leaf.
  package static func count(
    _ root: Ref, _ access: borrowing NodeAccess, countOfLeaf: (Ref) throws(StorageError) -> UInt64
  ) throws(StorageError) -> UInt64 {
    guard !root.isNull else { return 0 }
    guard root.isPositionBranch else { return try countOfLeaf(root) }
    return try PositionBranch(root, access).total
  }

  /// Calls `body` with the leaves in order, from the leaf that holds `position` on, until it returns false. `body` also
  /// gets the number of elements before the leaf. Returns true if `body` always returned true.
  @discardableResult
  package static func forEachLeaf(
    of root: Ref, from position: UInt64 = 0, _ access: borrowing NodeAccess,
    _ body: (Ref, _ before: UInt64) throws(StorageError) -> Bool
  ) throws(StorageError) -> Bool {
    guard !root.isNull else { return true }
    var leaves: UInt64 = 0
    return try forEachLeaf(of: root, before: 0, from: position, access) {
      (leaf, before) throws(StorageError) in
      leaves += leaf.isDirty ? 0 : 1
      // A forged tree may name one leaf many times, but no file has more leaves than units.
      guard leaves <= access.end / UInt64(Ref.unit) else { throw access.corrupted(.overlap, leaf) }
      return try body(leaf, before)
    }
  }

  private static func forEachLeaf(
    of ref: Ref, before: UInt64, from position: UInt64, _ access: borrowing NodeAccess,
    _ body: (Ref, _ before: UInt64) throws(StorageError) -> Bool
  ) throws(StorageError) -> Bool {
    guard ref.isPositionBranch else { return try body(ref, before) }
    let branch = try PositionBranch(ref, access)
    var before = before
    for index in 0..<branch.count {
      let end = before &+ branch.elements(index)
      if end > position || index == branch.count - 1 {
        guard try forEachLeaf(of: branch.child(index), before: before, from: position, access, body) else {
          return false
        }
      }
      before = end
    }
    return true
  }

  /// The number of elements in the largest subtree that two trees share and that begins at `position` in both trees;
  /// nil if there is none.
  static func shared(
    _ left: Ref, _ leftAccess: borrowing NodeAccess, _ right: Ref, _ rightAccess: borrowing NodeAccess,
    from position: UInt64
  ) throws(StorageError) -> UInt64? {
    largestShared(
      try path(to: position, in: left, leftAccess), try path(to: position, in: right, rightAccess))
  }

  /// The number of elements in the largest subtree that two trees share and that ends before `leftEnd` in the left tree
  /// and before `rightEnd` in the right tree; nil if there is none.
  static func shared(
    _ left: Ref, _ leftAccess: borrowing NodeAccess, before leftEnd: UInt64,
    _ right: Ref, _ rightAccess: borrowing NodeAccess, before rightEnd: UInt64
  ) throws(StorageError) -> UInt64? {
    largestShared(
      try path(before: leftEnd, in: left, leftAccess), try path(before: rightEnd, in: right, rightAccess))
  }

  /// The number of elements in the first subtree that is in both paths. Each path goes from the largest subtree down.
  private static func largestShared(_ left: [PositionChild], _ right: [PositionChild]) -> UInt64? {
    var (lefts, rights) = (left[...], right[...])
    while let one = lefts.first, let other = rights.first {
      if one.ref == other.ref { return one.count }
      if one.count >= other.count { lefts.removeFirst() }
      if other.count >= one.count { rights.removeFirst() }
    }
    return nil
  }

  /// The subtrees below the root that end before a position, from the largest one down to the leaf.
  private static func path(
    before end: UInt64, in root: Ref, _ access: borrowing NodeAccess
  ) throws(StorageError) -> [PositionChild] {
    var path: [PositionChild] = []
    var (node, rest) = (PositionChild(count: .max, ref: root), end)
    while node.ref.isPositionBranch, rest > 0 {
      let branch = try PositionBranch(node.ref, access)
      let (index, before) = branch.search(rest - 1)
      rest -= before
      node = branch.entry(index)
      if rest == node.count { path.append(node) }
    }
    return path
  }

  /// The subtrees below the root that begin at a position, from the largest one down to the leaf.
  private static func path(
    to position: UInt64, in root: Ref, _ access: borrowing NodeAccess
  ) throws(StorageError) -> [PositionChild] {
    var path: [PositionChild] = []
    var (node, rest) = (PositionChild(count: .max, ref: root), position)
    while node.ref.isPositionBranch {
      let branch = try PositionBranch(node.ref, access)
      let (index, before) = branch.search(rest)
      rest -= before
      node = branch.entry(index)
      if rest == 0 { path.append(node) }
    }
    return path
  }

  // MARK: - Changing

  /// Makes a tree of leaves. Returns its root.
  package static func build(_ leaves: [PositionChild], _ editor: NodeEditor) throws(StorageError) -> Ref {
    try makeRoot(of: leaves, editor)
  }

  /// Replaces the leaf that holds `position`, or the last leaf if the position is behind all elements, by the leaves
  /// that `change` returns: no leaf if it became empty, several if it split. Returns the new root. Frees the branches
  /// on the way, but not the leaf.
  ///
  /// - Parameter join: makes one leaf of two neighbours, of which the first argument is the left one; returns nil if
  ///   they had better stay as they are. It is called if `change` returns one leaf of at most `fewElements` elements.
  package static func update(
    _ position: UInt64, in root: Ref, fewElements: UInt64, _ editor: NodeEditor,
    join: (PositionChild, PositionChild) throws(StorageError) -> PositionChild?,
    _ change: (Ref) throws(StorageError) -> [PositionChild]
  ) throws(StorageError) -> Ref {
    try makeRoot(
      of: try updated(position, in: root, fewElements, editor, editor.access(), join, change), editor)
  }

  private static func updated(
    _ position: UInt64, in ref: Ref, _ fewElements: UInt64, _ editor: NodeEditor,
    _ access: borrowing NodeAccess,
    _ join: (PositionChild, PositionChild) throws(StorageError) -> PositionChild?,
    _ change: (Ref) throws(StorageError) -> [PositionChild]
  ) throws(StorageError) -> [PositionChild] {
    guard ref.isPositionBranch else { return try change(ref) }
    let branch = try PositionBranch(ref, access)
    let (index, before) = branch.search(position)
    let child = branch.child(index)
    let made = try updated(position - before, in: child, fewElements, editor, access, join, change)
    let isFew = made.count == 1 && isFew(made[0], fewElements, editor)
    if made.count == 1, !isFew, made[0].ref.level == child.level {
      return [branch.replace(made[0], at: index, of: ref, editor)]
    }
    var children = branch.entries
    children.replaceSubrange(index...index, with: made)
    editor.free(ref)
    if isFew { try joinFew(&children, at: index, editor, join) }
    return makeBranches(children, editor)
  }

  private static func shortBranch(_ editor: NodeEditor) -> Int {
    NodeEditor.headerLength + 8 + fewChildren * (8 + editor.store.refWidth.bytes)
  }

  /// Joins a child that became small with a neighbour, if one node can take the content of both.
  private static func joinFew(
    _ children: inout [PositionChild], at index: Int, _ editor: NodeEditor,
    _ join: (PositionChild, PositionChild) throws(StorageError) -> PositionChild?
  ) throws(StorageError) {
    for left in [index - 1, index] where left >= 0 && left + 1 < children.count {
      let pair = (children[left], children[left + 1])
      let joined =
        pair.0.ref.isPositionBranch ? try joinBranches(pair.0, pair.1, editor) : try join(pair.0, pair.1)
      guard let joined else { continue }
      return children.replaceSubrange(left...left + 1, with: [joined])
    }
  }

  private static func joinBranches(
    _ left: PositionChild, _ right: PositionChild, _ editor: NodeEditor
  ) throws(StorageError) -> PositionChild? {
    // Only a forged tree has a leaf beside a branch.
    guard left.ref.isPositionBranch, right.ref.isPositionBranch else {
      throw editor.store.corrupted(.structure, right.ref)
    }
    let children = try entries(of: left.ref, editor.access()) + entries(of: right.ref, editor.access())
    guard children.count <= fanOut else { return nil }
    editor.free(left.ref)
    editor.free(right.ref)
    return PositionBranch.write(children[...], editor)
  }

  /// Replaces leaves, in order, by the leaves that `change` returns. If `change` returns nil, the leaf stays. `change`
  /// also gets the number of elements that stood before the leaf, and the number of elements in it. Leaves that have
  /// become small are joined, as `update` does it. Returns the new root. Frees branches, but not leaves.
  ///
  /// - Parameter range: a range of positions. `change` is called only for leaves with elements at these positions.
  package static func updateAll(
    in root: Ref, _ range: Range<UInt64>, fewElements: UInt64, _ editor: NodeEditor,
    join: (PositionChild, PositionChild) throws(StorageError) -> PositionChild?,
    _ change: (Ref, _ before: UInt64, _ count: UInt64) throws(StorageError) -> [PositionChild]?
  ) throws(StorageError) -> Ref {
    guard !root.isNull, !range.isEmpty else { return root }
    let all = PositionChild(count: .max, ref: root)
    let made = try updatedAll(in: all, 0, range, fewElements, editor, join, change)
    guard let made else { return root }
    return try makeRoot(of: made, editor)
  }

  private static func updatedAll(
    in node: PositionChild, _ before: UInt64, _ range: Range<UInt64>, _ fewElements: UInt64,
    _ editor: NodeEditor, _ join: (PositionChild, PositionChild) throws(StorageError) -> PositionChild?,
    _ change: (Ref, _ before: UInt64, _ count: UInt64) throws(StorageError) -> [PositionChild]?
  ) throws(StorageError) -> [PositionChild]? {
    guard node.ref.isPositionBranch else { return try change(node.ref, before, node.count) }
    // The access ends here, so that decrypted nodes below can leave the cache.
    let entries = try entries(of: node.ref, editor.access())
    var (children, isChanged): ([PositionChild], Bool) = ([], false)
    var before = before
    for entry in entries {
      let end = before &+ entry.count
      if before < range.upperBound, end > range.lowerBound,
        let made = try updatedAll(in: entry, before, range, fewElements, editor, join, change)
      {
        children += made
        isChanged = true
      } else {
        children.append(entry)
      }
      before = end
    }
    guard isChanged else { return nil }
    editor.free(node.ref)
    return makeBranches(try joinedFew(children, fewElements, editor, join), editor)
  }

  /// Joins small children with their neighbours. Many of the children may have become small.
  private static func joinedFew(
    _ children: [PositionChild], _ fewElements: UInt64, _ editor: NodeEditor,
    _ join: (PositionChild, PositionChild) throws(StorageError) -> PositionChild?
  ) throws(StorageError) -> [PositionChild] {
    var joined: [PositionChild] = []
    for child in children {
      if let last = joined.last, isFew(last, fewElements, editor) || isFew(child, fewElements, editor),
        let one = try child.ref.isPositionBranch ? joinBranches(last, child, editor) : join(last, child)
      {
        joined[joined.count - 1] = one
      } else {
        joined.append(child)
      }
    }
    return joined
  }

  private static func isFew(_ child: PositionChild, _ fewElements: UInt64, _ editor: NodeEditor) -> Bool {
    child.ref.isPositionBranch ? child.ref.length <= shortBranch(editor) : child.count <= fewElements
  }

  private static func entries(
    of ref: Ref, _ access: borrowing NodeAccess
  ) throws(StorageError) -> [PositionChild] {
    try PositionBranch(ref, access).entries
  }

  private static func makeRoot(
    of children: [PositionChild], _ editor: NodeEditor
  ) throws(StorageError) -> Ref {
    var children = children
    while children.count > 1 { children = makeBranches(children, editor) }
    guard let root = children.first?.ref else { return .null }
    return try lowered(root, editor)
  }

  /// Removes the branches at the top that have a single child. Returns the new root.
  private static func lowered(_ root: Ref, _ editor: NodeEditor) throws(StorageError) -> Ref {
    var root = root
    while root.isPositionBranch, let only = try onlyChild(of: root, editor.access()) {
      editor.free(root)
      root = only
    }
    return root
  }

  private static func onlyChild(of ref: Ref, _ access: borrowing NodeAccess) throws(StorageError) -> Ref? {
    let branch = try PositionBranch(ref, access)
    return branch.count == 1 ? branch.child(0) : nil
  }

  /// Makes as many branches as the children need. If children were appended, the branches before the last two are full.
  private static func makeBranches(_ children: [PositionChild], _ editor: NodeEditor) -> [PositionChild] {
    guard !children.isEmpty else { return [] }
    guard children.count > fanOut else { return [PositionBranch.write(children[...], editor)] }
    return FanOut.parts(of: children.count, most: fanOut).map { PositionBranch.write(children[$0], editor) }
  }

  // MARK: - Checking

  /// Verifies the counts of a tree. `checkLeaf` returns the number of elements of a leaf. Returns the number of
  /// elements of the tree.
  ///
  /// Reads each node with a new access, so that decrypted nodes can leave the cache after they are checked.
  package static func check(
    _ root: Ref, _ reader: any NodeReader,
    _ checkLeaf: (Ref, borrowing NodeAccess) throws(StorageError) -> UInt64
  ) throws(StorageError) -> UInt64 {
    guard !root.isNull else { return 0 }
    var leafDepth: Int?
    return try check(root, reader, depth: 0, &leafDepth, checkLeaf)
  }

  private static func check(
    _ ref: Ref, _ reader: any NodeReader, depth: Int, _ leafDepth: inout Int?,
    _ checkLeaf: (Ref, borrowing NodeAccess) throws(StorageError) -> UInt64
  ) throws(StorageError) -> UInt64 {
    guard ref.isPositionBranch else {
      // All leaves must be at one depth.
      guard leafDepth ?? depth == depth else { throw reader.access().corrupted(.structure, ref) }
      leafDepth = depth
      return try checkLeaf(ref, reader.access())
    }
    var sum: UInt64 = 0
    for child in try entries(of: ref, reader.access()) {
      guard try check(child.ref, reader, depth: depth + 1, &leafDepth, checkLeaf) == child.count else {
        throw reader.access().corrupted(.rows, ref)
      }
      sum &+= child.count
    }
    return sum
  }
}
