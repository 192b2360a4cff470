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
}
