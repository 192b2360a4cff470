extension OrderedTree {
  /// Keeps the entries that `choose` selects, in full leaves. Returns the new root. Takes time in proportion to the
  /// number of all entries.
  ///
  /// - Parameter choose: appends the indices of the entries of a leaf that stay, in order.
  /// - Throws: `.corrupted` if an entry has a ref. The values of the tree must be bytes alone.
  package static func filter(
    _ root: Ref, shape: TreeShape = .standard, editor: NodeEditor,
    _ choose: (borrowing LeafNode, inout [UInt16]) throws(StorageError) -> Void
  ) throws(StorageError) -> Ref {
    guard !root.isNull else { return root }
    var filter = Filter(builder: TreeBuilder(shape: shape, editor: editor), editor: editor)
    editor.arena.mark()
    try filter.walk(root, choose)
    try editor.freeTree(root)
    return try filter.builder.finish()
  }

  private struct Filter {
    var builder: TreeBuilder
    let editor: NodeEditor
    /// The last key of the leaf that was read before.
    private var last: [UInt8] = []
    private var places: [UInt16] = []
    /// True if a leaf with values was read. From then on entries are added one by one.
    private var haveValues = false

    init(builder: TreeBuilder, editor: NodeEditor) {
      self.builder = builder
      self.editor = editor
    }

    /// Reads each node with a new access, so that decrypted nodes can leave the cache.
    mutating func walk(
      _ ref: Ref, _ choose: (borrowing LeafNode, inout [UInt16]) throws(StorageError) -> Void
    ) throws(StorageError) {
      guard ref.isBranch else { return try add(ref, editor.access(), choose) }
      for child in try editor.access().children(of: ref) { try walk(child, choose) }
      try builder.spillIfLarge()
    }

    private mutating func add(
      _ ref: Ref, _ access: borrowing NodeAccess,
      _ choose: (borrowing LeafNode, inout [UInt16]) throws(StorageError) -> Void
    ) throws(StorageError) {
      // The leaf is freed with all nodes below it, so its values must not name refs.
      guard ref.level == 0 else { throw access.corrupted(.structure, ref) }
      let leaf = try OrderedTree.leaf(ref, access)
      haveValues = haveValues || leaf.valueWidth != 0
      // Within a leaf the keys are in order. Only in a forged tree do the keys of a leaf not follow those of the leaf
      // before.
      guard last.isEmpty || last.span.bytes.compare(leaf.key(0).span.bytes) < 0 else {
        throw access.corrupted(.keyOrder, ref)
      }
      last = leaf.key(leaf.count - 1)
      places.removeAll(keepingCapacity: true)
      try choose(leaf, &places)
      guard haveValues else { return builder.append(places, of: leaf) }
      for place in places {
        try builder.append(key: leaf.key(Int(place)).span.bytes, value: leaf.value(Int(place)))
      }
    }
  }
}
