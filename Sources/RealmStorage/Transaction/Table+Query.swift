extension Table {
  /// How many rows have a value in a range in an integer, boolean or link column. Null is in no range.
  ///
  /// Takes time in proportion to the rows, a fraction of a nanosecond each.
  ///
  /// - Precondition: the column is one of the table, of whole numbers, and no list.
  public func count(_ column: Int, in range: ClosedRange<Int64>) throws(StorageError) -> Int {
    let column = schema.columns[column]
    precondition(column.storage == .integers, "\(schema.name).\(column.name) is of type \(column.type)")
    return Int(clamping: try IntegerScan.count(column, in: range, of: clusters, beginReading()))
  }
}
