import RealmInterchange
import RealmStorage

/// The source of Swift classes that can open a file with these tables.
struct SwiftClasses {
  private let tables: [TableSchema]
  /// The names of the classes, by the ids of their tables.
  private let names: [UInt32: String]

  init(_ tables: [TableSchema]) {
    self.tables = tables
    var taken: Set<String> = []
    // The ids come from the file. If two tables have the same id, the first one counts.
    names = Dictionary(
      tables.map { ($0.id, Self.identifier($0.name, isType: true, &taken)) },
      uniquingKeysWith: { first, _ in first })
  }

  var lines: [String] {
    var lines = ["import RealmSwift"]
    if tables.contains(where: { $0.properties.contains { Self.needsFoundation($0.type) } }) {
      lines.insert("import Foundation", at: 0)
    }
    for table in tables { lines += [""] + self.lines(table) }
    return lines
  }

  private static func needsFoundation(_ type: ColumnType) -> Bool {
    switch type {
    case .data, .date, .uuid: true
    default: false
    }
  }

  private func lines(_ table: TableSchema) -> [String] {
    let name = names[table.id] ?? table.name
    var lines = ["class \(name): \(table.isEmbedded ? "EmbeddedObject" : "Object") {"]
    var taken: Set<String> = []
    var mapped: [(property: String, column: String)] = []
    for column in table.properties {
      let property = Self.identifier(column.name, isType: false, &taken)
      let plain = property.replacing("`", with: "")
      if plain != column.name { mapped.append((plain, column.name)) }
      let role =
        switch column.index {
        case .none: ""
        case .plain: "(indexed: true)"
        case .unique: "(primaryKey: true)"
        }
      let stored = column.storedDefault.map { "  // \($0.text) in older objects" } ?? ""
      lines.append("  @Persisted\(role) var \(property): \(type(column))\(stored)")
    }
    if table.properties.isEmpty {
      lines.append("  // A class needs a property: objects of this table have none.")
    }
    if name != table.name {
      lines += ["", "  override class func _realmObjectName() -> String? { \(Self.quoted(table.name)) }"]
    }
    if !mapped.isEmpty {
      lines += ["", "  override class func propertiesMapping() -> [String: String] {", "    ["]
      lines += mapped.map { "      \(Self.quoted($0.property)): \(Self.quoted($0.column))," }
      lines += ["    ]", "  }"]
    }
    return lines + ["}"]
  }

  private func type(_ column: Column) -> String {
    let name = typeName(column)
    let isOptional = column.isOptional && column.type != .mixed
    let element = name + (isOptional ? "?" : "")
    return switch column.collection {
    case .none: element
    case .list: "List<\(element)>"
    case .set: "MutableSet<\(element)>"
    case .map: "Map<String, \(element)>"
    }
  }

  private func typeName(_ column: Column) -> String {
    switch column.type {
    case .bool: "Bool"
    case .int64: "Int"
    case .float: "Float"
    case .double: "Double"
    case .string: "String"
    case .data: "Data"
    case .date: "Date"
    case .objectID: "ObjectId"
    case .uuid: "UUID"
    case .decimal128: "Decimal128"
    case .link: names[column.target] ?? "Object"
    case .mixed: "AnyRealmValue"
    }
  }

  // MARK: - Names

  /// A valid Swift name for a name in a file, which differs from all other names so far.
  private static func identifier(_ name: String, isType: Bool, _ taken: inout Set<String>) -> String {
    var made = String(
      name.unicodeScalars.map { scalar in
        let isUsual =
          scalar == "_" || scalar.properties.isXIDContinue && scalar.properties.generalCategory != .format
        return isUsual ? Character(scalar) : "_"
      })
    if made.unicodeScalars.first.map({ $0 != "_" && !$0.properties.isXIDStart }) ?? true { made = "_" + made }
    // A name that has only underscores is reserved in Swift.
    if made.allSatisfy({ $0 == "_" }) { made += isType ? "Class" : "property" }
    if isType, usedTypes.contains(made) || keywords.contains(made) { made += "_" }
    if !isType, usedMembers.contains(made) { made += "_" }
    // For each property, @Persisted also makes a variable whose name has an underscore in front.
    while taken.contains(made) || (!isType && taken.contains("_" + made)) { made += "_" }
    taken.insert(made)
    if !isType { taken.insert("_" + made) }
    return keywords.contains(made) ? "`\(made)`" : made
  }

  private static func quoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": quoted += "\\\(scalar)"
      case _
      where scalar.value < 0x20 || scalar.value == 0x7f || scalar.properties.generalCategory == .format:
        quoted += "\\u{\(String(scalar.value, radix: 16))}"
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }

  /// The types that the generated source uses.
  private static let usedTypes: Set<String> = [
    "AnyRealmValue", "Bool", "Data", "Date", "Decimal128", "Double", "EmbeddedObject", "Float", "Int", "List",
    "Map", "MutableSet", "Object", "ObjectId", "Persisted", "Realm", "Self", "String", "Type", "UUID",
  ]
  /// The members that objects already have.
  private static let usedMembers: Set<String> = [
    "description", "hash", "hashValue", "init", "isFrozen", "isInvalidated", "objectSchema", "realm", "self",
  ]
  private static let keywords: Set<String> = [
    "Any", "as", "associatedtype", "break", "case", "catch", "class", "continue", "default", "defer",
    "deinit", "do",
    "else", "enum", "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard", "if",
    "import", "in",
    "inout", "internal", "is", "let", "nil", "operator", "private", "protocol", "public", "repeat",
    "rethrows",
    "return", "static", "struct", "subscript", "super", "switch", "throw", "throws", "true", "try",
    "typealias", "var",
    "where", "while",
  ]
}
