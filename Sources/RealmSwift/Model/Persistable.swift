import Foundation
public import RealmStorage

/// A type that is stored as some type: an enumeration as its raw value, others as themselves.
public protocol _HasPersistedType {
  associatedtype PersistedType
  /// Something may be stored that is none of the type: a raw value without a case, which another program wrote.
  static var _mayBeUnknown: Bool { get }
  /// What is stored is none of the type.
  static func _isUnknown(_ value: Value) -> Bool
  /// The stored form of a raw value without a case: `any` is no value of this type, and is one of the type that this type is
  /// stored as. The answer is nil for anything else.
  static func _unknown(of any: Any) -> Value?
  /// What a value can be made of, to read by people.
  static var _accepted: String { get }
}

/// Types by whose values objects can be found.
public protocol _Indexable {}
/// Types of primary keys.
public protocol _PrimaryKey {}

/// Tells which row an object has, adding it to the realm first where that is what is being done; nil for one that is
/// being added and has none yet.
public typealias _RowOfObject = (ObjectBase) -> UInt64?

/// A type that a property marked by `@Persisted` may have.
public protocol _Persistable: _HasPersistedType {
  static var _type: _PropertyType { get }
  /// The property holds one instance that stands for its cell: a collection.
  static var _keepsInstance: Bool { get }
  /// The value of a property that was never given one.
  static func _initial() -> Self
  /// A value may hold objects, which go with it.
  static var _keepsObjects: Bool { get }
  /// No two such values are one: an id is made with the property, so that all who copy the property see the same.
  static var _isNewEachTime: Bool { get }
  /// What a property that only notes its being read answers.
  static func _placeholder(of recorder: ObjectBase, _ position: Int) -> Self
  static func _read(_ object: ObjectBase, _ position: Int) -> Self
  /// The value where the object stores what the type has none for.
  static func _readUnknown(_ object: ObjectBase, _ position: Int) -> Self
  static func _write(_ value: Self, _ object: ObjectBase, _ position: Int)
  /// The value of something that was given as `Any`; nil where there is none.
  static func _converted(_ any: Any) -> Self?
  /// Puts the content of another in place of this one's.
  func _assign(_ other: Self)
  func _stored(_ row: _RowOfObject) -> Value
  /// Puts the value, which links to nothing, into a row that is being made.
  func _put(_ column: Int, of row: inout NewRow) throws(StorageError)
  var _linked: [ObjectBase] { get }
  /// The object has become managed; so does a collection of it.
  func _becomeManaged(_ object: ObjectBase, _ position: Int)
  /// The value as dynamic objects answer it: nil of null, and what a value of any type holds.
  var _plainValue: Any? { get }
}

extension _Persistable {
  public static var _keepsInstance: Bool { false }
  @inlinable
  public static var _keepsObjects: Bool { false }
  public static var _isNewEachTime: Bool { false }
  public static func _readUnknown(_ object: ObjectBase, _ position: Int) -> Self {
    object.stopUnreadable(position, object.unknownValue(position))
  }
  public func _assign(_ other: Self) {}
  public func _put(_ column: Int, of row: inout NewRow) throws(StorageError) {
    try row.set(column, _stored { _ in nil })
  }
  public var _linked: [ObjectBase] { [] }
  public func _becomeManaged(_ object: ObjectBase, _ position: Int) {}
  public var _plainValue: Any? { self }
}

/// A type that an optional property may wrap.
public protocol _PersistableInsideOptional: _HasPersistedType {
  static var _optionalType: _PropertyType { get }
  static func _optionalPlaceholder(of recorder: ObjectBase, _ position: Int) -> Self?
  static func _readOptional(_ object: ObjectBase, _ position: Int) -> Self?
  static func _optionalConverted(_ any: Any) -> Self??
  static func _optionalStored(_ value: Self?, _ row: _RowOfObject) -> Value
  static func _putOptional(_ value: Self?, _ column: Int, of row: inout NewRow) throws(StorageError)
  static func _optionalLinked(_ value: Self?) -> [ObjectBase]
  static var _optionalKeepsObjects: Bool { get }
}

extension _PersistableInsideOptional {
  @inlinable
  public static var _optionalKeepsObjects: Bool { false }
  public static func _putOptional(
    _ value: Self?, _ column: Int, of row: inout NewRow
  ) throws(StorageError) {
    try row.set(column, _optionalStored(value) { _ in nil })
  }
}

/// What a property is.
public struct _PropertyType {
  typealias Form = PropertyForm

  var column: ColumnType
  var isOptional = false
  var form = Form.value
  /// The class that links point to.
  var target: ObjectBase.Type?

  /// Objects may be linked to by it.
  var canLink: Bool { column == .link || column == .mixed }

  init(_ column: ColumnType, isOptional: Bool = false, form: Form = .value, target: ObjectBase.Type? = nil) {
    self.column = column
    self.isOptional = isOptional
    self.form = form
    self.target = target
  }
}

/// A type whose values stand in one cell each.
public protocol _Scalar: _Persistable, _CustomPersistedForm, _RealmCollectionValueInsideOptional {
  static var _column: ColumnType { get }
  /// Nil for a value of another type, and for one that an enumeration has no case for.
  static func _load(_ value: Value) -> Self?
  var _value: Value { get }
}

extension _Scalar {
  public static var _type: _PropertyType { _PropertyType(_column) }
  public static var _optionalType: _PropertyType { _PropertyType(_column, isOptional: true) }

  public static func _placeholder(of recorder: ObjectBase, _ position: Int) -> Self { _initial() }
  public static func _optionalPlaceholder(of recorder: ObjectBase, _ position: Int) -> Self? { nil }

  public static func _read(_ object: ObjectBase, _ position: Int) -> Self {
    let value = object.stored(position)
    // Of a synced property that others have made optional.
    if let loaded = _load(value == .null ? _column.zero : value) { return loaded }
    guard let declared = object.declaredValue(position, inPlaceOf: value, zero: _column.zero),
      let loaded = _load(declared)
    else { object.stopUnreadable(position, value) }
    return loaded
  }
  public static func _readOptional(_ object: ObjectBase, _ position: Int) -> Self? {
    _load(object.stored(position))
  }
  public static func _write(_ value: Self, _ object: ObjectBase, _ position: Int) {
    object.store(value._value, position)
  }

  public static func _optionalConverted(_ any: Any) -> Self?? {
    if isNull(any) { return .some(nil) }
    return _converted(any).map { .some($0) }
  }
  public func _stored(_ row: _RowOfObject) -> Value { _value }
  public static func _optionalStored(_ value: Self?, _ row: _RowOfObject) -> Value { value?._value ?? .null }
  public static func _putOptional(
    _ value: Self?, _ column: Int, of row: inout NewRow
  ) throws(StorageError) {
    // What is not put is null.
    if let value { try value._put(column, of: &row) }
  }
  public static func _optionalLinked(_ value: Self?) -> [ObjectBase] { [] }

  public static var _elementType: _PropertyType { _type }
  public static func _element(_ value: Value, in cell: _CollectionCell, at step: NestedPlace.Step) -> Self {
    guard let loaded = _load(value) else { cell.stopUnreadable(value, Self.self, at: step) }
    return loaded
  }
  public static func _unmanagedElement(_ value: Value) -> Self {
    guard let loaded = _load(value) else { stopUnreadableElement(Self.self, value) }
    return loaded
  }
  public static func _elementOrNil(_ value: Value, in cell: _CollectionCell) -> Self? { _load(value) }
  public func _elementValue(_ row: _RowOfObject) -> Value { _value }
  public static func _convertedElement(_ any: Any) -> Self? { _converted(any) }
}

extension Optional: _HasPersistedType where Wrapped: _HasPersistedType {
  public typealias PersistedType = Wrapped.PersistedType?
}
extension Optional: _Indexable where Wrapped: _Indexable {}
extension Optional: _PrimaryKey where Wrapped: _PrimaryKey {}

extension Optional: _Persistable where Wrapped: _PersistableInsideOptional {
  public static var _type: _PropertyType { Wrapped._optionalType }
  public static func _initial() -> Self { nil }
  @inlinable
  public static var _keepsObjects: Bool { Wrapped._optionalKeepsObjects }
  public static func _placeholder(of recorder: ObjectBase, _ position: Int) -> Self {
    Wrapped._optionalPlaceholder(of: recorder, position)
  }
  @inlinable
  public static func _read(_ object: ObjectBase, _ position: Int) -> Self {
    Wrapped._readOptional(object, position)
  }
  public static func _readUnknown(_ object: ObjectBase, _ position: Int) -> Self {
    if let number = Wrapped.self as? any _IntegerScalar.Type {
      object.stopTooNarrow(position, object.unknownValue(position), number)
    }
    return nil
  }
  public static func _write(_ value: Self, _ object: ObjectBase, _ position: Int) {
    object.store(Wrapped._optionalStored(value, object.addingRow(position)), position)
  }
  public static func _converted(_ any: Any) -> Self? { Wrapped._optionalConverted(any) }
  public func _stored(_ row: _RowOfObject) -> Value { Wrapped._optionalStored(self, row) }
  public var _plainValue: Any? { map { $0 as Any } }
  public func _put(_ column: Int, of row: inout NewRow) throws(StorageError) {
    try Wrapped._putOptional(self, column, of: &row)
  }
  public var _linked: [ObjectBase] { Wrapped._optionalLinked(self) }
}

// MARK: - Links

extension _PersistableInsideOptional where Self: ObjectBase {
  public static var _optionalType: _PropertyType { _PropertyType(.link, isOptional: true, target: Self.self) }
  public static func _optionalPlaceholder(of recorder: ObjectBase, _ position: Int) -> Self? {
    unsafeDowncast(ObjectModel.of(Self.self).recorder(), to: Self.self)
  }
  public static func _readOptional(_ object: ObjectBase, _ position: Int) -> Self? {
    object.integer(position).map { object.linked(UInt64(bitPattern: $0), by: position, as: Self.self) }
  }
  public static func _optionalConverted(_ any: Any) -> Self?? {
    if isNull(any) { return .some(nil) }
    return ofThisClass(any).map { .some($0) }
  }
  public static func _optionalStored(_ value: Self?, _ row: _RowOfObject) -> Value {
    value.flatMap(row).map { .link($0) } ?? .null
  }
  public static func _optionalLinked(_ value: Self?) -> [ObjectBase] { value.map { [$0] } ?? [] }
  @inlinable
  public static var _optionalKeepsObjects: Bool { true }
}

extension ObjectBase {
  /// Nil also of an object of a class that inherits from this one.
  static func ofThisClass(_ any: Any) -> Self? {
    instance(any, of: ObjectBase.self).flatMap { type(of: $0) == self ? unsafeDowncast($0, to: self) : nil }
  }
}

extension Object: _PersistableInsideOptional {
  public typealias PersistedType = Object
}

/// nil in one of its forms: an empty optional of any depth, or NSNull.
func isNull(_ any: Any) -> Bool {
  if let optional = any as? any OptionalValue { return optional.content.map { isNull($0) } ?? true }
  return instance(any, of: NSNull.self) != nil
}

/// What is an object of a class, in an optional too; nil of anything else. To cast a text, a number or an array to a class would have Foundation
/// make an object of it first, and of all in it by calls.
func instance<Class: AnyObject>(_ any: Any, of type: Class.Type) -> Class? {
  if Swift.type(of: any) is AnyClass { return any as? Class }
  return (any as? any OptionalValue)?.content.flatMap { instance($0, of: type) }
}

/// An optional, whatever it wraps.
protocol OptionalValue {
  var content: Any? { get }
}

extension Optional: OptionalValue {
  var content: Any? { map { $0 as Any } }
}
