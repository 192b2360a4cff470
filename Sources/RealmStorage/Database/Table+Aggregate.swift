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

extension Table {
  /// The sum of a column's values, nulls and NaN aside; without any, zero.
  ///
  /// - Parameter rows: nil for all rows. A row that is given twice counts twice, one that is not there not at all.
  /// - Precondition: the column is one of the table, of whole numbers, floats, doubles or decimals, and no list.
  public func sum(_ column: Int, of rows: [UInt64]?) throws(StorageError) -> Sum {
    Sum(try aggregate(column, of: rows))
  }

  /// The average of a column's values, nulls and NaN aside: a double, of decimals a decimal; null without any.
  ///
  /// - Parameter rows: as of `sum(_:of:)`.
  /// - Precondition: as of `sum(_:of:)`.
  public func average(_ column: Int, of rows: [UInt64]?) throws(StorageError) -> Value {
    try aggregate(column, of: rows).average
  }

  /// The least of a column's values, nulls and NaN aside; null without any.
  ///
  /// - Parameter rows: as of `sum(_:of:)`.
  /// - Precondition: the column is one of the table, of whole numbers, floats, doubles, decimals or dates, and no list.
  public func minimum(_ column: Int, of rows: [UInt64]?) throws(StorageError) -> Value {
    try extreme(column, of: rows, isGreatest: false)
  }

  /// The greatest of a column's values, nulls and NaN aside; null without any.
  ///
  /// - Parameter rows: as of `sum(_:of:)`.
  /// - Precondition: as of `minimum(_:of:)`.
  public func maximum(_ column: Int, of rows: [UInt64]?) throws(StorageError) -> Value {
    try extreme(column, of: rows, isGreatest: true)
  }

  private func aggregate(_ position: Int, of rows: [UInt64]?) throws(StorageError) -> Aggregate {
    let column = schema.columns[position]
    check(column, column.type.isNumber && !column.isCollection)
    var total = Aggregate(column)
    guard let rows else {
      try ClusterWalk.forEach(in: clusters, reader, ahead: { total.place.prefetch($0, $1) }) { cluster, _ in
        total.add(cluster, RowMask(first: cluster.rows))
      }
      return total
    }
    if zip(rows, rows.dropFirst()).allSatisfy({ $0 < $1 }) {
      try ClusterWalk.forEach(of: rows, in: clusters, reader) { cluster, rows, _ in
        total.add(cluster, rows)
      }
      return total
    }
    // One by one, since a row that is given twice counts twice.
    try ClusterWalk.forEachRow(of: rows, in: clusters, reader) { row, cluster, _ in
      var one = RowMask.none
      one.insert(row)
      total.add(cluster, one)
    }
    return total
  }

  private func extreme(
    _ position: Int, of rows: [UInt64]?, isGreatest: Bool
  ) throws(StorageError) -> Value {
    let column = schema.columns[position]
    check(column, (column.type.isNumber || column.type == .date) && !column.isCollection)
    var extreme = Extreme(column, isGreatest: isGreatest)
    if let rows {
      try ClusterWalk.forEachRow(of: rows, in: clusters, reader) {
        (row, cluster, access) throws(StorageError) in
        var one = RowMask.none
        one.insert(row)
        try extreme.add(cluster, one, access)
      }
    } else {
      try ClusterWalk.forEach(in: clusters, reader) { (cluster, access) throws(StorageError) in
        try extreme.add(cluster, RowMask(first: cluster.rows), access)
      }
    }
    return extreme.value
  }

  private func check(_ column: Column, _ fits: Bool) {
    precondition(fits, "\(schema.name).\(column.name) is of type \(column.type): there is no such aggregate")
  }
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
