import RealmTestSupport
import Testing

@testable import RealmStorage

/// Indexes of columns that hold values of any type.
@Suite struct MixedIndexTests {
  private static let column = Column("any", .mixed, index: .plain)

  /// Values of every type. Some are equal values of several types, and some share all the bytes that an entry holds.
  private static func pool(linking rows: [UInt64] = [3, 300], of table: UInt32 = 1) -> [Value] {
    let texts =
      ["", "a", "a\0b", "\0", "\u{ff}"] + [246, 247, 248, 249].map { String(repeating: "k", count: $0) }
    let data: [[UInt8]] =
      [[], [0], [0xff], [0, 0xff], [0, 0]] + [247, 248, 249].map { Array(repeating: 0xff, count: $0) }
      + [Array(repeating: 0, count: 124), Array(repeating: 0, count: 125)]
    let decimals = [
      "0", "1", "1.0", "-1.5", "0.1", "1E400", "-1E400", "1E-400", "9007199254740993", "Infinity", "NaN",
    ]
    let doubles = [
      0, -0.0, 1, -1.5, 0.1, 0x1p53, 0x1p63, -.infinity, .infinity, .nan, .leastNonzeroMagnitude,
    ]
    let floats: [Float] = [0, 1, -1.5, 0.1, .nan, .infinity]
    let numbers: [Int64] = [0, 1, -1, .max, .min, .max - 1, 1 << 53, 1 << 53 + 1]
    return [.null, .bool(false), .bool(true)] + numbers.map { .int($0) } + doubles.map { .double($0) }
      + floats.map { .float($0) }
      + decimals.compactMap { DecimalNumber(parsing: $0) }.map { .decimal128($0.stored) }
      + texts.map { .string($0) } + data.map { .data($0) }
      + [
        .date(Timestamp(seconds: -1)), .date(Timestamp(seconds: 1, nanoseconds: 300)),
        .objectID(ObjectIDBytes(high: 1, low: 2)), .uuid(SixteenBytes(high: 1, low: 2)),
        .uuid(SixteenBytes(high: 2, low: 1)), .list([]), .list([.int(1)]), .list([.double(1)]),
        .map(ValueMap(["a": .null])), .map(ValueMap(["a": .int(1)])), .map(ValueMap(["a": .double(1)])),
      ] + rows.map { .typedLink(table: table, row: $0) }
  }

  @Test func `equal values have the same encoding, and other encodings have the order that sorts use`() {
    for left in Self.pool() {
      let encoded = IndexKey.encode(left, of: Self.column)
      var entry = encoded
      IndexKey.appendRow(7, to: &entry)
      #expect(IndexKey.valueLength(entry.span.bytes, of: Self.column) == encoded.count, "\(left)")
      for right in Self.pool() {
        let other = IndexKey.encode(right, of: Self.column)
        if ValueOrder.areEqual(left, right) { #expect(encoded == other, "\(left) and \(right)") }
        guard encoded != other else { continue }
        #expect(!other.starts(with: encoded), "\(left) and \(right)")
        #expect(
          encoded.lexicographicallyPrecedes(other) == (ValueOrder.sort(left, right) < 0),
          "\(left) and \(right)")
      }
    }
  }

  @Test func `bytes that are not an entry have no value length`() {
    let entries: [[UInt8]] = [[], [1], [1, 0], [1, 12], [1, 255], [1, 4, 97], [1, 5, 0, 0xff]]
    for entry in entries {
      #expect(IndexKey.valueLength(entry.span.bytes, of: Self.column) == nil, "\(entry)")
    }
  }

  @Test(arguments: Slow.seeds(4, slow: 40), [nil, Keys.first])
  func `rows are found by their mixed values after any changes`(seed: UInt64, key: [UInt8]?) throws {
    print("seed \(seed)")
    var generator = SeededGenerator(seed: seed)
    var options = Database.Options(encryptionKey: key)
    options.clusterRows = [8, 512][Int(seed) % 2]
    let database = try Database(creatingIn: SimulatedDisk(), options: options)
    try database.write { transaction in
      _ = try transaction.createTable(TableSchema("Thing", columns: [Column("id", .int64), Self.column]))
    }
    var model: [UInt64: Value] = [:]
    for _ in 0..<10 {
      try database.write { transaction in
        let table = try #require(try transaction.table("Thing"))
        for _ in 0..<1 + generator.below(100) {
          try Self.change(table, &model, &generator)
        }
        try Self.expect(try table.reading(), model, seed)
      }
      let snapshot = try database.snapshot()
      try Self.expect(try #require(try snapshot.table("Thing")), model, seed)
      #expect(IntegrityCheck.run(snapshot).findings == [], "seed \(seed)")
    }
    // An index that is added later finds the same rows.
    try database.write { transaction in
      let table = try #require(try transaction.table("Thing"))
      try table.setIndex(.none, ofColumn: 1)
      try table.setIndex(.plain, ofColumn: 1)
    }
    try Self.expect(try #require(try database.snapshot().table("Thing")), model, seed)
  }

  private static func change(
    _ table: WritableTable, _ model: inout [UInt64: Value], _ generator: inout SeededGenerator
  ) throws {
    let keys = model.keys.sorted()
    let pool = pool(linking: Array(keys.suffix(3)), of: table.schema.id)
    let value = pool[generator.below(pool.count)]
    switch generator.below(10) {
    case 0 where !keys.isEmpty:
      let start = generator.below(keys.count)
      let gone = keys[start..<min(keys.count, start + [1, 2, 20][generator.below(3)])]
      #expect(try table.remove(Array(gone)) == gone.count)
      for key in gone { model[key] = nil }
      for (key, value) in model {
        if case .typedLink(_, let row) = value, gone.contains(row) { model[key] = .null }
      }
    case 1...3 where !keys.isEmpty:
      let key = keys[generator.below(keys.count)]
      try table.set(value, "any", ofRow: key)
      model[key] = value
    default:
      model[try table.insert(["any": value])] = value
    }
  }

  private static func expect(_ table: Table, _ model: [UInt64: Value], _ seed: UInt64) throws {
    let column = table.schema.columns[1]
    for value in pool(linking: Array(model.keys.sorted().suffix(3)), of: table.schema.id) {
      let expected = model.filter { ValueOrder.areEqual($0.value, value) }.keys.sorted()
      #expect(try table.rows(with: value, in: column) == expected, "seed \(seed), \(value)")
      #expect(try table.count(with: value, in: column) == expected.count, "seed \(seed), \(value)")
      #expect(
        try table.rows(where: .compare(ColumnPath(1), .equal, value)) == expected, "seed \(seed), \(value)")
    }
    // The lists of values are short, so that the search uses the index even if there are few rows.
    let one = ValueMap(["a": .int(1)])
    for some in [
      [.int(1), .double(1)], [.string("a"), .double(.nan), .null], [.list([.int(1)]), .list([.double(1)])],
      [.map(one), .list([])],
    ] as [[Value]] {
      let isOne = { (value: Value) in some.contains { ValueOrder.areEqual($0, value) } }
      let expected = model.filter { isOne($0.value) }.keys.sorted()
      #expect(try table.rows(where: .isIn(ColumnPath(1), some)) == expected, "seed \(seed), \(some)")
      #expect(try table.count(where: .isIn(ColumnPath(1), some)) == expected.count, "seed \(seed), \(some)")
    }
  }
}
