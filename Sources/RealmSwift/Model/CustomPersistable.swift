public import RealmStorage

/// What a type of the program's may be stored as: a value, or an embedded object.
public protocol _CustomPersistedForm: _PersistableInsideOptional {}

/// What `CustomPersistable` and `FailableCustomPersistable` have in common. Conform to one of them.
public protocol _CustomPersistable: _Scalar where PersistedType: _CustomPersistedForm {
  // Said again, so that it is told by the members.
  associatedtype PersistedType
  /// What is stored.
  var persistableValue: PersistedType { get }
  static func _restored(_ value: PersistedType) -> Self?
}

/// A type of the program that is stored as one of the types that can be: a color as a number, a measure as a double.
///
///     struct Color: CustomPersistable {
///       var rgb: Int
///       init(persistedValue: Int) { rgb = persistedValue }
///       var persistableValue: Int { rgb }
///     }
///
/// Queries and sorts go by what is stored. What has several parts is stored as an embedded object, of which
/// `persistableValue` makes a new one each time:
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
/// A property of it need not be optional: where nothing is stored it is made of an embedded object as `init()` leaves it.
public protocol CustomPersistable: _CustomPersistable {
  associatedtype PersistedType
  /// The value that was stored as `persistedValue`, whatever it is.
  init(persistedValue: PersistedType)
}

/// A type of the program that is stored as another, not all of whose values are one of it: a URL as a text.
///
/// What is stored and none of it is nil in an optional property, and stops the program in any other.
public protocol FailableCustomPersistable: _CustomPersistable {
  associatedtype PersistedType
  /// The value that was stored as `persistedValue`; nil where that is none.
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

  /// A property that was given no value holds one all the same.
  static var hasInitial: Bool {
    guard let stored = PersistedType.self as? any _Persistable.Type,
      let first = stored._initial() as? PersistedType
    else { return true }
    return _restored(first) != nil
  }

  /// What the class declares for the property.
  static func declaredPlaceholder(of recorder: ObjectBase, _ position: Int) -> Self {
    let model = ObjectModel.of(type(of: recorder))
    let property = model.properties[position]
    return property.field.value(model.unmanaged(), at: property.offset, position: position) as? Self
      ?? _initial()
  }
}

// MARK: - Stored as a value

extension _CustomPersistable where PersistedType: _Scalar {
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
