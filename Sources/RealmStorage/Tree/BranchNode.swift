/// A branch of an ordered tree: its children in the order of their keys, with the number of entries below each child.
///
/// Body, after the refs of the children (FORMAT.md, "Branch"):
///
///     offset  size  field
///          0   8·n  counts         entries below each child
///              2·n  separatorEnds  where each separator ends in the separators
///                   separators     the least key that may stand in each child; the first is empty
///
/// - Invariant: separators ascend; a root has at least two children, and any other branch has at least one.
package struct BranchNode: ~Escapable {
  let view: NodeView
  package let count: Int
  private let ends: Int
  private let separators: Int

  @_lifetime(copy view)
  init(_ view: NodeView) {
    self.view = view
    count = view.refCount
    ends = 8 * count
    separators = ends + 2 * count
  }

  /// See `NodeValidators`.
  static func isValid(_ view: NodeView) -> Bool {
    let count = view.refCount
    guard count >= 1, 10 * count <= view.bodyLength else { return false }
    var last = 0
    var sum: UInt64 = 0
    for index in 0..<count {
      let end = Int(view.load(UInt16.self, at: 8 * count + 2 * index))
      guard end >= last, end - last <= OrderedTree.maximumKeyLength, index > 0 || end == 0 else {
        return false
      }
      last = end
      let (next, overflow) = sum.addingReportingOverflow(view.load(UInt64.self, at: 8 * index))
      guard !overflow, next < 1 << 62 else { return false }
      sum = next
    }
    return 10 * count + last <= view.bodyLength
  }

  package func child(_ index: Int) -> Ref { view.ref(index) }
  package func rows(_ index: Int) -> UInt64 { view.load(UInt64.self, at: 8 * index) }

  /// The number of entries below all children. The counts of a forged tree may have any value after a change, so the
  /// sum wraps around instead of stopping the program.
  package var totalRows: UInt64 {
    var sum: UInt64 = 0
    for index in 0..<count { sum &+= rows(index) }
    return sum
  }

  @_lifetime(copy self)
  func separator(_ index: Int) -> RawSpan {
    let start = index == 0 ? 0 : Int(view.load(UInt16.self, at: ends + 2 * (index - 1)))
    let end = Int(view.load(UInt16.self, at: ends + 2 * index))
    return view.bytes(at: separators + start, count: end - start)
  }

  /// The child that may hold `key`.
  package func search(_ key: RawSpan) -> Int { search(key, in: 1..<count) }

  /// Returns the child that may hold `key`, a key that stands in no child before `first` and probably not far behind
  /// it.
  func search(_ key: RawSpan, from first: Int) -> Int {
    let head = key.head
    var (low, step) = (first, 1)
    while low + step < count, separator(low + step).compare(key, head: head) <= 0 {
      low += step
      step *= 2
    }
    return search(key, in: low + 1..<max(low + 1, min(low + step, count)))
  }

  /// The last child, in `range` or directly before it, whose separator is not greater than `key`.
  private func search(_ key: RawSpan, in range: Range<Int>) -> Int {
    let head = key.head
    var (low, high) = (range.lowerBound, range.upperBound)
    while low < high {
      let middle = (low + high) / 2
      if separator(middle).compare(key, head: head) <= 0 { low = middle + 1 } else { high = middle }
    }
    return low - 1
  }

  func entry(_ index: Int) -> TreeChild {
    TreeChild(separator: separator(index).array, count: rows(index), ref: child(index))
  }

  /// Replaces a child of this branch, whose ref is `ref`, by a child that has the same separator and the same level.
  /// Returns the changed branch, with an empty separator.
  func replace(_ child: TreeChild, at index: Int, of ref: Ref, _ editor: NodeEditor) -> TreeChild {
    let total = totalRows &- rows(index) &+ child.count
    let new = editor.change(ref, view) { node in
      node.setRef(index, to: child.ref)
      node.store(child.count, at: 8 * index)
    }
    return TreeChild(separator: [], count: total, ref: new)
  }

  /// Replaces several children of this branch, as `replace(_:at:of:_:)` does for one.
  func replace(_ children: [(index: Int, child: TreeChild)], of ref: Ref, _ editor: NodeEditor) -> TreeChild {
    var total = totalRows
    for (index, child) in children { total = total &- rows(index) &+ child.count }
    let new = editor.change(ref, view) { node in
      for (index, child) in children {
        node.setRef(index, to: child.ref)
        node.store(child.count, at: 8 * index)
      }
    }
    return TreeChild(separator: [], count: total, ref: new)
  }

  /// Makes as many branches as the children need.
  static func make(_ children: [TreeChild], shape: TreeShape, editor: NodeEditor) -> [TreeChild] {
    let total = children.reduce(0) { $0 + 10 + $1.separator.count + editor.store.refWidth.bytes }
    if children.count < 4 || (children.count <= shape.fanOut && total <= shape.branchBytes) {
      return [write(children[...], editor)]
    }
    var half = children.count / 2
    if total > shape.branchBytes {
      // The separators are long, so the children are divided by bytes, but each side gets at least two children.
      var bytes = 0
      half =
        children.firstIndex { child in
          bytes += 10 + child.separator.count + editor.store.refWidth.bytes
          return bytes >= total / 2
        } ?? half
    }
    half = min(max(half, 2), children.count - 2)
    return make(Array(children[..<half]), shape: shape, editor: editor)
      + make(Array(children[half...]), shape: shape, editor: editor)
  }

  private static func write(_ children: ArraySlice<TreeChild>, _ editor: NodeEditor) -> TreeChild {
    let count = children.count
    let first = children.startIndex
    // Keys that are less than all separators still belong to the first child. So the separator of the first child is
    // not stored here, but becomes the separator of this branch in its parent.
    let bytes = children.dropFirst().reduce(0) { $0 + $1.separator.count }
    let level = (children.map { $0.ref.level }.max() ?? 0) + 1
    let arena = editor.arena
    let branch = arena.make(kind: .branch, level: level, refCount: count, bodyLength: 10 * count + bytes)
    var end = 0
    var rows: UInt64 = 0
    for (index, child) in children.enumerated() {
      branch.setRef(index, to: child.ref)
      branch.store(child.count, at: 8 * index)
      if index > 0 {
        branch.copy(child.separator, at: 10 * count + end)
        end += child.separator.count
      }
      branch.store(UInt16(end), at: 8 * count + 2 * index)
      rows &+= child.count
    }
    return TreeChild(separator: children[first].separator, count: rows, ref: branch.ref)
  }
}
