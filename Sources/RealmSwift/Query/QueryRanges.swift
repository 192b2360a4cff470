import RealmQuery
import RealmStorage

extension Query {
  /// The value lies in a range; of a path through collections, one of the values does.
  fileprivate func lies(from low: QueryValue, through high: QueryValue) -> Query<Bool> {
    let left = value()
    let bounds = draft.add(.list([draft.add(low), draft.add(high)]))
    return condition(.test(left: left, operator: .between, options: [], right: bounds))
  }

  fileprivate func lies(from low: QueryValue, below high: QueryValue) -> Query<Bool> {
    test(.compare(.greaterOrEqual), low) && test(.compare(.less), high)
  }

  /// The least and the greatest element lie in a range; a collection without any does not.
  fileprivate func elements(from low: QueryValue, _ comparison: Comparison, _ high: QueryValue) -> Query<Bool>
  {
    let least: Query<Int> = path { $0.elements.aggregate(.min) }
    let greatest: Query<Int> = path { $0.elements.aggregate(.max) }
    return least.test(.compare(.greaterOrEqual), low) && greatest.test(.compare(comparison), high)
  }
}

// MARK: - One value

extension Query where T: Comparable {
  /// The value lies in a range.
  public func contains(_ range: ClosedRange<T>) -> Query<Bool> {
    lies(from: AnyQueryValue(range.lowerBound), through: AnyQueryValue(range.upperBound))
  }

  /// The value lies in a range, below its end.
  public func contains(_ range: Range<T>) -> Query<Bool> {
    lies(from: AnyQueryValue(range.lowerBound), below: AnyQueryValue(range.upperBound))
  }
}

extension Query where T: OptionalProtocol, T.Wrapped: Comparable {
  /// The value is not nil, and lies in a range.
  public func contains(_ range: ClosedRange<T.Wrapped>) -> Query<Bool> {
    lies(from: AnyQueryValue(range.lowerBound), through: AnyQueryValue(range.upperBound))
  }

  /// The value is not nil, and lies in a range, below its end.
  public func contains(_ range: Range<T.Wrapped>) -> Query<Bool> {
    lies(from: AnyQueryValue(range.lowerBound), below: AnyQueryValue(range.upperBound))
  }
}

// MARK: - Collections

extension Query where T: RealmCollection, T.Element: Comparable {
  /// The least and the greatest element lie in a range. An empty collection does not.
  public func contains(_ range: ClosedRange<T.Element>) -> Query<Bool> {
    elements(from: AnyQueryValue(range.lowerBound), .lessOrEqual, AnyQueryValue(range.upperBound))
  }

  /// The least and the greatest element lie in a range, below its end. An empty collection does not.
  public func contains(_ range: Range<T.Element>) -> Query<Bool> {
    elements(from: AnyQueryValue(range.lowerBound), .less, AnyQueryValue(range.upperBound))
  }
}

extension Query
where T: RealmCollection, T.Element: OptionalProtocol, T.Element.Wrapped: Comparable {
  /// The least and the greatest element that is not nil lie in a range. A collection without any does not.
  public func contains(_ range: ClosedRange<T.Element.Wrapped>) -> Query<Bool> {
    elements(from: AnyQueryValue(range.lowerBound), .lessOrEqual, AnyQueryValue(range.upperBound))
  }

  /// The least and the greatest element that is not nil lie in a range, below its end. A collection without any does not.
  public func contains(_ range: Range<T.Element.Wrapped>) -> Query<Bool> {
    elements(from: AnyQueryValue(range.lowerBound), .less, AnyQueryValue(range.upperBound))
  }
}

extension Query where T: RealmKeyedCollection, T.Value: Comparable {
  /// The least and the greatest value of the map lie in a range. An empty map does not.
  public func contains(_ range: ClosedRange<T.Value>) -> Query<Bool> {
    elements(from: AnyQueryValue(range.lowerBound), .lessOrEqual, AnyQueryValue(range.upperBound))
  }

  /// The least and the greatest value of the map lie in a range, below its end. An empty map does not.
  public func contains(_ range: Range<T.Value>) -> Query<Bool> {
    elements(from: AnyQueryValue(range.lowerBound), .less, AnyQueryValue(range.upperBound))
  }
}

extension Query
where T: RealmKeyedCollection, T.Value: OptionalProtocol, T.Value.Wrapped: Comparable {
  /// The least and the greatest value of the map that is not nil lie in a range. A map without any does not.
  public func contains(_ range: ClosedRange<T.Value.Wrapped>) -> Query<Bool> {
    elements(from: AnyQueryValue(range.lowerBound), .lessOrEqual, AnyQueryValue(range.upperBound))
  }

  /// The least and the greatest value of the map that is not nil lie in a range, below its end. A map without any does not.
  public func contains(_ range: Range<T.Value.Wrapped>) -> Query<Bool> {
    elements(from: AnyQueryValue(range.lowerBound), .less, AnyQueryValue(range.upperBound))
  }
}
