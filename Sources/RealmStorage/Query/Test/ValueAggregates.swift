/// The sum of the values of a column.
public enum Sum: Sendable, Hashable {
  /// The sum of whole numbers.
  case integer(Int64)
  /// The sum of floats or doubles.
  case double(Double)
  /// The sum of decimals, as the 16 bytes of a decimal.
  case decimal(SixteenBytes)
  /// The sum of whole numbers does not fit 64 bits.
  case overflow
}

extension Sum {
  init(_ total: Aggregate) {
    self =
      switch total.column.type {
      case .float, .double: .double(total.real)
      case .decimal128: .decimal(total.decimal.stored)
      default: Int64(exactly: total.whole).map { .integer($0) } ?? .overflow
      }
  }

  /// Adds up values as `Table.sum` does with those of a column: without nulls and NaN, and zero if there are none.
  ///
  /// - Parameter type: the type of the values: whole numbers, floats, doubles or decimals.
  public init(of values: some Sequence<Value>, type: ColumnType) {
    self.init(Aggregate(of: values, type))
  }
}

extension Value {
  /// The average of values, as `Table.average` computes it: a decimal for decimals, otherwise a double; null if there are none.
  ///
  /// - Parameter type: the type of the values: whole numbers, floats, doubles or decimals.
  public static func average(of values: some Sequence<Value>, type: ColumnType) -> Value {
    Aggregate(of: values, type).average
  }

  /// The smallest of some values that can be compared, without nulls and NaN; null if there is none. If several are equal, it is
  /// the first of them.
  public static func minimum(of values: some Sequence<Value>) -> Value { extreme(of: values, -1) }

  /// The greatest of some values that can be compared, without nulls and NaN; null if there is none. If several are equal, it is
  /// the first of them.
  public static func maximum(of values: some Sequence<Value>) -> Value { extreme(of: values, 1) }

  private static func extreme(of values: some Sequence<Value>, _ side: Int) -> Value {
    var best = Value.null
    // Null and NaN do not equal themselves.
    for value in values where ValueOrder.compare(value, value) == 0 {
      if case .null = best { best = value } else if ValueOrder.compare(value, best) == side { best = value }
    }
    return best
  }
}

extension Aggregate {
  fileprivate init(of values: some Sequence<Value>, _ type: ColumnType) {
    self.init(Column("", type))
    for value in values { add(value) }
  }

  fileprivate init(of values: [Value], ways: [Int], _ type: ColumnType) {
    self.init(Column("", type))
    for (value, times) in zip(values, ways) { add(value, times: times) }
  }
}

// MARK: - Numbers of several types

extension Value {
  /// The sum of the numbers among some values, in the widest type among them: a double is wider than a whole number, and a
  /// decimal is wider than both. Other values are ignored. It is 0 if there are no numbers. If a sum of whole numbers does not
  /// fit 64 bits, it is a double.
  public static func sum(ofNumbers values: [Value]) -> Value {
    let (numbers, type) = widened(values)
    return sum(of: numbers, type: type)
  }

  /// The average of the numbers among some values: a decimal if one of them is a decimal, otherwise a double; null if there are
  /// no numbers. Other values are ignored.
  public static func average(ofNumbers values: [Value]) -> Value {
    let (numbers, type) = widened(values)
    return average(of: numbers, type: type)
  }

  /// The sum of values of one type. If a sum of whole numbers does not fit 64 bits, it is a double.
  static func sum(of values: [Value], type: ColumnType) -> Value {
    switch Sum(of: values, type: type) {
    case .integer(let number): .int(number)
    case .double(let number): .double(number)
    case .decimal(let number): .decimal128(number)
    case .overflow: .double(values.reduce(0) { $0 + (double(of: $1) ?? 0) })
    }
  }

  /// The sum of values, each of which counts as often as `ways` says.
  static func sum(of values: [Value], ways: [Int], _ type: ColumnType) -> Value {
    let (values, type) = type == .mixed ? widened(values) : (values, type)
    switch Sum(Aggregate(of: values, ways: ways, type)) {
    case .integer(let number): return .int(number)
    case .double(let number): return .double(number)
    case .decimal(let number): return .decimal128(number)
    case .overflow:
      return .double(zip(values, ways).reduce(0) { $0 + (double(of: $1.0) ?? 0) * Double($1.1) })
    }
  }

  /// The average of values, each of which counts as often as `ways` says.
  static func average(of values: [Value], ways: [Int], _ type: ColumnType) -> Value {
    let (values, type) = type == .mixed ? widened(values) : (values, type)
    return Aggregate(of: values, ways: ways, type).average
  }

  /// The values in the widest type of the numbers among them. Other values become null.
  private static func widened(_ values: [Value]) -> (numbers: [Value], type: ColumnType) {
    var (hasReal, hasDecimal) = (false, false)
    for value in values {
      switch value {
      case .float, .double: hasReal = true
      case .decimal128: hasDecimal = true
      default: break
      }
    }
    if hasDecimal {
      return (values.map { DecimalNumber($0).map { .decimal128($0.stored) } ?? .null }, .decimal128)
    }
    if hasReal { return (values.map { double(of: $0).map { .double($0) } ?? .null }, .double) }
    return (values, .int64)
  }
}
