extension OrderedTree {
  /// Puts keys into a tree. Returns the new root. Each leaf and each branch on the way is made once.
  ///
  /// `value` returns the bytes to store for a key. It gets the bytes that are stored already, if there are any, and how
  /// often the run has the key. It may be called more than once for a key.
  ///
  /// - Throws: `.limitExceeded` if a key is too long.
  package static func merge(
    _ run: SortedKeys, into root: Ref, shape: TreeShape = .standard, editor: NodeEditor,
    value: @escaping (_ old: [UInt8]?, _ repeats: Int) -> [UInt8]
  ) throws(StorageError) -> Ref {
    guard run.count > 0 else { return root }
    // The keys are checked before any node is freed.
    for index in 0..<run.count { try check(run.key(index), editor) }
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
      ref.isBranch
        ? try mergedBranch(range, ref, editor.access()) : try mergedLeaf(range, ref, editor.access())
    }

    private func mergedBranch(
      _ range: Range<Int>, _ ref: Ref, _ access: borrowing NodeAccess
    ) throws(StorageError) -> [TreeChild] {
      let branch = BranchNode(try access.node(ref))
      let changes = changes(range, in: branch)
      var made: [(index: Int, children: [TreeChild])] = []
      made.reserveCapacity(changes.count)
      // Most leaves that get keys stay one leaf. Then the branch stays as it is, except for the refs and counts of
      // these leaves.
      var areOnes = true
      for (place, change) in changes.enumerated() {
        if place + 1 < changes.count {
          OrderedTree.prefetch(branch.child(changes[place + 1].index), access)
        }
        let old = branch.child(change.index)
        let children = try merged(change.keys, in: old)
        areOnes = areOnes && children.count == 1 && children[0].ref.level == old.level
        made.append((change.index, children))
      }
      guard !areOnes else {
        return [branch.replace(made.map { ($0.index, $0.children[0]) }, of: ref, editor)]
      }
      var children: [TreeChild] = []
      children.reserveCapacity(branch.count + made.count)
      var next = 0
      for (index, new) in made {
        for kept in next..<index { children.append(branch.entry(kept)) }
        children += new
        children[children.count - new.count].separator = branch.separator(index).array
        next = index + 1
      }
      for kept in next..<branch.count { children.append(branch.entry(kept)) }
      editor.free(ref)
      return BranchNode.make(children, shape: shape, editor: editor)
    }

    /// The children that get keys, and the keys that each of them gets.
    private func changes(_ range: Range<Int>, in branch: BranchNode) -> [(index: Int, keys: Range<Int>)] {
      var changes: [(index: Int, keys: Range<Int>)] = []
      var (start, index) = (range.lowerBound, 0)
      while start < range.upperBound {
        index = branch.search(run.key(start), from: index)
        let end =
          index + 1 < branch.count
          ? run.lowerBound(branch.separator(index + 1), in: start..<range.upperBound) : range.upperBound
        changes.append((index, start..<end))
        start = end
      }
      return changes
    }

    private func mergedLeaf(
      _ range: Range<Int>, _ ref: Ref, _ access: borrowing NodeAccess
    ) throws(StorageError) -> [TreeChild] {
      let leaf = try OrderedTree.leaf(ref, access)
      let added = range.reduce(0) { $0 + max(0, run.range($1).count - leaf.prefixLength) + 4 }
      if leaf.view.bodyLength + added <= shape.leafBytes, let whole = insert(range, to: leaf) {
        editor.free(ref)
        return [whole]
      }
      // The leaves are as full as they can be while all have about the same length. Otherwise the last leaf would be
      // nearly empty.
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

    /// Puts the keys between the entries of a leaf, which are copied in stretches. Returns the new leaf. Returns nil if
    /// one leaf does not hold all entries, or if the old entries would take more than half as much room again.
    private func insert(_ range: Range<Int>, to leaf: LeafNode) -> TreeChild? {
      let entries = entries(range, in: leaf)
      let values = entries.values.span.bytes
      let (first, last) = (entries.all[0], entries.all[entries.all.count - 1])
      let leastKey = first.place == 0 ? LeafKey(run.key(first.key)) : LeafKey(leaf, 0)
      let greatestKey = last.next == leaf.count ? LeafKey(run.key(last.key)) : LeafKey(leaf, leaf.count - 1)
      var measure = LeafMeasure(prefixLength: leastKey.commonPrefix(greatestKey))
      var (next, added) = (0, 0)
      for entry in entries.all {
        measure.add(next..<entry.place, of: leaf)
        measure.add(run.key(entry.key), TreeValue(bytes: values.extracting(entry.value)))
        added += run.range(entry.key).count - measure.prefixLength + entry.value.count + 4
        next = entry.next
      }
      measure.add(next..<leaf.count, of: leaf)
      let refWidth = editor.store.refWidth.bytes
      let length = leaf.view.bodyLength + leaf.view.refCount * refWidth
      let mayTake = min(shape.leafBytes, length * 3 / 2 + added)
      guard measure.bodyLength + measure.refCount * refWidth <= mayTake else { return nil }

      let arena = editor.arena
      var writer = LeafWriter(measure, prefix: leastKey, in: arena)
      next = 0
      for entry in entries.all {
        writer.append(next..<entry.place, of: leaf)
        writer.append(run.key(entry.key), TreeValue(bytes: values.extracting(entry.value)))
        next = entry.next
      }
      writer.append(next..<leaf.count, of: leaf)
      return TreeChild(separator: [], count: UInt64(measure.count), ref: writer.ref)
    }

    /// A key of the run, and its place in a leaf.
    private struct Entry {
      /// The index in the run of the first entry with this key.
      var key: Int
      /// The index of the leaf's first key that is not less than this key.
      var place: Int
      /// The index of the leaf's first key that is greater than this key.
      var next: Int
      var value: Range<Int>
    }

    private func entries(_ range: Range<Int>, in leaf: LeafNode) -> (all: [Entry], values: [UInt8]) {
      var (all, values): ([Entry], [UInt8]) = ([], [])
      all.reserveCapacity(range.count)
      var (key, start) = (range.lowerBound, 0)
      while key < range.upperBound {
        let first = key
        let repeats = skipRepeats(&key, range.upperBound)
        let (place, found) = leaf.search(run.key(first), from: start)
        let valueStart = values.count
        values += value(found ? leaf.value(place).bytes.array : nil, repeats)
        start = found ? place + 1 : place
        all.append(Entry(key: first, place: place, next: start, value: valueStart..<values.count))
      }
      return (all, values)
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

    /// Moves `next` past all entries with the key at `next`. Returns the number of these entries.
    private func skipRepeats(_ next: inout Int, _ end: Int) -> Int {
      let first = next
      let key = run.key(first)
      next += 1
      while next < end, run.key(next).compare(key) == 0 { next += 1 }
      return next - first
    }
  }
}
