/// What a version holds besides its tables and named trees, by names: room for what later versions of the library add. This one
/// knows no such name, and writes none.
///
/// The ordered tree in slot 3 of the catalogue (FORMAT.md, "Named slots"). A key is a name; a value is a byte, the rule for those
/// who do not know the name, and then bytes of the slot's own; it has a ref where there are nodes below the slot.
enum NamedSlots {
  struct Slot {
    var name: String
    var rule: AttributeRule
    /// Null where the slot has no nodes.
    var root: Ref
  }

  /// All slots, in the order of their names.
  ///
  /// - Throws: `.corrupted`, also for a name or a rule that is none.
  static func all(_ tree: Ref, _ access: borrowing NodeAccess) throws(StorageError) -> [Slot] {
    var slots: [Slot] = []
    var cursor = TreeCursor(tree)
    try cursor.seekFirst(access)
    while cursor.isValid {
      slots.append(
        try cursor.withEntry(access) { (leaf, index) throws(StorageError) in
          let (key, value) = (leaf.key(index), leaf.value(index))
          guard (1...Catalogue.maximumNameLength).contains(key.count), let name = key.text,
            value.bytes.byteCount > 0, let rule = AttributeRule(rawValue: UInt16(value.bytes.array[0]))
          else { throw access.corrupted(.structure, tree) }
          return Slot(name: name, rule: rule, root: value.ref ?? .null)
        })
      try cursor.next(access)
    }
    return slots
  }

  /// Throws where a slot must be known to read the file. O(1) while the tree is the one that was asked for last.
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
  /// Answers the parts of a version that a library must know to write the file, and that this library does not know.
  func unknownToWrite(
    _ schemas: [TableSchema], _ access: borrowing NodeAccess
  ) throws(StorageError) -> [StorageError.Feature] {
    try slotsUnknownToWrite(access) + schemas.compactMap { $0.unknown.feature }
  }

  /// Answers those of these parts that are named slots.
  func slotsUnknownToWrite(_ access: borrowing NodeAccess) throws(StorageError) -> [StorageError.Feature] {
    try NamedSlots.all(namedSlots, access).filter { $0.rule == .knownToWrite }
      .map { $0.feature(need: .write) }
  }
}
