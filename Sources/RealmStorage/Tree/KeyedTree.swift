/// A branch of a tree by whole numbers: for each child the least key that it may hold and the number of rows below it.
///
/// Body, after the refs of the children (FORMAT.md, "Keyed branch"):
///
///     offset  size  field
///          0   8·n  leastKeys  growing
///              8·n  rows       below each child
package struct KeyedBranch: ~Escapable, BitwiseCopyable {
  fileprivate let view: NodeView
  package let count: Int

  @_lifetime(copy view)
  init(_ view: NodeView) {
    self.view = view
    count = view.refCount
  }

  /// See `NodeValidators`.
  static func isValid(_ view: NodeView) -> Bool {
    let count = view.refCount
    guard count >= 1, 16 * count <= view.bodyLength else { return false }
    var last: UInt64?
    var sum: UInt64 = 0
    for index in 0..<count {
      let key = view.load(UInt64.self, at: 8 * index)
      if let last, key <= last { return false }
      last = key
      let (next, overflow) = sum.addingReportingOverflow(view.load(UInt64.self, at: 8 * (count + index)))
      guard !overflow, next < 1 << 62 else { return false }
      sum = next
    }
    return true
  }

  func child(_ index: Int) -> Ref { view.ref(index) }
  @inline(__always)
  func leastKey(_ index: Int) -> UInt64 { view.load(UInt64.self, at: 8 * index) }
  func rows(_ index: Int) -> UInt64 { view.load(UInt64.self, at: 8 * (count + index)) }

  /// Prefetches the start (in a cluster: the descriptors) of a child that a walk reaches soon. Returns the child, if any.
  @inline(__always)
  @discardableResult
  func prefetchHead(behind index: Int, _ access: borrowing NodeAccess) -> Ref? {
    let ahead = index &+ Self.walkAhead
    guard ahead < count else { return nil }
    let child = child(ahead)
    access.prefetch(child, count: Self.headBytes)
    return child
  }

  /// How many children ahead a walk prefetches: enough to keep memory busy, few enough to stay in the cache until read.
  private static let walkAhead = 3
  private static let headBytes = 512

  /// The child that may hold `key`; the first child if the key is less than all least keys.
  @inline(__always)
  func search(_ key: UInt64) -> Int {
    SortedIntegers.last(notGreaterThan: key, in: view.bytes(at: 0, count: 8 * count), count: count)
  }

  func entry(_ index: Int) -> KeyedChild {
    KeyedChild(leastKey: leastKey(index), rows: rows(index), ref: child(index))
  }

  /// Replaces a child of this branch, whose ref is `ref`, by a child of the same level. Returns the changed branch.
  fileprivate func replace(_ child: KeyedChild, at index: Int, of ref: Ref, _ editor: NodeEditor)
    -> KeyedChild
  {
    var sum: UInt64 = 0
    for place in 0..<count { sum &+= place == index ? child.rows : rows(place) }
    let least = index == 0 ? child.leastKey : leastKey(0)
    let new = editor.change(ref, view) { node in
      node.setRef(index, to: child.ref)
      node.store(child.leastKey, at: 8 * index)
      node.store(child.rows, at: 8 * (count + index))
    }
    return KeyedChild(leastKey: least, rows: sum, ref: new)
  }
}

/// A child of a keyed branch.
package struct KeyedChild: Equatable, Sendable {
  package var leastKey: UInt64
  package var rows: UInt64
  package var ref: Ref

  package init(leastKey: UInt64, rows: UInt64, ref: Ref) {
    self.leastKey = leastKey
    self.rows = rows
    self.ref = ref
  }
}

/// The nodes that take the place of a node. Most often it is one node, so that case needs no list.
package enum KeyedNodes {
  case one(KeyedChild)
  /// No nodes if the node became empty, several if it split.
  case list([KeyedChild])
}

/// A B+tree by whole numbers. A higher layer defines the layout of the leaves: it tells the tree how a leaf
/// changes, not what is in it.
///
/// A root that is not a branch is the only leaf. All operations take time in proportion to the height.
package enum KeyedTree {
  /// The most children of a branch. A small commit writes one branch of each level, so longer branches would cost it
  /// more than the saved level.
  package static let fanOut = 32

  /// The leaf that may hold `key`.
  package static func leaf(
    for key: UInt64, in root: Ref, _ access: borrowing NodeAccess
  ) throws(StorageError) -> Ref {
    var ref = root
    while ref.isKeyedBranch {
      let branch = KeyedBranch(try access.node(ref))
      ref = branch.child(branch.search(key))
    }
    return ref
  }

  /// The leaf that may hold `key`, and the least key that may stand in the leaf after it.
  package static func leafAndNext(
    for key: UInt64, in root: Ref, _ access: borrowing NodeAccess
  ) throws(StorageError) -> (leaf: Ref, next: UInt64?) {
    var (ref, next) = (root, UInt64?.none)
    while ref.isKeyedBranch {
      let branch = KeyedBranch(try access.node(ref))
      let index = branch.search(key)
      if index + 1 < branch.count { next = branch.leastKey(index + 1) }
      ref = branch.child(index)
    }
    // Only a forged tree leads back to smaller keys.
    if let next, next <= key { throw access.corrupted(.keyOrder, ref) }
    return (ref, next)
  }

  /// The leaf that may hold `key`, and the keys that belong into it: from `least` up to but not including `next`, which
  /// is zero for the last leaf.
  @inline(__always)
  package static func leafAndRange(
    for key: UInt64, in root: Ref, _ access: borrowing NodeAccess
  ) throws(StorageError) -> (ref: Ref, least: UInt64, next: UInt64) {
    var (ref, least, next) = (root, UInt64(0), UInt64(0))
    while ref.isKeyedBranch {
      let branch = KeyedBranch(try access.node(ref))
      let index = branch.search(key)
      least = branch.leastKey(index)
      if index + 1 < branch.count { next = branch.leastKey(index + 1) }
      ref = branch.child(index)
    }
    return (ref, least, next)
  }

  /// The leaf with the row that has `position` rows before it, and the number of rows in the leaves before that leaf.
  package static func leaf(
    at position: UInt64, in root: Ref, _ access: borrowing NodeAccess
  ) throws(StorageError) -> (ref: Ref, before: UInt64) {
    var (ref, rest) = (root, position)
    while ref.isKeyedBranch {
      let branch = KeyedBranch(try access.node(ref))
      var child = 0
      while child < branch.count - 1, rest >= branch.rows(child) {
        rest -= branch.rows(child)
        child += 1
      }
      ref = branch.child(child)
    }
    return (ref, position - rest)
  }

  /// The number of rows in the leaves before the one that may hold `key`.
  package static func rowsBefore(
    leafOf key: UInt64, in root: Ref, _ access: borrowing NodeAccess
  ) throws(StorageError) -> UInt64 {
    var (ref, before) = (root, UInt64(0))
    while ref.isKeyedBranch {
      let branch = KeyedBranch(try access.node(ref))
      let index = branch.search(key)
      for earlier in 0..<index { before &+= branch.rows(earlier) }
      ref = branch.child(index)
    }
    return before
  }

  /// The number of rows in all leaves. `rowsOfLeaf` returns the number for a root that is the only leaf.
  package static func count(
    _ root: Ref, _ access: borrowing NodeAccess, rowsOfLeaf: (Ref) throws(StorageError) -> UInt64
  ) throws(StorageError) -> UInt64 {
    guard !root.isNull else { return 0 }
    guard root.isKeyedBranch else { return try rowsOfLeaf(root) }
    let branch = KeyedBranch(try access.node(root))
    var rows: UInt64 = 0
    for index in 0..<branch.count { rows &+= branch.rows(index) }
    return rows
  }

  /// Calls `body` with the leaves in order, until it returns false. Returns true if `body` always returned true.
  @discardableResult
  package static func forEachLeaf(
    of root: Ref, _ access: borrowing NodeAccess, _ body: (Ref) throws(StorageError) -> Bool
  ) throws(StorageError) -> Bool {
    guard !root.isNull else { return true }
    guard root.isKeyedBranch else { return try body(root) }
    let branch = KeyedBranch(try access.node(root))
    for index in 0..<branch.count {
      guard try forEachLeaf(of: branch.child(index), access, body) else { return false }
    }
    return true
  }

  /// Replaces the leaf that may hold `key` by the leaves that `change` returns: none if it became empty, several if it
  /// split. If `change` returns nil, the leaf stays. Returns the new root. Frees the branches on the way, not the leaf.
  package static func update(
    _ key: UInt64, in root: Ref, editor: NodeEditor, _ change: (Ref) throws(StorageError) -> KeyedNodes?
  ) throws(StorageError) -> Ref {
    switch try updated(key, in: root, editor, change) {
    case .one(let child): try lowered(child.ref, editor)
    case .list(let children): try makeRoot(of: children, editor)
    case nil: root
    }
  }

  /// Updates the leaves of many keys, which are in order. `change` gets each leaf with the range of the
  /// keys that belong to it.
  ///
  /// - Parameter spills: true if the leaves are not likely to change again. Then, if the transaction is large, the
  ///   leaves of a branch are written to the file early.
  package static func update(
    _ keys: [UInt64], in root: Ref, editor: NodeEditor, spills: Bool = false,
    _ change: (Ref, Range<Int>) throws(StorageError) -> [KeyedChild]?
  ) throws(StorageError) -> Ref {
    guard let children = try updated(keys, keys.indices, in: root, editor, spills, change) else {
      return root
    }
    return try makeRoot(of: children, editor)
  }

  /// Updates all leaves, as the function above updates the leaves of some keys.
  package static func updateAll(
    in root: Ref, editor: NodeEditor, spills: Bool = false,
    _ change: (Ref) throws(StorageError) -> [KeyedChild]?
  ) throws(StorageError) -> Ref {
    guard !root.isNull, let children = try updatedAll(in: root, editor, spills, change) else { return root }
    return try makeRoot(of: children, editor)
  }

  /// Replaces the leaf that may hold `key` by the leaf that `change` returns, which has the same level and the same
  /// keys. If `change` returns nil, the leaf stays. Returns the new root. Frees the branches on the way, not the leaf.
  package static func replace(
    leafOf key: UInt64, in root: Ref, editor: NodeEditor,
    _ change: (Ref, borrowing NodeAccess) throws(StorageError) -> Ref?
  ) throws(StorageError) -> Ref {
    try replaced(key, in: root, editor, editor.access(), change) ?? root
  }

  private static func replaced(
    _ key: UInt64, in ref: Ref, _ editor: NodeEditor, _ access: borrowing NodeAccess,
    _ change: (Ref, borrowing NodeAccess) throws(StorageError) -> Ref?
  ) throws(StorageError) -> Ref? {
    guard ref.isKeyedBranch else { return try change(ref, access) }
    let branch = KeyedBranch(try access.node(ref))
    let index = branch.search(key)
    guard let made = try replaced(key, in: branch.child(index), editor, access, change) else { return nil }
    return editor.change(ref, branch.view) { $0.setRef(index, to: made) }
  }

  private static func updated(
    _ keys: [UInt64], _ range: Range<Int>, in ref: Ref, _ editor: NodeEditor, _ spills: Bool,
    _ change: (Ref, Range<Int>) throws(StorageError) -> [KeyedChild]?
  ) throws(StorageError) -> [KeyedChild]? {
    guard ref.isKeyedBranch else { return try change(ref, range) }
    // The access ends here, so that decrypted nodes below can leave the cache.
    let entries = try children(of: ref, editor.access())
    let isLowest = !entries.contains { $0.ref.isKeyedBranch }
    if spills, isLowest { editor.arena.mark() }
    var (children, isChanged): ([KeyedChild], Bool) = ([], false)
    var start = range.lowerBound
    for (index, entry) in entries.enumerated() {
      var end = range.upperBound
      if index + 1 < entries.count {
        let next = entries[index + 1].leastKey
        end = keys[start..<range.upperBound].partitioningIndex { $0 >= next }
      }
      if end > start, let made = try updated(keys, start..<end, in: entry.ref, editor, spills, change) {
        children += made
        isChanged = true
        if spills, isLowest, editor.hasGrownLarge { try spill(&children, editor) }
      } else {
        children.append(entry)
      }
      start = end
    }
    guard isChanged else { return nil }
    if spills, isLowest { try spill(&children, editor) }
    editor.free(ref)
    return children.isEmpty ? [] : makeBranches(children, editor)
  }

  private static func updatedAll(
    in ref: Ref, _ editor: NodeEditor, _ spills: Bool,
    _ change: (Ref) throws(StorageError) -> [KeyedChild]?
  ) throws(StorageError) -> [KeyedChild]? {
    guard ref.isKeyedBranch else { return try change(ref) }
    var (children, isChanged): ([KeyedChild], Bool) = ([], false)
    // The access ends here, so that decrypted nodes below can leave the cache.
    let entries = try Self.children(of: ref, editor.access())
    let isLowest = !entries.contains { $0.ref.isKeyedBranch }
    if spills, isLowest { editor.arena.mark() }
    for entry in entries {
      let made = try updatedAll(in: entry.ref, editor, spills, change)
      children += made ?? [entry]
      isChanged = isChanged || made != nil
      if spills, isLowest, editor.hasGrownLarge { try spill(&children, editor) }
    }
    guard isChanged else { return nil }
    if spills, isLowest { try spill(&children, editor) }
    editor.free(ref)
    return children.isEmpty ? [] : makeBranches(children, editor)
  }

  /// If the transaction is large, writes the leaves of a branch that are not written yet.
  static func spill(_ leaves: inout [KeyedChild], _ editor: NodeEditor) throws(StorageError) {
    let refs = try editor.spillIfLarge(leaves.map(\.ref))
    for index in leaves.indices { leaves[index].ref = refs[index] }
    editor.arena.rewind()
  }

  /// Adds leaves whose keys are greater than all keys of the tree. Returns the new root.
  package static func append(_ leaves: [KeyedChild], to root: Ref, editor: NodeEditor) throws(StorageError)
    -> Ref
  {
    guard !leaves.isEmpty else { return root }
    if root.isNull { return try makeRoot(of: leaves, editor) }
    guard root.isKeyedBranch else {
      preconditionFailure("KeyedTree.append: the only leaf is updated, not appended to")
    }
    return try makeRoot(of: try appended(leaves, to: root, editor), editor)
  }

  private static func appended(
    _ leaves: [KeyedChild], to ref: Ref, _ editor: NodeEditor
  ) throws(StorageError) -> [KeyedChild] {
    let access = editor.access()
    let branch = KeyedBranch(try access.node(ref))
    var children: [KeyedChild] = []
    for index in 0..<branch.count - 1 { children.append(branch.entry(index)) }
    let last = branch.entry(branch.count - 1)
    if last.ref.isKeyedBranch {
      children += try appended(leaves, to: last.ref, editor)
    } else {
      children.append(last)
      children += leaves
    }
    editor.free(ref)
    return makeBranches(children, editor)
  }

  private static func updated(
    _ key: UInt64, in ref: Ref, _ editor: NodeEditor, _ change: (Ref) throws(StorageError) -> KeyedNodes?
  ) throws(StorageError) -> KeyedNodes? {
    ref.isKeyedBranch ? try updatedBranch(key, in: ref, editor, editor.access(), change) : try change(ref)
  }

  private static func updatedBranch(
    _ key: UInt64, in ref: Ref, _ editor: NodeEditor, _ access: borrowing NodeAccess,
    _ change: (Ref) throws(StorageError) -> KeyedNodes?
  ) throws(StorageError) -> KeyedNodes? {
    let branch = KeyedBranch(try access.node(ref))
    let index = branch.search(key)
    let made: [KeyedChild]
    switch try updated(key, in: branch.child(index), editor, change) {
    case .one(let child) where child.ref.level == branch.child(index).level:
      return .one(branch.replace(child, at: index, of: ref, editor))
    case .one(let child): made = [child]
    case .list(let list): made = list
    case nil: return nil
    }
    var children: [KeyedChild] = []
    for earlier in 0..<index { children.append(branch.entry(earlier)) }
    children += made
    for later in index + 1..<max(branch.count, index + 1) { children.append(branch.entry(later)) }
    editor.free(ref)
    return .list(children.isEmpty ? [] : makeBranches(children, editor))
  }

  private static func makeRoot(of children: [KeyedChild], _ editor: NodeEditor) throws(StorageError) -> Ref {
    var children = children
    while children.count > 1 { children = makeBranches(children, editor) }
    guard let root = children.first?.ref else { return .null }
    return try lowered(root, editor)
  }

  /// Removes the branches at the top that have a single child. Returns the new root.
  private static func lowered(_ root: Ref, _ editor: NodeEditor) throws(StorageError) -> Ref {
    var root = root
    while root.isKeyedBranch, let only = try onlyChild(of: root, editor.access()) {
      editor.free(root)
      root = only
    }
    return root
  }

  private static func onlyChild(of ref: Ref, _ access: borrowing NodeAccess) throws(StorageError) -> Ref? {
    let branch = KeyedBranch(try access.node(ref))
    return branch.count == 1 ? branch.child(0) : nil
  }

  /// Makes as many branches as the children need. If children were appended, the branches before the last two are full.
  static func makeBranches(_ children: [KeyedChild], _ editor: NodeEditor) -> [KeyedChild] {
    guard children.count > fanOut else { return [write(children[...], editor)] }
    return FanOut.parts(of: children.count, most: fanOut).map { write(children[$0], editor) }
  }

  private static func write(_ children: ArraySlice<KeyedChild>, _ editor: NodeEditor) -> KeyedChild {
    let level = (children.map { $0.ref.level }.max() ?? 0) + 1
    let arena = editor.arena
    let branch = arena.make(
      kind: .keyedBranch, level: level, refCount: children.count, bodyLength: 16 * children.count)
    var rows: UInt64 = 0
    for (index, child) in children.enumerated() {
      branch.setRef(index, to: child.ref)
      branch.store(child.leastKey, at: 8 * index)
      branch.store(child.rows, at: 8 * (children.count + index))
      rows &+= child.rows
    }
    return KeyedChild(leastKey: children[children.startIndex].leastKey, rows: rows, ref: branch.ref)
  }

  /// Verifies the order of keys and the counts. `checkLeaf` returns the number of rows of a leaf and its
  /// least and greatest key.
  ///
  /// Reads each node with a new access, so that decrypted nodes can leave the cache after they are checked.
  package static func check(
    _ root: Ref, _ reader: any NodeReader,
    _ checkLeaf: (Ref, borrowing NodeAccess) throws(StorageError) -> (rows: UInt64, keys: ClosedRange<UInt64>)
  ) throws(StorageError) -> UInt64 {
    guard !root.isNull else { return 0 }
    var last: UInt64?
    return try check(root, reader, 0, nil, &last, checkLeaf)
  }

  private static func check(
    _ ref: Ref, _ reader: any NodeReader, _ least: UInt64, _ end: UInt64?, _ last: inout UInt64?,
    _ checkLeaf: (Ref, borrowing NodeAccess) throws(StorageError) -> (rows: UInt64, keys: ClosedRange<UInt64>)
  ) throws(StorageError) -> UInt64 {
    guard ref.isKeyedBranch else {
      let access = reader.access()
      let leaf = try checkLeaf(ref, access)
      let isAfterLast = last.map { $0 < leaf.keys.lowerBound } ?? true
      guard isAfterLast, leaf.keys.lowerBound >= least, end.map({ leaf.keys.upperBound < $0 }) ?? true else {
        throw access.corrupted(.keyOrder, ref)
      }
      last = leaf.keys.upperBound
      return leaf.rows
    }
    let children = try children(of: ref, reader.access())
    var sum: UInt64 = 0
    for (index, child) in children.enumerated() {
      let next = index + 1 < children.count ? children[index + 1].leastKey : end
      let rows = try check(child.ref, reader, child.leastKey, next, &last, checkLeaf)
      guard rows == child.rows else { throw reader.access().corrupted(.rows, ref) }
      sum &+= rows
    }
    return sum
  }

  private static func children(
    of ref: Ref, _ access: borrowing NodeAccess
  ) throws(StorageError) -> [KeyedChild] {
    let branch = KeyedBranch(try access.node(ref))
    return (0..<branch.count).map { branch.entry($0) }
  }
}

extension Ref {
  var isKeyedBranch: Bool { rawKind == NodeKind.keyedBranch.rawValue }
}

/// How the children of a level are shared out among branches.
enum FanOut {
  /// The children of each branch. All branches but the last two are full, so that children that were appended leave full
  /// branches behind them; the last two share what is left, so that none is nearly empty.
  ///
  /// - Parameters:
  ///   - count: the number of children, more than one branch takes.
  ///   - most: the most children of a branch.
  static func parts(of count: Int, most: Int) -> [Range<Int>] {
    var parts: [Range<Int>] = []
    var start = 0
    while count - start > most {
      let rest = count - start
      let taken = rest >= 2 * most ? most : min(max(rest - most / 2, rest / 2), most)
      parts.append(start..<start + taken)
      start += taken
    }
    if start < count { parts.append(start..<count) }
    return parts
  }
}
