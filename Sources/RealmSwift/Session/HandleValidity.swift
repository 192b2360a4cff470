/// Which objects and collections of a session may not be used any more, though their rows may be there again: told by the
/// generation of the session in which they were found.
///
/// A key that a cancelled transaction gave is given again, to another object; so what was found of it must not be taken
/// for that.
struct HandleValidity {
  private var firstValid: UInt64 = 0
  /// By class; in the order of their generations.
  private var cancelled: [Int: [Cancelled]] = [:]

  /// Rows that are gone with the transactions that made them.
  private struct Cancelled {
    var births: ClosedRange<UInt64>
    var firstRow: UInt64
  }

  /// What was found from this generation on is valid.
  private(set) var surelyValid: UInt64 = 0

  mutating func invalidateAll(before generation: UInt64) {
    firstValid = generation
    cancelled = [:]
    surelyValid = generation
  }

  /// The rows from `firstRow` on were made by a transaction, which was open in some generations and made nothing in the
  /// end.
  mutating func cancel(from firstRow: UInt64, ofClass index: Int, births: ClosedRange<UInt64>) {
    surelyValid = births.upperBound + 1
    // No row was made in between: whatever was found of these keys is gone.
    if let last = cancelled[index]?.last, last.firstRow == firstRow {
      let place = cancelled[index, default: []].count - 1
      cancelled[index]?[place].births = last.births.lowerBound...births.upperBound
    } else {
      cancelled[index, default: []].append(Cancelled(births: births, firstRow: firstRow))
    }
  }

  /// - Parameter row: nil for a collection that belongs to no row.
  func isInvalid(_ row: UInt64?, birth: UInt64, ofClass index: Int) -> Bool {
    if birth < firstValid { return true }
    guard let row, let cancelled = cancelled[index] else { return false }
    // The last that began no later.
    var (low, high) = (0, cancelled.count)
    while low < high {
      let middle = (low + high) / 2
      if cancelled[middle].births.lowerBound <= birth { low = middle + 1 } else { high = middle }
    }
    guard low > 0 else { return false }
    return cancelled[low - 1].births.contains(birth) && row >= cancelled[low - 1].firstRow
  }
}
