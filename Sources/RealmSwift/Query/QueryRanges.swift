import RealmStorage

// MARK: - One value

extension Query where T: _Persistable & Comparable, T.PersistedType: _QueryNumeric {
  /// The value lies in a range.
  public func contains(_ range: ClosedRange<T>) -> Query<Bool> {
    if isCount { return self >= range.lowerBound && self <= range.upperBound }
    return between(range.lowerBound, range.upperBound)
  }

  /// The value lies in a range, below its end.
  public func contains(_ range: Range<T>) -> Query<Bool> {
    self >= range.lowerBound && self < range.upperBound
  }
}

extension Query
where T: OptionalProtocol, T.Wrapped: _Persistable & Comparable, T.Wrapped.PersistedType: _QueryNumeric {
  /// The value is not nil, and lies in a range.
  public func contains(_ range: ClosedRange<T.Wrapped>) -> Query<Bool> {
    between(range.lowerBound, range.upperBound)
  }

  /// The value is not nil, and lies in a range, below its end.
  public func contains(_ range: Range<T.Wrapped>) -> Query<Bool> {
    compared(.greaterOrEqual, range.lowerBound) && compared(.less, range.upperBound)
  }
}

extension Query {
  /// One value lies between others.
  fileprivate func between<Bound: _Persistable>(_ low: Bound, _ high: Bound) -> Query<Bool> {
    Query<Bool>(.condition(.between(node.names, low._stored(noRow), high._stored(noRow))))
  }

  /// All elements that are not nil lie in a range, and there are some.
  fileprivate func elements<Bound: RealmCollectionValue>(
    from low: Bound, to high: Bound, isClosed: Bool
  ) -> Query<Bool> {
    func any(_ comparison: Comparison, _ bound: Bound) -> Condition {
      .compare(node.names, comparison) { bound._elementValue($0) }
    }
    let outside = any(.less, low).or(any(isClosed ? .greater : .greaterOrEqual, high))
    return Query<Bool>(.condition(any(.greaterOrEqual, low).and(outside.negated)))
  }
}

// MARK: - Collections

extension Query where T: RealmCollection, T.Element: Comparable, T.Element.PersistedType: _QueryNumeric {
  /// The least and the greatest element lie in a range. An empty collection does not.
  public func contains(_ range: ClosedRange<T.Element>) -> Query<Bool> {
    elements(from: range.lowerBound, to: range.upperBound, isClosed: true)
  }

  /// The least and the greatest element lie in a range, below its end. An empty collection does not.
  public func contains(_ range: Range<T.Element>) -> Query<Bool> {
    elements(from: range.lowerBound, to: range.upperBound, isClosed: false)
  }
}

extension Query
where
  T: RealmCollection, T.Element: OptionalProtocol, T.Element.Wrapped: RealmCollectionValue & Comparable,
  T.Element.Wrapped.PersistedType: _QueryNumeric
{
  /// The least and the greatest element that is not nil lie in a range. A collection without any does not.
  public func contains(_ range: ClosedRange<T.Element.Wrapped>) -> Query<Bool> {
    elements(from: range.lowerBound, to: range.upperBound, isClosed: true)
  }

  /// The least and the greatest element that is not nil lie in a range, below its end. A collection without any does not.
  public func contains(_ range: Range<T.Element.Wrapped>) -> Query<Bool> {
    elements(from: range.lowerBound, to: range.upperBound, isClosed: false)
  }
}

extension Query where T: RealmCollection {
  /// An element equals one of these.
  public func containsAny<U: Sequence>(in values: U) -> Query<Bool> where U.Element == T.Element {
    Query<Bool>(.condition(.isIn(node.names, values.map { value in { value._elementValue($0) } })))
  }
}
