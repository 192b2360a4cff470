import RealmTestSupport
import Testing

@testable import RealmStorage

/// Files that receive the objects of another file as creations.
enum FollowingFiles {
  /// The schema of a random class, its objects as creations, and two files that have the class without objects.
  static func make(
    _ generator: inout SeededGenerator
  ) throws -> (schema: TableSchema, parts: [CreatedObjects], one: Database, other: Database) {
    var objects = PlainClass(&generator)
    let source = try objects.database(&generator)
    let schema = try #require(try source.snapshot().table(PlainClass.name)).schema
    let parts = try parts(source, &generator)
    return (schema, parts, try follower(of: schema, &generator), try follower(of: schema, &generator))
  }

  /// The objects of a class as creations, in parts of several sizes.
  static func parts(
    _ database: Database, _ generator: inout SeededGenerator
  ) throws -> [CreatedObjects] {
    let table = try #require(try database.snapshot().table(PlainClass.name))
    var writer = try #require(CreationWriter(table))
    var parts: [CreatedObjects] = []
    var position = 0
    while position < table.count {
      position += try writer.add(from: position, most: 1 + generator.below(40), fields: [], where: nil).looked
      if generator.chance(30) || position == table.count { parts.append(writer.finish()) }
    }
    return parts
  }

  // MARK: - Files that follow

  static let linker = "Linker"

  /// A file without objects, with the same class, whose properties stand in another order, and with a class that links
  /// to it.
  static func follower(
    of schema: TableSchema, _ generator: inout SeededGenerator
  ) throws -> Database {
    let database = try PlainClass.file(clusterRows: generator.chance(50) ? 8 : 512)
    try database.write { transaction in
      let columns = schema.properties.shuffled(using: &generator)
      let target = try transaction.createTable(TableSchema(schema.name, columns: columns)).schema.id
      try transaction.createTable(
        TableSchema(
          linker,
          columns: [
            Column("id", .int64, index: .unique), Column("link", .link, target: target),
            Column("list", .link, collection: .list, target: target),
            Column("set", .link, collection: .set, target: target),
            Column("map", .link, collection: .map, target: target), Column("any", .mixed),
          ]))
    }
    return database
  }

  /// An object that links to another one in every way.
  static func link(_ number: Int, to name: ObjectName) -> ObjectInstructions {
    let id = ElementID(replica: 2, counter: UInt32(number + 1))
    return ObjectInstructions(
      ObjectName(linker, .int(Int64(number))),
      [
        .create, .set(InstructionPath("link"), .link(name), isDefault: false),
        .insert(InstructionPath("list"), id, left: .none, right: .none, .link(name)),
        .setInsert(InstructionPath("set"), .link(name)),
        .set(InstructionPath("map", [.key("key")]), .link(name), isDefault: false),
        .set(InstructionPath("any"), .link(name), isDefault: false),
      ])
  }

  // MARK: - Comparing

  /// The first value for which the indexes of a class find other rows than a look at each row, or nil.
  static func indexDifference(_ database: Database) throws -> String? {
    let table = try #require(try database.snapshot().table(PlainClass.name))
    for (position, column) in table.schema.columns.enumerated() where column.index != .none {
      var rows: [Value: [UInt64]] = [:]
      try table.forEach { key, values in
        rows[values[position], default: []].append(key)
        return true
      }
      for (value, keys) in rows {
        guard try table.rows(with: value, in: column) == keys,
          try table.count(with: value, in: column) == keys.count
        else { return "\(column.name) \(value)" }
        if column.index == .unique, try table.row(withPrimaryKey: value) != keys.first {
          return "key \(value)"
        }
      }
    }
    return nil
  }

  static func compareContent(_ fast: Database, _ slow: Database, _ context: Comment) throws {
    let wrong = try NamedContent(fast.snapshot()).difference(to: NamedContent(slow.snapshot()))
    #expect(wrong == nil, context)
    for database in [fast, slow] {
      let check = IntegrityCheck.run(try database.snapshot())
      #expect(check.isClean, context)
    }
  }

  /// Compares the content as `compareContent` does, and the results of the indexes.
  static func compare(_ fast: Database, _ slow: Database, _ context: Comment) throws {
    try compareContent(fast, slow, context)
    for database in [fast, slow] {
      let unfound = try indexDifference(database)
      #expect(unfound == nil, context)
    }
  }
}
