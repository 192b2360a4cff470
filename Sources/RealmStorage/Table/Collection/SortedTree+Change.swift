/// Changes of one entry. The long value of a removed or replaced entry is freed.
extension SortedTree {
  // MARK: - Sets

  /// Adds an element, unless the set has an equal one, which then stays. Returns whether the element was added.
  ///
  /// - Precondition: a set of the column may hold the element.
  static func insert(
    _ element: Value, into root: Ref, of column: Column, shape: TreeShape = shape, editor: NodeEditor
  ) throws(StorageError) -> (root: Ref, isNew: Bool) {
    let key = ElementKey(element, of: column)
    let place = try EntryPlace(key, in: root, of: column, editor.access())
    guard !place.isThere else { return (root, false) }
    let value = EntryCoding.value(of: element, key, column)
    return (try EntryChange(shape: shape, editor: editor).put(value, at: place, in: root), true)
  }

  /// Removes the element that equals `element`. Returns the removed element; nil if there was none.
  static func remove(
    _ element: Value, from root: Ref, of column: Column, shape: TreeShape = shape, editor: NodeEditor
  ) throws(StorageError) -> (root: Ref, removed: Value?) {
    let removed = try remove(
      ElementKey(element, of: column), from: root, of: column, shape: shape, editor: editor)
    return (removed.root, removed.entry?.value)
  }

  // MARK: - Maps

  /// Sets the value of a key. Returns the value that the key had; nil if the key is new.
  ///
  /// - Precondition: a map of the column may hold the value.
  static func set(
    _ value: Value, for key: String, in root: Ref, of column: Column, shape: TreeShape = shape,
    editor: NodeEditor
  ) throws(StorageError) -> (root: Ref, old: Value?) {
    let key = ElementKey(mapKey: key)
    let place = try EntryPlace(key, in: root, of: column, editor.access())
    let old = place.isThere ? try entry(at: place.key, in: root, of: column, editor.access()).value : nil
    let bytes = EntryCoding.value(value, of: key, column)
    return (try EntryChange(shape: shape, editor: editor).put(bytes, at: place, in: root), old)
  }

  /// Removes a key. Returns its value; nil if the map lacked the key.
  static func removeValue(
    for key: String, from root: Ref, of column: Column, shape: TreeShape = shape, editor: NodeEditor
  ) throws(StorageError) -> (root: Ref, old: Value?) {
    let removed = try remove(
      ElementKey(mapKey: key), from: root, of: column, shape: shape, editor: editor)
    return (removed.root, removed.entry?.value)
  }

  // MARK: - Both

  private static func remove(
    _ key: ElementKey, from root: Ref, of column: Column, shape: TreeShape, editor: NodeEditor
  ) throws(StorageError) -> (root: Ref, entry: SortedEntry?) {
    let place = try EntryPlace(key, in: root, of: column, editor.access())
    guard place.isThere else { return (root, nil) }
    let removed = try entry(at: place.key, in: root, of: column, editor.access())
    return (try EntryChange(shape: shape, editor: editor).remove(place, from: root), removed)
  }

  /// Frees the tree, with its long values.
  static func free(_ root: Ref, editor: NodeEditor) throws(StorageError) { try editor.freeTree(root) }
}

/// Puts entries into a tree and removes them. The entries after them in a group of cut keys get new ordinals.
struct EntryChange {
  let shape: TreeShape
  let editor: NodeEditor

  func put(_ value: [UInt8], at place: EntryPlace, in root: Ref) throws(StorageError) -> Ref {
    guard !place.isThere else {
      let old = try ref(of: place.key, in: root)
      let changed = try set(value, for: place.key, in: root)
      if let old { try editor.freeTree(old) }
      return changed
    }
    guard let (group, place) = place.group else { return try set(value, for: place.key, in: root) }
    guard group.count < .max else { throw .limitExceeded(.rows, path: editor.store.storage.path) }
    var root = root
    for ordinal in stride(from: group.count, to: place, by: -1) {
      root = try copy(group.key(ordinal - 1), to: group.key(ordinal), in: root)
    }
    return try set(value, for: group.key(place), in: root)
  }

  /// - Precondition: the tree has the entry.
  func remove(_ place: EntryPlace, from root: Ref) throws(StorageError) -> Ref {
    let old = try ref(of: place.key, in: root)
    var (root, last) = (root, place.key)
    if let (group, place) = place.group {
      for ordinal in place + 1..<max(place + 1, group.count) {
        root = try copy(group.key(ordinal), to: group.key(ordinal - 1), in: root)
      }
      last = group.key(group.count - 1)
    }
    root = try OrderedTree.removeFound(last.span.bytes, from: root, shape: shape, editor: editor)
    if let old { try editor.freeTree(old) }
    return root
  }

  private func ref(of key: [UInt8], in root: Ref) throws(StorageError) -> Ref? {
    try OrderedTree.find(key.span.bytes, in: root, editor.access()) { $0.ref } ?? nil
  }

  private func copy(_ key: [UInt8], to other: [UInt8], in root: Ref) throws(StorageError) -> Ref {
    let access = editor.access()
    let stored = try OrderedTree.find(key.span.bytes, in: root, access) { ($0.bytes.array, $0.ref) }
    guard let (bytes, ref) = stored else { throw access.corrupted(.structure, root) }
    return try OrderedTree.set(
      TreeValue(bytes: bytes.span.bytes, ref: ref), for: other.span.bytes, in: root, shape: shape,
      editor: editor)
  }

  private func set(_ value: [UInt8], for key: [UInt8], in root: Ref) throws(StorageError) -> Ref {
    let (bytes, ref) = EntryChange.stored(value, editor: editor)
    return try OrderedTree.set(
      TreeValue(bytes: bytes.span.bytes, ref: ref), for: key.span.bytes, in: root, shape: shape,
      editor: editor)
  }

  /// The content of a leaf for the bytes of a value: the bytes themselves or, if they are too many for a leaf, their
  /// length and the ref of a long value.
  static func stored(_ value: [UInt8], editor: NodeEditor) -> (bytes: [UInt8], ref: Ref?) {
    guard value.count > OrderedTree.maximumInlineValue else { return (value, nil) }
    var length: [UInt8] = []
    length.appendInteger(UInt64(value.count))
    return (length, LongValue.write(value.span.bytes, editor: editor))
  }
}
