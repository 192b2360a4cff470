extension OrderedTree {
  /// Keeps the entries that are chosen, in full leaves; answers the new root. Takes time in proportion to all entries.
  ///
  /// - Parameter choose: adds the places of those of a leaf that stay, in order.
  /// - Throws: `.corrupted` where an entry has a ref: the tree is to be one of keys and bytes.
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
    /// The last key of the leaf before.
    private var last: [UInt8] = []
    private var places: [UInt16] = []
    /// Entries with values have come: from then on entries are added one by one.
    private var haveValues = false

    init(builder: TreeBuilder, editor: NodeEditor) {
      self.builder = builder
      self.editor = editor
    }

    /// Reads each node by a right of its own, so that decrypted ones can be forgotten.
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
      // The leaf goes with all below it, so its values must name nothing.
      guard ref.level == 0 else { throw access.corrupted(.structure, ref) }
      let leaf = try OrderedTree.leaf(ref, access)
      haveValues = haveValues || leaf.valueWidth != 0
      // Within a leaf keys are in order; only forged leaves do not follow one another.
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
