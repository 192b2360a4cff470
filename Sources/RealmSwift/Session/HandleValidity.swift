/// Tells which objects and collections of a session may not be used any more, even if there are rows with their keys.
/// The generation of the session in which they were found decides this.
///
/// A key that a cancelled transaction gave to a row is given again to another row. An object that was found before must
/// not be taken for the object of that row.
struct HandleValidity {
  private var firstValid: UInt64 = 0
  /// The transactions that were cancelled, in the order of their generations, by the index of the class.
  private var cancelled: [Int: [Cancelled]] = [:]

  /// The rows that a cancelled transaction made in one class, and the generations in which that transaction was open.
  private struct Cancelled {
    var births: ClosedRange<UInt64>
    var firstRow: UInt64
  }

  /// Everything that was found in this generation or a later one is valid.
  private(set) var surelyValid: UInt64 = 0

  mutating func invalidateAll(before generation: UInt64) {
    firstValid = generation
    cancelled = [:]
    surelyValid = generation
  }

  /// Notes that a transaction was cancelled. It had made the rows from `firstRow` on, and was open in the generations
  /// `births`.
  mutating func cancel(from firstRow: UInt64, ofClass index: Int, births: ClosedRange<UInt64>) {
    surelyValid = births.upperBound + 1
    // No row was made between the two transactions, so everything that was found under these keys since the first one
    // is gone.
    if let last = cancelled[index]?.last, last.firstRow == firstRow {
      let place = cancelled[index, default: []].count - 1
      cancelled[index]?[place].births = last.births.lowerBound...births.upperBound
    } else {
      cancelled[index, default: []].append(Cancelled(births: births, firstRow: firstRow))
    }
  }

  /// Whether an object or collection that was found in the generation `birth` may not be used any more.
  ///
  /// - Parameter row: the row of the object; nil for a collection that belongs to no row.
  func isInvalid(_ row: UInt64?, birth: UInt64, ofClass index: Int) -> Bool {
    if birth < firstValid { return true }
    guard let row, let cancelled = cancelled[index] else { return false }
    // This search finds the last cancelled transaction that began in the generation `birth` or before.
    var (low, high) = (0, cancelled.count)
    while low < high {
      let middle = (low + high) / 2
      if cancelled[middle].births.lowerBound <= birth { low = middle + 1 } else { high = middle }
    }
    guard low > 0 else { return false }
    return cancelled[low - 1].births.contains(birth) && row >= cancelled[low - 1].firstRow
  }
}
