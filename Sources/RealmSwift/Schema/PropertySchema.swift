import RealmStorage

/// The form in which a property holds values.
enum PropertyForm: Hashable, Sendable {
  case value, list, set, map
  /// The objects that link to this one by a property of theirs. Nothing is stored for it.
  case linkingObjects(property: String)

  /// The form of the property's column.
  var collection: ColumnCollection {
    switch self {
    case .value, .linkingObjects: .none
    case .list: .list
    case .set: .set
    case .map: .map
    }
  }

  /// Makes the form of a property from the form of its column.
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

/// The role of a property, beyond holding a value.
@usableFromInline
enum PropertyRole: UInt8, Sendable {
  case plain, indexed, primaryKey
}

/// A property as realms store it. A class of the program declares it, or a table of a file has it. It does not refer to a
/// Swift class.
struct PropertySchema: Hashable, Sendable {
  /// The name that the program uses. If only the file knows the property, it is the name of its column.
  let name: String
  /// The name of its column.
  let columnName: String
  /// The type of its value; the element type if the property is a collection.
  let type: ColumnType
  let form: PropertyForm
  /// Whether its value, or an element, may be nil. It is always true for a value of any type.
  let isOptional: Bool
  /// The class to which links lead, or the class whose links this property shows. It is nil for other types, and if the file
  /// has no such class.
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

  /// Makes the schema of a property of a table of a file.
  ///
  /// - Parameter target: the name of the table to which links lead.
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

  /// Whether the property shows the links of other objects, so that nothing is stored for it.
  var isComputed: Bool { if case .linkingObjects = form { true } else { false } }

  /// The index that its column has.
  var index: ColumnIndex {
    switch role {
    case .plain: .none
    case .indexed: .plain
    case .primaryKey: .unique
    }
  }

  /// The column in which the property is stored, without the table to which links lead; nil if the property is computed.
  var column: Column? {
    if isComputed { return nil }
    return Column(columnName, type, isOptional: isOptional, collection: form.collection, index: index)
  }

  // MARK: - To read by people

  /// The type as a program writes it. All whole numbers are `Int` because a file does not tell them apart.
  var typeText: String { typeText(isOptional: isOptional) }

  func typeText(isOptional: Bool) -> String {
    // A value of any type has a case of its own for nil.
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
