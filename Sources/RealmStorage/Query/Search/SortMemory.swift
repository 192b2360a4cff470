/// How much memory sorts and searches for distinct values take beside the rows themselves, which take 8 bytes each.
package struct SortMemory: Sendable {
  /// The greatest number of rows that are sorted at once, with the numbers that stand for their values. More rows are
  /// sorted in parts.
  package var rows: Int

  /// - Precondition: `rows` is at least 1.
  package init(rows: Int) {
    precondition(rows > 0, "a sort of no row")
    self.rows = rows
  }

  /// The limits that programs have: less than 64 MiB, because a row of a part takes 110 bytes at most. A million rows
  /// fit as a whole, and take less time in one piece.
  package static let standard = SortMemory(rows: 1 << 20)

  /// The greatest number of rows in a part, for rows that are sorted in parts.
  var part: Int { max(1, rows / 4) }

  /// The greatest number of bytes for the values that a search for distinct values has found.
  var valueBytes: Int { min(rows, 1 << 26) * 15 }

  /// The greatest number of rows whose whole values are in memory at a time.
  var values: Int { max(1, min(rows / 64, 1 << 14)) }
}
