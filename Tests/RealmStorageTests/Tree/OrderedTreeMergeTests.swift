import RealmTestSupport
import Testing

@testable import RealmStorage

@Suite struct OrderedTreeMergeTests {
  @Test(arguments: 0..<12)
  func `a tree into which keys are merged agrees with a dictionary`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let fixture = try TreeFixture(key: seed % 6 == 5 ? [UInt8](repeating: 1, count: 64) : nil)
    let (editor, shape) = (fixture.editor, seed % 2 == 0 ? TreeShape.tiny : .small)
    let keys = Keys(&generator)
    var (root, model): (Ref, [[UInt8]: TreeEntry]) = (.null, [:])
    for _ in 0..<25 {
      // Few keys are inserted into leaves as they are. Many keys make the leaves anew.
      let added = (0..<1 + generator.below(generator.chance(70) ? 8 : 400)).map { _ in keys.next(&generator) }
      root = try merge(added, root, shape, editor)
      for key in added { model[key, default: TreeEntry(key: key, bytes: [], ref: nil)].add() }
      if generator.chance(20) { root = try nameRef(root, &model, shape, editor, &generator) }
      try expect(root, model, shape, editor)
    }
  }

  @Test func `a key that would shorten the common prefix of many keys leaves their leaf dense`() throws {
    let fixture = try TreeFixture()
    let (editor, shape) = (fixture.editor, TreeShape.small)
    let alike = (0..<40).map { [UInt8](repeating: 7, count: 40) + [UInt8($0)] }
    let built = try merge(alike, .null, shape, editor)
    let before = try TreeNodes.all(built, editor.access()).reduce(0) { $0 + $1.length }
    let root = try merge([[1]], built, shape, editor)
    let after = try TreeNodes.all(root, editor.access()).reduce(0) { $0 + $1.length }
    // In a leaf with the new key the others would take forty bytes more each.
    #expect(after < before + 500, "\(before) bytes became \(after)")
    #expect(try TreeNodes.entries(root, editor.access()).count == 41)
  }

  @Test(arguments: 0..<6)
  func `a merge frees just the nodes that the new tree lacks, and older versions keep their content`(
    seed: UInt64
  ) throws {
    var generator = SeededGenerator(seed: seed)
    let database = try Database(inMemory: "test")
    let keys = Keys(&generator)
    var model: [[UInt8]: [UInt8]] = [:]
    var kept: [(snapshot: Snapshot, content: [[UInt8]: [UInt8]])] = []
    for _ in 0..<20 {
      let transaction = try database.beginWrite()
      let tree = try ShapedTree("a", of: transaction, shape: .tiny)
      let before = Set(try TreeNodes.all(tree.root, transaction.access()))
      let added = (0..<1 + generator.below(generator.chance(80) ? 8 : 100)).map { _ in keys.next(&generator) }
      tree.setRoot(try merge(added, tree.root, .tiny, transaction.editor))
      for key in added { model[key, default: []].append(1) }
      let after = Set(try TreeNodes.all(tree.root, transaction.access()))
      let (freed, gone) = (transaction.editor.freed, before.subtracting(after))
      #expect(Set(freed) == gone)
      #expect(freed.count == gone.count)
      try transaction.commit(.relaxed)
      if generator.chance(40) { try kept.append((database.snapshot(), model)) }
      for version in kept {
        var found: [[UInt8]: [UInt8]] = [:]
        try version.snapshot.tree("a").forEach { key, value in
          found[key] = value
          return true
        }
        #expect(found == version.content)
      }
    }
    let findings = IntegrityCheck.run(try database.snapshot()).findings
    #expect(findings == [])
  }

  @Test func `forged counts whose sum overflows cause no trap`() throws {
    let fixture = try TreeFixture()
    let editor = fixture.editor
    let keys = (0..<200).map { TestKeys.number($0) }
    var root = try merge(keys, .null, .tiny, editor)
    for node in try TreeNodes.all(root, editor.access()) where node.isBranch {
      for child in try editor.access().children(of: node).indices {
        editor.arena.edit(node) { $0.store(UInt64(1) << 63, at: 8 * child) }
      }
    }
    for round in 0..<3 {
      root = try merge([keys[20 * round]], root, .tiny, editor)
      let (key, value) = (keys[199], keys[0])
      root = try OrderedTree.set(
        TreeValue(bytes: value.span.bytes), for: key.span.bytes, in: root, shape: .tiny, editor: editor)
    }
    #expect(try TreeNodes.entries(root, editor.access()).count == 200)
  }

  @Test func `a key that is too long is refused`() throws {
    let fixture = try TreeFixture()
    let root = try merge([[1], [3]], .null, .small, fixture.editor)
    let long = [UInt8](repeating: 2, count: OrderedTree.maximumKeyLength + 1)
    for start in [root, .null] {
      let error = #expect(throws: StorageError.self) {
        _ = try merge([[2], long], start, .small, fixture.editor)
      }
      guard case .limitExceeded = error else {
        Issue.record("refused for another reason: \(error as Any)")
        continue
      }
    }
    #expect(try TreeNodes.entries(root, fixture.editor.access()).count == 2)
  }

  /// Keys that begin alike, of one length or several.
  private struct Keys {
    let prefix: [UInt8]
    let length: Int?

    init(_ generator: inout SeededGenerator) {
      prefix = generator.bytes(generator.below(3) * 9)
      length = generator.chance(50) ? 2 + generator.below(16) : nil
    }

    func next(_ generator: inout SeededGenerator) -> [UInt8] {
      if generator.chance(2) { return generator.bytes(generator.below(4)) }
      return prefix + generator.bytes(length ?? generator.below(20))
    }
  }

  /// Merges the keys. The value of a key has one byte for each time it was merged.
  private func merge(_ keys: [[UInt8]], _ root: Ref, _ shape: TreeShape, _ editor: NodeEditor) throws -> Ref {
    var run = SortedKeys(count: keys.count, bytes: 0)
    for key in keys.sorted(by: { $0.lexicographicallyPrecedes($1) }) { run.append(key.span.bytes) }
    return try OrderedTree.merge(run, into: root, shape: shape, editor: editor) { old, repeats in
      (old ?? []) + [UInt8](repeating: 1, count: repeats)
    }
  }

  /// Gives one key a value that names a node. The value stays until the key is merged again.
  private func nameRef(
    _ root: Ref, _ model: inout [[UInt8]: TreeEntry], _ shape: TreeShape, _ editor: NodeEditor,
    _ generator: inout SeededGenerator
  ) throws -> Ref {
    let key = model.keys.sorted { $0.lexicographicallyPrecedes($1) }[generator.below(model.count)]
    let bytes = generator.bytes(3)
    let named = try merge([[1]], .null, .tiny, editor)
    model[key] = TreeEntry(key: key, bytes: bytes, ref: named)
    return try OrderedTree.set(
      TreeValue(bytes: bytes.span.bytes, ref: named), for: key.span.bytes, in: root, shape: shape,
      editor: editor)
  }

  private func expect(
    _ root: Ref, _ model: [[UInt8]: TreeEntry], _ shape: TreeShape, _ editor: NodeEditor
  ) throws {
    let access = editor.access()
    let entries = try TreeNodes.entries(root, access)
    #expect(entries == model.values.sorted { $0.key.lexicographicallyPrecedes($1.key) })
    let counted = try OrderedTree.check(root, EditorReader(editor)) { _, _ in }
    #expect(counted == UInt64(model.count))
    try TreeNodes.expectLimits(root, shape, access)
    try TreeNodes.expectOneDepth(root, access)
  }
}

extension TreeEntry {
  /// Notes that the key was merged once more.
  fileprivate mutating func add() {
    bytes.append(1)
    ref = nil
  }
}
