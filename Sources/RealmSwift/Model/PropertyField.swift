import RealmStorage

/// A stored property of a Swift model class that realms store too.
struct PropertyField {
  let name: String
  let offset: Int
  let access: any PersistedField.Type

  /// The stored properties of a class.
  struct All {
    /// The properties that realms store, those of the superclass first.
    var stored: [PropertyField] = []
    /// The names of properties that have a type that can be stored, but are not stored by realms. Their values would be lost
    /// with each handle.
    var unstored: [String] = []
    /// Whether instances hold only marked properties, so that an instance can be made by copying bytes.
    var arePlain = false
  }

  /// The properties that `@Persisted` marks. If it marks none in the class, the properties whose types are stored without it,
  /// such as collections.
  static func all(of type: ObjectBase.Type) -> All {
    let own = Set(StoredField.all(of: ObjectBase.self).map(\.offset))
    let fields = StoredField.all(of: type).filter { !own.contains($0.offset) }
    let marked = fields.compactMap { field in
      // The storage of a property wrapper is named like the property, with an underscore before it.
      (field.type as? any PersistedField.Type).map {
        PropertyField(name: String(field.name.dropFirst()), offset: field.offset, access: $0)
      }
    }
    if !marked.isEmpty { return All(stored: marked, arePlain: marked.count == fields.count) }
    let ignored = Set(
      (type as? Object.Type)?.ignoredProperties() ?? (type as? EmbeddedObject.Type)?.ignoredProperties() ?? []
    )
    let kept = fields.filter { !ignored.contains($0.name) }
    let stored = kept.compactMap { field in
      (field.type as? any _PersistedByItself.Type).map {
        PropertyField(name: field.name, offset: field.offset, access: $0.field)
      }
    }
    // A class that stores nothing at all is reported by the check of its schema.
    let unstored =
      stored.isEmpty
      ? [] : kept.filter { $0.type is any _Persistable.Type && !($0.type is any _PersistedByItself.Type) }
    return All(stored: stored, unstored: unstored.map(\.name))
  }
}

/// The roles of properties that a class names by overriding `primaryKey()` or `indexedProperties()`.
struct NamedRoles {
  private let primaryKey: String?
  private let indexed: [String]

  init(_ type: ObjectBase.Type) {
    primaryKey = (type as? Object.Type)?.primaryKey()
    indexed = (type as? Object.Type)?.indexedProperties() ?? []
  }

  var all: [(method: String, names: [String])] {
    [("primaryKey()", primaryKey.map { [$0] } ?? []), ("indexedProperties()", indexed)]
  }

  /// The role of a property; nil if the class does not name the property.
  func role(of name: String) -> PropertyRole? {
    if name == primaryKey { return .primaryKey }
    return indexed.contains(name) ? .indexed : nil
  }
}

/// A type whose values are stored as properties without `@Persisted`, such as a collection:
///
///     let dogs = List<Dog>()
public protocol _PersistedByItself: _Persistable {}

extension _PersistedByItself {
  static var field: any PersistedField.Type { FieldByItself<Self>.self }
}

extension LinkingObjects: _PersistedByItself {}

/// A type whose instance a property keeps for as long as its object lives. Its content changes; the instance is never
/// replaced.
public protocol _KeptInstance: AnyObject, _PersistedByItself {
  /// Makes an instance that holds nothing.
  init()
}

extension _KeptInstance {
  public static var _keepsInstance: Bool { true }
  public static func _initial() -> Self { Self() }
  public static func _placeholder(of recorder: ObjectBase, _ position: Int) -> Self { Self() }
  public static func _read(_ object: ObjectBase, _ position: Int) -> Self {
    let kept = Self()
    kept._becomeManaged(object, position)
    return kept
  }
  /// Copies the content of `value` into the collection of the property.
  public static func _write(_ value: Self, _ object: ObjectBase, _ position: Int) {
    _read(object, position)._assign(value)
  }
}

/// A property that has such a value itself, without `@Persisted`, and never gets another.
enum FieldByItself<Value: _PersistedByItself>: PersistedField {
  private static func value(_ object: ObjectBase, _ offset: Int) -> Value {
    FieldMemory.load(Value.self, object, offset)
  }

  static var propertyType: _PropertyType { Value._type }
  static var valueType: Any.Type { Value.self }
  static var optionalType: Any.Type { Value?.self }
  static var contentType: Any.Type { (Value.self as? any RecordingProperty.Type)?.contentType ?? Value.self }
  static var keepsInstance: Bool { true }

  static func role(in object: ObjectBase, at offset: Int) -> PropertyRole { .plain }
  static func declaredType(in object: ObjectBase, at offset: Int) -> _PropertyType {
    value(object, offset)._declaredType
  }

  // The instance has a value of its own, which only the class's initializer makes.
  static func initializeManaged(_ instance: FreshInstance, at offset: Int, position: Int) {}
  static func initializeRecording(_ instance: FreshInstance, at offset: Int, position: Int) {}
  static func makeManaged(_ object: ObjectBase, at offset: Int, position: Int) {
    value(object, offset)._becomeManaged(object, position)
  }
  // Nothing is to be done because the value knows its row.
  static func makeEncodable(_ object: ObjectBase, at offset: Int) {}
  static func makeRecording(_ object: ObjectBase, at offset: Int, position: Int) {
    (value(object, offset) as? any RecordingProperty)?.record(object, position)
  }
  static func adopter(position: Int) -> (ObjectBase, _ offset: Int) -> Void {
    { makeManaged($0, at: $1, position: position) }
  }

  static func stored(_ object: ObjectBase, at offset: Int, _ row: _RowOfObject) -> RealmStorage.Value {
    value(object, offset)._stored(row)
  }
  static func linked(_ object: ObjectBase, at offset: Int) -> [ObjectBase] { value(object, offset)._linked }
  static func set(_ any: Any, _ object: ObjectBase, at offset: Int, position: Int) -> Bool {
    guard let new = Value._converted(any) else { return false }
    value(object, offset)._assign(new)
    return true
  }
  static func stored(of any: Any) -> RealmStorage.Value? { Value._converted(any)?._stored { _ in nil } }
  static func value(_ object: ObjectBase, at offset: Int, position: Int) -> Any { value(object, offset) }

  static func unknown(_ object: ObjectBase, at offset: Int, position: Int) -> RealmStorage.Value? {
    guard Value._mayBeUnknown else { return nil }
    return (value(object, offset) as? any KeepsUnknown)?.unknown
  }
  static func set(unknown value: RealmStorage.Value, _ object: ObjectBase, at offset: Int, position: Int) {
    (Self.value(object, offset) as? any KeepsUnknown)?.set(unknown: value)
  }
  static func isUnknown(_ value: RealmStorage.Value) -> Bool { Value._isUnknown(value) }
  static var accepted: String { Value._accepted }
}

extension _Persistable {
  /// The type of a property that is declared with this value.
  var _declaredType: _PropertyType {
    var type = Self._type
    if let property = (self as? any LinkingObjectsProtocol)?._originProperty {
      type.form = .linkingObjects(property: property)
    }
    return type
  }
}
