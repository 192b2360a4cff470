public import RealmStorage

/// A type that elements of lists, sets and results, and values of maps, can have. Programs do not call its members.
public protocol RealmCollectionValue: Hashable, _HasPersistedType {
  /// The type of the elements in the schema.
  static var _elementType: _PropertyType { get }
  /// The element that a managed collection holds at a place.
  static func _element(_ value: Value, in cell: _CollectionCell, at step: NestedPlace.Step) -> Self
  /// The element that an unmanaged collection holds in stored form.
  static func _unmanagedElement(_ value: Value) -> Self
  /// The form in which the element is stored. `row` gives the rows of linked objects.
  func _elementValue(_ row: _RowOfObject) -> Value
  /// Converts an element that was given as `Any`; nil if that is not possible.
  static func _convertedElement(_ any: Any) -> Self?
  /// Whether the element may link to objects.
  static var _canLink: Bool { get }
  /// The objects that the element links to.
  var _elementLinks: [ObjectBase] { get }
}

extension RealmCollectionValue {
  public static func _unmanagedElement(_ value: Value) -> Self { stopUnreadableElement(Self.self, value) }
  public static var _canLink: Bool { false }
  public var _elementLinks: [ObjectBase] { [] }
}

/// A type that can be an optional element of a collection. Programs do not call its members.
public protocol _RealmCollectionValueInsideOptional: RealmCollectionValue
where PersistedType: _RealmCollectionValueInsideOptional {
  /// The element of a stored value; nil for null, and for a value that an enumeration has no case for.
  static func _elementOrNil(_ value: Value, in cell: _CollectionCell) -> Self?
}

/// A type whose objects a realm stores by themselves, and that `Realm.objects(_:)` can be asked for.
public protocol RealmFetchable: RealmCollectionValue {
  /// The name of the class in the schema.
  static func className() -> String
}

extension Object: RealmFetchable {}

extension RealmCollectionValue where Self: ObjectBase {
  public static var _elementType: _PropertyType { _PropertyType(.link, target: Self.self) }
  public static func _element(_ value: Value, in cell: _CollectionCell, at step: NestedPlace.Step) -> Self {
    guard let object = _elementOrNil(value, in: cell) else { cell.stopUnreadable(value, Self.self, at: step) }
    return object
  }
  public func _elementValue(_ row: _RowOfObject) -> Value { row(self).map { .link($0) } ?? .null }
  public static func _elementOrNil(_ value: Value, in cell: _CollectionCell) -> Self? {
    guard case .link(let row) = value else { return nil }
    return unsafeDowncast(
      cell.elementContext(as: Self.self).object(row, birth: cell.elementBirth), to: Self.self)
  }
  public static func _convertedElement(_ any: Any) -> Self? {
    ofThisClass(any)
  }
  public static var _canLink: Bool { true }
  public var _elementLinks: [ObjectBase] { [self] }
}

extension Object: _RealmCollectionValueInsideOptional {}

extension Optional: RealmCollectionValue where Wrapped: _RealmCollectionValueInsideOptional {
  public static var _elementType: _PropertyType {
    var type = Wrapped._elementType
    type.isOptional = true
    return type
  }
  public static func _element(_ value: Value, in cell: _CollectionCell, at step: NestedPlace.Step) -> Self {
    Wrapped._elementOrNil(value, in: cell)
  }
  public static func _unmanagedElement(_ value: Value) -> Self {
    if value == .null { return nil }
    // A number that is too large for a narrow type is not read as nil: it stops the program.
    if Wrapped._isUnknown(value), !(Wrapped.self is any _IntegerScalar.Type) { return nil }
    return Wrapped._unmanagedElement(value)
  }
  public func _elementValue(_ row: _RowOfObject) -> Value { self?._elementValue(row) ?? .null }
  public static func _convertedElement(_ any: Any) -> Self? {
    isNull(any) ? .some(nil) : Wrapped._convertedElement(any).map { .some($0) }
  }
  public static var _canLink: Bool { Wrapped._canLink }
  public var _elementLinks: [ObjectBase] { self?._elementLinks ?? [] }
}
