import RealmTestSupport
import Testing

@testable import RealmStorage

/// A random class whose properties have one value each and no links, and random objects of it.
struct PlainClass {
  static let name = "Größe"

  let schema: TableSchema
  /// True if some texts are used again and again, so that clusters hold codes.
  private let repeats: Bool
  private var made: Int64 = 0

  init(_ generator: inout SeededGenerator) {
    let keys: [ColumnType] = [.int64, .string, .uuid, .objectID]
    let all = Self.columns.shuffled(using: &generator)
    var columns = Array(all.prefix(generator.below(15)))
    let key = Column(
      "schlüssel", keys[generator.below(keys.count)], isOptional: generator.chance(30), index: .unique)
    columns.insert(key, at: generator.below(columns.count + 1))
    schema = TableSchema(Self.name, columns: columns)
    repeats = generator.chance(40)
  }

  /// An empty synced file in memory.
  static func file(clusterRows: Int = 512, key: [UInt8]? = nil) throws -> Database {
    var options = DatabaseOptions(encryptionKey: key)
    options.history = .synced
    options.clusterRows = clusterRows
    return try Database(creatingIn: MemoryStorage(name: "synced"), options: options)
  }

  // MARK: - Columns

  private static let columns: [Column] =
    ColumnType.allCases.filter { $0 != .link && $0 != .mixed }.flatMap { (type: ColumnType) -> [Column] in
      var columns = [
        Column("\(type)", type), Column("optional \(type)", type, isOptional: true),
        Column("\(type) with a default", type, storedDefault: usual(type)),
      ]
      if type.canHave(.plain) {
        columns.append(Column("indexed \(type)", type, isOptional: type.rawValue % 2 == 0, index: .plain))
      }
      return columns
    } + [
      Column("long default", .string, storedDefault: .string(String(repeating: "usual ", count: 300))),
      Column("optional with a default", .data, isOptional: true, storedDefault: .data([1])),
    ]

  private static func usual(_ type: ColumnType) -> Value {
    switch type {
    case .bool: .bool(true)
    case .int64: .int(42)
    case .float: .float(0.5)
    case .double: .double(-2.5)
    case .string: .string("usual")
    case .data: .data([1, 2])
    case .date: .date(Timestamp(seconds: 7, nanoseconds: 5))
    case .objectID: .objectID(ObjectIDBytes(high: 1, low: 2))
    case .uuid: .uuid(SixteenBytes(high: 1, low: 2))
    case .decimal128: .decimal128(SixteenBytes(high: 3, low: 4))
    case .link, .mixed: .null
    }
  }

  // MARK: - Objects

  /// A synced file with objects of the class. Some objects were removed, so that clusters have holes, and some columns
  /// were added when objects existed already.
  mutating func database(_ generator: inout SeededGenerator) throws -> Database {
    let rows = [8, 20, 512][generator.below(3)]
    let database = try Self.file(clusterRows: rows, key: generator.chance(20) ? Keys.first : nil)
    try database.write { _ = try $0.createTable(schema) }
    for round in 0..<1 + generator.below(4) {
      try database.write { transaction in
        let table = try #require(try transaction.table(Self.name))
        if round > 0, generator.chance(50) {
          let types: [ColumnType] = [.string, .int64, .data, .double]
          let type = types[generator.below(types.count)]
          try table.addColumn(Column("added \(round)", type, isOptional: generator.chance(50)))
        }
        for _ in 0..<generator.below(90) { try table.insert(row(table.schema, &generator)) }
        var keys: [UInt64] = []
        try table.reading().forEach { key, _ in
          keys.append(key)
          return true
        }
        let victims = keys.filter { _ in generator.chance(15) }
        try table.remove(victims)
      }
    }
    return database
  }

  /// A new object. Properties that are missing here get their defaults.
  mutating func row(_ schema: TableSchema, _ generator: inout SeededGenerator) -> [String: Value] {
    made += 1
    var row: [String: Value] = [:]
    for column in schema.properties {
      if column.index == .unique {
        row[column.name] = key(column, &generator)
      } else if !generator.chance(10) {
        row[column.name] = value(column, &generator)
      }
    }
    return row
  }

  private func key(_ column: Column, _ generator: inout SeededGenerator) -> Value {
    if column.isOptional, made == 5 { return .null }
    switch column.type {
    case .int64: return .int(made * 7919 - 300_000)
    case .string:
      if made == 2 { return .string("") }
      return .string((made % 9 == 0 ? String(repeating: "clé ", count: 400) : "clé ") + "\(made)")
    case .uuid: return .uuid(SixteenBytes(generator.bytes(16)))
    default: return .objectID(ObjectIDBytes(generator.bytes(12)))
    }
  }

  private func value(_ column: Column, _ generator: inout SeededGenerator) -> Value {
    if generator.chance(20) { return column.defaultValue }
    if column.isOptional, generator.chance(20) { return generator.chance(50) ? .null : column.type.zero }
    switch column.type {
    case .string: return .string(text(&generator))
    case .data: return .data(Array(text(&generator).utf8))
    default: return TableModel().element(column, &generator)
    }
  }

  /// A random text. Some are just too long, or almost too long, to stand with the creation, and some stand apart from
  /// their piece.
  private func text(_ generator: inout SeededGenerator) -> String {
    if repeats, generator.chance(80) { return "again \(generator.below(3))" }
    let letter = ["a", "é", "音", "𝄞", "e\u{301}"][generator.below(5)]
    var count = generator.below(40)
    if generator.chance(15) { count = ChangesetMaker.mostWithCreation - 8 + generator.below(16) }
    if generator.chance(2) { count = 5_000 }
    let bytes = letter.utf8.count
    return String(repeating: letter, count: count / bytes) + String(repeating: "x", count: count % bytes)
  }
}
