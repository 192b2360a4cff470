/// A set or a map of a row that a transaction changes entry by entry.
final class OpenSorted: OpenCollection {
  let column: Column
  private let editor: NodeEditor
  /// The root of the tree; null if the set or map is not a tree.
  private var root: Ref
  /// The elements of a set that is not a tree. `map` has the entries of a map that is not a tree.
  private var elements: [Value] = []
  private var map = ValueMap()
  @exclusivity(unchecked) private(set) var isChanged = false {
    didSet { if isChanged { changes.isAny = true } }
  }
  private let changes: OpenChanges

  /// The greatest number of entries that are held in an array after a change. More entries become a tree, because an
  /// insertion into an array moves all entries after it.
  private static let mostHeld = 512

  /// Opens a set or map that is not a tree.
  init(_ value: Value, of column: Column, _ changes: OpenChanges, _ editor: NodeEditor) {
    self.changes = changes
    self.column = column
    self.editor = editor
    root = .null
    hold(value)
  }

  init(tree: Ref, of column: Column, _ changes: OpenChanges, _ editor: NodeEditor) {
    self.changes = changes
    self.column = column
    self.editor = editor
    root = tree
  }

  private var isTree: Bool { !root.isNull }
  private var isMap: Bool { column.collection == .map }

  private func hold(_ value: Value) {
    switch value {
    case .list(let elements, _): self.elements = elements
    case .map(let map, _): self.map = map
    default: break
    }
  }

  private var held: Value { isMap ? .map(map) : .list(elements) }

  // MARK: - Reading

  func count() throws(StorageError) -> Int {
    guard isTree else { return isMap ? map.count : elements.count }
    return Int(clamping: try SortedTree.count(root, editor.access()))
  }

  /// The number of elements of a set that are less than `element`, and whether the next one is equal to it.
  func position(of element: Value) throws(StorageError) -> (position: Int, isThere: Bool) {
    guard isTree else {
      let place = SetPlace(of: element, in: elements)
      return (place.index, place.isThere)
    }
    let place = try SortedTree.position(of: element, in: root, of: column, editor.access())
    return (Int(clamping: place.position), place.isThere)
  }

  func contains(_ element: Value) throws(StorageError) -> Bool {
    guard isTree else { return SetPlace(of: element, in: elements).isThere }
    return try SortedTree.contains(element, in: root, of: column, editor.access())
  }

  /// The value of a key of a map; nil if the map lacks the key.
  func value(of key: String) throws(StorageError) -> Value? {
    guard isTree else { return map[key] }
    return try SortedTree.value(of: key, in: root, of: column, editor.access())
  }

  /// The element of a set, or the key and value of a map, at a position.
  ///
  /// - Precondition: there is an entry at the position.
  func entry(at position: Int) throws(StorageError) -> SortedEntry {
    guard isTree else {
      guard isMap else { return SortedEntry(key: nil, value: elements[position]) }
      return SortedEntry(key: map.keys[position], value: map.values[position])
    }
    let access = editor.access()
    guard let entry = try SortedTree.entry(at: UInt64(position), in: root, of: column, access) else {
      throw access.corrupted(.rows, root)
    }
    return entry
  }

  /// The set or map with its present entries, which later changes do not affect.
  func holding() throws(StorageError) -> HeldCollection {
    guard !isTree else { return try HeldCollection(tree: root, of: column, editor) }
    let entries =
      isMap
      ? zip(map.keys, map.values).map { SortedEntry(key: $0, value: $1) }
      : elements.map { SortedEntry(key: nil, value: $0) }
    return HeldCollection(entries, of: column, editor)
  }

  // MARK: - Changing

  /// Adds those of the elements that equal no element of a set. Returns the elements that were added.
  func insert(_ added: [Value]) throws(StorageError) -> [Value] {
    var new: [Value] = []
    if isTree {
      (root, new) = try SortedTree.insert(added, into: root, of: column, editor: editor)
    } else if added.count + elements.count > Self.mostHeld {
      let known = elements
      guard case .list(let all, _) = Value.set(known + added) else { return [] }
      elements = all
      new = Value.set(added).elements?.filter { !SetPlace(of: $0, in: known).isThere } ?? []
    } else {
      for value in added {
        let place = SetPlace(of: value, in: elements)
        guard !place.isThere else { continue }
        elements.insert(value, at: place.index)
        new.append(value)
      }
    }
    if !new.isEmpty { try didChange() }
    return new
  }

  /// Removes the element that equals `element`. Returns the removed element; nil if there was none.
  func remove(_ element: Value) throws(StorageError) -> Value? {
    var removed: Value?
    if isTree {
      (root, removed) = try SortedTree.remove(element, from: root, of: column, editor: editor)
    } else {
      let place = SetPlace(of: element, in: elements)
      if place.isThere { removed = elements.remove(at: place.index) }
    }
    if removed != nil { try didChange() }
    return removed
  }

  /// Sets the value of a key. Returns the value that the key had; nil if the key is new.
  func set(_ value: Value, for key: String) throws(StorageError) -> Value? {
    var old: Value?
    if isTree {
      (root, old) = try SortedTree.set(value, for: key, in: root, of: column, editor: editor)
    } else {
      old = map[key]
      map[key] = value
    }
    try didChange()
    return old
  }

  /// Removes a key. Returns its value; nil if the map lacked the key.
  func removeValue(for key: String) throws(StorageError) -> Value? {
    var old: Value?
    if isTree {
      (root, old) = try SortedTree.removeValue(for: key, from: root, of: column, editor: editor)
    } else {
      old = map[key]
      map[key] = nil
    }
    if old != nil { try didChange() }
    return old
  }

  /// Removes the links to some rows: an element of a set is removed, and a value of a map becomes null. Returns the
  /// number of links to each row.
  func unlink(_ targets: Set<LinkTarget>) throws(StorageError) -> [LinkTarget: UInt64] {
    var removed: [LinkTarget: UInt64] = [:]
    if isTree {
      (root, removed) = try SortedTree.unlink(targets, in: root, of: column, editor: editor)
    } else {
      for target in held.linkTargets(of: column) where targets.contains(target) {
        removed[target, default: 0] += 1
      }
      hold(held.unlinked(targets, of: column))
    }
    if !removed.isEmpty { try didChange() }
    return removed
  }

  private func didChange() throws(StorageError) {
    isChanged = true
    if !isTree, max(elements.count, map.count) > Self.mostHeld {
      root = try SortedTree.build(held, of: column, editor: editor)
      (elements, map) = ([], ValueMap())
    }
    // If the transaction is large, subtrees are written to the file, so that a set or map that grows large is not
    // wholly in memory.
    if isTree, editor.hasGrownLarge { root = try editor.spillIfLarge([root])[0] }
  }

  // MARK: - Storing

  /// Returns the content that is to be stored in the cell. The set or map can be changed further after this call.
  func store() throws(StorageError) -> CollectionForm.Content {
    isChanged = false
    if isTree {
      let limit = CollectionForm.maximumInline / 2 - 1
      let access = editor.access()
      guard try SortedTree.inlineLength(root, of: column, atMost: limit, access) != nil else {
        return .tree(root)
      }
      hold(try SortedTree.all(root, of: column, access))
      try editor.freeTree(root)
      root = .null
    }
    let content = try CollectionForm.content(of: held, column, editor)
    if case .tree(let tree) = content {
      root = tree
      (elements, map) = ([], ValueMap())
    }
    return content
  }
}

/// The index of a value among the elements of a set, or the index at which it would be inserted.
package struct SetPlace {
  package let index: Int
  package let isThere: Bool

  package init(of value: Value, in elements: [Value]) {
    var (low, high) = (0, elements.count)
    while low < high {
      let middle = (low + high) / 2
      if ValueOrder.sort(elements[middle], value) < 0 { low = middle + 1 } else { high = middle }
    }
    index = low
    isThere = low < elements.count && ValueOrder.sort(value, elements[low]) == 0
  }
}
