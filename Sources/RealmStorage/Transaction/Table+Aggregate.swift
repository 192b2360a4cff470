/// A sum of a column's values.
public enum Sum: Sendable, Hashable {
  /// Of whole numbers.
  case integer(Int64)
  /// Of floats and doubles.
  case double(Double)
  /// Of whole numbers, when it is beyond 64 bits.
  case overflow
}

extension Table {
  /// The sum of a column's values, nulls and NaN aside; without any, zero.
  ///
  /// - Parameter rows: nil for all rows. A row that is given twice counts twice, one that is not there not at all.
  /// - Precondition: the column is one of the table, of whole numbers, floats or doubles, and no list.
  public func sum(_ column: Int, of rows: [UInt64]?) throws(StorageError) -> Sum {
    let values = try aggregated(column, of: rows, dates: false)
    switch schema.columns[column].type {
    case .float, .double:
      return .double(values.reduce(0) { $0 + $1.real })
    default:
      var sum = Int128(0)
      for case .int(let number) in values { sum += Int128(number) }
      return Int64(exactly: sum).map { .integer($0) } ?? .overflow
    }
  }

  /// The average of a column's values, nulls and NaN aside; nil without any.
  ///
  /// - Parameter rows: as of `sum(_:of:)`.
  /// - Precondition: as of `sum(_:of:)`.
  public func average(_ column: Int, of rows: [UInt64]?) throws(StorageError) -> Double? {
    let values = try aggregated(column, of: rows, dates: false)
    guard !values.isEmpty else { return nil }
    var (whole, real) = (Int128(0), 0.0)
    for value in values {
      if case .int(let number) = value { whole += Int128(number) } else { real += value.real }
    }
    return (real + Double(whole)) / Double(values.count)
  }

  /// The least of a column's values, nulls and NaN aside; null without any.
  ///
  /// - Parameter rows: as of `sum(_:of:)`.
  /// - Precondition: the column is one of the table, of whole numbers, floats, doubles or dates, and no list.
  public func minimum(_ column: Int, of rows: [UInt64]?) throws(StorageError) -> Value {
    try extreme(column, of: rows, .less)
  }

  /// The greatest of a column's values, nulls and NaN aside; null without any.
  ///
  /// - Parameter rows: as of `sum(_:of:)`.
  /// - Precondition: as of `minimum(_:of:)`.
  public func maximum(_ column: Int, of rows: [UInt64]?) throws(StorageError) -> Value {
    try extreme(column, of: rows, .greater)
  }

  private func extreme(
    _ column: Int, of rows: [UInt64]?, _ comparison: Comparison
  ) throws(StorageError) -> Value {
    var best = Value.null
    for value in try aggregated(column, of: rows, dates: true) {
      if best == .null || comparison.holds(ValueOrder.compare(value, best)) { best = value }
    }
    return best
  }

  private func aggregated(_ position: Int, of rows: [UInt64]?, dates: Bool) throws(StorageError) -> [Value] {
    let column = schema.columns[position]
    let isNumber: Bool
    switch column.type {
    case .int8, .int16, .int32, .int64, .float, .double: isNumber = !column.isList
    case .date: isNumber = dates && !column.isList
    default: isNumber = false
    }
    precondition(
      isNumber, "\(schema.name).\(column.name) is of type \(column.type): there is no such aggregate")
    var values: [Value] = []
    for key in try given(rows) {
      if let value = try value(column, ofRow: key), value != .null, !value.isNaN { values.append(value) }
    }
    return values
  }
}

extension Value {
  fileprivate var isNaN: Bool { real.isNaN }

  fileprivate var real: Double {
    switch self {
    case .float(let number): Double(number)
    case .double(let number): number
    default: 0
    }
  }
}
