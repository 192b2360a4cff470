/// How two values compare.
public enum Comparison: Sendable, Hashable, CaseIterable {
  case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual
}

extension Comparison {
  /// - Parameter order: as `ValueOrder.compare` answers.
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

  /// Whether a value compares so with another, as `Predicate` says.
  ///
  /// - Parameter ordersNull: null is less than all else.
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
