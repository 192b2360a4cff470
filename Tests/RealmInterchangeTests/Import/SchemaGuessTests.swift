import RealmInterchange
import RealmStorage
import RealmTestSupport
import Testing

@Suite struct SchemaGuessTests {
  /// A column as a short text: its name, its type and its other features.
  private func short(_ column: Column) -> String {
    var text =
      "\(column.name): \(column.collection == .none ? "" : column.collection.name + " of ")\(column.type.name)"
    if column.isOptional, column.type != .mixed { text += "?" }
    if column.index == .unique { text += " key" }
    return text
  }

  private func guess(
    _ text: String, _ form: TableImport.Form = .jsonLines, key: String? = nil,
    _ leaveOut: (InputProblem) throws -> Void = { throw $0 }
  ) throws -> [String] {
    try withInput(text) { input in
      let guess = try TableImport.guess(input, form, leaveOut)
      return try guess.columns(primaryKey: key).map(short)
    }
  }

  private func guessCSV(_ text: String, key: String? = nil) throws -> [String] {
    try guess(text, .csv(delimiter: UInt8(ascii: ",")), key: key)
  }

  // MARK: - JSON

  @Test func `a guessed column has the type that all its values of JSON have in common`() throws {
    let date = #""2020-01-31T12:00:00Z""#
    let uuid = #""00112233-4455-6677-8899-aabbccddeeff""#
    for (values, type) in [
      (["1", "-2"], "int64"), (["1", "2.0"], "double"), (["1e3"], "double"), (["true", "false"], "bool"),
      ([#""a""#, #""1""#], "string"), ([date], "date"), ([uuid], "uuid"), ([date, uuid], "string"),
      ([date, #""a""#], "string"), (["1", #""a""#], "mixed"), (["1", "true"], "mixed"),
      ([#"{"a":1}"#], "mixed"),
      ([#"{"$int":"9223372036854775807"}"#, "1"], "int64"), ([#"{"$double":"Infinity"}"#, "1"], "double"),
      (["1", "null"], "int64?"), (["null"], "string?"), (["[]"], "list of string?"),
      (["[1]", "[2,3]"], "list of int64"),
      (["[1,null]"], "list of int64?"), (["[1,2.5]", "[]"], "list of double"), (["[1,[2]]"], "list of mixed"),
      (["[1]", "null"], "mixed"), (["[1]", "2"], "mixed"), (["9223372036854775808"], "mixed"),
    ] {
      let lines = values.map { "{\"a\":\($0)}\n" }.joined()
      let found = try guess(lines)
      #expect(found == ["a: " + type], "\(values)")
    }
  }

  @Test
  func `properties are in the order in which they are seen, and are optional if an object lacks them`() throws
  {
    let found = try guess(
      #"""
      {"b":1,"list":[1]}
      {"a":"x","b":2}

      {"b":3,"c":null,"a":"y"}
      """#)
    #expect(found == ["b: int64", "list: list of int64", "a: string?", "c: string?"])
  }

  @Test func `a property named _id or id is the primary key if its value differs in each object`() throws {
    for (lines, expected) in [
      ([#"{"id":1}"#, #"{"id":2}"#], "id: int64 key"),
      ([#"{"_id":"a"}"#, #"{"_id":"b"}"#], "_id: string key"),
      ([#"{"id":1}"#, #"{"id":1}"#], "id: int64"), ([#"{"id":1}"#, #"{"id":null}"#], "id: int64?"),
      ([#"{"id":1.5}"#], "id: double"), ([#"{"id":1}"#, #"{"id":"a"}"#], "id: mixed"),
      ([#"{"id":[1]}"#], "id: list of int64"), ([#"{"key":1}"#], "key: int64"), ([#"{"Id":1}"#], "Id: int64"),
      ([#"{"id":true}"#, #"{"id":false}"#], "id: bool key"),
    ] {
      let found = try guess(lines.joined(separator: "\n"))
      #expect(found == [expected], "\(lines)")
    }
    let missing = try guess("{\"id\":1}\n{\"a\":1}")
    #expect(missing == ["id: int64?", "a: int64?"])
    let both = try guess(#"{"id":1,"_id":2}"#)
    #expect(both == ["id: int64 key", "_id: int64"])
  }

  @Test func `long keys that differ only at their end can be a primary key`() throws {
    let start = String(repeating: "x", count: 100)
    let found = try guess("{\"id\":\"\(start)1\"}\n{\"id\":\"\(start)2\"}")
    #expect(found == ["id: string key"])
  }

  @Test func `a requested property is the primary key if it exists and can be a key`() throws {
    let found = try guess("{\"id\":1,\"name\":\"a\"}\n{\"id\":2,\"name\":null}", key: "name")
    #expect(found == ["id: int64", "name: string? key"])
    for (text, key) in [
      (#"{"a":1}"#, "b"), (#"{"a":1.5}"#, "a"), (#"{"a":[1]}"#, "a"), (#"{"a":{}}"#, "a"), ("{}", "a"),
      ("", "a"),
    ] {
      #expect(throws: InterchangeError.self, "\(text)") { try guess(text, key: key) }
    }
  }

  @Test func `names that no column can have, too many properties and no properties are refused`() throws {
    let long = String(repeating: "n", count: 256)
    let many = (0...TableSchema.maximumColumns).map { "\"p\($0)\":1" }.joined(separator: ",")
    for text in [#"{"":1}"#, "{\"\(long)\":1}", "{\(many)}", "{}", ""] {
      #expect(throws: InterchangeError.self) { try guess(text) }
    }
    let most = try guess("{\"\(long.dropLast())\":1}")
    #expect(most.count == 1)
  }

  @Test func `lines that can't be read are reported and skipped`() throws {
    var problems: [InputProblem] = []
    let found = try guess("{\"a\":1}\n5\n{\n{\"a\":2}") { problems.append($0) }
    #expect(found == ["a: int64"])
    #expect(problems.map(\.line) == [2, 3])
    #expect(throws: InputProblem.self) { try guess("5") }
  }

  @Test
  func `whole numbers with a tag can be imported into the column that is guessed of them and of doubles`()
    throws
  {
    let text = #"{"a":{"$int":"9007199254740993"}}"# + "\n" + #"{"a":1.5}"#
    let columns = try withInput(text) {
      try TableImport.guess($0, .jsonLines) { throw $0 }.columns(primaryKey: nil)
    }
    let database = try Database(inMemory: "guessed")
    var problems: [String] = []
    try database.write { transaction in
      let schema = try transaction.createTable(TableSchema("T", columns: columns)).schema
      let objects = try TableImport(
        .jsonLines, into: schema, transaction, skipsUnknown: false, duplicates: .areProblems)
      try withInput(text) { try objects.run($0) { problems.append($0.description) } }
    }
    #expect(problems == [])
  }

  // MARK: - CSV

  @Test func `a guessed column has the type that all its fields of CSV have in common`() throws {
    for (fields, type) in [
      (["1", "-2"], "int64"), (["1", "2.5"], "double"), (["1e3"], "double"), (["true", "false"], "bool"),
      (["007", "1"], "string"), (["0", "10"], "int64"), (["0.5"], "double"), (["-0.5"], "double"),
      (["+1"], "string"),
      (["00.5"], "string"), (["0x10"], "string"), (["\"1\""], "string"), (["1", "\"\""], "string"),
      (["2020-01-31T12:00:00Z"], "date"), (["2020-01-31"], "string"), (["a", "1"], "string"),
      (["1", "true"], "string"),
      (["00112233-4455-6677-8899-aabbccddeeff"], "uuid"), (["1", ""], "int64?"), (["", ""], "string?"),
      (["NaN"], "string"), (["inf"], "string"), (["1,5"].map { "\"\($0)\"" }, "string"), (["[1]"], "string"),
      (["True"], "string"), (["12345678901234567890"], "string"),
    ] {
      let found = try guessCSV("a,x\n" + fields.map { $0 + ",y\n" }.joined())
      #expect(found == ["a: " + type, "x: string"], "\(fields)")
    }
  }

  @Test func `numbers with a sign before leading zeros are codes too`() throws {
    let found = try guessCSV("a\n-007\n")
    #expect(found == ["a: string"])
  }

  @Test func `a first field named id is the primary key if its values all differ`() throws {
    let keys = try guessCSV("id,name\n1,a\n2,a\n")
    #expect(keys == ["id: int64 key", "name: string"])
    let doubled = try guessCSV("id,name\n1,a\n1,b\n")
    #expect(doubled == ["id: int64", "name: string"])
    let empty = try guessCSV("id,name\n1,a\n,b\n")
    #expect(empty == ["id: int64?", "name: string"])
  }

  /// The guessed table accepts all random records.
  @Test(arguments: Slow.seeds(6, slow: 200), [false, true])
  func `the table that is guessed from an input can hold the input`(seed: UInt64, isCSV: Bool) throws {
    var generator = SeededGenerator(seed: seed)
    let types = ColumnType.allCases.filter { $0 != .link }
    let columns = (0..<5).map { number in
      Column(
        "c\(number)", types[generator.below(types.count)], isOptional: generator.chance(50),
        collection: isCSV || generator.chance(70) ? .none : .list)
    }
    let writer = ObjectWriter([])
    var bytes = isCSV ? Array("c0,c1,c2,c3,c4\n".utf8) : []
    for _ in 0..<20 {
      let values = columns.map { RandomValue().value(of: $0, &generator) }
      if isCSV {
        let fields = try zip(columns, values).map {
          try writer.field($1, of: $0, delimiter: UInt8(ascii: ","))
        }
        bytes += Array(fields.joined(separator: ",").utf8)
      } else {
        var line = JSONWriter()
        try writer.write(values, of: TableSchema("T", columns: columns), to: &line)
        bytes += line.bytes
      }
      bytes.append(0x0a)
    }
    let form: TableImport.Form = isCSV ? .csv(delimiter: UInt8(ascii: ",")) : .jsonLines
    let guessed = try withInput(bytes) {
      try TableImport.guess($0, form) { throw $0 }.columns(primaryKey: nil)
    }
    let database = try Database(inMemory: "guessed")
    let problems = try database.write { transaction in
      let schema = try transaction.createTable(TableSchema("T", columns: guessed)).schema
      return try withInput(bytes) { input in
        var problems: [InputProblem] = []
        let objects = try TableImport(
          form, into: schema, transaction, skipsUnknown: false, duplicates: .areProblems)
        try objects.run(input) { problems.append($0) }
        return problems
      }
    }
    #expect(problems.map(\.description) == [], "seed \(seed)")
    let count = try database.snapshot().table("T")?.count
    #expect(count == 20, "seed \(seed)")
  }
}
