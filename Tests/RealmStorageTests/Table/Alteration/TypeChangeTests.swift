import RealmTestSupport
import Testing

@testable import RealmStorage

/// Columns whose type changes.
@Suite struct TypeChangeTests {
  /// Ten values of a type in ascending order. For booleans there are only two different values.
  private static func values(of type: ColumnType) -> [Value] {
    (0..<10).map { number in
      switch type {
      case .bool: .bool(number > 4)
      case .int64: .int(Int64(number))
      case .float: .float(Float(number) + 0.5)
      case .double: .double(Double(number) - 3.5)
      case .string: .string(String(repeating: "t", count: number == 9 ? 5000 : number))
      case .data: .data([UInt8](repeating: UInt8(number), count: number == 9 ? 5000 : 3))
      case .date: .date(Timestamp(seconds: Int64(number), nanoseconds: Int32(number)))
      case .objectID: .objectID(ObjectIDBytes(high: UInt64(number), low: 1))
      case .uuid: .uuid(SixteenBytes(high: UInt64(number), low: 1))
      case .decimal128: .decimal128(DecimalNumber(number).stored)
      case .link: .link(UInt64(number))
      case .mixed: .string("mixed \(number)")
      }
    }
  }

  private struct Conversion {
    let from: [Value]
    let to: [Value]
    let mayBeNull: Bool

    func convert(_ value: Value) -> Value {
      switch value {
      case .list(let elements, _): return .list(elements.map(convert))
      case .map(let map, _): return .map(map.mapped(convert))
      case .null: return mayBeNull ? .null : to[0]
      default: return from.firstIndex(of: value).map { to[$0] } ?? to[0]
      }
    }
  }

  private static func cell(
    _ collection: ColumnCollection, _ values: [Value], isOptional: Bool, _ generator: inout SeededGenerator
  ) -> Value {
    switch collection {
    case .none:
      return isOptional && generator.chance(20) ? .null : values[generator.below(10)]
    case .list:
      let count = generator.chance(10) ? 1500 : generator.below(6)
      return .list((0..<count).map { _ in values[generator.below(10)] })
    case .set:
      // The first and the last value are different even for booleans.
      return .list(generator.chance(30) ? [] : [values[0], values[9]])
    case .map:
      var map = ValueMap()
      for number in 0..<generator.below(5) { map["key \(number)"] = values[generator.below(10)] }
      return .map(map)
    }
  }

  @Test(arguments: 0..<Slow.count(8, slow: 60), [nil, Keys.first])
  func `a column of any type becomes a column of any other type with the converted values`(
    seed: Int, key: [UInt8]?
  ) throws {
    var generator = SeededGenerator(seed: UInt64(seed))
    let types = ColumnType.allCases
    for _ in 0..<12 {
      let (from, to) = (types[generator.below(types.count)], types[generator.below(types.count)])
      let collection = ColumnCollection(rawValue: UInt8(generator.below(4)))!
      let note = Comment(rawValue: "\(from) to \(to), \(collection), seed \(seed)")
      let column = Column("x", from, isOptional: generator.chance(50), collection: collection)
      let isOptional = generator.chance(50)
      let conversion = Conversion(
        from: Self.values(of: from), to: Self.values(of: to),
        mayBeNull: Column("x", to, isOptional: isOptional, collection: collection).isOptional)
      var options = Database.Options(encryptionKey: key)
      options.clusterRows = 8
      let database = try Database(creatingIn: SimulatedDisk(), options: options)
      var expected: [Value] = []
      try database.write { transaction in
        let table = try transaction.createTable(
          TableSchema("Thing", columns: [Column("id", .int64, index: .unique)]))
        for number in Int64(0)..<20 { try table.insert(["id": .int(number)]) }
        try table.addColumn(column)
        expected = Array(repeating: column.absentValue, count: 20)
        for number in Int64(20)..<50 {
          let value = Self.cell(collection, conversion.from, isOptional: column.isOptional, &generator)
          try table.insert(["id": .int(number), "x": value])
          expected.append(value)
        }
      }
      let before = try database.snapshot()
      let id = try #require(try before.table("Thing")?.schema.columns[1].id)
      try database.write { transaction in
        let table = try #require(try transaction.table("Thing"))
        try table.changeType(ofColumn: 1, to: to, isOptional: isOptional, convert: conversion.convert)
        try table.insert(["id": .int(50)])
      }
      let after = try database.snapshot()
      let report = IntegrityCheck.run(after)
      #expect(report.findings == [], note)
      let table = try #require(try after.table("Thing"))
      let new = table.schema.columns[1]
      #expect(new.id == id && new.type == to && new.collection == collection, note)
      let converted = expected.map(conversion.convert) + [new.defaultValue]
      for (row, value) in converted.enumerated() {
        #expect(try table.value(new, ofRow: UInt64(row)) == value, note)
      }
      let changes = try after.changes(inTable: "Thing", since: before)
      #expect(
        changes.modifications.map { Int($0.key) }
          == expected.indices.filter { expected[$0] != converted[$0] }, note)
      #expect(changes.insertions == [50] && changes.deletions == [], note)
      #expect(try before.table("Thing")?.value(column.numbered(id), ofRow: 30) == expected[30], note)
      // After further changes the column behaves like any other column.
      try database.write { transaction in
        let table = try #require(try transaction.table("Thing"))
        for row in 0..<51 { try table.set(converted[50 - row], 1, ofRow: UInt64(row)) }
      }
      #expect(try IntegrityCheck.run(database.snapshot()).findings == [], note)
    }
  }

  @Test func `an index is made anew when the type of its column changes, and keeps its id`() throws {
    let database = try Database(inMemory: "test")
    try database.write { transaction in
      let table = try transaction.createTable(
        TableSchema(
          "T", columns: [Column("key", .int64, index: .unique), Column("n", .int64, index: .plain)]))
      for number in Int64(0)..<600 { try table.insert(["key": .int(number), "n": .int(number % 7)]) }
      for (position, index) in [ColumnIndex.unique, .plain].enumerated() {
        try table.changeType(ofColumn: position, to: .string) { value in
          guard case .int(let number) = value else { return .string("") }
          return .string("number \(number)")
        }
        #expect(table.schema.columns[position].index == index)
        #expect(Int(table.schema.columns[position].indexID) == position + 1)
      }
    }
    let table = try #require(try database.snapshot().table("T"))
    #expect(try table.row(withPrimaryKey: .string("number 412")) == 412)
    #expect(try table.count(with: .string("number 3"), in: table.schema.columns[1]) == 86)
    #expect(try IntegrityCheck.run(database.snapshot()).findings == [])
  }

  @Test func `a conversion that gives two rows the same primary key is refused, and nothing is committed`()
    throws
  {
    let database = try Database(inMemory: "test")
    try database.write { transaction in
      let table = try transaction.createTable(
        TableSchema("T", columns: [Column("key", .int64, index: .unique)]))
      for number in Int64(0)..<3 { try table.insert(["key": .int(number)]) }
    }
    let transaction = try database.beginWrite()
    let table = try #require(try transaction.table("T"))
    let refusal = StorageError.duplicateKey(table: "T", column: "key", path: "test")
    #expect(throws: refusal) { try table.changeType(ofColumn: 0, to: .string) { _ in .string("same") } }
    #expect(throws: refusal) { try transaction.commit() }
    #expect(try database.snapshot().table("T")?.row(withPrimaryKey: .int(2)) == 2)
  }

  @Test func `a link to a row with the same key in another table is a different value`() throws {
    let database = try Database(inMemory: "targets")
    var (other, before): (UInt32, Snapshot?) = (0, nil)
    try database.write { transaction in
      other = try transaction.createTable(TableSchema("Other", columns: [Column("n", .int64)])).schema.id
      let table = try transaction.createTable(
        TableSchema("T", columns: [Column("next", .link), Column("all", .link, collection: .list)]))
      try #require(try transaction.table("Other")).insert([:])
      for number in 0..<5 {
        try table.insert([
          "next": number == 3 ? .null : .link(0), "all": .list(number == 4 ? [.link(0)] : []),
        ])
      }
    }
    before = try database.snapshot()
    try database.write { transaction in
      let table = try #require(try transaction.table("T"))
      try table.changeType(ofColumn: 0, to: .link, isOptional: true, target: other) { $0 }
      try table.changeType(ofColumn: 1, to: .link, target: other) { $0 }
    }
    let changes = try database.snapshot().changes(inTable: "T", since: try #require(before))
    #expect(changes.modifications.map { $0.key } == [0, 1, 2, 4])
    #expect(IntegrityCheck.run(try database.snapshot()).findings == [])
  }

  @Test func `the default of a column is converted, even if it is zero`() throws {
    let database = try Database(inMemory: "defaults")
    try database.write { transaction in
      let table = try transaction.createTable(TableSchema("T", columns: [Column("kind", .int64)]))
      try table.insert([:])
      try table.changeType(ofColumn: 0, to: .string) { $0 == .int(0) ? .string("none") : .string("?") }
      let row = try table.insert([:])
      for key in [0, row] { #expect(try table.value(0, ofRow: key) == .string("none")) }
    }
  }

  @Test func `embedded rows that a column owns are removed when its type changes`() throws {
    let database = try Database(inMemory: "test")
    try database.write { transaction in
      let parts = try transaction.createTable(
        TableSchema("Part", isEmbedded: true, columns: [Column("n", .int64)]))
      let table = try transaction.createTable(
        TableSchema("T", columns: [Column("part", .link, target: parts.schema.id), Column("next", .link)]))
      for number in Int64(0)..<20 {
        let part = try parts.insert(["n": .int(number)])
        try table.insert(["part": .link(part), "next": number == 0 ? .null : .link(0)])
      }
      try table.changeType(ofColumn: 0, to: .int64) { value in
        guard case .link(let row) = value else { return .int(-1) }
        return .int(Int64(row))
      }
      try table.changeType(ofColumn: 1, to: .mixed) { value in
        guard case .link(let row) = value else { return .null }
        return .typedLink(table: table.schema.id, row: row)
      }
    }
    let snapshot = try database.snapshot()
    #expect(try snapshot.table("Part")?.count == 0)
    let table = try #require(try snapshot.table("T"))
    #expect(try table.value(table.schema.columns[0], ofRow: 7) == .int(7))
    #expect(try table.linkCount(of: 0, column: table.schema.columns[1], of: table.schema) == 19)
    #expect(IntegrityCheck.run(snapshot).findings == [])
  }
}

extension Column {
  fileprivate func numbered(_ id: UInt16) -> Column {
    var column = self
    column.id = id
    return column
  }
}
