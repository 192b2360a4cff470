/// A branch of a tree by position: its children, with the number of elements below each child.
///
/// Body, after the refs of the children (FORMAT.md, "Position branch"):
///
///     offset  size  field
///          0     8  flags   zero: this version knows no branch with flags
///          8   8·n  counts  of the elements below each child, at least 1
package struct PositionBranch: ~Escapable, BitwiseCopyable {
  let view: NodeView
  package let count: Int

  private static let counts = 8

  @_lifetime(copy view)
  private init(_ view: NodeView) {
    self.view = view
    count = view.refCount
  }

  /// - Throws: `.corrupted`; `.unknownFeature` if the branch has flags.
  @inline(__always)
  @_lifetime(borrow access)
  init(_ ref: Ref, _ access: borrowing NodeAccess) throws(StorageError) {
    self.init(try access.node(ref))
    let flags = view.load(UInt64.self, at: 0)
    guard _fastPath(flags == 0) else { throw Self.unknown(flags, access) }
  }

  @inline(never)
  private static func unknown(_ flags: UInt64, _ access: borrowing NodeAccess) -> StorageError {
    access.unknown(.init("flags \(flags)", of: "a position branch", need: .read))
  }

  /// See `NodeValidators`.
  static func isValid(_ view: NodeView) -> Bool {
    let count = view.refCount
    guard count >= 1, counts + 8 * count <= view.bodyLength else { return false }
    var sum: UInt64 = 0
    for index in 0..<count {
      let elements = view.load(UInt64.self, at: counts + 8 * index)
      let (next, overflow) = sum.addingReportingOverflow(elements)
      guard elements > 0, !overflow, next < PositionTree.maximumCount else { return false }
      sum = next
    }
    return true
  }

  func child(_ index: Int) -> Ref { view.ref(index) }

  @inline(__always)
  func elements(_ index: Int) -> UInt64 { view.load(UInt64.self, at: Self.counts &+ 8 &* index) }

  func entry(_ index: Int) -> PositionChild { PositionChild(count: elements(index), ref: child(index)) }

  var entries: [PositionChild] {
    var entries: [PositionChild] = []
    entries.reserveCapacity(count + 1)
    for index in 0..<count { entries.append(entry(index)) }
    return entries
  }

  /// The number of elements below the branch.
  var total: UInt64 {
    var sum: UInt64 = 0
    for index in 0..<count { sum &+= elements(index) }
    return sum
  }

  /// The child that holds a position, or the last child if the position is behind all elements; and the number of
  /// elements before that child.
  @inline(__always)
  func search(_ position: UInt64) -> (index: Int, before: UInt64) {
    var (index, before) = (0, UInt64(0))
    while index < count &- 1 {
      let next = before &+ elements(index)
      if position < next { break }
      before = next
      index &+= 1
    }
    return (index, before)
  }

  /// Replaces a child of this branch, whose ref is `ref`, by a child of the same level. Returns the changed branch.
  func replace(_ child: PositionChild, at index: Int, of ref: Ref, _ editor: NodeEditor) -> PositionChild {
    let sum = total &- elements(index) &+ child.count
    let new = editor.change(ref, view) { node in
      node.setRef(index, to: child.ref)
      node.store(child.count, at: Self.counts + 8 * index)
    }
    return PositionChild(count: sum, ref: new)
  }

  static func write(_ children: ArraySlice<PositionChild>, _ editor: NodeEditor) -> PositionChild {
    var (level, sum) = (UInt8(0), UInt64(0))
    for child in children {
      level = max(level, child.ref.level)
      sum &+= child.count
    }
    let arena = editor.arena
    let branch = arena.make(
      kind: .positionBranch, level: level + 1, refCount: children.count,
      bodyLength: counts + 8 * children.count)
    branch.store(UInt64(0), at: 0)
    for (index, child) in children.enumerated() {
      branch.setRef(index, to: child.ref)
      branch.store(child.count, at: counts + 8 * index)
    }
    return PositionChild(count: sum, ref: branch.ref)
  }
}

/// A child of a branch of a tree by position.
package struct PositionChild: Equatable, Sendable {
  package var count: UInt64
  package var ref: Ref

  package init(count: UInt64, ref: Ref) {
    self.count = count
    self.ref = ref
  }
}

extension Ref {
  var isPositionBranch: Bool { rawKind == NodeKind.positionBranch.rawValue }
}
