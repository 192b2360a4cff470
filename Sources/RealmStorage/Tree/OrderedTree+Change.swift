extension OrderedTree {
  /// The change of the value of a key.
  fileprivate enum Change: ~Escapable {
    case set(TreeValue)
    case remove
  }

  /// Sets the value of a key. Returns the new root. If the old value named a ref, the caller frees what that ref names.
  package static func set(
    _ value: TreeValue, for key: RawSpan, in root: Ref, shape: TreeShape = .standard, editor: NodeEditor
  ) throws(StorageError) -> Ref {
    try check(key, editor)
    if root.isNull {
      var builder = TreeBuilder(shape: shape, editor: editor)
      try builder.append(key: key, value: value)
      return try builder.finish()
    }
    return try self.root(of: update(key, .set(value), in: root, shape, editor), shape, editor)
  }

  /// Removes a key. Returns the new root, which is the old one if the tree does not have the key.
  package static func remove(
    _ key: RawSpan, from root: Ref, shape: TreeShape = .standard, editor: NodeEditor
  ) throws(StorageError) -> Ref {
    guard !root.isNull, try find(key, in: root, editor.access(), { _ in true }) ?? false else { return root }
    return try removeFound(key, from: root, shape: shape, editor: editor)
  }

  /// Removes a key that is in the tree. Returns the new root.
  static func removeFound(
    _ key: RawSpan, from root: Ref, shape: TreeShape = .standard, editor: NodeEditor
  ) throws(StorageError) -> Ref {
    try self.root(of: update(key, .remove, in: root, shape, editor), shape, editor)
  }

  static func check(_ key: RawSpan, _ editor: NodeEditor) throws(StorageError) {
    guard key.byteCount <= maximumKeyLength else {
      throw .limitExceeded(
        .keyLength(key.byteCount, maximum: maximumKeyLength), path: editor.store.storage.path)
    }
  }

  /// Makes a root above the nodes: adds levels until one node is left, and then removes branches that have a single
  /// child.
  static func root(of children: [TreeChild], _ shape: TreeShape, _ editor: NodeEditor) throws(StorageError)
    -> Ref
  {
    try root(of: .list(children), shape, editor)
  }

  private static func root(of nodes: OrderedNodes, _ shape: TreeShape, _ editor: NodeEditor)
    throws(StorageError) -> Ref
  {
    var root: Ref
    if let only = nodes.only {
      root = only.ref
    } else {
      var children = nodes.all
      while children.count > 1 { children = BranchNode.make(children, shape: shape, editor: editor) }
      guard let top = children.first?.ref else { return .null }
      root = top
    }
    while root.isBranch {
      let only = try onlyChild(of: root, editor.access())
      guard let only else { break }
      editor.free(root)
      root = only
    }
    return root
  }

  private static func onlyChild(of ref: Ref, _ access: borrowing NodeAccess) throws(StorageError) -> Ref? {
    let branch = BranchNode(try access.node(ref))
    return branch.count == 1 ? branch.child(0) : nil
  }

  private static func update(
    _ key: RawSpan, _ change: Change, in ref: Ref, _ shape: TreeShape, _ editor: NodeEditor
  ) throws(StorageError) -> OrderedNodes {
    ref.isBranch
      ? try updateBranch(key, change, in: ref, shape, editor, editor.access())
      : try updateLeaf(key, change, in: ref, shape, editor, editor.access())
  }

  private static func updateLeaf(
    _ key: RawSpan, _ change: Change, in ref: Ref, _ shape: TreeShape, _ editor: NodeEditor,
    _ access: borrowing NodeAccess
  ) throws(StorageError) -> OrderedNodes {
    let leaf = try leaf(ref, access)
    let (index, found) = leaf.search(key)
    if found, case .set(let value) = change, let new = replaceRef(of: index, in: leaf, ref, value, editor) {
      return .one(TreeChild(separator: [], count: UInt64(leaf.count), ref: new))
    }
    let replaced = index..<(found ? index + 1 : index)
    let made: OrderedNodes
    switch change {
    case .set(let value):
      let parts = LeafParts(leaf, replacing: replaced, key: key, value: value)
      made = parts.makeLeaves(limit: shape.leafBytes, editor: editor)
    case .remove:
      made = LeafParts(leaf, removing: replaced).makeLeaves(limit: shape.leafBytes, editor: editor)
    }
    editor.free(ref)
    return made
  }

  /// Replaces the ref of an entry if the new ref has the same level and no other byte of the entry changes. Returns the
  /// changed leaf, else nil.
  private static func replaceRef(
    of index: Int, in leaf: LeafNode, _ ref: Ref, _ value: borrowing TreeValue, _ editor: NodeEditor
  ) -> Ref? {
    let old = leaf.value(index)
    guard let place = leaf.refPlace(index), let new = value.ref, old.ref?.level == new.level,
      old.bytes.compare(value.bytes) == 0
    else { return nil }
    return editor.change(ref, leaf.view) { $0.setRef(place, to: new) }
  }

  private static func updateBranch(
    _ key: RawSpan, _ change: Change, in ref: Ref, _ shape: TreeShape, _ editor: NodeEditor,
    _ access: borrowing NodeAccess
  ) throws(StorageError) -> OrderedNodes {
    let branch = BranchNode(try access.node(ref))
    let index = branch.search(key)
    let made = try update(key, change, in: branch.child(index), shape, editor)
    if let only = made.only {
      let isSmall = only.ref.length < (only.ref.isBranch ? shape.branchBytes : shape.leafBytes) / 2
      if case .remove = change, isSmall,
        let joined = try joinWithNeighbour(only, at: index, of: branch, ref, shape, editor)
      {
        return .list(joined)
      }
      if only.ref.level == branch.child(index).level {
        return .one(branch.replace(only, at: index, of: ref, editor))
      }
    }
    var children = made.all
    if !children.isEmpty { children[0].separator = branch.separator(index).array }
    return .list(replace(index..<index + 1, of: branch, ref, with: children, shape, editor))
  }

  /// Joins a child that became small with a neighbour. Returns nil if it does not fit into one node with either
  /// neighbour.
  private static func joinWithNeighbour(
    _ child: TreeChild, at index: Int, of branch: BranchNode, _ ref: Ref, _ shape: TreeShape,
    _ editor: NodeEditor
  ) throws(StorageError) -> [TreeChild]? {
    for (neighbour, first) in [(index - 1, index - 1), (index + 1, index)]
    where neighbour >= 0 && neighbour < branch.count
      && mayJoin(child.ref, branch.child(neighbour), shape)
    {
      var child = child
      child.separator = branch.separator(index).array
      let other = branch.entry(neighbour)
      let pair = neighbour < index ? (other, child) : (child, other)
      if let joined = try join(pair.0, pair.1, shape, editor) {
        return replace(first..<first + 2, of: branch, ref, with: joined, shape, editor)
      }
    }
    return nil
  }

  /// Returns false for two leaves that are too long to be joined, as most neighbours are.
  private static func mayJoin(_ one: Ref, _ other: Ref, _ shape: TreeShape) -> Bool {
    one.isBranch || one.length + other.length <= shape.leafBytes * 9 / 10
  }

  /// Joins two neighbours. Returns the nodes that take their place, or nil if they had better stay as they are.
  private static func join(
    _ left: TreeChild, _ right: TreeChild, _ shape: TreeShape, _ editor: NodeEditor
  ) throws(StorageError) -> [TreeChild]? {
    guard left.ref.rawKind == right.ref.rawKind else { return nil }
    let length = left.ref.length + right.ref.length
    var made: [TreeChild]
    let access = editor.access()
    if left.ref.isBranch {
      let (first, second) = (BranchNode(try access.node(left.ref)), BranchNode(try access.node(right.ref)))
      // A branch with one child takes children from its neighbour, even if the children need two branches.
      let isPoor = min(first.count, second.count) < 2
      guard isPoor || (first.count + second.count <= shape.fanOut && length <= shape.branchBytes * 9 / 10)
      else {
        return nil
      }
      var children: [TreeChild] = []
      for index in 0..<first.count { children.append(first.entry(index)) }
      for index in 0..<second.count { children.append(second.entry(index)) }
      children[first.count].separator = right.separator
      made = BranchNode.make(children, shape: shape, editor: editor)
    } else {
      let parts = LeafParts(try leaf(left.ref, access), try leaf(right.ref, access))
      // One leaf may be longer than the two together, because its prefix may be shorter.
      guard parts.isInOrder, parts.totalLength <= shape.leafBytes else { return nil }
      made = parts.makeLeaves(limit: shape.leafBytes, editor: editor).all
    }
    editor.free(left.ref)
    editor.free(right.ref)
    made[0].separator = left.separator
    return made
  }

  private static func replace(
    _ replaced: Range<Int>, of branch: BranchNode, _ ref: Ref, with made: [TreeChild], _ shape: TreeShape,
    _ editor: NodeEditor
  ) -> [TreeChild] {
    var children: [TreeChild] = []
    children.reserveCapacity(branch.count + made.count)
    for index in 0..<replaced.lowerBound { children.append(branch.entry(index)) }
    children += made
    for index in replaced.upperBound..<branch.count { children.append(branch.entry(index)) }
    editor.free(ref)
    return children.isEmpty ? [] : BranchNode.make(children, shape: shape, editor: editor)
  }
}
