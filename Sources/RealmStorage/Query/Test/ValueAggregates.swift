/// A sum of a column's values.
public enum Sum: Sendable, Hashable {
  /// Of whole numbers.
  case integer(Int64)
  /// Of floats and doubles.
  case double(Double)
  /// Of decimals, as their 16 bytes.
  case decimal(SixteenBytes)
  /// Of whole numbers, when it is beyond 64 bits.
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

  /// The sum of values that stand in no column, as `Table.sum` adds up those of one: nulls and NaN aside, zero without any.
  ///
  /// - Parameter type: that of the values, which is one of whole numbers, floats, doubles or decimals.
  public init(of values: some Sequence<Value>, type: ColumnType) {
    self.init(Aggregate(of: values, type))
  }
}

extension Value {
  /// The average of values, as `Table.average` has it: a double, of decimals a decimal; null without any.
  ///
  /// - Parameter type: as of `Sum.init(of:type:)`.
  public static func average(of values: some Sequence<Value>, type: ColumnType) -> Value {
    Aggregate(of: values, type).average
  }

  /// The least of values that compare, nulls and NaN aside; null without any. Of those that are equal it is the first.
  public static func minimum(of values: some Sequence<Value>) -> Value { extreme(of: values, -1) }

  /// The greatest of values that compare, nulls and NaN aside; null without any. Of those that are equal it is the first.
  public static func maximum(of values: some Sequence<Value>) -> Value { extreme(of: values, 1) }

  private static func extreme(of values: some Sequence<Value>, _ side: Int) -> Value {
    var best = Value.null
    // What does not compare with itself is null or NaN.
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
  /// The sum of the numbers among some values: of the widest type that is among them, where a double is wider than a whole number and a decimal wider than both. It is 0 without any.
  public static func sum(ofNumbers values: [Value]) -> Value {
    let (numbers, type) = widened(values)
    return sum(of: numbers, type: type)
  }

  /// The average of the numbers among some values: a double, or a decimal where one is among them; null without any.
  public static func average(ofNumbers values: [Value]) -> Value {
    let (numbers, type) = widened(values)
    return average(of: numbers, type: type)
  }

  /// A sum of whole numbers that is beyond 64 bits is a double.
  static func sum(of values: [Value], type: ColumnType) -> Value {
    switch Sum(of: values, type: type) {
    case .integer(let number): .int(number)
    case .double(let number): .double(number)
    case .decimal(let number): .decimal128(number)
    case .overflow: .double(values.reduce(0) { $0 + (double(of: $1) ?? 0) })
    }
  }

  /// The sum of values of which each counts so many times.
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

  /// The average of values of which each counts so many times.
  static func average(of values: [Value], ways: [Int], _ type: ColumnType) -> Value {
    let (values, type) = type == .mixed ? widened(values) : (values, type)
    return Aggregate(of: values, ways: ways, type).average
  }

  /// Null in place of what is no number.
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
