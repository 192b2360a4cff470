import RealmTestSupport
import Testing

@testable import RealmStorage

@Suite struct OrderedTreeTests {
  @Test(arguments: 0..<6, [nil, Keys.first])
  func `random changes agree with a dictionary`(seed: UInt64, key: [UInt8]?) throws {
    var generator = SeededGenerator(seed: seed)
    let fixture = try TreeFixture(key: key)
    var tree = ModelledTree(fixture.editor)
    for step in 0..<360 {
      // The tree grows, shrinks and grows again, so that splits and merges occur at all heights.
      let removals = step % 180 < 120 ? 20 : 80
      if !tree.isEmpty, generator.chance(removals) {
        try tree.removeOne(&generator)
      } else {
        try tree.setOne(&generator)
      }
      if generator.chance(5) { try tree.removeNone(&generator) }
      guard step % 40 == 39 else { continue }
      try tree.verify(&generator)
      try TreeNodes.expectLimits(tree.root, .tiny, fixture.editor.access())
    }
    while !tree.isEmpty { try tree.removeOne(&generator) }
    try tree.verify(&generator)
    let (root, alive) = (tree.root, fixture.editor.arena.liveBytes)
    #expect(root == Ref.null)
    #expect(alive == 0)
  }

  @Test(arguments: 0..<4)
  func `keys that come in order or backwards agree with a dictionary too`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let fixture = try TreeFixture()
    var tree = ModelledTree(fixture.editor)
    for number in 0..<150 {
      let isBackwards = seed % 2 == 1
      let key = TestKeys.number(isBackwards ? 100_000 - 7 * number : 7 * number)
      try tree.set(generator.bytes(generator.below(20)), for: key)
    }
    try tree.verify(&generator)
    try TreeNodes.expectLimits(tree.root, .tiny, fixture.editor.access())
    while !tree.isEmpty { try tree.removeOne(&generator) }
    #expect(tree.root == Ref.null)
  }

  @Test(arguments: 0..<4)
  func `no branch is left with a single child`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let fixture = try TreeFixture()
    var tree = ModelledTree(fixture.editor)
    for number in 0..<150 { try tree.set(generator.bytes(12), for: TestKeys.number(number * 3)) }
    var single = 0
    while !tree.isEmpty, single == 0 {
      try tree.removeOne(&generator)
      let access = fixture.editor.access()
      for ref in try TreeNodes.all(tree.root, access) where ref.isBranch {
        let count = BranchNode(try access.node(ref)).count
        if count < 2 { single += 1 }
      }
    }
    #expect(single == 0, "with \(tree.count) entries left")
  }

  @Test(arguments: [200, 1000])
  func `keys appended in order leave full leaves`(leafBytes: Int) throws {
    let shape = TreeShape(leafBytes: leafBytes, branchBytes: 2 * leafBytes, fanOut: 16)
    let fixture = try TreeFixture()
    var tree = ModelledTree(fixture.editor, shape: shape)
    for number in 0..<700 { try tree.set([UInt8](repeating: 1, count: 12), for: TestKeys.number(number)) }
    let fill = try TreeNodes.averageFill(tree.root, shape, fixture.editor.access())
    #expect(fill > 0.8)
    let count = try OrderedTree.count(tree.root, fixture.editor.access())
    #expect(count == 700)
  }

  @Test func `a key of 1024 bytes is accepted and a longer one refused`() throws {
    let fixture = try TreeFixture()
    let editor = fixture.editor
    let longest = [UInt8](repeating: 9, count: 1024)
    let tooLong = longest + [0]
    var tree = ModelledTree(editor)
    try tree.set([1], for: [1])
    try tree.set([2], for: longest)
    let root = tree.root
    let refusal = StorageError.limitExceeded(.keyLength(1025, maximum: 1024), path: "tree")
    for start in [Ref.null, root] {
      #expect(throws: refusal) {
        try OrderedTree.set(
          TreeValue(bytes: longest.span.bytes), for: tooLong.span.bytes, in: start, editor: editor)
      }
    }
    let unchanged = try OrderedTree.remove(tooLong.span.bytes, from: root, editor: editor)
    #expect(unchanged == root)
    let rank = try OrderedTree.rank(tooLong.span.bytes, in: root, editor.access())
    #expect(rank == 2)
    var generator = SeededGenerator(seed: 1)
    try tree.verify(&generator)
  }

  @Test(arguments: 0..<5)
  func `a change frees just the nodes that the new tree lacks, and older versions keep their content`(
    seed: UInt64
  ) throws {
    var generator = SeededGenerator(seed: seed)
    let database = try Database(inMemory: "test")
    var content: [[UInt8]: [UInt8]] = [:]
    var kept: [(snapshot: Snapshot, content: [[UInt8]: [UInt8]])] = []
    for _ in 0..<25 {
      let transaction = try database.beginWrite()
      let tree = try ShapedTree("a", of: transaction)
      let before = Set(try TreeNodes.all(tree.root, transaction.access()))
      for _ in 0..<12 { try change(tree, &content, &generator) }
      let after = Set(try TreeNodes.all(tree.root, transaction.access()))
      let freed = transaction.editor.freed
      let gone = before.subtracting(after)
      #expect(Set(freed) == gone)
      #expect(freed.count == gone.count)
      try transaction.commit(generator.chance(50) ? .full : .relaxed)
      if generator.chance(40) { try kept.append((database.snapshot(), content)) }
      if generator.chance(20), !kept.isEmpty { kept.remove(at: generator.below(kept.count)) }
      for version in kept {
        let found = try contents(of: version.snapshot)
        #expect(found == version.content)
      }
    }
    for version in kept {
      let findings = IntegrityCheck.run(version.snapshot).findings
      #expect(findings == [])
    }
  }

  private func change(
    _ tree: ShapedTree, _ content: inout [[UInt8]: [UInt8]], _ generator: inout SeededGenerator
  ) throws {
    guard generator.chance(40), !content.isEmpty else {
      let key = TestKeys.random(&generator)
      let value = generator.bytes(generator.below(61))
      try tree.set(value, for: key)
      content[key] = value
      return
    }
    let keys = content.keys.sorted { $0.lexicographicallyPrecedes($1) }
    let key = keys[generator.below(keys.count)]
    try tree.removeValue(for: key)
    content[key] = nil
  }

  private func contents(of snapshot: Snapshot) throws -> [[UInt8]: [UInt8]] {
    var contents: [[UInt8]: [UInt8]] = [:]
    try snapshot.tree("a").forEach { key, value in
      contents[key] = value
      return true
    }
    return contents
  }
}
