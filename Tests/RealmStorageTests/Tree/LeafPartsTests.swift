import RealmTestSupport
import Testing

@testable import RealmStorage

/// Compares leaves made of parts of other leaves with leaves built of the same entries one by one.
@Suite struct LeafPartsTests {
  private static let whole = TreeShape(leafBytes: 1 << 15, branchBytes: 1 << 15, fanOut: 64)

  @Test(arguments: 0..<40)
  func `a leaf with an entry added, replaced or removed equals a leaf built of the same entries`(seed: UInt64)
    throws
  {
    var generator = SeededGenerator(seed: seed)
    let fixture = try TreeFixture(key: seed % 4 == 3 ? [UInt8](repeating: 1, count: 64) : nil)
    let editor = fixture.editor
    for _ in 0..<30 {
      let kind = Kind(&generator)
      let entries = try kind.entries(1 + generator.below(60), fixture, &generator)
      let new = try kind.entries(1, fixture, &generator)[0]
      let access = editor.access()
      let leaf = try OrderedTree.leaf(try build(entries, editor), access)
      let (index, found) = leaf.search(new.key.span.bytes)
      var changed = entries
      changed.replaceSubrange(index..<index + (found ? 1 : 0), with: [new])
      let parts = LeafParts(
        leaf, replacing: index..<index + (found ? 1 : 0), key: new.key.span.bytes,
        value: TreeValue(bytes: new.bytes.span.bytes, ref: new.ref))
      try expect(parts, changed, fixture, &generator)

      let removed = generator.below(entries.count)
      changed = entries
      changed.remove(at: removed)
      try expect(LeafParts(leaf, removing: removed..<removed + 1), changed, fixture, &generator)
    }
  }

  @Test(arguments: 0..<20)
  func `two joined leaves equal a leaf that is built of all their entries`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let fixture = try TreeFixture()
    let editor = fixture.editor
    for _ in 0..<30 {
      let kind = Kind(&generator)
      let entries = try kind.entries(2 + generator.below(60), fixture, &generator)
      guard entries.count > 1 else { continue }
      let middle = 1 + generator.below(entries.count - 1)
      let access = editor.access()
      let left = try OrderedTree.leaf(try build(Array(entries[..<middle]), editor), access)
      let right = try OrderedTree.leaf(try build(Array(entries[middle...]), editor), access)
      let parts = LeafParts(left, right)
      let (isInOrder, isReversed) = (parts.isInOrder, !LeafParts(right, left).isInOrder)
      #expect(isInOrder && isReversed)
      try expect(parts, entries, fixture, &generator)
    }
  }

  /// The properties that the entries of a leaf share.
  private struct Kind {
    let prefix: [UInt8]
    let keyLength: Int?
    let valueLength: Int?
    /// The percentage of values that name a ref.
    let refs: Int

    init(_ generator: inout SeededGenerator) {
      prefix = generator.bytes(generator.below(3) * 11)
      keyLength = generator.chance(50) ? 1 + generator.below(20) : nil
      valueLength = generator.chance(50) ? generator.below(9) : nil
      refs = generator.chance(70) ? 0 : 30
    }

    /// Some entries that begin alike, in ascending order.
    func entries(
      _ count: Int, _ fixture: TreeFixture, _ generator: inout SeededGenerator
    ) throws -> [TreeEntry] {
      var keys: Set<[UInt8]> = []
      for _ in 0..<count {
        // Most bytes are 0 or 1. So some keys begin alike for long, and some are the beginning of others.
        let length = keyLength ?? generator.below(30)
        keys.insert(
          prefix
            + (0..<length).map { _ in UInt8(generator.chance(90) ? generator.below(2) : generator.below(256))
            })
      }
      return try keys.sorted { $0.lexicographicallyPrecedes($1) }.map { key in
        let bytes = generator.bytes(valueLength ?? generator.below(20))
        let ref = generator.chance(refs) ? try Self.node(fixture, &generator) : nil
        return TreeEntry(key: key, bytes: bytes, ref: ref)
      }
    }

    /// A node that a value may name: a leaf, or a tree of several leaves.
    private static func node(_ fixture: TreeFixture, _ generator: inout SeededGenerator) throws -> Ref {
      var builder = TreeBuilder(shape: .tiny, editor: fixture.editor)
      for number in 0..<(generator.chance(80) ? 1 : 100) {
        try builder.append(key: TestKeys.number(number).span.bytes, value: TreeValue(bytes: RawSpan()))
      }
      return try builder.finish()
    }
  }

  private func build(_ entries: [TreeEntry], _ editor: NodeEditor) throws -> Ref {
    var builder = TreeBuilder(shape: Self.whole, editor: editor)
    for entry in entries {
      try builder.append(
        key: entry.key.span.bytes, value: TreeValue(bytes: entry.bytes.span.bytes, ref: entry.ref))
    }
    let leaves = builder.finishLeaves()
    // The builder ends a leaf early if many keys begin alike. Here all entries must be in one leaf, so the leaves are
    // joined.
    guard leaves.count > 1 else { return leaves[0].ref }
    let access = editor.access()
    var joined = leaves[0].ref
    for leaf in leaves.dropFirst() {
      let parts = LeafParts(try OrderedTree.leaf(joined, access), try OrderedTree.leaf(leaf.ref, access))
      joined = parts.makeLeaves(limit: Self.whole.leafBytes, editor: editor).all[0].ref
    }
    return joined
  }

  /// Makes one leaf of the parts, then several leaves, and compares both with `entries`.
  private func expect(
    _ parts: borrowing LeafParts, _ entries: [TreeEntry], _ fixture: TreeFixture,
    _ generator: inout SeededGenerator
  ) throws {
    let editor = fixture.editor
    let access = editor.access()
    let count = parts.count
    #expect(count == entries.count)
    let one = parts.makeLeaves(limit: Self.whole.leafBytes, editor: editor).all
    guard !entries.isEmpty else {
      #expect(one.isEmpty)
      return
    }
    try #require(one.count == 1)
    let made = try content(one[0].ref, access)
    let built = try content(try build(entries, editor), access)
    #expect(made == built)
    let length = parts.totalLength
    // The length of a node is in units of 8 bytes.
    #expect((length + 7) / 8 * 8 == made.body.count)

    let limit = 60 + generator.below(200)
    let several = parts.makeLeaves(limit: limit, editor: editor).all
    var next = 0
    for (index, child) in several.enumerated() {
      let leaf = try OrderedTree.leaf(child.ref, access)
      let (isValid, count) = (LeafNode.isValid(leaf.view), leaf.count)
      let length = leaf.view.bodyLength + leaf.view.refCount * editor.store.refWidth.bytes
      #expect(isValid && count == Int(child.count))
      #expect(count == 1 || length < limit + 8)
      for place in 0..<leaf.count {
        let value = leaf.value(place)
        let entry = TreeEntry(key: leaf.key(place), bytes: value.bytes.array, ref: value.ref)
        #expect(entry == entries[next])
        if place == 0, index > 0 {
          let separator = child.separator
          #expect(separator == Array(entry.key.prefix(separator.count)))
          #expect(entries[next - 1].key.lexicographicallyPrecedes(separator))
        }
        next += 1
      }
    }
    #expect(next == entries.count)
  }

  private struct Content: Equatable {
    var body: [UInt8]
    var refs: [Ref]
  }

  private func content(_ ref: Ref, _ access: borrowing NodeAccess) throws -> Content {
    let view = try access.node(ref)
    var refs: [Ref] = []
    for place in 0..<view.refCount { refs.append(view.ref(place)) }
    return Content(body: view.bytes(at: 0, count: view.bodyLength).array, refs: refs)
  }
}
