import Foundation
import RealmStorage

/// Builds a database from the lines of `realm dump --json`, with only the rules in docs/dump-format.md.
///
/// The engine chooses the keys of rows. So rows are made without their links first, and the links are set when the new
/// key of each row is known.
final class DumpReader {
  /// An error in a dump, with its line.
  struct Malformed: Error, CustomStringConvertible {
    let description: String
  }

  private struct Row {
    let table: String
    let key: UInt64
    let values: [JSONValue]
  }

  private var tables: [(name: String, isEmbedded: Bool, columns: [JSONValue])] = []
  private var rows: [Row] = []
  private var entries: [(tree: String, key: [UInt8], value: [UInt8])] = []
  private let database: Database
  /// The new keys of rows, by the table and the key in the dump.
  private(set) var keys: [String: [UInt64: UInt64]] = [:]

  init(into database: Database) { self.database = database }

  func read(_ dump: String) throws {
    for line in dump.split(separator: "\n") { try add(String(line)) }
    try database.write { transaction in
      try makeTables(transaction)
      for row in rows { try insert(row, transaction) }
      for row in rows { try setLinks(row, transaction) }
      for entry in entries { try transaction.tree(entry.tree).set(entry.value, for: entry.key) }
    }
  }

  private func add(_ line: String) throws {
    let object = try JSONValue(line)
    if let name = object["table"]?.string, let columns = object["columns"]?.array {
      guard let isEmbedded = object["embedded"]?.bool else {
        throw Malformed(description: "not told whether embedded: \(line)")
      }
      tables.append((name, isEmbedded, columns))
    } else if let name = object["table"]?.string, let values = object["values"]?.array {
      rows.append(Row(table: name, key: UInt64(try integer(object["key"])), values: values))
    } else if let name = object["tree"]?.string {
      entries.append((name, try bytes(object["key"]), try bytes(object["value"])))
    } else {
      throw Malformed(description: "neither table, row nor entry: \(line)")
    }
  }

  // MARK: - Tables

  /// Makes the tables. A column can link only to an existing table, and columns are added at the end. So each table is
  /// made with the columns before its first link to a later table, and gets the other columns when all tables exist.
  private func makeTables(_ transaction: WriteTransaction) throws {
    var ids: [String: UInt32] = [:]
    var rest: [(table: String, columns: ArraySlice<JSONValue>)] = []
    for (name, isEmbedded, columns) in tables {
      let first = columns.firstIndex { column in
        guard let target = column["target"]?.string else { return false }
        return target != name && ids[target] == nil
      }
      let made = columns[..<(first ?? columns.count)]
      let columnsNow = try made.map { try column($0, ids: ids) }
      let table = try transaction.createTable(TableSchema(name, isEmbedded: isEmbedded, columns: columnsNow))
      ids[name] = table.schema.id
      rest.append((name, columns[made.endIndex...]))
    }
    for (name, columns) in rest {
      for object in columns { try transaction.table(name)?.addColumn(column(object, ids: ids)) }
    }
  }

  /// Makes a column. A target of 0 is the table itself.
  private func column(_ object: JSONValue, ids: [String: UInt32]) throws -> Column {
    guard let name = object["name"]?.string, let typeName = object["type"]?.string,
      let type = ColumnType.allCases.first(where: { "\($0)" == typeName }),
      let isOptional = object["optional"]?.bool, let kind = object["collection"]?.string,
      let collection = ColumnCollection.allCases.first(where: { "\($0)" == kind }),
      let indexName = object["index"]?.string,
      let index = ["none": ColumnIndex.none, "indexed": .plain, "primary key": .unique][indexName]
    else { throw Malformed(description: "no column: \(object)") }
    let target = object["target"]?.string.flatMap { ids[$0] } ?? 0
    let column = Column(
      name, type, isOptional: isOptional, collection: collection, index: index, target: target)
    guard let stored = object["default"] else { return column }
    return Column(
      name, type, isOptional: isOptional, collection: collection, index: index, target: target,
      storedDefault: try value(stored, column))
  }

  // MARK: - Rows

  private func insert(_ row: Row, _ transaction: WriteTransaction) throws {
    guard let table = try transaction.table(row.table), table.schema.columns.count == row.values.count else {
      throw Malformed(description: "row \(row.key) of \(row.table) does not fit its table")
    }
    let columns = table.schema.columns
    let values = try zip(columns, row.values).map { Self.canLink($0) ? nil : try value($1, $0) }
    let key = try table.insert { (new) throws(StorageError) in
      for (position, value) in values.enumerated() {
        if let value { try new.set(position, value) }
      }
    }
    keys[row.table, default: [:]][row.key] = key
  }

  private func setLinks(_ row: Row, _ transaction: WriteTransaction) throws {
    guard let table = try transaction.table(row.table), let key = keys[row.table]?[row.key] else { return }
    for (column, object) in zip(table.schema.columns, row.values) where Self.canLink(column) {
      let value = try value(object, column).mapped { table, key in
        let name = tables[Int(table ?? column.target) - 1].name
        guard let new = keys[name]?[key] else {
          throw Malformed(description: "a link to row \(key) of \(name), which is not there")
        }
        return new
      }
      _ = try table.set(value, column.name, ofRow: key)
    }
  }

  private func value(_ object: JSONValue, _ column: Column) throws -> Value {
    guard column.isCollection else { return try element(object, column.type) }
    if column.collection == .map { return .map(try map(object) { try element($0, column.type) }) }
    guard let list = object.array else { throw Malformed(description: "no list: \(object)") }
    return .list(try list.map { try element($0, column.type) })
  }

  private static func canLink(_ column: Column) -> Bool { column.type == .link || column.type == .mixed }

  private func map(_ object: JSONValue?, _ value: (JSONValue) throws -> Value) throws -> ValueMap {
    guard let pairs = object?.array else { throw Malformed(description: "no map: \(object ?? .null)") }
    var map = ValueMap()
    for pair in pairs {
      guard let parts = pair.array, parts.count == 2, let key = parts[0].string else {
        throw Malformed(description: "no pair: \(pair)")
      }
      map[key] = try value(parts[1])
    }
    return map
  }

  /// A value whose type is known from its form or from a tag.
  private func mixed(_ object: JSONValue) throws -> Value {
    if let flag = object.bool { return .bool(flag) }
    if let text = object.string { return .string(text) }
    if let list = object.array { return .list(try list.map { try element($0, .mixed) }) }
    if object["$map"] != nil { return .map(try map(object["$map"]) { try element($0, .mixed) }) }
    if let parts = object["$link"]?.array, parts.count == 2 {
      guard let table = tables.firstIndex(where: { $0.name == parts[0].string }) else {
        throw Malformed(description: "a link to no table: \(object)")
      }
      return .typedLink(table: UInt32(table + 1), row: UInt64(try integer(parts[1])))
    }
    if object["$float"] != nil { return .float(try float(object)) }
    if object["$double"] != nil { return .double(try double(object)) }
    if let text = object["$int"]?.string, let number = Int64(text) { return .int(number) }
    let tags: [(String, ColumnType)] = [
      ("$data", .data), ("$date", .date), ("$objectID", .objectID), ("$uuid", .uuid),
      ("$decimal128", .decimal128),
    ]
    for (tag, type) in tags where object[tag] != nil { return try element(object, type) }
    throw Malformed(description: "no mixed value: \(object)")
  }

  private func element(_ object: JSONValue, _ type: ColumnType) throws -> Value {
    if case .null = object { return .null }
    switch type {
    case .bool:
      guard let flag = object.bool else { throw Malformed(description: "no bool: \(object)") }
      return .bool(flag)
    case .int64: return .int(try integer(object))
    case .float: return .float(try float(object))
    case .double: return .double(try double(object))
    case .string:
      guard let text = object.string else { throw Malformed(description: "no string: \(object)") }
      return .string(text)
    case .data: return .data([UInt8](Data(base64Encoded: try tagged(object, "$data")) ?? Data()))
    case .date:
      guard let parts = object["$date"]?.array, parts.count == 2 else {
        throw Malformed(description: "no date: \(object)")
      }
      return .date(Timestamp(seconds: try integer(parts[0]), nanoseconds: Int32(try integer(parts[1]))))
    case .objectID: return .objectID(ObjectIDBytes(try digits(tagged(object, "$objectID"))))
    case .uuid: return .uuid(SixteenBytes(try digits(tagged(object, "$uuid"))))
    case .decimal128: return .decimal128(SixteenBytes(try digits(tagged(object, "$decimal128"))))
    case .link: return .link(UInt64(try integer(object["$link"])))
    case .mixed: return try mixed(object)
    }
  }

  // MARK: - Parts

  private func tagged(_ object: JSONValue?, _ tag: String) throws -> String {
    guard let text = object?[tag]?.string else {
      throw Malformed(description: "no \(tag): \(object ?? .null)")
    }
    return text
  }

  private func integer(_ object: JSONValue?) throws -> Int64 {
    guard let number = object?.integer else {
      guard let number = Int64(try tagged(object, "$int")) else {
        throw Malformed(description: "no integer: \(object ?? .null)")
      }
      return number
    }
    // A reader that knows only doubles would get another number.
    guard number.magnitude <= 1 << 53 else { throw Malformed(description: "an untagged \(number)") }
    return number
  }

  private func double(_ object: JSONValue) throws -> Double {
    if let number = object.number { return number }
    let text = try tagged(object, "$double")
    return special(text) ?? Double(text) ?? Double(bitPattern: UInt64(text.dropFirst(4), radix: 16) ?? 0)
  }

  private func float(_ object: JSONValue) throws -> Float {
    if let number = object.number { return Float(number) }
    let text = try tagged(object, "$float")
    return (special(text) ?? Double(text)).map { Float($0) }
      ?? Float(bitPattern: UInt32(text.dropFirst(4), radix: 16) ?? 0)
  }

  private func special(_ text: String) -> Double? {
    ["Infinity": .infinity, "-Infinity": -.infinity, "-0.0": -0.0][text]
  }

  private func digits(_ text: String) throws -> [UInt8] {
    let digits = text.filter { $0 != "-" }.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
  }

  private func bytes(_ object: JSONValue?) throws -> [UInt8] {
    if let text = object?.string { return Array(text.utf8) }
    return [UInt8](Data(base64Encoded: try tagged(object, "$data")) ?? Data())
  }
}

extension Value {
  /// The value with other rows for its links.
  func mapped(_ key: (_ table: UInt32?, UInt64) throws -> UInt64) throws -> Value {
    switch self {
    case .link(let row): .link(try key(nil, row))
    case .typedLink(let table, let row): .typedLink(table: table, row: try key(table, row))
    case .list(let elements, _): .list(try elements.map { try $0.mapped(key) })
    case .map(let map, _): .map(try map.mapped { try $0.mapped(key) })
    default: self
    }
  }
}
