import Foundation
import RealmTestSupport
import Testing

@testable import RealmStorage

/// The command `watch`.
@Suite struct WatchTests {
  /// Calls `body` with a database with people, and a run of the tool that watches it.
  private func watching(
    _ arguments: [String], key: [UInt8]? = nil,
    _ body: (_ database: Database, _ people: [Int64: UInt64], _ tool: ToolProcess) throws -> Void
  ) throws {
    try withTemporaryPath { path in
      let database = try Database(path: path, options: .init(encryptionKey: key))
      var rows: [Int64: UInt64] = [:]
      try database.write { transaction in
        let parts = try transaction.createTable(
          TableSchema("Part", isEmbedded: true, columns: [Column("size", .int64)]))
        let people = try transaction.createTable(
          TableSchema(
            "Person",
            columns: [
              Column("id", .int64, index: .unique), Column("name", .string), Column("age", .int64),
              Column("part", .link, target: parts.schema.id),
              Column("tags", .string, collection: .list),
            ]))
        for id in Int64(1)...3 {
          let part = try parts.insert(["size": .int(id)])
          rows[id] = try people.insert([
            "id": .int(id), "name": .string("name \(id)"), "age": .int(30 + id), "part": .link(part),
          ])
        }
        let cities = try transaction.createTable(TableSchema("City", columns: [Column("name", .string)]))
        try cities.insert(["name": .string("Rom")])
      }
      let tool = try ToolProcess(["watch", path] + arguments, key: Beside.digits(key))
      #expect(tool.wait { $0.complaint.contains("Ctrl-C ends.") }, "\(tool.complaint)")
      try body(database, rows, tool)
    }
  }

  private func set(_ value: Value, _ column: String, ofRow row: UInt64?, _ database: Database) throws {
    let row = try #require(row)
    _ = try database.write { try $0.table("Person")?.set(value, column, ofRow: row) }
  }

  private func expect(
    _ tool: ToolProcess, prints text: String, _ line: SourceLocation = #_sourceLocation
  ) {
    let isThere = tool.wait { $0.output.utf8.count >= text.utf8.count }
    #expect(isThere && tool.output == text, "\(tool.output) \(tool.complaint)", sourceLocation: line)
  }

  private func expectEnd(_ tool: ToolProcess, _ line: SourceLocation = #_sourceLocation) throws {
    tool.send(SIGINT)
    let outcome = try tool.finish()
    #expect(outcome.code == 0, "\(outcome)", sourceLocation: line)
  }

  @Test(arguments: [nil, Keys.first])
  func `insertions, changes and deletions are shown on one line each`(key: [UInt8]?) throws {
    try watching(["Person WHERE age > 31 SORT(id ASC)"], key: key) { database, rows, tool in
      #expect(tool.complaint.hasPrefix("2 rows of Person at version "), "\(tool.complaint)")
      try set(.string("Bob \"B\"\n"), "name", ofRow: rows[2], database)
      var text = "~ Person 2: name \"name 2\" → \"Bob \\\"B\\\"\\n\"\n"
      expect(tool, prints: text)
      // The change of an object that the query finds neither before nor after is not shown.
      try set(.string("Ann"), "name", ofRow: rows[1], database)
      try set(.int(40), "age", ofRow: rows[1], database)
      text += "+ Person 1: id 1, name \"Ann\", age 40, part {\"size\":1}, tags []\n"
      expect(tool, prints: text)
      try set(.int(5), "age", ofRow: rows[3], database)
      text += "- Person 3\n"
      expect(tool, prints: text)
      let row = try #require(rows[2])
      _ = try database.write { try $0.table("Person")?.remove(row) }
      text += "- Person 2\n"
      expect(tool, prints: text)
      try expectEnd(tool)
    }
  }

  @Test func `a commit with several changes shows deletions first`() throws {
    try watching(["Person SORT(id ASC)"]) { database, rows, tool in
      let (first, second) = (try #require(rows[1]), try #require(rows[2]))
      try database.write { transaction in
        let people = try #require(try transaction.table("Person"))
        try people.insert(["id": .int(0), "name": .string("new")])
        try people.set(.int(99), "age", ofRow: second)
        try people.set(.list([.string("a")]), "tags", ofRow: second)
        try people.remove(first)
      }
      expect(
        tool,
        prints: """
          - Person 1
          + Person 0: id 0, name "new", age 0, part null, tags []
          ~ Person 2: age 32 → 99, tags [] → ["a"]

          """)
      try expectEnd(tool)
    }
  }

  @Test func `changes of embedded objects are shown as changes of their owner`() throws {
    try watching(["Person"]) { database, _, tool in
      try database.write { transaction in
        let parts = try #require(try transaction.table("Part"))
        try parts.set(.int(70), "size", ofRow: 0)
      }
      expect(tool, prints: "~ Person 1: part {\"size\":1} → {\"size\":70}\n")
      try expectEnd(tool)
    }
  }

  @Test func `rows of a table without a primary key are shown by their keys`() throws {
    try watching(["City"]) { database, _, tool in
      _ = try database.write { try $0.table("City")?.insert(["name": .string("Ulm")]) }
      expect(tool, prints: "+ City #1: name \"Ulm\"\n")
      try expectEnd(tool)
    }
  }

  @Test func `lines of JSON have the version, the kind, the key, the object and the differences`() throws {
    try watching(["--json", "Person WHERE id != 3"]) { database, rows, tool in
      try set(.int(50), "age", ofRow: rows[2], database)
      let changed = database.version
      #expect(tool.wait { $0.output.split(separator: "\n").count == 1 })
      let row = try #require(rows[1])
      try database.write { transaction in
        let people = try #require(try transaction.table("Person"))
        try people.remove(row)
        try people.insert(["id": .int(4)])
      }
      #expect(tool.wait { $0.output.split(separator: "\n").count == 3 }, "\(tool.output)")
      let lines = try tool.output.split(separator: "\n").map { try JSONValue(String($0)) }
      try #require(lines.count == 3)
      #expect(lines.map { $0["change"]?.string } == ["changed", "removed", "added"])
      #expect(
        lines.map { $0["version"]?.integer }
          == [Int64(changed), Int64(database.version), Int64(database.version)])
      let second = try #require(rows[2])
      #expect(lines[0]["key"]?.integer == Int64(second))
      #expect(lines[0]["properties"]?.array?.map(\.string) == ["age"])
      #expect(lines[0]["object"]?["age"]?.integer == 50)
      #expect(lines[0]["object"]?["part"]?["size"]?.integer == 2)
      // A deleted object is shown as it was.
      #expect(lines[1]["object"]?["name"]?.string == "name 1" && lines[1]["properties"] == nil)
      #expect(lines[2]["object"]?["id"]?.integer == 4 && lines[2]["properties"] == nil)
      try expectEnd(tool)
    }
  }

  @Test func `the run ends after a number of commits that change the found objects`() throws {
    try watching(["Person WHERE id < 3", "--commits", "2"]) { database, rows, tool in
      try set(.int(50), "age", ofRow: rows[1], database)
      #expect(tool.wait { $0.output.split(separator: "\n").count == 1 })
      // This commit changes no found object, and does not count.
      try set(.int(51), "age", ofRow: rows[3], database)
      Thread.sleep(forTimeInterval: 0.6)
      try set(.int(52), "age", ofRow: rows[2], database)
      let outcome = try tool.finish()
      #expect(outcome.code == 0, "\(outcome)")
      #expect(outcome.output == "~ Person 1: age 31 → 50\n~ Person 2: age 32 → 52\n", "\(outcome)")
    }
  }

  @Test func `a property that is added during the run does not stop the program`() throws {
    try watching(["--json", "Person"]) { database, rows, tool in
      let row = try #require(rows[1])
      try database.write { transaction in
        let people = try #require(try transaction.table("Person"))
        try people.addColumn(Column("added", .string, isOptional: true))
        try people.set(.int(77), "age", ofRow: row)
        try people.set(.string("x"), "added", ofRow: row)
      }
      #expect(tool.wait { !$0.output.isEmpty || $0.complaint.contains("again") }, "\(tool.complaint)")
      tool.send(SIGINT)
      let outcome = try tool.finish()
      // The tool may also report that it has to begin again.
      #expect(outcome.code == 0 && outcome.output.contains("77") || outcome.code == 6, "\(outcome)")
    }
  }

  @Test func `a property that is dropped during the run leaves the names right`() throws {
    try watching(["--json", "Person"]) { database, rows, tool in
      let row = try #require(rows[1])
      try database.write { transaction in
        let people = try #require(try transaction.table("Person"))
        let name = try #require(people.schema.columns.firstIndex { $0.name == "name" })
        try people.dropColumn(name)
        try people.set(.int(77), "age", ofRow: row)
      }
      #expect(tool.wait { !$0.output.isEmpty || $0.complaint.contains("again") }, "\(tool.complaint)")
      tool.send(SIGINT)
      let outcome = try tool.finish()
      guard outcome.code != 6 else { return }
      let line = try JSONValue(String(outcome.output.split(separator: "\n").first ?? ""))
      let names = line["properties"]?.array?.compactMap(\.string) ?? []
      #expect(outcome.code == 0 && names.contains("age") && !names.contains("tags"), "\(outcome)")
    }
  }

  @Test func `a table that goes away ends the run with a message`() throws {
    try watching(["City"]) { database, _, tool in
      try database.write { try $0.dropTable("City") }
      let outcome = try tool.finish()
      #expect(outcome.code != 0 && outcome.code > 0 && outcome.complaint.contains("City"), "\(outcome)")
    }
  }

  // MARK: - The end, and what is left

  @Test(arguments: [SIGINT, SIGTERM])
  func `a signal ends the run with exit code 0, and no file is left beside the database`(
    signal: CInt
  ) throws {
    try Beside.withSmall { path in
      let tool = try ToolProcess(["watch", path, "City"])
      #expect(tool.wait { $0.complaint.contains("Ctrl-C ends.") })
      let writer = try ToolProcess.run(
        ["shell", path], input: "begin\ncreate City {\"name\": \"Rom\"}\ncommit\n")
      #expect(writer.code == 0, "\(writer)")
      #expect(tool.wait { $0.output.hasPrefix("+ City #") })
      tool.send(signal)
      let outcome = try tool.finish()
      #expect(outcome.code == 0 && outcome.output.split(separator: "\n").count == 1, "\(outcome)")
      let seen1 = try Beside.names(path)
      #expect(seen1 == ["test.realm"])
    }
  }

  @Test(arguments: [
    ["Nope"], ["City WHERE nope == 1"], [""], ["City", "--commits", "0"], ["City", "--commits", "x"],
  ])
  func `wrong arguments end with exit code 2, and no file is left beside the database`(arguments: [String])
    throws
  {
    try Beside.withSmall { path in
      let outcome = try Tool.run(["watch", path] + arguments)
      #expect(outcome.code == 2 && outcome.output == "" && outcome.complaint != "", "\(outcome)")
      let seen2 = try Beside.names(path)
      #expect(seen2 == ["test.realm"])
    }
  }

  @Test func `an encrypted file without its key, a damaged file and a missing file are refused`() throws {
    try Beside.withSmall(key: Keys.first) { path in
      let seen3 = try Tool.run(["watch", path, "City"])
      #expect(seen3.code == 3)
      let seen4 = try Beside.names(path)
      #expect(seen4 == ["test.realm"])
    }
    try Beside.withSmall { path in
      try Beside.damage(path, part: "table City", node: "table")
      let outcome = try Tool.run(["watch", path, "City"])
      #expect(outcome.code == 1 && outcome.complaint.contains("is damaged"), "\(outcome)")
      let seen5 = try Beside.names(path)
      #expect(seen5 == ["test.realm"])
    }
    try withTemporaryPath { path in
      let seen6 = try Tool.run(["watch", path, "City"])
      #expect(seen6.code == 3)
      let seen7 = try Beside.names(path)
      #expect(seen7 == [])
    }
  }

  @Test func `a synced file is watched, and not changed`() throws {
    try Beside.withGolden(GoldenFile(.one, .client, isEncrypted: false)) { path in
      let before = try FolderListing(around: path)
      let tool = try ToolProcess(["watch", path, "Object"])
      #expect(tool.wait { $0.complaint.contains("rows of Object at version ") }, "\(tool.complaint)")
      try expectEnd(tool)
      let seen8 = try FolderListing(around: path)
      #expect(seen8 == before)
    }
  }

  @Test func `names in a file can't be commands to the terminal`() throws {
    let name = "T\u{1b}[2J\u{7}\u{202e}"
    try withTemporaryPath { path in
      let database = try Database(path: path)
      _ = try database.write { transaction in
        try transaction.createTable(TableSchema(name, columns: [Column("c\u{1b}[1m\n", .string)]))
      }
      let tool = try ToolProcess(["watch", path, "'\(name)'"])
      #expect(tool.wait { $0.complaint.contains("Ctrl-C ends.") })
      _ = try database.write { try $0.table(name)?.insert([:]) }
      #expect(tool.wait { !$0.output.isEmpty })
      tool.send(SIGINT)
      let outcome = try tool.finish()
      for text in [outcome.output, outcome.complaint] {
        let commands = text.unicodeScalars.filter { ["\u{1b}", "\u{202e}", "\u{7}"].contains($0) }
        #expect(commands.isEmpty, "\(text.debugDescription)")
        #expect(text.split(separator: "\n").count == 1, "\(text.debugDescription)")
      }
    }
  }

  @Test func `an output that can't be written ends the run with exit code 4`() throws {
    try Beside.withSmall { path in
      guard FileManager.default.fileExists(atPath: "/dev/full") else { return }
      // The run has nothing to write at first, so commits follow until it ends.
      let ending = Thread {
        for number in 0..<100 {
          guard !Thread.current.isCancelled, FileManager.default.fileExists(atPath: path) else { return }
          _ = try? ToolProcess.run(
            ["shell", path], input: "begin\ncreate City {\"name\": \"\(number)\"}\ncommit\n")
          Thread.sleep(forTimeInterval: 0.1)
        }
      }
      ending.start()
      let outcome = try Tool.run(["watch", path, "City", "--commits", "50"], writingTo: .fullDisk)
      ending.cancel()
      #expect(outcome?.code == 4, "\(outcome.debugDescription)")
      #expect(outcome?.complaint.contains("Standard output can't be written: ") == true)
    }
  }
}
