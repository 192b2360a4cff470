public import RealmStorage

/// What lists and results hold.
public protocol RealmCollectionValue: Hashable, _HasPersistedType {
  static var _elementType: _PropertyType { get }
  static func _element(_ value: Value, in realm: Realm) -> Self
  func _elementValue(_ row: _RowOfObject) -> Value
  static func _convertedElement(_ any: Any) -> Self?
}

/// Types that a realm has objects of.
public protocol RealmFetchable: RealmCollectionValue {
  /// The name it is stored under.
  static func className() -> String
}

extension Object: RealmFetchable {}

extension RealmCollectionValue where Self: ObjectBase {
  public static var _elementType: _PropertyType { _PropertyType(.link, target: Self.self) }
  public static func _element(_ value: Value, in realm: Realm) -> Self {
    guard case .link(let row) = value else { stopUnreadableElement(Self.self) }
    return unsafeDowncast(realm.session.context(Self.self).object(row), to: Self.self)
  }
  public func _elementValue(_ row: _RowOfObject) -> Value { row(self).map { .link($0) } ?? .null }
  public static func _convertedElement(_ any: Any) -> Self? {
    ofThisClass(any)
  }
}

extension Optional: RealmCollectionValue where Wrapped: _Scalar {
  public static var _elementType: _PropertyType { _PropertyType(Wrapped._column, isOptional: true) }
  public static func _element(_ value: Value, in realm: Realm) -> Self { Wrapped._load(value) }
  public func _elementValue(_ row: _RowOfObject) -> Value { self?._value ?? .null }
  public static func _convertedElement(_ any: Any) -> Self? { Wrapped._optionalConverted(any) }
}
