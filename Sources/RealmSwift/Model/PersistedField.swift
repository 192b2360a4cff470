import RealmStorage

/// The operations on a property marked by `@Persisted`, for any type of its value. The property stands at an offset in an
/// instance.
protocol PersistedField {
  static var propertyType: _PropertyType { get }
  /// The type of the property's value.
  static var valueType: Any.Type { get }
  /// The optional of the property's type, which a key path has that goes through a link.
  static var optionalType: Any.Type { get }

  /// The type of the value that a `RealmProperty` or `RealmOptional` holds; for any other property it is the property's own
  /// type.
  static var contentType: Any.Type { get }

  /// Whether an object that shows a row keeps an instance in the property, as for a collection.
  static var keepsInstance: Bool { get }

  static func role(in object: ObjectBase, at offset: Int) -> PropertyRole
  /// The type of the property, including the origin that the class declares for a `LinkingObjects` property.
  static func declaredType(in object: ObjectBase, at offset: Int) -> _PropertyType

  static func initializeManaged(_ instance: FreshInstance, at offset: Int, position: Int)
  static func initializeRecording(_ instance: FreshInstance, at offset: Int, position: Int)
  static func makeManaged(_ object: ObjectBase, at offset: Int, position: Int)
  /// Lets a property that shows its row know its object, so that it can be encoded.
  static func makeEncodable(_ object: ObjectBase, at offset: Int)
  static func makeRecording(_ object: ObjectBase, at offset: Int, position: Int)
  /// The operation that makes the property managed when its object becomes managed. The property keeps its collection.
  static func adopter(position: Int) -> (ObjectBase, _ offset: Int) -> Void

  /// Whether the property of an unmanaged object was given no value, and its type has no default.
  static func lacksValue(_ object: ObjectBase, at offset: Int) -> Bool

  /// The stored form of the value of an unmanaged object.
  static func stored(_ object: ObjectBase, at offset: Int, _ row: _RowOfObject) -> Value
  static func linked(_ object: ObjectBase, at offset: Int) -> [ObjectBase]
  /// Sets the value of a managed or unmanaged object. The answer is false if `any` can't be converted to the property's type.
  static func set(_ any: Any, _ object: ObjectBase, at offset: Int, position: Int) -> Bool
  /// The stored form of a value given as `Any`; nil if it can't be converted to the property's type.
  static func stored(of any: Any) -> Value?
  /// The value of a managed or unmanaged object.
  static func value(_ object: ObjectBase, at offset: Int, position: Int) -> Any
  /// The value for access by the property's name: nil for null, the held value of an `AnyRealmValue`, and the stored value if
  /// the program has no value for it.
  static func keyed(_ object: ObjectBase, at offset: Int, position: Int) -> Any?

  /// The stored value of a managed or unmanaged object if the program has no value for it; nil otherwise.
  static func unknown(_ object: ObjectBase, at offset: Int, position: Int) -> Value?
  /// Sets the property to a stored value for which the program has no value.
  static func set(unknown value: Value, _ object: ObjectBase, at offset: Int, position: Int)
  /// Whether the property's type has no value for what is stored.
  static func isUnknown(_ value: Value) -> Bool
  /// A text for people that says of what the property's value can be made.
  static var accepted: String { get }
}

extension PersistedField {
  static var contentType: Any.Type { valueType }
  static func lacksValue(_ object: ObjectBase, at offset: Int) -> Bool { false }

  static func keyed(_ object: ObjectBase, at offset: Int, position: Int) -> Any? {
    if let unknown = unknown(object, at: offset, position: position) { return unknown.plain }
    let own = Self.value(object, at: offset, position: position)
    let value = (own as? any RecordingProperty)?.content ?? own
    if let any = value as? AnyRealmValue { return any.content }
    return isNull(value) ? nil : value
  }
}

extension Persisted: PersistedField {
  @inline(__always)
  private static func field(_ object: ObjectBase, _ offset: Int) -> Self {
    FieldMemory.load(Self.self, object, offset)
  }

  @inline(__always)
  private static func put(_ field: Self, _ object: ObjectBase, _ offset: Int) {
    FieldMemory.store(field, object, offset)
  }

  static var propertyType: _PropertyType { Value._type }
  static var valueType: Any.Type { Value.self }
  static var optionalType: Any.Type { Value?.self }
  static var keepsInstance: Bool { Value._keepsInstance }

  static func role(in object: ObjectBase, at offset: Int) -> PropertyRole {
    field(object, offset).role
  }

  static func declaredType(in object: ObjectBase, at offset: Int) -> _PropertyType {
    guard case .value(let value) = field(object, offset).storage else { return Value._type }
    return value._declaredType
  }

  static func initializeManaged(_ instance: FreshInstance, at offset: Int, position: Int) {
    instance.initialize(Self(managedAt: UInt16(position)), at: offset)
  }

  static func initializeRecording(_ instance: FreshInstance, at offset: Int, position: Int) {
    instance.initialize(Self(recordingAt: UInt16(position)), at: offset)
  }

  static func makeManaged(_ object: ObjectBase, at offset: Int, position: Int) {
    put(Self(managedAt: UInt16(position)), object, offset)
  }

  static func makeEncodable(_ object: ObjectBase, at offset: Int) {
    guard case .managed(let position) = field(object, offset).storage,
      let place = ObjectPlace(object, Int(position))
    else { return }
    put(Self(.encodable(place), .plain), object, offset)
  }

  static func makeRecording(_ object: ObjectBase, at offset: Int, position: Int) {
    put(Self(recordingAt: UInt16(position)), object, offset)
  }

  static func adopt(_ object: ObjectBase, at offset: Int, position: Int) {
    guard Value._keepsInstance, case .value(let kept) = field(object, offset).storage else {
      return makeManaged(object, at: offset, position: position)
    }
    kept._becomeManaged(object, position)
  }

  static func adopter(position: Int) -> (ObjectBase, _ offset: Int) -> Void {
    if Value._keepsInstance { return { adopt($0, at: $1, position: position) } }
    return FieldMemory.storing(Self(managedAt: UInt16(position)))
  }

  static func lacksValue(_ object: ObjectBase, at offset: Int) -> Bool {
    guard case .unset = field(object, offset).storage, let type = Value.self as? any _CustomPersistable.Type
    else { return false }
    return !type.hasInitial
  }

  /// The value of an unmanaged object's property. If it was never set, the type's default is made and kept now.
  static func current(_ object: ObjectBase, _ offset: Int) -> Value {
    var field = field(object, offset)
    if case .value(let value) = field.storage { return value }
    let value = Value._initial()
    field.storage = .value(value)
    put(field, object, offset)
    return value
  }

  static func stored(_ object: ObjectBase, at offset: Int, _ row: _RowOfObject) -> RealmStorage.Value {
    if Value._mayBeUnknown, case .unknown(let place) = field(object, offset).storage {
      return object.unknownValue(place.position)
    }
    return current(object, offset)._stored(row)
  }

  static func linked(_ object: ObjectBase, at offset: Int) -> [ObjectBase] {
    guard case .value(let value) = field(object, offset).storage else { return [] }
    return value._linked
  }

  static func set(_ any: Any, _ object: ObjectBase, at offset: Int, position: Int) -> Bool {
    guard let value = Value._converted(any) else {
      // A property that is not optional could not be read afterwards, so only an optional one is set.
      guard Value._type.isOptional, let unknown = Value._unknown(of: any) else { return false }
      set(unknown: unknown, object, at: offset, position: position)
      return true
    }
    if Value._keepsInstance {
      var field = field(object, offset)
      let instance = field.firstRead(by: object)
      put(field, object, offset)
      instance._assign(value)
    } else if field(object, offset).managedPosition != nil {
      Value._write(value, object, position)
    } else {
      if Value._keepsObjects { object.noteKeepsObjects() }
      var field = field(object, offset)
      field.storage = .value(value)
      put(field, object, offset)
    }
    return true
  }

  static func stored(of any: Any) -> RealmStorage.Value? {
    if let value = Value._converted(any) { return value._stored { _ in nil } }
    return Value._type.isOptional ? Value._unknown(of: any) : nil
  }

  static func value(_ object: ObjectBase, at offset: Int, position: Int) -> Any {
    if !Value._keepsInstance, field(object, offset).managedPosition != nil {
      return Value._read(object, position)
    }
    var field = field(object, offset)
    let value = field.firstRead(by: object)
    // The property of a frozen handle is not changed, because other threads may read it.
    if !object.isFrozenHandle { put(field, object, offset) }
    return value
  }

  static func unknown(_ object: ObjectBase, at offset: Int, position: Int) -> RealmStorage.Value? {
    guard Value._mayBeUnknown else { return nil }
    switch field(object, offset).storage {
    case .managed, .encodable:
      let value = object.stored(position)
      return Value._isUnknown(value) ? value : nil
    case .unknown: return object.unknownValue(position)
    case .unset, .value, .recording: return nil
    }
  }

  static func set(unknown value: RealmStorage.Value, _ object: ObjectBase, at offset: Int, position: Int) {
    if field(object, offset).managedPosition != nil { return object.store(value, position) }
    guard let place = ObjectPlace(object, position) else { object.stopUnreadable(position, value) }
    object.keep(unknown: value, position)
    var field = field(object, offset)
    field.storage = .unknown(place)
    put(field, object, offset)
  }

  static func isUnknown(_ value: RealmStorage.Value) -> Bool { Value._isUnknown(value) }
  static var accepted: String { Value._accepted }
}
