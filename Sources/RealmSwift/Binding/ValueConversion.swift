import Foundation
import RealmStorage

/// Converts the values of one column to the type of another. A value that would lose something becomes zero, or null if the
/// new column is optional.
///
/// A number converts to a number type that can represent it, to a text, and from a text that consists of a number. A truth
/// value converts to and from 0 and 1, and `true` and `false`. Data converts to a text if it is valid UTF-8, and a text to
/// its bytes. Ids convert to and from their texts. A value of any type converts as the value it holds. A link is kept if it
/// leads to the same class, and becomes a value of any type. A single value becomes a list or set of one element, and back; a
/// list becomes a set, and back.
struct ValueConversion {
  let old: Column
  let new: Column
  /// The value that replaces one which can't be converted, if the new column is not optional.
  let zero: Value
  /// Whether the old links lead to embedded objects, which can't be values of any type.
  var linksToParts = false
  /// Whether the program has no value for a stored value. Such a value counts as lost.
  var isUnknown: (Value) -> Bool = { _ in false }

  func callAsFunction(_ value: Value) -> Value {
    switch (new.collection, value) {
    case (.none, _): readable(one(single(value)))
    case (.map, _) where linksToParts && new.type == .mixed: .map(ValueMap(entries: []))
    case (.map, .map(let map, _)) where old.collection == .map:
      .map(ValueMap(entries: zip(map.keys, map.values).map { ($0, one($1)) }))
    case (.map, _): .map(ValueMap(entries: []))
    case (.list, _): .list(elements(value))
    // A set holds no lists and no dictionaries.
    case (.set, _): Value.set(elements(value).filter { $0.elements == nil })
    }
  }

  private func readable(_ value: Value) -> Value {
    isUnknown(value) ? (new.isOptional ? .null : zero) : value
  }

  /// The only element of a collection that has exactly one; null for other collections. A single value is itself.
  private func single(_ value: Value) -> Value {
    guard old.collection != .none else { return value }
    guard old.collection != .map, let elements = value.elements, elements.count == 1 else { return .null }
    return elements[0]
  }

  private func elements(_ value: Value) -> [Value] {
    let found: [Value] =
      switch old.collection {
      case .none: value == .null ? [] : [value]
      case .list, .set: value.elements ?? []
      case .map: []
      }
    if linksToParts, new.type == .mixed { return [] }
    // A list of links holds no null, and a single value that can't be converted becomes no element.
    guard new.type == .link || old.collection == .none else { return found.map(one) }
    return found.compactMap {
      converted($0) ?? (old.collection == .none || new.type == .link ? nil : one($0))
    }
  }

  private func one(_ value: Value) -> Value { converted(value) ?? (new.isOptional ? .null : zero) }

  /// The converted value; nil for null, and for a value that can't be converted.
  private func converted(_ value: Value) -> Value? {
    if case .null = value { return nil }
    if case .typedLink(let table, let row) = value, new.type == .link {
      return table == new.target ? .link(row) : nil
    }
    if case .link(let row) = value {
      return switch new.type {
      case .mixed: linksToParts ? nil : .typedLink(table: old.target, row: row)
      case .link where old.target == new.target: value
      default: nil
      }
    }
    return value.converted(to: new.type)
  }
}

extension Value {
  /// The value in another type; nil if something would be lost.
  fileprivate func converted(to type: ColumnType) -> Value? {
    switch type {
    case .mixed: self
    case .string: asText.map { .string($0) }
    case .bool: asBool.map { .bool($0) }
    case .int64: asInt.map { .int($0) }
    case .float: asFloat.map { .float($0) }
    case .double: asDouble.map { .double($0) }
    case .decimal128: asDecimal
    case .data: asData.map { .data($0) }
    case .objectID: asObjectId
    case .uuid: asUUID
    case .date: if case .date = self { self } else { nil }
    case .link: nil
    }
  }

  private var asText: String? {
    switch self {
    case .string(let text): text
    case .int(let number): String(number)
    case .bool(let flag): flag ? "true" : "false"
    case .float(let number): number.description
    case .double(let number): number.description
    case .decimal128: Decimal128._load(self)?.stringValue
    case .data(let bytes): String(validating: bytes, as: UTF8.self)
    case .objectID: ObjectId._load(self)?.stringValue
    case .uuid: UUID._load(self)?.uuidString
    default: nil
    }
  }

  private var asBool: Bool? {
    switch self {
    case .bool(let flag): flag
    case .string("true"): true
    case .string("false"): false
    default:
      switch asInt {
      case 0: false
      case 1: true
      default: nil
      }
    }
  }

  private var asInt: Int64? {
    switch self {
    case .int(let number): number
    case .bool(let flag): flag ? 1 : 0
    case .float(let number): Int64(exactly: number)
    case .double(let number): Int64(exactly: number)
    case .string(let text): Int64(text)
    case .decimal128:
      Decimal128._load(self).flatMap { decimal in
        let whole = Int64(decimal.stringValue) ?? Int64(exactly: decimal.doubleValue)
        return whole.flatMap { Decimal128(exactly: $0) == decimal ? $0 : nil }
      }
    default: nil
    }
  }

  private var asDouble: Double? {
    switch self {
    case .double(let number): number
    case .float(let number): Double(number)
    case .int(let number): Double(exactly: number)
    case .bool(let flag): flag ? 1 : 0
    case .string(let text): Self.number(text)
    case .decimal128:
      Decimal128._load(self).flatMap { decimal in
        let number = decimal.doubleValue
        return Decimal128(number: NSNumber(value: number)) == decimal || decimal.isNaN ? number : nil
      }
    default: nil
    }
  }

  /// The number that a text names. A whole number must be exact; a number with a fraction becomes the nearest double.
  private static func number(_ text: String) -> Double? {
    if let whole = Int64(text) { return Double(exactly: whole) }
    return Double(text).flatMap { isMeant($0.isInfinite, text) ? $0 : nil }
  }

  /// Whether an infinite result was meant. A number that is too large for its type also reads as infinity.
  private static func isMeant(_ isInfinite: Bool, _ text: String) -> Bool {
    !isInfinite || text.lowercased().contains("inf")
  }

  private var asFloat: Float? {
    switch self {
    case .float(let number): number
    case .string(let text):
      if let whole = Int64(text) {
        Float(exactly: whole)
      } else {
        Float(text).flatMap { Self.isMeant($0.isInfinite, text) ? $0 : nil }
      }
    default: asDouble.flatMap { $0.isNaN ? .nan : Float(exactly: $0) }
    }
  }

  private var asDecimal: Value? {
    switch self {
    case .decimal128: self
    case .int(let number): Decimal128(exactly: number)?._value
    case .bool(let flag): Decimal128(exactly: flag ? 1 : 0)?._value
    case .float(let number): Decimal128(number: NSNumber(value: number))._value
    case .double(let number): Decimal128(number: NSNumber(value: number))._value
    case .string(let text): (try? Decimal128(string: text))?._value
    default: nil
    }
  }

  private var asData: [UInt8]? {
    switch self {
    case .data(let bytes): bytes
    case .string(let text): Array(text.utf8)
    default: nil
    }
  }

  private var asObjectId: Value? {
    switch self {
    case .objectID: self
    case .string(let text): (try? ObjectId(string: text))?._value
    default: nil
    }
  }

  private var asUUID: Value? {
    switch self {
    case .uuid: self
    case .string(let text): UUID(uuidString: text)?._value
    default: nil
    }
  }
}
