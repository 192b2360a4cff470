import Foundation
import RealmTestSupport
import Testing

@testable import RealmStorage

/// The command `shell`, with commands from standard input or from arguments.
@Suite struct ShellTests {
  /// Calls `body` with a file that has objects with a primary key, an embedded object and a link.
  private func withPeople(key: [UInt8]? = nil, _ body: (String) throws -> Void) throws {
    let make = { (path: String) throws in
      let database = try Database(path: path, options: .init(encryptionKey: key))
      try database.write { transaction in
        let parts = try transaction.createTable(
          TableSchema("Part", isEmbedded: true, columns: [Column("size", .int64)]))
        let people = try transaction.createTable(
          TableSchema(
            "Person",
            columns: [
              Column("id", .int64, index: .unique), Column("name", .string), Column("friend", .link),
              Column("part", .link, target: parts.schema.id),
            ]))
        for (id, name) in [(1, "Ann"), (2, "Bob"), (3, "Cid")] {
          try people.insert(["id": .int(Int64(id)), "name": .string(name)])
        }
        let cities = try transaction.createTable(TableSchema("City", columns: [Column("name", .string)]))
        try cities.insert(["name": .string("Rom")])
      }
    }
    try Beside.with(make, body)
  }

  private func run(_ path: String, _ lines: String..., key: String? = nil) throws -> Tool.Outcome {
    let outcome = try ToolProcess.run(
      ["shell", path], input: lines.joined(separator: "\n") + "\n", key: key)
    let byArguments = lines.flatMap { ["--command", $0] }
    // Commands that only read have the same output if they come from arguments.
    if !lines.contains("begin") {
      let other = try Tool.run(["shell", path] + byArguments, key: key)
      #expect(
        other.code == outcome.code && other.output == outcome.output && other.complaint == outcome.complaint,
        "\(outcome) \(other)")
    }
    let seen1 = try Beside.names(path)
    #expect(seen1 == ["test.realm"])
    return outcome
  }

  private func names(_ path: String) throws -> [String] {
    try Tool.run(["query", "--csv", path, "Person SORT(id ASC)"]).output.split(separator: "\n").dropFirst()
      .map { String($0.split(separator: ",")[2]) }
  }

  // MARK: - Reading

  @Test(arguments: [nil, Keys.first]) func `queries and other questions are answered`(key: [UInt8]?) throws {
    try withPeople(key: key) { path in
      let outcome = try run(
        path, "", "# a remark", "tables", "count Person WHERE id > 1", "Person WHERE name == 'Ann'",
        "show Person 2",
        "show City #0", "schema City", "  'Person' WHERE id == 3 SORT(name ASC)  ", "quit",
        "nonsense",
        key: Beside.digits(key))
      #expect(outcome.code == 0 && outcome.complaint == "", "\(outcome)")
      #expect(
        outcome.output == """
          embedded table Part: 0 rows
          table Person: 3 rows
          table City: 1 row
          2
          key  id  name  friend  part
          0    1   Ann   null    null
          1 row
          {"id":2,"name":"Bob","friend":null,"part":null}
          {"name":"Rom"}
          City
            name  string
          key  id  name  friend  part
          2    3   Cid   null    null
          1 row

          """)
    }
  }

  @Test func `the way in which a query is answered is explained`() throws {
    try withPeople { path in
      let outcome = try run(path, "explain Person WHERE id == 2")
      #expect(outcome.code == 0 && outcome.output.hasPrefix("Person, 3 rows: "), "\(outcome)")
    }
  }

  @Test func `help names each command`() throws {
    try withPeople { path in
      let help = try run(path, "help").output
      for word in [
        "count", "explain", "tables", "schema", "show", "refresh", "begin", "create", "set", "delete",
        "commit",
        "cancel", "quit",
      ] { #expect(help.contains(word), "\(word)") }
    }
  }

  @Test func `a key is read from a file, and without the key the shell does not begin`() throws {
    try withPeople(key: Keys.first) { path in
      try withTemporaryPath { other in
        let keyFile = try Beside.write(Beside.digits, other, ending: ".key")
        let outcome = try Tool.run(["shell", path, "--key-file", keyFile, "-c", "count Person"])
        #expect(outcome.code == 0 && outcome.output == "3\n", "\(outcome)")
      }
      let seen2 = try ToolProcess.run(["shell", path], input: "count Person\n")
      #expect(seen2.code == 3)
      let seen3 = try Beside.names(path)
      #expect(seen3 == ["test.realm"])
    }
  }

  @Test func `the shell reads one version until it is refreshed`() throws {
    try withPeople { path in
      let shell = try ToolProcess(["shell", path])
      try shell.write("count Person")
      try shell.write("refresh")
      // The output is written when the tool ends, so another sign has to show that it has begun.
      #expect(shell.wait { _ in FileManager.default.fileExists(atPath: path + ".management") })
      let other = try Tool.run(["shell", path, "-c", "begin", "-c", "delete Person 1", "-c", "commit"])
      #expect(other.code == 0, "\(other)")
      try shell.write("refresh")
      try shell.write("count Person")
      let outcome = try shell.finish()
      #expect(outcome.code == 0 && outcome.output.hasSuffix("\n2\n"), "\(outcome)")
    }
  }

  // MARK: - Writing

  @Test(arguments: [nil, Keys.first])
  func `objects are made, changed and deleted, and a commit keeps the changes`(key: [UInt8]?) throws {
    try withPeople(key: key) { path in
      let outcome = try run(
        path, "begin", #"create Person {"id": 4, "name": "Dora", "friend": 1, "part": {"size": 7}}"#,
        #"set Person 4 {"name": "Dör \"a\"", "part": {"size": 8}}"#, #"set Person #0 {"friend": 4}"#,
        "delete Person 2", "delete Person WHERE name == 'Cid'", "count Person", "show Person 4", "commit",
        "count Part", "show Person 1", key: Beside.digits(key))
      #expect(outcome.code == 0 && outcome.complaint == "", "\(outcome)")
      let lines = outcome.output.split(separator: "\n").map(String.init)
      try #require(lines.count == 6, "\(outcome.output)")
      #expect(lines[0] == "1 deleted" && lines[1] == "2")
      #expect(lines[2] == #"{"id":4,"name":"Dör \"a\"","friend":1,"part":{"size":8}}"#)
      #expect(lines[3].hasPrefix("version ") && lines[4] == "1")
      #expect(lines[5] == #"{"id":1,"name":"Ann","friend":4,"part":null}"#)
      let seen4 = try Tool.run(["check", path], key: Beside.digits(key))
      #expect(seen4.code == 0)
      let seen5 = try Tool.run(["query", "--count", path, "Person"], key: Beside.digits(key))
      #expect(seen5.output == "2\n")
    }
  }

  @Test func `a file is closed cleanly after a commit`() throws {
    try withPeople { path in
      let seen6 = try run(path, "begin", "delete Person 1", "commit")
      #expect(seen6.code == 0)
      let seen7 = try Tool.run(["info", path])
      #expect(seen7.output.contains("Closed cleanly        yes"))
    }
  }

  @Test func `cancelled changes are lost, and uncommitted changes are seen by no other process`() throws {
    try withPeople { path in
      let outcome = try run(
        path, "begin", "delete Person WHERE TRUEPREDICATE", "count Person", "cancel", "count Person", "begin",
        "delete City WHERE TRUEPREDICATE",
        "commit")
      #expect(outcome.code == 0 && outcome.complaint == "", "\(outcome)")
      #expect(outcome.output.hasPrefix("3 deleted\n0\n3\n1 deleted\nversion "), "\(outcome)")
      let seen8 = try names(path)
      #expect(seen8 == ["Ann", "Bob", "Cid"])
    }
  }

  @Test func `an open transaction is cancelled at the end, with exit code 2`() throws {
    for end in ["tables", "quit"] {
      try withPeople { path in
        let outcome = try run(path, "begin", "delete Person WHERE TRUEPREDICATE", end)
        #expect(outcome.code == 2 && outcome.complaint.contains("cancelled"), "\(end) \(outcome)")
        #expect(outcome.output.hasPrefix("3 deleted\n"))
        let other = try Tool.run([
          "shell", path, "-c", "begin", "-c", "delete Person WHERE TRUEPREDICATE", "-c", end,
        ])
        #expect(other.code == 2 && other.complaint.contains("cancelled"), "\(end) \(other)")
        let seen9 = try names(path)
        #expect(seen9 == ["Ann", "Bob", "Cid"])
        let seen10 = try Beside.names(path)
        #expect(seen10 == ["test.realm"])
      }
    }
  }

  // MARK: - Mistakes

  private static let deep = "create Person " + String(repeating: "[", count: 100_000)

  private static let wrong: [(commands: [String], words: [String])] = [
    (["nonsense"], ["nonsense", "Person"]), (["Person WHERE nope == 1"], ["nope"]),
    (["Person nope"], ["nope"]), (["count"], []), (["count Nope"], ["Nope"]), (["schema Nope"], ["Nope"]),
    (["show"], ["The name of a table is missing"]), (["show Person"], ["The primary key is missing"]),
    (["show Person 9"], ["There is no Person 9"]), (["show Person #9"], ["There is no row #9"]),
    (["show Person #x"], ["#x"]), (["show Person #99999999999999999999"], ["no key of a row"]),
    (["show Person \"x"], ["is no JSON"]), (["show Person \"x\""], ["\"x\"", "is no whole number"]),
    (["show City 1"], ["City has no primary key"]), (["show Person 1 2"], ["behind the end"]),
    (["show 'Person 1"], ["no closing '"]), (["commit"], ["No transaction is open"]),
    (["cancel"], ["No transaction is open"]), (["create Person {}"], ["No transaction is open"]),
    (["set Person 1 {}"], ["No transaction is open"]), (["delete Person 1"], ["No transaction is open"]),
    (["begin", "begin"], ["is open already"]), (["begin", "refresh"], ["A transaction is open"]),
    (["begin", "create Nope {}"], ["Nope", "Person"]), (["begin", "create Part {}"], ["embedded"]),
    (["begin", "create Person {}"], ["id", "is missing"]), (["begin", "create Person [1]"], ["[1]"]),
    (["begin", #"create Person {"id": 1}"#], ["id", "1", "primary key of another"]),
    (["begin", #"create Person {"id": 9, "x": 5}"#], ["x", "5", "no property of that name"]),
    (["begin", #"create Person {"id": 9, "friend": 77}"#], ["77", "is not there"]),
    (["begin", #"create Person {"id": 9, "part": {"size": "s"}}"#], ["part.size", "\"s\""]),
    (["begin", #"create Person {"id": 9} {"id": 10}"#], ["behind the end"]),
    (["begin", #"create Person {"id": 9"#], ["is no JSON"]),
    (["begin", deep], ["levels"]),
    (["begin", #"set Person 1 {"id": 2}"#], ["Another object of Person"]),
    (["begin", #"set Person 1 {"name": null}"#], ["name", "null", "is not optional"]),
    (["begin", "set Person 9 {}"], ["There is no Person 9"]),
    (["begin", "set City 1 {}"], ["no primary key"]),
    (["begin", "delete Person 9"], ["There is no Person 9"]), (["begin", "delete Nope"], ["Nope"]),
    (["begin", "delete Person WHERE nope == 1"], ["nope"]),
  ]

  @Test(arguments: wrong.indices)
  func `a wrong command ends the run with exit code 2, and nothing is changed`(number: Int) throws {
    let wrong = Self.wrong[number]
    try withPeople { path in
      let lines = wrong.commands + ["commit", "tables"]
      let outcome = try ToolProcess.run(["shell", path], input: lines.joined(separator: "\n"))
      #expect(outcome.code == 2 && outcome.output == "", "\(outcome)")
      for word in wrong.words { #expect(outcome.complaint.contains(word), "\(outcome.complaint)") }
      #expect(outcome.complaint.utf8.count < 2000, "\(outcome.complaint.utf8.count) bytes")
      let seen11 = try names(path)
      #expect(seen11 == ["Ann", "Bob", "Cid"])
      let seen12 = try Beside.names(path)
      #expect(seen12 == ["test.realm"])
    }
  }

  @Test func `words after a command without arguments are not part of it`() throws {
    try withPeople { path in
      for line in ["tables Person", "refresh now", "help me", "quit it"] {
        let seen13 = try run(path, line)
        #expect(seen13.code == 2, "\(line)")
      }
      let seen14 = try run(path, "begin", "delete Person 1", "commit later")
      #expect(seen14.code == 2)
      let seen15 = try names(path)
      #expect(seen15 == ["Ann", "Bob", "Cid"])
    }
  }

  @Test func `a link to an object without a primary key is written in the form in which it is shown`() throws
  {
    try Beside.withSmall { path in
      let outcome = try ToolProcess.run(
        ["shell", path],
        input: "begin\nset Person null {\"home\": {\"$link\": 1}}\nshow Person null\ncommit\n")
      #expect(outcome.code == 0 && outcome.output.contains(#""home":{"$link":1}"#), "\(outcome)")
    }
  }

  @Test func `tables whose names are commands or have blanks and marks are quoted`() throws {
    let hostile = ["count", "begin", "a b", "it's", "say \"so\"", "#5", "\u{1b}[2J\u{202e}", "{"]
    try Beside.with({ path in
      let database = try Database(path: path)
      try database.write { transaction in
        for name in hostile {
          let columns = [Column("id", .int64, index: .unique), Column("\u{1b}[1m\n", .string)]
          try transaction.createTable(TableSchema(name, columns: columns)).insert(["id": .int(1)])
        }
      }
    }) { path in
      for name in hostile {
        let quoted = name.contains("'") ? "\"\(name)\"" : "'\(name)'"
        let runs: [(lines: [String], last: String?)] = [
          ([quoted], "1 row"), (["count \(quoted)"], "1"),
          (["begin", "delete \(quoted) 1", "count \(quoted)", "cancel", "count \(quoted)"], "1"),
          (["begin", "create \(quoted) {\"id\": 2}", "commit", "count \(quoted)"], "2"),
          (["tables", "schema", "schema \(quoted)", "show \(quoted) 1"], nil),
        ]
        for (lines, last) in runs {
          let outcome = try ToolProcess.run(["shell", path], input: lines.joined(separator: "\n"))
          #expect(outcome.code == 0 && outcome.complaint == "", "\(lines) \(outcome)")
          if let last { #expect(outcome.output.hasSuffix("\(last)\n"), "\(lines) \(outcome)") }
          let scalars = outcome.output.unicodeScalars
          #expect(!scalars.contains("\u{1b}") && !scalars.contains("\u{202e}"), "\(lines)")
        }
      }
      let seen16 = try Beside.names(path)
      #expect(seen16 == ["test.realm"])
    }
  }

  // MARK: - Files

  @Test(arguments: [GoldenFile.Content.client, .neighbour, .server])
  func `a file of device sync can be read, and no transaction can begin`(content: GoldenFile.Content) throws {
    try Beside.withGolden(GoldenFile(.one, content, isEncrypted: false)) { path in
      let before = try FolderListing(around: path)
      let read = try ToolProcess.run(["shell", path], input: "count Object\n")
      #expect(read.code == 0 && read.output.hasSuffix("\n"), "\(read)")
      let outcome = try ToolProcess.run(["shell", path], input: "begin\ndelete Object\ncommit\n")
      #expect(outcome.code == 2 && outcome.complaint.contains("sync"), "\(outcome)")
      let seen17 = try FolderListing(around: path)
      #expect(seen17 == before)
    }
  }

  @Test func `damage ends with exit code 1`() throws {
    try withPeople { path in
      try Beside.damage(path, part: "column Person.name", node: "piece")
      let before = try FolderListing(around: path)
      for line in ["Person", "show Person 1"] {
        let outcome = try ToolProcess.run(["shell", path], input: line)
        #expect(outcome.code == 1 && outcome.complaint.contains("is damaged"), "\(outcome)")
      }
      let seen18 = try FolderListing(around: path)
      #expect(seen18 == before)
    }
  }

  @Test(arguments: Tool.Stream.allCases)
  func `an output that can't be written ends with exit code 4`(stream: Tool.Stream) throws {
    try withPeople { path in
      for command in ["tables", "Person", "help"] {
        guard let outcome = try Tool.run(["shell", path, "-c", command], writingTo: stream) else { continue }
        #expect(outcome.code == 4, "\(outcome)")
        #expect(outcome.complaint.hasPrefix("Standard output can't be written: "), "\(outcome)")
      }
      let seen19 = try Beside.names(path)
      #expect(seen19 == ["test.realm"])
    }
  }

  @Test func `a file that is not a realm ends with exit code 3, and no file is made`() throws {
    try withTemporaryPath { path in
      let seen20 = try ToolProcess.run(["shell", path], input: "tables")
      #expect(seen20.code == 3)
      let seen21 = try Beside.names(path)
      #expect(seen21 == [])
      try Data("no realm".utf8).write(to: URL(filePath: path))
      let seen22 = try ToolProcess.run(["shell", path], input: "tables")
      #expect(seen22.code == 3)
      let seen23 = try Beside.names(path)
      #expect(seen23 == ["test.realm"])
    }
  }
}
