/// Changes of many entries at once.
extension SortedTree {
  /// Builds the tree of a set or map.
  ///
  /// - Precondition: the column accepts the value: a set is in the order that `Value.set(_:)` gives.
  static func build(
    _ value: Value, of column: Column, shape: TreeShape = shape, editor: NodeEditor
  ) throws(StorageError) -> Ref {
    var build = Build(shape: shape, editor: editor)
    switch value {
    case .list(let elements, _):
      for element in elements {
        let key = ElementKey(element, of: column)
        try build.append(key, EntryCoding.value(of: element, key, column))
      }
    case .map(let map, _):
      for (key, value) in zip(map.keys, map.values) {
        let key = ElementKey(mapKey: key)
        try build.append(key, EntryCoding.value(value, of: key, column))
      }
    default: preconditionFailure("a value that is no set or map has no tree")
    }
    return try build.finish()
  }

  private struct Build {
    private var builder: TreeBuilder
    private let editor: NodeEditor
    /// The last cut key without its ordinal, and the number of entries that have it so far.
    private var head: [UInt8] = []
    private var count: UInt32 = 0

    init(shape: TreeShape, editor: NodeEditor) {
      builder = TreeBuilder(shape: shape, editor: editor)
      self.editor = editor
    }

    mutating func append(_ key: ElementKey, _ value: [UInt8]) throws(StorageError) {
      let (bytes, ref) = EntryChange.stored(value, editor: editor)
      let value = TreeValue(bytes: bytes.span.bytes, ref: ref)
      guard key.rest != nil else { return try builder.append(key: key.bytes.span.bytes, value: value) }
      if key.bytes != head { (head, count) = (key.bytes, 0) }
      var cut = head
      cut.appendHighestFirst(count)
      count += 1
      try builder.append(key: cut.span.bytes, value: value)
    }

    mutating func finish() throws(StorageError) -> Ref { try builder.finish() }
  }

  /// Adds those of the elements that equal no element of a set; of several equal ones, only the first. Returns the
  /// added elements in the order of the set. If the keys identify the elements exactly, each changed node is made only
  /// once.
  ///
  /// - Precondition: a set of the column may hold each of the elements.
  static func insert(
    _ elements: [Value], into root: Ref, of column: Column, shape: TreeShape = shape, editor: NodeEditor
  ) throws(StorageError) -> (root: Ref, added: [Value]) {
    let sorted = Value.set(elements).elements ?? []
    guard !root.isNull else {
      return (try build(.list(sorted), of: column, shape: shape, editor: editor), sorted)
    }
    var added: [Value] = []
    var keys = SortedKeys(count: sorted.count, bytes: 16 * sorted.count)
    var root = root
    for element in sorted {
      let key = ElementKey(element, of: column)
      guard key.rest == nil, EntryCoding.isTold(element, key, column) else {
        let inserted = try insert(element, into: root, of: column, shape: shape, editor: editor)
        root = inserted.root
        if inserted.isNew { added.append(element) }
        continue
      }
      guard try !has(key.bytes, in: root, editor.access()) else { continue }
      keys.append(key.bytes.span.bytes)
      added.append(element)
    }
    root = try OrderedTree.merge(keys, into: root, shape: shape, editor: editor) { _, _ in [] }
    return (root, added)
  }

  /// Removes the links to some rows from a set or map. Returns the number of removed links to each row. An element of a
  /// set is removed. A value of a map becomes null, and so do links in lists and maps that are values of a map.
  ///
  /// For a set and few rows it takes O(log n) for each row. Otherwise, and for a map, it takes time in proportion to
  /// the number of all entries.
  static func unlink(
    _ targets: Set<LinkTarget>, in root: Ref, of column: Column, shape: TreeShape = shape, editor: NodeEditor
  ) throws(StorageError) -> (root: Ref, removed: [LinkTarget: UInt64]) {
    guard column.canLink, !targets.isEmpty, !root.isNull else { return (root, [:]) }
    return column.collection == .map
      ? try unlinkMap(targets, root, column, shape, editor)
      : try unlinkSet(targets, root, column, shape, editor)
  }

  private static func unlinkSet(
    _ targets: Set<LinkTarget>, _ root: Ref, _ column: Column, _ shape: TreeShape, _ editor: NodeEditor
  ) throws(StorageError) -> (root: Ref, removed: [LinkTarget: UInt64]) {
    var candidates: [LinkTarget] = []
    if UInt64(targets.count) <= (try count(root, editor.access())) / 8 {
      // The order is the same in every run of the program.
      candidates = targets.sorted { ($0.table, $0.row) < ($1.table, $1.row) }
    } else {
      try forEach(in: root, of: column, editor.access()) { entry in
        candidates += entry.value.linkTargets(of: column).filter { targets.contains($0) }
        return true
      }
    }
    var (root, removed): (Ref, [LinkTarget: UInt64]) = (root, [:])
    for target in candidates where column.type == .mixed || target.table == column.target {
      let link: Value =
        column.type == .mixed ? .typedLink(table: target.table, row: target.row) : .link(target.row)
      let change = try remove(link, from: root, of: column, shape: shape, editor: editor)
      root = change.root
      if change.removed != nil { removed[target] = 1 }
    }
    return (root, removed)
  }

  private static func unlinkMap(
    _ targets: Set<LinkTarget>, _ root: Ref, _ column: Column, _ shape: TreeShape, _ editor: NodeEditor
  ) throws(StorageError) -> (root: Ref, removed: [LinkTarget: UInt64]) {
    var changes: [(key: String, value: Value)] = []
    var removed: [LinkTarget: UInt64] = [:]
    try forEach(in: root, of: column, editor.access()) { entry in
      let links = entry.value.linkTargets(of: column).filter { targets.contains($0) }
      guard !links.isEmpty, let key = entry.key else { return true }
      for link in links { removed[link, default: 0] += 1 }
      changes.append((key, entry.value.unlinked(targets, of: column)))
      return true
    }
    var root = root
    for (key, value) in changes {
      root = try set(value, for: key, in: root, of: column, shape: shape, editor: editor).root
    }
    return (root, removed)
  }
}
