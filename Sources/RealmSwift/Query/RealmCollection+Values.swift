import RealmStorage

// Sums, extremes and orders of collections of values, such as `List<Int>` and `Map<String, Double?>`. Sums and extremes work for
// managed and unmanaged collections, orders only for managed ones.

extension RealmCollection where Element.PersistedType: MinMaxType {
  /// The least element, without nil and NaN; nil if there is none. O(n).
  public func min() -> Element? {
    ValueAggregates.extreme(
      Value.minimum(of: ValueAggregates.compared(allStoredValues, Element.self)), as: Element.self)
  }
  /// The greatest element, without nil and NaN; nil if there is none. O(n).
  public func max() -> Element? {
    ValueAggregates.extreme(
      Value.maximum(of: ValueAggregates.compared(allStoredValues, Element.self)), as: Element.self)
  }
}

// These are declared again because the standard library has functions of the same names for comparable elements, which may return
// NaN.
extension RealmCollection where Element: Comparable, Element.PersistedType: MinMaxType {
  /// The least element, without NaN; nil if there is none. O(n).
  public func min() -> Element? {
    ValueAggregates.extreme(
      Value.minimum(of: ValueAggregates.compared(allStoredValues, Element.self)), as: Element.self)
  }
  /// The greatest element, without NaN; nil if there is none. O(n).
  public func max() -> Element? {
    ValueAggregates.extreme(
      Value.maximum(of: ValueAggregates.compared(allStoredValues, Element.self)), as: Element.self)
  }
}

extension RealmCollection where Element.PersistedType: AddableType {
  /// The sum of the elements, without nil and NaN; zero if there are none. O(n).
  ///
  /// - Precondition: a sum of whole numbers fits the type of the elements.
  public func sum() -> Element {
    ValueAggregates.sum(allStoredValues, as: Element.self, of: "\(Self.self)")
  }

  /// The average of the elements, without nil and NaN; nil if there are none. If it is asked for as a whole number, it is rounded
  /// towards zero. O(n).
  public func average<T: _HasPersistedType>() -> T? where T.PersistedType: AddableType {
    ValueAggregates.average(allStoredValues, of: Element.self, as: T.self)
  }
}

extension RealmCollection where Element.PersistedType: SortableType {
  /// The elements, sorted by their values. In ascending order nil comes first, then NaN; texts are ordered by their bytes. Equal
  /// elements keep their order. The results are live.
  ///
  /// - Precondition: the collection is managed.
  public func sorted(ascending: Bool = true) -> Results<Element> {
    Results(managedValues("sorted").adding(.sorted(ascending: ascending)))
  }

  /// The elements, with only the first of those that are equal. Texts are compared by their bytes. The results are live.
  ///
  /// - Precondition: the collection is managed.
  public func distinct() -> Results<Element> { Results(managedValues("made distinct").adding(.distinct)) }

  private func managedValues(_ what: String) -> ValueContent {
    guard let content = (self as? any ValueCollection)?.valueContent else {
      raise(
        "Unmanaged collection",
        "a \(Self.self) that is not in a realm can't be \(what); add its object first, or do it with an array of its elements."
      )
    }
    return content
  }
}

extension RealmCollection {
  fileprivate var allStoredValues: [Value] {
    (self as? any ValueCollection)?.storedValues ?? Array(map { $0._elementValue { _ in nil } })
  }
}

extension RealmKeyedCollection where Value.PersistedType: MinMaxType {
  /// The least value, without nil and NaN; nil if there is none. O(n).
  public func min() -> Value? {
    ValueAggregates.extreme(
      RealmStorage.Value.minimum(of: ValueAggregates.compared(allStoredValues, Value.self)), as: Value.self)
  }
  /// The greatest value, without nil and NaN; nil if there is none. O(n).
  public func max() -> Value? {
    ValueAggregates.extreme(
      RealmStorage.Value.maximum(of: ValueAggregates.compared(allStoredValues, Value.self)), as: Value.self)
  }
}

extension RealmKeyedCollection where Value.PersistedType: AddableType {
  /// The sum of the values, without nil and NaN; zero if there are none. O(n).
  ///
  /// - Precondition: a sum of whole numbers fits the type of the values.
  public func sum() -> Value { ValueAggregates.sum(allStoredValues, as: Value.self, of: "\(Self.self)") }

  /// The average of the values, without nil and NaN; nil if there are none. If it is asked for as a whole number, it is rounded
  /// towards zero. O(n).
  public func average<T: _HasPersistedType>() -> T? where T.PersistedType: AddableType {
    ValueAggregates.average(allStoredValues, of: Value.self, as: T.self)
  }
}

extension RealmKeyedCollection {
  /// The values, sorted. In ascending order nil comes first, then NaN; texts are ordered by their bytes. Equal values are in the
  /// order of their keys. The results are live.
  ///
  /// - Precondition: the map is managed and holds no objects.
  public func sorted(ascending: Bool = true) -> Results<Value> {
    guard let content = (self as? any ValueCollection)?.valueContent else {
      raise(
        "Unmanaged collection",
        "a \(Self.self) that is not in a realm, or holds objects, can't be sorted by its values; add its object first, sort objects by a property, or sort an array."
      )
    }
    return Results(content.adding(.sorted(ascending: ascending)))
  }
}

extension RealmKeyedCollection {
  fileprivate var allStoredValues: [RealmStorage.Value] {
    (self as? any ValueCollection)?.storedValues ?? values.map { $0._elementValue { _ in nil } }
  }
}

/// Aggregates of stored values, in the type of the elements.
private enum ValueAggregates {
  /// The values among which extremes are searched for. Among values of any type, only the numbers are.
  static func compared<T: RealmCollectionValue>(_ values: [Value], _ type: T.Type) -> [Value] {
    guard T._elementType.column == .mixed else { return values }
    return values.filter { value in
      switch value {
      case .int, .float, .double, .decimal128: true
      default: false
      }
    }
  }

  static func extreme<T: RealmCollectionValue>(_ value: Value, as type: T.Type) -> T? {
    if case .null = value { return nil }
    if T._elementType.column == .mixed { return AnyRealmValue.scalar(value) as? T }
    guard let found = Aggregate.result(value, as: type) else { stopUnreadableElement(type, value) }
    return found
  }

  static func sum<T: RealmCollectionValue>(_ values: [Value], as type: T.Type, of name: String) -> T {
    // Among values of any type, the numbers are added up.
    if T._elementType.column == .mixed, let sum = AnyRealmValue.scalar(.sum(ofNumbers: values)) as? T {
      return sum
    }
    let sum = Sum(of: values, type: type._elementType.column)
    guard let result = Aggregate.result(sum, as: type, of: name) else {
      raise("Invalid sum", "the sum of a \(name) is no \(type); let its elements be of a wider type.")
    }
    return result
  }

  static func average<T>(_ values: [Value], of elements: any RealmCollectionValue.Type, as type: T.Type) -> T?
  {
    let column = elements._elementType.column
    let average =
      column == .mixed ? Value.average(ofNumbers: values) : Value.average(of: values, type: column)
    if type is AnyRealmValue.Type { return average == .null ? nil : AnyRealmValue.scalar(average) as? T }
    return Aggregate.result(ofAverage: average, as: type)
  }
}
