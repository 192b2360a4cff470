public import RealmStorage

/// The types that a custom type can be stored as: a value, or an embedded object.
public protocol _CustomPersistedForm: _PersistableInsideOptional {}

/// The requirements that `CustomPersistable` and `FailableCustomPersistable` share. Programs conform to one of these two.
public protocol _CustomPersistable: _Scalar where PersistedType: _CustomPersistedForm {
  // Declared again so that the compiler infers it from the members.
  /// The type that is stored.
  associatedtype PersistedType
  /// The value to store. It is asked for each time the value is stored, compared or hashed.
  var persistableValue: PersistedType { get }
  /// Makes a value of a stored one; nil if there is none for it.
  static func _restored(_ value: PersistedType) -> Self?
}

/// A type of the program that is stored as another type, such as a color that is stored as a number.
///
///     struct Color: CustomPersistable {
///       var rgb: Int
///       init(persistedValue: Int) { rgb = persistedValue }
///       var persistableValue: Int { rgb }
///     }
///
/// Queries and sorts use the stored value. A type with several parts is stored as an embedded object; `persistableValue`
/// makes a new object each time:
///
///     class Point: EmbeddedObject {
///       @Persisted var x = 0.0
///       @Persisted var y = 0.0
///     }
///     struct Coordinate: CustomPersistable {
///       var x, y: Double
///       init(persistedValue: Point) { (x, y) = (persistedValue.x, persistedValue.y) }
///       var persistableValue: Point { Point(value: [x, y]) }
///     }
///
/// A property of such a type does not need to be optional. If no embedded object is stored, the value is made of an object
/// that its `init()` made.
public protocol CustomPersistable: _CustomPersistable {
  /// The type that is stored.
  associatedtype PersistedType
  /// Makes a value of a stored one. It must accept every value of `PersistedType`.
  init(persistedValue: PersistedType)
}

/// A type of the program that is stored as another type, if some stored values have no value of this type. A URL that is
/// stored as a text is an example.
///
/// If what is stored has no value of this type, an optional property reads as nil, and reading any other property stops the
/// program.
public protocol FailableCustomPersistable: _CustomPersistable {
  /// The type that is stored.
  associatedtype PersistedType
  /// Makes a value of a stored one; nil if there is none for it.
  init?(persistedValue: PersistedType)
}

extension CustomPersistable {
  public static func _restored(_ value: PersistedType) -> Self? { Self(persistedValue: value) }
}

extension FailableCustomPersistable {
  public static func _restored(_ value: PersistedType) -> Self? { Self(persistedValue: value) }
}

extension _CustomPersistable {
  static func restoredFirst(_ value: PersistedType) -> Self {
    guard let initial = _restored(value) else {
      raise(
        "Property without a default",
        "a \(Self.self) can't be made of '\(value)', which a property that was given no value holds; declare a value for the "
          + "property, or make it optional.")
    }
    return initial
  }

  /// Whether a value can be made of the zero of `PersistedType`. A property that was given no value holds that zero.
  static var hasInitial: Bool {
    guard let stored = PersistedType.self as? any _Persistable.Type,
      let first = stored._initial() as? PersistedType
    else { return true }
    return _restored(first) != nil
  }

  /// The value that the class declares for the property.
  static func declaredPlaceholder(of recorder: ObjectBase, _ position: Int) -> Self {
    let model = ObjectModel.of(type(of: recorder))
    let property = model.properties[position]
    return property.field.value(model.unmanaged(), at: property.offset, position: position) as? Self
      ?? _initial()
  }
}

// MARK: - Stored as a value

extension _CustomPersistable where PersistedType: _Scalar {
  /// Adds the stored value to the hasher.
  public func hash(into hasher: inout Hasher) { hasher.combine(persistableValue) }

  public static var _column: ColumnType { PersistedType._column }
  public static func _initial() -> Self { restoredFirst(PersistedType._initial()) }
  public static func _placeholder(of recorder: ObjectBase, _ position: Int) -> Self {
    _restored(PersistedType._initial()) ?? declaredPlaceholder(of: recorder, position)
  }
  public static func _load(_ value: Value) -> Self? { PersistedType._load(value).flatMap { _restored($0) } }
  public var _value: Value { persistableValue._value }
  public static func _converted(_ any: Any) -> Self? {
    any as? Self ?? PersistedType._converted(any).flatMap { _restored($0) }
  }
}
