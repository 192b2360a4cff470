import RealmTestSupport
import Testing

@testable import RealmStorage

/// Indexes of a transaction that fills a table beyond the memory it may hold.
@Suite struct IndexPartsTests {
  @Test(arguments: 0..<24, [nil, Keys.first])
  func `joined trees of byte keys have the keys of all of them`(seed: UInt64, key: [UInt8]?) throws {
    var generator = SeededGenerator(seed: seed)
    let fixture = try TreeFixture(key: key)
    let editor = fixture.editor
    let keys = TestKeys.sorted(generator.below(400), &generator)
    let trees = try dealt(keys, 1 + generator.below(6), &generator).map { keys in
      var builder = TreeBuilder(shape: .tiny, editor: editor)
      for key in keys {
        try builder.append(key: key.span.bytes, value: TreeValue(bytes: [UInt8]().span.bytes))
      }
      return try builder.finish()
    }
    let joined = try OrderedTree.join(trees.filter { !$0.isNull }, shape: .tiny, editor: editor)
    let access = editor.access()
    let found = try TreeNodes.entries(joined, access)
    #expect(found.map { $0.key } == keys)
    let checked = try OrderedTree.check(joined, EditorReader(editor)) { _, _ in }
    #expect(checked == UInt64(keys.count))
    try TreeNodes.expectLimits(joined, .tiny, access)
    // No other nodes remain in memory.
    try editor.freeTree(joined)
    let alive = editor.arena.liveBytes
    #expect(alive == 0)
  }

  @Test(arguments: 0..<24, [nil, Keys.first])
  func `joined trees of integers have the rows of all of them`(seed: UInt64, key: [UInt8]?) throws {
    var generator = SeededGenerator(seed: seed)
    let fixture = try TreeFixture(key: key)
    let editor = fixture.editor
    let isDense = seed % 2 == 0
    let numbers = Set(
      (0..<generator.below(4000)).map { isDense ? Int64($0) : Int64(bitPattern: generator.next()) })
    let entries = numbers.sorted().map { IntegerIndex.Entry(number: $0, row: generator.next() >> 2) }
    let trees = try dealt(entries, 1 + generator.below(6), &generator).map {
      try IntegerIndex.insert($0, in: .null, editor)
    }
    let joined = try IntegerIndex.join(trees.filter { !$0.isNull }, editor)
    var found: [IntegerIndex.Entry] = []
    if !joined.isNull {
      _ = try IntegerIndex.check(joined, EditorReader(editor)) { found.append($0) }
    }
    #expect(found == entries)
    try editor.freeTree(joined)
    let alive = editor.arena.liveBytes
    #expect(alive == 0)
  }

  /// Distributes elements over `count` lists, one by one or in long stretches. Each list keeps the order of the
  /// elements.
  private func dealt<Element>(
    _ elements: [Element], _ count: Int, _ generator: inout SeededGenerator
  ) -> [[Element]] {
    var dealt = [[Element]](repeating: [], count: count)
    let most = generator.chance(50) ? 1 : 90
    var (place, left) = (0, 0)
    for element in elements {
      if left == 0 { (place, left) = (generator.below(count), 1 + generator.below(most)) }
      dealt[place].append(element)
      left -= 1
    }
    return dealt
  }

  @Test func `index parts can't be used any more after joining them failed`() throws {
    let error = StorageError.poisoned(path: "parts")
    var parts = IndexParts()
    try parts.add { () throws(StorageError) in
      .null
    } join: { _ throws(StorageError) in
      .null
    }
    #expect(throws: error) { try parts.takeJoined(.null) { _ throws(StorageError) in throw error } }
    #expect(throws: error) { try parts.check() }
    #expect(throws: error) { try parts.takeJoined(.null) { _ throws(StorageError) in .null } }
    // There are so many parts that they are joined. Each part is joined once.
    var others = IndexParts()
    for _ in 0..<70 {
      try others.add { () throws(StorageError) in
        .null
      } join: { (trees) throws(StorageError) in
        #expect(trees.count == 32)
        return .null
      }
    }
    let left = others.all.count
    #expect(left == 8)
  }

  private static let schema = TableSchema(
    "Thing",
    columns: [
      Column("id", .int64, index: .unique), Column("name", .string, index: .plain),
      Column("city", .string, isOptional: true, index: .plain), Column("age", .int64, index: .plain),
    ])

  private static func row(_ number: Int) -> [String: Value] {
    [
      "id": .int(Int64(number)), "name": .string("name \(number)"),
      "city": number & 7 == 0 ? .null : .string("city \(number & 31)"), "age": .int(Int64(number & 127)),
    ]
  }

  @Test(arguments: [(1, nil), (2, Keys.first), (3, nil), (4, nil)] as [(UInt64, [UInt8]?)])
  func `a table filled in one transaction has correct indexes`(seed: UInt64, key: [UInt8]?) throws {
    var generator = SeededGenerator(seed: seed)
    var options = Database.Options(encryptionKey: key)
    // The limit gives parts of some hundred entries.
    options.spillBytes = 1 << 11
    let database = try Database(creatingIn: MemoryStorage(), options: options)
    // The numbers are close together; or so far apart that a set of bits can't hold them; or first the one and then the
    // other.
    var numbers = Array(0..<6_000).shuffled(using: &generator)
    if seed >= 3 {
      for place in (seed == 3 ? 0 : 3_000)..<6_000 {
        numbers[place] &*= Int(bitPattern: 0x9E37_79B9_7F4A_7C15)
      }
    }
    var removed: Set<Int> = []
    try database.write { transaction in
      let table = try transaction.createTable(Self.schema)
      for (count, number) in numbers.enumerated() {
        _ = try table.insert(Self.row(number))
        // A read between the inserts finds all rows, and a repeated id is refused.
        guard count % 1_700 == 1_600 else { continue }
        let other = numbers[generator.below(count)]
        guard !removed.contains(other) else { continue }
        #expect(throws: StorageError.self) { try table.insert(Self.row(other)) }
        let row = try #require(try table.row(withPrimaryKey: .int(Int64(other))))
        if generator.chance(50), try table.remove(row) { removed.insert(other) }
      }
    }
    let snapshot = try database.snapshot()
    #expect(IntegrityCheck.run(snapshot).findings == [])
    let table = try #require(try snapshot.table("Thing"))
    let left = numbers.filter { !removed.contains($0) }
    #expect(table.count == left.count)
    for number in numbers.prefix(500) {
      let row = try table.row(withPrimaryKey: .int(Int64(number)))
      #expect((row == nil) == removed.contains(number))
    }
    for city in 0..<32 {
      let expected = left.filter { Self.row($0)["city"] == .string("city \(city)") }.count
      #expect(try table.count(with: .string("city \(city)"), in: Self.schema.columns[2]) == expected)
    }
  }

  @Test func `a primary key of text is found while its table is filled`() throws {
    var options = Database.Options()
    options.spillBytes = 1 << 11
    let database = try Database(creatingIn: MemoryStorage(), options: options)
    // Some keys are so long that the index holds only their beginning.
    func key(_ number: Int) -> Value {
      .string(number % 10 == 0 ? String(repeating: "long ", count: 60) + "\(number)" : "key \(number)")
    }
    let columns = [Column("key", .string, index: .unique)]
    try database.write { transaction in
      let table = try transaction.createTable(TableSchema("Text", columns: columns))
      for number in 0..<3_000 { _ = try table.insert(["key": key(number)]) }
      for number in stride(from: 0, to: 3_000, by: 250) {
        #expect(throws: StorageError.self) { try table.insert(["key": key(number)]) }
        #expect(throws: StorageError.self) { try table.insert(["key": key(number + 1)]) }
      }
      _ = try table.insert(["key": key(3_000)])
    }
    let snapshot = try database.snapshot()
    #expect(IntegrityCheck.run(snapshot).findings == [])
    let table = try #require(try snapshot.table("Text"))
    #expect(table.count == 3_001)
    for number in stride(from: 0, through: 3_000, by: 7) {
      #expect(try table.row(withPrimaryKey: key(number)) == UInt64(number))
    }
  }
}
