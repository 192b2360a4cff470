import RealmTestSupport
import Testing

@testable import RealmStorage

/// Trees of sets and maps that the engine never writes. Reading or changing them gives a typed error or a result, and
/// the check refuses them.
@Suite struct HostileSortedTreeTests {
  private static let head = [UInt8](repeating: 0x61, count: 1000)
  private static let sets = Column("c", .string, collection: .set)
  private static let maps = Column("c", .string, collection: .map)

  private static func set(_ type: ColumnType, isOptional: Bool = false) -> Column {
    Column("c", type, isOptional: isOptional, collection: .set, target: 3)
  }

  private static func map(_ type: ColumnType, isOptional: Bool = false) -> Column {
    Column("c", type, isOptional: isOptional, collection: .map, target: 3)
  }

  private static func ordinal(_ number: UInt8) -> [UInt8] { [0, 0, 0, number] }
  private static let cut = [4] + head + ordinal(0)

  struct Case: Sendable, CustomTestStringConvertible {
    let name: String
    let column: Column
    let entries: [(key: [UInt8], value: [UInt8])]

    var testDescription: String { name }

    init(_ name: String, _ column: Column, _ entries: (key: [UInt8], value: [UInt8])...) {
      (self.name, self.column, self.entries) = (name, column, entries)
    }
  }

  /// The cases that only the check finds, because the engine could have written each entry alone.
  private static let readable: Set<String> = [
    "an integer that has a value", "a double that its key tells", "a number beside the key of another",
    "two numbers of any type that are equal", "a group that starts with 1", "a group with a gap",
    "a group out of order", "a group with one string twice", "a map's length in more bytes than it needs",
    "a map's cut keys out of order",
  ]

  static let cases = [
    Case("a set's key without bytes", sets, ([], [])),
    Case("a null where none may be", sets, ([0], [])),
    Case("a null with bytes", set(.string, isOptional: true), ([0, 0], [])),
    Case("an element of another type", sets, ([5, 1], [])),
    Case("a string that is no UTF-8", sets, ([4, 0xff], [])),
    Case("a string with a value", sets, ([4, 0x61], [1, 0x61])),
    Case("a type there is none of", sets, ([12], [])),
    Case("a list in a set", set(.mixed), ([10], [16, 0])),
    Case("a list in a set, by its key alone", set(.mixed), ([10], [])),
    Case("a truth value beyond 1", set(.bool), ([1, 2], [])),
    Case("an integer that is short", set(.int64), ([3, 1], [])),
    Case("an integer that has a value", set(.int64), ([3, 0x80, 0, 0, 0, 0, 0, 0, 1], [2])),
    Case("nanoseconds beyond a second", set(.date), ([6, 0x80, 0, 0, 0, 0, 0, 0, 0, 0xff, 0, 0, 0], [])),
    Case("a negative zero as a key", set(.double), ([3, 0x7f] + [UInt8](repeating: 0xff, count: 7), [])),
    Case("what is no number as the key of one", set(.double), ([3] + [UInt8](repeating: 0xff, count: 8), [])),
    Case("a double that is no float", set(.float), ([3, 0xbf, 0xf0, 0, 0, 0, 0, 0, 1], [])),
    Case(
      "a double beside the key of another", set(.double),
      ([3, 0xbf, 0xf0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0x40])),
    Case(
      "a double that its key tells", set(.double),
      ([3, 0xbf, 0xf0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0xf0, 0x3f])),
    Case("a number of any type without its value", set(.mixed), ([3, 0xbf, 0xf0, 0, 0, 0, 0, 0, 0, 1], [])),
    Case("a number beside the key of another", set(.mixed), ([3, 0xbf, 0xf0, 0, 0, 0, 0, 0, 0, 1], [5, 4])),
    Case(
      "a string beside the key of a number", set(.mixed), ([3, 0xbf, 0xf0, 0, 0, 0, 0, 0, 0, 1], [8, 0])),
    Case(
      "two numbers of any type that are equal", set(.mixed), ([3, 0xbf, 0xf0, 0, 0, 0, 0, 0, 0, 1], [5, 2]),
      ([3, 0xbf, 0xf0, 0, 0, 0, 0, 0, 0, 2], [5, 2])),
    Case("a link of one table in a mixed set", set(.mixed), ([9, 0, 0, 0, 0, 0, 0, 0, 1], [])),
    Case("a link of any table in a set of one", set(.link), ([9, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0], [])),
    Case("a key between the lengths", sets, ([4] + head + [0, 0], [1])),
    Case("a key beyond the lengths", sets, ([4] + head + [0, 0, 0, 0, 0], [1])),
    Case("a number with the length of a cut key", set(.mixed), ([3] + head + ordinal(0), [1])),
    Case("a cut string with nothing left", sets, (cut, [])),
    Case("a cut string that is no UTF-8", sets, (cut, [0xff])),
    Case("a group that starts with 1", sets, ([4] + head + ordinal(1), [0x61])),
    Case("a group with a gap", sets, (cut, [0x61]), ([4] + head + ordinal(2), [0x62])),
    Case("a group out of order", sets, (cut, [0x62]), ([4] + head + ordinal(1), [0x61])),
    Case("a group with one string twice", sets, (cut, [0x61]), ([4] + head + ordinal(1), [0x61])),
    Case("a group of data in a set of strings", sets, ([5] + head + ordinal(0), [0x61])),
    Case("a map's key that is no UTF-8", maps, ([0xff], [0])),
    Case("a map's string that is no UTF-8", maps, ([0x61], [1, 0xff])),
    Case("a map's null where none may be", maps, ([0x61], [])),
    Case("a map's value of another type", map(.bool), ([0x61], [2])),
    Case("a map's value that goes on", maps, ([0x61], [1, 0x61, 0])),
    Case("a map's value that ends early", maps, ([0x61], [2, 0x61])),
    Case("a map's null that has a byte", map(.mixed), ([0x61], [0])),
    Case(
      "a map's list in too many lists", map(.mixed), ([0x61], [UInt8](repeating: [16, 1], count: 101) + [0])),
    Case("a map's length in more bytes than it needs", maps, ([0x61], [0x81, 0, 0x61])),
    Case("a map's cut key with nothing left", maps, (head + ordinal(0), [0, 1, 0x61])),
    Case("a map's cut key that ends early", maps, (head + ordinal(0), [5, 0x61])),
    Case("a map's cut key without a value", maps, (head + ordinal(0), [1, 0x61])),
    Case(
      "a map's cut keys out of order", maps, (head + ordinal(0), [1, 0x62, 0]),
      (head + ordinal(1), [1, 0x61, 0])),
  ]

  @Test(arguments: cases) func `an entry that the engine never writes is damage`(forged: Case) throws {
    let tree = try ForgedTree(forged.column) { editor in
      var builder = TreeBuilder(editor: editor)
      for (key, value) in forged.entries {
        try builder.append(key: key.span.bytes, value: TreeValue(bytes: value.span.bytes))
      }
      return try builder.finish()
    }
    try tree.expectRefused()
    let entries = forged.entries.map { EntryCoding.entry($0.key, $0.value, of: forged.column) }
    #expect(entries.contains(nil) != Self.readable.contains(forged.name))
    if forged.column.collection == .map, forged.entries[0].key == [0x61] {
      try tree.expectDamage(!Self.readable.contains(forged.name)) { root, column, editor in
        _ = try SortedTree.value(of: "a", in: root, of: column, editor.access())
      }
    }
    var generator = SeededGenerator(seed: 1)
    try tree.useAll(&generator)
  }

  @Test func `a value that stands apart is damage if it is too short or its length is wrong`() throws {
    for (told, count) in [(1023, 1023), (2000, 1999), (1999, 2000)] {
      let tree = try ForgedTree(Self.sets) { editor in
        let bytes = [UInt8](repeating: 0x61, count: count)
        let long = LongValue.write(bytes.span.bytes, editor: editor)
        let value = TestKeys.length(told)
        return try OrderedTree.set(
          TreeValue(bytes: value.span.bytes, ref: long), for: Self.cut.span.bytes, in: .null, editor: editor)
      }
      try tree.expectRefused()
      var generator = SeededGenerator(seed: 1)
      try tree.useAll(&generator)
    }
  }

  @Test(arguments: 0..<40 as Range<UInt64>)
  func `random entries are refused, or can be read and changed`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let column = RandomElement.columns[generator.below(RandomElement.columns.count)]
    let entries = (0..<40).map { _ in entry(column, &generator) }
    let tree = try ForgedTree(column) { editor in
      var root = Ref.null
      for (key, value) in entries {
        root = try OrderedTree.set(
          TreeValue(bytes: value.span.bytes), for: key.span.bytes, in: root, shape: .tiny, editor: editor)
      }
      return root
    }
    try tree.useAll(&generator)
  }

  /// Random combinations of parts of entries as the engine writes them, some of them damaged.
  private func entry(
    _ column: Column, _ generator: inout SeededGenerator
  ) -> (key: [UInt8], value: [UInt8]) {
    let element = RandomElement.element(column, &generator)
    let made =
      column.collection == .map
      ? ElementKey(mapKey: RandomElement.key(&generator)) : ElementKey(element, of: column)
    var (key, value) = (made.bytes, [UInt8]())
    if made.rest != nil || generator.chance(3) { key += Self.ordinal(UInt8(generator.below(4))) }
    if column.collection == .map {
      value = EntryCoding.value(RandomElement.mapValue(column, &generator), of: made, column)
    } else {
      value = EntryCoding.value(of: element, made, column)
    }
    if generator.chance(15), !key.isEmpty { key[generator.below(min(key.count, 20))] ^= 1 }
    if generator.chance(5) { key.removeLast(min(key.count, generator.below(9))) }
    if generator.chance(15), !value.isEmpty {
      value[generator.below(value.count)] = UInt8(generator.below(256))
    }
    if generator.chance(10) { value = generator.bytes(generator.below(4)) }
    return (Array(key.prefix(1024)), Array(value.prefix(1024)))
  }

  // MARK: - Branches

  @Test(
    arguments: [[0, 1], [1, 1], [1, 0], [0, 2], [2, 0]],
    [[3, 3], [1, 3], [3, 1 << 40], [1 << 61, 1 << 60]])
  func `branches with wrong counts or a repeated leaf end in an error`(
    children: [Int], rows: [UInt64]
  ) throws {
    for column in [Self.sets, Self.maps, Self.set(.mixed)] {
      let tree = try ForgedTree(column)
      let leaves = try ["a", "c", "x"].map { start in
        let texts = (0..<3).map { "\(start)\($0)" }
        let value: Value =
          column.collection == .map
          ? .map(ValueMap(entries: texts.map { ($0, .string("v")) })) : .list(texts.map { .string($0) })
        return try tree.commit(start) { try SortedTree.build(value, of: column, editor: $0) }
      }
      let separator: [UInt8] = column.collection == .map ? [0x63] : [4, 0x63]
      _ = try tree.commit("a") { Self.branch(children.map { leaves[$0] }, rows, separator, $0) }
      // The check finds nothing wrong in a tree that is whole.
      let isWhole = rows == [3, 3] && children[0] == 0 && children[1] > 0
      if !isWhole { try tree.expectRefused() }
      var generator = SeededGenerator(seed: 2)
      try tree.useAll(&generator)
    }
  }

  private static func branch(
    _ children: [Ref], _ rows: [UInt64], _ separator: [UInt8], _ editor: NodeEditor
  ) -> Ref {
    let arena = editor.arena
    let level = (children.map(\.level).max() ?? 0) + 1
    let node = arena.make(kind: .branch, level: level, refCount: 2, bodyLength: 20 + separator.count)
    for (index, child) in children.enumerated() {
      node.setRef(index, to: child)
      node.store(rows[index], at: 8 * index)
    }
    node.store(UInt16(0), at: 16)
    node.store(UInt16(separator.count), at: 18)
    node.copy(separator, at: 20)
    return node.ref
  }

  @Test func `branches that repeat the same child at each level end in an error soon`() throws {
    let fixture = try TreeFixture()
    let editor = fixture.editor
    var root = try SortedTree.build(.list([.string("a"), .string("c")]), of: Self.sets, editor: editor)
    for _ in 0..<40 { root = Self.branch([root, root], [1, 1], [4, 0x62], editor) }
    let end = root
    #expect(throws: StorageError.self) { _ = try SortedTree.check(end, of: Self.sets, EditorReader(editor)) }
    let access = editor.access()
    #expect(throws: StorageError.self) { _ = try SortedTree.all(end, of: Self.sets, access) }
    _ = try SortedTree.contains(.string("b"), in: end, of: Self.sets, access)
  }

  @Test func `a root of another kind of node is damage`() throws {
    let fixture = try TreeFixture()
    let editor = fixture.editor
    let root = LongValue.write([1, 2, 3].span.bytes, editor: editor)
    let access = editor.access()
    #expect(throws: StorageError.self) { _ = try SortedTree.count(root, access) }
    #expect(throws: StorageError.self) { _ = try SortedTree.all(root, of: Self.sets, access) }
    #expect(throws: StorageError.self) {
      _ = try SortedTree.contains(.string("a"), in: root, of: Self.sets, access)
    }
    #expect(throws: StorageError.self) {
      _ = try SortedTree.set(.string("a"), for: "a", in: root, of: Self.maps, editor: editor)
    }
    #expect(throws: StorageError.self) {
      _ = try SortedTree.check(root, of: Self.sets, EditorReader(editor))
    }
  }

  @Test(arguments: 0..<20 as Range<UInt64>)
  func `removals from forged groups of keys end`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let ordinals = (0..<6).map { _ in (UInt8(generator.below(8)), UInt8(generator.below(4) + 0x61)) }
    let tree = try ForgedTree(Self.sets) { editor in
      var root = Ref.null
      for (ordinal, letter) in ordinals {
        let (key, value) = ([4] + Self.head + Self.ordinal(ordinal), [letter])
        root = try OrderedTree.set(
          TreeValue(bytes: value.span.bytes), for: key.span.bytes, in: root, shape: .tiny, editor: editor)
      }
      return root
    }
    let text = String(decoding: Self.head, as: UTF8.self)
    for letter in ["a", "b", "c", "d", "e"] {
      try tree.change { root, column, editor in
        var root = root
        for _ in 0..<3 {
          root = try SortedTree.remove(
            .string(text + letter), from: root, of: column, shape: .tiny, editor: editor
          ).root
        }
      }
    }
  }
}

/// A tree in a file that the engine never writes.
private struct ForgedTree {
  let column: Column
  private let database: Database

  init(_ column: Column) throws {
    self.column = column
    database = try Database(creatingIn: MemoryStorage(name: "forged"))
  }

  init(_ column: Column, _ make: (NodeEditor) throws -> Ref) throws {
    try self.init(column)
    _ = try commit("a", make)
  }

  /// Commits a tree and returns its root.
  func commit(_ name: String, _ make: (NodeEditor) throws -> Ref) throws -> Ref {
    let transaction = try database.beginWrite()
    try ShapedTree(name, of: transaction).setRoot(make(transaction.editor))
    try transaction.commit()
    let next = try database.beginWrite()
    defer { next.cancel() }
    return try ShapedTree(name, of: next).root
  }

  /// Applies `body` to the tree in a transaction that is then cancelled. Errors that report damage are ignored, and
  /// other errors are rethrown.
  func change(_ body: (Ref, Column, NodeEditor) throws -> Void) throws {
    let transaction = try database.beginWrite()
    defer { transaction.cancel() }
    let root = try ShapedTree("a", of: transaction).root
    do { try body(root, column, transaction.editor) } catch StorageError.corrupted {}
  }

  /// Expects that `body` reports damage, or that it does not.
  func expectDamage(_ expected: Bool, _ body: (Ref, Column, NodeEditor) throws -> Void) throws {
    var isFound = true
    try change { root, column, editor in
      try body(root, column, editor)
      isFound = false
    }
    #expect(isFound == expected)
  }

  func expectRefused() throws {
    try expectDamage(true) { root, column, editor in
      _ = try SortedTree.check(root, of: column, EditorReader(editor))
    }
  }

  /// Reads and changes the tree in every possible way.
  func useAll(_ generator: inout SeededGenerator) throws {
    try read()
    for _ in 0..<12 {
      let value = RandomElement.mapValue(column, &generator)
      let key = RandomElement.key(&generator)
      let element = RandomElement.element(column, &generator)
      let others = (0..<6).map { _ in RandomElement.element(column, &generator) }
      let targets = Set((0..<9).map { _ in LinkTarget(table: 3, row: UInt64(generator.below(150))) })
      if column.collection == .map {
        try useMap(key, value)
      } else {
        try useSet(element, others)
      }
      try change { root, column, editor in
        _ = try SortedTree.unlink(targets, in: root, of: column, shape: .tiny, editor: editor)
      }
    }
    // Each of the first eight elements is removed, in a transaction of its own.
    for position: UInt64 in 0..<8 {
      try change { root, column, editor in
        guard let entry = try SortedTree.entry(at: position, in: root, of: column, editor.access()) else {
          return
        }
        if let key = entry.key {
          _ = try SortedTree.removeValue(for: key, from: root, of: column, shape: .tiny, editor: editor)
        } else {
          _ = try SortedTree.remove(entry.value, from: root, of: column, shape: .tiny, editor: editor)
        }
      }
    }
  }

  private func useMap(_ key: String, _ value: Value) throws {
    try change { root, column, editor in
      _ = try SortedTree.value(of: key, in: root, of: column, editor.access())
    }
    try change { root, column, editor in
      _ = try SortedTree.position(ofKey: key, in: root, of: column, editor.access())
    }
    try change { root, column, editor in
      let set = try SortedTree.set(value, for: key, in: root, of: column, shape: .tiny, editor: editor)
      _ = try SortedTree.value(of: key, in: set.root, of: column, editor.access())
      _ = try SortedTree.removeValue(for: key, from: set.root, of: column, shape: .tiny, editor: editor)
    }
  }

  private func useSet(_ element: Value, _ others: [Value]) throws {
    try change { root, column, editor in
      _ = try SortedTree.contains(element, in: root, of: column, editor.access())
    }
    try change { root, column, editor in
      _ = try SortedTree.position(of: element, in: root, of: column, editor.access())
    }
    try change { root, column, editor in
      _ = try SortedTree.element(equalTo: element, in: root, of: column, editor.access())
    }
    try change { root, column, editor in
      let inserted = try SortedTree.insert(element, into: root, of: column, shape: .tiny, editor: editor)
      _ = try SortedTree.contains(element, in: inserted.root, of: column, editor.access())
      _ = try SortedTree.remove(element, from: inserted.root, of: column, shape: .tiny, editor: editor)
    }
    try change { root, column, editor in
      _ = try SortedTree.insert(others, into: root, of: column, shape: .tiny, editor: editor)
    }
  }

  private func read() throws {
    try change { root, _, editor in _ = try SortedTree.count(root, editor.access()) }
    try change { root, column, editor in
      let value = try SortedTree.all(root, of: column, editor.access())
      let isAccepted = column.accepts(value)
      #expect(isAccepted, "\(value)")
    }
    try change { root, column, editor in
      try SortedTree.forEach(in: root, of: column, editor.access()) { _ in true }
    }
    for position: UInt64 in [0, 1, 2, 5, 1 << 40, .max] {
      try change { root, column, editor in
        _ = try SortedTree.entry(at: position, in: root, of: column, editor.access())
      }
    }
    for limit in [0, 10, 5000, .max / 16] {
      try change { root, column, editor in
        _ = try SortedTree.inlineLength(root, of: column, atMost: limit, editor.access())
      }
    }
    try change { root, column, editor in
      _ = try SortedTree.check(root, of: column, EditorReader(editor))
    }
  }
}

extension [UInt8] {
  fileprivate init(repeating pattern: [UInt8], count: Int) {
    self = (0..<count).flatMap { _ in pattern }
  }
}
