import Foundation
import RealmTestSupport
import Testing

@testable import RealmStorage

/// The command `export`.
@Suite struct ExportTests {
  private func lines(_ text: String) -> [String] { text.split(separator: "\n").map(String.init) }

  // MARK: - Forms

  @Test(arguments: [nil, Keys.first])
  func `JSON Lines have one line each for the form, each table, each object and each entry`(
    key: [UInt8]?
  ) throws {
    try Beside.withSmall(key: key) { path in
      let outcome = try Tool.run(["export", path], key: Beside.digits(key))
      #expect(outcome.code == 0 && outcome.complaint == "", "\(outcome)")
      let lines = self.lines(outcome.output)
      try #require(lines.count == 8, "\(outcome.output)")
      #expect(lines[0] == #"{"format":"realm-objects","version":1,"schemaVersion":0}"#)
      #expect(lines[1].hasPrefix(#"{"table":"City","embedded":false,"columns":[{"name":"name""#))
      #expect(lines[2].hasPrefix(#"{"table":"Person","#))
      #expect(lines[3] == #"{"table":"City","key":1,"object":{"name":"Zürich \"ZH\""}}"#)
      #expect(
        lines[4] == """
          {"table":"Person","object":{"id":{"$int":"9007199254740993"},"name":"Ada",\
          "born":"1815-12-10T00:00:00.000000001Z","home":{"$link":1},"visited":[{"$link":1},{"$link":1}]}}
          """)
      #expect(lines[5].hasPrefix(#"{"table":"Person","object":{"id":null,"name":"line\nbreak","#))
      #expect(lines[6] == #"{"tree":"notes","key":"a","value":"1"}"#)
      #expect(lines[7] == #"{"tree":"notes","key":{"$data":"gA=="},"value":{"$data":"/wA="}}"#)
      let nested = try Tool.run(["dump", "--nested", "--json", path], key: Beside.digits(key))
      #expect(nested.code == 0 && nested.output == outcome.output)
      let seen1 = try Beside.names(path)
      #expect(seen1 == ["test.realm"])
    }
  }

  @Test func `a key is read from a file, and without the key nothing is exported`() throws {
    try Beside.withSmall(key: Keys.first) { path in
      let keyFile = try Beside.write(Beside.digits, path, ending: ".key")
      let outcome = try Tool.run(["export", path, path + ".jsonl", "--key-file", keyFile])
      #expect(outcome.code == 0 && outcome.output == "" && outcome.complaint == "", "\(outcome)")
      let text = try String(contentsOfFile: path + ".jsonl", encoding: .utf8)
      let seen2 = try Tool.run(["export", path], key: Beside.digits)
      #expect(seen2.output == text)
      for key in [nil, Beside.digits(Keys.second)] {
        let refused = try Tool.run(["export", path, path + ".csv", "--table", "City"], key: key)
        #expect(refused.code == 3 && refused.output == "" && refused.complaint != "", "\(refused)")
      }
      let seen3 = try Beside.names(path)
      #expect(seen3 == ["test.realm", "test.realm.jsonl", "test.realm.key"])
    }
  }

  @Test func `a table or a query is exported as objects without other lines`() throws {
    try Beside.withSmall { path in
      let table = try Tool.run(["export", path, "--table", "City"])
      #expect(table.code == 0 && table.output == "{\"name\":\"Zürich \\\"ZH\\\"\"}\n")
      let query = try Tool.run(["export", path, "--query", "Person WHERE name == 'Ada'"])
      #expect(query.code == 0 && lines(query.output).count == 1 && query.output.contains(#""name":"Ada""#))
      let none = try Tool.run(["export", path, "--query", "Person WHERE FALSEPREDICATE"])
      #expect(none.code == 0 && none.output == "" && none.complaint == "")
    }
  }

  @Test func `CSV has the names, and an empty text differs from null`() throws {
    try Beside.withSmall { path in
      let csv = try Tool.run(["export", path, "--format", "csv", "--table", "Person"])
      #expect(csv.code == 0 && csv.complaint == "")
      #expect(
        csv.output == """
          id,name,born,home,visited
          9007199254740993,Ada,1815-12-10T00:00:00.000000001Z,"{""$link"":1}","[{""$link"":1},{""$link"":1}]"
          ,"line
          break",,,[]

          """)
      let other = try Tool.run([
        "export", path, "--format", "csv", "--query", "Person WHERE name == 'Ada'", "--delimiter", ";",
      ])
      #expect(lines(other.output).first == "id;name;born;home;visited")
    }
  }

  @Test func `CSV of all tables is a folder with a file for each`() throws {
    try Beside.withSmall { path in
      let folder = path + "-tables"
      let outcome = try Tool.run(["export", path, folder, "--format", "csv"])
      #expect(outcome.code == 0 && outcome.output == "" && outcome.complaint == "", "\(outcome)")
      let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
      #expect(names == ["City.csv", "Person.csv"])
      for (name, table) in zip(names, ["City", "Person"]) {
        let text = try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)
        let seen4 = try Tool.run(["export", path, "--format", "csv", "--table", table])
        #expect(seen4.output == text)
      }
    }
  }

  @Test func `the name of a folder may end with a slash`() throws {
    try Beside.withSmall { path in
      let outcome = try Tool.run(["export", path, path + "-tables/", "--format", "csv"])
      #expect(outcome.code == 0, "\(outcome)")
      #expect(FileManager.default.fileExists(atPath: path + "-tables/City.csv"))
    }
  }

  @Test func `a file whose name ends with .tsv has tabs between its fields`() throws {
    try Beside.withSmall { path in
      let outcome = try Tool.run(["export", path, path + ".tsv", "--table", "Person"])
      #expect(outcome.code == 0, "\(outcome)")
      let text = try String(contentsOfFile: path + ".tsv", encoding: .utf8)
      #expect(text.hasPrefix("id\tname\tborn\thome\tvisited\n"), "\(text)")
    }
  }

  @Test func `the name of a table is not used as a path, and no two tables share a file`() throws {
    let tables = ["../up", "a/b", "A", "a", "é", "", "dot.", String(repeating: "ü", count: 120)]
    try Beside.with({ path in
      let database = try Database(path: path)
      try database.write { transaction in
        for name in tables where !name.isEmpty {
          try transaction.createTable(TableSchema(name, columns: [Column("x", .int64)])).insert([:])
        }
      }
    }) { path in
      let folder = path + "-tables"
      let seen5 = try Tool.run(["export", path, folder, "--format", "csv"])
      #expect(seen5.code == 0)
      let names = try FileManager.default.contentsOfDirectory(atPath: folder)
      #expect(names.count == tables.count - 1 && Set(names.map { $0.lowercased() }).count == names.count)
      #expect(names.allSatisfy { $0.hasSuffix(".csv") && $0.utf8.count < 256 }, "\(names)")
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: (path as NSString).deletingLastPathComponent)
          .count == 2)
    }
  }

  // MARK: - Golden files

  private static let whole = GoldenFile.all.filter { [.sample, .structures].contains($0.content) }

  @Test(arguments: whole) func `an exported file is equal after its import`(file: GoldenFile) throws {
    try Beside.withGolden(file) { path in
      let (key, lines, new) = (Beside.digits(file.key), path + ".jsonl", path + "-new.realm")
      let export = try Tool.run(["export", path, lines], key: key)
      #expect(export.code == 0 && export.output == "" && export.complaint == "", "\(export)")
      let bytes = try file.bytes()
      let seen6 = try Data(contentsOf: URL(filePath: path))
      #expect(seen6 == Data(bytes))
      let imported = try Tool.run(["import", new, lines], key: key)
      #expect(imported.code == 0 && imported.complaint == "", "\(imported)")
      let diff = try Tool.run(["diff", path, new], key: key)
      #expect(diff.code == 0, "\(diff.output.prefix(500)) \(diff.complaint)")
      let seen7 = try Tool.run(["check", new], key: key)
      #expect(seen7.code == 0)
      let seen8 = try Tool.run(["export", new], key: key)
      #expect(seen8.output.split(separator: "\n").count > 10)
      let seen9 = try Beside.names(path)
      #expect(seen9 == ["test.realm", "test.realm-new.realm", "test.realm.jsonl"])
    }
  }

  @Test(arguments: [nil, Keys.first])
  func `an exported sample is equal after its import`(key: [UInt8]?) throws {
    var generator = SeededGenerator(seed: 7)
    try Beside.with({ try ToolSample.make($0, key: key, &generator) }) { path in
      let (digits, new) = (Beside.digits(key), path + "-new.realm")
      let lines = try Tool.run(["export", path], key: digits)
      #expect(lines.code == 0 && lines.complaint == "", "\(lines.complaint)")
      let outcome = try ToolProcess.run(
        ["import", new, "-", "--format", "json-lines"], input: lines.output, key: digits)
      #expect(outcome.code == 0 && outcome.complaint == "", "\(outcome)")
      let diff = try Tool.run(["diff", path, new], key: digits)
      #expect(diff.code == 0, "\(diff.output.prefix(500)) \(diff.complaint)")
    }
  }

  @Test(arguments: [GoldenFile.Content.client, .neighbour, .server])
  func `the trees of device sync are not exported from a synced file`(content: GoldenFile.Content) throws {
    try Beside.withGolden(GoldenFile(.one, content, isEncrypted: false)) { path in
      let export = try Tool.run(["export", path, path + ".jsonl"])
      #expect(export.code == 0 && export.complaint == "", "\(export)")
      let text = try String(contentsOfFile: path + ".jsonl", encoding: .utf8)
      #expect(text.contains(#""object":{"id":"#) && !text.contains(#"{"tree":"sync."#))
      let new = path + "-new.realm"
      let seen10 = try Tool.run(["import", new, path + ".jsonl"])
      #expect(seen10.code == 0)
      let seen11 = try Tool.run(["info", new])
      #expect(seen11.output.contains("Synced                no"))
      let diff = try Tool.run(["diff", path, new])
      #expect(diff.output.split(separator: "\n").allSatisfy { $0.contains("tree sync.") }, "\(diff.output)")
    }
  }

  // MARK: - SQLite

  @Test func `a SQLite file has a table for each table, if the library is there`() throws {
    try Beside.withSmall { path in
      let target = path + ".sqlite"
      let outcome = try Tool.run(["export", path, target])
      guard outcome.code == 0 else {
        #expect(outcome.code == 6 && outcome.complaint.lowercased().contains("sqlite"), "\(outcome)")
        let seen12 = try Beside.names(path)
        #expect(seen12 == ["test.realm"])
        return
      }
      let bytes = try Data(contentsOf: URL(filePath: target))
      #expect(bytes.starts(with: Data("SQLite format 3\0".utf8)))
      #expect(bytes.range(of: Data("Person.visited".utf8)) != nil && bytes.range(of: Data("Ada".utf8)) != nil)
      let again = try Tool.run(["export", path, target])
      #expect(again.code == 4 && again.complaint.contains("exists"), "\(again)")
      let seen13 = try Data(contentsOf: URL(filePath: target))
      #expect(seen13 == bytes)
      let seen14 = try Beside.names(path)
      #expect(seen14 == ["test.realm", "test.realm.sqlite"])
    }
  }

  // MARK: - Mistakes and damage

  @Test(arguments: [["x.jsonl"], ["x.csv", "--table", "City"], ["x", "--format", "csv"], ["x.sqlite"]])
  func `an existing target stays unchanged`(arguments: [String]) throws {
    try Beside.withSmall { path in
      let target = "\(path)-\(arguments[0])"
      try Data("mine".utf8).write(to: URL(filePath: target))
      let before = try FolderListing(around: path)
      let outcome = try Tool.run(["export", path, target] + arguments.dropFirst())
      #expect(outcome.code == 4 && outcome.output == "", "\(outcome)")
      #expect(outcome.complaint.contains(target) && outcome.complaint.contains("exists"), "\(outcome)")
      let seen15 = try FolderListing(around: path)
      #expect(seen15 == before)
    }
  }

  @Test(arguments: [["x.jsonl"], ["x.csv", "--table", "Person"], ["x", "--format", "csv"], ["x.sqlite"]])
  func `damage ends with exit code 1 and leaves no target`(arguments: [String]) throws {
    for (part, node) in [("column Person.name", "piece"), ("table Person", "cluster")] {
      try Beside.withSmall { path in
        try Beside.damage(path, part: part, node: node)
        let before = try FolderListing(around: path)
        let outcome = try Tool.run(["export", path, "\(path)-\(arguments[0])"] + arguments.dropFirst())
        if outcome.code == 6, outcome.complaint.contains("libsqlite") { return }
        #expect(outcome.code == 1 && outcome.complaint.contains("is damaged"), "\(outcome)")
        let seen16 = try FolderListing(around: path)
        #expect(seen16 == before)
      }
    }
  }

  @Test(arguments: [["x.jsonl"], ["x.csv", "--table", "Things"], ["x", "--format", "csv"]])
  func `a full disk ends with exit code 4 and leaves no target`(arguments: [String]) throws {
    try Beside.withGolden(GoldenFile(.one, .structures, isEncrypted: false)) { path in
      let target = "\(path)-\(arguments[0])"
      let outcome = try ToolProcess.run(["export", path, target] + arguments.dropFirst(), blocks: 8)
      #expect(outcome.code == 4 && outcome.complaint.contains(" can't be written: "), "\(outcome)")
      #expect(outcome.complaint.contains(target), "\(outcome)")
      let seen17 = try Beside.names(path)
      #expect(seen17 == ["test.realm"])
    }
  }

  @Test(arguments: Tool.Stream.allCases)
  func `standard output that can't be written ends with exit code 4`(stream: Tool.Stream) throws {
    try Beside.withSmall { path in
      for arguments in [[], ["--table", "Person"], ["--format", "csv", "--table", "Person"]] {
        guard let outcome = try Tool.run(["export", path] + arguments, writingTo: stream) else { continue }
        #expect(outcome.code == 4, "\(arguments) \(outcome)")
        #expect(outcome.complaint.hasPrefix("Standard output can't be written: "), "\(arguments) \(outcome)")
      }
      let seen18 = try Beside.names(path)
      #expect(seen18 == ["test.realm"])
    }
  }

  @Test(arguments: [
    ["--table", "City", "--query", "City"], ["--format", "csv"], ["--format", "sqlite"], ["--format", "xml"],
    ["--table", "Nope"], ["--query", "Nope"], ["--query", "City WHERE nope == 1"], ["--query", ""],
    ["--format", "csv", "--table", "City", "--delimiter", "ab"],
    ["--format", "csv", "--table", "City", "--delimiter", "\""],
    ["--format", "csv", "--table", "City", "--delimiter", ""],
    ["x.sqlite", "--table", "City"], ["x.jsonl", "--table", "Nope"], ["x.csv", "--query", "City WHERE"],
  ])
  func `wrong arguments end with exit code 2, and no file is made`(arguments: [String]) throws {
    try Beside.withSmall { path in
      let arguments = arguments.map { $0.hasPrefix("x.") ? "\(path)-\($0)" : $0 }
      let outcome = try Tool.run(["export", path] + arguments)
      #expect(outcome.code == 2 && outcome.output == "" && outcome.complaint != "", "\(outcome)")
      let seen19 = try Beside.names(path)
      #expect(seen19 == ["test.realm"])
    }
  }

  @Test func `a file that is not a realm ends with exit code 3`() throws {
    try withTemporaryPath { path in
      let seen20 = try Tool.run(["export", path, path + ".jsonl"])
      #expect(seen20.code == 3)
      try Data("no realm".utf8).write(to: URL(filePath: path))
      let seen21 = try Tool.run(["export", path, path + ".jsonl"])
      #expect(seen21.code == 3)
      let seen22 = try Beside.names(path)
      #expect(seen22 == ["test.realm"])
    }
  }

  @Test func `embedded objects that are nested too deep are refused, and there is no target`() throws {
    try Beside.with({ path in
      let database = try Database(path: path)
      try database.write { transaction in
        let parts = try transaction.createTable(
          TableSchema("Part", isEmbedded: true, columns: [Column("part", .link), Column("x", .int64)]))
        let wholes = try transaction.createTable(
          TableSchema("Whole", columns: [Column("part", .link, target: parts.schema.id)]))
        var inner = try parts.insert(["x": .int(1)])
        for _ in 0..<300 { inner = try parts.insert(["part": .link(inner)]) }
        try wholes.insert(["part": .link(inner)])
      }
    }) { path in
      for arguments in [[], ["--format", "csv", "--table", "Whole"]] {
        let outcome = try Tool.run(["export", path, path + ".out"] + arguments)
        #expect(outcome.code == 6 && outcome.complaint.contains("Part"), "\(outcome)")
        let seen23 = try Beside.names(path)
        #expect(seen23 == ["test.realm"])
      }
    }
  }
}
