import Foundation
public import RealmStorage

// A stored value may have no value in the program: a raw value whose case only another version has, or a text that a custom
// type refuses. Such a value is kept. It is copied, printed and encoded as it is stored; only reading it as the program's
// type stops the program.

extension _HasPersistedType {
  public static var _mayBeUnknown: Bool { false }
  public static func _isUnknown(_ value: Value) -> Bool { false }
  public static func _unknown(of any: Any) -> Value? { nil }
  public static var _accepted: String { "a value of that type, or one that converts to it" }
}

extension PersistableEnum {
  public static var _mayBeUnknown: Bool { true }
  public static func _isUnknown(_ value: Value) -> Bool { value != .null && _load(value) == nil }
  public static func _unknown(of any: Any) -> Value? {
    guard let value = RawValue._converted(any)?._value, _isUnknown(value) else { return nil }
    return value
  }
  public static var _accepted: String {
    let cases = allCases.map { "\($0.rawValue)" }
    let most = 12
    return "a \(Self.self), or one of its raw values: " + cases.prefix(most).joined(separator: ", ")
      + (cases.count > most ? ", ..." : "")
  }
}

extension _CustomPersistable {
  public static var _mayBeUnknown: Bool { true }
  public static func _isUnknown(_ value: Value) -> Bool { value != .null && _load(value) == nil }
  public static var _accepted: String {
    "a \(Self.self), or a \(PersistedType.self) of which one can be made"
  }
}

extension _CustomPersistable where PersistedType: _Scalar {
  public static func _unknown(of any: Any) -> Value? {
    guard let value = PersistedType._converted(any)?._value, _isUnknown(value) else { return nil }
    return value
  }
}

extension Optional where Wrapped: _HasPersistedType {
  public static var _mayBeUnknown: Bool { Wrapped._mayBeUnknown }
  public static func _isUnknown(_ value: Value) -> Bool { Wrapped._isUnknown(value) }
  public static func _unknown(of any: Any) -> Value? { Wrapped._unknown(of: any) }
  public static var _accepted: String { Wrapped._accepted + "; or nil" }
}

extension List {
  public static var _accepted: String { "elements that are each " + Element._accepted }
}
extension MutableSet {
  public static var _accepted: String { "elements that are each " + Element._accepted }
}
extension Map {
  public static var _accepted: String { "a dictionary whose values are each " + Value._accepted }
}

extension ObjectBase {
  /// The stored value that an unmanaged object has kept of the object that it copies.
  final func unknownValue(_ position: Int) -> Value {
    context == nil ? unknownValues?.values[position] ?? .null : stored(position)
  }

  final func keep(unknown value: Value, _ position: Int) {
    let kept = unknownValues ?? UnknownValues()
    kept.values[position] = value
    unknownValues = kept
  }

  /// The value that the class declares for a required property of a synced file, if no program has set the property.
  /// The property then holds null if another program has made it optional, or the zero of its type if a version of the
  /// program without the property has made the object. The answer is nil in all other cases, because a program has set
  /// what is stored. A zero that a program has set can't be told from a zero that no program has set.
  final func declaredValue(_ position: Int, inPlaceOf value: Value, zero: Value) -> Value? {
    guard value == .null || value == zero, let context, context.session.file.isSynced else { return nil }
    let model = ownModel
    return model.properties[position].declaredValue(of: model)
  }

  /// Stops the program because it reads a stored value as a type that has no value for it.
  final func stopUnreadable(_ position: Int, _ value: Value) -> Never {
    let model = ownModel
    let property = model.properties[position]
    // A key path is read with a value of the property, and the type may have none that could be used.
    let hasValue = (property.field.valueType as? any _CustomPersistable.Type)?.hasInitial ?? true
    raise(
      "Unreadable value",
      "\(model.name).\(property.name) holds \(value.quoted), which is no \(property.field.valueType): a program with other "
        + "types or cases wrote it. Read it by object[\"\(property.name)\"]"
        + (hasValue ? " or persistedValue(of: \\.\(property.name))" : "") + ", or set it.")
  }
}

/// The stored values of an unmanaged object for which the program has no values, by the position of the property.
final class UnknownValues {
  var values: [Int: Value] = [:]
}

/// A property of a class without `@Persisted` that may hold a stored value for which the program has none.
protocol KeepsUnknown {
  var unknown: Value? { get }
  func set(unknown value: Value)
}

/// A collection that may hold stored elements for which the program has no values.
protocol MayHoldUnknown {
  /// The stored element at an index if the program has no value for it; nil otherwise.
  func unknownElement(at index: Int) -> Value?
  /// All elements in stored form if the program has no value for one of them; nil otherwise.
  var storedUnknown: [Value]? { get }
}

extension Slice: MayHoldUnknown where Base: RealmCollection {
  func unknownElement(at index: Int) -> Value? { (base as? any MayHoldUnknown)?.unknownElement(at: index) }
  var storedUnknown: [Value]? {
    guard let values = (base as? any MayHoldUnknown)?.storedUnknown.map({ $0[startIndex..<endIndex] }),
      values.contains(where: { Base.Element._isUnknown($0) })
    else { return nil }
    return Array(values)
  }
}

extension ReversedCollection: MayHoldUnknown where Base: RealmCollection {
  func unknownElement(at index: Int) -> Value? {
    (_base as? any MayHoldUnknown)?.unknownElement(at: _base.count - 1 - index)
  }
  var storedUnknown: [Value]? { (_base as? any MayHoldUnknown)?.storedUnknown.map { $0.reversed() } }
}

/// `reversed()` and `lazy` of a collection return such a sequence.
extension LazySequence: MayHoldUnknown where Base: Collection {
  func unknownElement(at index: Int) -> Value? {
    (elements as? any MayHoldUnknown)?.unknownElement(at: index)
  }
  var storedUnknown: [Value]? { (elements as? any MayHoldUnknown)?.storedUnknown }
}

/// A stored value of a map for which the program has none.
struct UnknownElement {
  let value: Value
}

extension _CollectionCell {
  /// Stops the program because it reads an element as a type that has no value for it.
  func stopUnreadable(_ value: Value, _ type: Any.Type, at step: NestedPlace.Step? = nil) -> Never {
    let model = owner.context.binding.model
    let place =
      switch step {
      case .position(let index): "[\(index)]"
      case .key(let key): "[\"\(key)\"]"
      case nil: ""
      }
    raise(
      "Unreadable value",
      "\(model.name).\(model.properties[position].name)\(place) holds \(value.quoted), which is no \(type): a program with "
        + "other types or cases wrote it. \(unreadableRemedy(type))")
  }
}

/// Stops the program because an element of a collection has no value of the element's type.
func stopUnreadableElement(_ type: Any.Type, _ value: Value) -> Never {
  raise(
    "Unreadable value",
    "an element is \(value.quoted), which is no \(type): a program with other types or cases wrote it. "
      + unreadableRemedy(type))
}

private func unreadableRemedy(_ type: Any.Type) -> String {
  type is any _IntegerScalar.Type
    ? "Give the property a wider type, or set it." : "Read what is stored by persistedValues, or set it."
}

// MARK: - Reading what is stored

extension _ObjectWithCounters {
  /// The stored value of a property whose type is stored as another type: the raw value of an enumeration, or the value from
  /// which a custom type is made. It can be read even if the program has no value for it, for example if another version of
  /// the enumeration has more cases.
  ///
  ///     animal.persistedValue(of: \.kind)    // "lynx", though Kind has no such case
  ///
  /// If null is stored, the answer is the default of `PersistedType`.
  ///
  /// - Parameter keyPath: a property of the object itself. A key path through another object stops the program.
  public func persistedValue<Property: _Scalar>(of keyPath: KeyPath<Self, Property>) -> Property.PersistedType
  where Property.PersistedType: _Scalar {
    let (value, position) = storedValue(PropertyRecorder.names(keyPath)) { self[keyPath: keyPath]._value }
    return Property.PersistedType._persisted(value) {
      stopUnpersisted(position, $0, Property.PersistedType.self)
    }
  }

  /// The stored value of an optional property whose type is stored as another type; nil if null is stored. It can be read
  /// even if the program has no value for it.
  ///
  /// - Parameter keyPath: a property of the object itself. A key path through another object stops the program.
  public func persistedValue<Property: _Scalar>(of keyPath: KeyPath<Self, Property?>) -> Property
    .PersistedType?
  where Property.PersistedType: _Scalar {
    let (value, position) = storedValue(PropertyRecorder.names(keyPath)) {
      self[keyPath: keyPath]?._value ?? .null
    }
    if value == .null { return nil }
    return Property.PersistedType._persisted(value) {
      stopUnpersisted(position, $0, Property.PersistedType.self)
    }
  }
}

extension ObjectBase {
  fileprivate func stopUnpersisted(_ position: Int, _ value: Value, _ type: Any.Type) -> Never {
    if let number = type as? any _IntegerScalar.Type { stopTooNarrow(position, value, number) }
    stopUnreadable(position, value)
  }

  fileprivate func storedValue(_ names: [String], readable: () -> Value) -> (Value, position: Int) {
    let model = ownModel
    guard names.count == 1, let position = model.position(of: names[0]) else {
      raise("Invalid key path", "\(names.joined(separator: ".")) is no property of the object itself.")
    }
    let property = model.properties[position]
    return (
      property.field.unknown(self, at: property.offset, position: position) ?? readable(), position
    )
  }
}

extension RealmCollection where Element: _Scalar, Element.PersistedType: _Scalar {
  /// The stored values of the elements: the raw values of an enumeration, or the values from which a custom type is made.
  /// They can be read even if the program has no value for them. O(n).
  public var persistedValues: [Element.PersistedType] {
    storedValues { $0._value }.map { Element.PersistedType._persisted($0) }
  }
}

extension RealmCollection
where Element: OptionalProtocol, Element.Wrapped: _Scalar, Element.Wrapped.PersistedType: _Scalar {
  /// The stored values of optional elements; nil for null. They can be read even if the program has no value for them. O(n).
  public var persistedValues: [Element.Wrapped.PersistedType?] {
    storedValues { ($0 as? Element.Wrapped)?._value ?? .null }.map {
      $0 == .null ? nil : Element.Wrapped.PersistedType._persisted($0)
    }
  }
}

extension _Scalar {
  /// The stored value as a value of this type; for null it is the type's default. A number that is too large for a narrow
  /// type stops the program.
  fileprivate static func _persisted(
    _ value: Value, orStop stop: (Value) -> Never = { stopUnreadableElement(Self.self, $0) }
  ) -> Self {
    if value == .null { return _initial() }
    guard let loaded = _load(value) else { stop(value) }
    return loaded
  }
}

extension RealmCollection {
  private func storedValues(_ value: (Element) -> Value) -> [Value] {
    let unknown = self as? any MayHoldUnknown
    return indices.map { unknown?.unknownElement(at: $0) ?? value(self[$0]) }
  }
}

extension Map where Value: _Scalar, Value.PersistedType: _Scalar {
  /// The stored values with their keys: the raw values of an enumeration, or the values from which a custom type is made.
  /// They can be read even if the program has no value for them. The entries are in the order of their keys. They are not a
  /// dictionary, because texts that are canonically equivalent would be one key there. O(n).
  public var persistedValues: [(key: Key, value: Value.PersistedType)] {
    storedEntries { $0._value }.map { (Key(_mapKey: $0), Value.PersistedType._persisted($1)) }
  }
}

extension Map
where Value: OptionalProtocol, Value.Wrapped: _Scalar, Value.Wrapped.PersistedType: _Scalar {
  /// The stored values of optional values with their keys; nil for null. They can be read even if the program has no value
  /// for them. O(n).
  public var persistedValues: [(key: Key, value: Value.Wrapped.PersistedType?)] {
    storedEntries { ($0 as? Value.Wrapped)?._value ?? .null }.map {
      (Key(_mapKey: $0), $1 == .null ? nil : Value.Wrapped.PersistedType._persisted($1))
    }
  }
}

extension Map {
  private func storedEntries(_ value: (Value) -> RealmStorage.Value) -> [(String, RealmStorage.Value)] {
    anyEntries.map { key, any in
      if let unknown = any as? UnknownElement { return (key, unknown.value) }
      return (key, (any as? Value).map(value) ?? .null)
    }
  }
}

// MARK: - As it is stored

extension Value {
  /// The value as the Swift type whose stored form it is; nil for null, links and collections.
  var plain: Any? {
    switch self {
    case .null, .link, .typedLink, .list, .map: nil
    case .bool(let flag): flag
    case .int(let number): Int(number)
    case .float(let number): number
    case .double(let number): number
    case .string(let text): text
    case .data(let bytes): Data(bytes)
    case .date: Date._load(self)
    case .objectID: ObjectId._load(self)
    case .uuid: UUID._load(self)
    case .decimal128: Decimal128._load(self)
    }
  }

  /// The text of the value as a message quotes it.
  var quoted: String {
    switch plain {
    case let text as String: "'\(ObjectDescription.quoted(text))'"
    case let value?: ObjectDescription.quoted(value)
    case nil: "nil"
    }
  }

  func encodePlain(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    if let value = plain as? any Encodable { try container.encode(value) } else { try container.encodeNil() }
  }
}
