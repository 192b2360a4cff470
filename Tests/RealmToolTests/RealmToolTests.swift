import Foundation
import RealmStorage
import RealmTestSupport
import Testing

@Suite struct RealmToolTests {
  private func realm(_ arguments: [String], key: String? = nil) throws -> Tool.Outcome {
    try Tool.run(arguments, key: key)
  }

  private let digits = Keys.first.map { String(format: "%02x", $0) }.joined()

  private func make(_ path: String, key: [UInt8]? = nil) throws {
    let database = try Database(path: path, options: .init(encryptionKey: key))
    try database.write { transaction in
      let tree = try transaction.tree("people")
      try tree.set(Array("line\n\"quoted\"".utf8), for: Array("a".utf8))
      try tree.set([0xff, 0x00], for: [0x80])
      try tree.set([UInt8](repeating: 65, count: 70_000), for: Array("long".utf8))
    }
  }

  @Test func `a healthy file passes all commands`() throws {
    try withTemporaryPath { path in
      try make(path)
      let info = try realm(["info", path])
      #expect(info.code == 0 && info.output.contains("Encrypted             no"))
      #expect(info.output.contains("Format                \(MetaPage.format)\n"))
      #expect(info.output.contains("Closed cleanly        yes"))
      let check = try realm(["check", path])
      #expect(
        check.code == 0 && check.output.contains("3 rows and entries") && check.output.contains("all whole"))
      #expect(try realm(["schema", path]).output == "tree people: 3 entries\n")
      let stats = try realm(["stats", path])
      #expect(stats.code == 0 && stats.output.contains("tree people") && stats.output.contains("chunk"))
    }
  }

  @Test func `the schema lists tables with their columns, and named trees`() throws {
    try withTemporaryPath { path in
      try ToolSample.makeSmall(path)
      let schema = try realm(["schema", path])
      #expect(schema.code == 0)
      #expect(
        schema.output == """
          table City: 1 row
            name  string
          table Person: 2 rows
            id       optional int64, primary key
            name     string, indexed
            born     optional date
            home     link to City
            visited  list of link to City
          tree notes: 2 entries

          """)
      let json = try JSONValue(realm(["schema", "--json", path]).output)
      let person = json["tables"]?.array?.last
      #expect(person?["table"]?.string == "Person" && person?["rows"]?.integer == 2)
      let columns = person?["columns"]?.array ?? []
      #expect(columns.map { $0["index"]?.string } == ["primary key", "indexed", "none", "none", "none"])
      #expect(columns.map { $0["optional"]?.bool } == [true, false, true, true, false])
      #expect(columns.map { $0["target"]?.string } == [nil, nil, nil, "City", "City"])
      #expect(columns.last?["collection"]?.string == "list")
      #expect(json["trees"]?.array?.first?["entries"]?.integer == 2)
      let info = try realm(["info", path]).output
      #expect(info.contains("Tables                2\nRows                  3\n"))
    }
  }

  @Test func `the schema is printed as classes, with names that Swift accepts`() throws {
    try withTemporaryPath { path in
      let database = try Database(path: path)
      try database.write { transaction in
        let part = try transaction.createTable(
          TableSchema("my part", isEmbedded: true, columns: [Column("self", .date), Column("class", .uuid)]))
        let list = try transaction.createTable(
          TableSchema("List", columns: [Column("a-b", .int64), Column("a_b", .data)]))
        try transaction.createTable(
          TableSchema(
            "Person",
            columns: [
              Column("id", .objectID, index: .unique), Column("_id", .bool),
              Column("name", .string, isOptional: true, index: .plain),
              Column("parts", .link, collection: .list, target: part.schema.id),
              Column("best", .link, target: list.schema.id), Column("any", .mixed, collection: .map),
              Column("links", .link, collection: .map),
              Column("2nd \"x\"", .double, isOptional: true, collection: .set),
            ]))
      }
      database.close()
      let printed = try realm(["schema", "--swift", path])
      #expect(
        printed.output == """
          import Foundation
          import RealmSwift

          class my_part: EmbeddedObject {
            @Persisted var self_: Date
            @Persisted var `class`: UUID

            override class func _realmObjectName() -> String? { "my part" }

            override class func propertiesMapping() -> [String: String] {
              [
                "self_": "self",
              ]
            }
          }

          class List_: Object {
            @Persisted var a_b: Int
            @Persisted var a_b_: Data

            override class func _realmObjectName() -> String? { "List" }

            override class func propertiesMapping() -> [String: String] {
              [
                "a_b": "a-b",
                "a_b_": "a_b",
              ]
            }
          }

          class Person: Object {
            @Persisted(primaryKey: true) var id: ObjectId
            @Persisted var _id_: Bool
            @Persisted(indexed: true) var name: String?
            @Persisted var parts: List<my_part>
            @Persisted var best: List_?
            @Persisted var any: Map<String, AnyRealmValue>
            @Persisted var links: Map<String, Person?>
            @Persisted var _2nd__x_: MutableSet<Double?>

            override class func propertiesMapping() -> [String: String] {
              [
                "_id_": "_id",
                "_2nd__x_": "2nd \\"x\\"",
              ]
            }
          }

          """)
    }
  }

  @Test func `the schemas of two files are compared`() throws {
    try withTemporaryPath { path in
      let newer = path + "-new.realm"
      try ToolSample.makeSmall(path)
      try ToolSample.makeSmall(newer)
      let same = try realm(["schema", "--diff", path, newer])
      #expect(same.code == 0 && same.output == "")
      let database = try Database(path: newer)
      try database.write { transaction in
        let people = try transaction.table("Person")
        try people?.dropColumn(2)
        try people?.addColumn(Column("age", .int64))
      }
      database.close()
      let other = try realm(["schema", "--diff", path, newer])
      #expect(other.code == 1)
      #expect(other.output == "schema: - Person.born: optional date\nschema: + Person.age: int64\n")
      let lines = try realm(["schema", "--diff", "--json", path, newer]).output
      #expect(lines.hasPrefix("{\"schema\":\"columnRemoved\",\"table\":\"Person\""), "\(lines)")
      #expect(try realm(["schema", "--diff", path]).code == 2 && realm(["schema", path, newer]).code == 2)
      #expect(try realm(["schema", "--swift", "--json", path]).code == 2)
    }
  }

  @Test func `stats shows the bytes of tables, columns, indexes and trees`() throws {
    try withTemporaryPath { path in
      try ToolSample.makeSmall(path)
      let stats = try realm(["stats", path])
      #expect(stats.code == 0 && stats.complaint == "")
      let lines = stats.output.split(separator: "\n").map {
        $0.split(whereSeparator: \.isWhitespace).map(String.init)
      }
      #expect(lines.contains { $0.starts(with: ["table", "Person", "2"]) && $0.last == "2" })
      #expect(lines.contains { $0.starts(with: ["column", "Person.name", "1"]) })
      #expect(lines.contains { $0.starts(with: ["index", "Person.id", "1"]) && $0.last == "2" })
      #expect(lines.contains { $0.starts(with: ["links", "to", "City", "1"]) })
      #expect(lines.contains { $0.starts(with: ["tree", "notes", "1"]) })
      let json = try JSONValue(realm(["stats", "--json", path]).output)
      let parts = json["parts"]?.array ?? []
      let sum = parts.reduce(0) { $0 + ($1["bytes"]?.integer ?? 0) }
      #expect(sum > 0 && sum == json["liveBytes"]?.integer)
      let home = parts.first { $0["column"]?.string == "home" }
      #expect(home?["role"]?.string == "column" && home?["name"]?.string == "Person")
      #expect((home?["packedBytes"]?.integer ?? 0) > 0 && home?["bytes"]?.integer == 0)
      let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int64
      #expect(json["fileBytes"]?.integer == size)
    }
  }

  @Test func `the reason why a file can't be opened is shown, and the exit code depends on it`() throws {
    try withTemporaryPath { path in
      try make(path, key: Keys.first)
      #expect(try realm(["check", path]).code == 3)
      #expect(try realm(["check", path]).complaint.contains("is encrypted; give its 64-byte key"))
      #expect(try realm(["check", path], key: digits).code == 0)
      #expect(try realm(["check", path], key: String(digits.reversed())).complaint.contains("another key"))
      #expect(try realm(["check", path], key: "12").code == 2)
      #expect(try realm(["check"]).code == 2)
      #expect(try realm(["check", path + ".not"]).code == 3)
    }
    try withTemporaryPath { path in
      try Data("this is some text and no database".utf8).write(to: URL(filePath: path))
      #expect(try realm(["info", path]).complaint.contains("is not a realm file"))
      #expect(try realm(["info", path]).code == 3)
    }
  }

  @Test func `a file is copied with another key, and compacted`() throws {
    try withTemporaryPath { path in
      try make(path)
      try Database(path: path).write { try $0.tree("people").removeAll() }
      let keyFile = path + "-key"
      try Data(Keys.first).write(to: URL(filePath: keyFile))
      let copy = try realm(["copy", path, path + "-copy", "--target-key-file", keyFile])
      #expect(copy.code == 0 && copy.output.contains(path + "-copy: "), "\(copy.complaint)")
      #expect(try realm(["dump", path + "-copy"], key: digits).output == realm(["dump", path]).output)
      #expect(try realm(["copy", path, path + "-copy"]).code == 3, "it is there already")
      let compact = try realm(["compact", path])
      #expect(compact.code == 0 && compact.output.contains(", was "), "\(compact.complaint)")
      #expect(try realm(["check", path]).code == 0)
      let open = try Database(path: path)
      #expect(try realm(["compact", path]).complaint.contains("is in use"))
      #expect(try open.snapshot().version > 0)
      #expect(try realm(["compact", path + ".not"]).code == 3)
    }
  }

  @Test func `damage is found and exits with 1`() throws {
    try withTemporaryPath { path in
      try make(path)
      let file = try FileHandle(forUpdating: URL(filePath: path))
      try file.seek(toOffset: 8192 + 1000)
      try file.write(contentsOf: Data([1, 2, 3]))
      try file.close()
      let check = try realm(["check", path])
      #expect(check.code == 1)
      #expect(check.output.contains("DAMAGE") || check.complaint.contains("is damaged"))
    }
  }
}
