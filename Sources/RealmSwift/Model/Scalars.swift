public import Foundation
public import RealmStorage

/// The types that queries compare as numbers.
public protocol _QueryNumeric {}
/// The types that queries compare as texts or bytes.
public protocol _QueryBinary {}
/// The types that queries compare as texts.
public protocol _QueryString: _QueryBinary {}
/// The types of which `min(ofProperty:)` and `max(ofProperty:)` find the least and the greatest value.
public protocol MinMaxType {}
/// The types of which `sum(ofProperty:)` and `average(ofProperty:)` can be computed.
public protocol AddableType {}
/// The types by which objects can be sorted.
public protocol SortableType {}

extension Optional: _QueryNumeric where Wrapped: _QueryNumeric {}
extension Optional: _QueryBinary where Wrapped: _QueryBinary {}
extension Optional: _QueryString where Wrapped: _QueryString {}
extension Optional: MinMaxType where Wrapped: MinMaxType {}
extension Optional: AddableType where Wrapped: AddableType {}
extension Optional: SortableType where Wrapped: SortableType {}

extension Bool: _Scalar, _Indexable, _PrimaryKey, SortableType {
  public typealias PersistedType = Bool
  public static var _column: ColumnType { .bool }
  @inlinable
  public static func _read(_ object: ObjectBase, _ position: Int) -> Bool { object.integer(position) == 1 }
  public static func _readOptional(_ object: ObjectBase, _ position: Int) -> Bool? {
    object.integer(position).map { $0 != 0 }
  }
  public static func _initial() -> Bool { false }
  public static func _load(_ value: Value) -> Bool? {
    guard case .bool(let flag) = value else { return nil }
    return flag
  }
  public var _value: Value { .bool(self) }
  public func _put(_ column: Int, of row: inout NewRow) throws(StorageError) {
    try row.set(column, self)
  }
  public static func _converted(_ any: Any) -> Bool? {
    if let flag = any as? Bool { return flag }
    guard let number = Int._converted(any), number == 0 || number == 1 else { return nil }
    return number == 1
  }
}

/// The whole-number types. A file has one type for all of them, so that a property can be made wider or narrower. Reading a
/// stored number that the property's type can't hold stops the program.
public protocol _IntegerScalar: _Scalar, FixedWidthInteger {}

extension _IntegerScalar {
  public static var _column: ColumnType { .int64 }
  @inlinable
  public static func _read(_ object: ObjectBase, _ position: Int) -> Self {
    let number = object.integer(position) ?? 0
    guard let fitting = Self(exactly: number) else {
      object.stopTooNarrow(position, number, range: "\(Self.min)...\(Self.max)")
    }
    return fitting
  }
  @inlinable
  public static func _readOptional(_ object: ObjectBase, _ position: Int) -> Self? {
    guard let number = object.integer(position) else { return nil }
    guard let fitting = Self(exactly: number) else {
      object.stopTooNarrow(position, number, range: "\(Self.min)...\(Self.max)")
    }
    return fitting
  }
  public static func _readUnknown(_ object: ObjectBase, _ position: Int) -> Self {
    object.stopTooNarrow(position, object.unknownValue(position), Self.self)
  }
  public static func _elementOrNil(_ value: Value, in cell: _CollectionCell) -> Self? {
    guard value != .null else { return nil }
    guard let loaded = _load(value) else { cell.stopUnreadable(value, Self.self) }
    return loaded
  }
  /// Whether a stored number may be too large for this type, because it was stored with a wider one.
  public static var _mayBeUnknown: Bool { Self.self != Int.self && Self.self != Int64.self }
  public static func _isUnknown(_ value: Value) -> Bool { value != .null && _load(value) == nil }
  public static func _initial() -> Self { 0 }
  public static func _load(_ value: Value) -> Self? {
    guard case .int(let number) = value else { return nil }
    return Self(exactly: number)
  }
  public var _value: Value { .int(Int64(self)) }
  public func _put(_ column: Int, of row: inout NewRow) throws(StorageError) {
    try row.set(column, Int64(self))
  }
  public static func _converted(_ any: Any) -> Self? {
    switch any {
    case let number as Int: Self(exactly: number)
    case let number as any BinaryInteger: Self(exactly: number)
    case let flag as Bool: flag ? 1 : 0
    default: instance(any, of: NSNumber.self).flatMap { whole($0) }
    }
  }

  /// The value of a Foundation number by the C type that it keeps. A double can't represent all whole numbers.
  private static func whole(_ number: NSNumber) -> Self? {
    switch String(cString: number.objCType) {
    case "d", "f": Self(exactly: number.doubleValue)
    case "Q": Self(exactly: number.uint64Value)
    default: Self(exactly: number.int64Value)
    }
  }
}

extension Int: _IntegerScalar, _Indexable, _PrimaryKey, _QueryNumeric, MinMaxType, AddableType, SortableType {
  public typealias PersistedType = Int
}
extension Int8: _IntegerScalar, _Indexable, _PrimaryKey, _QueryNumeric, MinMaxType, AddableType, SortableType
{
  public typealias PersistedType = Int8
}
extension Int16: _IntegerScalar, _Indexable, _PrimaryKey, _QueryNumeric, MinMaxType, AddableType, SortableType
{
  public typealias PersistedType = Int16
}
extension Int32: _IntegerScalar, _Indexable, _PrimaryKey, _QueryNumeric, MinMaxType, AddableType, SortableType
{
  public typealias PersistedType = Int32
}
extension Int64: _IntegerScalar, _Indexable, _PrimaryKey, _QueryNumeric, MinMaxType, AddableType, SortableType
{
  public typealias PersistedType = Int64
}

extension ObjectBase {
  /// Stops the program because a stored number is outside of the range of the property's type.
  @usableFromInline
  func stopTooNarrow(_ position: Int, _ number: Int64, range: String) -> Never {
    let model = context?.binding.model ?? ownModel
    raise(
      "Unreadable value",
      "\(model.name).\(model.properties[position].name) holds \(number), which is not in \(range): a program in which the "
        + "property has a wider type wrote it; give the property that type.")
  }
}

extension ObjectBase {
  func stopTooNarrow<Number: _IntegerScalar>(_ position: Int, _ value: Value, _ type: Number.Type) -> Never {
    guard case .int(let number) = value else { stopUnreadable(position, value) }
    stopTooNarrow(position, number, range: "\(Number.min)...\(Number.max)")
  }
}

/// Whether a Foundation number is a truth value, which it keeps as a C character.
func isTruthValue(_ number: NSNumber) -> Bool { String(cString: number.objCType) == "c" }

/// Any number except a truth value, as a double; nil for anything else.
private func double(_ any: Any) -> Double? {
  // The NSNumber is tested first because a cast would take the numbers 0 and 1 in it for truth values.
  if let number = instance(any, of: NSNumber.self) { return isTruthValue(number) ? nil : number.doubleValue }
  return switch any {
  case is Bool: nil
  case let number as Double: number
  case let number as Float: Double(number)
  case let number as any BinaryInteger: Double(number)
  default: nil
  }
}

extension Float: _Scalar, _QueryNumeric, MinMaxType, AddableType, SortableType {
  public typealias PersistedType = Float
  public static var _column: ColumnType { .float }
  public static func _initial() -> Float { 0 }
  public static func _load(_ value: Value) -> Float? {
    guard case .float(let number) = value else { return nil }
    return number
  }
  public var _value: Value { .float(self) }
  public static func _converted(_ any: Any) -> Float? {
    guard let number = double(any) else { return nil }
    return number.isFinite && abs(number) > Double(Float.greatestFiniteMagnitude) ? nil : Float(number)
  }
}

extension Double: _Scalar, _QueryNumeric, MinMaxType, AddableType, SortableType {
  public typealias PersistedType = Double
  public static var _column: ColumnType { .double }
  @inlinable
  public static func _read(_ object: ObjectBase, _ position: Int) -> Double { object.double(position) ?? 0 }
  public static func _readOptional(_ object: ObjectBase, _ position: Int) -> Double? {
    object.double(position)
  }
  public static func _initial() -> Double { 0 }
  public static func _load(_ value: Value) -> Double? {
    guard case .double(let number) = value else { return nil }
    return number
  }
  public var _value: Value { .double(self) }
  public func _put(_ column: Int, of row: inout NewRow) throws(StorageError) {
    try row.set(column, self)
  }
  public static func _converted(_ any: Any) -> Double? { double(any) }
}

extension String: _Scalar, _Indexable, _PrimaryKey, _QueryString, SortableType {
  public typealias PersistedType = String
  public static var _column: ColumnType { .string }
  @inlinable
  public static func _read(_ object: ObjectBase, _ position: Int) -> String { object.text(position) ?? "" }
  public static func _readOptional(_ object: ObjectBase, _ position: Int) -> String? { object.text(position) }
  public static func _initial() -> String { "" }
  public static func _load(_ value: Value) -> String? {
    guard case .string(let text) = value else { return nil }
    return text
  }
  public var _value: Value { .string(self) }
  public func _put(_ column: Int, of row: inout NewRow) throws(StorageError) {
    try row.set(column, self)
  }
  public static func _converted(_ any: Any) -> String? { any as? String }
}

extension Data: _Scalar, _QueryBinary, SortableType {
  public typealias PersistedType = Data
  public static var _column: ColumnType { .data }
  public static func _read(_ object: ObjectBase, _ position: Int) -> Data { object.data(position) ?? Data() }
  public static func _readOptional(_ object: ObjectBase, _ position: Int) -> Data? { object.data(position) }
  public static func _initial() -> Data { Data() }
  public static func _load(_ value: Value) -> Data? {
    guard case .data(let bytes) = value else { return nil }
    return Data(bytes)
  }
  public var _value: Value { .data(Array(self)) }
  public static func _converted(_ any: Any) -> Data? { any as? Data }
}

extension Date: _Scalar, _Indexable, _QueryNumeric, MinMaxType, SortableType {
  public typealias PersistedType = Date
  public static var _column: ColumnType { .date }
  public static func _initial() -> Date { Date() }
  public static func _load(_ value: Value) -> Date? {
    guard case .date(let moment) = value else { return nil }
    return Date(moment)
  }
  public var _value: Value { .date(Timestamp(self)) }
  public func _put(_ column: Int, of row: inout NewRow) throws(StorageError) {
    try row.set(column, Timestamp(self))
  }
  public static func _converted(_ any: Any) -> Date? { any as? Date }
}

extension UUID: _Scalar, _Indexable, _PrimaryKey, SortableType {
  public typealias PersistedType = UUID
  public static var _column: ColumnType { .uuid }
  public static func _initial() -> UUID { UUID() }
  public static var _isNewEachTime: Bool { true }
  public static func _load(_ value: Value) -> UUID? {
    guard case .uuid(let id) = value else { return nil }
    let (high, low) = (id.high, id.low)
    func byte(_ word: UInt64, _ index: UInt64) -> UInt8 {
      UInt8(truncatingIfNeeded: word >> (56 - 8 * index))
    }
    return UUID(
      uuid: (
        byte(high, 0), byte(high, 1), byte(high, 2), byte(high, 3), byte(high, 4), byte(high, 5),
        byte(high, 6), byte(high, 7), byte(low, 0), byte(low, 1), byte(low, 2), byte(low, 3), byte(low, 4),
        byte(low, 5), byte(low, 6), byte(low, 7)
      ))
  }
  public var _value: Value {
    let u = uuid
    func word(_ bytes: (UInt8, UInt8, UInt8, UInt8), _ rest: (UInt8, UInt8, UInt8, UInt8)) -> UInt64 {
      let high = UInt64(bytes.0) << 24 | UInt64(bytes.1) << 16 | UInt64(bytes.2) << 8 | UInt64(bytes.3)
      let low = UInt64(rest.0) << 24 | UInt64(rest.1) << 16 | UInt64(rest.2) << 8 | UInt64(rest.3)
      return high << 32 | low
    }
    return .uuid(
      SixteenBytes(
        high: word((u.0, u.1, u.2, u.3), (u.4, u.5, u.6, u.7)),
        low: word((u.8, u.9, u.10, u.11), (u.12, u.13, u.14, u.15))))
  }
  public static func _converted(_ any: Any) -> UUID? {
    any as? UUID ?? (any as? String).flatMap { UUID(uuidString: $0) }
  }
}

/// An enumeration that is stored as its raw value. A property can have the type of an enumeration that conforms to this
/// protocol:
///
///     enum Mood: String, PersistableEnum { case calm, merry }
///
/// If a raw value is stored for which the enumeration has no case, an optional property reads as nil, and reading any other
/// property stops the program.
public protocol PersistableEnum: _Scalar, RawRepresentable, CaseIterable, Comparable, MinMaxType,
  SortableType,
  _RealmSchemaDiscoverable
where RawValue: _Scalar & Comparable, PersistedType == RawValue.PersistedType {}

extension PersistableEnum {
  /// Makes the first case. An enumeration without cases stops the program.
  public init() { self = Self._initial() }

  public static var _column: ColumnType { RawValue._column }
  public static func _initial() -> Self {
    guard let first = allCases.first else {
      raise("Enumeration without cases", "\(Self.self) has no case that a property could start with.")
    }
    return first
  }
  public static func _load(_ value: Value) -> Self? { RawValue._load(value).flatMap { Self(rawValue: $0) } }
  public var _value: Value { rawValue._value }
  public static func _converted(_ any: Any) -> Self? {
    any as? Self ?? RawValue._converted(any).flatMap { Self(rawValue: $0) }
  }
  /// Whether the left raw value is less than the right one.
  public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
