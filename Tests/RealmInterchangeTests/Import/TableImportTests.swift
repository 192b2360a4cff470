import RealmInterchange
import RealmStorage
import RealmTestSupport
import Testing

/// The import of one table's objects, from JSON Lines and from CSV.
@Suite struct TableImportTests {
  private static let people = TableSchema(
    "Person",
    columns: [
      Column("id", .int64, index: .unique), Column("name", .string), Column("age", .int64, isOptional: true),
      Column("tags", .string, collection: .list), Column("friend", .link),
      Column("friends", .link, collection: .list), Column("circle", .link, collection: .set),
      Column("roles", .link, collection: .map), Column("any", .mixed),
    ])

  private struct Outcome {
    var objects = 0
    var problems: [InputProblem] = []
    /// The values of each row, in the order of the table.
    var rows: [[Value]] = []
    var keys: [UInt64] = []
  }

  private func make(_ schema: TableSchema = people) throws -> Database {
    let database = try Database(inMemory: "import")
    try database.write { transaction in
      let homes = try transaction.createTable(
        TableSchema("Home", isEmbedded: true, columns: [Column("street", .string), Column("rooms", .int64)]))
      try transaction.createTable(TableSchema("Free", columns: [Column("a", .int64)]))
      let table = try transaction.createTable(schema)
      try table.addColumn(Column("home", .link, target: homes.schema.id))
    }
    return database
  }

  private func read(
    _ text: String, _ form: TableImport.Form = .jsonLines, into database: Database, name: String = "Person",
    skipsUnknown: Bool = false, duplicates: ObjectInserter.Duplicates = .areProblems
  ) throws -> Outcome {
    var outcome = Outcome()
    try withInput(text) { input in
      try database.write { transaction in
        let schema = try #require(try transaction.table(name)).schema
        let objects = try TableImport(
          form, into: schema, transaction, skipsUnknown: skipsUnknown, duplicates: duplicates)
        try objects.run(input) { outcome.problems.append($0) }
        outcome.objects = objects.objects
      }
    }
    let snapshot = try database.snapshot()
    let table = try #require(try snapshot.table(name))
    outcome.keys = try (0..<table.count).map { try table.key(at: $0) }
    outcome.rows = try outcome.keys.map { try table.values(ofRow: $0) }
    #expect(IntegrityCheck.run(snapshot).isClean)
    return outcome
  }

  // MARK: - Bad values

  @Test
  func `a bad value of JSON is a problem with its place and value, and only its line is skipped`() throws {
    let wrong: [(before: String, bad: String, after: String, property: String, reason: String)] = [
      (#"{"id":"#, #""x""#, "}", "id", "no whole number"), (#"{"id":"#, "1.5", "}", "id", "no whole number"),
      (#"{"id":"#, "9223372036854775808", "}", "id", "64 bits"),
      (#"{"id":"#, "null", "}", "id", "not optional"),
      (#"{"id":"#, "1", "}", "id", "primary key of another object"),
      (#"{"id":5,"name":"#, "5", "}", "name", "no text"),
      (#"{"id":5,"age":"#, "[]", "}", "age", "no whole number"),
      (#"{"id":5,"tags":"#, #""a""#, "}", "tags", "no array"),
      (#"{"id":5,"tags":["a","#, "7", "]}", "tags", "no text"),
      (#"{"id":5,"tags":["a","#, "null", "]}", "tags", "not optional"),
      (#"{"id":5,"friend":"#, #""Ann""#, "}", "friend", "no whole number"),
      (#"{"id":5,"friends":[1,"#, "null", "]}", "friends", "not optional"),
      (#"{"id":5,"roles":"#, "[1]", "}", "roles", "no object"),
      (#"{"id":5,"roles":{"a":"#, "true", "}}", "roles", "no whole number"),
      (#"{"id":5,"home":"#, "7", "}", "home", "no object of Home"),
      (#"{"id":5,"home":{"street":"a","rooms":"#, #""b""#, "}}", "home.rooms", "no whole number"),
      (#"{"id":5,"home":{"door":"#, "1", "}}", "home.door", "has no place"),
      (#"{"id":5,"any":"#, #"{"$int":"x"}"#, "}", "any", "64 bits"),
      (#"{"id":5,"any":"#, #"{"$object":["Nobody",1]}"#, "}", "any", "no table of objects"),
      (#"{"id":5,"any":"#, #"{"$object":["Free",1]}"#, "}", "any", "links to no"),
      (#"{"id":5,"any":[1,"#, #"{"$map":5}"#, "]}", "any", "no array of pairs"),
      (#"{"id":5,"nope":"#, "1", "}", "nope", "has no place"),
    ]
    let before = "{\"id\":1,\"name\":\"é\"}\n\n"
    for (start, bad, end, property, reason) in wrong {
      let found = try read(before + start + bad + end + "\r\n{\"id\":2}\n", into: make())
      #expect(found.objects == 2, "\(start)\(bad)")
      #expect(found.rows.map(\.first) == [.int(1), .int(2)], "\(start)\(bad)")
      #expect(found.problems.count == 1, "\(start)\(bad)")
      let problem = found.problems.first
      #expect(problem?.line == 3, "\(start)\(bad)")
      #expect(problem?.property == property, "\(start)\(bad)")
      #expect(problem?.reason.contains(reason) == true, "\(start)\(bad): \(problem?.reason ?? "")")
      // The problem may be inside of the value.
      let inside = ["[\"Free\"", "$map"].contains { bad.contains($0) }
      guard !inside else { continue }
      #expect(problem?.value == bad, "\(start)\(bad)")
      #expect(problem?.column == start.utf8.count + 1, "\(start)\(bad)")
    }
  }

  @Test func `lines that are not objects, and objects without their primary key, are problems`() throws {
    for (line, column, reason) in [
      ("5", 1, "no object of Person"), ("[]", 1, "no object of Person"), ("{", 2, "no JSON"),
      ("{}", 1, "is missing"),
      (" {\"name\":\"a\"}", 2, "is missing"), ("{\"id\":1,\"id\":2}", 9, "no JSON"),
      ("{\"id\":1} x", 10, "no JSON"),
    ] {
      let found = try read(line + "\n{\"id\":7}", into: make())
      #expect(found.rows.map(\.first) == [.int(7)], "\(line)")
      #expect(found.problems.map(\.line) == [1], "\(line)")
      #expect(found.problems.first?.column == column, "\(line)")
      #expect(found.problems.first?.description.contains(reason) == true, "\(line)")
    }
  }

  @Test
  func `a bad field of CSV is a problem with its place and value, and only its record is skipped`() throws {
    let wrong:
      [(before: String, bad: String, after: String, property: String?, value: String?, reason: String)] = [
        ("", "x", ",a,5,", "id", #""x""#, "no whole number"), ("", "", ",a,5,", "id", nil, "is missing"),
        ("", "1", ",a,5,", "id", "1", "primary key of another object"),
        ("5,a,", "old", ",", "age", #""old""#, "no whole number"),
        ("5,\"a\nb\",5,", "\"[1", "\"", "tags", #""[1""#, "JSON"),
        ("5,\"a\nb\",5,", "[1]", "", "tags", #""[1]""#, "no text"),
        ("5,a,5,", "a", "", "tags", #""a""#, "JSON"),
      ]
    for (start, bad, end, property, value, reason) in wrong {
      let text = "id,name,age,tags\n1,\"é,\",,\n" + start + bad + end + "\r\n\n2,b,7,\"[\"\"t\"\"]\"\n"
      let found = try read(text, .csv(delimiter: UInt8(ascii: ",")), into: make())
      #expect(found.rows.map(\.first) == [.int(1), .int(2)], "\(start)\(bad)")
      #expect(found.rows.last?[3] == .list([.string("t")]))
      #expect(found.problems.count == 1, "\(start)\(bad)")
      let problem = found.problems.first
      let lines = start.split(separator: "\n", omittingEmptySubsequences: false)
      #expect(problem?.line == 2 + lines.count, "\(start)\(bad)")
      #expect(problem?.column == (lines.last?.utf8.count ?? 0) + 1, "\(start)\(bad)")
      #expect(problem?.property == property, "\(start)\(bad)")
      #expect(problem?.value == value, "\(start)\(bad)")
      #expect(problem?.reason.contains(reason) == true, "\(start)\(bad): \(problem?.reason ?? "")")
    }
  }

  @Test func `a record of CSV with more or fewer fields than the first line is a problem`() throws {
    let found = try read("id,name\n1\n2,b\n3,c,d\n", .csv(delimiter: UInt8(ascii: ",")), into: make())
    #expect(found.rows.map(\.first) == [.int(2)])
    #expect(found.problems.map(\.line) == [2, 4])
    #expect(found.problems.allSatisfy { $0.reason.contains("fields") })
  }

  @Test func `a first line of CSV with a duplicate, unknown or empty name ends the import`() throws {
    for (text, skipsUnknown) in [("", false), ("id,id\n1,2\n", true), ("id,nope\n1,2\n", false)] {
      #expect(throws: InterchangeError.self, "\(text)") {
        try read(text, .csv(delimiter: UInt8(ascii: ",")), into: make(), skipsUnknown: skipsUnknown)
      }
    }
    let found = try read(
      "nope,id\nx,1\n", .csv(delimiter: UInt8(ascii: ",")), into: make(), skipsUnknown: true)
    #expect(found.rows.map(\.first) == [.int(1)])
    #expect(found.problems.map(\.description) == [])
  }

  @Test func `objects of an embedded table are refused, because they would have no owner`() throws {
    let database = try make()
    #expect(throws: InterchangeError.self) {
      try withInput("{\"street\":\"a\"}\n") { input in
        try database.write { transaction in
          let schema = try #require(try transaction.table("Home")).schema
          let objects = try TableImport(
            .jsonLines, into: schema, transaction, skipsUnknown: false, duplicates: .areProblems)
          try objects.run(input) { throw $0 }
        }
      }
    }
    #expect(try IntegrityCheck.run(database.snapshot()).isClean)
  }

  @Test func `members and fields without a property are skipped if that is asked for`() throws {
    let lines = try read(
      #"{"id":1,"nope":[1,{"x":null}],"name":"a"}"#, into: make(), skipsUnknown: true)
    #expect(lines.rows.first.map { Array($0[..<2]) } == [.int(1), .string("a")])
    #expect(lines.problems.map(\.description) == [])
  }

  @Test func `an empty line of CSV with one field is a record with an empty field`() throws {
    let found = try read("a\n1\n\n2\n", .csv(delimiter: UInt8(ascii: ",")), into: make(), name: "Free")
    #expect(found.rows == [[.int(1)], [.int(2)]])
    #expect(found.problems.map(\.line) == [3])
  }

  // MARK: - Links

  @Test func `links to objects of earlier lines, of later lines and of the same line are set`() throws {
    let found = try read(
      """
      {"id":1,"friend":1,"friends":[2,1,2],"circle":[2,1,2],"roles":{"b":2,"a":1,"c":null},"any":[{"$object":["Person",{"$int":"2"}]}]}
      {"id":2,"friend":1}
      """, into: make())
    #expect(found.problems.map(\.description) == [])
    let (first, second) = (found.keys[0], found.keys[1])
    let person = try #require(found.rows.first)
    #expect(person[4] == .link(first))
    #expect(person[5] == .list([.link(second), .link(first), .link(second)]))
    #expect(person[6] == .set([.link(first), .link(second)]))
    #expect(person[7] == .map(ValueMap(["b": .link(second), "a": .link(first), "c": .null])))
    guard case .list(let any, _) = person[8] else { return #expect(Bool(false), "no list") }
    guard case .typedLink(_, second)? = any.first else { return #expect(Bool(false), "no link") }
    #expect(found.rows[1][4] == .link(first))
  }

  @Test func `links to missing objects are reported, become null, and are left out of lists and sets`() throws
  {
    let text =
      #"{"id":1,"friend":9,"friends":[8,1],"circle":[1,7],"roles":{"a":6},"any":[{"$object":["Person",{"$int":"5"}]}]}"#
    let found = try read("\n" + text, into: make())
    #expect(found.objects == 1)
    #expect(found.problems.map(\.property) == ["friend", "friends", "circle", "roles", "any"])
    #expect(found.problems.allSatisfy { $0.line == 2 && $0.reason == "is not there." })
    #expect(found.problems.map(\.column) == [18, 30, 45, 59, 73])
    #expect(found.problems.first?.value == "Person 9")
    let one = Value.link(found.keys[0])
    #expect(
      found.rows.first.map { Array($0[4...8]) } == [
        .null, .list([one]), .list([one]), .map(ValueMap(["a": .null])), .list([.null]),
      ])
  }

  @Test func `fields of CSV link to objects by their primary keys`() throws {
    let found = try read(
      "id,friend,friends\n1,2,\"[2,1]\"\n2,,[]\n3,9,\n", .csv(delimiter: UInt8(ascii: ",")), into: make())
    #expect(found.problems.map(\.description) == ["line 4, column 3: friend Person 9 is not there."])
    let (first, second) = (Value.link(found.keys[0]), Value.link(found.keys[1]))
    #expect(found.rows.map { $0[4] } == [second, .null, .null])
    #expect(found.rows.map { $0[5] } == [.list([second, first]), .list([]), .list([])])
  }
}
