public import RealmStorage

/// The types that a `RealmOptional` can hold, and a `RealmProperty` as an optional.
public protocol RealmOptionalType: _Scalar, _ObjcBridgeable, _RealmSchemaDiscoverable {}

extension RealmOptionalType {
  /// The name of the type.
  public static func className() -> String { "\(Self.self)" }
}

/// The types that a `RealmProperty` can hold: optionals of `RealmOptionalType`, and `AnyRealmValue`.
public protocol RealmPropertyType: _Persistable, _ObjcBridgeable, _RealmSchemaDiscoverable {}

/// An enumeration of whole numbers that a `RealmOptional` can hold. Use `PersistableEnum` for all other purposes.
public protocol RealmEnum: PersistableEnum, RealmOptionalType {}

extension Int: RealmOptionalType {}
extension Int8: RealmOptionalType {}
extension Int16: RealmOptionalType {}
extension Int32: RealmOptionalType {}
extension Int64: RealmOptionalType {}
extension Float: RealmOptionalType {}
extension Double: RealmOptionalType {}
extension Bool: RealmOptionalType {}
extension Decimal128: RealmOptionalType {}
extension ObjectId: RealmOptionalType {}

extension Optional: RealmPropertyType where Wrapped: RealmOptionalType {}
extension AnyRealmValue: RealmPropertyType {}

// Constraints of RealmSwift's declarations have these names. Here they require nothing.

/// A type that properties of a schema can have.
public protocol _RealmSchemaDiscoverable {}
/// A type that has a counterpart in Objective-C.
public protocol _ObjcBridgeable {}

extension Optional: _ObjcBridgeable where Wrapped: _ObjcBridgeable {}
extension AnyRealmValue: _ObjcBridgeable {}

/// A property type that holds a value of another type. It notes when a key path reads the value.
protocol RecordingProperty {
  static var contentType: Any.Type { get }
  var content: Any { get }
  func record(_ object: ObjectBase, _ position: Int)
}

/// The value of a property without `@Persisted` whose instance stays the same. It is a variable if the object is unmanaged,
/// and shows the row if the object is managed.
struct PropertyCell<Value: _Persistable> {
  private enum State {
    case unmanaged(Value)
    case managed(ManagedRow, position: Int)
    /// A stored value for which the program has none.
    case unknown(RealmStorage.Value)
    case recording(Recorder, position: Int)
  }
  private struct Recorder {
    weak var object: ObjectBase?
  }
  private var state: State

  init(_ value: Value) { state = .unmanaged(value) }

  var isManaged: Bool { if case .managed = state { true } else { false } }

  var value: Value {
    get {
      switch state {
      case .unmanaged(let value): return value
      case .managed(let owner, let position): return Value._read(handle(of: owner), position)
      case .recording(let recorder, let position):
        guard let object = recorder.object else { return Value._initial() }
        PropertyRecorder.current?.note(object, position)
        return Value._placeholder(of: object, position)
      // Only values of optional types are copied in this form.
      case .unknown(let value):
        if Value.self is any OptionalWholeNumber.Type { stopUnreadableNumber(value, Value.self) }
        return Value._initial()
      }
    }
    set {
      guard case .managed(let owner, let position) = state else {
        state = .unmanaged(newValue)
        return
      }
      Value._write(newValue, handle(of: owner), position)
    }
  }

  /// The stored value if the program has no value for it; nil otherwise.
  var unknown: RealmStorage.Value? {
    get {
      switch state {
      case .unknown(let value): return value
      case .managed(let owner, let position):
        let value = owner.value(position)
        return Value._isUnknown(value) ? value : nil
      case .unmanaged, .recording: return nil
      }
    }
    set {
      guard let newValue else { return }
      if case .managed(let owner, let position) = state {
        handle(of: owner).store(newValue, position)
      } else {
        state = .unknown(newValue)
      }
    }
  }

  /// The object keeps this cell, so the cell can't keep the object. A new handle is made instead.
  private func handle(of owner: ManagedRow) -> ObjectBase {
    let object = CellOwner()
    object.show(owner.row, of: owner.contextOfHandles, birth: owner.birth)
    return object
  }

  mutating func becomeManaged(_ object: ObjectBase, _ position: Int) {
    if let owner = object.managedRow { state = .managed(owner, position: position) }
  }

  mutating func record(_ object: ObjectBase, _ position: Int) {
    state = .recording(Recorder(object: object), position: position)
  }
}

/// Optional whole numbers. A stored number that is too large for a narrow type stops the program, while other such values are
/// read as nil.
private protocol OptionalWholeNumber {}
extension Optional: OptionalWholeNumber where Wrapped: _IntegerScalar {}

private func stopUnreadableNumber(_ value: RealmStorage.Value, _ type: Any.Type) -> Never {
  raise(
    "Unreadable value",
    "a property holds \(value.quoted), which is no \(type): a program in which the property has a wider type wrote it; give "
      + "the property that type.")
}

/// A handle of a row of any class, for code that accesses cells by their position.
private final class CellOwner: ObjectBase {}

/// An optional property of a class that does not use `@Persisted`:
///
///     let age = RealmProperty<Int?>()
///     person.age.value = 3
public final class RealmProperty<Value: RealmPropertyType>: CustomStringConvertible {
  private var cell = PropertyCell<Value>(Value._initial())

  /// Makes a property whose value is nil, or `none` for an `AnyRealmValue`.
  public init() {}

  /// The value. If the object is managed, setting it requires a write transaction; otherwise the program stops.
  public var value: Value {
    get { cell.value }
    set {
      if Value._keepsObjects, !cell.isManaged { FreedInTurn.note(self) }
      cell.value = newValue
    }
  }

  /// A text for people that shows the value.
  public var description: String {
    if Value._mayBeUnknown, let unknown { return ObjectDescription.text(of: unknown.plain as Any) }
    return isNull(value) ? "nil" : ObjectDescription.text(of: value)
  }
}

/// An optional number or truth value of a class that does not use `@Persisted`. In new classes, declare an optional
/// `@Persisted` property instead.
public final class RealmOptional<Value: RealmOptionalType>: CustomStringConvertible {
  private var cell: PropertyCell<Value?>

  /// Makes a property whose value is nil.
  public init() { cell = PropertyCell(nil) }

  /// Makes a property with a value.
  public init(_ value: Value?) { cell = PropertyCell(value) }

  /// The value, or nil. If the object is managed, setting it requires a write transaction; otherwise the program stops.
  public var value: Value? {
    get { cell.value }
    set { cell.value = newValue }
  }

  /// A text for people that shows the value.
  public var description: String {
    if Value._mayBeUnknown, let unknown { return ObjectDescription.text(of: unknown.plain as Any) }
    return value.map { "\($0)" } ?? "nil"
  }
}

// MARK: - Coding and comparing

extension RealmProperty: Equatable where Value: Equatable {
  /// Whether the values are equal.
  public static func == (left: RealmProperty, right: RealmProperty) -> Bool { left.value == right.value }
}

extension RealmProperty: Codable where Value: Codable {
  /// Decodes a property with a value.
  ///
  /// - Throws: what the decoder throws.
  public convenience init(from decoder: any Decoder) throws {
    self.init()
    value = try decoder.singleValueContainer().decode(Value.self)
  }

  /// Encodes the value.
  ///
  /// - Throws: what the encoder throws.
  public func encode(to encoder: any Encoder) throws {
    if Value._mayBeUnknown, let unknown { return try unknown.encodePlain(to: encoder) }
    var container = encoder.singleValueContainer()
    try container.encode(value)
  }
}

extension RealmOptional: Equatable where Value: Equatable {
  /// Whether the values are equal.
  public static func == (left: RealmOptional, right: RealmOptional) -> Bool { left.value == right.value }
}

extension RealmOptional: Codable where Value: Codable {
  /// Decodes a property with a value.
  ///
  /// - Throws: what the decoder throws.
  public convenience init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    self.init(container.decodeNil() ? nil : try container.decode(Value.self))
  }

  /// Encodes the value.
  ///
  /// - Throws: what the encoder throws.
  public func encode(to encoder: any Encoder) throws {
    if Value._mayBeUnknown, let unknown { return try unknown.encodePlain(to: encoder) }
    var container = encoder.singleValueContainer()
    try container.encode(value)
  }
}

// MARK: - Storing

extension RealmProperty: RecordingProperty {
  static var contentType: Any.Type { Value.self }
  var content: Any { value }
  func record(_ object: ObjectBase, _ position: Int) { cell.record(object, position) }
}

extension RealmOptional: RecordingProperty {
  static var contentType: Any.Type { Value?.self }
  var content: Any { value as Any }
  func record(_ object: ObjectBase, _ position: Int) { cell.record(object, position) }
}

extension RealmProperty: KeepsUnknown {
  var unknown: RealmStorage.Value? { cell.unknown }
  func set(unknown value: RealmStorage.Value) { cell.unknown = value }
}

extension RealmOptional: KeepsUnknown {
  var unknown: RealmStorage.Value? { cell.unknown }
  func set(unknown value: RealmStorage.Value) { cell.unknown = value }
}

extension RealmProperty: _KeptInstance {
  public typealias PersistedType = Value.PersistedType
  public static var _type: _PropertyType { Value._type }
  public static func _placeholder(of recorder: ObjectBase, _ position: Int) -> RealmProperty {
    let property = RealmProperty()
    property.record(recorder, position)
    return property
  }
  public static func _converted(_ any: Any) -> RealmProperty? {
    let property = RealmProperty()
    if let other = instance(any, of: RealmProperty.self) {
      property._assign(other)
    } else if let value = Value._converted(any) {
      property.value = value
    } else if let unknown = Value._unknown(of: any) {
      property.set(unknown: unknown)
    } else {
      return nil
    }
    return property
  }
  public static var _mayBeUnknown: Bool { Value._mayBeUnknown }
  public static func _isUnknown(_ value: RealmStorage.Value) -> Bool { Value._isUnknown(value) }
  public static var _accepted: String { Value._accepted }
  public func _assign(_ other: RealmProperty) {
    if self === other { return }
    if Value._mayBeUnknown, let unknown = other.unknown {
      cell.unknown = unknown
    } else {
      value = other.value
    }
  }
  public func _stored(_ row: _RowOfObject) -> RealmStorage.Value {
    if Value._mayBeUnknown, let unknown { return unknown }
    return value._stored(row)
  }
  public var _linked: [ObjectBase] { cell.isManaged ? [] : value._linked }
  public func _becomeManaged(_ object: ObjectBase, _ position: Int) { cell.becomeManaged(object, position) }
}

extension RealmOptional: _KeptInstance {
  public typealias PersistedType = Value.PersistedType?
  public static var _type: _PropertyType { Value?._type }
  public static func _placeholder(of recorder: ObjectBase, _ position: Int) -> RealmOptional {
    let property = RealmOptional()
    property.record(recorder, position)
    return property
  }
  public static func _converted(_ any: Any) -> RealmOptional? {
    let property = RealmOptional()
    if let other = instance(any, of: RealmOptional.self) {
      property._assign(other)
    } else if let value = Value?._converted(any) {
      property.value = value
    } else if let unknown = Value._unknown(of: any) {
      property.set(unknown: unknown)
    } else {
      return nil
    }
    return property
  }
  public static var _mayBeUnknown: Bool { Value._mayBeUnknown }
  public static func _isUnknown(_ value: RealmStorage.Value) -> Bool { Value._isUnknown(value) }
  public static var _accepted: String { Value?._accepted }
  public func _assign(_ other: RealmOptional) {
    if self === other { return }
    if Value._mayBeUnknown, let unknown = other.unknown {
      cell.unknown = unknown
    } else {
      value = other.value
    }
  }
  public func _stored(_ row: _RowOfObject) -> RealmStorage.Value {
    if Value._mayBeUnknown, let unknown { return unknown }
    return value._stored(row)
  }
  public var _linked: [ObjectBase] { [] }
  public func _becomeManaged(_ object: ObjectBase, _ position: Int) { cell.becomeManaged(object, position) }
}
