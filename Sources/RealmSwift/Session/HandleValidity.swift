/// Tells which objects and collections of a session may not be used any more, though there may be rows with their keys. The
/// generation of the session in which they were found decides.
///
/// A key that a cancelled transaction gave is given again to another object, for which an object found before must not be taken.
struct HandleValidity {
  private var firstValid: UInt64 = 0
  /// By class: the transactions that were cancelled, in the order of their generations.
  private var cancelled: [Int: [Cancelled]] = [:]

  /// Rows that are gone with the transaction that made them.
  private struct Cancelled {
    var births: ClosedRange<UInt64>
    var firstRow: UInt64
  }

  /// The first generation since which everything that was found is valid.
  private(set) var surelyValid: UInt64 = 0

  mutating func invalidateAll(before generation: UInt64) {
    firstValid = generation
    cancelled = [:]
    surelyValid = generation
  }

  /// Notes that a transaction was cancelled, which had made the rows from `firstRow` on and was open in the generations `births`.
  mutating func cancel(from firstRow: UInt64, ofClass index: Int, births: ClosedRange<UInt64>) {
    surelyValid = births.upperBound + 1
    // No row was made in between: whatever was found under these keys is gone.
    if let last = cancelled[index]?.last, last.firstRow == firstRow {
      let place = cancelled[index, default: []].count - 1
      cancelled[index]?[place].births = last.births.lowerBound...births.upperBound
    } else {
      cancelled[index, default: []].append(Cancelled(births: births, firstRow: firstRow))
    }
  }

  /// - Parameter row: the row; nil for a collection that belongs to no row.
  func isInvalid(_ row: UInt64?, birth: UInt64, ofClass index: Int) -> Bool {
    if birth < firstValid { return true }
    guard let row, let cancelled = cancelled[index] else { return false }
    // Finds the last cancelled transaction that began no later.
    var (low, high) = (0, cancelled.count)
    while low < high {
      let middle = (low + high) / 2
      if cancelled[middle].births.lowerBound <= birth { low = middle + 1 } else { high = middle }
    }
    guard low > 0 else { return false }
    return cancelled[low - 1].births.contains(birth) && row >= cancelled[low - 1].firstRow
  }
}
