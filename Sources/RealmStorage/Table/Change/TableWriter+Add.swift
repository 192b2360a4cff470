/// What became of adding to a number.
public enum Addition: Sendable, Equatable {
  case sum(Int64)
  /// Null has no sum, and stays.
  case null
  /// The sum is outside of the range that was given; the number stays.
  case overflow
  case noRow
}

extension TableWriter {
  /// Adds to a whole number. A change of its own: what two add apart from each other can be told to have been added twice.
  func add(
    _ amount: Int64, to position: Int, ofRow row: UInt64, within range: ClosedRange<Int64>
  ) throws(StorageError) -> Addition {
    let column = schema.columns[position]
    switch try value(column, ofRow: row) {
    case .int(let number):
      let (sum, isTooLarge) = number.addingReportingOverflow(amount)
      guard !isTooLarge, range.contains(sum) else { return .overflow }
      _ = try set(.int(sum), at: position, ofRow: row)
      return .sum(sum)
    case nil: return .noRow
    default: return .null
    }
  }
}
