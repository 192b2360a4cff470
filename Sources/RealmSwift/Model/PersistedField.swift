import RealmStorage

/// A property marked by `@Persisted`, whatever the type of its value, in an instance that holds it at an offset.
protocol PersistedField {
  static var propertyType: _PropertyType { get }
  /// The type of its value.
  static var valueType: Any.Type { get }
  /// The type that it has behind a link.
  static var optionalType: Any.Type { get }

  /// The type of what its value has for a value; its own where that is none of these.
  static var contentType: Any.Type { get }

  /// An object that shows a row keeps something of it in the property.
  static var keepsInstance: Bool { get }

  static func role(in object: ObjectBase, at offset: Int) -> PropertyRole
  /// For a property that its class declares with an origin.
  static func declaredType(in object: ObjectBase, at offset: Int) -> _PropertyType

  static func initializeManaged(_ instance: FreshInstance, at offset: Int, position: Int)
  static func initializeRecording(_ instance: FreshInstance, at offset: Int, position: Int)
  static func makeManaged(_ object: ObjectBase, at offset: Int, position: Int)
  /// Lets a property that shows its row know its object, so that it can be encoded.
  static func makeEncodable(_ object: ObjectBase, at offset: Int)
  static func makeRecording(_ object: ObjectBase, at offset: Int, position: Int)
  /// What is done with the property of an object that becomes managed, and keeps its collections.
  static func adopter(position: Int) -> (ObjectBase, _ offset: Int) -> Void

  /// An unmanaged object's property was given no value, and its type has none of its own.
  static func lacksValue(_ object: ObjectBase, at offset: Int) -> Bool

  /// Of an unmanaged object.
  static func stored(_ object: ObjectBase, at offset: Int, _ row: _RowOfObject) -> Value
  static func linked(_ object: ObjectBase, at offset: Int) -> [ObjectBase]
  /// Sets the value, of whatever object; false where `any` is none of the property's type.
  static func set(_ any: Any, _ object: ObjectBase, at offset: Int, position: Int) -> Bool
  /// What is stored of a value given as `Any`; nil where it is none of the property's type.
  static func stored(of any: Any) -> Value?
  /// The value, of whatever object.
  static func value(_ object: ObjectBase, at offset: Int, position: Int) -> Any
  /// The same for who asks by the property's name: nil where it is null, what an `AnyRealmValue` holds, and what is stored where the
  /// program has no value for that.
  static func keyed(_ object: ObjectBase, at offset: Int, position: Int) -> Any?

  /// What is stored of whatever object, where the program has no value for that; nil of all else.
  static func unknown(_ object: ObjectBase, at offset: Int, position: Int) -> Value?
  /// Sets the property to what the program has no value for.
  static func set(unknown value: Value, _ object: ObjectBase, at offset: Int, position: Int)
  /// The property's type has no value for what is stored.
  static func isUnknown(_ value: Value) -> Bool
  /// What a property can be made of, to read by people.
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

  /// What an unmanaged object's property holds, made now where it is the type's default.
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
      // Required, it could not be read.
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
    // A frozen handle never changes, as other threads may read it.
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
