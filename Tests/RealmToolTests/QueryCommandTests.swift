import Foundation
import RealmStorage
import RealmTestSupport
import Testing

@Suite struct QueryCommandTests {
  /// Calls `body` with the outcome of `realm query` for the small sample.
  private func query(_ arguments: [String], _ body: (Tool.Outcome) throws -> Void) throws {
    try withTemporaryPath { path in
      try ToolSample.makeSmall(path)
      try body(try Tool.run(["query", path] + arguments))
    }
  }

  /// Calls `body` with a file that has one table with these texts.
  private func withTexts(
    _ texts: [String?], table: String = "Note", column: String = "text", _ body: (String) throws -> Void
  ) throws {
    try withTemporaryPath { path in
      let database = try Database(path: path)
      try database.write { transaction in
        let notes = try transaction.createTable(
          TableSchema(table, columns: [Column(column, .string, isOptional: true, index: .plain)]))
        for text in texts { try notes.insert([column: text.map { .string($0) } ?? .null]) }
      }
      try body(path)
    }
  }

  // MARK: - Forms

  @Test func `rows are shown in a table with the names of the columns`() throws {
    try query(["Person"]) { outcome in
      #expect(outcome.code == 0 && outcome.complaint == "")
      #expect(
        outcome.output == #"""
          key  id                name           born                            home  visited
          0    9007199254740993  Ada            1815-12-10T00:00:00.000000001Z  ->1   [->1, ->1]
          2    null              "line\nbreak"  null                            null  []
          2 rows

          """#)
    }
    try query(["City WHERE name BEGINSWITH 'Z'"]) { outcome in
      #expect(outcome.output == "key  name\n1    Zürich \"ZH\"\n1 row\n")
    }
    try query(["City WHERE name == 'Rom'"]) { outcome in
      #expect(outcome.code == 0 && outcome.output == "key  name\n0 rows\n")
    }
  }

  @Test func `long values are cut short in a table, and in no other form`() throws {
    let text = String(repeating: "ä", count: 100)
    try withTexts([text]) { path in
      let table = try Tool.run(["query", path, "Note"]).output
      #expect(table.contains(String(repeating: "ä", count: 39) + "…\n"))
      #expect(!table.contains(String(repeating: "ä", count: 40)))
      #expect(try Tool.run(["query", "--csv", path, "Note"]).output == "key,text\n0,\(text)\n")
      #expect(try Tool.run(["query", "--json", path, "Note"]).output.contains(text))
    }
  }

  @Test func `each line of JSON is an object with the key of a row and its values by name`() throws {
    try query(["--json", "Person SORT(name DESC)"]) { outcome in
      #expect(outcome.code == 0)
      let lines = try outcome.output.split(separator: "\n").map { try JSONValue(String($0)) }
      try #require(lines.count == 2)
      #expect(lines.map { $0["key"]?.integer } == [2, 0])
      #expect(lines[0]["values"]?["name"]?.string == "line\nbreak")
      guard case .null? = lines[0]["values"]?["id"] else { throw Missing(what: "null of row 2") }
      let ada = lines[1]["values"]
      #expect(ada?["id"]?["$int"]?.string == "9007199254740993")
      #expect(ada?["born"]?["$date"]?.array?.map(\.integer) == [-4_861_728_000, 1])
      #expect(ada?["home"]?["$link"]?.integer == 1)
      #expect(ada?["visited"]?.array?.map { $0["$link"]?.integer } == [1, 1])
    }
  }

  private struct Missing: Error { let what: String }

  @Test func `texts of CSV are read as they were written, whatever they contain`() throws {
    let texts: [String?] = [
      "plain", "comma, and \"quotes\"", "two\nlines", "carriage\r\nreturn", nil, "\"", ",", "ends with\r",
    ]
    try withTexts(texts, column: "a, \"b\"") { path in
      let outcome = try Tool.run(["query", "--csv", path, "Note"])
      #expect(outcome.code == 0)
      let records = Self.records(outcome.output)
      #expect(records.first == ["key", "a, \"b\""])
      #expect(records.dropFirst().map { $0[0] } == texts.indices.map { "\($0)" })
      #expect(records.dropFirst().map { $0[1] } == texts.map { $0 ?? "" })
    }
    try query(["--csv", "Person WHERE name == 'Ada'"]) { outcome in
      #expect(
        outcome.output == """
          key,id,name,born,home,visited
          0,9007199254740993,Ada,1815-12-10T00:00:00.000000001Z,1,"[{""$link"":1},{""$link"":1}]"

          """)
    }
  }

  /// Reads CSV by the rules of RFC 4180, with lines that end with a line feed.
  private static func records(_ text: String) -> [[String]] {
    var (records, record, field): ([[String]], [String], String.UnicodeScalarView) = ([], [], .init())
    var isQuoted = false
    var rest = text.unicodeScalars[...]
    while let scalar = rest.popFirst() {
      if isQuoted {
        guard scalar == "\"" else {
          field.append(scalar)
          continue
        }
        if rest.first == "\"" { field.append(rest.removeFirst()) } else { isQuoted = false }
      } else if scalar == "\"" {
        isQuoted = true
      } else if scalar == "," || scalar == "\n" {
        record.append(String(field))
        field = .init()
        if scalar == "\n" {
          records.append(record)
          record = []
        }
      } else {
        field.append(scalar)
      }
    }
    return records
  }

  @Test func `rows are counted without their content`() throws {
    try query(["--count", "Person"]) { #expect($0.output == "2\n" && $0.code == 0) }
    try query(["--count", "Person WHERE ANY visited.name CONTAINS 'ZH'"]) { #expect($0.output == "1\n") }
    try query(["--count", "Person WHERE @links.@count > 0"]) { #expect($0.output == "0\n") }
    try query(["--count", "City WHERE @links.Person.visited.@count == 2"]) { #expect($0.output == "1\n") }
    try query(["--count", "City WHERE @links.Person.home.name == 'Ada'"]) { #expect($0.output == "1\n") }
    try query(["--count", "Person WHERE TRUEPREDICATE LIMIT(1)"]) { #expect($0.output == "1\n") }
    try query(["--count", "Person WHERE FALSEPREDICATE"]) { #expect($0.output == "0\n") }
  }

  @Test func `a query is explained: by an index if one helps, with each stage after it`() throws {
    let texts = (0..<1000).map { Optional("text \($0 % 100)") }
    try withTexts(texts) { path in
      let found = try Tool.run([
        "query", "--explain", path, "Note WHERE text == 'text 7' SORT(text ASC) LIMIT(3)",
      ])
      #expect(found.code == 0)
      #expect(
        found.output == """
          Note, 1000 rows: finds 10 by the index of text
          puts the first of them in order by text, by the index of text where that finds them soon
          takes the first 3

          """)
      let scanned = try Tool.run(["query", "--explain", path, "Note WHERE text CONTAINS '7' DISTINCT(text)"])
      #expect(
        scanned.output == """
          Note, 1000 rows: looks at each
          leaves the first of each group with the same text

          """)
      let prefix = try Tool.run(["query", "--explain", path, "Note WHERE text BEGINSWITH 'text 99'"])
      #expect(prefix.output == "Note, 1000 rows: finds 10 by the index of text\n")
    }
  }

  // MARK: - Queries

  @Test func `descriptors may follow a condition, or be used without one`() throws {
    let cases = [
      ("Note SORT(text ASC)", ["2", "1", "0", "3", "4"]), ("Note sort(text desc) limit(2)", ["4", "0"]),
      ("Note LIMIT(2)", ["0", "1"]), ("Note DISTINCT(text)", ["0", "1", "2", "4"]),
      ("Note WHERE text != null SORT(text ASC) DISTINCT(text) LIMIT(2)", ["1", "0"]),
      ("  Note\n  where text == \"b\"\n", ["0", "3"]),
    ]
    try withTexts(["b", "a", nil, "b", "c"]) { path in
      for (query, expected) in cases {
        let lines = try Tool.run(["query", "--csv", path, query]).output.split(separator: "\n").dropFirst()
        let keys = lines.map { String($0.prefix { $0 != "," }) }
        #expect(keys == expected, "\(query)")
      }
    }
  }

  @Test func `the name of a table may be quoted with quotation marks of either kind`() throws {
    try withTexts(["a"], table: "my \"own\" notes") { path in
      let outcome = try Tool.run(["query", "--count", path, "'my \"own\" notes' WHERE text == 'a'"])
      #expect(outcome.code == 0 && outcome.output == "1\n")
    }
    try withTexts(["a", "b"], table: "it's") { path in
      #expect(try Tool.run(["query", "--count", path, "\"it's\""]).output == "2\n")
      let open = try Tool.run(["query", "--count", path, "\"it's"])
      #expect(open.code == 2 && open.complaint.contains("no closing"))
    }
  }

  @Test func `an encrypted file is queried with its key, and not without`() throws {
    try withTemporaryPath { path in
      try ToolSample.makeSmall(path, key: Keys.first)
      let digits = Keys.first.map { String(format: "%02x", $0) }.joined()
      let outcome = try Tool.run(["query", "--count", path, "Person WHERE name == 'Ada'"], key: digits)
      #expect(outcome.code == 0 && outcome.output == "1\n")
      let refused = try Tool.run(["query", "--count", path, "Person"])
      #expect(refused.code == 3 && refused.output == "" && refused.complaint != "")
    }
  }

  // MARK: - Mistakes

  @Test func `an unknown table is refused with the existing names`() throws {
    try query(["Persons WHERE name == 'Ada'"]) { outcome in
      #expect(outcome.code == 2 && outcome.output == "")
      #expect(outcome.complaint.contains("no table 'Persons'"))
      #expect(outcome.complaint.contains("City, Person"))
    }
  }

  @Test func `an invalid query is shown with a mark under the place`() throws {
    try query(["Person WHERE nmae == 'Ada'"]) { outcome in
      #expect(outcome.code == 2 && outcome.output == "")
      let lines = outcome.complaint.split(separator: "\n").map(String.init)
      try #require(lines.count >= 4)
      #expect(lines[0].hasPrefix("Invalid query: ") && lines[0].contains("nmae"))
      let place = try #require(lines[1].range(of: "nmae"))
      let start = lines[1].distance(from: lines[1].startIndex, to: place.lowerBound)
      #expect(lines[2] == String(repeating: " ", count: start) + "^~~~")
      #expect(lines[3] == "Did you mean `name`?")
    }
    try query(["--count", "Person WHERE name =="]) { outcome in
      #expect(outcome.code == 2 && outcome.output == "")
      #expect(outcome.complaint.hasPrefix("Syntax error: ") && outcome.complaint.contains("^"))
    }
    try query(["--json", "Person WHERE name == $0"]) { outcome in
      #expect(outcome.code == 2 && outcome.complaint.hasPrefix("Invalid query argument: "))
    }
    try query(["--explain", "Person SORT(name)"]) { outcome in
      #expect(outcome.code == 2 && outcome.complaint.contains("^"))
    }
  }

  @Test(arguments: [
    "", "   ", "Person name == 'Ada'", "Person == 1", "Person WHEREname == 'Ada'", "Person; City",
  ])
  func `a text that is not a query of one table is refused`(text: String) throws {
    try query([text]) { outcome in
      #expect(outcome.code == 2 && outcome.output == "" && outcome.complaint != "")
    }
  }

  @Test func `at most one form of output can be chosen`() throws {
    let flags = ["--json", "--csv", "--explain", "--count"]
    for (place, first) in flags.enumerated() {
      for second in flags[(place + 1)...] {
        try query([first, second, "Person"]) { outcome in
          #expect(outcome.code == 2 && outcome.output == "", "\(first) \(second)")
          #expect(outcome.complaint.contains("exclude each other"), "\(first) \(second)")
        }
      }
    }
  }

  // MARK: - Hostile texts

  /// Texts that terminals take for commands, and characters that turn the direction of the text beside them.
  private static let hostile = [
    "\u{1b}[2J\u{1b}]0;title\u{7}", "\u{9b}2J", "\r\nfake", "\u{8}\u{7f}", "\u{202e}txt.exe", "\u{2066}a",
    "\0",
  ]

  private func expectHarmless(_ text: String, _ line: SourceLocation = #_sourceLocation) {
    let commands = text.unicodeScalars.filter { scalar in
      switch scalar.value {
      case 0x0a: false
      case 0..<0x20, 0x7f...0x9f, 0x202a...0x202e, 0x2066...0x2069: true
      default: false
      }
    }
    #expect(commands.isEmpty, "\(text.debugDescription)", sourceLocation: line)
  }

  @Test func `no text of a file can be a command to the terminal`() throws {
    try withTexts(Self.hostile) { path in
      let table = try Tool.run(["query", path, "Note"])
      expectHarmless(table.output)
      #expect(
        table.output.contains(#""\u001b[2J\u001b]0;title\u0007""#) && table.output.contains(#"\u009b2J"#))
      // Each row is on one line.
      #expect(table.output.split(separator: "\n").count == Self.hostile.count + 2)
      let json = try Tool.run(["query", "--json", path, "Note"]).output
      expectHarmless(json)
      let read = try json.split(separator: "\n").map { try JSONValue(String($0))["values"]?["text"]?.string }
      #expect(read == Self.hostile)
      expectHarmless(try Tool.run(["dump", path]).output.replacing("\t", with: " "))
    }
  }

  @Test(arguments: hostile) func `no name of a file can be a command to the terminal`(name: String) throws {
    try withTexts(["a"], table: "Note\(name)", column: "text\(name)") { path in
      expectHarmless(try Tool.run(["query", path, "Other"]).complaint)
      // An argument of a program can't contain the character 0.
      guard !name.unicodeScalars.contains("\0") else { return }
      let table = "'Note\(name)'"
      let rows = try Tool.run(["query", path, table])
      #expect(rows.code == 0)
      expectHarmless(rows.output)
      #expect(rows.output.split(separator: "\n").count == 3)
      let wrong = try Tool.run(["query", path, table + " WHERE txet == 'a'"])
      #expect(wrong.code == 2)
      expectHarmless(wrong.complaint)
      expectHarmless(try Tool.run(["query", "--explain", path, table]).output)
    }
  }
}
