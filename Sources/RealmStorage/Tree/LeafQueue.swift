/// Gives the leaves of a tree in order, for who makes another tree of them: each branch is freed when it is passed.
///
/// - Precondition: the tree is the open transaction's own.
struct LeafQueue {
  private let editor: NodeEditor
  /// What is left of the branches passed, the next last.
  private var rest: [Ref]

  init(_ root: Ref, _ editor: NodeEditor) {
    self.editor = editor
    rest = root.isNull ? [] : [root]
  }

  /// The next leaf, which is the caller's to free; nil behind the last.
  mutating func next() throws(StorageError) -> Ref? {
    while let ref = rest.popLast() {
      guard ref.level > 0 else { return ref }
      rest += try editor.access().children(of: ref).reversed()
      editor.free(ref)
    }
    return nil
  }
}
