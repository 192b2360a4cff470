import RealmTestSupport
import Testing

@testable import RealmStorage

/// A database in memory with an open transaction, whose editor makes nodes of trees without a name.
struct TreeFixture {
  let database: Database
  let transaction: WriteTransaction

  init(key: [UInt8]? = nil) throws {
    database = try Database(creatingIn: MemoryStorage(name: "tree"), options: .init(encryptionKey: key))
    transaction = try database.beginWrite()
  }

  var editor: NodeEditor { transaction.editor }
}

extension TreeShape {
  /// Nodes so small that a few entries split and merge them.
  static let tiny = TreeShape(leafBytes: 200, branchBytes: 400, fanOut: 4)
}

/// A named tree of a transaction, made of nodes of any shape.
struct ShapedTree {
  private let transaction: WriteTransaction
  private let shape: TreeShape
  private let index: Int

  init(_ name: String, of transaction: WriteTransaction, shape: TreeShape = .tiny) throws {
    _ = try transaction.tree(name)
    self.transaction = transaction
    self.shape = shape
    let found = transaction.openTrees.firstIndex { $0.name == name }
    index = try #require(found)
  }

  var root: Ref { transaction.openTrees[index].root }

  func setRoot(_ root: Ref) { transaction.openTrees[index].root = root }

  func set(_ value: [UInt8], for key: [UInt8]) throws {
    let changed = try OrderedTree.set(
      TreeValue(bytes: value.span.bytes), for: key.span.bytes, in: root, shape: shape,
      editor: transaction.editor)
    setRoot(changed)
  }

  func removeValue(for key: [UInt8]) throws {
    let changed = try OrderedTree.remove(
      key.span.bytes, from: root, shape: shape, editor: transaction.editor)
    setRoot(changed)
  }
}

enum TestKeys {
  private static let longPrefix = [UInt8](repeating: 7, count: 900)

  /// Eight bytes, the most significant first, so that keys are in the order of their numbers.
  static func number(_ number: Int) -> [UInt8] {
    (0..<8).map { byte in UInt8(truncatingIfNeeded: number >> (56 - 8 * byte)) }
  }

  /// The eight bytes that stand in a leaf for a long value of this length, the least significant first.
  static func length(_ length: Int) -> [UInt8] {
    (0..<8).map { byte in UInt8(truncatingIfNeeded: length >> (8 * byte)) }
  }

  static func random(_ generator: inout SeededGenerator) -> [UInt8] {
    switch generator.below(10) {
    case 0: return longPrefix + generator.bytes(generator.below(4))
    case 1, 2, 3: return number(generator.below(400))
    case 4, 5, 6: return generator.bytes(generator.below(41))
    default:
      // The keys have two different bytes only. So most keys begin like others, and some are the beginning of others.
      let length = generator.below(41)
      return (0..<length).map { _ in UInt8(generator.below(2)) }
    }
  }

  /// Different keys in ascending order.
  static func sorted(_ count: Int, _ generator: inout SeededGenerator) -> [[UInt8]] {
    var keys: Set<[UInt8]> = []
    while keys.count < count { keys.insert(random(&generator)) }
    return keys.sorted { $0.lexicographicallyPrecedes($1) }
  }
}

/// An entry as a tree stores it; the ref names a long value.
struct TreeEntry: Equatable {
  var key: [UInt8]
  var bytes: [UInt8]
  var ref: Ref?
}

extension TreeCursor {
  func entry(_ access: borrowing NodeAccess) throws(StorageError) -> TreeEntry {
    try withEntry(access) { (leaf, index) throws(StorageError) in
      TreeEntry(key: leaf.key(index), bytes: leaf.value(index).bytes.array, ref: leaf.value(index).ref)
    }
  }
}

enum TreeNodes {
  /// All entries of a tree, from the first to the last.
  static func entries(_ root: Ref, _ access: borrowing NodeAccess) throws -> [TreeEntry] {
    var entries: [TreeEntry] = []
    var cursor = TreeCursor(root)
    try cursor.seekFirst(access)
    while cursor.isValid {
      entries.append(try cursor.entry(access))
      try cursor.next(access)
    }
    return entries
  }

  /// A node and all nodes below it.
  static func all(_ root: Ref, _ access: borrowing NodeAccess) throws -> [Ref] {
    guard !root.isNull else { return [] }
    var nodes = [root]
    for child in try access.children(of: root) { nodes += try all(child, access) }
    return nodes
  }

  /// The length of a node's refs and body in bytes, which a shape limits.
  static func content(_ ref: Ref) -> Int { ref.length - 16 }

  /// Expects that all leaves of a tree have the same depth.
  static func expectOneDepth(_ root: Ref, _ access: borrowing NodeAccess) throws {
    var floor = root.isNull ? [] : [root]
    while floor.contains(where: \.isBranch) {
      let areAllBranches = floor.allSatisfy(\.isBranch)
      #expect(areAllBranches)
      var below: [Ref] = []
      for branch in floor where branch.isBranch { below += try access.children(of: branch) }
      floor = below
    }
  }

  /// Expects that no node of a tree exceeds the limits of the shape.
  static func expectLimits(_ root: Ref, _ shape: TreeShape, _ access: borrowing NodeAccess) throws {
    for ref in try all(root, access) {
      if ref.isBranch {
        let count = BranchNode(try access.node(ref)).count
        #expect(count <= shape.fanOut)
        #expect(count < 4 || content(ref) <= shape.branchBytes)
      } else if ref.rawKind == NodeKind.leaf.rawValue {
        let count = try OrderedTree.leaf(ref, access).count
        #expect(count == 1 || content(ref) <= shape.leafBytes)
      }
    }
  }

  /// The average fill of the leaves of a tree without the last leaf, from 0 to 1.
  static func averageFill(_ root: Ref, _ shape: TreeShape, _ access: borrowing NodeAccess) throws -> Double {
    let leaves = try all(root, access).filter { $0.rawKind == NodeKind.leaf.rawValue }.dropLast()
    let bytes = leaves.reduce(0) { $0 + content($1) }
    return Double(bytes) / Double(max(leaves.count, 1) * shape.leafBytes)
  }
}

/// A tree, and the dictionary it must agree with.
struct ModelledTree {
  private struct Value {
    var bytes: [UInt8]
    var long: [UInt8]?
    var ref: Ref?
  }

  private let editor: NodeEditor
  private let shape: TreeShape
  private(set) var root = Ref.null
  private var content: [[UInt8]: Value] = [:]
  /// The keys in an order that is the same in every run.
  private var keys: [[UInt8]] = []

  init(_ editor: NodeEditor, shape: TreeShape = .tiny) {
    self.editor = editor
    self.shape = shape
  }

  /// A tree of random entries, built at once.
  init(
    _ editor: NodeEditor, shape: TreeShape = .tiny, building count: Int, _ generator: inout SeededGenerator
  ) throws {
    self.init(editor, shape: shape)
    var builder = TreeBuilder(shape: shape, editor: editor)
    keys = TestKeys.sorted(count, &generator)
    for key in keys {
      let value = newValue(&generator)
      content[key] = value
      try builder.append(key: key.span.bytes, value: TreeValue(bytes: value.bytes.span.bytes, ref: value.ref))
    }
    root = try builder.finish()
  }

  var count: Int { keys.count }
  var isEmpty: Bool { keys.isEmpty }

  // MARK: - Changes

  mutating func setOne(_ generator: inout SeededGenerator) throws {
    let isOld = !keys.isEmpty && generator.chance(20)
    let key = isOld ? keys[generator.below(keys.count)] : TestKeys.random(&generator)
    let value = newValue(&generator)
    try set(key, value)
  }

  mutating func set(_ bytes: [UInt8], for key: [UInt8]) throws {
    try set(key, Value(bytes: bytes, long: nil, ref: nil))
  }

  mutating func removeOne(_ generator: inout SeededGenerator) throws {
    let index = generator.below(keys.count)
    let key = keys[index]
    keys.swapAt(index, keys.count - 1)
    keys.removeLast()
    root = try OrderedTree.remove(key.span.bytes, from: root, shape: shape, editor: editor)
    if let ref = content.removeValue(forKey: key)?.ref { try editor.freeTree(ref) }
  }

  /// Removes a key that does not exist.
  mutating func removeNone(_ generator: inout SeededGenerator) throws {
    let key = TestKeys.random(&generator)
    guard content[key] == nil else { return }
    let before = root
    root = try OrderedTree.remove(key.span.bytes, from: root, shape: shape, editor: editor)
    #expect(root == before)
  }

  private mutating func set(_ key: [UInt8], _ value: Value) throws {
    root = try OrderedTree.set(
      TreeValue(bytes: value.bytes.span.bytes, ref: value.ref), for: key.span.bytes, in: root, shape: shape,
      editor: editor)
    guard let old = content.updateValue(value, forKey: key) else {
      keys.append(key)
      return
    }
    if let ref = old.ref { try editor.freeTree(ref) }
  }

  private func newValue(_ generator: inout SeededGenerator) -> Value {
    let bytes = generator.bytes(generator.below(61))
    guard generator.chance(15) else { return Value(bytes: bytes, long: nil, ref: nil) }
    let long = generator.bytes(generator.below(200))
    return Value(bytes: bytes, long: long, ref: LongValue.write(long.span.bytes, editor: editor))
  }

  // MARK: - What must hold

  /// Compares the results of all reads of the tree with the expected content.
  func verify(_ generator: inout SeededGenerator) throws {
    let expected = content.map { TreeEntry(key: $0.key, bytes: $0.value.bytes, ref: $0.value.ref) }
      .sorted { $0.key.lexicographicallyPrecedes($1.key) }
    let access = editor.access()
    let found = try TreeNodes.entries(root, access)
    #expect(found == expected)
    let backwards = try backwardEntries(access)
    let reversed: [TreeEntry] = expected.reversed()
    #expect(backwards == reversed)
    let count = try OrderedTree.count(root, access)
    #expect(count == UInt64(expected.count))
    let checked = try OrderedTree.check(root, EditorReader(editor)) { _, _ in }
    #expect(checked == count)
    try TreeNodes.expectOneDepth(root, access)
    try verifyLongValues(access)
    try verifyMemory(access)
    for position in [0, 1, expected.count / 2, expected.count - 1, expected.count, expected.count + 9]
    where position >= 0 {
      var cursor = TreeCursor(root)
      try cursor.seek(position: UInt64(position), access)
      try verify(cursor, standsAt: position, of: expected, access)
    }
    for _ in 0..<8 {
      try verifyLookUp(TestKeys.random(&generator), expected, access)
      guard !expected.isEmpty else { continue }
      let entry = expected[generator.below(expected.count)]
      try verifyLookUp(entry.key, expected, access)
      try verifyLookUp(entry.key + [0], expected, access)
      try verifyLookUp(Array(entry.key.dropLast()), expected, access)
    }
  }

  private func backwardEntries(_ access: borrowing NodeAccess) throws -> [TreeEntry] {
    var entries: [TreeEntry] = []
    var cursor = TreeCursor(root)
    try cursor.seekLast(access)
    while cursor.isValid {
      entries.append(try cursor.entry(access))
      try cursor.previous(access)
    }
    return entries
  }

  private func verifyLongValues(_ access: borrowing NodeAccess) throws {
    for value in content.values {
      guard let long = value.long, let ref = value.ref else { continue }
      let found = try LongValue.read(ref, access)
      #expect(found == long)
    }
  }

  /// Expects that the live nodes of the arena are just those of the tree, so that none was forgotten or freed too
  /// early.
  private func verifyMemory(_ access: borrowing NodeAccess) throws {
    let nodes = try TreeNodes.all(root, access)
    let bytes = nodes.reduce(0) { $0 + ($1.length + Ref.unit - 1) / Ref.unit * Ref.unit }
    let alive = editor.arena.liveBytes
    #expect(bytes == alive)
    let places = Set(nodes.map(\.unit)).count
    #expect(places == nodes.count)
  }

  private func verifyLookUp(_ key: [UInt8], _ expected: [TreeEntry], _ access: borrowing NodeAccess) throws {
    let position = expected.firstIndex { !$0.key.lexicographicallyPrecedes(key) } ?? expected.count
    let isThere = position < expected.count && expected[position].key == key
    let wanted: TreeEntry? = isThere ? expected[position] : nil
    let found = try OrderedTree.find(key.span.bytes, in: root, access) { (value) throws(StorageError) in
      TreeEntry(key: key, bytes: value.bytes.array, ref: value.ref)
    }
    #expect(found == wanted)
    let rank = try OrderedTree.rank(key.span.bytes, in: root, access)
    #expect(rank == UInt64(position))
    var cursor = TreeCursor(root)
    try cursor.seek(key.span.bytes, access)
    try verify(cursor, standsAt: position, of: expected, access)
  }

  /// Expects that the cursor stands at the position, and that a step back and a step forward lead to it again.
  private func verify(
    _ start: TreeCursor, standsAt position: Int, of expected: [TreeEntry], _ access: borrowing NodeAccess
  ) throws {
    var cursor = start
    guard position < expected.count else {
      #expect(!cursor.isValid)
      return
    }
    try #require(cursor.isValid)
    let entry = try cursor.entry(access)
    #expect(entry == expected[position])
    try cursor.previous(access)
    guard position > 0 else {
      #expect(!cursor.isValid)
      return
    }
    try #require(cursor.isValid)
    let before = try cursor.entry(access)
    #expect(before == expected[position - 1])
    try cursor.next(access)
    try #require(cursor.isValid)
    let again = try cursor.entry(access)
    #expect(again == expected[position])
  }
}

/// Reads the nodes that an editor has made.
final class EditorReader: NodeReader {
  private let editor: NodeEditor
  let root = Ref.null

  init(_ editor: NodeEditor) { self.editor = editor }

  @_lifetime(borrow self)
  func access() -> NodeAccess { _overrideLifetime(editor.access(), borrowing: self) }
}
