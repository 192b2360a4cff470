/// The content of a version besides its tables and named trees, by names. Later versions of the library can add slots. This
/// version knows the slots of named versions (`VersionSlots`) and of the changelog (`ChangelogSlot`).
///
/// The slots are an ordered tree, in slot 3 of the catalogue (FORMAT.md, "Named slots"). A key is a name. A value is
/// one byte with the rule for libraries that do not know the name, and then the slot's own bytes. The value has a ref
/// if there are nodes below the slot.
enum NamedSlots {
  struct Slot {
    var name: String
    var rule: AttributeRule
    /// The root of the nodes below the slot; null if it has none.
    var root: Ref
    /// The slot's own bytes, which follow the rule.
    var bytes: [UInt8] = []
  }

  /// All slots, in the order of their names.
  ///
  /// - Throws: `.corrupted`, also for an invalid name or rule.
  static func all(_ tree: Ref, _ access: borrowing NodeAccess) throws(StorageError) -> [Slot] {
    var slots: [Slot] = []
    var cursor = TreeCursor(tree)
    try cursor.seekFirst(access)
    while cursor.isValid {
      slots.append(
        try cursor.withEntry(access) { (leaf, index) throws(StorageError) in
          let key = leaf.key(index)
          guard (1...Catalogue.maximumNameLength).contains(key.count), let name = key.text,
            let slot = slot(name, leaf.value(index))
          else { throw access.corrupted(.structure, tree) }
          return slot
        })
      try cursor.next(access)
    }
    return slots
  }

  /// The slot that a value of the tree describes; nil if the value has no valid rule.
  private static func slot(_ name: String, _ value: TreeValue) -> Slot? {
    var bytes = value.bytes.array
    guard let first = bytes.first, let rule = AttributeRule(rawValue: UInt16(first)) else { return nil }
    bytes.removeFirst()
    return Slot(name: name, rule: rule, root: value.ref ?? .null, bytes: bytes)
  }

  /// The slot with a name; nil if there is none.
  ///
  /// - Throws: `.corrupted`.
  static func find(
    _ name: String, in tree: Ref, _ access: borrowing NodeAccess
  ) throws(StorageError) -> Slot? {
    let key = Array(name.utf8)
    return try OrderedTree.find(key.span.bytes, in: tree, access) { (value) throws(StorageError) in
      guard let slot = slot(name, value) else { throw access.corrupted(.structure, tree) }
      return slot
    }
  }

  /// Writes a slot without nodes. It replaces the slot of that name and frees all nodes below the old one.
  static func set(
    _ rule: AttributeRule, _ bytes: [UInt8], for name: String, in catalogue: inout Catalogue,
    _ editor: NodeEditor
  ) throws(StorageError) {
    let old = try root(of: Array(name.utf8), in: catalogue.namedSlots, editor)
    try set(rule, bytes, root: .null, for: name, in: &catalogue, editor)
    if let old { try editor.freeTree(old) }
  }

  /// Writes a slot. The nodes that were below it before belong to the caller, who uses them below the new slot or frees
  /// them.
  static func set(
    _ rule: AttributeRule, _ bytes: [UInt8], root: Ref, for name: String, in catalogue: inout Catalogue,
    _ editor: NodeEditor
  ) throws(StorageError) {
    let key = Array(name.utf8)
    let value = [UInt8(rule.rawValue)] + bytes
    catalogue.namedSlots = try OrderedTree.set(
      TreeValue(bytes: value.span.bytes, ref: root.isNull ? nil : root), for: key.span.bytes,
      in: catalogue.namedSlots, editor: editor)
  }

  /// Removes a slot and frees all nodes below it. Returns whether there was such a slot.
  static func remove(
    _ name: String, from catalogue: inout Catalogue, _ editor: NodeEditor
  ) throws(StorageError) -> Bool {
    let key = Array(name.utf8)
    guard let old = try root(of: key, in: catalogue.namedSlots, editor) else { return false }
    catalogue.namedSlots = try OrderedTree.removeFound(
      key.span.bytes, from: catalogue.namedSlots, editor: editor)
    try editor.freeTree(old)
    return true
  }

  /// The root of the nodes below a slot, null if there are none; nil if there is no such slot.
  private static func root(
    of key: [UInt8], in tree: Ref, _ editor: NodeEditor
  ) throws(StorageError) -> Ref? {
    try OrderedTree.find(key.span.bytes, in: tree, editor.access()) { $0.ref ?? .null }
  }

  /// Checks that no slot has the rule that it must be known to read the file. O(1) if this tree was the last one
  /// checked.
  ///
  /// - Throws: `.corrupted`; `.unknownFeature` if there is such a slot.
  static func checkReadable(_ tree: Ref, _ access: borrowing NodeAccess) throws(StorageError) {
    guard !tree.isNull, !access.isKnown(tree) else { return }
    for slot in try all(tree, access) where slot.rule == .knownToRead {
      throw access.unknown(slot.feature(need: .read))
    }
    access.noteKnown(tree)
  }
}

extension NamedSlots.Slot {
  func feature(need: StorageError.Feature.Need) -> StorageError.Feature {
    StorageError.Feature("slot \(name)", of: "the catalogue", need: need)
  }
}

extension Catalogue {
  /// Returns the parts of a version that a library must know to write the file, and that this library does not know.
  func unknownToWrite(
    _ schemas: [TableSchema], _ access: borrowing NodeAccess
  ) throws(StorageError) -> [StorageError.Feature] {
    try slotsUnknownToWrite(access) + schemas.compactMap { $0.unknown.feature }
  }

  /// Returns the named slots that a library must know to write the file, and that this library does not know.
  func slotsUnknownToWrite(_ access: borrowing NodeAccess) throws(StorageError) -> [StorageError.Feature] {
    try NamedSlots.all(namedSlots, access).filter { $0.rule == .knownToWrite && !$0.isKnown }
      .map { $0.feature(need: .write) }
  }
}
