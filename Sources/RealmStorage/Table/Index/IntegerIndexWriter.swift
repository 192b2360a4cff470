/// An integer index in a transaction that changes it: its tree, and the entries that are not in the tree yet.
final class IntegerIndexWriter {
  @exclusivity(unchecked) private(set) var root: Ref
  private let editor: NodeEditor
  @exclusivity(unchecked) private var entries: [IntegerIndex.Entry] = []
  /// The numbers of `entries`, and if `isComplete` is true, also the numbers in the tree and in `parts`, so that no
  /// number has to be looked up there.
  @exclusivity(unchecked) private var numbers = NumberSet()
  @exclusivity(unchecked) private var isComplete: Bool
  /// True if the tree was empty when the transaction began, and `parts` were not joined since, as they are when the
  /// index is read. Then entries that take too much memory become a tree of their own in `parts`. This is done only
  /// while all numbers are in `numbers` as bits, so that none has to be looked up in the parts.
  @exclusivity(unchecked) private var fills: Bool
  @exclusivity(unchecked) private var parts = IndexParts()

  /// The number of entries at which they leave the memory. Sorting them takes the same amount of memory again.
  private let maximumEntries: Int

  init(root: Ref, editor: NodeEditor) {
    self.root = root
    self.editor = editor
    maximumEntries =
      EntryRun.room(spillingAbove: editor.spillBytes) / 2 / MemoryLayout<IntegerIndex.Entry>.stride
    isComplete = root.isNull
    fills = root.isNull
  }

  func settle(_ named: (Ref) -> Ref) {
    root = named(root)
    // The set is emptied because it would take memory between transactions.
    numbers = NumberSet()
    isComplete = root.isNull
    fills = root.isNull
  }

  func contains(_ number: Int64) throws(StorageError) -> Bool {
    if numbers.contains(number) { return true }
    try parts.check()
    guard !isComplete, !root.isNull else { return false }
    return try IntegerIndex.row(of: number, in: root, editor.access()) != nil
  }

  /// The row of a number; nil if there is none.
  func row(of number: Int64) throws(StorageError) -> UInt64? {
    if numbers.contains(number) { try flush() }
    try parts.check()
    guard !root.isNull else { return nil }
    return try IntegerIndex.row(of: number, in: root, editor.access())
  }

  /// - Precondition: the index does not have the number.
  func insert(_ number: Int64, row: UInt64) throws(StorageError) {
    entries.append(IntegerIndex.Entry(number: number, row: row))
    numbers.insert(number)
    guard entries.count >= maximumEntries else { return }
    if fills, isComplete, numbers.isCompact { try part() } else { try flush() }
  }

  func remove(_ number: Int64) throws(StorageError) {
    try flush()
    forgetNumbers()
    root = try IntegerIndex.remove(number, from: root, editor)
  }

  func remove(rows: NumberSet) throws(StorageError) {
    try flush()
    forgetNumbers()
    root = try IntegerIndex.remove(rows: rows, from: root, editor)
  }

  func removeAll() throws(StorageError) {
    entries = []
    for tree in [root] + parts.all { try editor.freeTree(tree) }
    (root, parts) = (.null, IndexParts())
    numbers = NumberSet()
    isComplete = true
  }

  /// Puts all entries into the tree.
  func flush() throws(StorageError) {
    try parts.check()
    guard parts.isEmpty else {
      try part()
      root = try parts.takeJoined(root, join)
      fills = false
      return forgetWhatTakesMemory()
    }
    guard !entries.isEmpty else { return }
    try editor.checkRoom(for: 32 * entries.count)
    root = try IntegerIndex.insert(takeSorted(), in: root, editor)
    forgetWhatTakesMemory()
  }

  /// Makes a tree of the entries and adds it to `parts`.
  private func part() throws(StorageError) {
    guard !entries.isEmpty else { return }
    try editor.checkRoom(for: 32 * entries.count)
    let entries = takeSorted()
    try parts.add(
      { () throws(StorageError) in try IntegerIndex.insert(entries, in: .null, editor) }, join: join)
  }

  private func join(_ trees: [Ref]) throws(StorageError) -> Ref { try IntegerIndex.join(trees, editor) }

  /// Empties `numbers` unless it is complete and has bits, because numbers without bits take far more memory.
  private func forgetWhatTakesMemory() { if !isComplete || !numbers.isCompact { forgetNumbers() } }

  /// Empties `numbers`. From now on the numbers of the tree are looked up there.
  private func forgetNumbers() {
    numbers = NumberSet()
    isComplete = false
  }

  /// Takes the entries and sorts them. If the numbers are close together, each entry is put directly into its
  /// place. If there are many entries and the numbers are not too far apart, a radix sort orders them by
  /// eleven bits in each pass.
  private func takeSorted() -> [IntegerIndex.Entry] {
    var entries: [IntegerIndex.Entry] = []
    swap(&entries, &self.entries)
    // A transaction that adds one row at a time needs no sorting.
    guard entries.count > 1 else { return entries }
    guard let least = entries.lazy.map(\.number).min(), let greatest = entries.lazy.map(\.number).max() else {
      return []
    }
    let range = UInt64(bitPattern: greatest &- least)
    // This takes no more memory than the radix sort.
    if range < 2 * UInt64(entries.count), let rows = Self.rows(of: entries, least, places: Int(range) + 1) {
      var next = 0
      for place in rows.indices where rows[place] != Self.none {
        entries[next] = IntegerIndex.Entry(number: least &+ Int64(place), row: rows[place])
        next += 1
      }
      precondition(next == entries.count, "IntegerIndexWriter: a number came twice")
      return entries
    }
    guard entries.count > 1024, range < 1 << 33 else { return entries.sorted { $0.number < $1.number } }
    var into = entries
    // The array is not copied, because there is no other reference to it.
    var from = consume entries
    var shift: UInt64 = 0
    while range >> shift > 0 {
      var places = [Int](repeating: 0, count: 1 << 11)
      for entry in from { places[Self.digit(entry, least, shift)] += 1 }
      var start = 0
      for digit in places.indices { (places[digit], start) = (start, start + places[digit]) }
      for entry in from {
        let digit = Self.digit(entry, least, shift)
        into[places[digit]] = entry
        places[digit] += 1
      }
      swap(&from, &into)
      shift += 11
    }
    return from
  }

  /// The mark of a number without a row. No row has this key, except in forged files.
  private static let none = UInt64.max

  /// The row of each number from the least on, and `none` for a number without an entry. Returns nil if a
  /// row key equals `none`.
  private static func rows(of entries: [IntegerIndex.Entry], _ least: Int64, places: Int) -> [UInt64]? {
    var rows = [UInt64](repeating: none, count: places)
    var greatest: UInt64 = 0
    for entry in entries {
      rows[Int(entry.number &- least)] = entry.row
      greatest = max(greatest, entry.row)
    }
    return greatest == none ? nil : rows
  }

  @inline(__always)
  private static func digit(_ entry: IntegerIndex.Entry, _ least: Int64, _ shift: UInt64) -> Int {
    Int(truncatingIfNeeded: UInt64(bitPattern: entry.number &- least) >> shift & 0x7ff)
  }
}
