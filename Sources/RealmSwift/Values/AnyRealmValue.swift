public import Foundation
public import RealmStorage

/// A value of any type that a property can have, or no value.
///
///     @Persisted var answer: AnyRealmValue
///     person.answer = .string("yes")
///     person.answer = .fromArray([.int(1), .fromDictionary(["unit": .string("m")])])
///
/// Lists and dictionaries can contain each other, up to 100 levels deep; a deeper value stops the program when it is stored.
/// A list or dictionary of a managed object is changed in place, in a write transaction:
/// `person.answer.listValue?.append(.int(2))`. Setting a property to a list copies the list.
public enum AnyRealmValue {
  /// No value.
  case none
  /// A whole number of 64 bits.
  case int(Int)
  /// A truth value.
  case bool(Bool)
  /// A floating-point number of 32 bits.
  case float(Float)
  /// A floating-point number of 64 bits.
  case double(Double)
  /// A text.
  case string(String)
  /// Bytes.
  case data(Data)
  /// A moment, to the nanosecond.
  case date(Date)
  /// A link to an object of any class of the realm. A link to an object whose class is not among the classes of the realm is
  /// read as a `DynamicObject` of its table. A link to a table that is not there is read as `none`; it stays stored until
  /// another value is written in its place.
  case object(Object)
  /// An `ObjectId`, of 12 bytes.
  case objectId(ObjectId)
  /// A decimal number of 34 digits.
  case decimal128(Decimal128)
  /// A UUID, of 16 bytes.
  case uuid(UUID)
  /// Values by keys. A key contains no `.` and does not begin with `$`.
  case dictionary(Map<String, AnyRealmValue>)
  /// Values in order.
  case list(List<AnyRealmValue>)

  /// Makes a value that is `none`.
  public init() { self = .none }

  /// Makes an unmanaged dictionary of values.
  ///
  /// - Parameter dictionary: the values by key. A key that contains a `.` or begins with `$` stops the program; see
  ///   `Map.insert(_:forKey:)` for keys that come from data.
  public static func fromDictionary(_ dictionary: [String: AnyRealmValue]) -> AnyRealmValue {
    let map = Map<String, AnyRealmValue>()
    for (key, value) in dictionary { map.updateValue(value, forKey: key) }
    return .dictionary(map)
  }

  /// Makes an unmanaged list of values, in the order of the array.
  public static func fromArray(_ array: [AnyRealmValue]) -> AnyRealmValue {
    let list = List<AnyRealmValue>()
    list.append(objectsIn: array)
    return .list(list)
  }

  // MARK: - What it is

  /// The number; nil if the value is not an `int`.
  public var intValue: Int? { if case .int(let number) = self { number } else { nil } }
  /// The truth value; nil if the value is not a `bool`.
  public var boolValue: Bool? { if case .bool(let flag) = self { flag } else { nil } }
  /// The number; nil if the value is not a `float`.
  public var floatValue: Float? { if case .float(let number) = self { number } else { nil } }
  /// The number; nil if the value is not a `double`.
  public var doubleValue: Double? { if case .double(let number) = self { number } else { nil } }
  /// The text; nil if the value is not a `string`.
  public var stringValue: String? { if case .string(let text) = self { text } else { nil } }
  /// The bytes; nil if the value is not a `data`.
  public var dataValue: Data? { if case .data(let data) = self { data } else { nil } }
  /// The moment; nil if the value is not a `date`.
  public var dateValue: Date? { if case .date(let date) = self { date } else { nil } }
  /// The id; nil if the value is not an `objectId`.
  public var objectIdValue: ObjectId? { if case .objectId(let id) = self { id } else { nil } }
  /// The number; nil if the value is not a `decimal128`.
  public var decimal128Value: Decimal128? { if case .decimal128(let number) = self { number } else { nil } }
  /// The UUID; nil if the value is not a `uuid`.
  public var uuidValue: UUID? { if case .uuid(let id) = self { id } else { nil } }
  /// The dictionary; nil if the value is not a `dictionary`. The dictionary of a managed object is changed in place.
  public var dictionaryValue: Map<String, AnyRealmValue>? {
    if case .dictionary(let map) = self { map } else { nil }
  }
  /// The list; nil if the value is not a `list`. The list of a managed object is changed in place.
  public var listValue: List<AnyRealmValue>? { if case .list(let list) = self { list } else { nil } }

  /// The object; nil if the value is not an object of that class.
  public func object<T: Object>(_ objectType: T.Type) -> T? {
    if case .object(let object) = self { object as? T } else { nil }
  }

  /// The held value; nil for `none`.
  var content: Any? {
    switch self {
    case .none: nil
    case .int(let number): number
    case .bool(let flag): flag
    case .float(let number): number
    case .double(let number): number
    case .string(let text): text
    case .data(let data): data
    case .date(let date): date
    case .object(let object): object
    case .objectId(let id): id
    case .decimal128(let number): number
    case .uuid(let id): id
    case .dictionary(let map): map
    case .list(let list): list
    }
  }
}

extension AnyRealmValue: Hashable {
  /// Whether both hold the same value.
  ///
  /// Numbers are equal if their values are, whatever their types: `int(1)`, `float(1)`, `double(1)` and the decimal 1.00 are
  /// equal. All NaN are equal. A double equals the decimal that its shortest text names, so 0.1 equals a tenth, and a float
  /// equals the double of the same value. Truth values are not numbers. Texts are equal if their bytes are. Objects are equal
  /// by their `==`. Lists and dictionaries of a realm are equal if they are the same collection; unmanaged ones are equal if
  /// they hold equal values.
  public static func == (left: AnyRealmValue, right: AnyRealmValue) -> Bool {
    switch (left, right) {
    case (.object(let left), .object(let right)): left == right
    case (.dictionary(let left), .dictionary(let right)): left == right
    case (.list(let left), .list(let right)): left == right
    default: left.simple.map { SetElement($0) == right.simple.map { SetElement($0) } } ?? false
    }
  }

  /// Adds the value to the hasher; equal values have equal hashes. All lists and dictionaries have the same hash.
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .object(let object): hasher.combine(object)
    // A collection is not hashed by its content, which changes.
    default: hasher.combine(SetElement(simple ?? .null))
    }
  }

  /// The stored form; nil for objects, lists and dictionaries.
  private var simple: Value? {
    switch self {
    case .object, .list, .dictionary: nil
    default: value { _ in nil }
    }
  }
}

@available(*, unavailable)
extension AnyRealmValue: Sendable {}

// MARK: - Storing

extension AnyRealmValue {
  /// The largest number of lists and dictionaries that contain each other.
  private static let mostLevels = Value.mostLevels

  /// The form in which the value is stored.
  ///
  /// - Parameters:
  ///   - row: gives the rows of linked objects.
  ///   - levels: how many further lists and dictionaries may contain each other.
  private func value(_ row: _RowOfObject, levels: Int = mostLevels) -> Value {
    switch self {
    case .none: return .null
    case .int(let number): return number._value
    case .bool(let flag): return flag._value
    case .float(let number): return number._value
    case .double(let number): return number._value
    case .string(let text): return text._value
    case .data(let data): return data._value
    case .date(let date): return date._value
    case .objectId(let id): return id._value
    case .decimal128(let number): return number._value
    case .uuid(let id): return id._value
    case .object(let object):
      // The row is asked for first because that adds the object to the realm.
      guard let row = row(object), let table = object.context?.binding.table?.id else { return .null }
      return .typedLink(table: table, row: row)
    case .list(let list):
      Self.check(levels)
      return .list(list.map { $0.value(row, levels: levels - 1) })
    case .dictionary(let map):
      Self.check(levels)
      return .map(
        ValueMap(entries: map.asKeyValueSequence().map { ($0.key, $0.value.value(row, levels: levels - 1)) }))
    }
  }

  private static func check(_ levels: Int) {
    guard levels == 0 else { return }
    raise(
      "Invalid value",
      "an AnyRealmValue holds lists and dictionaries that stand in each other more than \(mostLevels) deep; "
        + "store an object for the inner ones.")
  }

  private func links(levels: Int = mostLevels) -> [ObjectBase] {
    switch self {
    case .object(let object): return [object]
    case .list(let list):
      Self.check(levels)
      return list.realm == nil ? list.flatMap { $0.links(levels: levels - 1) } : []
    case .dictionary(let map):
      Self.check(levels)
      return map.realm == nil ? map.values.flatMap { $0.links(levels: levels - 1) } : []
    default: return []
    }
  }

  /// The value of a stored one; nil for a link, a list and a map.
  static func scalar(_ value: Value) -> AnyRealmValue? {
    switch value {
    case .null: AnyRealmValue.none
    case .bool(let flag): .bool(flag)
    case .int(let number): .int(Int(number))
    case .float(let number): .float(number)
    case .double(let number): .double(number)
    case .string(let text): .string(text)
    case .data(let bytes): .data(Data(bytes))
    case .date: Date._load(value).map { .date($0) }
    case .objectID: ObjectId._load(value).map { .objectId($0) }
    case .uuid: UUID._load(value).map { .uuid($0) }
    case .decimal128: Decimal128._load(value).map { .decimal128($0) }
    case .link, .typedLink, .list, .map: nil
    }
  }

  /// Makes a value of a stored one.
  ///
  /// - Parameters:
  ///   - cell: makes the cell of the value if it is a list or a dictionary.
  ///   - birth: the generation of the session in which the value was there.
  fileprivate init(
    _ value: Value, _ session: RealmSession, birth: UInt64, in cell: () -> _CollectionCell
  ) {
    if let scalar = Self.scalar(value) {
      self = scalar
      return
    }
    switch value {
    case .typedLink(let table, let row):
      self = Self.object(table, row, session, birth).map { .object($0) } ?? AnyRealmValue.none
    case .link: stopUnreadableElement(Self.self, value)
    case .list: self = .list(List(cell()))
    case .map: self = .dictionary(Map(cell()))
    default: self = .none
    }
  }

  private static func object(
    _ table: UInt32, _ row: UInt64, _ session: RealmSession, _ birth: UInt64
  ) -> Object? {
    if let binding = session.schema.binding(table: table) {
      return session.context(binding).object(row, birth: birth) as? Object
    }
    // Another device, or another version of the program, may have classes that this program does not know.
    guard let context = session.tableContext(table), !context.binding.model.isEmbedded else { return nil }
    return context.object(row, birth: birth) as? Object
  }
}

extension AnyRealmValue: _Persistable, _QueryNumeric, MinMaxType, AddableType, SortableType {
  public typealias PersistedType = AnyRealmValue

  public static var _type: _PropertyType { _PropertyType(.mixed, isOptional: true) }
  public static func _initial() -> AnyRealmValue { .none }
  public static var _keepsObjects: Bool { true }
  public static func _placeholder(of recorder: ObjectBase, _ position: Int) -> AnyRealmValue { .none }
  public static func _read(_ object: ObjectBase, _ position: Int) -> AnyRealmValue {
    let value = object.stored(position)
    guard let owner = object.managedRow else { return .none }
    return AnyRealmValue(value, owner.session, birth: owner.session.generation) {
      _CollectionCell(owner, position: position, holding: value)
    }
  }
  public static func _write(_ value: AnyRealmValue, _ object: ObjectBase, _ position: Int) {
    object.store(value.value(object.addingRow(position)), position)
  }
  public func _stored(_ row: _RowOfObject) -> Value { value(row) }
  public var _plainValue: Any? { content }
  public var _linked: [ObjectBase] { links() }

  /// Converts a value that was given as `Any`; nil if that is not possible. Nil becomes `none`; arrays and dictionaries
  /// become lists and dictionaries; numbers, texts, bytes, dates, ids and objects are kept.
  public static func _converted(_ any: Any) -> AnyRealmValue? {
    if isNull(any) { return AnyRealmValue.none }
    switch any {
    case let value as AnyRealmValue: return value
    case let number as NSNumber where type(of: any) is NSNumber.Type: return converted(number)
    case let flag as Bool: return .bool(flag)
    case let number as any FixedWidthInteger: return Int._converted(number).map { .int($0) }
    case let number as Float: return .float(number)
    case let number as Double: return .double(number)
    case let text as String: return .string(text)
    case let data as Data: return .data(data)
    case let date as Date: return .date(date)
    case let object as Object: return .object(object)
    case let id as ObjectId: return .objectId(id)
    case let number as Decimal128: return .decimal128(number)
    case let id as UUID: return .uuid(id)
    case let list as List<AnyRealmValue>: return .list(list)
    case let map as Map<String, AnyRealmValue>: return .dictionary(map)
    case let values as [String: Any]:
      return Map<String, AnyRealmValue>._converted(values).map { .dictionary($0) }
    case let values as [Any]: return List<AnyRealmValue>._converted(values).map { .list($0) }
    default: return (any as? any _CustomPersistable)?.converted
    }
  }

  private static func converted(_ number: NSNumber) -> AnyRealmValue {
    switch String(cString: number.objCType) {
    case "f": .float(number.floatValue)
    case "d": .double(number.doubleValue)
    default: isTruthValue(number) ? .bool(number.boolValue) : .int(number.intValue)
    }
  }
}

extension _CustomPersistable {
  fileprivate var converted: AnyRealmValue? { AnyRealmValue._converted(persistableValue) }
}

extension AnyRealmValue: RealmCollectionValue {
  public static var _elementType: _PropertyType { _type }
  public static func _element(_ value: Value, in cell: _CollectionCell, at step: NestedPlace.Step)
    -> AnyRealmValue
  {
    AnyRealmValue(value, cell.owner.session, birth: cell.elementBirth) { cell.inner(at: step, value) }
  }
  public func _elementValue(_ row: _RowOfObject) -> Value { value(row) }
  public static func _convertedElement(_ any: Any) -> AnyRealmValue? { _converted(any) }
  public static var _canLink: Bool { true }
  public var _elementLinks: [ObjectBase] { links() }
}
