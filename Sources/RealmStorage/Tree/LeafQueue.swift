/// Gives the leaves of a tree in order to code that makes another tree of them. It frees each branch when it passes it.
///
/// - Precondition: the tree belongs to the open transaction.
struct LeafQueue {
  private let editor: NodeEditor
  /// The nodes below the passed branches that are not yet visited; the next one is the last element.
  private var rest: [Ref]

  init(_ root: Ref, _ editor: NodeEditor) {
    self.editor = editor
    rest = root.isNull ? [] : [root]
  }

  /// The next leaf, which the caller has to free; nil behind the last leaf.
  mutating func next() throws(StorageError) -> Ref? {
    while let ref = rest.popLast() {
      guard ref.level > 0 else { return ref }
      rest += try editor.access().children(of: ref).reversed()
      editor.free(ref)
    }
    return nil
  }
}
