/// The tables as the last transaction left them. If the next transaction starts from what that transaction made, it
/// need not read them again.
struct KeptTables {
  private var tables: OpenTables?
  private var number: UInt64 = 0
  /// The refs of the transaction's nodes in the file; nil while the nodes are in memory.
  private var written: WrittenRefs?

  mutating func keep(_ tables: OpenTables, of number: UInt64) {
    self.tables = tables.canSettle ? tables : nil
    self.number = number
    written = nil
  }

  /// Notes that the arena is about to be emptied, and that the next transaction begins with `base`.
  mutating func note(_ written: WrittenRefs, of base: Version) {
    guard tables != nil else { return }
    if base.number == number { self.written = self.written ?? written } else { tables = nil }
  }

  /// Takes the tables; nil if they are not those of the transaction `number`.
  mutating func take(of number: UInt64) -> OpenTables? {
    guard let tables else { return nil }
    self.tables = nil
    return number == self.number && tables.settle(written) ? tables : nil
  }
}
