import RealmInterchange
import RealmStorage
import RealmTestSupport
import Testing

@Suite struct SchemaReaderTests {
  /// Makes the tables that lines describe, in a transaction that is committed only if there is no problem.
  ///
  /// - Returns: The tables as lines.
  private func make(_ lines: [String], in database: Database? = nil) throws -> [String] {
    var reader = SchemaReader()
    for (place, line) in lines.enumerated() {
      let node = try JSONParser.value(of: Array(line.utf8))
      guard try reader.take(node, line: place + 1) else {
        throw InterchangeError("line \(place + 1) is none")
      }
    }
    let target = try database ?? Database(inMemory: "schema")
    try target.write { transaction in
      let made = try reader.make(in: transaction)
      #expect(made.count == lines.count)
    }
    let snapshot = try target.snapshot()
    #expect(IntegrityCheck.run(snapshot).isClean)
    let schemas = try snapshot.schemas()
    let names = TableNames(schemas)
    return schemas.map { names.json($0) }
  }

  // MARK: - What is made

  @Test(arguments: Slow.seeds(12, slow: 500))
  func `the tables of a random database are made again from their lines`(seed: UInt64) throws {
    let schemas = try RandomDatabase.make(seed: 5000 + seed, rows: 0).snapshot().schemas()
    let names = TableNames(schemas)
    let lines = schemas.map { names.json($0) }
    let again = try make(lines)
    #expect(again == lines, "seed \(seed)")
  }

  @Test func `columns of each kind are made again from their line`() throws {
    let database = try Database(inMemory: "all")
    _ = try database.write { try $0.createTable(TableSchema("All", columns: TableModel.everything)) }
    let schemas = try database.snapshot().schemas()
    let lines = schemas.map { TableNames(schemas).json($0) }
    let again = try make(lines)
    #expect(again == lines)
  }

  @Test func `members that a line leaves out have the values false and null`() throws {
    let found = try make([#"{"table":"T","columns":[{"name":"a","type":"int64"}]}"#])
    #expect(
      found == [
        #"{"table":"T","embedded":false,"columns":[{"name":"a","type":"int64","optional":false,"collection":"none","index":"none"}]}"#
      ])
  }

  @Test func `tables may link to themselves, to earlier ones and to later ones`() throws {
    func link(_ name: String, _ target: String) -> String {
      #"{"name":"\#(name)","type":"link","target":"\#(target)"}"#
    }
    let found = try make([
      #"{"table":"A","columns":[{"name":"n","type":"bool"},\#(link("b", "B")),{"name":"m","type":"bool"},\#(link("a", "A"))]}"#,
      #"{"table":"B","columns":[\#(link("a", "A")),\#(link("c", "C")),{"name":"id","type":"string","index":"primary key"}]}"#,
      #"{"table":"C","embedded":true,"columns":[\#(link("c", "C"))]}"#,
    ])
    let targets = found.map { line in
      line.matches(of: /"name":"(\w+)"(?:[^{}]*"target":"(\w+)")?/).map { "\($0.1)>\($0.2 ?? "")" }
    }
    #expect(targets == [["n>", "b>B", "m>", "a>A"], ["a>A", "c>C", "id>"], ["c>C"]])
  }

  @Test func `defaults of each type are stored`() throws {
    var generator = SeededGenerator(seed: 1)
    for type in ColumnType.allCases where type != .link && type != .mixed {
      for _ in 0..<20 {
        let value = RandomValue.single(type, &generator)
        let plain = Column("a", type)
        guard plain.canStoreDefault(value), value != type.zero else { continue }
        let schema = TableSchema("T", columns: [Column("a", type, storedDefault: value)])
        let line = TableNames([schema]).json(schema)
        let found = try make([line])
        #expect(found == [line])
      }
    }
  }

  // MARK: - What is wrong

  @Test func `a line that describes no table is refused`() throws {
    for text in [
      "5", "{}", #"{"table":"T"}"#, #"{"columns":[]}"#, #"{"table":5,"columns":[]}"#,
      #"{"table":"T","columns":{}}"#,
    ] {
      var reader = SchemaReader()
      let isTaken = try reader.take(try JSONParser.value(of: Array(text.utf8)), line: 1)
      #expect(!isTaken, "\(text)")
      #expect(reader.isEmpty)
    }
  }

  @Test func `a wrong description of a table is a problem with its line and a reason`() throws {
    let long = String(repeating: "n", count: 256)
    let many = Array(repeating: #"{"name":"a","type":"bool"}"#, count: 1001).joined(separator: ",")
    func columns(_ columns: String...) -> String {
      #"{"table":"T","columns":[\#(columns.joined(separator: ","))]}"#
    }
    let wrong: [(String, String)] = [
      (#"{"table":"","columns":[]}"#, "name of 1 to"),
      (#"{"table":"\#(long)","columns":[]}"#, "name of 1 to"),
      (#"{"table":"Good","columns":[]}"#, "described before"),
      (#"{"table":"T","columns":[\#(many)]}"#, "at most 1000"),
      (columns("5"), "name of 1 to"), (columns(#"{"type":"bool"}"#), "name of 1 to"),
      (columns(#"{"name":"\#(long)","type":"bool"}"#), "name of 1 to"),
      (columns(#"{"name":"a"}"#), "type of a"),
      (columns(#"{"name":"a","type":"int"}"#), "type of a"),
      (columns(#"{"name":"a","type":5}"#), "type of a"),
      (columns(#"{"name":"a","type":"bool","collection":"bag"}"#), "collection of a"),
      (columns(#"{"name":"a","type":"bool","index":"unique"}"#), "can't have the index"),
      (columns(#"{"name":"a","type":"double","index":"indexed"}"#), "can't have the index"),
      (columns(#"{"name":"a","type":"mixed","index":"primary key"}"#), "can't have the index"),
      (columns(#"{"name":"a","type":"link","target":"T","index":"indexed"}"#), "can't have the index"),
      (
        columns(#"{"name":"a","type":"int64","collection":"list","index":"indexed"}"#), "can't have the index"
      ),
      (
        columns(#"{"name":"a","type":"int64","collection":"map","index":"primary key"}"#),
        "can't have the index"
      ),
      (columns(#"{"name":"a","type":"bool"}"#, #"{"name":"a","type":"int64"}"#), "two columns"),
      (columns(#"{"name":"a","type":"link"}"#), "no table"),
      (columns(#"{"name":"a","type":"link","target":"None"}"#), "no table"),
      (columns(#"{"name":"a","type":"link","target":null}"#), "no table"),
      (
        columns(
          #"{"name":"a","type":"int64","index":"primary key"}"#,
          #"{"name":"b","type":"int64","index":"primary key"}"#),
        "one primary key"
      ),
      (
        columns(
          #"{"name":"l","type":"link","target":"Later"}"#,
          #"{"name":"a","type":"int64","index":"primary key"}"#,
          #"{"name":"b","type":"int64","index":"primary key"}"#), "one primary key"
      ),
      (
        columns(#"{"name":"l","type":"link","target":"Later"}"#, #"{"name":"l","type":"bool"}"#),
        "two columns"
      ),
      (
        #"{"table":"T","embedded":true,"columns":[{"name":"a","type":"int64","index":"primary key"}]}"#,
        "has none"
      ),
    ]
    for (line, reason) in wrong {
      let problem = #expect(throws: InputProblem.self, "\(line.prefix(100))") {
        try make([#"{"table":"Good","columns":[]}"#, line, #"{"table":"Later","columns":[]}"#])
      }
      #expect(problem?.line == 2, "\(line.prefix(100))")
      #expect(problem?.reason.contains(reason) == true, "\(line.prefix(100)): \(problem?.reason ?? "")")
    }
  }

  @Test func `defaults that do not fit their column are problems`() throws {
    for (type, more, text) in [
      ("int64", "", #""x""#), ("int64", "", "null"), ("bool", "", "1"), ("string", "", "5"),
      ("data", "", #""é""#),
      ("date", "", #""now""#), ("uuid", "", #""x""#), ("mixed", "", "5"), ("link", #","target":"T""#, "5"),
      ("int64", #","collection":"list""#, "[1]"), ("int64", #","collection":"map""#, "5"),
      ("string", "", "\"\(String(repeating: "x", count: 4097))\""),
    ] {
      let column = #"{"name":"a","type":"\#(type)"\#(more),"default":\#(text)}"#
      let problem = #expect(throws: InputProblem.self, "\(type)") {
        try make([#"{"table":"T","columns":[\#(column)]}"#])
      }
      #expect(problem?.reason.contains("default") == true, "\(type): \(problem?.reason ?? "")")
      #expect(problem?.column == 25)
    }
  }

  @Test func `an existing table is used if it fits, and reported if it does not`() throws {
    let line =
      #"{"table":"T","columns":[{"name":"a","type":"int64","index":"primary key"},{"name":"t","type":"link","target":"T"}]}"#
    let database = try Database(inMemory: "there")
    let before = try make([line], in: database)
    let again = try make([line], in: database)
    #expect(again == before)
    let fewer = try make(
      [#"{"table":"T","columns":[{"name":"t","type":"link","target":"T"}]}"#], in: database)
    #expect(fewer == before)
    for other in [
      #"{"table":"T","columns":[{"name":"b","type":"int64"}]}"#,
      #"{"table":"T","columns":[{"name":"a","type":"string"}]}"#,
      #"{"table":"T","columns":[{"name":"a","type":"int64"}]}"#,
      #"{"table":"T","embedded":true,"columns":[]}"#,
      #"{"table":"T","columns":[{"name":"a","type":"int64","index":"primary key","optional":true}]}"#,
      #"{"table":"T","columns":[{"name":"t","type":"link","collection":"list","target":"T"}]}"#,
    ] {
      #expect(throws: InterchangeError.self, "\(other)") { try make([other], in: database) }
    }
    let target = #"{"table":"T","columns":[{"name":"t","type":"link","target":"U"}]}"#
    #expect(throws: InterchangeError.self) {
      try make([#"{"table":"U","columns":[]}"#, target], in: database)
    }
  }

  @Test(arguments: Slow.seeds(6, slow: 400))
  func `changed lines make tables or are reported, and never stop the program`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let schemas = try RandomDatabase.make(seed: 6000 + seed, rows: 0).snapshot().schemas()
    let names = TableNames(schemas)
    let words = [
      "bool", "int64", "link", "mixed", "string", "none", "list", "set", "map", "indexed", "primary key",
      "true", "false",
      "embedded", "target", "default",
    ]
    for number in 0..<60 {
      var lines = schemas.map { names.json($0) }
      for place in lines.indices where generator.chance(60) {
        let (old, new) = (words[generator.below(words.count)], words[generator.below(words.count)])
        if generator.chance(70) {
          lines[place] = lines[place].replacing(old, with: new, maxReplacements: 1 + generator.below(2))
        } else {
          var bytes = Array(lines[place].utf8)
          generator.mutate(&bytes)
          lines[place] = String(decoding: bytes, as: UTF8.self)
        }
      }
      if generator.chance(30) { lines.shuffle(using: &generator) }
      if generator.chance(20) { lines.removeLast() }
      do {
        _ = try make(lines)
      } catch is JSONSyntaxError {
      } catch is InputProblem {
      } catch is InterchangeError {
      } catch {
        Issue.record("seed \(seed), \(number): \(error)")
      }
    }
  }
}
