import RealmQuery
import RealmStorage

extension Query {
  /// The condition that the comparison with a value holds for an element of a collection, or for a value of a map.
  func anyElement<Element: RealmCollectionValue>(_ comparison: Comparison, _ element: Element) -> Query<Bool>
  {
    let elements: Query<T> = path(\.elements)
    return elements.test(.compare(comparison), ElementValue(element))
  }

  /// The condition that a value is an element of a collection.
  fileprivate func has(_ element: QueryValue) -> Query<Bool> {
    let left = draft.add(element)
    let right = value(isQuantified: false)
    return condition(.test(left: left, operator: .isIn, options: [], right: right))
  }

  fileprivate func hasAny(of elements: [QueryValue]) -> Query<Bool> {
    let path: Query<T> = path(\.elements)
    return path.test(.isIn, QueryValues(elements))
  }
}

// MARK: - Lists, sets, and the objects that link to one

extension Query where T: RealmCollection {
  /// The number of elements.
  public var count: Query<Int> { path(\.count) }

  /// Holds if an element equals the value.
  public func contains(_ element: T.Element) -> Query<Bool> { has(ElementValue(element)) }

  /// Holds if an element equals one of the values.
  public func containsAny<U: Sequence>(in values: U) -> Query<Bool> where U.Element == T.Element {
    hasAny(of: values.map { ElementValue($0) })
  }
}

extension Query where T: RealmCollection, T.Element.PersistedType: _QueryNumeric {
  /// The least element; null if there is none.
  public var min: Query<T.Element> { path { $0.elements.aggregate(.min) } }
  /// The greatest element; null if there is none.
  public var max: Query<T.Element> { path { $0.elements.aggregate(.max) } }
  /// The average of the elements; null if there are none.
  public var avg: Query<T.Element> { path { $0.elements.aggregate(.average) } }
  /// The sum of the elements; zero if there are none.
  public var sum: Query<T.Element> { path { $0.elements.aggregate(.sum) } }
}

/// Aggregates of a property of the objects in a collection: `$0.dogs.age.max`.
extension Query where T: _HasPersistedType, T.PersistedType: _QueryNumeric {
  /// The least value; null if there is none.
  public var min: Query { path { $0.aggregate(.min) } }
  /// The greatest value; null if there is none.
  public var max: Query { path { $0.aggregate(.max) } }
  /// The average of the values; null if there are none.
  public var avg: Query { path { $0.aggregate(.average) } }
  /// The sum of the values; zero if there are none.
  public var sum: Query { path { $0.aggregate(.sum) } }
}

// MARK: - Maps

extension Query where T: RealmKeyedCollection {
  /// The number of entries.
  public var count: Query<Int> { path(\.count) }

  /// Holds if a value of the map equals the given one.
  public func contains(_ value: T.Value) -> Query<Bool> { has(ElementValue(value)) }

  /// Holds if a value of the map equals one of the given values.
  public func containsAny<U: Sequence>(in values: U) -> Query<Bool> where U.Element == T.Value {
    hasAny(of: values.map { ElementValue($0) })
  }

  /// The values of the map. A condition on them holds if it holds for one of the values.
  public var values: Query<T.Value> { path { $0.elements.adding(.values) } }

  /// The value that a key has; null if the map does not have the key.
  public subscript(key: T.Key) -> Query<T.Value> {
    let place = draft.keep(QueryPlace(.string(key._mapKey)))
    return path { $0.adding(.argument(place)) }
  }
}

extension Query where T: RealmKeyedCollection, T.Key == String {
  /// The keys of the map. A condition on them holds if it holds for one of the keys.
  public var keys: Query<String> { path { $0.elements.adding(.keys) } }
}

extension Query where T: RealmKeyedCollection, T.Value.PersistedType: _QueryNumeric {
  /// The least value; null if there is none.
  public var min: Query<T.Value> { path { $0.elements.aggregate(.min) } }
  /// The greatest value; null if there is none.
  public var max: Query<T.Value> { path { $0.elements.aggregate(.max) } }
  /// The average of the values; null if there are none.
  public var avg: Query<T.Value> { path { $0.elements.aggregate(.average) } }
  /// The sum of the values; zero if there are none.
  public var sum: Query<T.Value> { path { $0.elements.aggregate(.sum) } }
}

// MARK: - Values of any type

extension Query where T == AnyRealmValue {
  /// The element at an index, if the value is a list.
  public subscript(index: Int) -> Query<AnyRealmValue> { inner(.int(Int64(index))) }

  /// The value that a key has, if the value is a dictionary.
  public subscript(key: String) -> Query<AnyRealmValue> { inner(.string(key)) }

  /// The elements of a list, or the values of a dictionary. A condition on them holds if it holds for one of them.
  public var any: Query<AnyRealmValue> { path { $0.adding(.all) } }

  private func inner(_ place: RealmStorage.Value) -> Query<AnyRealmValue> {
    let place = draft.keep(QueryPlace(place))
    return path { $0.adding(.argument(place)) }
  }
}
