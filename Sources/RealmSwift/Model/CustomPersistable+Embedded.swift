public import RealmStorage

// A custom type that is stored as an embedded object is an optional link. The linked object belongs to the property, or to
// the place in the list or map.

extension EmbeddedObject: _CustomPersistedForm {}

extension _CustomPersistable where PersistedType: EmbeddedObject {
  /// Hashes the values that the embedded object stores.
  public func hash(into hasher: inout Hasher) {
    let object = persistableValue
    for property in object.ownModel.properties
    where !property.type.canLink && property.type.form == .value && !property.isComputed {
      hasher.combine(property.access.stored(object, property.offset) { _ in nil })
    }
  }

  public static var _column: ColumnType { .link }
  public static var _type: _PropertyType { _optionalType }
  public static var _optionalType: _PropertyType {
    _PropertyType(.link, isOptional: true, target: PersistedType.self)
  }
  public static var _elementType: _PropertyType { _PropertyType(.link, target: PersistedType.self) }
  public static var _accepted: String {
    "a \(Self.self), or a \(PersistedType.self) or a dictionary of which one can be made"
  }
  public static func _isUnknown(_ value: Value) -> Bool { false }

  private static func unmanaged() -> PersistedType {
    unsafeDowncast(ObjectModel.of(PersistedType.self).unmanaged(), to: PersistedType.self)
  }

  private static func object(_ object: ObjectBase, _ position: Int) -> PersistedType? {
    object.integer(position).map {
      object.linked(UInt64(bitPattern: $0), by: position, as: PersistedType.self)
    }
  }

  public static func _initial() -> Self { restoredFirst(unmanaged()) }
  public static func _placeholder(of recorder: ObjectBase, _ position: Int) -> Self {
    _restored(unmanaged()) ?? declaredPlaceholder(of: recorder, position)
  }
  public static func _read(_ object: ObjectBase, _ position: Int) -> Self {
    guard let part = Self.object(object, position) else { return _initial() }
    guard let value = _restored(part) else { object.stopUnreadable(position, of: part) }
    return value
  }
  public static func _readOptional(_ object: ObjectBase, _ position: Int) -> Self? {
    Self.object(object, position).flatMap { _restored($0) }
  }
  public static func _write(_ value: Self, _ object: ObjectBase, _ position: Int) {
    object.store(value._stored(object.addingRow(position)), position)
  }

  /// The answer is nil because a link can't be followed without a realm.
  public static func _load(_ value: Value) -> Self? { nil }
  public var _value: Value { .null }
  public func _stored(_ row: _RowOfObject) -> Value { row(persistableValue).map { .link($0) } ?? .null }
  public func _put(_ column: Int, of row: inout NewRow) throws(StorageError) {
    raise("Embedded object", "a \(Self.self) is added before its owner.")
  }
  public static func _optionalStored(_ value: Self?, _ row: _RowOfObject) -> Value {
    value?._stored(row) ?? .null
  }

  public static func _converted(_ any: Any) -> Self? {
    if let value = any as? Self { return value }
    guard let object = instance(any, of: ObjectBase.self), type(of: object) == PersistedType.self else {
      return nil
    }
    return _restored(unsafeDowncast(object, to: PersistedType.self))
  }

  public static func _element(_ value: Value, in cell: _CollectionCell, at step: NestedPlace.Step) -> Self {
    guard let part = part(value, in: cell) else { return _initial() }
    guard let element = _restored(part) else { cell.stopUnreadable(value, Self.self, at: step) }
    return element
  }
  public static func _elementOrNil(_ value: Value, in cell: _CollectionCell) -> Self? {
    part(value, in: cell).flatMap { _restored($0) }
  }
  private static func part(_ value: Value, in cell: _CollectionCell) -> PersistedType? {
    guard case .link(let row) = value else { return nil }
    return unsafeDowncast(
      cell.owner.session.context(PersistedType.self).object(row, birth: cell.elementBirth),
      to: PersistedType.self)
  }
  public func _elementValue(_ row: _RowOfObject) -> Value { _stored(row) }
}

extension ObjectBase {
  fileprivate func stopUnreadable(_ position: Int, of part: EmbeddedObject) -> Never {
    let model = ownModel
    raise(
      "Unreadable value",
      "\(model.name).\(model.properties[position].name) can't be a \(model.properties[position].field.valueType) made of "
        + "\(ObjectDescription.quoted(part)). Let it be optional, or set it.")
  }
}
