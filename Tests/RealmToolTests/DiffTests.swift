import Foundation
import RealmStorage
import RealmTestSupport
import Testing

@Suite struct DiffTests {
  /// Two files of people, pets and cities with differences in each table.
  private func withFiles(
    key: [UInt8]? = nil, newKey: [UInt8]? = nil, _ body: (_ old: String, _ new: String) throws -> Void
  ) throws {
    try withTemporaryPath { path in
      let newer = path + "-new.realm"
      try make(path, key: key, isNew: false)
      try make(newer, key: newKey, isNew: true)
      try body(path, newer)
    }
  }

  private func make(_ path: String, key: [UInt8]?, isNew: Bool) throws {
    let database = try Database(path: path, options: .init(encryptionKey: key))
    try database.write { transaction in
      let cities = try transaction.createTable(TableSchema("City", columns: [Column("name", .string)]))
      // The keys of rows differ between the files.
      if isNew { try cities.remove(cities.insert([:])) }
      let homes = try transaction.createTable(
        TableSchema("Home", isEmbedded: true, columns: [Column("street", .string), Column("any", .mixed)]))
      let people = try transaction.createTable(
        TableSchema(
          "Person",
          columns: [
            Column("id", .int64, index: .unique), Column("name", .string), Column("age", .int64),
            Column("friends", .link, collection: .list), Column("home", .link, target: homes.schema.id),
            Column("marks", .double, collection: .map), Column("tags", .string, collection: .set),
          ]))
      let ids: [Int64] = isNew ? [9_007_199_254_740_993, 7, 1, 2] : [1, 2, 3, 7]
      var rows: [Int64: UInt64] = [:]
      for id in ids {
        rows[id] = try people.insert(["id": .int(id), "name": .string("name \(id)"), "age": .int(id + 30)])
      }
      try cities.insert(["name": .string("Zürich")])
      try cities.insert(["name": .string(isNew ? "Rom" : "Troy")])
      guard let seven = rows[7], let one = rows[1], let two = rows[2] else { return }
      try people.set(.int(isNew ? 4 : 3), "age", ofRow: seven)
      let friends = isNew ? [one, two, two] : [seven, one]
      try people.set(.list(friends.map { .link($0) }), "friends", ofRow: seven)
      let home = try homes.insert(["street": .string(isNew ? "Main \"St\"" : "High St"), "any": .int(5)])
      try people.set(.link(home), "home", ofRow: one)
      try people.set(.map(ValueMap(["a": .double(isNew ? -0.0 : 1), "b": .double(2)])), "marks", ofRow: one)
      try people.set(.set(["x", isNew ? "y" : "z"].map { .string($0) }), "tags", ofRow: two)
      try transaction.tree("notes").set(Array((isNew ? "2" : "1").utf8), for: Array("a".utf8))
    }
  }

  @Test func `a version that a file keeps by name is compared with the newest one`() throws {
    try withTemporaryPath { path in
      let database = try Database(path: path)
      try database.write { transaction in
        let people = try transaction.createTable(TableSchema("Person", columns: [Column("age", .int64)]))
        try people.insert(["age": .int(3)])
      }
      try database.keepVersion(named: "yesterday")
      #expect(try Tool.run(["diff", path + "@yesterday", path]).code == 0)
      _ = try database.write { try $0.table("Person")?.set(.int(4), "age", ofRow: 0) }
      let diff = try Tool.run(["diff", path + "@yesterday", path])
      #expect(diff.code == 1 && diff.output.contains("age 3 → 4"), "\(diff.output)")
      let other = try Tool.run(["diff", path + "@today", path])
      #expect(other.code == 2 && other.complaint.contains("yesterday"), "\(other)")
    }
  }

  @Test(arguments: [nil, Keys.first])
  func `differences are shown for people, and the exit code is 1`(key: [UInt8]?) throws {
    try withFiles(key: key, newKey: key) { old, new in
      let digits = key?.map { String(format: "%02x", $0) }.joined()
      let diff = try Tool.run(["diff", old, new], key: digits)
      #expect(diff.code == 1 && diff.complaint == "")
      #expect(
        diff.output == """
          - City row 1: name "Troy"
          + City row 2: name "Rom"
          ~ Person 1: home.street "High St" → "Main \\"St\\"", marks: ~1
          ~ Person 2: tags: +1 −1
          ~ Person 7: age 3 → 4, friends: +2 −1
          - Person 3
          + Person 9007199254740993
          ~ tree notes a
          City: 1 added, 1 removed, 0 changed
          Person: 1 added, 1 removed, 3 changed
          tree notes: 0 added, 0 removed, 1 changed

          """)
      #expect(try Tool.run(["diff", "--quiet", old, new], key: digits).output == "")
      let brief = try Tool.run(["diff", "--summary", "--table", "Person", old, new], key: digits)
      #expect(brief.output == "Person: 1 added, 1 removed, 3 changed\n" && brief.code == 1)
    }
  }

  @Test func `equal files, and a file with itself, exit with 0`() throws {
    try withFiles { old, _ in
      for arguments in [["diff", old, old], ["diff", old, old + "-2"], ["diff", "-q", old, old + "-2"]] {
        if !FileManager.default.fileExists(atPath: old + "-2") {
          try make(old + "-2", key: nil, isNew: false)
        }
        let diff = try Tool.run(arguments)
        #expect(diff.code == 0 && diff.complaint == "")
        #expect(diff.output == (arguments.contains("-q") ? "" : "No differences.\n"))
      }
    }
  }

  @Test func `JSON Lines keep every value, and end with the counts`() throws {
    try withFiles { old, new in
      let diff = try Tool.run(["diff", "--json", old, new])
      #expect(diff.code == 1)
      let lines = try diff.output.split(separator: "\n").map { try JSONValue(String($0)) }
      let people = lines.filter { $0["table"]?.string == "Person" }
      #expect(people.map { $0["change"]?.string } == ["changed", "changed", "changed", "removed", "added"])
      #expect(people.last?["primaryKey"]?["$int"]?.string == "9007199254740993")
      #expect(people[0]["primaryKey"]?.integer == 1)
      let text = diff.output
      #expect(
        text.contains(
          #"{"column":"home","old":{"$embedded":[["street","High St"],["any",{"$int":"5"}]]},"new":{"$embedded":[["street","Main \"St\""],["any",{"$int":"5"}]]}}"#
        ), "\(text)")
      #expect(
        text.contains(
          #"{"column":"marks","old":[["a",1.0],["b",2.0]],"new":[["a",{"$double":"-0.0"}],["b",2.0]]}"#))
      #expect(
        text.contains(
          #"{"column":"friends","old":[{"$object":["Person",7]},{"$object":["Person",1]}],"new":[{"$object":["Person",1]},"#
        ))
      #expect(text.contains(#"{"tree":"notes","change":"changed","key":"a","old":"1","new":"2"}"#))
      #expect(
        text.hasSuffix(
          #"{"equal":false,"tables":[{"table":"City","added":1,"removed":1,"changed":0},{"table":"Person","added":1,"removed":1,"changed":3}],"trees":[{"tree":"notes","added":0,"removed":0,"changed":1}]}"#
            + "\n"))
    }
  }

  @Test func `differences of schemas are shown first`() throws {
    try withFiles { old, new in
      try Database(path: new).write { transaction in
        try transaction.table("Person")?.addColumn(Column("nick", .string, isOptional: true))
        try transaction.createTable(TableSchema("Pet", columns: [Column("id", .uuid, index: .unique)]))
      }
      let diff = try Tool.run(["diff", old, new])
      #expect(
        diff.output.hasPrefix("schema: + Person.nick: optional string\nschema: + table Pet\n"),
        "\(diff.output)")
      let json = try Tool.run(["diff", "--json", "--summary", old, new]).output
      #expect(
        json.hasPrefix(
          #"{"schema":"columnAdded","table":"Person","column":"nick","new":{"name":"nick","type":"string","#))
      #expect(try Tool.run(["diff", "--table", "City", old, new]).output.hasPrefix("- City row 1"))
    }
  }

  @Test func `each file has its own key`() throws {
    try withFiles(key: Keys.first, newKey: Keys.second) { old, new in
      let files = (old + ".key", new + ".key")
      try Data(Keys.first).write(to: URL(filePath: files.0))
      try Data(Keys.second).write(to: URL(filePath: files.1))
      let both = try Tool.run(["diff", "--old-key-file", files.0, "--new-key-file", files.1, old, new])
      #expect(both.code == 1 && both.output.contains("~ Person 7"))
      let one = try Tool.run(["diff", "--key-file", files.0, "--new-key-file", files.1, old, new])
      #expect(one.output == both.output)
      let wrong = try Tool.run(["diff", "--key-file", files.0, old, new])
      #expect(wrong.code == 3 && wrong.complaint.contains("another key"))
      #expect(try Tool.run(["diff", old, new]).code == 3)
    }
  }

  @Test func `wrong arguments exit with 2, and missing files with 3`() throws {
    try withFiles { old, new in
      let unknown = try Tool.run(["diff", "--table", "Nobody", old, new])
      #expect(unknown.code == 2 && unknown.complaint.contains("City, Person"))
      let embedded = try Tool.run(["diff", "--table", "Home", old, new])
      #expect(embedded.code == 2 && embedded.complaint.contains("embedded"))
      #expect(try Tool.run(["diff", old]).code == 2)
      #expect(try Tool.run(["diff", "--quiet", "--json", old, new]).code == 2)
      #expect(try Tool.run(["diff", old, new + "-not-there"]).code == 3)
    }
  }

  @Test func `an at sign in the name of an existing file is part of the name`() throws {
    try withFiles { old, new in
      let path = new + "@home"
      try FileManager.default.copyItem(atPath: new, toPath: path)
      #expect(try Tool.run(["diff", path, new]).code == 0)
      #expect(try Tool.run(["diff", path, old]).code == 1)
    }
  }

  @Test(arguments: [false, true])
  func `damage exits with 5 and is reported`(isOld: Bool) throws {
    try withFiles { old, new in
      let path = isOld ? old : new
      let size = try Data(contentsOf: URL(filePath: path)).count
      var codes: Set<Int32> = []
      for place in stride(from: 8192 + 40, to: size, by: size / 25) {
        let copy = path + "-damaged.realm"
        var bytes = try Data(contentsOf: URL(filePath: path))
        for offset in place..<min(place + 64, size) { bytes[bytes.startIndex + offset] ^= 0x10 }
        try bytes.write(to: URL(filePath: copy))
        let diff = try Tool.run(["diff", isOld ? copy : old, isOld ? new : copy])
        codes.insert(diff.code)
        #expect(diff.code != 5 || diff.complaint.contains("\(copy) is damaged"), "\(diff.complaint)")
      }
      #expect(codes.contains(5) && codes.isSubset(of: [1, 5]), "\(codes)")
    }
  }

  @Test func `output that can't be written exits with 4`() throws {
    try withFiles { old, new in
      let diff = try Tool.run(["diff", old, new], writingTo: .fullDisk)
      #expect(diff.map { $0.code == 4 } ?? true)
    }
  }
}
