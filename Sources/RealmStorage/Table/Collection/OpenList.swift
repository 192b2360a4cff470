/// A list of a row that a transaction changes element by element.
///
/// The leaf that was changed last is in a buffer, so that changes near each other do not write a node each. A list that
/// is not a tree is wholly in the buffer. The content of the buffer is written to nodes before anything else reads the
/// list.
final class OpenList: OpenCollection {
  /// The column of the table, which is a column of lists.
  let column: Column
  private let element: Column
  private let editor: NodeEditor
  /// The root of the tree, without the changes in the buffer; null if the list is not a tree.
  private var root: Ref
  @exclusivity(unchecked) private(set) var count: Int

  @exclusivity(unchecked) private var buffer: ElementBuffer
  /// The position of the buffer's first element.
  private var start = 0
  /// The leaf of the tree that the buffer was read from; nil if the list is not a tree, or if no leaf is in the buffer.
  private var leaf: Ref?
  /// The number of elements that the tree counts in `leaf`.
  private var leafCount = 0
  /// Whether the buffer has changes that the leaf in the tree lacks.
  private var isLeafChanged = false
  /// Whether the list was changed since its content was last stored in the cell.
  @exclusivity(unchecked) private(set) var isChanged = false {
    didSet { if isChanged { changes.isAny = true } }
  }
  private let changes: OpenChanges

  /// Opens a list that is not a tree.
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

  /// The elements from a position on that are stored together; none if the position is after the last element.
  func values(from position: Int) throws(StorageError) -> [Value] {
    guard position < count else { return [] }
    if isTree { try hold(position, isInsertion: false) }
    let access = editor.access()
    var values: [Value] = []
    values.reserveCapacity(end - position)
    for place in position - start..<buffer.count { values.append(try buffer.value(place, access)) }
    return values
  }

  /// The list with its present elements, which later changes do not affect.
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
      // The changes of the buffer go to the tree first, so that the tree has exactly the long values of the list.
      try putBack()
      try editor.freeTree(root)
    } else {
      try buffer.remove(0..<buffer.count, editor)
    }
    (root, leaf, isLeafChanged, start, count) = (.null, nil, false, 0, 0)
    buffer = ElementBuffer(element)
    isChanged = true
  }

  /// Moves an element to another position, which is counted without the element.
  func move(from old: Int, to new: Int) throws(StorageError) {
    let value = try value(at: old)
    try remove(old..<old + 1)
    try insert(value, at: new)
  }

  private func didChange() {
    isChanged = true
    if leaf != nil { isLeafChanged = true }
  }

  /// Removes a range of elements that is longer than a leaf.
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

  /// Removes the links to some rows from a list of links. Returns the number of removed links to each row.
  ///
  /// The leaves are scanned in their packed form, until `known` links were found.
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

  /// Reads the leaf of a position into the buffer. For an insertion after all elements it is the last leaf.
  private func hold(_ position: Int, isInsertion: Bool) throws(StorageError) {
    if leaf != nil, position >= start {
      if position < end { return }
      // An element that is inserted between two leaves may be in either of them.
      if isInsertion, position == end, end == count || isLeafChanged { return }
    }
    try release()
    // `release` may have removed the last elements of the tree.
    guard isTree else { return }
    let found = try PositionTree.leaf(at: UInt64(position), in: root, editor.access())
    buffer = try ElementBuffer(leaf: found.leaf, element, editor)
    (leaf, start, leafCount) = (found.leaf, Int(clamping: found.before), buffer.count)
    guard position < end || isInsertion && position == end, end <= count, found.counts(buffer.count) else {
      throw editor.store.corrupted(.rows, found.leaf)
    }
  }

  /// Makes leaves of the elements in the buffer, because they are too many for one leaf.
  private func makeRoom() throws(StorageError) {
    if isTree {
      try release()
    } else {
      try makeTree()
    }
    // If the transaction is large, subtrees are written to the file, so that a list that grows long is not wholly in
    // memory.
    if editor.hasGrownLarge { root = try editor.spillIfLarge([root])[0] }
  }

  /// Makes a tree of a list that is not a tree.
  private func makeTree() throws(StorageError) {
    if buffer.count > 4 * ElementBuffer.leafElements {
      // A cell has so many elements only if most of them are null, or if another writer made it.
      root = try ListTree.build(try buffer.values(editor.access()), element, editor)
    } else {
      root = try PositionTree.build(try buffer.makeLeaves(areLast: true, editor), editor)
    }
    forget()
  }

  /// Puts the changes of the buffer into the tree, and empties the buffer if the list is a tree.
  private func release() throws(StorageError) {
    try putBack()
    if isTree { forget() }
  }

  private func forget() {
    buffer = ElementBuffer(element)
    (leaf, start, leafCount, isLeafChanged) = (nil, 0, 0, false)
  }

  /// Puts the changes of the buffer into the tree. The buffer keeps the leaf if it became exactly one leaf, which was
  /// not joined with a neighbour.
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
        // Only a forged branch leads to another leaf.
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

  /// A leaf with at most so many elements is joined with a neighbour if both fit into one leaf.
  private static let fewElements = UInt64(ElementBuffer.leafElements / 4)

  /// Makes one leaf of two neighbours; nil if they are too large for one leaf.
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

  /// Returns the content that is to be stored in the cell. The list can be changed further after this call.
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

  /// The elements of a tree that has become so small that it should be stored in the piece; nil for any other tree.
  private func fewValues() throws(StorageError) -> [Value]? {
    let limit = CollectionForm.maximumInline / 2
    // Each element takes at least one byte, or one bit if elements may be null.
    guard count <= (column.isOptional ? 8 : 1) * limit else { return nil }
    var values: [Value] = []
    let access = editor.access()
    let areFew = try PositionTree.forEachLeaf(of: root, access) { (leaf, _) throws(StorageError) in
      // A leaf of level 2 has pieces with long values.
      guard leaf.level < 2 else { return false }
      try ListTree.append(leaf: leaf, element, access, to: &values)
      return encoded(values).count < limit
    }
    return areFew ? values : nil
  }
}

/// Finds links to some rows in the leaves of a list, so that they can be removed.
private struct LinkRemoval {
  private let rows: NumberSet
  /// The row whose links are searched for, if it is only one; otherwise nil.
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

  /// The places of the elements of a leaf that stay; nil if all stay.
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
    // Most leaves have few links to the rows or none, so the places that go are found first and the others are derived
    // from them.
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
  /// Whether a column of whole numbers without nulls has a number.
  fileprivate func holds(_ number: Int64, _ part: Descriptor) -> Bool {
    guard part.least <= number, number <= part.greatest else { return false }
    let distance = UInt64(bitPattern: number &- part.least)
    return !PackedIntegers.mask(data(part), rows, width: Int(part.width), in: distance...distance).isEmpty
  }
}
