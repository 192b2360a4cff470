import RealmTestSupport
import Testing

@testable import RealmStorage

@Suite struct SchemaRecordTests {
  @Test(arguments: 0..<40)
  func `a schema that is written and read again is the same`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    var schema = Self.schema(&generator)
    for _ in 0..<generator.below(20) { Self.change(&schema, &generator) }
    #expect(try TableSchema(record: schema.encoded, id: schema.id) == schema)
  }

  @Test(arguments: 0..<20)
  func `a damaged schema record gives a typed error or another schema`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let encoded = Self.schema(&generator).encoded
    for length in 0..<encoded.count { _ = try? TableSchema(record: Array(encoded[..<length]), id: 7) }
    for _ in 0..<1000 {
      var bytes = encoded
      for _ in 0...generator.below(3) { bytes[generator.below(bytes.count)] = UInt8(generator.below(256)) }
      if let read = try? TableSchema(record: bytes, id: 7), read.unknown.feature == nil {
        #expect(try TableSchema(record: read.encoded, id: 7) == read)
      }
      _ = try? TableSchema(record: generator.bytes(generator.below(60)), id: 7)
    }
  }

  @Test(arguments: 0..<40)
  func `unknown attributes are kept while the schema changes`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    var schema = Self.schema(&generator)
    let kept = [Attribute(number: 9, rule: .ignorable, value: generator.bytes(5))]
    let last = [Attribute(number: 16_000, rule: .ignorable, value: generator.bytes(200))]
    schema.unknown.table = kept + last
    for column in schema.columns where generator.chance(50) {
      schema.unknown.columns[column.id] = kept + last
    }
    for id in schema.indexIDs where generator.chance(50) { schema.unknown.indexes[id] = last }
    let before = try TableSchema(record: schema.encoded, id: 7)
    #expect(before == schema)
    var after = before
    for _ in 0..<30 { Self.change(&after, &generator) }
    let read = try TableSchema(record: after.encoded, id: 7)
    #expect(read == after)
    #expect(read.unknown.table == kept + last)
    for column in read.columns {
      #expect(read.unknown.columns[column.id] == before.unknown.columns[column.id])
      if column.index != .none, before.indexIDs.contains(column.indexID) {
        #expect(read.unknown.indexes[column.indexID] == before.unknown.indexes[column.indexID])
      }
    }
    // The unknown attributes of dropped columns and removed indexes are gone.
    #expect(Set(read.unknown.columns.keys).isSubset(of: Set(read.columns.map(\.id))))
    #expect(Set(read.unknown.indexes.keys).isSubset(of: Set(read.indexIDs)))
  }

  @Test func `a small table has a small record`() throws {
    let schema = TableSchema("T", columns: [Column("n", .int64)])
    #expect(
      schema.encoded == [
        0x01, 0x80, 1, 0x54, 0x03, 0x80, 4, 2, 0, 0, 0, 0x05, 0x80, 14, 13, 0x01, 0x80, 2, 1, 0, 0x02, 0x80,
        1, 0x6e,
        0x03, 0x80, 1, 5,
      ])
  }

  // MARK: - What is not known

  private static let needRead: [(String, @Sendable (inout TableSchema) -> Void, String)] = [
    (
      "a table's attribute", { $0.unknown.table = [.init(number: 9, rule: .knownToRead, value: [])] },
      "attribute 9 of table T"
    ),
    (
      "a table's flags", { $0.unknown.table = [.init(number: 2, rule: .knownToRead, value: [9])] },
      "flags 8 of table T"
    ),
    (
      "a column's attribute", { $0.unknown.columns[1] = [.init(number: 9, rule: .knownToRead, value: [1])] },
      "attribute 9 of column T.n"
    ),
    (
      "a role", { $0.unknown.columns[1] = [.init(number: 8, rule: .knownToRead, value: [9, 1, 0])] },
      "role 9 of column T.n"
    ),
    ("a type", { $0 = column([.type: [16]]) }, "type 16 of column T.x"),
    ("a column's flags", { $0 = column([.flags: [8]]) }, "flags 8 of column T.x"),
    ("a collection", { $0 = column([.collection: [4]]) }, "collection 4 of column T.x"),
  ]

  @Test(arguments: needRead.indices) func `a feature that readers must know is reported with its name`(
    index: Int
  ) throws {
    var schema = TableSchema("T", columns: [Column("n", .int64)])
    let (name, change, told) = Self.needRead[index]
    change(&schema)
    let error = #expect(throws: RecordFault.self, "\(name)") {
      try TableSchema(record: schema.encoded, id: 1)
    }
    guard case .unknown(let feature) = error else {
      Issue.record("\(name): \(String(describing: error))")
      return
    }
    #expect(feature.description == told && feature.need == .read)
  }

  private static let needWrite: [(String, @Sendable (inout TableSchema) -> Void, String)] = [
    (
      "a table's attribute", { $0.unknown.table = [.init(number: 9, rule: .knownToWrite, value: [])] },
      "attribute 9 of table T"
    ),
    (
      "a column's attribute", { $0.unknown.columns[1] = [.init(number: 11, rule: .knownToWrite, value: [])] },
      "attribute 11 of column T.n"
    ),
    (
      "a full-text index", { $0.index([.kind: [3], .options: [1, 0x40, 1, 9]]) },
      "kind 3 of index 1 of table T"
    ),
    ("an option", { $0.index([.kind: [1], .options: [2, 0, 0]]) }, "option 2 of index 1 of table T"),
    (
      "two columns", { $0.index([.kind: [1], .columns: [1, 0, 2, 0]]) },
      "an entry of 2 columns of index 1 of table T"
    ),
    (
      "an index of doubles", { $0.index([.kind: [1], .columns: [2, 0]]) }, "index 1 of kind 1 of column T.d"
    ),
  ]

  @Test(arguments: needWrite.indices)
  func `a feature that only writers must know is reported with its name, and the schema can be read`(
    index: Int
  ) throws {
    var schema = TableSchema("T", columns: [Column("n", .int64), Column("d", .double)])
    let (name, change, told) = Self.needWrite[index]
    change(&schema)
    let read = try TableSchema(record: schema.encoded, id: 0)
    #expect(read.columns == schema.columns)
    let feature = try #require(read.unknown.feature, "\(name)")
    #expect(feature.description == told && feature.need == .write)
  }

  @Test func `a record that contradicts itself is damage`() throws {
    let good = TableSchema("T", columns: [Column("n", .int64), Column("d", .double)])
    let wrong: [(String, (inout TableSchema) -> Void)] = [
      ("an id that was not given yet", { $0.nextColumnID = 2 }),
      ("no next id", { $0.nextColumnID = 0 }),
      ("a next id beyond all", { $0.nextColumnID = 65_537 }),
      (
        "an index whose id was not given yet",
        {
          $0.index([.kind: [1]]); $0.nextIndexID = 1
        }
      ),
      ("an index of a column that is not there", { $0.index([.kind: [1], .columns: [9, 0]]) }),
      ("an index of no column", { $0.index([.kind: [1], .columns: []]) }),
      ("options that are no record", { $0.index([.kind: [1], .options: [1]]) }),
      (
        "a known attribute with another rule",
        { $0.unknown.table = [.init(number: 2, rule: .ignorable, value: [0])] }
      ),
      ("a target of what is no link", { $0 = Self.column([.target: [1, 0, 0, 0]]) }),
      ("a default of another length", { $0 = Self.column([.storedDefault: [2, 2]]) }),
      ("a type of two bytes", { $0 = Self.column([.type: [5, 0]]) }),
      ("a column without a name", { $0 = Self.column([.name: nil]) }),
      ("an id of 0", { $0 = Self.column([.id: [0, 0]]) }),
    ]
    #expect(try TableSchema(record: good.encoded, id: 0) == good)
    for (name, change) in wrong {
      var schema = good
      change(&schema)
      #expect(throws: RecordFault.damaged, "\(name)") { try TableSchema(record: schema.encoded, id: 0) }
    }
    try expectUnusualCompanionsRefused()
    let many = TableSchema("T", columns: (0...1000).map { Column("\($0)", .int64) })
    #expect(throws: RecordFault.damaged) { try TableSchema(record: many.encoded, id: 0) }
    var second = TableSchema("T", columns: [Column("n", .int64)])
    second.index([.kind: [1]], again: true)
    #expect(try TableSchema(record: second.encoded, id: 0).unknown.feature?.need == .write)
    var twice = TableSchema("T", columns: [Column("a", .int64), Column("b", .int64)])
    twice.columns[1].name = "a"
    #expect(throws: RecordFault.damaged) { try TableSchema(record: twice.encoded, id: 0) }
  }

  /// Expects that companions without a column, and companions of a column that can't have them, are refused.
  private func expectUnusualCompanionsRefused() throws {
    let list = TableSchema(
      "T", hasElementIDs: true,
      columns: [Column("list", .int64, collection: .list), Column("next", .link), Column("n", .int64)])
    #expect(try TableSchema(record: list.encoded, id: 0) == list)
    #expect(list.columns.map(\.role) == [.property, .elementIDs(of: 1), .property, .property])
    let wrong: [(String, (inout TableSchema) -> Void)] = [
      ("a companion of a column that is not there", { $0.columns[1].role = .elementIDs(of: 9) }),
      ("a companion of itself", { $0.columns[1].role = .elementIDs(of: 2) }),
      ("ids of what is no list", { $0.columns[1].role = .elementIDs(of: 3) }),
      ("two companions of one role", { $0.add(Column(.elementIDs(of: 1))) }),
      ("places without ids", { $0.columns[1] = Self.numbered(Column(.elementPlaces(of: 1)), 2) }),
      ("a companion with a name", { $0.columns[1].name = "ids" }),
      ("a companion of another type", { $0.columns[1].type = .double }),
      ("links to absent rows from a number", { $0.add(Column(.absentLinks(of: 4))) }),
      ("a companion before its column", { $0.columns.swapAt(0, 1) }),
    ]
    for (name, change) in wrong {
      var schema = list
      change(&schema)
      #expect(throws: RecordFault.damaged, "\(name)") { try TableSchema(record: schema.encoded, id: 0) }
    }
    var linked = list
    linked.add(Column(.absentLinks(of: 3)))
    linked.add(Column(.elementPlaces(of: 1)))
    #expect(try TableSchema(record: linked.encoded, id: 0) == linked)
  }

  private static func numbered(_ column: Column, _ id: UInt16) -> Column {
    var column = column
    column.id = id
    return column
  }

  // MARK: - Making

  private static func schema(_ generator: inout SeededGenerator) -> TableSchema {
    let columns = (0..<1 + generator.below(20)).map { column(named: "column \($0) é", &generator) }
    var schema = TableSchema(
      "Table é", isEmbedded: generator.chance(30), isHidden: generator.chance(30),
      hasElementIDs: generator.chance(30), columns: columns)
    schema.id = 7
    return schema.numbered(7)
  }

  private static func column(named name: String, _ generator: inout SeededGenerator) -> Column {
    let type = ColumnType.allCases[generator.below(ColumnType.allCases.count)]
    let collection = generator.chance(30) ? ColumnCollection(rawValue: UInt8(1 + generator.below(3)))! : .none
    let index: ColumnIndex =
      collection == .none && type.canHave(.plain) && generator.chance(50) ? .plain : .none
    var column = Column(
      name, type, isOptional: generator.chance(50), collection: collection, index: index,
      target: type == .link ? UInt32(generator.below(100)) : 0)
    if type == .string, collection == .none, !column.isOptional { column.storedDefault = .string("known") }
    return column
  }

  private static func change(_ schema: inout TableSchema, _ generator: inout SeededGenerator) {
    let position = generator.below(max(schema.columns.count, 1))
    guard position < schema.columns.count, generator.chance(60) else {
      return schema.add(column(named: "column \(schema.nextColumnID) more", &generator))
    }
    let column = schema.columns[position]
    if column.isCompanion { return }
    if generator.chance(30) {
      while let companion = schema.columns.lastIndex(where: { $0.role.owner == column.id }) {
        schema.remove(at: companion, isHeld: false)
      }
      return schema.remove(at: position, isHeld: generator.chance(50))
    }
    if column.type.canHave(.plain), !column.isCollection {
      return schema.setIndex(column.index == .none ? .plain : .none, at: position)
    }
    schema.columns[position].name += "'"
  }

  fileprivate enum Attributes: UInt16 { case id = 1, name, type, flags, collection, target, storedDefault }

  /// A table of one column, whose record has other attributes than the engine writes.
  private static func column(_ changed: [Attributes: [UInt8]?]) -> TableSchema {
    var values: [Attributes: [UInt8]?] = [.id: [1, 0], .name: [0x78], .type: [5]]
    values.merge(changed) { $1 }
    let record = AttributeRecord(
      keeping: values.sorted { $0.key.rawValue < $1.key.rawValue }.compactMap { key, value in
        value.map { Attribute(number: key.rawValue, rule: .knownToRead, value: $0) }
      })
    var schema = TableSchema("T", columns: [])
    schema.nextColumnID = 2
    var columns: [UInt8] = []
    columns.appendCounted(record.encoded)
    schema.unknown.table = [Attribute(number: 5, rule: .knownToRead, value: columns)]
    return schema
  }
}

extension TableSchema {
  fileprivate enum IndexAttributes: UInt16 { case id = 1, kind, columns, options }

  /// Gives the record an index that the engine would not write.
  ///
  /// - Parameter again: True if the record also gets a second index of the same column.
  fileprivate mutating func index(_ changed: [IndexAttributes: [UInt8]], again: Bool = false) {
    var indexes: [UInt8] = []
    for id in 1...(again ? UInt8(2) : 1) {
      var values: [IndexAttributes: [UInt8]] = [.id: [id, 0], .kind: [1], .columns: [1, 0]]
      values.merge(changed) { $1 }
      let record = AttributeRecord(
        keeping: values.sorted { $0.key.rawValue < $1.key.rawValue }.map {
          Attribute(number: $0.key.rawValue, rule: .knownToWrite, value: $0.value)
        })
      indexes.appendCounted(record.encoded)
    }
    nextIndexID = again ? 3 : 2
    unknown.table = [Attribute(number: 6, rule: .knownToWrite, value: indexes)]
  }
}
