import Foundation
import RealmStorage

// Values by the names of properties, for programs that know the names only at run time.

extension ObjectBase {
  /// The value of a property, or nil if it is nil; the object itself for the key `self`. See `subscript(key:)`.
  public final func value(forKey key: String) -> Any? { key == "self" ? self : self[key] }

  /// Sets the value of a property. See `subscript(key:)`.
  public final func setValue(_ value: Any?, forKey key: String) { self[key] = value }

  /// The value that names joined by dots lead to. Behind a collection they lead to an array of values, of which an operator makes
  /// one value: `dogs.@avg.age`, `dogs.@count`.
  ///
  /// The operators are `@count`, `@sum`, `@avg`, `@min`, `@max`, `@unionOfObjects`, `@distinctUnionOfObjects`, `@unionOfArrays`
  /// and `@distinctUnionOfArrays`. A name of no property stops the program, and so does any other operator.
  public final func value(forKeyPath keyPath: String) -> Any? {
    KeyedValues.value(of: self, KeyedValues.keys(keyPath)[...])
  }
}

extension RealmCollection {
  /// The values that the objects have in a property, in their order, with `NSNull` for nil; the elements themselves for the key
  /// `self`. O(n).
  public func value(forKey key: String) -> Any? { KeyedValues.value(of: self, [key]) }

  /// The values that names joined by dots lead to from each object, or the value that an operator makes of them: `@sum.age`,
  /// `@distinctUnionOfObjects.name`. See `ObjectBase.value(forKeyPath:)`. O(n).
  public func value(forKeyPath keyPath: String) -> Any? {
    KeyedValues.value(of: self, KeyedValues.keys(keyPath)[...])
  }
}

extension RealmCollection where Element: ObjectBase {
  /// Sets a property of each object. O(n).
  ///
  /// - Precondition: if the objects are managed, a write transaction is open.
  public func setValue(_ value: Any?, forKey key: String) {
    // The objects are taken before the change, because the change may put other objects into the collection.
    for object in Array(self) { object[key] = value }
  }
}

/// Values by keys, as key-value coding finds them.
private enum KeyedValues {
  static func keys(_ path: String) -> [String] {
    path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
  }

  static func value(of any: Any?, _ keys: ArraySlice<String>) -> Any? {
    guard let any, !isNull(any), let key = keys.first else { return any }
    if let object = any as? ObjectBase {
      return value(of: key == "self" ? object : object[key], keys.dropFirst())
    }
    if let entries = any as? any RealmKeyedCollection { return value(of: entries, keys) }
    guard let elements = any as? any Sequence, !(any is String), !(any is Data) else {
      if key == "self" { return value(of: any, keys.dropFirst()) }
      raise("Unknown property", "a \(type(of: any)) has no property \(key).")
    }
    if key.hasPrefix("@") { return result(key, of: array(elements), keys.dropFirst()) }
    return array(elements).map { value(of: $0, keys) ?? NSNull() }
  }

  private static func value<Entries: RealmKeyedCollection>(
    of entries: Entries, _ keys: ArraySlice<String>
  ) -> Any? {
    guard let key = keys.first else { return entries }
    switch key {
    case "@allKeys": return entries.keys.map(\._mapKey)
    case "@allValues": return value(of: entries.values.map { $0 as Any }, keys.dropFirst())
    default:
      if key.hasPrefix("@") { return value(of: entries.values.map { $0 as Any }, keys) }
      return value(of: entries[Entries.Key(_mapKey: key)] as Any?, keys.dropFirst())
    }
  }

  private static func array(_ elements: any Sequence) -> [Any] {
    func all<Elements: Sequence>(_ elements: Elements) -> [Any] { elements.map { $0 as Any } }
    return all(elements)
  }

  private static func result(_ name: String, of elements: [Any], _ keys: ArraySlice<String>) -> Any? {
    if name == "@count" { return elements.count }
    let found = elements.map { keys.isEmpty ? $0 : value(of: $0, keys) ?? NSNull() }
    let values = found.filter { !isNull($0) }
    switch name {
    case "@unionOfObjects": return values
    case "@distinctUnionOfObjects": return distinct(values)
    case "@unionOfArrays": return values.flatMap { inner($0) }
    case "@distinctUnionOfArrays": return distinct(values.flatMap { inner($0) })
    case "@min": return extreme(values, isGreatest: false)
    case "@max": return extreme(values, isGreatest: true)
    case "@sum", "@avg": return total(values, isAverage: name == "@avg")
    default:
      raise(
        "Unknown operator",
        "\(name) is no operator of key paths; there are @count, @sum, @avg, @min, @max, @unionOfObjects, "
          + "@distinctUnionOfObjects, @unionOfArrays and @distinctUnionOfArrays.")
    }
  }

  private static func inner(_ any: Any) -> [Any] { (any as? any Sequence).map { array($0) } ?? [any] }

  /// The stored form of a value that is no object.
  private static func stored(_ any: Any) -> Value? {
    AnyRealmValue._converted(any).map { $0._stored { _ in nil } }
  }

  private static func distinct(_ values: [Any]) -> [Any] {
    var (met, objects): (Set<SetElement>, Set<ObjectBase>) = ([], [])
    return values.filter { value in
      if let object = value as? ObjectBase { return objects.insert(object).inserted }
      guard let stored = stored(value) else { return true }
      return met.insert(SetElement(stored)).inserted
    }
  }

  private static func extreme(_ values: [Any], isGreatest: Bool) -> Any? {
    let pairs = values.compactMap { value in stored(value).map { (value, $0) } }
    let found =
      isGreatest ? Value.maximum(of: pairs.map { $0.1 }) : Value.minimum(of: pairs.map { $0.1 })
    return pairs.first { $0.1 == found }?.0
  }

  private static func total(_ values: [Any], isAverage: Bool) -> Any? {
    let numbers = values.compactMap { stored($0) }
    switch isAverage ? Value.average(ofNumbers: numbers) : Value.sum(ofNumbers: numbers) {
    case .int(let number): return Int(number)
    case .double(let number): return number
    case .decimal128(let number): return Decimal128(DecimalNumber(number))
    default: return nil
    }
  }
}
