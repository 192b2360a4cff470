import RealmInterchange
import RealmStorage
import RealmTestSupport
import Testing

@Suite struct WholeImportTests {
  private static let head = #"{"format":"realm-objects","version":1,"schemaVersion":7}"#
  private static let person =
    #"{"table":"Person","columns":[{"name":"id","type":"int64","index":"primary key"},{"name":"friend","type":"link","target":"Person"},{"name":"dog","type":"link","target":"Dog"}]}"#
  private static let dog = #"{"table":"Dog","columns":[{"name":"name","type":"string"}]}"#

  private func read(
    _ lines: [String], into database: Database, isNew: Bool = true,
    duplicates: ObjectInserter.Duplicates = .areProblems
  ) throws -> (objects: Int, entries: Int, problems: [InputProblem]) {
    try RandomDatabase.read(
      lines.map { Array($0.utf8) }, into: database, isNew: isNew, duplicates: duplicates)
  }

  @Test func `tables, objects and entries of trees are made, and the schema version is set`() throws {
    let database = try Database(inMemory: "whole")
    let read = try read(
      [
        Self.head, Self.person, "", Self.dog,
        #"{"table":"Person","object":{"id":1,"friend":2,"dog":{"$link":9}}}"#,
        #"{"table":"Person","object":{"id":2,"friend":2}}"#,
        #"{"table":"Dog","key":9,"object":{"name":"Rex"}}"#,
        #"{"tree":"t","key":"a","value":{"$data":"AP8="}}"#,
      ], into: database)
    #expect(read.problems.map(\.description) == [])
    #expect(read.objects == 3)
    #expect(read.entries == 1)
    let snapshot = try database.snapshot()
    let version = try snapshot.schemaVersion()
    #expect(version == 7)
    let people = try #require(try snapshot.table("Person"))
    let dogs = try #require(try snapshot.table("Dog"))
    let (dog, second) = (try dogs.key(at: 0), try people.key(at: 1))
    let values = try (0..<2).map { try people.values(ofRow: people.key(at: $0)) }
    #expect(values == [[.int(1), .link(second), .link(dog)], [.int(2), .link(second), .null]])
    let value = try snapshot.tree("t").value(for: Array("a".utf8))
    #expect(value == [0, 255])
  }

  @Test func `the schema version of an existing file stays`() throws {
    let database = try Database(inMemory: "there")
    try database.write { try $0.setSchemaVersion(3) }
    _ = try read([Self.head, Self.dog], into: database, isNew: false)
    let version = try database.snapshot().schemaVersion()
    #expect(version == 3)
  }

  @Test func `a file is an export only if it has the head of the form`() throws {
    for (text, isHead) in [
      (Self.head, true), (#"{"format":"realm-objects"}"#, true), (#"{"format":"other"}"#, false),
      ("[]", false),
      ("{}", false), (#"{"format":1}"#, false),
    ] {
      let node = try JSONParser.value(of: Array(text.utf8))
      #expect(WholeImport.isHead(node) == isHead, "\(text)")
    }
    for version in ["2", "1.0", #""1""#, "null"] {
      let database = try Database(inMemory: "later")
      #expect(throws: InterchangeError.self, "\(version)") {
        try read([#"{"format":"realm-objects","version":\#(version)}"#, Self.dog], into: database)
      }
    }
  }

  @Test func `each wrong line is a problem with its place, and the other lines are read`() throws {
    let wrong: [(String, Int, String)] = [
      ("{", 2, "no JSON"), ("5", 1, "neither a table"), ("{}", 1, "neither a table"),
      (#"{"tree":5}"#, 1, "neither a table"),
      (#"{"table":"Cat","object":{}}"#, 1, "no table of objects"),
      (#"{"object":{}}"#, 1, "no table of objects"),
      (#"{"table":"Home","object":{}}"#, 1, "no table of objects"),
      (#"{"table":"Dog","key":-1,"object":{"name":""}}"#, 22, "no key of a row"),
      (#"{"table":"Dog","object":5}"#, 25, "no object of Dog"),
      (#"{"table":"Dog","object":{"name":5}}"#, 33, "is no text"),
      (#"{"table":"Dog","object":{"age":5}}"#, 32, "has no place"),
      (#"{"table":"Person","object":{}}"#, 28, "is missing"),
      (#"{"table":"Person","object":{"id":1}}"#, 34, "primary key of another object"),
      (#"{"tree":"t","key":5,"value":""}"#, 19, "base64"),
      (#"{"tree":"t","key":"","value":{"$data":"é"}}"#, 30, "base64"),
      (#"{"tree":"t","key":""}"#, 1, "base64"), (#"{"tree":"","key":"","value":""}"#, 1, "name of 1 to"),
      (#"{"tree":"t","key":"\#(String(repeating: "k", count: 1025))","value":""}"#, 1, "can't be stored"),
      (#"{"table":"Late","columns":[]}"#, 1, "behind objects"),
    ]
    let home = #"{"table":"Home","embedded":true,"columns":[]}"#
    for (line, column, reason) in wrong {
      let database = try Database(inMemory: "wrong")
      let read = try read(
        [
          Self.head, home, Self.dog, Self.person, #"{"table":"Person","object":{"id":1}}"#, line,
          #"{"table":"Dog","object":{"name":"Rex"}}"#,
        ], into: database)
      #expect(read.problems.count == 1, "\(line)")
      #expect(read.objects == 2, "\(line)")
      #expect(read.problems.first?.line == 6, "\(line)")
      #expect(read.problems.first?.column == column, "\(line)")
      let text = read.problems.first?.description ?? ""
      #expect(text.contains(reason), "\(line): \(text)")
      let snapshot = try database.snapshot()
      #expect(IntegrityCheck.run(snapshot).isClean, "\(line)")
      let tables = try ["Dog", "Person"].map { try snapshot.table($0)?.count }
      #expect(tables == [1, 1], "\(line)")
    }
  }

  @Test func `an error that the problem handler throws ends the import`() throws {
    let database = try Database(inMemory: "thrown")
    #expect(throws: InputProblem.self) {
      try withInput(
        [Self.head, Self.dog, "{", #"{"table":"Dog","object":{"name":"Rex"}}"#].joined(separator: "\n")
      ) {
        input in
        try database.write { transaction in
          let lines = JSONLinesImport(input, skipsUnknown: false)
          let (head, _) = try #require(try lines.next())
          try WholeImport(lines, transaction, isNew: true, duplicates: .areProblems).run(head) { throw $0 }
        }
      }
    }
    let snapshot = try database.snapshot()
    let tables = try snapshot.tables().count
    #expect(tables == 0)
  }

  @Test func `links to missing objects are reported with their place and left out`() throws {
    let database = try Database(inMemory: "missing")
    let read = try read(
      [
        Self.head, Self.dog, Self.person,
        #"{"table":"Person","object":{"id":1,"friend":5,"dog":{"$link":3}}}"#,
      ], into: database)
    #expect(read.objects == 1)
    #expect(
      read.problems.map(\.description) == [
        "line 4, column 45: friend Person 5 is not there.",
        #"line 4, column 53: dog Dog {"$link":3} is not there."#,
      ])
    let people = try #require(try database.snapshot().table("Person"))
    let values = try people.values(ofRow: people.key(at: 0))
    #expect(values == [.int(1), .null, .null])
  }

  @Test func `existing tables are used if they have the described columns`() throws {
    let database = try Database(inMemory: "there")
    _ = try read(
      [Self.head, Self.dog, Self.person, #"{"table":"Person","object":{"id":1}}"#], into: database)
    let more = try read(
      [Self.head, Self.dog, Self.person, #"{"table":"Person","object":{"id":2,"friend":1}}"#], into: database,
      isNew: false)
    #expect(more.problems.map(\.description) == [])
    let people = try #require(try database.snapshot().table("Person"))
    #expect(people.count == 2)
    let other = Self.dog.replacing("string", with: "int64")
    let before = try database.snapshot()
    #expect(throws: InterchangeError.self) { try read([Self.head, other], into: database, isNew: false) }
    let differences = try RandomDatabase.differences(from: before, to: try database.snapshot())
    #expect(differences == [])
  }

  @Test(arguments: Slow.seeds(6, slow: 300))
  func `changed lines are skipped or read, and never stop the program`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let original = try RandomDatabase.make(seed: 4000 + seed, rows: 4).snapshot()
    let lines = try RandomDatabase.lines(of: original)
    let tables = try ObjectLines(original).head().count
    for number in 0..<8 {
      var changed = lines
      // The lines of tables mostly stay unchanged, because without its table no other line of it is read.
      let first = generator.chance(70) ? tables : 1
      for place in first..<max(first, lines.count) where generator.chance(30) {
        generator.mutate(&changed[place], sparing: [0x0a])
      }
      let database = try Database(inMemory: "changed")
      do {
        let read = try RandomDatabase.read(
          changed, into: database, duplicates: generator.chance(50) ? .replace : .areProblems)
        let lines = 1...changed.count
        #expect(
          read.problems.allSatisfy { lines.contains($0.line) && $0.column > 0 }, "seed \(seed), \(number)")
        let snapshot = try database.snapshot()
        #expect(IntegrityCheck.run(snapshot).isClean, "seed \(seed), \(number)")
      } catch is InputProblem {
      } catch is InterchangeError {
      } catch {
        Issue.record("seed \(seed), \(number): \(error)")
      }
    }
  }
}
