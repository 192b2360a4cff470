import RealmStorage

/// How a property holds values.
enum PropertyForm: Hashable, Sendable {
  case value, list, set, map
  /// The objects that link to this one by a property of theirs. Nothing is stored for it.
  case linkingObjects(property: String)

  /// How a column keeps it.
  var collection: ColumnCollection {
    switch self {
    case .value, .linkingObjects: .none
    case .list: .list
    case .set: .set
    case .map: .map
    }
  }

  /// How a property holds what a column keeps so.
  init(_ collection: ColumnCollection) {
    self =
      switch collection {
      case .none: .value
      case .list: .list
      case .set: .set
      case .map: .map
      }
  }
}

/// What a property is for, beyond holding a value.
@usableFromInline
enum PropertyRole: UInt8, Sendable {
  case plain, indexed, primaryKey
}

/// A property as realms store it, whether a class of the program declares it or a table of a file has it. It knows no Swift class.
struct PropertySchema: Hashable, Sendable {
  /// The name that the program uses; of a property that only the file knows, the name of its column.
  let name: String
  /// The name of its column.
  let columnName: String
  /// The type of its value; of a collection, that of its elements.
  let type: ColumnType
  let form: PropertyForm
  /// Its value, or an element of it, may be nil. A value of any type always may.
  let isOptional: Bool
  /// The class that links lead to, or that links by the property that this one shows; nil of other types, and where the file has no such class.
  let target: String?
  let role: PropertyRole

  /// Makes the schema of a property that a class declares.
  init(
    _ name: String, columnName: String, _ type: ColumnType, _ form: PropertyForm, isOptional: Bool,
    target: String?, _ role: PropertyRole
  ) {
    self.name = name
    self.columnName = columnName
    self.type = type
    self.form = form
    self.isOptional =
      switch type {
      case .link: form == .value || form == .map
      case .mixed: true
      default: isOptional
      }
    self.target = target
    self.role = role
  }

  /// Makes the schema of a property that a table of a file has.
  ///
  /// - Parameter target: the name of the table that links lead to.
  init(_ column: Column, target: String?) {
    let role: PropertyRole =
      switch column.index {
      case .none: .plain
      case .plain: .indexed
      case .unique: .primaryKey
      }
    self.init(
      column.name, columnName: column.name, column.type, PropertyForm(column.collection),
      isOptional: column.isOptional, target: target, role)
  }

  /// Whether the property is told by the links of other objects, and stored nowhere.
  var isComputed: Bool { if case .linkingObjects = form { true } else { false } }

  /// The index that its column has.
  var index: ColumnIndex {
    switch role {
    case .plain: .none
    case .indexed: .plain
    case .primaryKey: .unique
    }
  }

  /// The column it is stored in, without the table that links lead to; nil of one that is computed.
  var column: Column? {
    if isComputed { return nil }
    return Column(columnName, type, isOptional: isOptional, collection: form.collection, index: index)
  }

  // MARK: - To read by people

  /// The type as a program writes it. All whole numbers are `Int`: a file does not tell them apart.
  var typeText: String { typeText(isOptional: isOptional) }

  func typeText(isOptional: Bool) -> String {
    // A value of any type is nil as one of its cases.
    let element = typeName + (isOptional && type != .mixed ? "?" : "")
    return switch form {
    case .value: element
    case .list: "List<\(element)>"
    case .set: "MutableSet<\(element)>"
    case .map: "Map<String, \(element)>"
    case .linkingObjects: "LinkingObjects<\(typeName)>"
    }
  }

  private var typeName: String {
    switch type {
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
    case .link: target ?? "a class that is not there"
    case .mixed: "AnyRealmValue"
    }
  }
}
