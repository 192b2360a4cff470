import RealmQuery
import RealmStorage

extension Query {
  /// One element of a collection, or one value of a map, compares so with a value.
  func anyElement<Element: RealmCollectionValue>(_ comparison: Comparison, _ element: Element) -> Query<Bool>
  {
    let elements: Query<T> = path(\.elements)
    return elements.test(.compare(comparison), ElementValue(element))
  }

  /// A value is an element of a collection.
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

  /// An element equals a value.
  public func contains(_ element: T.Element) -> Query<Bool> { has(ElementValue(element)) }

  /// An element equals one of these.
  public func containsAny<U: Sequence>(in values: U) -> Query<Bool> where U.Element == T.Element {
    hasAny(of: values.map { ElementValue($0) })
  }
}

extension Query where T: RealmCollection, T.Element.PersistedType: _QueryNumeric {
  /// The least element; null without any.
  public var min: Query<T.Element> { path { $0.elements.aggregate(.min) } }
  /// The greatest element; null without any.
  public var max: Query<T.Element> { path { $0.elements.aggregate(.max) } }
  /// The average of the elements; null without any.
  public var avg: Query<T.Element> { path { $0.elements.aggregate(.average) } }
  /// The sum of the elements; zero without any.
  public var sum: Query<T.Element> { path { $0.elements.aggregate(.sum) } }
}

/// Of a property of the objects of a collection: `$0.dogs.age.max`.
extension Query where T: _HasPersistedType, T.PersistedType: _QueryNumeric {
  /// The least value; null without any.
  public var min: Query { path { $0.aggregate(.min) } }
  /// The greatest value; null without any.
  public var max: Query { path { $0.aggregate(.max) } }
  /// The average of the values; null without any.
  public var avg: Query { path { $0.aggregate(.average) } }
  /// The sum of the values; zero without any.
  public var sum: Query { path { $0.aggregate(.sum) } }
}

// MARK: - Maps

extension Query where T: RealmKeyedCollection {
  /// The number of entries.
  public var count: Query<Int> { path(\.count) }

  /// A value of the map equals another.
  public func contains(_ value: T.Value) -> Query<Bool> { has(ElementValue(value)) }

  /// A value of the map equals one of these.
  public func containsAny<U: Sequence>(in values: U) -> Query<Bool> where U.Element == T.Value {
    hasAny(of: values.map { ElementValue($0) })
  }

  /// Any of the values.
  public var values: Query<T.Value> { path { $0.elements.adding(.values) } }

  /// The value of a key; null where it is not there.
  public subscript(key: T.Key) -> Query<T.Value> {
    let place = draft.keep(QueryPlace(.string(key._mapKey)))
    return path { $0.adding(.argument(place)) }
  }
}

extension Query where T: RealmKeyedCollection, T.Key == String {
  /// Any of the keys.
  public var keys: Query<String> { path { $0.elements.adding(.keys) } }
}

extension Query where T: RealmKeyedCollection, T.Value.PersistedType: _QueryNumeric {
  /// The least value; null without any.
  public var min: Query<T.Value> { path { $0.elements.aggregate(.min) } }
  /// The greatest value; null without any.
  public var max: Query<T.Value> { path { $0.elements.aggregate(.max) } }
  /// The average of the values; null without any.
  public var avg: Query<T.Value> { path { $0.elements.aggregate(.average) } }
  /// The sum of the values; zero without any.
  public var sum: Query<T.Value> { path { $0.elements.aggregate(.sum) } }
}

// MARK: - Values of any type

extension Query where T == AnyRealmValue {
  /// The element at a place, where the value is a list.
  public subscript(index: Int) -> Query<AnyRealmValue> { inner(.int(Int64(index))) }

  /// The value of a key, where the value is a dictionary.
  public subscript(key: String) -> Query<AnyRealmValue> { inner(.string(key)) }

  /// Any of the elements, or of the values of a dictionary.
  public var any: Query<AnyRealmValue> { path { $0.adding(.all) } }

  private func inner(_ place: RealmStorage.Value) -> Query<AnyRealmValue> {
    let place = draft.keep(QueryPlace(place))
    return path { $0.adding(.argument(place)) }
  }
}
