import RealmInterchange
import RealmStorage
import RealmTestSupport
import Testing

/// Values that are written from a row to an object's line and read again. `WholeDatabaseTests` does this with whole
/// databases.
@Suite struct ObjectWriterTests {
  private let reader = ValueReader(ImportTables([]))

  private func written(_ value: Value, _ column: Column) throws -> [UInt8] {
    var writer = JSONWriter()
    try ObjectWriter([]).write(value, of: column, to: &writer)
    return writer.bytes
  }

  private func text(_ value: Value, _ column: Column) throws -> String {
    String(decoding: try written(value, column), as: UTF8.self)
  }

  /// The value that is read from JSON; nil if it has links or embedded objects.
  private func read(_ bytes: [UInt8], _ column: Column) throws -> Value? {
    let node = try JSONParser.value(of: bytes)
    let draft = try reader.cell(node, column) { InputPlace(line: 1, column: $0 + 1) }
    guard case .value(let value) = draft else { return nil }
    return value
  }

  @Test(arguments: Slow.seeds(5, slow: 200))
  func `random values of each kind of column are read back bit by bit`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    for column in TableModel.everything where column.type != .link {
      for _ in 0..<25 {
        let value = RandomValue().value(of: column, &generator)
        #expect(column.accepts(value), "seed \(seed), \(column.name)")
        let bytes = try written(value, column)
        let found = try read(bytes, column)
        #expect(
          found == value, "seed \(seed), \(column.name): \(String(decoding: bytes, as: UTF8.self))")
      }
    }
  }

  @Test func `values have their natural form, or a tag if the natural form is not exact`() throws {
    let known: [(Value, Column, String)] = [
      (.null, Column("a", .int64, isOptional: true), "null"), (.bool(true), Column("a", .bool), "true"),
      (.int(5), Column("a", .int64), "5"), (.int(5), Column("a", .mixed), #"{"$int":"5"}"#),
      (.int(.max), Column("a", .int64), #"{"$int":"9223372036854775807"}"#),
      (.double(5), Column("a", .double), "5.0"),
      (.double(.infinity), Column("a", .double), #"{"$double":"Infinity"}"#),
      (.string("é\n"), Column("a", .string), #""é\n""#), (.data([0, 255]), Column("a", .data), #""AP8=""#),
      (.data([0, 255]), Column("a", .mixed), #"{"$data":"AP8="}"#),
      (
        .date(Timestamp(seconds: 0, nanoseconds: 5)), Column("a", .date), #""1970-01-01T00:00:00.000000005Z""#
      ),
      (.date(Timestamp(seconds: .max)), Column("a", .date), #"{"$date":[{"$int":"9223372036854775807"},0]}"#),
      (.objectID(ObjectIDBytes(high: 1, low: 2)), Column("a", .objectID), #""000000000000000100000002""#),
      (.uuid(SixteenBytes(high: 1, low: 2)), Column("a", .uuid), #""00000000-0000-0001-0000-000000000002""#),
      (
        .decimal128(SixteenBytes(high: 0, low: 0)), Column("a", .decimal128),
        #"{"$decimal128":"00000000000000000000000000000000"}"#
      ),
      (.list([.int(1), .null]), Column("a", .int64, isOptional: true, collection: .list), "[1,null]"),
      (.list([]), Column("a", .string, collection: .set), "[]"),
      (
        .map(ValueMap(["b": .int(2), "a": .int(1)])), Column("a", .int64, collection: .map), #"{"a":1,"b":2}"#
      ),
      (.map(ValueMap(["a": .list([.null])])), Column("a", .mixed), #"{"$map":[["a",[null]]]}"#),
    ]
    for (value, column, json) in known {
      let found = try text(value, column)
      #expect(found == json)
    }
    let decimal = try #require(DecimalNumber(parsingExactly: "1.50"))
    let found = try text(.decimal128(decimal.stored), Column("a", .decimal128))
    #expect(found == #""1.50""#)
  }

  @Test func `mixed values are read with as many levels as they may have, and not with more`() throws {
    let column = Column("a", .mixed)
    func nested(_ levels: Int) -> Value {
      (0..<levels).reduce(Value.int(1)) { value, level in
        level % 2 == 0 ? .list([value]) : .map(ValueMap(["k": value]))
      }
    }
    let most = nested(Value.mostLevels)
    let found = try read(try written(most, column), column)
    #expect(found == most)
    let more = try written(nested(Value.mostLevels + 1), column)
    #expect(throws: ValueReader.Problem.self) { try read(more, column) }
  }

  @Test func `the cells of companions are not part of an object`() throws {
    let database = try Database(inMemory: "companions")
    try database.write { transaction in
      let schema = TableSchema(
        "T", hasElementIDs: true, columns: [Column("id", .int64), Column("list", .int64, collection: .list)])
      let table = try transaction.createTable(schema)
      try table.insert(["id": .int(1)])
    }
    let snapshot = try database.snapshot()
    let table = try #require(try snapshot.table("T"))
    #expect(table.schema.columns.count > table.schema.properties.count)
    var lines: [String] = []
    try ObjectLines(snapshot).forEachPlainObject(of: table) {
      lines.append(String(decoding: $0, as: UTF8.self))
      return true
    }
    #expect(lines == [#"{"id":1,"list":[]}"#])
  }

  // MARK: - Links and embedded objects

  /// Two people who link to each other, a dog without a primary key, and homes that are embedded in people.
  private func people() throws -> Snapshot {
    let database = try Database(inMemory: "people")
    try database.write { transaction in
      let homes = try transaction.createTable(
        TableSchema("Home", isEmbedded: true, columns: [Column("street", .string)]))
      let dogs = try transaction.createTable(TableSchema("Dog", columns: [Column("name", .string)]))
      let people = try transaction.createTable(
        TableSchema(
          "Person",
          columns: [
            Column("id", .string, isOptional: true, index: .unique), Column("friend", .link),
            Column("dogs", .link, collection: .list, target: dogs.schema.id),
            Column("home", .link, target: homes.schema.id), Column("any", .mixed),
          ]))
      let dog = try dogs.insert(["name": .string("Rex")])
      let first = try people.insert(["id": .string("")])
      let second = try people.insert(["id": .null, "friend": .link(first)])
      try people.set(.link(second), "friend", ofRow: first)
      try people.set(.list([.link(dog), .link(dog)]), "dogs", ofRow: first)
      try people.set(.link(try homes.insert(["street": .string("High St")])), "home", ofRow: first)
      try people.set(.typedLink(table: people.schema.id, row: first), "any", ofRow: first)
      try people.set(.list([.typedLink(table: dogs.schema.id, row: dog)]), "any", ofRow: second)
    }
    return try database.snapshot()
  }

  private func lines(_ snapshot: Snapshot, _ name: String) throws -> [String] {
    let table = try #require(try snapshot.table(name))
    var lines: [String] = []
    try ObjectLines(snapshot).forEachObject(of: table) {
      lines.append(String(decoding: $0, as: UTF8.self))
      return true
    }
    return lines
  }

  @Test func `links are primary keys, and embedded objects are part of their owner`() throws {
    let snapshot = try people()
    let found = try lines(snapshot, "Person")
    let dog = try #require(try snapshot.table("Dog")).key(at: 0)
    #expect(
      found == [
        #"{"table":"Person","object":{"id":"","friend":{"$primaryKey":null},"dogs":[{"$link":\#(dog)},{"$link":\#(dog)}],"home":{"street":"High St"},"any":{"$object":["Person",""]}}}"#,
        #"{"table":"Person","object":{"id":null,"friend":"","dogs":[],"home":null,"any":[{"$link":["Dog",\#(dog)]}]}}"#,
      ])
    let dogs = try lines(snapshot, "Dog")
    #expect(dogs == [#"{"table":"Dog","key":\#(dog),"object":{"name":"Rex"}}"#])
  }

  @Test func `fields of links are primary keys, or JSON if the keys are null or missing`() throws {
    let snapshot = try people()
    let people = try #require(try snapshot.table("Person"))
    let dog = try #require(try snapshot.table("Dog")).key(at: 0)
    let objects = try ObjectWriter(snapshot)
    let rows = try (0..<2).map { try people.values(ofRow: people.key(at: $0)) }
    let fields = try rows.map { values in
      try zip(people.schema.columns, values).map { column, value in
        try objects.field(value, of: column, delimiter: UInt8(ascii: ","))
      }
    }
    #expect(
      fields == [
        [
          "\"\"", "\"{\"\"$primaryKey\"\":null}\"", "\"[{\"\"$link\"\":\(dog)},{\"\"$link\"\":\(dog)}]\"",
          "\"{\"\"street\"\":\"\"High St\"\"}\"", "\"{\"\"$object\"\":[\"\"Person\"\",\"\"\"\"]}\"",
        ], ["", "\"\"", "[]", "", "\"[{\"\"$link\"\":[\"\"Dog\"\",\(dog)]}]\""],
      ])
  }

  @Test func `embedded objects deeper than the limit are refused with a remedy`() throws {
    let database = try Database(inMemory: "deep")
    try database.write { transaction in
      let nodes = try transaction.createTable(
        TableSchema("Node", isEmbedded: true, columns: [Column("next", .link)]))
      let roots = try transaction.createTable(
        TableSchema(
          "Root",
          columns: [Column("id", .int64, index: .unique), Column("first", .link, target: nodes.schema.id)]))
      for (id, levels) in [(Int64(1), ObjectWriter.mostLevels - 1), (2, ObjectWriter.mostLevels)] {
        var last = try nodes.insert([:])
        try roots.set(.link(last), "first", ofRow: roots.insert(["id": .int(id)]))
        for _ in 1..<levels {
          let next = try nodes.insert([:])
          try nodes.set(.link(next), "next", ofRow: last)
          last = next
        }
      }
    }
    let snapshot = try database.snapshot()
    let table = try #require(try snapshot.table("Root"))
    let lines = try ObjectLines(snapshot)
    var count = 0
    let error = #expect(throws: InterchangeError.self) {
      try lines.forEachObject(of: table) { _ in
        count += 1
        return true
      }
    }
    #expect(count == 1)
    #expect(error?.description.contains("\(ObjectWriter.mostLevels) levels") == true)
  }
}
