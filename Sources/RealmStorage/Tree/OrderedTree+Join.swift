extension OrderedTree {
  /// Makes one tree of several trees, and frees these.
  ///
  /// - Precondition: the trees belong to the open transaction, have no key in common, and their keys have no values.
  static func join(
    _ trees: [Ref], shape: TreeShape = .standard, editor: NodeEditor
  ) throws(StorageError) -> Ref {
    guard trees.count > 1 else { return trees.first ?? .null }
    var builder = TreeBuilder(shape: shape, editor: editor)
    var runs: [Run] = []
    for tree in trees {
      var run = Run(leaves: LeafQueue(tree, editor))
      if try run.open(editor) { runs.append(run) }
    }
    while let (least, bound) = least(of: runs) {
      try builder.spillIfLarge()
      guard try runs[least].move(below: bound, to: &builder, editor) else {
        runs.remove(at: least)
        continue
      }
    }
    return try builder.finish()
  }

  /// The run whose next key is the least, and the least next key of the other runs. The keys of the first run that are
  /// less than this bound come first.
  private static func least(of runs: [Run]) -> (place: Int, bound: [UInt8]?)? {
    guard !runs.isEmpty else { return nil }
    var (least, second) = (0, Int?.none)
    for place in runs.indices.dropFirst() {
      if isLess(runs[place].head, runs[least].head) {
        (least, second) = (place, least)
      } else if second.map({ isLess(runs[place].head, runs[$0].head) }) ?? true {
        second = place
      }
    }
    return (least, second.map { runs[$0].head })
  }

  /// Below this number keys are added one by one, because adding a stretch computes the common prefix of the leaf anew.
  private static let shortStretch = 16

  private static func isLess(_ one: [UInt8], _ other: [UInt8]) -> Bool {
    one.span.bytes.compare(other.span.bytes) < 0
  }

  /// A tree whose first entries were moved into the new tree.
  private struct Run {
    var leaves: LeafQueue
    var leaf = Ref.null
    /// The index of the next entry in the leaf, and the key of that entry.
    var next = 0
    var head: [UInt8] = []

    /// Moves to the next leaf. Returns false behind the last leaf.
    mutating func open(_ editor: NodeEditor) throws(StorageError) -> Bool {
      guard let leaf = try leaves.next() else { return false }
      self.leaf = leaf
      next = 0
      let access = editor.access()
      head = try OrderedTree.leaf(leaf, access).key(0)
      return true
    }

    /// Adds the keys of the current leaf that are less than `bound` to the new tree. Returns false if no keys are left
    /// in this tree.
    mutating func move(
      below bound: [UInt8]?, to builder: inout TreeBuilder, _ editor: NodeEditor
    ) throws(StorageError) -> Bool {
      let access = editor.access()
      let entries = try OrderedTree.leaf(leaf, access)
      var end = entries.count
      if let bound { end = entries.search(bound.span.bytes, from: next).index }
      precondition(end > next, "trees to be joined have a key in common")
      if end - next < OrderedTree.shortStretch {
        for index in next..<end {
          try builder.append(key: entries.key(index).span.bytes, value: entries.value(index))
        }
      } else {
        builder.append((next..<end).map { UInt16($0) }, of: entries)
      }
      guard end == entries.count else {
        next = end
        head = entries.key(end)
        return true
      }
      editor.free(leaf)
      return try open(editor)
    }
  }
}
