/// A comparison of two values, the first on the left.
public enum Comparison: Sendable, Hashable, CaseIterable {
  /// The left value is equal to the right one, not equal to it, less, less or equal, greater, or greater or equal.
  case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual
}

extension Comparison {
  /// Whether the comparison holds.
  ///
  /// - Parameter order: the result of `ValueOrder.compare`.
  func holds(_ order: Int?) -> Bool {
    guard let order else { return self == .notEqual }
    return switch self {
    case .equal: order == 0
    case .notEqual: order != 0
    case .less: order < 0
    case .lessOrEqual: order <= 0
    case .greater: order > 0
    case .greaterOrEqual: order >= 0
    }
  }

  /// Whether the comparison holds for two values, by the rules of `Predicate`.
  ///
  /// - Parameter ordersNull: whether null is less than all strings.
  func holds(_ left: Value, _ right: Value, ordersNull: Bool) -> Bool {
    switch (left, right) {
    case (.null, .null): self == .equal || self == .lessOrEqual || self == .greaterOrEqual
    case (.null, .string) where ordersNull: holds(-1)
    case (.string, .null) where ordersNull: holds(1)
    case (.null, _), (_, .null): self == .notEqual
    default: holds(ValueOrder.compare(left, right))
    }
  }
}
