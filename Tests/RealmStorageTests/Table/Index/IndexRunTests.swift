import RealmTestSupport
import Testing

@testable import RealmStorage

@Suite struct IndexRunTests {
  @Test(arguments: 0..<8)
  func `a run returns its entries in the order of their bytes, whatever their order of insertion`(
    seed: UInt64
  )
    throws
  {
    var generator = SeededGenerator(seed: seed)
    let column = Column("text", .string, isOptional: true, index: .plain)
    var run = IndexRun()
    // The codes of texts that are kept outside of the run. Some texts get their code while entries are added.
    var known = ValueCodes(first: 0, isHashed: true)
    var entries: [[UInt8]] = []
    var texts: Set<String> = []
    // There are few rows of each value, or many.
    let lengths = seed < 4 ? 14 : 2
    for row in 0..<(seed < 4 ? 300 : 4000) {
      // Some texts are the beginning of others, and some differ only after their first 8 bytes.
      let text =
        String("aaaaaaaaaab\u{0}b".prefix(generator.below(lengths))) + ["", "x", "é"][generator.below(3)]
      let value: Value = generator.chance(10) ? .null : .string(text)
      if value != .null { texts.insert(text) }
      let key = seed % 2 == 0 ? UInt64(row) : UInt64(generator.below(1 << 20)) << 10 | UInt64(row)
      let bytes = Array(text.utf8)
      switch generator.below(3) {
      case 0 where value != .null: run.append(text: bytes.span.bytes, of: column, row: key)
      case 1 where value != .null:
        let code = known.code(of: bytes.span.bytes) ?? known.add(bytes.span.bytes)
        run.append(code, of: known, of: column, row: key)
      default: run.append(value, of: column, row: key)
      }
      var entry = IndexKey.encode(value, of: column)
      IndexKey.appendRow(key, to: &entry)
      entries.append(entry)
      // An entry may occur twice, as in a forged file whose rows have one key.
      if generator.chance(5) {
        run.append(value, of: column, row: key)
        entries.append(entry)
      }
    }
    let fixture = try TreeFixture()
    var builder = TreeBuilder(shape: .tiny, editor: fixture.editor)
    try run.append(to: &builder)
    let tree = try TreeNodes.entries(builder.finish(), fixture.editor.access())
    let sorted = run.sorted()
    let found = (0..<sorted.count).map { sorted.key($0).array }
    #expect(found == entries.sorted { $0.lexicographicallyPrecedes($1) }, "seed \(seed)")
    let unlike = found.indices.filter { $0 == 0 || found[$0] != found[$0 - 1] }.map { found[$0] }
    #expect(tree.map { $0.key } == unlike, "seed \(seed)")
    for text in texts.union(["b"]) {
      let isThere = run.contains(IndexKey.encode(.string(text), of: column).span.bytes)
      #expect(isThere == texts.contains(text), "seed \(seed)")
    }
    #expect(run.bytes >= entries.reduce(0) { $0 + $1.count })
  }

  @Test(arguments: 0..<8)
  func `an emptied run behaves like a new one`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let column = Column("text", .string, isOptional: true, index: .plain)
    var used = IndexRun()
    for round in 0..<6 {
      var new = IndexRun()
      // In each round other texts have these codes.
      var known = ValueCodes(first: 0, isHashed: true)
      for _ in 0..<6 { _ = known.add(Array("known \(generator.below(1000))".utf8).span.bytes) }
      // There are few rows, so that the run keeps its memory, or many. The rows are in order or not.
      for row in 0..<(round == 3 ? 2000 : 1 + generator.below(20)) {
        let key = round % 2 == 0 ? UInt64(row) : UInt64(generator.below(1000))
        if generator.chance(50) {
          let code = generator.below(6)
          used.append(code, of: known, of: column, row: key)
          new.append(code, of: known, of: column, row: key)
        } else {
          let value: Value = generator.chance(10) ? .null : .string("text \(generator.below(100))")
          used.append(value, of: column, row: key)
          new.append(value, of: column, row: key)
        }
      }
      let (found, expected) = (used.sorted(), new.sorted())
      #expect(used.count == new.count && used.bytes == new.bytes, "seed \(seed), round \(round)")
      #expect(
        (0..<found.count).map { found.key($0).array } == (0..<expected.count).map { expected.key($0).array },
        "seed \(seed), round \(round)")
      if used.count == 1 {
        var only = [UInt8](repeating: 7, count: 40)
        used.putOnly(into: &only)
        #expect(only == expected.key(0).array, "seed \(seed), round \(round)")
      }
      used.removeAll()
      #expect(used.count == 0 && !used.contains(IndexKey.encode(.null, of: column).span.bytes))
    }
  }
}
