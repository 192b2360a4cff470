/// How values compare in queries, and how they are sorted.
enum ValueOrder {
  /// Less, equal, greater as -1, 0, 1; nil for values that do not compare. Of nulls, none.
  static func compare(_ left: Value, _ right: Value) -> Int? {
    switch (left, right) {
    case (.bool(let left), .bool(let right)): order(left ? 1 : 0, right ? 1 : 0)
    case (.int(let left), .int(let right)): order(left, right)
    case (.date(let left), .date(let right)): order(left, right)
    case (.string(let left), .string(let right)): order(left.utf8, right.utf8)
    case (.data(let left), .data(let right)): order(left, right)
    case (.objectID(let left), .objectID(let right)): order(left.bytes, right.bytes)
    case (.uuid(let left), .uuid(let right)): order(left.bytes, right.bytes)
    case (.link(let left), .link(let right)): left == right ? 0 : nil
    case (.float(let left), .float(let right)): order(Double(left), Double(right))
    case (.double(let left), .double(let right)): order(left, right)
    case (.float(let left), .double(let right)): order(Double(left), right)
    case (.double(let left), .float(let right)): order(left, Double(right))
    case (.int(let left), .float(let right)): order(left, Double(right))
    case (.int(let left), .double(let right)): order(left, right)
    case (.float(let left), .int(let right)): order(right, Double(left)).map { -$0 }
    case (.double(let left), .int(let right)): order(right, left).map { -$0 }
    case (.decimal128(let left), _):
      DecimalNumber(right).flatMap { DecimalNumber(left).order($0) }
    case (_, .decimal128(let right)):
      DecimalNumber(left).flatMap { $0.order(DecimalNumber(right)) }
    default: nil
    }
  }

  private static func order<Number: Comparable>(_ left: Number, _ right: Number) -> Int {
    left < right ? -1 : left == right ? 0 : 1
  }

  static func order(_ left: Double, _ right: Double) -> Int? {
    left < right ? -1 : left == right ? 0 : left > right ? 1 : nil
  }

  /// Without rounding.
  static func order(_ left: Int64, _ right: Double) -> Int? {
    if right.isNaN { return nil }
    if right >= 0x1p63 { return -1 }
    if right < -0x1p63 { return 1 }
    let whole = right.rounded(.down)
    let order = order(left, Int64(whole))
    return order == 0 && right > whole ? -1 : order
  }

  private static func order<Bytes: Sequence<UInt8>>(_ left: Bytes, _ right: Bytes) -> Int {
    var (left, right) = (left.makeIterator(), right.makeIterator())
    while true {
      switch (left.next(), right.next()) {
      case (nil, nil): return 0
      case (nil, _): return -1
      case (_, nil): return 1
      case (let left?, let right?): if left != right { return left < right ? -1 : 1 }
      }
    }
  }
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

extension ValueOrder {
  /// The order of sorts, which all values of a column have: null, then NaN, then what compares.
  static func sort(_ left: Value, _ right: Value) -> Int {
    let (leftRank, rightRank) = (rank(left), rank(right))
    guard leftRank == 2, rightRank == 2 else { return leftRank - rightRank }
    if case .link(let left) = left, case .link(let right) = right {
      return left < right ? -1 : left == right ? 0 : 1
    }
    return compare(left, right) ?? 0
  }

  private static func rank(_ value: Value) -> Int {
    switch value {
    case .null: 0
    case .float(let number): number.isNaN ? 1 : 2
    case .double(let number): number.isNaN ? 1 : 2
    case .decimal128(let stored): DecimalNumber(stored).isNaN ? 1 : 2
    default: 2
    }
  }

  /// The same for all values that sorts do not part.
  static func canonical(_ value: Value) -> Value {
    switch value {
    case .float(let number): .float(number.isNaN ? .nan : number == 0 ? 0 : number)
    case .double(let number): .double(number.isNaN ? .nan : number == 0 ? 0 : number)
    case .decimal128(let stored): .decimal128(DecimalNumber(stored).canonical)
    default: value
    }
  }
}
