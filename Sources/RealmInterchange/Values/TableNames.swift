package import RealmStorage

/// Writes schemas as JSON, in which links name the tables that they lead to.
package struct TableNames: Sendable {
  private let names: [UInt32: String]

  package subscript(table: UInt32) -> String? { names[table] }

  package init(_ schemas: [TableSchema]) {
    // The ids come from the file. If two tables have the same id, the first one counts.
    names = Dictionary(schemas.map { ($0.id, $0.name) }) { first, _ in first }
  }

  /// A table with its columns as a line of a dump.
  package func json(_ schema: TableSchema, rows: Int? = nil) -> String {
    var members = [("table", JSON.string(schema.name)), ("embedded", JSON.bool(schema.isEmbedded))]
    if let rows { members.append(("rows", "\(rows)")) }
    if schema.hasElementIDs { members.append(("elementIDs", JSON.bool(true))) }
    members.append(("columns", JSON.array(schema.properties.map(json))))
    return JSON.object(members)
  }

  package func json(_ column: Column) -> String {
    var members = [
      ("name", JSON.string(column.name)), ("type", JSON.string(column.type.name)),
      ("optional", JSON.bool(column.isOptional)), ("collection", JSON.string(column.collection.name)),
      ("index", JSON.string(column.index.name)),
    ]
    if column.type == .link {
      members.append(("target", names[column.target].map(JSON.string) ?? "null"))
    }
    if let value = column.storedDefault { members.append(("default", value.json(of: column, self))) }
    return JSON.object(members)
  }
}

extension ColumnType {
  /// The name of the type in dumps. It must never change.
  package var name: String {
    switch self {
    case .bool: "bool"
    case .int64: "int64"
    case .float: "float"
    case .double: "double"
    case .string: "string"
    case .data: "data"
    case .date: "date"
    case .objectID: "objectID"
    case .uuid: "uuid"
    case .decimal128: "decimal128"
    case .link: "link"
    case .mixed: "mixed"
    }
  }
}

extension ColumnCollection {
  /// The name of the collection in dumps. It must never change.
  package var name: String {
    switch self {
    case .none: "none"
    case .list: "list"
    case .set: "set"
    case .map: "map"
    }
  }
}

extension ColumnIndex {
  /// The name of the index in dumps. It must never change.
  package var name: String {
    switch self {
    case .none: "none"
    case .plain: "indexed"
    case .unique: "primary key"
    }
  }
}
