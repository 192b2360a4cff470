/// The root node of a version: facts about the whole database, and the roots of its trees.
///
/// The body follows the refs of the trees that are not empty, which are in the order of their slots (FORMAT.md,
/// "Root"):
///
///     offset  size  field
///          0     4  slots          a bit for each tree that is not empty; bits that `Slot` lacks are unknown
///          4     4  lastTable      the greatest id given to a table
///          8     8  schemaVersion  the number that the program gave its schema
package struct Catalogue: Equatable {
  /// The trees that a version may have. The numbers are stored in files, so they must never change.
  enum Slot: Int, CaseIterable {
    /// Table id → name and columns.
    case schema = 0
    /// Table id → the table's root.
    case tables = 1
    /// Name → root of a named tree. The value has no ref while the tree is empty.
    case namedTrees = 2
    /// See `NamedSlots`.
    case namedSlots = 3
  }

  /// The bits of all slots.
  private static let knownSlots: UInt32 = 0b1111

  enum Layout {
    static let slots = 0
    static let lastTable = 4
    static let schemaVersion = 8
    static let size = 16
  }

  package var schemaVersion: UInt64 = 0
  package var lastTable: UInt32 = 0
  package var schema = Ref.null
  package var tables = Ref.null
  package var namedTrees = Ref.null
  package var namedSlots = Ref.null

  package static let maximumNameLength = 255

  init() {}

  /// See `NodeValidators`.
  static func isValid(_ view: NodeView) -> Bool {
    guard view.bodyLength >= Layout.size else { return false }
    // Unknown slots have refs, too.
    return view.load(UInt32.self, at: Layout.slots).nonzeroBitCount == view.refCount
  }

  /// Reads the catalogue, and checks that this version of the library knows all named slots that it must know to read
  /// the file.
  ///
  /// - Throws: `.corrupted`; `.unknownFeature` if the file has something that must be known to read it, and this
  ///   version of the library does not know it.
  package init(_ root: Ref, _ access: borrowing NodeAccess) throws(StorageError) {
    try self.init(slotsOf: root, access)
    try NamedSlots.checkReadable(namedSlots, access)
  }

  /// Reads the catalogue without a check of the named slots.
  ///
  /// - Throws: `.corrupted`; `.unknownFeature` if the catalogue has unknown slots.
  init(slotsOf root: Ref, _ access: borrowing NodeAccess) throws(StorageError) {
    guard !root.isNull else { return }
    let view = try access.node(root, .root)
    schemaVersion = view.load(UInt64.self, at: Layout.schemaVersion)
    let slots = view.load(UInt32.self, at: Layout.slots)
    lastTable = view.load(UInt32.self, at: Layout.lastTable)
    guard slots & ~Self.knownSlots == 0 else {
      throw access.unknown(.init("slots \(slots & ~Self.knownSlots)", of: "the catalogue", need: .read))
    }
    var index = 0
    for slot in Slot.allCases where slots & 1 << UInt32(slot.rawValue) != 0 {
      switch slot {
      case .schema: schema = view.ref(index)
      case .tables: tables = view.ref(index)
      case .namedTrees: namedTrees = view.ref(index)
      case .namedSlots: namedSlots = view.ref(index)
      }
      index += 1
    }
  }

  /// Replaces the refs of all trees, for example after their nodes were moved. The content of the trees is the same.
  mutating func changeRefs(_ change: (Ref) -> Ref) {
    schema = change(schema)
    tables = change(tables)
    namedTrees = change(namedTrees)
    namedSlots = change(namedSlots)
  }

  package func write(_ editor: NodeEditor) -> Ref {
    var (slots, level) = (UInt32(0), UInt8(0))
    for slot in Slot.allCases where !self[slot].isNull {
      slots |= 1 << UInt32(slot.rawValue)
      level = max(level, self[slot].level + 1)
    }
    let arena = editor.arena
    let node = arena.make(
      kind: .root, level: level, refCount: slots.nonzeroBitCount, bodyLength: Layout.size)
    node.store(slots, at: Layout.slots)
    node.store(lastTable, at: Layout.lastTable)
    node.store(schemaVersion, at: Layout.schemaVersion)
    var index = 0
    for slot in Slot.allCases where !self[slot].isNull {
      node.setRef(index, to: self[slot])
      index += 1
    }
    return node.ref
  }

  private subscript(slot: Slot) -> Ref {
    switch slot {
    case .schema: schema
    case .tables: tables
    case .namedTrees: namedTrees
    case .namedSlots: namedSlots
    }
  }
}
