extension OrderedTree {
  /// Keeps the entries whose keys pass, in full leaves; answers the new root. Takes time in proportion to all entries.
  ///
  /// - Throws: `.corrupted` where a value names a node, too.
  package static func filter(
    _ root: Ref, shape: TreeShape = .standard, editor: NodeEditor,
    _ isKept: (RawSpan) throws(StorageError) -> Bool
  ) throws(StorageError) -> Ref {
    guard !root.isNull else { return root }
    var filter = Filter(builder: TreeBuilder(shape: shape, editor: editor), editor: editor)
    try filter.walk(root, isKept)
    try editor.freeTree(root)
    return try filter.builder.finish()
  }

  private struct Filter {
    var builder: TreeBuilder
    let editor: NodeEditor
    /// The last key of the leaf before.
    private var last: [UInt8] = []

    init(builder: TreeBuilder, editor: NodeEditor) {
      self.builder = builder
      self.editor = editor
    }

    /// Reads each node by a right of its own, so that decrypted ones can be forgotten.
    mutating func walk(
      _ ref: Ref, _ isKept: (RawSpan) throws(StorageError) -> Bool
    ) throws(StorageError) {
      guard ref.isBranch else { return try add(ref, isKept) }
      for child in try editor.access().children(of: ref) { try walk(child, isKept) }
    }

    private mutating func add(
      _ ref: Ref, _ isKept: (RawSpan) throws(StorageError) -> Bool
    ) throws(StorageError) {
      let access = editor.access()
      // The leaf goes with all below it, so its values must name nothing.
      guard ref.level == 0 else { throw access.corrupted(.structure, ref) }
      let leaf = try OrderedTree.leaf(ref, access)
      // Within a leaf keys are in order; only forged leaves do not follow one another.
      guard last.isEmpty || last.span.bytes.compare(leaf.key(0).span.bytes) < 0 else {
        throw access.corrupted(.keyOrder, ref)
      }
      last = leaf.key(leaf.count - 1)
      var key = leaf.prefix.array
      for index in 0..<leaf.count {
        key.removeLast(key.count - leaf.prefixLength)
        key.append(leaf.suffix(index))
        if try isKept(key.span.bytes) { try builder.append(key: key.span.bytes, value: leaf.value(index)) }
      }
    }
  }
}
