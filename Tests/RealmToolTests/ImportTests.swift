import Foundation
import RealmTestSupport
import Testing

@testable import RealmStorage

/// The command `import`.
@Suite struct ImportTests {
  /// The lines of a table `Person` and of the embedded table of its parts.
  private static let schema = """
    {"table":"Part","embedded":true,"columns":[{"name":"size","type":"int64"}]}
    {"table":"Person","columns":[{"name":"id","type":"int64","index":"primary key"},\
    {"name":"name","type":"string"},{"name":"age","type":"int64","optional":true},\
    {"name":"friend","type":"link","target":"Person"},{"name":"part","type":"link","target":"Part"},\
    {"name":"tags","type":"string","collection":"list"}]}

    """

  /// Imports a text into the table `Person` of a new file, and calls `body` with the path of the file and the outcome.
  private func importing(
    _ text: String, _ arguments: [String] = [], ending: String = ".jsonl",
    _ body: (String, Tool.Outcome) throws -> Void
  ) throws {
    try withTemporaryPath { path in
      let schema = try Beside.write(Self.schema, path, ending: ".schema")
      let source = try Beside.write(text, path, ending: ending)
      let outcome = try Tool.run(
        ["import", path, source, "--table", "Person", "--schema", schema] + arguments)
      let names = try Beside.names(path).filter { $0 != "test.realm" }
      #expect(names.sorted() == ["test.realm.schema", "test.realm\(ending)"].sorted(), "\(names)")
      try body(path, outcome)
    }
  }

  private func query(_ path: String, _ query: String, key: String? = nil) throws -> String {
    try Tool.run(["query", "--csv", path, query], key: key).output
  }

  // MARK: - Objects of a table

  @Test func `objects become rows, and links may lead to objects that come later`() throws {
    let text = """
      {"id": 1, "name": "Ann", "friend": 2, "part": {"size": 7}, "tags": ["a", "b"]}
      {"id": 2, "name": "Bob", "friend": 2, "age": null}

      """
    try importing(text) { path, outcome in
      #expect(outcome.code == 0 && outcome.complaint == "", "\(outcome)")
      #expect(outcome.output == "\(path): 2 objects.\n")
      let lines = try Tool.run(["export", path, "--table", "Person"]).output
      #expect(
        lines == """
          {"id":1,"name":"Ann","age":null,"friend":2,"part":{"size":7},"tags":["a","b"]}
          {"id":2,"name":"Bob","age":null,"friend":2,"part":null,"tags":[]}

          """)
      let seen1 = try Tool.run(["check", path])
      #expect(seen1.code == 0)
    }
  }

  @Test
  func `CSV may have its fields in any order, in quotation marks, and with line ends of two characters`()
    throws
  {
    let text =
      "\u{feff}name,id,tags,part\r\n\"a, \"\"b\"\"\n\",1,\"[\"\"x\"\"]\",\"{\"\"size\"\":2}\"\r\n\"\",2,,"
    try importing(text, ending: ".csv") { path, outcome in
      #expect(outcome.code == 0, "\(outcome)")
      let lines = try Tool.run(["export", path, "--table", "Person"]).output
      #expect(
        lines == """
          {"id":1,"name":"a, \\"b\\"\\n","age":null,"friend":null,"part":{"size":2},"tags":["x"]}
          {"id":2,"name":"","age":null,"friend":null,"part":null,"tags":[]}

          """)
    }
  }

  @Test func `a first name that begins with the first byte of a byte order mark is read whole`() throws {
    try withTemporaryPath { path in
      let source = try Beside.write("\u{ff41}b,x\n1,2\n", path, ending: ".csv")
      let seen2 = try Tool.run(["import", path, source, "--table", "T", "--yes"])
      #expect(seen2.code == 0)
      let seen3 = try query(path, "T")
      #expect(seen3 == "key,\u{ff41}b,x\n0,1,2\n")
    }
  }

  @Test func `fields with another delimiter are read, and so are those of a file whose name ends with .tsv`()
    throws
  {
    try importing("id;name\n1;a,b\n", ["--delimiter", ";"], ending: ".csv") { path, outcome in
      #expect(outcome.code == 0, "\(outcome)")
      let found = try query(path, "Person")
      #expect(found.contains("\"a,b\""))
    }
    try importing("id\tname\n1\ta,b\n", ["--delimiter", "tab"], ending: ".csv") { _, outcome in
      #expect(outcome.code == 0, "\(outcome)")
    }
    try importing("id\tname\n1\ta,b\n", ending: ".tsv") { _, outcome in
      #expect(outcome.code == 0, "\(outcome)")
    }
  }

  @Test func `objects are added to an existing table, even in an encrypted file`() throws {
    for key in [nil, Keys.first] {
      try Beside.withSmall(key: key) { path in
        let source = try Beside.write("name\nRom\n", path, ending: ".csv")
        let keyFile = try Beside.write(Beside.digits, path, ending: ".key")
        let arguments = ["import", path, source, "--table", "City"]
        if key != nil {
          let before = try FolderListing(around: path)
          let seen4 = try Tool.run(arguments)
          #expect(seen4.code == 3)
          let seen5 = try FolderListing(around: path)
          #expect(seen5 == before)
        }
        let outcome = try Tool.run(arguments + (key == nil ? [] : ["--key-file", keyFile]))
        #expect(outcome.code == 0 && outcome.output == "\(path): 1 object.\n", "\(outcome)")
        let seen6 = try query(path, "City SORT(name ASC)", key: Beside.digits(key))
        #expect(seen6.contains("Rom"))
        let seen7 = try Tool.run(["check", path], key: Beside.digits(key))
        #expect(seen7.code == 0)
        let seen8 = try Beside.names(path)
        #expect(seen8 == ["test.realm", "test.realm.csv", "test.realm.key"])
      }
    }
  }

  @Test func `a new file is encrypted if there is a key`() throws {
    try withTemporaryPath { path in
      let source = try Beside.write("name\nRom\n", path, ending: ".csv")
      let outcome = try Tool.run(["import", path, source, "--table", "T", "--yes"], key: Beside.digits)
      #expect(outcome.code == 0, "\(outcome)")
      let seen9 = try Tool.run(["check", path])
      #expect(seen9.code == 3)
      let seen10 = try query(path, "T", key: Beside.digits)
      #expect(seen10 == "key,name\n0,Rom\n")
      let seen11 = try Beside.names(path)
      #expect(seen11 == ["test.realm", "test.realm.csv"])
    }
  }

  // MARK: - Lines that are wrong

  private static let bad: [(line: String, place: String, words: [String])] = [
    (#"{"id": 3, "name": 5}"#, "column 19", ["name", "5", "is no text"]),
    (#"{"id": "x", "name": "n"}"#, "column 8", ["id", "\"x\"", "is no whole number"]),
    (#"{"id": 3, "name": "n", "age": 1.5}"#, "column 31", ["age", "1.5", "is no whole number"]),
    (#"{"id": 3, "name": "n", "age": 99999999999999999999}"#, "column 31", ["age", "99999999999999999999"]),
    (#"{"id": 3, "name": null}"#, "column 19", ["name", "null", "is not optional"]),
    (#"{"id": 3, "name": "n", "what": 1}"#, "column 32", ["what", "1", "no property of that name"]),
    (#"{"id": 3, "name": "n", "part": {"size": "s"}}"#, "column 41", ["part.size", "\"s\""]),
    (#"{"id": 3, "name": "n", "tags": {}}"#, "column 32", ["tags", "{}", "is no array"]),
    (#"{"id": 1, "name": "n"}"#, "column 8", ["id", "1", "is the primary key of another object"]),
    (#"{"name": "n"}"#, "column 1", ["id", "is missing"]),
    (#"{"id": 3, "name": "n", "friend": 77}"#, "column 34", ["friend", "77", "is not there"]),
    (#"{"id": 3, "name": "n""#, "column 22", ["is no JSON"]),
    (#"{"id": 3, "id": 4}"#, "column 11", ["is no JSON"]),
    ("[1]", "column 1", ["[1]"]), ("\0", "column 1", ["is no JSON"]),
    (String(repeating: "[", count: 100_000), "column 1001", ["is no JSON", "levels"]),
  ]

  @Test(arguments: bad.indices)
  func `a wrong line is reported with its place, property and value, and nothing is imported`(
    number: Int
  ) throws {
    let bad = Self.bad[number]
    let text = "{\"id\": 1, \"name\": \"Ann\"}\n\(bad.line)\n{\"id\": 2, \"name\": \"Bob\"}\n"
    try importing(text) { path, outcome in
      #expect(outcome.code == 6 && outcome.output == "", "\(outcome)")
      #expect(outcome.complaint.contains("\(path).jsonl, line 2, \(bad.place): "), "\(outcome.complaint)")
      for word in bad.words { #expect(outcome.complaint.contains(word), "\(outcome.complaint)") }
      #expect(outcome.complaint.contains("Nothing was imported."))
      #expect(outcome.complaint.utf8.count < 1000)
      #expect(!FileManager.default.fileExists(atPath: path))
    }
    try importing(text, ["--skip-bad"]) { path, outcome in
      #expect(outcome.code == 1, "\(outcome)")
      #expect(outcome.complaint.hasPrefix("LEFT OUT: \(path).jsonl, line 2, \(bad.place): "), "\(outcome)")
      #expect(outcome.complaint.split(separator: "\n").count == 1 && outcome.output.contains("1 left out."))
      let rows = try query(path, "Person")
      #expect(rows.contains("Ann") && rows.contains("Bob"))
    }
  }

  private static let badFields: [(record: String, place: String, words: [String])] = [
    ("3,n,x", "column 5", ["age", "x", "is no whole number"]),
    ("x,n,1", "column 1", ["id", "x", "is no whole number"]), (",n,1", "column 1", ["id", "is missing"]),
    ("3,n", "column 1", ["2 fields", "names 3"]), ("3,n,1,2", "column 1", ["4 fields", "names 3"]),
    ("3,\"n\"m,1", "column 6", ["quotation mark"]), ("3,n\"m,1", "column 4", ["quotation mark"]),
    ("1,n,1", "column 1", ["id", "1", "is the primary key of another object"]),
  ]

  @Test(arguments: badFields.indices) func `a wrong record of CSV is reported in the same way`(number: Int)
    throws
  {
    let bad = Self.badFields[number]
    let text = "id,name,age\n1,Ann,\n\(bad.record)\n2,\"B\nob\",5\n"
    try importing(text, ending: ".csv") { path, outcome in
      #expect(outcome.code == 6 && outcome.output == "", "\(outcome)")
      #expect(outcome.complaint.contains("\(path).csv, line 3, \(bad.place): "), "\(outcome.complaint)")
      for word in bad.words { #expect(outcome.complaint.contains(word), "\(outcome.complaint)") }
      #expect(!FileManager.default.fileExists(atPath: path))
    }
    try importing(text, ["--skip-bad"], ending: ".csv") { path, outcome in
      #expect(outcome.code == 1 && outcome.output == "\(path): 2 objects; 1 left out.\n", "\(outcome)")
      #expect(outcome.complaint.hasPrefix("LEFT OUT: \(path).csv, line 3, \(bad.place): "), "\(outcome)")
    }
  }

  @Test func `a carriage return alone ends a line`() throws {
    try importing("id,name\r1,n\r2,m", ending: ".csv") { path, outcome in
      #expect(outcome.code == 0 && outcome.output.contains("2 objects"), "\(outcome)")
    }
  }

  @Test func `an import that fails does not change an existing file`() throws {
    try Beside.withSmall { path in
      let source = try Beside.write("name\nRom\n\"open\n", path, ending: ".csv")
      let before = try FolderListing(around: path)
      let bytes = try Tool.run(["dump", "--json", path]).output
      let outcome = try Tool.run(["import", path, source, "--table", "City"])
      #expect(outcome.code == 6 && outcome.complaint.contains("line 3, column 1"), "\(outcome)")
      let seen12 = try FolderListing(around: path)
      #expect(seen12.names == before.names)
      let seen13 = try Tool.run(["dump", "--json", path])
      #expect(seen13.output == bytes)
    }
  }

  @Test func `members without a property are skipped if only known ones are wanted`() throws {
    let text = "{\"id\": 1, \"name\": \"Ann\", \"what\": {\"x\": [1]}, \"part\": {\"size\": 1}}\n"
    try importing(text) { _, outcome in #expect(outcome.code == 6, "\(outcome)") }
    try importing(text, ["--only-known"]) { _, outcome in #expect(outcome.code == 0, "\(outcome)") }
    try importing("id,what,name\n1,x,Ann\n", ending: ".csv") { _, outcome in
      #expect(outcome.code == 6 && outcome.complaint.contains("\"what\""), "\(outcome)")
    }
    try importing("id,what,name\n1,x,Ann\n", ["--only-known"], ending: ".csv") { path, outcome in
      #expect(outcome.code == 0, "\(outcome)")
      let found = try query(path, "Person")
      #expect(found.contains("Ann"))
    }
  }

  @Test func `an object changes the one with the same primary key if that is asked for`() throws {
    let text = """
      {"id": 1, "name": "Ann", "age": 5, "part": {"size": 1}}
      {"id": 1, "name": "Anna", "part": {"size": 2}}

      """
    try importing(text, ["--replace"]) { path, outcome in
      #expect(outcome.code == 0, "\(outcome)")
      let lines = try Tool.run(["export", path, "--table", "Person"]).output
      #expect(
        lines == """
          {"id":1,"name":"Anna","age":5,"friend":null,"part":{"size":2},"tags":[]}

          """)
      let seen14 = try Tool.run(["query", "--count", path, "Part"])
      #expect(seen14.output == "1\n")
    }
  }

  @Test func `the last line of an object counts, even if a link of an earlier line still waits`() throws {
    let text = """
      {"id": 2, "name": "b"}
      {"id": 1, "name": "a", "friend": 99}
      {"id": 1, "friend": 2}
      {"id": 99, "name": "c"}

      """
    try importing(text, ["--replace"]) { path, outcome in
      #expect(outcome.code == 0, "\(outcome)")
      let line = try Tool.run(["export", path, "--query", "Person WHERE id == 1"]).output
      #expect(line.contains(#""friend":2,"#), "\(line)")
    }
  }

  @Test func `a number that is not an integer of 64 bits is not rounded to one`() throws {
    for number in ["9223372036854775808.0", "1.00000000000000000001", "3e0"] {
      try importing("{\"id\": \(number), \"name\": \"n\"}\n") { _, outcome in
        #expect(outcome.code == 6, "\(number) \(outcome)")
      }
    }
    try importing("{\"id\": 3.0, \"name\": \"n\"}\n") { path, outcome in
      #expect(outcome.code == 0, "\(outcome)")
      let found = try query(path, "Person WHERE id == 3")
      #expect(found.contains("n"))
    }
  }

  @Test(arguments: ["json-lines", "csv"])
  func `a pipe, which can't be read twice, is imported whole or refused`(format: String) throws {
    try withTemporaryPath { path in
      let pipe = path + ".pipe"
      try #require(mkfifo(pipe, 0o600) == 0)
      // The pipe is opened for reading and writing, so that no side waits for the other.
      let descriptor = open(pipe, O_RDWR | O_CLOEXEC)
      try #require(descriptor >= 0)
      let text = Array((format == "csv" ? "a\nx\n" : "{\"a\":\"x\"}\n").utf8)
      #expect(write(descriptor, text, text.count) == text.count)
      let tool = try ToolProcess(["import", path, pipe, "--table", "T", "--format", format, "--yes"])
      Thread.sleep(forTimeInterval: 0.5)
      close(descriptor)
      let outcome = try tool.finish()
      if outcome.code == 0 {
        let seen15 = try query(path, "T")
        #expect(seen15 == "key,a\n0,x\n")
      } else {
        #expect(outcome.code == 6 && !FileManager.default.fileExists(atPath: path), "\(outcome)")
      }
    }
  }
}
