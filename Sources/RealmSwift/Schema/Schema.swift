import RealmStorage

/// The type of a property, or of what a collection holds.
public enum PropertyType: Int32, Sendable {
  /// A whole number of 8 to 64 bits.
  case int = 0
  /// True or false.
  case bool = 1
  /// A text.
  case string = 2
  /// Bytes.
  case data = 3
  /// A moment, to the nanosecond.
  case date = 4
  /// A floating-point number of 32 bits.
  case float = 5
  /// A floating-point number of 64 bits.
  case double = 6
  /// A link to an object.
  case object = 7
  /// The objects that link to this one; found by their links, not stored.
  case linkingObjects = 8
  /// Any value: an `AnyRealmValue`.
  case any = 9
  /// An `ObjectId`.
  case objectId = 10
  /// A `Decimal128`.
  case decimal128 = 11
  // The name that programs use.
  // swift-format-ignore: AlwaysUseLowerCamelCase
  /// A UUID, of 16 bytes.
  case UUID = 12
}

/// A property of a class, as it is stored.
public struct Property: Hashable, Sendable {
  /// The name that the program uses.
  public let name: String
  /// The name it is stored under.
  public let columnName: String
  /// Of a collection, the type of its elements.
  public let type: PropertyType
  /// It is a `List`.
  public let isArray: Bool
  /// It is a `MutableSet`.
  public let isSet: Bool
  /// It is a `Map`.
  public let isMap: Bool
  /// Objects are found by its values without looking at each; so they are by a primary key.
  public let isIndexed: Bool
  /// Its value, or an element of it, may be nil.
  public let isOptional: Bool
  /// The class of the objects it links to, or that link by it.
  public let objectClassName: String?

  init(_ property: PropertySchema) {
    name = property.name
    columnName = property.columnName
    type = PropertyType(property)
    isArray = property.form == .list
    isSet = property.form == .set
    isMap = property.form == .map
    isIndexed = property.role != .plain
    // A value of any type is none where it is nothing, and never nil.
    isOptional = property.isOptional && property.type != .mixed
    objectClassName = property.target
  }
}

/// A class that a realm stores.
public struct ObjectSchema: Sendable {
  private let schema: ClassSchema
  /// The class itself.
  public let objectClass: AnyClass

  init(_ schema: ClassSchema, _ objectClass: AnyClass) {
    self.schema = schema
    self.objectClass = objectClass
  }

  /// The name it is stored under.
  public var className: String { schema.name }
  /// Its stored properties, a superclass's first.
  public var properties: [Property] { schema.stored.map { Property($0) } }
  /// The property that no two objects have one value of; nil of a class without a primary key.
  public var primaryKeyProperty: Property? { schema.primaryKey.map { Property($0) } }
  /// Each object of it belongs to another.
  public var isEmbedded: Bool { schema.isEmbedded }
  /// Objects of it are only sent: it inherits from `AsymmetricObject`.
  public var isAsymmetric: Bool { schema.kind == .asymmetric }

  /// The property of a name; nil where there is none.
  public subscript(propertyName: String) -> Property? { properties.first { $0.name == propertyName } }
}

/// The name that programs for the original use for what a class tells of itself.
public typealias RLMObjectSchema = ObjectSchema

/// The classes that a realm stores.
public struct Schema: Sendable {
  /// By the order in which the realm was opened with them.
  public let objectSchema: [ObjectSchema]

  /// The class of a name; nil where there is none.
  public subscript(className: String) -> ObjectSchema? { objectSchema.first { $0.className == className } }
}

extension PropertyType {
  init(_ property: PropertySchema) {
    if property.isComputed {
      self = .linkingObjects
      return
    }
    self =
      switch property.type {
      case .bool: .bool
      case .int64: .int
      case .float: .float
      case .double: .double
      case .string: .string
      case .data: .data
      case .date: .date
      case .objectID: .objectId
      case .uuid: .UUID
      case .decimal128: .decimal128
      case .link: .object
      case .mixed: .any
      }
  }
}

extension ObjectSchema: Hashable {
  /// Whether both are of one class, and store the same.
  public static func == (left: ObjectSchema, right: ObjectSchema) -> Bool {
    left.objectClass == right.objectClass && left.schema == right.schema
  }
  public func hash(into hasher: inout Hasher) { hasher.combine(schema.name) }
}

extension Schema: Hashable {
  public static func == (left: Schema, right: Schema) -> Bool { left.objectSchema == right.objectSchema }
  public func hash(into hasher: inout Hasher) { hasher.combine(objectSchema) }
}

extension Property: CustomStringConvertible {
  public var description: String {
    var lines = ["type = \(type)"]
    if let objectClassName { lines.append("objectClassName = \(objectClassName)") }
    if columnName != name { lines.append("columnName = \(columnName)") }
    for (name, holds) in [
      ("indexed", isIndexed), ("array", isArray), ("set", isSet), ("dictionary", isMap),
      ("optional", isOptional),
    ] {
      lines.append("\(name) = \(holds ? "YES" : "NO")")
    }
    return "\(name) {\n" + lines.map { "\t\($0);\n" }.joined() + "}"
  }
}

extension ObjectSchema: CustomStringConvertible {
  public var description: String {
    let key = primaryKeyProperty.map { "\tprimaryKeyProperty = \($0.name);\n" } ?? ""
    return "\(className) {\n" + key + properties.map { $0.description.indented + "\n" }.joined() + "}"
  }
}

extension Schema: CustomStringConvertible {
  public var description: String {
    "Schema {\n" + objectSchema.map { $0.description.indented + "\n" }.joined() + "}"
  }
}

extension String {
  fileprivate var indented: String { "\t" + replacing("\n", with: "\n\t") }
}
