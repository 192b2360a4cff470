import RealmTestSupport
import Testing

@testable import RealmStorage

@Suite struct LeafDirectoryTests {
  private static func tree(_ keys: [UInt64], _ editor: NodeEditor) throws -> Ref {
    var leaves: [KeyedChild] = []
    for key in keys {
      let arena = editor.arena
      let leaf = arena.make(kind: .chunk, level: 0, refCount: 0, bodyLength: 8)
      leaves.append(KeyedChild(leastKey: key, rows: 1, ref: leaf.ref))
    }
    return try KeyedTree.append(leaves, to: .null, editor: editor)
  }

  /// Looks up as many keys as must be looked up before a directory is made, and then as many again.
  private static func compare(_ keys: [UInt64], in root: Ref, _ editor: NodeEditor) throws {
    var generator = SeededGenerator(seed: UInt64(keys.count))
    let lookup = LeafDirectory.Lookup(root, leaves: keys.count)
    let access = editor.access()
    for _ in 0..<2 * max(keys.count, 100) {
      let near = keys[generator.below(keys.count)] &+ UInt64(generator.below(3)) &- 1
      let key = generator.chance(80) ? near : generator.next()
      let found = try lookup.leafAndRange(for: key, access)
      let expected = try KeyedTree.leafAndRange(for: key, in: root, access)
      #expect(found.ref == expected.ref)
      #expect(found.next == expected.next)
      if key >= keys[1] { #expect(found.least == expected.least) }
    }
  }

  @Test(arguments: [2, 3, 64, 65, 700, 5000], [false, true])
  func `a directory of leaves finds the same leaves as the branches`(count: Int, isEven: Bool) throws {
    let fixture = try TreeFixture()
    defer { fixture.transaction.cancel() }
    var generator = SeededGenerator(seed: UInt64(count))
    var keys: Set<UInt64> = isEven ? [] : [0, .max]
    while keys.count < count { keys.insert(isEven ? UInt64(keys.count) * 500 : generator.next()) }
    let root = try Self.tree(keys.sorted(), fixture.editor)
    try Self.compare(keys.sorted(), in: root, fixture.editor)
  }

  @Test func `a forged tree whose keys do not ascend gets no directory`() throws {
    let fixture = try TreeFixture()
    defer { fixture.transaction.cancel() }
    let keys = Array(0..<UInt64(KeyedTree.fanOut)) + Array(5..<UInt64(KeyedTree.fanOut))
    let root = try Self.tree(keys, fixture.editor)
    try Self.compare(keys, in: root, fixture.editor)
  }
}
