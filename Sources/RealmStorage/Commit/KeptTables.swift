/// The tables as the last transaction left them, for the next one that starts from what it made: it need not read them
/// again.
struct KeptTables {
  private var tables: OpenTables?
  private var number: UInt64 = 0
  /// What names the transaction's nodes in the file; nil while they are in memory.
  private var written: WrittenRefs?

  mutating func keep(_ tables: OpenTables, of number: UInt64) {
    self.tables = tables.canSettle ? tables : nil
    self.number = number
    written = nil
  }

  /// The arena is about to be emptied, and `base` is what comes next.
  mutating func note(_ written: WrittenRefs, of base: Version) {
    guard tables != nil else { return }
    if base.number == number { self.written = self.written ?? written } else { tables = nil }
  }

  /// Nil where the tables are not those of `number`.
  mutating func take(of number: UInt64) -> OpenTables? {
    guard let tables else { return nil }
    self.tables = nil
    return number == self.number && tables.settle(written) ? tables : nil
  }
}
