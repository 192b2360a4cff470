import RealmStorage

/// The type of a property, or of the elements of a collection.
public enum PropertyType: Int32, Sendable {
  /// A whole number. A file stores all whole numbers with 64 bits.
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
  /// The objects that link to this one. They are found by their links and are not stored.
  case linkingObjects = 8
  /// Any value: an `AnyRealmValue`.
  case any = 9
  /// An `ObjectId`.
  case objectId = 10
  /// A `Decimal128`.
  case decimal128 = 11
  // The case has the name that programs use.
  // swift-format-ignore: AlwaysUseLowerCamelCase
  /// A UUID, of 16 bytes.
  case UUID = 12
}

/// A property of a class, as it is stored.
public struct Property: Hashable, Sendable {
  /// The name that the program uses.
  public let name: String
  /// The name under which it is stored.
  public let columnName: String
  /// The type of its value; the element type if the property is a collection.
  public let type: PropertyType
  /// Whether it is a `List`.
  public let isArray: Bool
  /// Whether it is a `MutableSet`.
  public let isSet: Bool
  /// Whether it is a `Map`.
  public let isMap: Bool
  /// Whether it has an index, which finds objects by their value in O(log n). It is true for a primary key.
  public let isIndexed: Bool
  /// Whether its value, or an element, may be nil. It is false for an `AnyRealmValue`, whose empty value is `none`.
  public let isOptional: Bool
  /// The class of the objects to which it links, or the class whose links it shows; nil for other types.
  public let objectClassName: String?

  init(_ property: PropertySchema) {
    name = property.name
    columnName = property.columnName
    type = PropertyType(property)
    isArray = property.form == .list
    isSet = property.form == .set
    isMap = property.form == .map
    isIndexed = property.role != .plain
    // An `AnyRealmValue` without a value is `none`, and never nil.
    isOptional = property.isOptional && property.type != .mixed
    objectClassName = property.target
  }
}

/// A class that a realm stores.
public struct ObjectSchema: Sendable {
  private let schema: ClassSchema
  /// The Swift class; `DynamicObject` for a table that is read without a class.
  public let objectClass: AnyClass

  init(_ schema: ClassSchema, _ objectClass: AnyClass) {
    self.schema = schema
    self.objectClass = objectClass
  }

  /// The name of the class in the schema.
  public var className: String { schema.name }
  /// The stored properties of the class, those of a superclass first.
  public var properties: [Property] { schema.stored.map { Property($0) } }
  /// The primary key, whose value no two objects share; nil if the class has none.
  public var primaryKeyProperty: Property? { schema.primaryKey.map { Property($0) } }
  /// Whether each object of the class belongs to another object.
  public var isEmbedded: Bool { schema.isEmbedded }
  /// Whether the class inherits from `AsymmetricObject`.
  public var isAsymmetric: Bool { schema.kind == .asymmetric }

  /// The stored property with a name; nil if there is none.
  public subscript(propertyName: String) -> Property? { properties.first { $0.name == propertyName } }
}

/// Another name for `ObjectSchema`, which programs that were written for RealmSwift may use.
public typealias RLMObjectSchema = ObjectSchema

/// The classes that a realm stores.
public struct Schema: Sendable {
  /// The classes in the order in which the realm was opened with them.
  public let objectSchema: [ObjectSchema]

  /// The class with a name in the schema; nil if there is none.
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
  /// Whether both describe the same Swift class and store the same properties.
  public static func == (left: ObjectSchema, right: ObjectSchema) -> Bool {
    left.objectClass == right.objectClass && left.schema == right.schema
  }
  /// Adds the name of the class to the hasher.
  public func hash(into hasher: inout Hasher) { hasher.combine(schema.name) }
}

extension Schema: Hashable {
  /// Whether both have equal classes in the same order.
  public static func == (left: Schema, right: Schema) -> Bool { left.objectSchema == right.objectSchema }
  /// Adds the classes to the hasher.
  public func hash(into hasher: inout Hasher) { hasher.combine(objectSchema) }
}

extension Property: CustomStringConvertible {
  /// A text for people that shows the property.
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
  /// A text for people that shows the class and its properties.
  public var description: String {
    let key = primaryKeyProperty.map { "\tprimaryKeyProperty = \($0.name);\n" } ?? ""
    return "\(className) {\n" + key + properties.map { $0.description.indented + "\n" }.joined() + "}"
  }
}

extension Schema: CustomStringConvertible {
  /// A text for people that shows the classes.
  public var description: String {
    "Schema {\n" + objectSchema.map { $0.description.indented + "\n" }.joined() + "}"
  }
}

extension String {
  fileprivate var indented: String { "\t" + replacing("\n", with: "\n\t") }
}
