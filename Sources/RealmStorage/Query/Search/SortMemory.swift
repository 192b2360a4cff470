/// How much memory sorts, and searches for distinct values, take beside the rows themselves, which are 8 bytes each.
package struct SortMemory: Sendable {
  /// So many rows at most are sorted at once, with the numbers that stand for their values; more are sorted in parts.
  package var rows: Int

  /// - Precondition: there is one row at least.
  package init(rows: Int) {
    precondition(rows > 0, "a sort of no row")
    self.rows = rows
  }

  /// Less than 64 MiB: a row of a part takes 110 bytes at most. Of a million rows the whole fits, and takes less time in one piece.
  package static let standard = SortMemory(rows: 1 << 20)

  /// So many rows at most has a part of those that are sorted in parts.
  var part: Int { max(1, rows / 4) }

  /// So many bytes at most take the values that were found so far, for distinct ones.
  var valueBytes: Int { min(rows, 1 << 26) * 15 }

  /// So many rows at most have whole values in memory.
  var values: Int { max(1, min(rows / 64, 1 << 14)) }
}
