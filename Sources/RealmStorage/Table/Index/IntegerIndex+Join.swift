extension IntegerIndex {
  /// Makes one tree of several trees, and frees these.
  ///
  /// - Precondition: the trees belong to the open transaction, and no number is in two of them.
  static func join(_ trees: [Ref], _ editor: NodeEditor) throws(StorageError) -> Ref {
    guard trees.count > 1 else { return trees.first ?? .null }
    var runs: [Run] = []
    for tree in trees {
      var run = Run(leaves: LeafQueue(tree, editor))
      if try run.open(editor) { runs.append(run) }
    }
    var joined = Ref.null
    var entries: [Entry] = []
    while !runs.isEmpty {
      let (least, bound) = least(of: runs)
      if try !runs[least].move(to: bound, &entries, editor) { runs.remove(at: least) }
      // There are enough entries to make a branch, to which later leaves can be appended.
      if entries.count >= KeyedTree.fanOut * IntegerIndexNode.maximumCount {
        joined = try append(entries, to: joined, editor)
        entries.removeAll(keepingCapacity: true)
      }
    }
    return try append(entries, to: joined, editor)
  }

  private static func append(
    _ entries: [Entry], to tree: Ref, _ editor: NodeEditor
  ) throws(StorageError) -> Ref {
    var leaves = leaves(entries, isFull: true, editor)
    let refs = try editor.spillIfLarge(leaves.map { $0.ref })
    for place in leaves.indices { leaves[place].ref = refs[place] }
    return try KeyedTree.append(leaves, to: tree, editor: editor)
  }

  /// The run whose next number is the least, and the least next number of the other runs. The numbers of the first run
  /// that are less than this bound come first.
  @inline(__always)
  private static func least(of runs: [Run]) -> (place: Int, bound: Int64) {
    var (least, number, bound) = (0, runs[0].number, Int64.max)
    for place in 1..<max(runs.count, 1) {
      let other = runs[place].number
      if other < number {
        (least, number, bound) = (place, other, number)
      } else {
        bound = min(bound, other)
      }
    }
    return (least, bound)
  }

  /// A tree whose first entries were moved into the new tree.
  private struct Run {
    var leaves: LeafQueue
    private var entries: [Entry] = []
    private var next = 0
    /// The number of the next entry.
    private(set) var number: Int64 = 0

    init(leaves: LeafQueue) { self.leaves = leaves }

    /// Moves to the next leaf. Returns false behind the last leaf.
    mutating func open(_ editor: NodeEditor) throws(StorageError) -> Bool {
      guard let leaf = try leaves.next() else { return false }
      entries = try IntegerIndex.read(leaf, editor)
      editor.free(leaf)
      (next, number) = (0, entries[0].number)
      return true
    }

    /// Adds the entries of the leaf whose numbers are not greater than `bound`. Returns false if no
    /// entries are left in the tree.
    mutating func move(
      to bound: Int64, _ all: inout [Entry], _ editor: NodeEditor
    ) throws(StorageError) -> Bool {
      repeat {
        all.append(entries[next])
        next += 1
        guard next < entries.count else { return try open(editor) }
        number = entries[next].number
      } while number <= bound
      return true
    }
  }
}
