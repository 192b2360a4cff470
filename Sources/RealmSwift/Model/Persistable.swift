import Foundation
public import RealmStorage

/// A type whose values are stored as values of `PersistedType`: an enumeration as its raw value, most other types as
/// themselves.
public protocol _HasPersistedType {
  /// The type that is stored.
  associatedtype PersistedType
  /// Whether something may be stored that has no value of this type, such as a raw value without a case that another program
  /// wrote.
  static var _mayBeUnknown: Bool { get }
  /// Whether `value` has no value of this type.
  static func _isUnknown(_ value: Value) -> Bool
  /// The stored form of a raw value without a case. The answer is nil if `any` is a value of this type, or is no value of the
  /// type that this type is stored as.
  static func _unknown(of any: Any) -> Value?
  /// A text for people that says of what a value can be made.
  static var _accepted: String { get }
}

/// Types whose properties can have an index.
public protocol _Indexable {}
/// Types that primary keys can have.
public protocol _PrimaryKey {}

/// Answers the row of an object. It adds the object to the realm first if objects are being added. The answer is nil for an
/// object that is being added and has no row yet.
public typealias _RowOfObject = (ObjectBase) -> UInt64?

/// A type that a property marked by `@Persisted` can have. Programs do not call its members.
public protocol _Persistable: _HasPersistedType {
  /// The type of such a property in the schema.
  static var _type: _PropertyType { get }
  /// Whether the property holds one instance that shows its cell, as collections do.
  static var _keepsInstance: Bool { get }
  /// The value of a property that was never given one.
  static func _initial() -> Self
  /// Whether a value may hold objects, which are freed with it.
  static var _keepsObjects: Bool { get }
  /// Whether each default value differs from all others, as new ids do. The value is then made together with the property, so
  /// that all copies of the property show the same value.
  static var _isNewEachTime: Bool { get }
  /// The value that a property answers when it only notes that it is read.
  static func _placeholder(of recorder: ObjectBase, _ position: Int) -> Self
  /// Reads the value of a managed object's property.
  static func _read(_ object: ObjectBase, _ position: Int) -> Self
  /// The value of a property that holds a stored value which this type can't hold.
  static func _readUnknown(_ object: ObjectBase, _ position: Int) -> Self
  /// Writes the value of a managed object's property.
  static func _write(_ value: Self, _ object: ObjectBase, _ position: Int)
  /// Converts a value that was given as `Any`; nil if that is not possible.
  static func _converted(_ any: Any) -> Self?
  /// Replaces the content of this collection by the content of another.
  func _assign(_ other: Self)
  /// The form in which the value is stored. `row` gives the rows of linked objects.
  func _stored(_ row: _RowOfObject) -> Value
  /// Puts the value into a row that is being made. The value must link to nothing.
  func _put(_ column: Int, of row: inout NewRow) throws(StorageError)
  /// The objects that the value links to.
  var _linked: [ObjectBase] { get }
  /// Called when the object becomes managed, so that a collection becomes managed too.
  func _becomeManaged(_ object: ObjectBase, _ position: Int)
  /// The value as dynamic objects answer it: nil for null, and the held value of an `AnyRealmValue`.
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

/// A type that the optional of a property can wrap. Programs do not call its members.
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

/// The type of a property: its column, whether it may be null, its form, and the class it links to.
public struct _PropertyType {
  typealias Form = PropertyForm

  var column: ColumnType
  var isOptional = false
  var form = Form.value
  /// The class that the property links to.
  var target: ObjectBase.Type?

  /// Whether the property may link to objects.
  var canLink: Bool { column == .link || column == .mixed }

  init(_ column: ColumnType, isOptional: Bool = false, form: Form = .value, target: ObjectBase.Type? = nil) {
    self.column = column
    self.isOptional = isOptional
    self.form = form
    self.target = target
  }
}

/// A type each of whose values is stored in one cell.
public protocol _Scalar: _Persistable, _CustomPersistedForm, _RealmCollectionValueInsideOptional {
  /// The type of the column.
  static var _column: ColumnType { get }
  /// The value of a stored one; nil if the stored value has another type, or an enumeration has no case for it.
  static func _load(_ value: Value) -> Self?
  /// The form in which the value is stored.
  var _value: Value { get }
}

extension _Scalar {
  public static var _type: _PropertyType { _PropertyType(_column) }
  public static var _optionalType: _PropertyType { _PropertyType(_column, isOptional: true) }

  public static func _placeholder(of recorder: ObjectBase, _ position: Int) -> Self { _initial() }
  public static func _optionalPlaceholder(of recorder: ObjectBase, _ position: Int) -> Self? { nil }

  public static func _read(_ object: ObjectBase, _ position: Int) -> Self {
    let value = object.stored(position)
    // Another client may have made a synced property optional, so null can be stored here. It reads as zero.
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
    // A column that gets no value is null.
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
  /// The object if it is an instance of exactly this class; nil if it is an instance of a subclass, or no object.
  static func ofThisClass(_ any: Any) -> Self? {
    instance(any, of: ObjectBase.self).flatMap { type(of: $0) == self ? unsafeDowncast($0, to: self) : nil }
  }
}

extension Object: _PersistableInsideOptional {
  public typealias PersistedType = Object
}

/// Whether a value is a form of nil: an empty optional of any depth, or NSNull.
func isNull(_ any: Any) -> Bool {
  if let optional = any as? any OptionalValue { return optional.content.map { isNull($0) } ?? true }
  return instance(any, of: NSNull.self) != nil
}

/// The object of a class that `any` holds, also in an optional; nil for anything else. A cast of a text, a number or an array
/// to a class would make Foundation build an object of it first, and convert all elements by calls; this function avoids
/// that.
func instance<Class: AnyObject>(_ any: Any, of type: Class.Type) -> Class? {
  if Swift.type(of: any) is AnyClass { return any as? Class }
  return (any as? any OptionalValue)?.content.flatMap { instance($0, of: type) }
}

/// An optional of any type.
protocol OptionalValue {
  var content: Any? { get }
}

extension Optional: OptionalValue {
  var content: Any? { map { $0 as Any } }
}
