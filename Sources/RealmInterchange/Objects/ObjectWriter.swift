package import RealmStorage

/// Writes rows as JSON objects: embedded objects are inside their owners, links are primary keys, and values have the
/// natural form of JSON if the type of their column says the rest. docs/dump-format.md describes the form.
package final class ObjectWriter {
  /// The deepest nesting of embedded objects that is written. Synced files have the same limit.
  package static let mostLevels = 256
  package let names: TableNames
  private let tables: [UInt32: Table]
  /// The embedded objects of the object that is being written. Each embedded object belongs to one object; in a forged
  /// file, one may contain itself.
  private var parts: Set<Part> = []

  private struct Part: Hashable {
    let table: UInt32
    let row: UInt64
  }

  package convenience init(_ snapshot: Snapshot) throws(StorageError) { self.init(try snapshot.tables()) }

  /// Makes a writer of rows.
  ///
  /// - Parameter tables: all tables of a version or of an open transaction.
  package init(_ tables: [Table]) {
    names = TableNames(tables.map(\.schema))
    self.tables = Dictionary(tables.map { ($0.schema.id, $0) }) { first, _ in first }
  }

  /// Appends a row as a JSON object.
  ///
  /// - Parameter values: the values in the order of the columns.
  /// - Throws: `StorageError`; `InterchangeError` if embedded objects are nested too deeply, or one belongs to two
  ///   objects.
  package func write(_ values: [Value], of schema: TableSchema, to writer: inout JSONWriter) throws {
    if !parts.isEmpty { parts = [] }
    try object(values, schema, 0, &writer)
  }

  /// Appends the value of a column in the form that it has in an object.
  ///
  /// - Throws: the errors of `write(_:of:to:)`.
  package func write(_ value: Value, of column: Column, to writer: inout JSONWriter) throws {
    if !parts.isEmpty { parts = [] }
    try cell(value, column, 0, &writer)
  }

  /// A value as a field of CSV.
  ///
  /// - Throws: the errors of `write(_:of:to:)`.
  package func field(_ value: Value, of column: Column, delimiter: UInt8) throws -> String {
    let text: String
    switch value {
    case .null: return ""
    case .string(let string) where column.type == .string && !column.isCollection: text = string
    case .link(let key): text = try linkText(key, column)
    case .list, .map: text = try json(value, column)
    case _ where column.type == .mixed: text = try json(value, column)
    default: text = value.fieldText
    }
    return text.isEmpty ? "\"\"" : CSVField.quoted(text, delimiter: delimiter)
  }

  private func json(_ value: Value, _ column: Column) throws -> String {
    var writer = JSONWriter()
    try write(value, of: column, to: &writer)
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  private func linkText(_ key: UInt64, _ column: Column) throws -> String {
    guard let table = tables[column.target], !table.schema.isEmbedded, let primary = table.schema.primaryKey,
      let value = try table.value(primary, ofRow: key)
    else { return try json(.link(key), column) }
    switch value {
    // The import takes a field that begins with `{"$` for JSON.
    case .string(let text): return text.hasPrefix("{\"$") ? JSON.tagged("$primaryKey", text) : text
    case .null: return try json(.link(key), column)
    default: return value.fieldText
    }
  }

  private func object(_ values: [Value], _ schema: TableSchema, _ level: Int, _ writer: inout JSONWriter)
    throws
  {
    guard level < Self.mostLevels else {
      throw InterchangeError(
        "Embedded objects of \(schema.name) stand in each other more than \(Self.mostLevels) levels deep. `realm dump --json` without --nested writes them."
      )
    }
    writer.raw("{")
    var isFirst = true
    for (column, value) in zip(schema.columns, values) where !column.isCompanion {
      if !isFirst { writer.raw(",") }
      isFirst = false
      writer.string(column.name)
      writer.raw(":")
      try cell(value, column, level, &writer)
    }
    writer.raw("}")
  }

  private func cell(_ value: Value, _ column: Column, _ level: Int, _ writer: inout JSONWriter) throws {
    switch value {
    case .list(let elements, _) where column.isCollection:
      writer.raw("[")
      for (position, element) in elements.enumerated() {
        if position > 0 { writer.raw(",") }
        try one(element, column, level, &writer)
      }
      writer.raw("]")
    case .map(let map, _) where column.isCollection:
      writer.raw("{")
      for (position, entry) in zip(map.keys, map.values).enumerated() {
        if position > 0 { writer.raw(",") }
        writer.string(entry.0)
        writer.raw(":")
        try one(entry.1, column, level, &writer)
      }
      writer.raw("}")
    default: try one(value, column, level, &writer)
    }
  }

  private func one(_ value: Value, _ column: Column, _ level: Int, _ writer: inout JSONWriter) throws {
    switch value {
    case .link(let key):
      guard let table = tables[column.target] else { return writer.null() }
      if table.schema.isEmbedded {
        guard parts.insert(Part(table: column.target, row: key)).inserted else {
          throw InterchangeError(
            "The embedded object \(key) of \(table.schema.name) belongs to two objects: the file is damaged. `realm check` tells more."
          )
        }
        let values = try table.values(ofRow: key)
        try object(values, table.schema, level + 1, &writer)
      } else {
        try link(key, to: table, &writer)
      }
    case _ where column.type == .mixed: try mixed(value, &writer)
    default: writer.natural(value)
    }
  }

  /// Appends a link as the primary key of the linked object. A primary key of null is written as
  /// `{"$primaryKey":null}`. A link to a table without primary keys is written as `{"$link":…}` with the key of the
  /// row.
  private func link(_ key: UInt64, to table: Table, _ writer: inout JSONWriter) throws {
    guard let column = table.schema.primaryKey, let value = try table.value(column, ofRow: key) else {
      return writer.single(.link(key))
    }
    if case .null = value { writer.raw(#"{"$primaryKey":null}"#) } else { writer.natural(value) }
  }

  /// Appends a value of any type. All values but links have the same form as in a dump.
  private func mixed(_ value: Value, _ writer: inout JSONWriter) throws {
    switch value {
    case .typedLink(let id, let key):
      guard let table = tables[id] else { return writer.null() }
      let hasKey = table.schema.primaryKey != nil
      writer.raw(hasKey ? #"{"$object":["# : #"{"$link":["#)
      writer.string(table.schema.name)
      writer.raw(",")
      if hasKey { try link(key, to: table, &writer) } else { writer.integer(key) }
      writer.raw("]}")
    case .list(let elements, _):
      writer.raw("[")
      for (position, element) in elements.enumerated() {
        if position > 0 { writer.raw(",") }
        try mixed(element, &writer)
      }
      writer.raw("]")
    case .map(let map, _):
      writer.raw(#"{"$map":["#)
      for (position, entry) in zip(map.keys, map.values).enumerated() {
        writer.raw(position > 0 ? ",[" : "[")
        writer.string(entry.0)
        writer.raw(",")
        try mixed(entry.1, &writer)
        writer.raw("]")
      }
      writer.raw("]}")
    default: writer.mixed(value, names)
    }
  }
}

extension Table {
  /// The values of a row, in the order of the columns.
  package func values(ofRow key: UInt64) throws(StorageError) -> [Value] {
    var values: [Value] = []
    values.reserveCapacity(schema.columns.count)
    for column in schema.columns { values.append(try value(column, ofRow: key) ?? .null) }
    return values
  }
}

extension JSONWriter {
  /// Appends a value in the form for readers that know its type. A value that this form can't express exactly has a
  /// tag, as in a dump.
  package mutating func natural(_ value: Value) {
    switch value {
    case .data(let bytes): string(Base64.text(bytes))
    case .date(let date):
      if let text = DateText.text(date) { string(text) } else { single(value) }
    case .objectID(let id): string(Hexadecimal.text(id.bytes))
    case .uuid(let id): string(UUIDText.text(id.bytes))
    case .decimal128(let stored):
      let text = DecimalNumber(stored).text
      if DecimalNumber(parsingExactly: text)?.stored == stored { string(text) } else { single(value) }
    default: single(value)
    }
  }
}

extension Value {
  /// The natural form of the value in JSON. A text has no quotation marks around it.
  private var natural: String {
    var writer = JSONWriter()
    writer.natural(self)
    let text = String(decoding: writer.bytes, as: UTF8.self)
    return text.hasPrefix("\"") ? String(text.dropFirst().dropLast()) : text
  }

  /// The text of a value that is not a collection, for a field of CSV. The type of its column makes clear what the text
  /// means.
  fileprivate var fieldText: String {
    switch self {
    case .float(let number): number.special ?? "\(Double(number))"
    case .double(let number): number.special ?? "\(number)"
    case .data(let bytes): Base64.text(bytes)
    case .date(let date): DateText.text(date) ?? natural
    case .decimal128: natural
    default: text
    }
  }
}
