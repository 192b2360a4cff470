import RealmTestSupport
import Testing

@testable import RealmStorage

/// Collections that are read in their former state while the transaction changes them.
@Suite struct HeldCollectionTests {
  private static let name = "Owners"
  private static let columns = [
    Column("number", .int64), Column("list", .int64, collection: .list),
    Column("texts", .string, collection: .set), Column("map", .mixed, collection: .map),
    Column("strings", .string, isOptional: true, collection: .list),
  ]

  private func database(spillBytes: Int = 64 << 20) throws -> Database {
    var options = Database.Options()
    options.spillBytes = spillBytes
    let database = try Database(creatingIn: SimulatedDisk(), options: options)
    try database.write { transaction in
      _ = try transaction.createTable(TableSchema(Self.name, columns: Self.columns))
    }
    return database
  }

  /// Makes many random changes of a collection.
  private func change(
    _ table: WritableTable, _ column: Int, _ row: UInt64, _ generator: inout SeededGenerator
  ) throws {
    for _ in 0..<20 + generator.below(60) {
      let number = Int64(generator.below(100_000))
      switch column {
      case 1, 4:
        let count = try #require(try table.listCount(column, ofRow: row))
        let value = column == 1 ? Value.int(number) : .string(String(repeating: "é", count: Int(number % 50)))
        let place = generator.below(count + 1)
        switch generator.below(6) {
        case 0..<3:
          let values = Array(repeating: value, count: 1 + generator.below(30))
          try table.insert(values, at: place, ofList: column, ofRow: row)
        case 3 where place < count: try table.setElement(value, at: place, ofList: column, ofRow: row)
        case 4 where place < count:
          let range = place..<min(count, place + generator.below(600))
          try table.removeElements(range, ofList: column, ofRow: row)
        default:
          if count > 0 { try table.moveElement(from: count / 2, to: 0, ofList: column, ofRow: row) }
        }
      case 2:
        if generator.chance(40) {
          try table.remove(.string("text \(number % 500)"), fromSet: 2, ofRow: row)
        } else {
          try table.insert([.string("text \(number % 3000)")], intoSet: 2, ofRow: row)
        }
      default:
        if generator.chance(30) {
          try table.removeValue(forKey: "key \(number % 500)", ofMap: 3, ofRow: row)
        } else {
          let value = generator.chance(20) ? Value.list([.int(number)]) : .int(number)
          try table.setValue(value, forKey: "key \(number % 2000)", ofMap: 3, ofRow: row)
        }
      }
    }
  }

  private func elements(_ held: HeldCollection, _ generator: inout SeededGenerator) throws -> [Value] {
    var elements: [Value] = []
    while elements.count < held.count {
      let read = try held.elements(from: elements.count)
      guard !read.isEmpty else { return elements }
      elements += read
    }
    if held.count > 0 {
      let place = generator.below(held.count)
      #expect(try held.element(at: place) == elements[place])
    }
    #expect(try held.elements(from: held.count).isEmpty)
    return elements
  }

  @Test(arguments: 0..<12)
  func `a held collection stays as it was while the transaction changes the collection`(seed: UInt64)
    throws
  {
    let database = try database(spillBytes: seed % 3 == 0 ? 1 << 14 : 64 << 20)
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<4 {
      var kept: [(held: HeldCollection, expected: [Value])] = []
      let transaction = try database.beginWrite()
      let table = try #require(try transaction.table(Self.name))
      if try seed % 2 == 0 || !table.contains(0) { try table.insert(["number": .int(1)]) }
      let rows: [UInt64] = try (0..<3).filter { try table.contains($0) }
      for _ in 0..<30 {
        let (row, column) = (rows[generator.below(rows.count)], 1 + generator.below(4))
        try change(table, column, row, &generator)
        let expected = try #require(try table.value(column, ofRow: row)?.elements)
        let held = try #require(try table.holding(column, ofRow: row))
        #expect(held.count == expected.count)
        kept.append((held, expected))
        if generator.chance(40) { kept.remove(at: generator.below(kept.count)) }
        if generator.chance(10) { try table.set(.list([]), 1, ofRow: row) }
        for (held, expected) in kept {
          #expect(try elements(held, &generator) == expected, "seed \(seed)")
        }
        if generator.chance(20) { kept = [] }
      }
      if generator.chance(30) { transaction.cancel() } else { try transaction.commit() }
      for (held, expected) in kept { #expect(try elements(held, &generator) == expected, "seed \(seed)") }
      #expect(IntegrityCheck.run(try database.snapshot()).findings == [], "seed \(seed)")
    }
  }

  @Test func `one change during a loop over many elements copies little`() throws {
    let database = try database()
    let count = 200_000
    try database.write { transaction in
      let table = try #require(try transaction.table(Self.name))
      try table.insert(["number": .int(1)])
      try table.append((0..<count).map { Value.int(Int64($0)) }, toList: 1, ofRow: 0)
    }
    try database.write { transaction in
      let table = try #require(try transaction.table(Self.name))
      // All leaves have been copied for the transaction before the loop.
      for place in stride(from: 0, to: count, by: 300) {
        try table.setElement(.int(-1), at: place, ofList: 1, ofRow: 0)
      }
      _ = try table.value(0, ofRow: 0)
      let before = transaction.editor.arena.usedBytes
      var (sum, position): (Int, Int) = (0, 0)
      let held = try #require(try table.holding(1, ofRow: 0))
      while position < held.count {
        let values = try held.elements(from: position)
        if position == 0 { try table.setElement(.int(7), at: count / 2, ofList: 1, ofRow: 0) }
        sum += values.count
        position += values.count
      }
      _ = try table.value(0, ofRow: 0)
      #expect(sum == count)
      #expect(transaction.editor.arena.usedBytes - before < 64 << 10)
    }
  }

  @Test func `changes after a loop are made in place again`() throws {
    let database = try database()
    try database.write { transaction in
      let table = try #require(try transaction.table(Self.name))
      try table.insert(["number": .int(1)])
      try table.append((0..<50_000).map { Value.int(Int64($0)) }, toList: 1, ofRow: 0)
      func change() throws {
        for place in stride(from: 0, to: 50_000, by: 400) {
          try table.setElement(.int(Int64(-place)), at: place, ofList: 1, ofRow: 0)
        }
        _ = try table.value(0, ofRow: 0)
      }
      try change()
      for round in 0..<20 {
        let before = transaction.editor.arena.usedBytes
        _ = try table.holding(1, ofRow: 0)
        try change()
        try change()
        // Memory that was freed while the collection was held is used again afterwards.
        if round > 2 { #expect(transaction.editor.arena.usedBytes - before < 16 << 10) }
      }
    }
    #expect(IntegrityCheck.run(try database.snapshot()).findings == [])
  }
}
