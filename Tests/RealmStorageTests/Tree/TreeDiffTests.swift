import RealmTestSupport
import Testing

@testable import RealmStorage

@Suite struct TreeDiffTests {
  private typealias Content = [[UInt8]: [UInt8]]

  // MARK: - Against brute force

  @Test(arguments: 0..<4, [nil, Keys.first])
  func `the difference of any two versions equals the difference of their contents`(
    seed: UInt64, key: [UInt8]?
  ) throws {
    var generator = SeededGenerator(seed: seed)
    let storage = try MemoryStorage(name: "diff")
    let database = try Database(creatingIn: storage, options: .init(encryptionKey: key))
    var content: Content = [:]
    var versions: [(snapshot: Snapshot, content: Content)] = try [(database.snapshot(), content)]
    for _ in 0..<5 {
      try database.write { transaction in
        let tree = try transaction.tree("a")
        if generator.chance(10) {
          try tree.removeAll()
          content = [:]
        }
        for _ in 0..<30 {
          if let key = Self.victim(content, &generator) {
            try tree.removeValue(for: key)
            content[key] = nil
          } else {
            let key = TestKeys.random(&generator)
            let value = Self.value(&generator)
            try tree.set(value, for: key)
            content[key] = value
          }
        }
      }
      try versions.append((database.snapshot(), content))
    }
    try expectDifferences(versions)
  }

  @Test(arguments: 0..<5)
  func `the difference of any two versions of a high tree equals the difference of their contents`(
    seed: UInt64
  ) throws {
    var generator = SeededGenerator(seed: seed)
    let database = try Database(inMemory: "diff")
    var content: Content = [:]
    var versions: [(snapshot: Snapshot, content: Content)] = []
    for round in 0..<6 {
      let transaction = try database.beginWrite()
      let tree = try ShapedTree("a", of: transaction)
      for _ in 0..<(round == 0 ? 100 : 1 + generator.below(25)) {
        if round > 0, let key = Self.victim(content, &generator) {
          try tree.removeValue(for: key)
          content[key] = nil
        } else {
          let key = TestKeys.random(&generator)
          let value = generator.bytes(generator.below(40))
          try tree.set(value, for: key)
          content[key] = value
        }
      }
      try transaction.commit()
      try versions.append((database.snapshot(), content))
    }
    try expectDifferences(versions)
  }

  private func expectDifferences(_ versions: [(snapshot: Snapshot, content: Content)]) throws {
    for old in versions {
      for new in versions {
        let found = try new.snapshot.treeDifferences("a", since: old.snapshot)
        let expected = Self.differences(from: old.content, to: new.content)
        #expect(found == expected)
      }
    }
  }

  private static func differences(from old: Content, to new: Content) -> [TreeDiff.Difference] {
    var differences: [TreeDiff.Difference] = []
    let keys = Set(old.keys).union(new.keys).sorted { $0.lexicographicallyPrecedes($1) }
    for key in keys {
      let (before, after) = (old[key], new[key])
      if before == nil {
        differences.append(.inserted(key: key))
      } else if after == nil {
        differences.append(.removed(key: key))
      } else if before != after {
        differences.append(.changed(key: key))
      }
    }
    return differences
  }

  /// Now and then a key to remove.
  private static func victim(_ content: Content, _ generator: inout SeededGenerator) -> [UInt8]? {
    guard generator.chance(35), !content.isEmpty else { return nil }
    let keys = content.keys.sorted { $0.lexicographicallyPrecedes($1) }
    return keys[generator.below(keys.count)]
  }

  private static func value(_ generator: inout SeededGenerator) -> [UInt8] {
    switch generator.below(20) {
    case 0: return []
    // The values are the shortest long value and a value of two chunks.
    case 1: return [UInt8](repeating: UInt8(generator.below(3)), count: 1025)
    case 2: return [UInt8](repeating: UInt8(generator.below(3)), count: 70_000)
    // This value has the length of the bytes that stand for a long value, and equals them.
    case 3: return TestKeys.length(1025)
    default: return generator.bytes(generator.below(300))
    }
  }

  // MARK: - What is no difference

  @Test func `setting a value to what it was is no difference`() throws {
    let database = try Database(inMemory: "diff")
    try fill(database)
    let old = try database.snapshot()
    try database.write { try $0.tree("a").set([7], for: [7]) }
    let new = try database.snapshot()
    #expect(new.version > old.version)
    #expect(new.root != old.root)
    let differences = try new.treeDifferences("a", since: old)
    #expect(differences == [])
  }

  @Test func `a long value written again is no difference, and a changed byte in it is one`() throws {
    let database = try Database(inMemory: "diff")
    var long = [UInt8](repeating: 5, count: 70_000)
    try database.write { try $0.tree("a").set(long, for: [1]) }
    let first = try database.snapshot()
    try database.write { try $0.tree("a").set(long, for: [1]) }
    let second = try database.snapshot()
    long[69_999] = 6
    try database.write { try $0.tree("a").set(long, for: [1]) }
    let third = try database.snapshot()
    #expect(second.version > first.version)
    let same = try second.treeDifferences("a", since: first)
    #expect(same == [])
    let changed = try third.treeDifferences("a", since: second)
    #expect(changed == [TreeDiff.Difference.changed(key: [1])])
  }

  @Test func `a value that equals the encoded length of a long value is not mistaken for the long value`()
    throws
  {
    let database = try Database(inMemory: "diff")
    try database.write { try $0.tree("a").set([UInt8](repeating: 5, count: 2000), for: [1]) }
    let long = try database.snapshot()
    try database.write { try $0.tree("a").set(TestKeys.length(2000), for: [1]) }
    let short = try database.snapshot()
    let there = try short.treeDifferences("a", since: long)
    #expect(there == [TreeDiff.Difference.changed(key: [1])])
    let back = try long.treeDifferences("a", since: short)
    #expect(back == [TreeDiff.Difference.changed(key: [1])])
  }

  @Test(arguments: 0..<4)
  func `a tree that is emptied and filled again is no difference`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let database = try Database(inMemory: "diff")
    try fill(database)
    let old = try database.snapshot()
    var entries: [(key: [UInt8], value: [UInt8])] = []
    try old.tree("a").forEach { key, value in
      entries.append((key, value))
      return true
    }
    try database.write { transaction in
      let tree = try transaction.tree("a")
      try tree.removeAll()
      for entry in entries.shuffled(using: &generator) { try tree.set(entry.value, for: entry.key) }
    }
    let new = try database.snapshot()
    #expect(new.version > old.version)
    let differences = try new.treeDifferences("a", since: old)
    #expect(differences == [])
  }

  @Test func `a tree that the older version lacks counts as insertions of all entries`() throws {
    let database = try Database(inMemory: "diff")
    let old = try database.snapshot()
    try database.write { try $0.tree("a").set([2], for: [1]) }
    let new = try database.snapshot()
    let there = try new.treeDifferences("a", since: old)
    #expect(there == [TreeDiff.Difference.inserted(key: [1])])
    let back = try old.treeDifferences("a", since: new)
    #expect(back == [TreeDiff.Difference.removed(key: [1])])
    let other = try new.treeDifferences("b", since: old)
    #expect(other == [])
  }

  private func fill(_ database: Database) throws {
    try database.write { transaction in
      let tree = try transaction.tree("a")
      for number in 0..<250 {
        try tree.set([UInt8](repeating: UInt8(number), count: 40), for: [UInt8(number)])
      }
      try tree.set([7], for: [7])
      try tree.set([UInt8](repeating: 1, count: 70_000), for: [8])
    }
  }

  // MARK: - Cost

  @Test func `the difference of one entry in a large tree reads few nodes`() throws {
    let storage = try CountingStorage()
    do {
      let database = try Database(creatingIn: storage)
      let transaction = try database.beginWrite()
      var builder = TreeBuilder(editor: transaction.editor)
      for number in 0..<20_000 {
        let key = TestKeys.number(number)
        try builder.append(key: key.span.bytes, value: TreeValue(bytes: key.span.bytes))
      }
      try ShapedTree("a", of: transaction).setRoot(builder.finish())
      try transaction.commit()
      database.close()
    }
    // A new handle has not read any leaf yet.
    let database = try Database(storage: storage, options: .init())
    let old = try database.snapshot()
    try database.write { try $0.tree("a").set([1], for: TestKeys.number(12_345)) }
    let new = try database.snapshot()
    let before = storage.nodesLookedAt
    let differences = try new.treeDifferences("a", since: old)
    let after = storage.nodesLookedAt
    #expect(differences == [TreeDiff.Difference.changed(key: TestKeys.number(12_345))])
    #expect(after - before <= 6)
    // The count is meaningful, because a read of all entries reads many more nodes.
    var entries = 0
    try new.tree("a").forEach { _, _ in
      entries += 1
      return true
    }
    let all = storage.nodesLookedAt
    #expect(entries == 20_000)
    #expect(all - after > 30)
  }
}
