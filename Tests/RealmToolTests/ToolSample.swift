import RealmStorage
import RealmTestSupport

/// Makes files for tests of the tool.
enum ToolSample {
  /// Makes a file with two tables that link to each other and to themselves. One of them has a column of every kind.
  /// The file has special values, removed rows, so that keys have gaps, and named trees.
  static func make(_ path: String, key: [UInt8]?, _ generator: inout SeededGenerator) throws {
    let database = try Database(path: path, options: .init(encryptionKey: key))
    var model = TableModel()
    try database.write { transaction in
      let things = try transaction.createTable(
        TableSchema(TableModel.name, columns: TableModel.everything))
      while model.rows.count < 120 { _ = try model.insert(things, &generator) }
      for _ in 0..<80 { _ = try model.change(things, &generator) }
    }
    try database.write { transaction in
      guard let things = try transaction.table(TableModel.name) else { return }
      let owners = try makeOwners(transaction, things)
      try things.addColumn(Column("owner", .link, target: owners.schema.id))
      try things.addColumn(Column("added later", .string, isOptional: true, index: .plain))
      let moment = Value.date(Timestamp(seconds: 7, nanoseconds: 1))
      try things.addColumn(Column("with a default", .date, storedDefault: moment))
      let keys = model.rows.keys.sorted()
      var ownerKeys: [UInt64] = []
      for index in 0..<700 {
        let links = (0..<5).map { _ in Value.link(keys[generator.below(keys.count)]) }
        // The values are given by position, because a dictionary would take the last two names for one.
        let values: [Value] = [
          .string(texts[index % texts.count]), links[4], .list(Array(links.prefix(index % 5))),
          ownerKeys.last.map { .link($0) } ?? .null, .double(doubles[index % doubles.count]),
          .list(floats.map { .float($0) }),
        ]
        ownerKeys.append(
          try owners.insert { (row) throws(StorageError) in
            for (position, value) in values.enumerated() { try row.set(position, value) }
          })
      }
      for key in stride(from: 0, to: 700, by: 3) { try owners.remove(ownerKeys[key]) }
      for key in keys where generator.chance(30) {
        try things.set(.link(ownerKeys[1 + 3 * generator.below(233)]), "owner", ofRow: key)
      }
      let tree = try transaction.tree("people")
      try tree.set(Array("line\n\"quoted\"".utf8), for: Array("a".utf8))
      try tree.set([0xff, 0x00], for: [0x80])
      try tree.set([UInt8](repeating: 65, count: 70_000), for: Array("long".utf8))
    }
  }

  /// Column names that are one text in two encodings, which differ only in their bytes.
  private static func makeOwners(
    _ transaction: WriteTransaction, _ things: WritableTable
  ) throws -> WritableTable {
    try transaction.createTable(
      TableSchema(
        "Owner, with \"quotes\"",
        columns: [
          Column("name \t\"\u{7}", .string), Column("best", .link, target: things.schema.id),
          Column("all", .link, collection: .list, target: things.schema.id), Column("self", .link),
          Column("\u{e9}", .double), Column("e\u{301}", .float, collection: .list),
        ]))
  }

  private static let texts = [
    "", "\u{feff}mark first", "nul \0 inside", "\u{e9}", "e\u{301}", "\u{2028}\u{2029}\u{85}\u{7f}",
    "\u{fffd}\u{ffff}",
    "😀 𝄞", "\\u0041 \"\\\" \r\n\t\u{1b}", "{\"$data\":\"AP8=\"}",
  ]
  private static let doubles: [Double] = [
    0, -0.0, .infinity, -.infinity, .nan, Double(bitPattern: 0xfff8_0000_0000_0123), 0.1, 1e300, 1 / 3, 1e21,
    .greatestFiniteMagnitude, .leastNonzeroMagnitude, .leastNormalMagnitude, 9_007_199_254_740_994, -1e-7,
  ]
  private static let floats: [Float] = [
    0, -0.0, .infinity, -.infinity, .nan, Float(bitPattern: 0xffc0_0123), 0.1, 1 / 3, 3.4e38, 16_777_218,
    .greatestFiniteMagnitude, .leastNonzeroMagnitude, .leastNormalMagnitude, Float(bitPattern: 0x0080_0001),
  ]

  /// Makes a file with a few rows whose lines a test can spell out.
  static func makeSmall(_ path: String, key: [UInt8]? = nil) throws {
    let database = try Database(path: path, options: .init(encryptionKey: key))
    try database.write { transaction in
      let cities = try transaction.createTable(TableSchema("City", columns: [Column("name", .string)]))
      let gone = try cities.insert(["name": .string("Troy")])
      let city = try cities.insert(["name": .string("Zürich \"ZH\"")])
      try cities.remove(gone)
      let people = try transaction.createTable(
        TableSchema(
          "Person",
          columns: [
            Column("id", .int64, isOptional: true, index: .unique), Column("name", .string, index: .plain),
            Column("born", .date, isOptional: true), Column("home", .link, target: cities.schema.id),
            Column("visited", .link, collection: .list, target: cities.schema.id),
          ]))
      try people.insert([
        "id": .int(9_007_199_254_740_993), "name": .string("Ada"),
        "born": .date(Timestamp(seconds: -4_861_728_000, nanoseconds: 1)), "home": .link(city),
        "visited": .list([.link(city), .link(city)]),
      ])
      let second = try people.insert(["id": .int(1)])
      try people.insert(["name": .string("line\nbreak")])
      try people.remove(second)
      let tree = try transaction.tree("notes")
      try tree.set(Array("1".utf8), for: Array("a".utf8))
      try tree.set([0xff, 0x00], for: [0x80])
    }
  }
}
