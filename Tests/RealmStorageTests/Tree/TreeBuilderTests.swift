import RealmTestSupport
import Testing

@testable import RealmStorage

@Suite struct TreeBuilderTests {
  @Test(arguments: Array(0...52) + [100, 257, 500])
  func `a tree built at once has the same entries as one made by insertions`(count: Int) throws {
    var generator = SeededGenerator(seed: UInt64(count))
    let fixture = try TreeFixture()
    let editor = fixture.editor
    let keys = TestKeys.sorted(count, &generator)
    let entries = keys.map { TreeEntry(key: $0, bytes: generator.bytes(generator.below(61)), ref: nil) }
    let built = try build(entries, .tiny, editor)
    var inserted = Ref.null
    for entry in entries.shuffled(using: &generator) {
      inserted = try OrderedTree.set(
        TreeValue(bytes: entry.bytes.span.bytes), for: entry.key.span.bytes, in: inserted, shape: .tiny,
        editor: editor)
    }
    let access = editor.access()
    let (inBuilt, inInserted) = (
      try TreeNodes.entries(built, access), try TreeNodes.entries(inserted, access)
    )
    #expect(inBuilt == entries)
    #expect(inInserted == entries)
    let checked = try OrderedTree.check(built, EditorReader(editor)) { _, _ in }
    #expect(checked == UInt64(count))
    let counted = try OrderedTree.count(built, access)
    #expect(counted == UInt64(count))
    #expect(built.isNull == (count == 0))
    try TreeNodes.expectLimits(built, .tiny, access)
    try TreeNodes.expectOneDepth(built, access)
    try expectTwoChildren(built, access)
  }

  @Test(arguments: 0..<12)
  func `a builder that gets many keys at a time makes a tree of all keys`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let fixture = try TreeFixture()
    let (editor, shape) = (fixture.editor, seed % 2 == 0 ? TreeShape.tiny : .small)
    // Some keys begin alike and have one length, and others do not.
    var keys = TestKeys.sorted(generator.below(300), &generator)
    for group in 0..<UInt8(generator.below(6)) {
      let count = generator.below(700)
      keys += (0..<count).map { [0xfd, group] + [UInt8($0 >> 8), UInt8($0 & 0xff)] }
    }
    keys.sort { $0.lexicographicallyPrecedes($1) }
    var builder = TreeBuilder(shape: shape, editor: editor)
    var next = 0
    while next < keys.count {
      let some = keys[next..<min(next + 1 + generator.below(400), keys.count)]
      next = some.endIndex
      guard generator.chance(80) else {
        for key in some { try builder.append(key: key.span.bytes, value: TreeValue(bytes: RawSpan())) }
        continue
      }
      var (bytes, ends): ([UInt8], [Int]) = ([], [])
      for key in some {
        bytes += key
        ends.append(bytes.count)
      }
      builder.append(keys: bytes.span.bytes, ends: ends)
    }
    let built = try builder.finish()
    let access = editor.access()
    let found = try TreeNodes.entries(built, access)
    #expect(found == keys.map { TreeEntry(key: $0, bytes: [], ref: nil) }, "seed \(seed)")
    let checked = try OrderedTree.check(built, EditorReader(editor)) { _, _ in }
    #expect(checked == UInt64(keys.count), "seed \(seed)")
    try TreeNodes.expectLimits(built, shape, access)
    try TreeNodes.expectOneDepth(built, access)
  }

  @Test(arguments: 0..<8, [nil, Keys.first])
  func `a tree built at once can be changed like any other tree`(seed: UInt64, key: [UInt8]?) throws {
    var generator = SeededGenerator(seed: seed)
    let fixture = try TreeFixture(key: key)
    let count = generator.below(120)
    var tree = try ModelledTree(fixture.editor, building: count, &generator)
    try tree.verify(&generator)
    for _ in 0..<60 {
      if !tree.isEmpty, generator.chance(60) {
        try tree.removeOne(&generator)
      } else {
        try tree.setOne(&generator)
      }
    }
    try tree.verify(&generator)
    while !tree.isEmpty { try tree.removeOne(&generator) }
    let (root, alive) = (tree.root, fixture.editor.arena.liveBytes)
    #expect(root == Ref.null)
    #expect(alive == 0)
  }

  @Test(arguments: [nil, Keys.first])
  func `leaves that name many long values are no longer than other leaves`(key: [UInt8]?) throws {
    var generator = SeededGenerator(seed: 1)
    let fixture = try TreeFixture(key: key)
    let editor = fixture.editor
    let keys = TestKeys.sorted(120, &generator)
    let entries = keys.map { key in
      TreeEntry(key: key, bytes: [1, 2], ref: LongValue.write(key.span.bytes, editor: editor))
    }
    let built = try build(entries, .tiny, editor)
    let access = editor.access()
    let found = try TreeNodes.entries(built, access)
    #expect(found == entries)
    try TreeNodes.expectLimits(built, .tiny, access)
  }

  @Test(arguments: 0..<30, [nil, Keys.first])
  func `a tree that loses some keys equals the tree built of the remaining keys`(seed: UInt64, key: [UInt8]?)
    throws
  {
    var generator = SeededGenerator(seed: seed)
    let fixture = try TreeFixture(key: key)
    let editor = fixture.editor
    // With odd seeds the keys have one length, so that leaves need no table of ends.
    let keys =
      seed % 2 == 0
      ? TestKeys.sorted(1 + generator.below(300), &generator)
      : (0..<generator.below(900)).map { TestKeys.number($0 * 7) }
    let share = generator.below(101)
    let kept = Set(keys.filter { _ in generator.chance(share) })
    let entries = keys.map { TreeEntry(key: $0, bytes: [], ref: nil) }
    let built = try build(entries, .tiny, editor)
    let left = try OrderedTree.filter(built, shape: .tiny, editor: editor) { (leaf, places) in
      for place in 0..<leaf.count where kept.contains(leaf.key(place)) { places.append(UInt16(place)) }
    }
    let expected = entries.filter { kept.contains($0.key) }
    let access = editor.access()
    let found = try TreeNodes.entries(left, access)
    #expect(found == expected)
    let checked = try OrderedTree.check(left, EditorReader(editor)) { _, _ in }
    #expect(checked == UInt64(expected.count))
    try TreeNodes.expectLimits(left, .tiny, access)
    try TreeNodes.expectOneDepth(left, access)
    // Each leaf has the length that a new build gives.
    let again = try build(expected, .tiny, editor)
    let (lengths, others) = (try leafLengths(left, access), try leafLengths(again, access))
    #expect(lengths == others)
  }

  private func leafLengths(_ root: Ref, _ access: borrowing NodeAccess) throws -> [Int] {
    root.isNull ? [] : try TreeNodes.all(root, access).filter { !$0.isBranch }.map { $0.length }
  }

  @Test func `leaves of a tree built at once are nearly full`() throws {
    var generator = SeededGenerator(seed: 1)
    let shape = TreeShape(leafBytes: 1000, branchBytes: 1000, fanOut: 16)
    let fixture = try TreeFixture()
    // The keys have nothing in common and different lengths, so the size of a leaf is the sum of its entries.
    let keys = (0..<800).map { (number: Int) -> [UInt8] in
      [UInt8(truncatingIfNeeded: number * 7), UInt8(number / 256)] + generator.bytes(6 + generator.below(4))
    }
    let entries = Set(keys).sorted { $0.lexicographicallyPrecedes($1) }
      .map { TreeEntry(key: $0, bytes: generator.bytes(4 + generator.below(10)), ref: nil) }
    let built = try build(entries, shape, fixture.editor)
    let fill = try TreeNodes.averageFill(built, shape, fixture.editor.access())
    #expect(fill > 0.8)
  }

  /// The keys are like those in an index with many rows for each value. The keys of rows have one, two or three bytes.
  @Test(arguments: [(400, 3.7), (1000, 4.4)])
  func `many keys that begin alike take little more space than the bytes that differ`(
    values: Int, most: Double
  ) throws {
    let fixture = try TreeFixture()
    let keys = (0..<values).flatMap { (value: Int) -> [[UInt8]] in
      let name = Array("value number \(value * value)".utf8) + [0, 0]
      return stride(from: value, to: 200_000, by: values).map { row in
        let bytes = [UInt8(row >> 16), UInt8(row >> 8 & 255), UInt8(row & 255)].drop { $0 == 0 }
        let digits = bytes.isEmpty ? [0] : Array(bytes)
        return name + [UInt8(digits.count)] + digits
      }
    }.sorted { $0.lexicographicallyPrecedes($1) }
    let entries = keys.map { TreeEntry(key: $0, bytes: [], ref: nil) }
    let built = try build(entries, .small, fixture.editor)
    let access = fixture.editor.access()
    let found = try TreeNodes.entries(built, access)
    #expect(found == entries)
    let leaves = try TreeNodes.all(built, access).filter { !$0.isBranch }
    let bytes = leaves.reduce(0) { $0 + $1.length }
    // Each key takes two or three bytes, and a part of the rest of its leaf.
    #expect(Double(bytes) < most * Double(keys.count))
    #expect(leaves.count < keys.count / 100)
  }

  @Test func `a key that is too long is refused`() throws {
    let fixture = try TreeFixture()
    let editor = fixture.editor
    let key = [UInt8](repeating: 1, count: 1025)
    let refusal = StorageError.limitExceeded(.keyLength(1025, maximum: 1024), path: "tree")
    #expect(throws: refusal) {
      var builder = TreeBuilder(shape: .tiny, editor: editor)
      try builder.append(key: key.span.bytes, value: TreeValue(bytes: key.span.bytes))
    }
  }

  private func build(_ entries: [TreeEntry], _ shape: TreeShape, _ editor: NodeEditor) throws -> Ref {
    var builder = TreeBuilder(shape: shape, editor: editor)
    for entry in entries {
      try builder.append(
        key: entry.key.span.bytes, value: TreeValue(bytes: entry.bytes.span.bytes, ref: entry.ref))
    }
    return try builder.finish()
  }

  private func expectTwoChildren(_ root: Ref, _ access: borrowing NodeAccess) throws {
    for ref in try TreeNodes.all(root, access) where ref.isBranch {
      let count = BranchNode(try access.node(ref)).count
      #expect(count >= 2)
    }
  }
}
