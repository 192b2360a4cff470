extension OrderedTree {
  /// Puts keys into a tree; answers the new root. Each leaf and branch on the way is made once.
  ///
  /// `value` answers the bytes to store for a key, from those stored before, if any, and how often
  /// the key is among them.
  package static func merge(
    _ run: SortedKeys, into root: Ref, shape: TreeShape = .standard, editor: NodeEditor,
    value: @escaping (_ old: [UInt8]?, _ repeats: Int) -> [UInt8]
  ) throws(StorageError) -> Ref {
    guard run.count > 0 else { return root }
    let merge = Merge(run: run, shape: shape, editor: editor, value: value)
    if root.isNull {
      var builder = TreeBuilder(shape: shape, editor: editor)
      var next = 0
      while next < run.count { try merge.appendNew(&next, run.count, to: &builder) }
      return try builder.finish()
    }
    return try self.root(of: merge.merged(0..<run.count, in: root), shape, editor)
  }

  private struct Merge {
    let run: SortedKeys
    let shape: TreeShape
    let editor: NodeEditor
    let value: ([UInt8]?, Int) -> [UInt8]

    func merged(_ range: Range<Int>, in ref: Ref) throws(StorageError) -> [TreeChild] {
      ref.isBranch ? try mergedBranch(range, ref) : try mergedLeaf(range, ref)
    }

    private func mergedBranch(_ range: Range<Int>, _ ref: Ref) throws(StorageError) -> [TreeChild] {
      let access = editor.access()
      let branch = BranchNode(try access.node(ref))
      var children: [TreeChild] = []
      children.reserveCapacity(branch.count)
      var start = range.lowerBound
      for index in 0..<branch.count {
        let entry = branch.entry(index)
        let end =
          index + 1 < branch.count
          ? run.lowerBound(branch.separator(index + 1), in: start..<range.upperBound) : range.upperBound
        if end > start {
          var made = try merged(start..<end, in: entry.ref)
          made[0].separator = entry.separator
          children += made
        } else {
          children.append(entry)
        }
        start = end
      }
      editor.free(ref)
      return BranchNode.make(children, shape: shape, editor: editor)
    }

    private func mergedLeaf(_ range: Range<Int>, _ ref: Ref) throws(StorageError) -> [TreeChild] {
      let access = editor.access()
      let leaf = try OrderedTree.leaf(ref, access)
      let added = range.reduce(0) { $0 + max(0, run.range($1).count - leaf.prefixLength) + 4 }
      // As full as they can be while all are alike: else the last would be nearly empty.
      let length = leaf.view.bodyLength + added
      let leaves = (length + shape.leafBytes - 1) / shape.leafBytes
      var target = shape
      target.leafBytes = min(shape.leafBytes, length / leaves + 64)
      var builder = TreeBuilder(shape: target, editor: editor)
      var next = range.lowerBound
      var key = leaf.prefix.array
      for index in 0..<leaf.count {
        key.removeLast(key.count - leaf.prefixLength)
        key.append(leaf.suffix(index))
        while next < range.upperBound, compare(next, key) < 0 {
          try appendNew(&next, range.upperBound, to: &builder)
        }
        if next < range.upperBound, compare(next, key) == 0 {
          let repeats = skipRepeats(&next, range.upperBound)
          let bytes = value(leaf.value(index).bytes.array, repeats)
          try builder.append(key: key.span.bytes, value: TreeValue(bytes: bytes.span.bytes))
        } else {
          try builder.append(key: key.span.bytes, value: leaf.value(index))
        }
      }
      while next < range.upperBound { try appendNew(&next, range.upperBound, to: &builder) }
      editor.free(ref)
      return builder.finishLeaves()
    }

    func appendNew(_ next: inout Int, _ end: Int, to builder: inout TreeBuilder) throws(StorageError) {
      let key = next
      let repeats = skipRepeats(&next, end)
      let bytes = value(nil, repeats)
      try builder.append(key: run.key(key), value: TreeValue(bytes: bytes.span.bytes))
    }

    private func compare(_ index: Int, _ key: [UInt8]) -> Int {
      run.key(index).compare(key.span.bytes)
    }

    /// Moves past all entries with the key at `next`; answers how many there are.
    private func skipRepeats(_ next: inout Int, _ end: Int) -> Int {
      let first = next
      let key = run.key(first)
      next += 1
      while next < end, run.key(next).compare(key) == 0 { next += 1 }
      return next - first
    }
  }
}
