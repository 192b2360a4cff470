import Foundation
import RealmStorage
import RealmTestSupport
import Testing

@Suite struct DumpTests {
  @Test(arguments: 0..<2, [nil, Keys.first])
  func `a dump is enough to build the content again`(seed: UInt64, key: [UInt8]?) throws {
    print("seed \(seed)")
    try withTemporaryPath { path in
      var generator = SeededGenerator(seed: seed)
      try ToolSample.make(path, key: key, &generator)
      let digits = key.map { $0.map { String(format: "%02x", $0) }.joined() }
      let dump = try Tool.run(["dump", "--json", path], key: digits)
      #expect(dump.code == 0 && dump.complaint == "")
      let copy = try Database(inMemory: "copy")
      let reader = DumpReader(into: copy)
      try reader.read(dump.output)
      let original = try Database(path: path, options: .init(encryptionKey: key, isReadOnly: true))
      try Self.expect(copy.snapshot(), toEqual: original.snapshot(), keys: reader.keys)
      #expect(try IntegrityCheck.run(copy.snapshot()).findings == [])
    }
  }

  // MARK: - Comparison

  private static func expect(
    _ copy: Snapshot, toEqual original: Snapshot, keys: [String: [UInt64: UInt64]]
  ) throws {
    let schemas = try original.schemas()
    #expect(try copy.schemas().map(\.name) == schemas.map(\.name))
    for schema in schemas {
      let table = try #require(try original.table(schema.name))
      let other = try #require(try copy.table(schema.name))
      // Ids of tables and columns are given in order, so they are the same in the copy.
      #expect(other.schema.columns == schema.columns)
      #expect(other.count == table.count)
      try expectRows(of: table, in: other, schemas: schemas, keys: keys)
    }
    #expect(try copy.treeNames() == original.treeNames())
    for name in try original.treeNames() {
      #expect(try entries(copy.tree(name)) == entries(original.tree(name)))
    }
  }

  private static func expectRows(
    of table: Table, in copy: Table, schemas: [TableSchema], keys: [String: [UInt64: UInt64]]
  ) throws {
    let schema = table.schema
    let mapping = keys[schema.name] ?? [:]
    for (key, values) in try rows(table) {
      let new = try #require(mapping[key], "row \(key) of \(schema.name) is lost")
      for (column, value) in zip(schema.columns, values) {
        let expected = try value.mapped { table, row in
          let target = schemas.first { $0.id == table ?? column.target }?.name ?? ""
          return try #require(keys[target]?[row])
        }
        let found = try copy.value(column, ofRow: new)
        try #require(isSame(found, expected), "\(schema.name).\(column.name) of row \(key)")
      }
    }
    // If no key differed, the test would not test the mapping of keys.
    #expect(mapping.contains { $0.key != $0.value })
  }

  private static func rows(_ table: Table) throws -> [(UInt64, [Value])] {
    var rows: [(UInt64, [Value])] = []
    try table.forEach { key, values in
      rows.append((key, values))
      return true
    }
    return rows
  }

  private static func entries(_ tree: Tree) throws -> [[[UInt8]]] {
    var entries: [[[UInt8]]] = []
    try tree.forEach { key, value in
      entries.append([key, value])
      return true
    }
    return entries
  }

  /// True if the values have the same bits, because NaN is not equal to itself, zero is equal to negative zero, and
  /// different texts may be equal.
  private static func isSame(_ left: Value?, _ right: Value?) -> Bool {
    switch (left, right) {
    case (.float(let left), .float(let right)): left.bitPattern == right.bitPattern
    case (.double(let left), .double(let right)): left.bitPattern == right.bitPattern
    case (.string(let left), .string(let right)): left.utf8.elementsEqual(right.utf8)
    case (.list(let left, _), .list(let right, _)):
      left.count == right.count && zip(left, right).allSatisfy { isSame($0, $1) }
    case (.map(let left, _), .map(let right, _)):
      zip(left.keys, right.keys).allSatisfy { $0.utf8.elementsEqual($1.utf8) }
        && isSame(.list(left.values), .list(right.values))
    default: left == right
    }
  }

  // MARK: - Options

  @Test func `a limit applies to each table and each tree`() throws {
    try withTemporaryPath { path in
      try ToolSample.makeSmall(path)
      let lines = try Tool.run(["dump", "--json", "--limit", "1", path]).output.split(separator: "\n")
      #expect(lines.count { $0.contains("\"columns\"") } == 2)
      #expect(lines.count { $0.hasPrefix("{\"table\":\"Person\",\"key\"") } == 1)
      #expect(lines.count { $0.hasPrefix("{\"table\":\"City\",\"key\"") } == 1)
      #expect(lines.count { $0.hasPrefix("{\"tree\":\"notes\"") } == 1)
      #expect(try Tool.run(["dump", "--limit", "0", path]).output == "")
      #expect(try Tool.run(["dump", "--limit", "-1", path]).code == 2)
    }
  }

  @Test func `one table can be dumped, and an unknown one is refused with the existing names`() throws {
    try withTemporaryPath { path in
      try ToolSample.makeSmall(path)
      let one = try Tool.run(["dump", "--json", "--table", "City", path])
      #expect(one.code == 0)
      #expect(
        one.output == """
          {"table":"City","embedded":false,"columns":[{"name":"name","type":"string","optional":false,"collection":"none","index":"none"}]}
          {"table":"City","key":1,"values":["Zürich \\"ZH\\""]}

          """)
      let unknown = try Tool.run(["dump", "--table", "Town", path])
      #expect(unknown.code == 2)
      #expect(unknown.complaint.contains("no table 'Town'") && unknown.complaint.contains("City, Person"))
      let tree = try Tool.run(["dump", "--tree", "Town", path])
      #expect(tree.code == 2 && tree.complaint.contains("notes"))
    }
  }

  @Test func `a dump for people has a line for each row, with names and values`() throws {
    try withTemporaryPath { path in
      try ToolSample.makeSmall(path)
      let dump = try Tool.run(["dump", path])
      #expect(dump.code == 0)
      #expect(
        dump.output == """
          City\t1\tname="Zürich \\"ZH\\""
          Person\t0\tid=9007199254740993\tname="Ada"\tborn=1815-12-10T00:00:00.000000001Z\thome=->1\tvisited=[->1, ->1]
          Person\t2\tid=null\tname="line\\nbreak"\tborn=null\thome=null\tvisited=[]
          notes\ta\t1
          notes\tbase64:gA==\tbase64:/wA=

          """)
    }
  }

  @Test func `numbers and texts that JSON can't hold are tagged`() throws {
    try withTemporaryPath { path in
      try ToolSample.makeSmall(path)
      let people = try Tool.run(["dump", "--json", "--table", "Person", path]).output
      #expect(people.contains(#"{"$int":"9007199254740993"}"#))
      #expect(people.contains(#"{"$date":[-4861728000,1]}"#))
      #expect(people.contains(#"{"$link":1}"#))
    }
  }
}
