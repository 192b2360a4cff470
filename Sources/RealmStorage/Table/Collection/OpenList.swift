/// A list of a row that a transaction changes element by element.
///
/// The leaf that was changed last is held as a buffer, so that changes near each other cost no node each. A list that is no
/// tree is one buffer. What is held is put into nodes before anything else reads the list.
final class OpenList: OpenCollection {
  /// The column of the table, which is one of lists.
  let column: Column
  private let element: Column
  private let editor: NodeEditor
  /// The tree, without what the buffer changed; null where the list is no tree.
  private var root: Ref
  @exclusivity(unchecked) private(set) var count: Int

  @exclusivity(unchecked) private var buffer: ElementBuffer
  /// The position of the buffer's first element.
  private var start = 0
  /// The leaf of the tree that the buffer was read from; nil where there is no tree, or no leaf is held.
  private var leaf: Ref?
  /// How many elements the tree counts in that leaf.
  private var leafCount = 0
  /// The leaf in the tree has not all changes of the buffer.
  private var isLeafChanged = false
  /// The cell does not name what the list is now.
  @exclusivity(unchecked) private(set) var isChanged = false {
    didSet { if isChanged { changes.isAny = true } }
  }
  private let changes: OpenChanges

  /// A list that is no tree.
  init(
    _ values: [Value], of column: Column, _ changes: OpenChanges, _ editor: NodeEditor
  ) throws(StorageError) {
    self.changes = changes
    self.column = column
    self.editor = editor
    element = column.element
    root = .null
    count = values.count
    buffer = ElementBuffer(element)
    for value in values { try buffer.append(value, editor) }
  }

  init(tree: Ref, of column: Column, _ changes: OpenChanges, _ editor: NodeEditor) throws(StorageError) {
    self.changes = changes
    self.column = column
    self.editor = editor
    element = column.element
    root = tree
    count = try ListTree.count(tree, editor.access())
    buffer = ElementBuffer(element)
  }

  private var isTree: Bool { !root.isNull }
  private var end: Int { start + buffer.count }

  // MARK: - Reading

  /// - Precondition: there is an element at the position.
  func value(at position: Int) throws(StorageError) -> Value {
    guard isTree else { return try buffer.value(position, editor.access()) }
    var place = position
    if leaf != nil, position >= start {
      if position < end { return try buffer.value(position - start, editor.access()) }
      place += leafCount - buffer.count
    }
    return try ListTree.value(at: place, of: root, element, editor.access())
  }

  /// Elements from a position on, as many as stand together; none behind the last.
  func values(from position: Int) throws(StorageError) -> [Value] {
    guard position < count else { return [] }
    if isTree { try hold(position, isInsertion: false) }
    let access = editor.access()
    var values: [Value] = []
    values.reserveCapacity(end - position)
    for place in position - start..<buffer.count { values.append(try buffer.value(place, access)) }
    return values
  }

  /// The list as it is now, which stays so.
  func holding() throws(StorageError) -> HeldCollection {
    guard isTree else {
      let values = try buffer.values(editor.access())
      return HeldCollection(values.map { SortedEntry(key: nil, value: $0) }, of: column, editor)
    }
    try putBack()
    return try HeldCollection(tree: root, of: column, editor)
  }

  // MARK: - Changing

  /// - Precondition: `position` is at most `count`, and the value fits the column.
  func insert(_ value: Value, at position: Int) throws(StorageError) {
    if isTree { try hold(position, isInsertion: true) }
    try buffer.insert(value, at: position - start, editor)
    count += 1
    didChange()
    if buffer.isLarge { try makeRoom() }
  }

  /// - Precondition: there is an element at the position, and the value fits the column.
  func set(_ value: Value, at position: Int) throws(StorageError) {
    if isTree { try hold(position, isInsertion: false) }
    try buffer.set(value, at: position - start, editor)
    didChange()
    if buffer.isLarge { try makeRoom() }
  }

  /// - Precondition: there are elements at all positions.
  func remove(_ range: Range<Int>) throws(StorageError) {
    if range.isEmpty { return }
    if range.count == count { return try removeAll() }
    if isTree, range.count > ElementBuffer.leafElements { return try removeLeaves(range) }
    var range = range
    while !range.isEmpty {
      if isTree { try hold(range.lowerBound, isInsertion: false) }
      let removed = range.lowerBound..<min(range.upperBound, end)
      try buffer.remove(removed.lowerBound - start..<removed.upperBound - start, editor)
      count -= removed.count
      didChange()
      if buffer.count == 0 { try putBack() }
      range = range.lowerBound..<range.upperBound - removed.count
    }
  }

  func removeAll() throws(StorageError) {
    if isTree {
      // What the buffer has of long values is its own.
      try putBack()
      try editor.freeTree(root)
    } else {
      try buffer.remove(0..<buffer.count, editor)
    }
    (root, leaf, isLeafChanged, start, count) = (.null, nil, false, 0, 0)
    buffer = ElementBuffer(element)
    isChanged = true
  }

  /// Moves an element to another position, counted without it.
  func move(from old: Int, to new: Int) throws(StorageError) {
    let value = try value(at: old)
    try remove(old..<old + 1)
    try insert(value, at: new)
  }

  private func didChange() {
    isChanged = true
    if leaf != nil { isLeafChanged = true }
  }

  /// Takes out elements that fill leaves.
  private func removeLeaves(_ range: Range<Int>) throws(StorageError) {
    try release()
    root = try PositionTree.updateAll(
      in: root, UInt64(range.lowerBound)..<UInt64(range.upperBound), fewElements: Self.fewElements, editor,
      join: join
    ) { [element, editor] (leaf, before, counted) throws(StorageError) in
      let before = Int(before)
      var rest = try ElementBuffer(leaf: leaf, element, editor)
      guard counted == .max || counted == rest.count else { throw editor.store.corrupted(.rows, leaf) }
      let removed = max(range.lowerBound - before, 0)..<min(range.upperBound - before, rest.count)
      try rest.remove(removed, editor)
      try ElementBuffer.free(leaf: leaf, editor)
      return try rest.makeLeaves(areLast: false, editor)
    }
    count -= range.count
    isChanged = true
  }

  /// Takes the links to some rows out of a list of links; answers how many links to each there were.
  ///
  /// Leaves are scanned as they stand, until as many were found as are known to be there.
  func remove(linksTo rows: Set<UInt64>, atMost known: Int) throws(StorageError) -> [UInt64: Int] {
    var found = LinkRemoval(rows, atMost: known)
    if !isTree, buffer.isLarge { try makeTree() }
    if isTree {
      try release()
      root = try PositionTree.updateAll(
        in: root, 0..<UInt64(count), fewElements: Self.fewElements, editor, join: join
      ) {
        [element, editor] (leaf, _, _) throws(StorageError) in
        guard let kept = try found.places(in: leaf, element, editor.access()) else { return nil }
        var rest = try ElementBuffer(leaf: leaf, element, editor)
        try rest.keep(kept, editor)
        try ElementBuffer.free(leaf: leaf, editor)
        return try rest.makeLeaves(areLast: false, editor)
      }
    } else {
      let values = try buffer.values(editor.access())
      try buffer.keep(found.places(in: values), editor)
    }
    guard found.total > 0 else { return [:] }
    count -= found.total
    isChanged = true
    if root.isNull, count == 0 { buffer = ElementBuffer(element) }
    return found.counts
  }

  // MARK: - The leaf that is held

  /// Holds the leaf of a position; for an insertion behind all elements the last one.
  private func hold(_ position: Int, isInsertion: Bool) throws(StorageError) {
    if leaf != nil, position >= start {
      if position < end { return }
      // What is inserted between two leaves may stand in either.
      if isInsertion, position == end, end == count || isLeafChanged { return }
    }
    try release()
    // All elements may be gone.
    guard isTree else { return }
    let found = try PositionTree.leaf(at: UInt64(position), in: root, editor.access())
    buffer = try ElementBuffer(leaf: found.leaf, element, editor)
    (leaf, start, leafCount) = (found.leaf, Int(clamping: found.before), buffer.count)
    guard position < end || isInsertion && position == end, end <= count, found.counts(buffer.count) else {
      throw editor.store.corrupted(.rows, found.leaf)
    }
  }

  /// Makes leaves of what the buffer holds beyond one.
  private func makeRoom() throws(StorageError) {
    if isTree {
      try release()
    } else {
      try makeTree()
    }
    // A list that grows long in one transaction is not held in memory whole.
    if editor.hasGrownLarge { root = try editor.spillIfLarge([root])[0] }
  }

  /// Makes a tree of a list that is none.
  private func makeTree() throws(StorageError) {
    if buffer.count > 4 * ElementBuffer.leafElements {
      // Only another writer leaves so many in a cell.
      root = try ListTree.build(try buffer.values(editor.access()), element, editor)
    } else {
      root = try PositionTree.build(try buffer.makeLeaves(areLast: true, editor), editor)
    }
    forget()
  }

  /// Puts the buffer into the tree and holds no leaf.
  private func release() throws(StorageError) {
    try putBack()
    if isTree { forget() }
  }

  private func forget() {
    buffer = ElementBuffer(element)
    (leaf, start, leafCount, isLeafChanged) = (nil, 0, 0, false)
  }

  /// Puts what the buffer changed into the tree; the leaf is held on, where it is still one.
  private func putBack() throws(StorageError) {
    guard let leaf, isLeafChanged else { return }
    var made: [PositionChild] = []
    var isJoined = false
    let (buffer, areLast, editor) = (self.buffer, end == count, self.editor)
    root = try PositionTree.update(
      UInt64(start), in: root, fewElements: Self.fewElements, editor,
      join: { (left, right) throws(StorageError) in
        let joined = try self.join(left, right)
        isJoined = joined != nil
        return joined
      },
      { (old) throws(StorageError) in
        // Only a forged branch leads elsewhere.
        guard old == leaf else { throw editor.store.corrupted(.rows, old) }
        made = try buffer.makeLeaves(areLast: areLast, editor)
        try ElementBuffer.free(leaf: old, editor)
        return made
      })
    isLeafChanged = false
    if made.count == 1, !isJoined {
      (self.leaf, leafCount) = (made[0].ref, buffer.count)
    } else {
      forget()
    }
  }

  /// A leaf of no more is joined with a neighbour where one leaf takes both.
  private static let fewElements = UInt64(ElementBuffer.leafElements / 4)

  /// Makes one leaf of two neighbours; nil where they are too large for one.
  private func join(_ left: PositionChild, _ right: PositionChild) throws(StorageError) -> PositionChild? {
    guard left.count + right.count <= UInt64(ElementBuffer.leafElements) * 3 / 4 else { return nil }
    var both = try ElementBuffer(leaf: left.ref, element, editor)
    both.append(contentsOf: try ElementBuffer(leaf: right.ref, element, editor))
    guard UInt64(both.count) == left.count + right.count else {
      throw editor.store.corrupted(.rows, right.ref)
    }
    guard both.fitsOneLeaf else { return nil }
    try ElementBuffer.free(leaf: left.ref, editor)
    try ElementBuffer.free(leaf: right.ref, editor)
    return try both.makeLeaves(areLast: false, editor)[0]
  }

  // MARK: - Storing

  /// Answers the content that the cell gets. The list can be changed further from that state.
  func store() throws(StorageError) -> CollectionForm.Content {
    try putBack()
    isChanged = false
    if isTree {
      guard let values = try fewValues() else { return .tree(root) }
      try release()
      try editor.freeTree(root)
      root = .null
      try hold(values)
      return .inline(encoded(values))
    }
    let values = try buffer.values(editor.access())
    let bytes = encoded(values)
    guard bytes.count > CollectionForm.maximumInline else { return .inline(bytes) }
    try makeTree()
    return .tree(root)
  }

  private func encoded(_ values: [Value]) -> [UInt8] { CompositeCell.encode(.list(values), of: column) ?? [] }

  private func hold(_ values: [Value]) throws(StorageError) {
    buffer = ElementBuffer(element)
    for value in values { try buffer.append(value, editor) }
    (leaf, start, leafCount, isLeafChanged) = (nil, 0, 0, false)
  }

  /// The elements of a tree that has become so small that it had better be none; nil for any other.
  private func fewValues() throws(StorageError) -> [Value]? {
    let limit = CollectionForm.maximumInline / 2
    // Each element takes a byte at least, and one that may be null a bit.
    guard count <= (column.isOptional ? 8 : 1) * limit else { return nil }
    var values: [Value] = []
    let access = editor.access()
    let areFew = try PositionTree.forEachLeaf(of: root, access) { (leaf, _) throws(StorageError) in
      // The pieces of such a leaf hold long values.
      guard leaf.level < 2 else { return false }
      try ListTree.append(leaf: leaf, element, access, to: &values)
      return encoded(values).count < limit
    }
    return areFew ? values : nil
  }
}

/// Links that are looked for in the leaves of a list, to be taken out.
private struct LinkRemoval {
  private let rows: NumberSet
  /// The only row that is looked for, where it is one.
  private let only: UInt64?
  private let least: UInt64
  private let greatest: UInt64
  private let known: Int
  private(set) var counts: [UInt64: Int] = [:]
  private(set) var total = 0

  init(_ rows: Set<UInt64>, atMost known: Int) {
    let sorted = rows.sorted()
    self.rows = NumberSet(sorted)
    only = sorted.count == 1 ? sorted[0] : nil
    (least, greatest) = (sorted.first ?? 0, sorted.last ?? 0)
    self.known = known
  }

  /// The places of the elements of a leaf that stay; nil where all do.
  mutating func places(
    in leaf: Ref, _ element: Column, _ access: borrowing NodeAccess
  ) throws(StorageError) -> [UInt16]? {
    guard total < known else { return nil }
    let cluster = ClusterNode(try access.node(leaf, .cluster))
    guard let part = cluster.integers(of: element.id), part.nullCount == 0 else {
      throw access.corrupted(.structure, leaf)
    }
    guard UInt64(bitPattern: part.least) <= greatest, UInt64(bitPattern: part.greatest) >= least else {
      return nil
    }
    if let only, !cluster.holds(Int64(bitPattern: only), part) { return nil }
    let keys = cluster.integers(part).map { UInt64(bitPattern: $0) }
    return places(of: keys)
  }

  mutating func places(in values: [Value]) -> [UInt16] {
    let keys = values.map { if case .link(let row) = $0 { row } else { UInt64.max } }
    return places(of: keys) ?? Array(0..<UInt16(keys.count))
  }

  private mutating func places(of keys: [UInt64]) -> [UInt16]? {
    // Most leaves hold few of the rows or none: what stays is told from what goes.
    let rows = rows
    var gone: [Int] = []
    for place in keys.indices where rows.contains(Int64(bitPattern: keys[place])) { gone.append(place) }
    guard !gone.isEmpty else { return nil }
    total += gone.count
    var kept: [UInt16] = []
    kept.reserveCapacity(keys.count - gone.count)
    var start = 0
    for place in gone {
      counts[keys[place], default: 0] += 1
      for stays in start..<place { kept.append(UInt16(stays)) }
      start = place + 1
    }
    for stays in start..<keys.count { kept.append(UInt16(stays)) }
    return kept
  }
}

extension ClusterNode {
  /// Whether a column of whole numbers without nulls holds a number.
  fileprivate func holds(_ number: Int64, _ part: Descriptor) -> Bool {
    guard part.least <= number, number <= part.greatest else { return false }
    let distance = UInt64(bitPattern: number &- part.least)
    return !PackedIntegers.mask(data(part), rows, width: Int(part.width), in: distance...distance).isEmpty
  }
}
