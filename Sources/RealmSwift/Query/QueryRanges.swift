import RealmQuery
import RealmStorage

extension Query {
  /// The condition that the value lies in a range. If the path leads through collections, one of the values must lie in
  /// it.
  fileprivate func lies(from low: QueryValue, through high: QueryValue) -> Query<Bool> {
    let left = value()
    let bounds = draft.add(.list([draft.add(low), draft.add(high)]))
    return condition(.test(left: left, operator: .between, options: [], right: bounds))
  }

  fileprivate func lies(from low: QueryValue, below high: QueryValue) -> Query<Bool> {
    test(.compare(.greaterOrEqual), low) && test(.compare(.less), high)
  }

  /// The condition that the least and the greatest element lie in a range. It does not hold for a collection without elements.
  fileprivate func elements(from low: QueryValue, _ comparison: Comparison, _ high: QueryValue) -> Query<Bool>
  {
    let least: Query<Int> = path { $0.elements.aggregate(.min) }
    let greatest: Query<Int> = path { $0.elements.aggregate(.max) }
    return least.test(.compare(.greaterOrEqual), low) && greatest.test(.compare(comparison), high)
  }
}

// MARK: - One value

extension Query where T: Comparable {
  /// Holds if the value lies in the range, including its bounds.
  public func contains(_ range: ClosedRange<T>) -> Query<Bool> {
    lies(from: AnyQueryValue(range.lowerBound), through: AnyQueryValue(range.upperBound))
  }

  /// Holds if the value lies in the range, without its upper bound.
  public func contains(_ range: Range<T>) -> Query<Bool> {
    lies(from: AnyQueryValue(range.lowerBound), below: AnyQueryValue(range.upperBound))
  }
}

extension Query where T: OptionalProtocol, T.Wrapped: Comparable {
  /// Holds if the value is not nil and lies in the range, including its bounds.
  public func contains(_ range: ClosedRange<T.Wrapped>) -> Query<Bool> {
    lies(from: AnyQueryValue(range.lowerBound), through: AnyQueryValue(range.upperBound))
  }

  /// Holds if the value is not nil and lies in the range, without its upper bound.
  public func contains(_ range: Range<T.Wrapped>) -> Query<Bool> {
    lies(from: AnyQueryValue(range.lowerBound), below: AnyQueryValue(range.upperBound))
  }
}

// MARK: - Collections

extension Query where T: RealmCollection, T.Element: Comparable {
  /// Holds if the least and the greatest element lie in the range, including its bounds. It does not hold for an empty
  /// collection.
  public func contains(_ range: ClosedRange<T.Element>) -> Query<Bool> {
    elements(from: AnyQueryValue(range.lowerBound), .lessOrEqual, AnyQueryValue(range.upperBound))
  }

  /// Holds if the least and the greatest element lie in the range, without its upper bound. It does not hold for an empty
  /// collection.
  public func contains(_ range: Range<T.Element>) -> Query<Bool> {
    elements(from: AnyQueryValue(range.lowerBound), .less, AnyQueryValue(range.upperBound))
  }
}

extension Query
where T: RealmCollection, T.Element: OptionalProtocol, T.Element.Wrapped: Comparable {
  /// Holds if the least and the greatest element that is not nil lie in the range, including its bounds. It does not hold if
  /// there is none.
  public func contains(_ range: ClosedRange<T.Element.Wrapped>) -> Query<Bool> {
    elements(from: AnyQueryValue(range.lowerBound), .lessOrEqual, AnyQueryValue(range.upperBound))
  }

  /// Holds if the least and the greatest element that is not nil lie in the range, without its upper bound. It does not hold if
  /// there is none.
  public func contains(_ range: Range<T.Element.Wrapped>) -> Query<Bool> {
    elements(from: AnyQueryValue(range.lowerBound), .less, AnyQueryValue(range.upperBound))
  }
}

extension Query where T: RealmKeyedCollection, T.Value: Comparable {
  /// Holds if the least and the greatest value of the map lie in the range, including its bounds. It does not hold for an empty
  /// map.
  public func contains(_ range: ClosedRange<T.Value>) -> Query<Bool> {
    elements(from: AnyQueryValue(range.lowerBound), .lessOrEqual, AnyQueryValue(range.upperBound))
  }

  /// Holds if the least and the greatest value of the map lie in the range, without its upper bound. It does not hold for an
  /// empty map.
  public func contains(_ range: Range<T.Value>) -> Query<Bool> {
    elements(from: AnyQueryValue(range.lowerBound), .less, AnyQueryValue(range.upperBound))
  }
}

extension Query
where T: RealmKeyedCollection, T.Value: OptionalProtocol, T.Value.Wrapped: Comparable {
  /// Holds if the least and the greatest value of the map that is not nil lie in the range, including its bounds. It does not
  /// hold if there is none.
  public func contains(_ range: ClosedRange<T.Value.Wrapped>) -> Query<Bool> {
    elements(from: AnyQueryValue(range.lowerBound), .lessOrEqual, AnyQueryValue(range.upperBound))
  }

  /// Holds if the least and the greatest value of the map that is not nil lie in the range, without its upper bound. It does not
  /// hold if there is none.
  public func contains(_ range: Range<T.Value.Wrapped>) -> Query<Bool> {
    elements(from: AnyQueryValue(range.lowerBound), .less, AnyQueryValue(range.upperBound))
  }
}
