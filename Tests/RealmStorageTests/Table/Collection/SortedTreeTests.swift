import RealmTestSupport
import Testing

@testable import RealmStorage

@Suite struct SortedTreeTests {
  @Test(arguments: RandomElement.columns, [UInt64(1), .random(in: 0...(.max))])
  func `random changes agree with a set or map in memory`(column: Column, seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let fixture = try TreeFixture()
    var model = CollectionModel(column, fixture.editor)
    for step in 0..<300 {
      let removals = step % 150 < 100 ? 20 : 75
      if model.count > 0, generator.chance(removals) {
        try model.remove(&generator)
      } else {
        try model.add(&generator)
      }
      if generator.chance(5) { try model.removeNone(&generator) }
      if step % 60 == 59 { try model.verify(&generator) }
    }
    while model.count > 0 { try model.remove(&generator) }
    let (root, alive) = (model.root, fixture.editor.arena.liveBytes)
    #expect(root == Ref.null, "seed \(seed)")
    #expect(alive == 0, "seed \(seed)")
    try model.verify(&generator)
  }

  @Test(arguments: [ColumnCollection.set, .map], 0..<2)
  func `sets and maps in encrypted files agree with a model, too`(collection: ColumnCollection, seed: UInt64)
    throws
  {
    var generator = SeededGenerator(seed: seed)
    let fixture = try TreeFixture(key: Keys.first)
    var model = CollectionModel(Column("c", .mixed, collection: collection), fixture.editor)
    for step in 0..<200 {
      if model.count > 0, generator.chance(30) {
        try model.remove(&generator)
      } else {
        try model.add(&generator)
      }
      if step % 50 == 49 { try model.verify(&generator) }
    }
  }

  @Test(arguments: RandomElement.columns.filter { $0.collection == .set }, 0..<2)
  func `elements that are added at once give the same set as elements that are added one by one`(
    column: Column, seed: UInt64
  ) throws {
    var generator = SeededGenerator(seed: seed)
    let fixture = try TreeFixture()
    var model = CollectionModel(column, fixture.editor)
    for count in [0, 1, 30, 5, 80, 80] {
      try model.insert((0..<count).map { _ in RandomElement.element(column, &generator) })
      try model.verify(&generator)
    }
  }

  @Test(arguments: RandomElement.columns.filter(\.canLink), 0..<3)
  func `links to removed rows are removed from sets and maps`(column: Column, seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let fixture = try TreeFixture()
    var model = CollectionModel(column, fixture.editor)
    for _ in 0..<150 { try model.add(&generator) }
    for count in [0, 1, 6, 200] {
      let targets = (0..<count).map { _ in
        LinkTarget(table: UInt32(generator.below(5)), row: UInt64(generator.below(150)))
      }
      try model.unlink(Set(targets))
      try model.verify(&generator)
    }
  }

  @Test(arguments: RandomElement.types)
  func `keys have the order of their elements, and equal elements have equal keys`(type: ColumnType) throws {
    let seed = UInt64.random(in: 0...(.max))
    var generator = SeededGenerator(seed: seed)
    let column = Column("c", type, isOptional: true, collection: .set)
    let elements = (0..<200).map { _ in RandomElement.element(column, &generator) }
    let keys = elements.map { ElementKey($0, of: column) }
    let stored = keys.map { $0.bytes + [UInt8](repeating: 0, count: $0.rest == nil ? 0 : 4) }
    for left in elements.indices {
      for right in elements.indices {
        let (one, other) = (stored[left], stored[right])
        let order = one.span.bytes.compare(other.span.bytes).signum()
        let areCutAlike = order == 0 && keys[left].rest != nil
        let expected = ValueOrder.sort(elements[left], elements[right])
        #expect(
          order == expected || areCutAlike, "\(elements[left]) and \(elements[right]), seed \(seed)")
      }
    }
  }

  @Test func `the keys of elements have the bytes that the format specifies`() throws {
    func key(_ value: Value, _ type: ColumnType) -> String {
      ElementKey(value, of: Column("c", type, isOptional: true, collection: .set)).bytes.hex
    }
    #expect(key(.null, .string) == "00")
    #expect(key(.bool(true), .bool) == "0101")
    #expect(key(.int(1), .int64) == "038000000000000001")
    #expect(key(.int(-1), .int64) == "037fffffffffffffff")
    #expect(key(.double(1), .double) == "03bff0000000000000")
    #expect(key(.double(-0.0), .double) == "038000000000000000")
    #expect(key(.float(-1), .float) == "03400fffffffffffff")
    #expect(key(.double(.nan), .double) == "02")
    #expect(key(.int(1), .mixed) == "03bff000000000000001")
    // The bytes stand for the exponent -18 plus 6209, and for 2^53 + 1 with 34 digits.
    #expect(key(.int(1 << 53 + 1), .mixed) == "03c34000000000000002305fbc16d674ec800de0b6b3a7640000")
    #expect(key(.int(-1 << 53 - 1), .mixed) == "033cbfffffffffffff00cfa043e9298b137ff21f494c589bffff")
    let tenth = DecimalNumber(parsing: "0.1000000000000000000000000000000001") ?? .nan
    #expect(
      key(.decimal128(tenth.stored), .decimal128) == "03bfb999999999999a02303e314dc6448d9338c15b0a00000001")
    #expect(key(.decimal128(DecimalNumber(1).stored), .decimal128) == "03bff000000000000001")
    #expect(key(.string("ab"), .string) == "046162")
    #expect(key(.data([7]), .data) == "0507")
    #expect(key(.date(Timestamp(seconds: 1, nanoseconds: 2)), .date) == "06800000000000000100000002")
    #expect(key(.objectID(ObjectIDBytes(high: 1, low: 2)), .objectID) == "07000000000000000100000002")
    #expect(key(.uuid(SixteenBytes(high: 1, low: 2)), .uuid) == "0800000000000000010000000000000002")
    #expect(key(.link(300), .link) == "09000000000000012c")
    #expect(key(.typedLink(table: 2, row: 5), .mixed) == "09000000020000000000000005")
  }

  @Test func `values over 1024 bytes stand apart, and shorter values in their leaf`() throws {
    let fixture = try TreeFixture()
    let column = Column("c", .data, collection: .map)
    let editor = fixture.editor
    for (count, isApart) in [(1022, false), (1023, true), (70_000, true)] {
      let value = Value.data([UInt8](repeating: 1, count: count))
      let root = try SortedTree.set(value, for: "a", in: .null, of: column, editor: editor).root
      let access = editor.access()
      let hasRef = try OrderedTree.find([UInt8(97)].span.bytes, in: root, access) { $0.ref != nil }
      #expect(hasRef == isApart)
      let read = try SortedTree.value(of: "a", in: root, of: column, access)
      #expect(read == value)
      let checked = try SortedTree.check(root, of: column, EditorReader(editor))
      #expect(checked == 1)
      let last = try SortedTree.removeValue(for: "a", from: root, of: column, editor: editor)
      #expect(last.root == Ref.null)
    }
    let alive = editor.arena.liveBytes
    #expect(alive == 0)
  }

  @Test(arguments: 0..<3, [ColumnCollection.set, .map])
  func `a change frees just the nodes that the new tree lacks, and older versions keep their content`(
    seed: UInt64, collection: ColumnCollection
  ) throws {
    var generator = SeededGenerator(seed: seed)
    let database = try Database(inMemory: "test")
    let column = Column("c", .string, isOptional: true, collection: collection)
    var kept: [(snapshot: Snapshot, root: Ref, value: Value)] = []
    var value: Value = collection == .map ? .map(ValueMap()) : .list([])
    for _ in 0..<12 {
      let transaction = try database.beginWrite()
      let tree = try ShapedTree("a", of: transaction)
      let before = Set(try TreeNodes.all(tree.root, transaction.access()))
      for _ in 0..<15 {
        try change(tree, column, transaction, &generator)
      }
      value = try SortedTree.all(tree.root, of: column, transaction.access())
      let after = Set(try TreeNodes.all(tree.root, transaction.access()))
      let freed = transaction.editor.freed
      #expect(Set(freed) == before.subtracting(after))
      #expect(freed.count == Set(freed).count)
      try transaction.commit()
      let snapshot = try database.snapshot()
      let next = try database.beginWrite()
      kept.append((snapshot, try ShapedTree("a", of: next).root, value))
      next.cancel()
    }
    for version in kept {
      let found = try SortedTree.all(version.root, of: column, version.snapshot.access())
      #expect(found == version.value)
      _ = try SortedTree.check(version.root, of: column, version.snapshot)
    }
  }

  private func change(
    _ tree: ShapedTree, _ column: Column, _ transaction: WriteTransaction, _ generator: inout SeededGenerator
  ) throws {
    let (root, editor) = (tree.root, transaction.editor)
    let isRemoval = generator.chance(45)
    let key = RandomElement.key(&generator)
    switch (column.collection, isRemoval) {
    case (.map, false):
      let value = RandomElement.mapValue(column, &generator)
      tree.setRoot(
        try SortedTree.set(value, for: key, in: root, of: column, shape: .tiny, editor: editor).root)
    case (.map, true):
      guard
        let entry = try SortedTree.entry(
          at: UInt64(generator.below(20)), in: root, of: column, transaction.access())
      else { return }
      tree.setRoot(
        try SortedTree.removeValue(
          for: entry.key ?? "", from: root, of: column, shape: .tiny, editor: editor
        ).root)
    case (_, false):
      let element = RandomElement.element(column, &generator)
      tree.setRoot(
        try SortedTree.insert(element, into: root, of: column, shape: .tiny, editor: editor).root)
    case (_, true):
      guard
        let entry = try SortedTree.entry(
          at: UInt64(generator.below(20)), in: root, of: column, transaction.access())
      else { return }
      tree.setRoot(
        try SortedTree.remove(entry.value, from: root, of: column, shape: .tiny, editor: editor).root)
    }
  }
}

extension [UInt8] {
  fileprivate var hex: String {
    map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
  }
}
