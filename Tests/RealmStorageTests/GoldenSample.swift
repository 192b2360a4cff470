import RealmStorage

/// The content of the golden files: a table with columns of every type, indexes, links and a primary key; a small table
/// that it links to; two named trees, one with a value that does not fit into a leaf; a column that is younger than the
/// rows.
///
/// This content never changes, because the files that were made of it do not change.
enum GoldenSample {
  static let rows: Range<Int64> = 0..<20
  /// The keys of the rows that a later commit removes.
  static let removed: [UInt64] = [3, 4, 17]

  // MARK: - Columns

  private static let plain: [Column] = [
    Column("bool", .bool), Column("int8", .int64), Column("int16", .int64), Column("int32", .int64),
    Column("int64", .int64), Column("float", .float), Column("double", .double), Column("string", .string),
    Column("data", .data), Column("date", .date), Column("objectID", .objectID), Column("uuid", .uuid),
    Column("decimal128", .decimal128), Column("mixed", .mixed),
  ]

  private static let optional: [Column] = [
    Column("optional bool", .bool, isOptional: true), Column("optional int64", .int64, isOptional: true),
    Column("optional double", .double, isOptional: true),
    Column("optional string", .string, isOptional: true), Column("optional date", .date, isOptional: true),
    Column("optional uuid", .uuid, isOptional: true),
  ]

  private static let collections: [Column] = [
    Column("list of int64", .int64, collection: .list),
    Column("list of string", .string, isOptional: true, collection: .list),
    Column("set of date", .date, collection: .set), Column("map of double", .double, collection: .map),
    Column("map of mixed", .mixed, collection: .map),
  ]

  static func columns(linkingTo places: UInt32) -> [Column] {
    first(linkingTo: places) + [late]
  }

  /// A column that is added when there are rows already, and is made optional then.
  private static let late = Column("late", .int64, storedDefault: .int(7))

  private static func first(linkingTo places: UInt32) -> [Column] {
    [Column("id", .string, index: .unique)] + plain + optional + collections + [
      Column("indexed int64", .int64, index: .plain), Column("indexed string", .string, index: .plain),
      Column("place", .link, target: places), Column("next", .link),
      Column("places", .link, collection: .list, target: places),
    ]
  }

  // MARK: - Values

  /// The value of a column in row `number`, counted from 0. The key of a row is its number.
  static func value(_ column: Column, _ number: Int64) -> Value {
    switch column.name {
    case "id": return .string("id \(number)")
    case "int8": return .int(number * 8 - 128)
    case "int16": return .int(number * 1000 - 15_000)
    case "int32": return .int(number * 70_000_000 - 1_000_000_000)
    case "late": return .int(7)
    case "indexed int64": return .int(number % 7)
    case "indexed string": return .string(["red", "green", "", "blå"][Int(number % 4)])
    case "place": return number % 5 == 0 ? .null : .link(UInt64(number % 3))
    case "next": return number == 0 ? .null : .link(UInt64(number - 1))
    case "places": return .list((0..<number % 4).map { .link(UInt64(($0 + number) % 3)) })
    default: break
    }
    if column.isOptional, column.collection == .none, number % 3 == 1 { return .null }
    switch column.collection {
    case .none: return element(column.type, number)
    // One of the lists is long enough to be a tree.
    case .list:
      return .list((0..<(number == 19 ? 600 : number % 5)).map { element(column.type, number + $0) })
    case .set: return .set((0..<(number == 18 ? 300 : number % 5)).map { element(column.type, number + $0) })
    case .map:
      let entries = (0..<(number == 18 ? 200 : number % 4)).map {
        ("key \($0)", element(column.type, number + $0))
      }
      return .map(ValueMap(Dictionary(uniqueKeysWithValues: entries)))
    }
  }

  private static func element(_ type: ColumnType, _ number: Int64) -> Value {
    switch type {
    case .bool: .bool(number % 3 == 0)
    case .int64: .int((number % 20 - 15) << 56)
    case .float: .float(Float(number) / 3)
    case .double: .double(number == 9 ? .infinity : Double(number) / -7)
    case .string: .string(String(repeating: "é\(number) ", count: Int(number % 9)))
    case .data: .data((0..<number % 25 * 3).map { UInt8(truncatingIfNeeded: $0 * number) })
    case .date:
      .date(Timestamp(seconds: number * 100_000_000 - 1, nanoseconds: Int32(number % 4) * 333_333_333))
    case .objectID: .objectID(ObjectIDBytes(high: UInt64(number) << 40, low: UInt32(number)))
    case .uuid, .decimal128: bytes(type, number)
    case .link: .null
    case .mixed: mixed(number)
    }
  }

  private static func bytes(_ type: ColumnType, _ number: Int64) -> Value {
    let low = UInt64(number) * 0x0101_0101_0101_0101
    guard type == .decimal128 else { return .uuid(SixteenBytes(high: ~low, low: low)) }
    // The decimal has the digits of the number and the exponent -2.
    return .decimal128(SixteenBytes(high: (6176 - 2) << 49, low: UInt64(number)))
  }

  private static func mixed(_ number: Int64) -> Value {
    let types: [ColumnType] = [
      .bool, .int64, .float, .double, .string, .data, .date, .objectID, .uuid, .decimal128,
    ]
    switch number % 14 {
    case 10: return .null
    case 11: return .list([.int(number), .string("in a list"), .null])
    case 12: return .map(ValueMap(["a": .int(number), "b": .list([.bool(true)])]))
    case 13: return .typedLink(table: 1, row: UInt64(number % 3))
    case let index: return element(types[Int(index)], number)
    }
  }

  static let places = ["Aarhus", "Bergen", "Çeşme"]
  static let settings: [(key: [UInt8], value: [UInt8])] = (0..<20).map { number in
    (Array("setting \(number)".utf8), Array("value \(number * number)".utf8))
  }
  static let longValue = (0..<3000).map { UInt8(truncatingIfNeeded: $0 / 17) }

  // MARK: - Making

  static func make(_ path: String, key: [UInt8]?) throws {
    let database = try Database(path: path, options: .init(encryptionKey: key))
    defer { database.close() }
    try database.write { transaction in
      let table = try transaction.createTable(TableSchema("Place", columns: [Column("name", .string)]))
      for name in places { _ = try table.insert(["name": .string(name)]) }
      let things = try transaction.createTable(
        TableSchema("Thing", columns: first(linkingTo: table.schema.id)))
      for number in rows {
        _ = try things.insert { (row) throws(StorageError) in
          for (position, column) in things.schema.columns.enumerated() {
            try row.set(position, value(column, number))
          }
        }
      }
    }
    try database.write { transaction in
      let things = try transaction.table("Thing")
      for key in removed { _ = try things?.remove(key) }
      try things?.addColumn(late)
      if let things { try things.setOptional(true, ofColumn: things.schema.columns.count - 1) }
      let tree = try transaction.tree("settings")
      for (key, value) in settings { try tree.set(value, for: key) }
      try transaction.tree("long").set(longValue, for: [1, 2, 3])
    }
  }
}
