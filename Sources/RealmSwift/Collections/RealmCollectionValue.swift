public import RealmStorage

/// What lists and results hold.
public protocol RealmCollectionValue: Hashable, _HasPersistedType {
  static var _elementType: _PropertyType { get }
  /// What a managed collection holds at a place.
  static func _element(_ value: Value, in cell: _CollectionCell, at step: NestedPlace.Step) -> Self
  /// What an unmanaged collection holds that is a copy of one which stores what the program has no values for.
  static func _unmanagedElement(_ value: Value) -> Self
  func _elementValue(_ row: _RowOfObject) -> Value
  static func _convertedElement(_ any: Any) -> Self?
  /// It may link to objects.
  static var _canLink: Bool { get }
  /// The objects it links to.
  var _elementLinks: [ObjectBase] { get }
}

extension RealmCollectionValue {
  public static func _unmanagedElement(_ value: Value) -> Self { stopUnreadableElement(Self.self, value) }
  public static var _canLink: Bool { false }
  public var _elementLinks: [ObjectBase] { [] }
}

/// What collections hold that may hold nil in its place.
public protocol _RealmCollectionValueInsideOptional: RealmCollectionValue
where PersistedType: _RealmCollectionValueInsideOptional {
  /// Nil for null, and for what an enumeration has no case for.
  static func _elementOrNil(_ value: Value, in cell: _CollectionCell) -> Self?
}

/// Types that a realm has objects of.
public protocol RealmFetchable: RealmCollectionValue {
  /// The name it is stored under.
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
    // A number that is too great is none of a narrow type, and is not passed over.
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
