/// A set of marked rows. It takes about one bit for each row if the marked rows stand beside each other, as most do.
struct RowMarks {
  private var words: [UInt64: UInt64] = [:]

  mutating func insert(_ row: UInt64) { words[row / 64, default: 0] |= 1 << (row % 64) }

  func contains(_ row: UInt64) -> Bool { words[row / 64].map { $0 >> (row % 64) & 1 == 1 } ?? false }
}
