import Foundation
import RealmTestSupport
import Testing

@testable import RealmStorage

/// The tables that `import` makes, CSV that is exported and imported again, and files that it does not write to.
@Suite struct ImportTablesTests {
  private func query(_ path: String, _ query: String) throws -> String {
    try Tool.run(["query", "--csv", path, query]).output
  }

  // MARK: - Guessed tables

  private static let people =
    "_id,name,born,score,active\n1,Ann,2020-01-31T12:00:00Z,1.5,true\n2,007,,2,false\n"

  @Test func `a missing table is guessed and shown, and is made only with consent`() throws {
    try withTemporaryPath { path in
      let source = try Beside.write(Self.people, path, ending: ".csv")
      let refused = try ToolProcess.run(["import", path, source, "--table", "Person"])
      #expect(refused.code == 6 && refused.output == "", "\(refused)")
      #expect(refused.complaint.contains("There is no table Person") && refused.complaint.contains("--yes"))
      let seen1 = try Beside.names(path)
      #expect(seen1 == ["test.realm.csv"])
      let outcome = try ToolProcess.run(["import", path, source, "--table", "Person", "--yes"])
      #expect(outcome.code == 0 && outcome.output == "\(path): 2 objects.\n", "\(outcome)")
      #expect(
        try Tool.run(["schema", path]).output == """
          table Person: 2 rows
            _id     int64, primary key
            name    string
            born    optional date
            score   double
            active  bool

          """)
      let seen2 = try Beside.names(path)
      #expect(seen2 == ["test.realm", "test.realm.csv"])
      // The shown line makes the same table.
      let shown = outcome.complaint.split(separator: "\n").first { $0.hasPrefix("{") }
      let schema = try Beside.write(String(try #require(shown)), path, ending: ".schema")
      let other = path + "-other.realm"
      let arguments = ["import", other, source, "--table", "Person", "--schema", schema]
      let seen3 = try Tool.run(arguments)
      #expect(seen3.code == 0)
      let seen4 = try Tool.run(["diff", path, other])
      #expect(seen4.code == 0)
    }
  }

  @Test func `the named property is the primary key, if it can be`() throws {
    try withTemporaryPath { path in
      let source = try Beside.write(Self.people, path, ending: ".csv")
      func run(_ key: String) throws -> Tool.Outcome {
        try Tool.run(["import", path, source, "--table", "Person", "--yes", "--primary-key", key])
      }
      for key in ["nope", "score"] {
        let outcome = try run(key)
        #expect(outcome.code == 6 && outcome.output == "" && outcome.complaint.contains(key), "\(outcome)")
        let seen5 = try Beside.names(path)
        #expect(seen5 == ["test.realm.csv"])
      }
      let seen6 = try run("name")
      #expect(seen6.code == 0)
      let seen7 = try Tool.run(["schema", path])
      #expect(seen7.output.contains("name    string, primary key\n"))
      let seen8 = try Tool.run(["schema", path])
      #expect(seen8.output.contains("_id     int64\n"))
    }
  }

  @Test func `standard input is read once, so it needs a table or a schema`() throws {
    try withTemporaryPath { path in
      let arguments = ["import", path, "-", "--format", "csv", "--table", "Person"]
      let refused = try ToolProcess.run(arguments + ["--yes"], input: Self.people)
      #expect(refused.code == 6 && refused.complaint.contains("--schema"), "\(refused)")
      let seen9 = try ToolProcess.run(["import", path, "-", "--table", "T"])
      #expect(seen9.code == 2)
      let schema = try Beside.write(
        #"{"table":"Person","columns":[{"name":"name","type":"string"}]}"#, path, ending: ".schema")
      let outcome = try ToolProcess.run(
        arguments + ["--schema", schema, "--only-known"], input: Self.people)
      #expect(outcome.code == 0 && outcome.output == "\(path): 2 objects.\n", "\(outcome)")
      let seen10 = try ToolProcess.run(arguments, input: "name\nBob\n")
      #expect(seen10.code == 0)
      let seen11 = try query(path, "Person")
      #expect(seen11 == "key,name\n0,Ann\n1,007\n2,Bob\n")
      let seen12 = try Beside.names(path)
      #expect(seen12 == ["test.realm", "test.realm.schema"])
    }
  }

  @Test(arguments: [
    "", "5", "{}", #"{"table":"Q","columns":[]}"#, #"{"table":"T","columns":5}"#,
    #"{"table":"T","columns":[{"name":"","type":"int64"}]}"#,
    #"{"table":"T","columns":[{"name":"a","type":"number"}]}"#,
    #"{"table":"T","columns":[{"name":"a","type":"int64","collection":"bag"}]}"#,
    #"{"table":"T","columns":[{"name":"a","type":"double","index":"primary key"}]}"#,
    #"{"table":"T","columns":[{"name":"a","type":"int64"},{"name":"a","type":"int64"}]}"#,
    #"{"table":"T","columns":[{"name":"a","type":"link","target":"Nope"}]}"#,
    #"{"table":"T","columns":[{"name":"a","type":"int64","default":"x"}]}"#,
    "{\"table\":\"T\",\"columns\":[]}\n{\"table\":\"T\",\"columns\":[]}", "{\"table\":\"T\",\"columns\":[",
    "\0\u{1}",
  ])
  func `an invalid schema is refused, and no file is made`(schema: String) throws {
    try withTemporaryPath { path in
      let source = try Beside.write("a\n1\n", path, ending: ".csv")
      let lines = try Beside.write(schema, path, ending: ".schema")
      let outcome = try Tool.run(["import", path, source, "--table", "T", "--schema", lines])
      #expect(outcome.code == 6 && outcome.output == "" && outcome.complaint.contains(lines), "\(outcome)")
      let seen13 = try Beside.names(path)
      #expect(seen13 == ["test.realm.csv", "test.realm.schema"])
    }
  }

  // MARK: - CSV to and fro

  /// Exports a table, imports the result into a new file with the same schema, and checks that its export is the same.
  private func expectSame(_ table: String, of path: String, key: String? = nil) throws {
    let schema = try JSONDecoder().decode(
      [String: JSONValue].self, from: Data(try Tool.run(["schema", "--json", path], key: key).output.utf8))
    let text = try Tool.run(["export", path], key: key).output
    let lines = text.split(separator: "\n").filter { $0.contains(#""columns":["#) }.joined(separator: "\n")
    #expect(lines.split(separator: "\n").count == schema["tables"]?.array?.count)
    let described = try Beside.write(lines, path, ending: ".schema")
    let (csv, new) = (path + ".csv", path + "-new.realm")
    let seen14 = try Tool.run(["export", path, csv, "--table", table], key: key)
    #expect(seen14.code == 0)
    let outcome = try Tool.run(["import", new, csv, "--table", table, "--schema", described], key: key)
    #expect(outcome.code == 0 && outcome.complaint == "", "\(outcome)")
    let again = try Tool.run(["export", new, "--format", "csv", "--table", table], key: key).output
    let seen15 = try String(contentsOfFile: csv, encoding: .utf8)
    #expect(seen15 == again)
  }

  private static let goldenTables: [(content: GoldenFile.Content, table: String)] = [
    (.structures, "City"), (.structures, "Linked"), (.structures, "Large"), (.client, "Object"),
    (.server, "Object"), (.sample, "Place"),
  ]

  @Test(arguments: goldenTables, [false, true])
  func `the CSV of a golden file is the same after an import`(
    table: (content: GoldenFile.Content, table: String), isEncrypted: Bool
  ) throws {
    let file = GoldenFile(.one, table.content, isEncrypted: isEncrypted)
    try Beside.withGolden(file) { try expectSame(table.table, of: $0, key: Beside.digits(file.key)) }
  }

  private static let special: [(column: Column, values: [Value])] = [
    (Column("double", .double), [0, -0.0, .infinity, -.infinity, .nan, 0.1, 1e300].map { .double($0) }),
    (Column("float", .float), [0, -0.0, .infinity, -.infinity, .nan, 0.1, 1e30].map { .float($0) }),
    (
      Column("date", .date),
      [-62_167_219_200, 0, 253_402_300_799, -62_167_219_201, 253_402_300_800, Int64.max / 1_000_000_000].map {
        .date(Timestamp(seconds: $0, nanoseconds: 5))
      }
    ),
    (Column("text", .string), ["", " ", "null", "\"", "a\r", ",", "\u{feff}", "\0"].map { .string($0) }),
    (Column("nothing", .string, isOptional: true), [.string("a"), .null, .string(""), .null]),
    (Column("data", .data, isOptional: true), [.data([]), .null, .data([0xff, 0])]),
    (
      Column("any", .mixed),
      [.null, .string("5"), .string("null"), .string(""), .int(5), .int(.max), .double(5), .list([.null])]
    ),
    (
      Column("numbers", .int64, isOptional: true, collection: .list),
      [.list([]), .list([.null, .int(.min)])]
    ),
  ]

  @Test(arguments: special.indices, [false, true])
  func `the CSV of special values is the same after an import`(number: Int, hasKey: Bool) throws {
    let (column, values) = Self.special[number]
    let key = hasKey ? [Column("id", .int64, index: .unique)] : []
    try Beside.with({ path in
      let database = try Database(path: path)
      try database.write { transaction in
        let table = try transaction.createTable(TableSchema("T", columns: key + [column]))
        for (position, value) in values.enumerated() {
          try table.insert([column.name: value].merging(hasKey ? ["id": .int(Int64(position))] : [:]) { $1 })
        }
      }
    }) { path in
      try expectSame("T", of: path)
      let seen16 = try Tool.run(["query", "--count", path + "-new.realm", "T"])
      #expect(seen16.output == "\(values.count)\n")
    }
  }

  @Test func `CSV has links to an object whose primary key is null`() throws {
    try Beside.with({ path in
      let database = try Database(path: path)
      try database.write { transaction in
        let table = try transaction.createTable(
          TableSchema(
            "T",
            columns: [Column("id", .string, isOptional: true, index: .unique), Column("next", .link)]))
        let first = try table.insert(["id": .null])
        try table.insert(["id": .string("a"), "next": .link(first)])
      }
    }) { try expectSame("T", of: $0) }
  }

  @Test func `CSV with links to objects without a primary key is refused with the reason`() throws {
    try Beside.withSmall { path in
      let csv = path + ".csv"
      let seen17 = try Tool.run(["export", path, csv, "--table", "Person"])
      #expect(seen17.code == 0)
      let before = try Tool.run(["dump", "--json", path]).output
      let outcome = try Tool.run(["import", path, csv, "--table", "Person", "--replace"])
      #expect(outcome.code == 6 && outcome.complaint.contains("City has no primary key"), "\(outcome)")
      let seen18 = try Tool.run(["dump", "--json", path])
      #expect(seen18.output == before)
    }
  }

  // MARK: - Whole files

  @Test func `a whole file is added to a file with the same tables`() throws {
    try Beside.withSmall { path in
      let lines = path + ".jsonl"
      let seen19 = try Tool.run(["export", path, lines])
      #expect(seen19.code == 0)
      let refused = try Tool.run(["import", path, lines])
      #expect(refused.code == 6 && refused.complaint.contains("is the primary key of another"), "\(refused)")
      let outcome = try Tool.run(["import", path, lines, "--replace"])
      #expect(outcome.code == 0 && outcome.output.contains("3 objects, 2 entries"), "\(outcome)")
      let seen20 = try Tool.run(["query", "--count", path, "City"])
      #expect(seen20.output == "2\n")
      let seen21 = try Tool.run(["query", "--count", path, "Person"])
      #expect(seen21.output == "2\n")
      let seen22 = try Tool.run(["check", path])
      #expect(seen22.code == 0)
    }
  }

  @Test func `a file that is not a whole export is reported with its real kind`() throws {
    try Beside.withSmall { path in
      let dump = try Tool.run(["dump", "--json", path]).output
      for (text, words) in [
        (dump, "is a dump"), ("{\"a\":1}\n", "--table"), ("", "is empty"), ("[\n1\n]\n", "one array"),
        (#"{"format":"realm-objects","version":99}"#, "later form"),
      ] {
        let source = try Beside.write(text, path, ending: ".jsonl")
        let outcome = try Tool.run(["import", path + "-new.realm", source])
        #expect(outcome.code == 6 && outcome.complaint.contains(words), "\(outcome)")
        let seen23 = try Beside.names(path)
        #expect(seen23 == ["test.realm", "test.realm.jsonl"])
      }
    }
  }

  // MARK: - Files that are not written to

  @Test(arguments: [GoldenFile.Content.client, .neighbour, .server])
  func `a file of device sync is refused and not changed`(content: GoldenFile.Content) throws {
    try Beside.withGolden(GoldenFile(.one, content, isEncrypted: false)) { path in
      let source = try Beside.write("{\"id\":77777}\n", path, ending: ".jsonl")
      let before = try FolderListing(around: path)
      let outcome = try Tool.run(["import", path, source, "--table", "Object"])
      #expect(outcome.code == 3 && outcome.output == "", "\(outcome)")
      #expect(outcome.complaint.contains("sync"), "\(outcome)")
      let seen24 = try FolderListing(around: path)
      #expect(seen24 == before)
    }
  }

  @Test func `damage ends an import with exit code 1, and existing objects stay`() throws {
    for (part, node) in [("index Person.id", "leaf"), ("table Person", "table")] {
      try Beside.withSmall { path in
        try Beside.damage(path, part: part, node: node)
        let source = try Beside.write("id,name\n5,Eve\n", path, ending: ".csv")
        let names = try Beside.names(path)
        let dump = try Tool.run(["dump", "--keep-going", "--json", path]).output
        let outcome = try Tool.run(["import", path, source, "--table", "Person"])
        #expect(outcome.code == 1 && outcome.complaint.contains("is damaged"), "\(part) \(outcome)")
        let seen25 = try Beside.names(path)
        #expect(seen25 == names)
        let seen26 = try Tool.run(["dump", "--keep-going", "--json", path])
        #expect(seen26.output == dump)
      }
    }
  }

  @Test func `a file that is not a realm, or that can't be made, is refused`() throws {
    try withTemporaryPath { path in
      let source = try Beside.write("a\n1\n", path, ending: ".csv")
      let folder = (path as NSString).deletingLastPathComponent
      for target in [source, folder, "/dev/null", folder + "/no/such.realm"] {
        let outcome = try Tool.run(["import", target, source, "--table", "T", "--yes"])
        #expect(outcome.code == 3 && outcome.output == "", "\(target) \(outcome)")
      }
      let seen27 = try String(contentsOfFile: source, encoding: .utf8)
      #expect(seen27 == "a\n1\n")
      for missing in [path + ".none.csv", folder] {
        let outcome = try Tool.run(["import", path, missing, "--format", "csv", "--table", "T", "--yes"])
        #expect(outcome.code == 6 && outcome.complaint.contains(missing), "\(outcome)")
      }
      let seen28 = try Beside.names(path)
      #expect(seen28 == ["test.realm.csv"])
    }
  }

  @Test func `a full disk leaves no new file`() throws {
    try Beside.withGolden(GoldenFile(.one, .structures, isEncrypted: false)) { path in
      let lines = path + ".jsonl"
      let seen29 = try Tool.run(["export", path, lines])
      #expect(seen29.code == 0)
      let outcome = try ToolProcess.run(["import", path + "-new.realm", lines], blocks: 64)
      #expect(outcome.code == 3 && outcome.output == "" && outcome.complaint != "", "\(outcome)")
      let seen30 = try Beside.names(path)
      #expect(seen30 == ["test.realm", "test.realm.jsonl"])
    }
  }

  @Test(arguments: [Tool.Stream.fullDisk, .brokenPipe])
  func `an output that can't be written ends with 4, and the message says that objects were imported`(
    stream: Tool.Stream
  ) throws {
    try withTemporaryPath { path in
      let source = try Beside.write("a\n1\n", path, ending: ".csv")
      let arguments = ["import", path, source, "--table", "T", "--yes"]
      guard let outcome = try Tool.run(arguments, writingTo: stream) else { return }
      #expect(outcome.code == 4 && outcome.complaint.contains("The objects were imported."), "\(outcome)")
      let seen31 = try query(path, "T")
      #expect(seen31 == "key,a\n0,1\n")
    }
  }
}
