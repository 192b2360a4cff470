import RealmTestSupport
import Testing

@testable import RealmStorage

@Suite struct IntegerIndexTests {
  private static let schema = TableSchema(
    "T",
    columns: [
      Column("id", .int64, index: .unique), Column("text", .string),
      Column("number", .int64, isOptional: true),
      Column("fraction", .double), Column("date", .date), Column("note", .string, isOptional: true),
    ])

  private static func numbers(_ count: Int, _ generator: inout SeededGenerator, isDense: Bool) -> [Int64] {
    if isDense { return (0..<Int64(count)).map { $0 - Int64(count / 2) }.shuffled(using: &generator) }
    var numbers: Set<Int64> = [.min, .max, 0]
    while numbers.count < count { numbers.insert(Int64(bitPattern: generator.next())) }
    return Array(numbers).shuffled(using: &generator)
  }

  @Test(arguments: [1, 5, 4000])
  func `entries are put in order, even those with the greatest row key, which only forged files have`(
    count: Int
  )
    throws
  {
    var generator = SeededGenerator(seed: UInt64(count))
    let fixture = try TreeFixture()
    let index = IntegerIndexWriter(root: .null, editor: fixture.editor)
    let numbers = Self.numbers(count, &generator, isDense: true)
    for (row, number) in numbers.enumerated() {
      try index.insert(number, row: row == count / 2 ? .max : UInt64(row))
    }
    for (row, number) in numbers.enumerated() {
      let found = try index.row(of: number)
      #expect(found == (row == count / 2 ? .max : UInt64(row)))
    }
  }

  @Test(arguments: [false, true], [false, true])
  func `rows are found by numbers that are close together and by numbers that are far apart`(
    isDense: Bool, isEncrypted: Bool
  ) throws {
    var generator = SeededGenerator(seed: isDense ? 1 : 2)
    let key = isEncrypted ? [UInt8](repeating: 7, count: 64) : nil
    let database = try Database(
      creatingIn: MemoryStorage(), options: .init(encryptionKey: key, decryptedMemory: 1 << 20))
    let numbers = Self.numbers(5000, &generator, isDense: isDense)
    try database.write { transaction in
      let table = try transaction.createTable(Self.schema)
      for number in numbers {
        try table.insert { (row: inout NewRow) throws(StorageError) in
          try row.set(0, number)
          try row.set(1, String(repeating: "x", count: Int(number & 63)) + "\(number)")
          if number & 7 != 0 { try row.set(2, number / 2) }
          try row.set(3, Double(number))
        }
      }
    }
    let snapshot = try database.snapshot()
    let table = try #require(try snapshot.table("T"))
    // The first pass looks the numbers up in random order. The second pass looks up all numbers again.
    for number in numbers.shuffled(using: &generator) + numbers {
      let found = try table.withRow(primaryKey: number) { (group, row) throws(StorageError) -> Bool in
        let text = try group.texts(1, from: row).bytes(row).array
        let ids = try group.integers(0)
        let integers = try group.integers(2)
        let fractions = try group.doubles(3)
        let note = try group.texts(5, from: row)
        guard ids[row] == number, fractions[row] == Double(number), note.isNull(row) else { return false }
        guard number & 7 == 0 ? integers.isNull(row) : integers[row] == number / 2 else { return false }
        return text == Array((String(repeating: "x", count: Int(number & 63)) + "\(number)").utf8)
      }
      #expect(found == true, "\(number)")
    }
    let known = Set(numbers)
    for number in numbers where number < .max && !known.contains(number + 1) {
      let found = try table.withRow(primaryKey: number + 1) { _, _ in true }
      #expect(found == nil)
    }
    #expect(IntegrityCheck.run(snapshot).isClean)
  }

  @Test(
    arguments: [1, 255, 256, 65_535, 65_536, 1 << 20, 1 << 24 - 1, 1 << 24, 1 << 32 - 1, 1 << 32] as [UInt64])
  func `rows with any distance between their keys are read as they were written`(greatest: UInt64) throws {
    var generator = SeededGenerator(seed: greatest)
    let rows = [0, greatest] + (0..<40).map { _ in generator.next() % (greatest + 1) }
    let entries = rows.enumerated().map { IntegerIndex.Entry(number: Int64($0), row: 7 + $1) }
    let database = try Database(inMemory: "test")
    let transaction = try database.beginWrite()
    defer { transaction.cancel() }
    let leaves = IntegerIndex.leaves(entries, isFull: true, transaction.editor)
    let read = try IntegerIndex.read(leaves[0].ref, transaction.editor)
    #expect(read == entries)
    let access = transaction.editor.access()
    let node = try access.node(leaves[0].ref)
    let isValid = IntegerIndexNode.isValid(node)
    #expect(isValid)
    // A leaf takes no more space than its rows need, apart from the padding of the node. Numbers without gaps take
    // none.
    let bytes =
      greatest < 256 ? 1 : greatest < 1 << 16 ? 2 : greatest < 1 << 24 ? 3 : greatest < 1 << 32 ? 4 : 8
    let length = node.bodyLength
    #expect(length < IntegerIndexNode.numbersOffset + bytes * rows.count + 8)
  }

  /// Random entries. Their numbers take from nearly no bits to eight bytes, and their rows take one byte to seven.
  private static func entries(_ count: Int, _ seed: UInt64, _ generator: inout SeededGenerator)
    -> [IntegerIndex.Entry]
  {
    let range = UInt64(count) + 1 + generator.next() >> UInt64(1 + generator.below(60))
    var numbers: Set<UInt64> = []
    while numbers.count < count { numbers.insert(generator.next() % range) }
    let base = Int64(generator.below(3) - 1) << 60 - Int64(range / 2)
    return numbers.sorted().map {
      IntegerIndex.Entry(number: base + Int64($0), row: 5 + generator.next() % (1 << UInt64(8 + seed * 8)))
    }
  }

  /// Expects that the leaves equal those that are packed anew of all entries, and frees all of them.
  private static func compare(
    _ made: [KeyedChild], _ entries: [IntegerIndex.Entry], _ editor: NodeEditor, _ round: String
  ) throws {
    let anew = IntegerIndex.leaves(entries, isFull: false, editor)
    #expect(made.map(\.leastKey) == anew.map(\.leastKey), "\(round)")
    #expect(made.map(\.rows) == anew.map(\.rows), "\(round)")
    for (made, anew) in zip(made, anew) {
      #expect(try IntegerIndex.read(made.ref, editor) == IntegerIndex.read(anew.ref, editor), "\(round)")
      let access = editor.access()
      let (node, expected) = (try access.node(made.ref), try access.node(anew.ref))
      let isValid = IntegerIndexNode.isValid(node)
      let (width, expectedWidth) = (IntegerIndexNode(node).width, IntegerIndexNode(expected).width)
      #expect(isValid && width == expectedWidth, "\(round)")
    }
    for leaf in made + anew { editor.free(leaf.ref) }
  }

  @Test(arguments: 0..<6 as Range<UInt64>, [40, 511, 512])
  func `a leaf that gets one more entry equals a leaf packed anew of all entries`(seed: UInt64, count: Int)
    throws
  {
    var generator = SeededGenerator(seed: seed)
    let fixture = try TreeFixture()
    var copied = 0
    for round in 0..<300 {
      let all = Self.entries(count + 1, seed, &generator)
      // In some rounds the new entry is next to the middle, where a full leaf is split.
      let place = round % 4 == 0 ? min(count, 254 + generator.below(6)) : generator.below(count + 1)
      var before = all
      let entry = before.remove(at: place)
      let leaf = IntegerIndex.leaves(before, isFull: true, fixture.editor)[0].ref
      if let made = try IntegerIndex.insert(entry, into: leaf, fixture.editor, fixture.editor.access()) {
        copied += 1
        let leaves =
          switch made {
          case .one(let leaf): [leaf]
          case .list(let leaves): leaves
          }
        try Self.compare(leaves, all, fixture.editor, "round \(round)")
      } else {
        fixture.editor.free(leaf)
      }
    }
    #expect(copied > (count == 512 ? 60 : 150))
  }

  @Test(arguments: 0..<6 as Range<UInt64>, [3, 40, 512])
  func `a leaf that loses an entry equals a leaf packed anew of the others`(
    seed: UInt64, count: Int
  ) throws {
    var generator = SeededGenerator(seed: seed)
    let fixture = try TreeFixture()
    var copied = 0
    for round in 0..<300 {
      let all = Self.entries(count, seed, &generator)
      // The first and the last entry are removed as often as all others together.
      let place = round % 3 == 0 ? 0 : round % 3 == 1 ? count - 1 : generator.below(count)
      var others = all
      let entry = others.remove(at: place)
      let leaf = IntegerIndex.leaves(all, isFull: true, fixture.editor)[0].ref
      if let made = try IntegerIndex.remove(
        entry.number, fromLeaf: leaf, fixture.editor, fixture.editor.access())
      {
        copied += 1
        try Self.compare([made], others, fixture.editor, "round \(round)")
      } else {
        fixture.editor.free(leaf)
      }
    }
    #expect(copied > 60)
  }

  /// The first half has no gap, or the new number fills its only gap.
  @Test(arguments: [(nil, 1001), (100, 100), (257, 256)] as [(Int64?, Int64)])
  func `consecutive numbers take no space after their leaf is split`(missing: Int64?, number: Int64)
    throws
  {
    let fixture = try TreeFixture()
    let editor = fixture.editor
    let numbers = (Array(0...256) + (0..<300).map { 1000 + 2 * $0 }).filter { $0 != missing && $0 != number }
    let before = numbers.prefix(512).map { IntegerIndex.Entry(number: $0, row: UInt64($0) * 1000) }
    let leaf = IntegerIndex.leaves(before, isFull: true, editor)[0].ref
    let root = try IntegerIndex.insert([.init(number: number, row: 5)], in: leaf, editor)
    let access = editor.access()
    let children = try access.children(of: root)
    try #require(children.count == 2)
    let node = try access.node(children[0], .integerIndex)
    let (width, count) = (IntegerIndexNode(node).width, IntegerIndexNode(node).count)
    #expect(width == 0 && count == 257)
  }

  @Test(arguments: [-2, 302])
  func `consecutive numbers take no space after the number beside them is removed`(number: Int64) throws {
    let fixture = try TreeFixture()
    let editor = fixture.editor
    let before = (Array(0...300) + [number]).sorted().map {
      IntegerIndex.Entry(number: $0, row: UInt64(7 + $0))
    }
    let leaf = IntegerIndex.leaves(before, isFull: true, editor)[0].ref
    let root = try IntegerIndex.remove(number, from: leaf, editor)
    let access = editor.access()
    let node = try access.node(root, .integerIndex)
    let (width, count) = (IntegerIndexNode(node).width, IntegerIndexNode(node).count)
    #expect(width == 0 && count == 301)
  }

  @Test(arguments: 0..<4)
  func `a leaf that the validator accepts has its numbers in order`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    var accepted = 0
    let database = try Database(inMemory: "test")
    let transaction = try database.beginWrite()
    defer { transaction.cancel() }
    let editor = transaction.editor
    for _ in 0..<20_000 {
      var body = [UInt8](repeating: 0, count: 24) + generator.bytes(generator.below(64)).sorted()
      body[0] = UInt8(generator.below(20))
      body[2] = [0, 1, 2, 4, 8, 16, 32, 64, 3][generator.below(9)]
      body[3] = [0, 1, 2, 4, 8, 16, 24, 32, 64, 3][generator.below(10)]
      for index in 8..<24 { body[index] = generator.chance(50) ? 0xff : UInt8(generator.below(256)) }
      if generator.chance(50) { body[15] = 0x7f }
      let arena = editor.arena
      let node = arena.make(kind: .integerIndex, level: 0, refCount: 0, bodyLength: body.count)
      node.copy(body, at: 0)
      let access = editor.access()
      let view = try access.node(node.ref)
      if IntegerIndexNode.isValid(view) {
        accepted += 1
        let leaf = IntegerIndexNode(view)
        for index in 0..<leaf.count {
          #expect(index == 0 || leaf.number(index - 1) < leaf.number(index))
          #expect(leaf.find(leaf.number(index)) == index)
          _ = leaf.row(index)
        }
        _ = leaf.find(.min)
        _ = leaf.find(.max)
      }
      editor.free(node.ref)
    }
    #expect(accepted > 100)
  }
}
