import RealmInterchange
import RealmStorage
import RealmTestSupport
import Testing

@Suite struct ValueReaderTests {
  /// Tables of people with an integer as primary key, of dogs without a key, and of homes that are embedded in people.
  private struct Model {
    let tables: ImportTables
    let person: TableSchema
    let dog: TableSchema
    let home: TableSchema

    init() throws {
      let database = try Database(inMemory: "model")
      let schemas = try database.write { transaction in
        let home = try transaction.createTable(
          TableSchema(
            "Home", isEmbedded: true, columns: [Column("street", .string), Column("rooms", .int64)]))
        let dog = try transaction.createTable(TableSchema("Dog", columns: [Column("name", .string)]))
        let person = try transaction.createTable(
          TableSchema(
            "Person",
            columns: [
              Column("id", .int64, index: .unique), Column("friend", .link),
              Column("friends", .link, collection: .list), Column("dog", .link, target: dog.schema.id),
              Column("home", .link, target: home.schema.id),
              Column("homes", .link, collection: .list, target: home.schema.id), Column("any", .mixed),
              Column("anySet", .mixed, collection: .set), Column("anyMap", .mixed, collection: .map),
            ]))
        return (home.schema, dog.schema, person.schema)
      }
      (home, dog, person) = schemas
      tables = ImportTables([home, dog, person])
    }

    func cell(_ text: String, _ name: String) throws -> ValueDraft {
      let column = try #require(person.column(name))
      let node = try JSONParser.value(of: Array(text.utf8))
      let reader = ValueReader(tables, knowsKeys: true)
      return try reader.cell(node, column) { InputPlace(line: 1, column: $0 + 1) }
    }
  }

  private func link(_ draft: ValueDraft) -> LinkDraft? {
    if case .link(let link) = draft { link } else { nil }
  }

  // MARK: - Plain values

  @Test func `plain values are read in all forms that the documentation of the form lists`() throws {
    let moment = Timestamp(seconds: 1_580_472_000)
    let id = ObjectIDBytes(high: 0x0011_2233_4455_6677, low: 0x8899_aabb)
    let uuid = SixteenBytes(high: 0x0011_2233_4455_6677, low: 0x8899_aabb_ccdd_eeff)
    let decimal = try #require(DecimalNumber(parsingExactly: "1.50")).stored
    let known: [(String, ColumnType, Value)] = [
      ("true", .bool, .bool(true)), ("3.0", .int64, .int(3)),
      ("-0", .int64, .int(0)),
      ("9007199254740993.0", .int64, .int(1 << 53 + 1)), ("9223372036854775807", .int64, .int(.max)),
      (#"{"$int":"-9223372036854775808"}"#, .int64, .int(.min)), ("5", .double, .double(5)),
      ("-0.0", .double, .double(-0.0)), (#"{"$double":"-Infinity"}"#, .double, .double(-.infinity)),
      ("1e-400", .double, .double(0)), (#"{"$double":"2.5"}"#, .double, .double(2.5)),
      (#"{"$float":"NaN:7fc00001"}"#, .float, .float(Float(bitPattern: 0x7fc0_0001))),
      ("0.1", .float, .float(0.1)),
      (#""AP8=""#, .data, .data([0, 255])), (#"{"$data":"AP8="}"#, .data, .data([0, 255])),
      (#""2020-01-31T12:00:00Z""#, .date, .date(moment)),
      (#""2020-01-31T14:00:00+02:00""#, .date, .date(moment)),
      (#"{"$date":[1580472000,0]}"#, .date, .date(moment)),
      (
        #"{"$date":[{"$int":"-9223372036854775808"},999999999]}"#, .date,
        .date(Timestamp(seconds: .min, nanoseconds: 999_999_999))
      ),
      (#""00112233445566778899AABB""#, .objectID, .objectID(id)),
      (#"{"$objectID":"00112233445566778899aabb"}"#, .objectID, .objectID(id)),
      (#""00112233-4455-6677-8899-AABBCCDDEEFF""#, .uuid, .uuid(uuid)),
      (#"{"$uuid":"00112233-4455-6677-8899-aabbccddeeff"}"#, .uuid, .uuid(uuid)),
      ("1.50", .decimal128, .decimal128(decimal)), (#""1.50""#, .decimal128, .decimal128(decimal)),
      (#"{"$decimal128":"00112233445566778899aabbccddeeff"}"#, .decimal128, .decimal128(uuid)),
    ]
    for (text, type, value) in known {
      let found = try ValueReader.plain(try JSONParser.value(of: Array(text.utf8)), type)
      #expect(found == value, "\(text)")
    }
  }

  @Test func `plain values of another type are refused`() throws {
    let wrong: [(String, ColumnType)] = [
      ("1", .bool), (#""true""#, .bool), ("null", .bool), ("1.5", .int64), ("0.5e0", .int64),
      ("9223372036854775808", .int64), ("-9223372036854775809", .int64), ("1e400", .int64), (#""5""#, .int64),
      (#"{"$int":5}"#, .int64), (#"{"$int":"5","a":1}"#, .int64), (#"{"$int":"1e999999999999"}"#, .int64),
      ("1e400", .double), (#""5""#, .double), (#"{"$double":"x"}"#, .double),
      (#"{"$double":"NaN:x"}"#, .double),
      ("1e39", .float), ("-1e39", .float), (#"{"$float":5}"#, .float),
      (#"{"$float":"NaN:ffffffffffffffffff"}"#, .float),
      ("5", .string), ("[]", .string), (#""A""#, .data), ("[0]", .data), (#"{"$data":"é"}"#, .data),
      (#""2020-01-31""#, .date), ("0", .date), (#"{"$date":[0]}"#, .date),
      (#"{"$date":[0,1000000000]}"#, .date),
      (#"{"$date":[0,-1]}"#, .date), (#"{"$date":["0",0]}"#, .date), (#"{"$date":[0,0,0]}"#, .date),
      (#""0011""#, .objectID), (#""00112233445566778899aabbcc""#, .objectID), (#""0011""#, .uuid),
      (#""1.2.3""#, .decimal128), ("true", .decimal128), (#"{"$decimal128":"00"}"#, .decimal128),
      ("1e999999999999999999999", .decimal128), ("12345678901234567890123456789012345", .decimal128),
    ]
    for (text, type) in wrong {
      let node = try JSONParser.value(of: Array(text.utf8))
      #expect(throws: ValueReader.Problem.self, "\(text) of \(type.name)") {
        try ValueReader.plain(node, type)
      }
    }
  }

  @Test func `a number with a fraction beyond the precision of a double is refused, and not rounded`() throws
  {
    for text in ["3.00000000000000000001", "9007199254740992.4"] {
      let node = try JSONParser.value(of: Array(text.utf8))
      #expect(throws: ValueReader.Problem.self, "\(text)") { try ValueReader.plain(node, .int64) }
    }
  }

  // MARK: - Links

  @Test func `links are primary keys or row keys, and in mixed values pairs with a table`() throws {
    let model = try Model()
    let byKey = try #require(link(try model.cell("7", "friend")))
    #expect(byKey.table == model.person.id && !byKey.isTyped)
    guard case .primaryKey(.int(7)) = byKey.target else { return #expect(Bool(false), "no primary key") }
    let byRow = try #require(link(try model.cell(#"{"$link":{"$int":"18446744073709551615"}}"#, "dog")))
    guard case .oldKey(.max) = byRow.target else { return #expect(Bool(false), "no key of a row") }
    #expect(byRow.table == model.dog.id)
    let typed = try #require(link(try model.cell(#"{"$object":["Person",{"$int":"7"}]}"#, "any")))
    #expect(typed.table == model.person.id && typed.isTyped)
    let typedRow = try #require(link(try model.cell(#"{"$link":["Dog",0]}"#, "any")))
    #expect(typedRow.table == model.dog.id && typedRow.isTyped)
  }

  @Test func `links to a missing table, or to objects that such a link can't name, are refused`() throws {
    let model = try Model()
    for (text, name) in [
      (#""x""#, "friend"), ("5", "dog"), (#"{"$link":-1}"#, "dog"),
      (#"{"$link":18446744073709551616}"#, "dog"),
      ("[null]", "friends"), ("5", "friends"), ("5", "home"), ("[5]", "homes"),
      (#"{"$object":["Nobody",1]}"#, "any"),
      (#"{"$object":["Home",1]}"#, "any"), (#"{"$object":["Dog",1]}"#, "any"),
      (#"{"$object":["Person"]}"#, "any"),
      (#"{"$object":7}"#, "any"), (#"{"$link":["Home",0]}"#, "any"), (#"{"$link":7}"#, "any"),
      (#"{"$map":7}"#, "any"), (#"{"$map":[["a"]]}"#, "any"), (#"{"$map":[[1,2]]}"#, "any"),
      (#"{"$map":[["a",1],["a",2]]}"#, "any"),
      (#"{"$int":"x"}"#, "any"),
    ] {
      #expect(throws: ValueReader.Problem.self, "\(text) of \(name)") { try model.cell(text, name) }
    }
  }

  @Test func `a problem in an embedded object has the path to the property`() throws {
    let model = try Model()
    let text = #"{"id":1,"homes":[{"street":"a"},{"rooms":"b"}]}"#
    let node = try JSONParser.value(of: Array(text.utf8))
    let problem = #expect(throws: ValueReader.Problem.self) {
      try ValueReader(model.tables).cells(of: node, model.person) { InputPlace(line: 1, column: $0 + 1) }
    }
    #expect(problem?.property == "homes.rooms")
    #expect(problem?.value == #""b""#)
    #expect(problem?.offset == 41)
  }

  // MARK: - Members that are no property

  @Test func `a member without a property is refused, or skipped if that is asked for`() throws {
    let model = try Model()
    let node = try JSONParser.value(of: Array(#"{"id":1,"nope":2}"#.utf8))
    let place = { (offset: Int) in InputPlace(line: 1, column: offset + 1) }
    let problem = #expect(throws: ValueReader.Problem.self) {
      try ValueReader(model.tables).cells(of: node, model.person, place: place)
    }
    #expect(problem?.property == "nope")
    let cells = try ValueReader(model.tables, skipsUnknown: true).cells(of: node, model.person, place: place)
    #expect(cells.map(\.column) == [0])
    #expect(cells.first?.place.column == 7)
  }

  @Test func `a member of an embedded object without a property is also skipped if that is asked for`() throws
  {
    let model = try Model()
    let node = try JSONParser.value(of: Array(#"{"id":1,"home":{"street":"a","nope":2}}"#.utf8))
    let cells = try ValueReader(model.tables, skipsUnknown: true).cells(of: node, model.person) {
      InputPlace(line: 1, column: $0 + 1)
    }
    #expect(cells.count == 2)
  }

  // MARK: - Values of any type

  @Test func `mixed values of other programs are lists, maps and plain values`() throws {
    let model = try Model()
    for (text, value) in [
      ("5", .int(5)), ("5.0", .double(5)), ("1e20", .double(1e20)), (#""x""#, .string("x")),
      ("[1,null]", .list([.int(1), .null])), (#"{"a":1}"#, .map(ValueMap(["a": .int(1)]))),
      (#"{"$int":"5","a":1}"#, .map(ValueMap(["$int": .string("5"), "a": .int(1)]))),
      ("{}", .map(ValueMap())),
      (#"{"$map":[["$int","5"]]}"#, .map(ValueMap(["$int": .string("5")]))),
    ] as [(String, Value)] {
      guard case .value(let found) = try model.cell(text, "any") else {
        Issue.record("\(text) is no value")
        continue
      }
      #expect(found == value, "\(text)")
    }
  }

  @Test func `an integer that no integer type holds is refused in a mixed value, and not rounded`() throws {
    let model = try Model()
    for text in ["9223372036854775808", "-123456789012345678901234567890"] {
      #expect(throws: ValueReader.Problem.self, "\(text)") { try model.cell(text, "any") }
    }
  }

  @Test func `a NaN keeps its bits, and no other value is read as NaN`() throws {
    for (text, type) in [
      (#"{"$double":"NaN:3ff0000000000000"}"#, ColumnType.double), (#"{"$double":"NaN:7ff8"}"#, .double),
      (#"{"$float":"NaN:ffffffffff"}"#, .float), (#"{"$float":"NaN:3f800000"}"#, .float),
    ] {
      let node = try JSONParser.value(of: Array(text.utf8))
      #expect(throws: ValueReader.Problem.self, "\(text)") { try ValueReader.plain(node, type) }
    }
  }

  @Test func `too many levels are refused, with or without a link in them`() throws {
    let model = try Model()
    func nested(_ levels: Int, _ inner: String) -> String {
      String(repeating: "[", count: levels) + inner + String(repeating: "]", count: levels)
    }
    let link = #"{"$object":["Person",1]}"#
    for inner in ["1", link] {
      _ = try model.cell(nested(Value.mostLevels, inner), "any")
      #expect(throws: ValueReader.Problem.self, "\(inner)") {
        try model.cell(nested(Value.mostLevels + 1, inner), "any")
      }
      #expect(throws: ValueReader.Problem.self, "\(inner) in a map") {
        try model.cell(#"{"k":\#(nested(Value.mostLevels + 1, inner))}"#, "anyMap")
      }
    }
  }

  @Test func `a list in a set is refused, with or without a link beside it`() throws {
    let model = try Model()
    let link = #"{"$object":["Person",1]}"#
    _ = try model.cell("[1,\(link)]", "anySet")
    for text in ["[1,[2]]", "[\(link),[2]]", "[[\(link)]]", #"[{"a":\#(link),"b":1}]"#] {
      #expect(throws: ValueReader.Problem.self, "\(text)") { try model.cell(text, "anySet") }
    }
  }
}
