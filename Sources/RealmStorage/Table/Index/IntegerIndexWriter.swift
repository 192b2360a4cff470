/// An integer index being changed: its tree, and the entries not in it yet.
final class IntegerIndexWriter {
  @exclusivity(unchecked) private(set) var root: Ref
  private let editor: NodeEditor
  @exclusivity(unchecked) private var entries: [IntegerIndex.Entry] = []
  /// Those of `entries`; where `isComplete` those of the tree too, so that nothing is looked up there.
  @exclusivity(unchecked) private var numbers = NumberSet()
  @exclusivity(unchecked) private var isComplete: Bool
  /// Nothing was in the tree when the transaction began, and nobody has read the index since: what there is too much of in
  /// memory becomes a tree of its own. Only while all numbers are known by bits, so that none is looked for in the parts.
  @exclusivity(unchecked) private var fills: Bool
  @exclusivity(unchecked) private var parts = IndexParts()

  /// To sort them takes as much again.
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
    // It would take memory between transactions.
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

  /// The row of a number; nil where there is none.
  func row(of number: Int64) throws(StorageError) -> UInt64? {
    if numbers.contains(number) { try flush() }
    try parts.check()
    guard !root.isNull else { return nil }
    return try IntegerIndex.row(of: number, in: root, editor.access())
  }

  /// - Precondition: the index has no such number.
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

  /// Makes a tree of the entries.
  private func part() throws(StorageError) {
    guard !entries.isEmpty else { return }
    try editor.checkRoom(for: 32 * entries.count)
    let entries = takeSorted()
    try parts.add(
      { () throws(StorageError) in try IntegerIndex.insert(entries, in: .null, editor) }, join: join)
  }

  private func join(_ trees: [Ref]) throws(StorageError) -> Ref { try IntegerIndex.join(trees, editor) }

  /// Numbers that are not known by bits take far more.
  private func forgetWhatTakesMemory() { if !isComplete || !numbers.isCompact { forgetNumbers() } }

  /// From now on those of the tree are looked up there.
  private func forgetNumbers() {
    numbers = NumberSet()
    isComplete = false
  }

  /// Numbers that stand close together are put where they belong at once; many that do not stand too far apart are sorted by
  /// their digits: each pass takes them to where they belong by eleven bits.
  private func takeSorted() -> [IntegerIndex.Entry] {
    var entries: [IntegerIndex.Entry] = []
    swap(&entries, &self.entries)
    // Who adds one row at a time has nothing to put in order.
    guard entries.count > 1 else { return entries }
    guard let least = entries.lazy.map(\.number).min(), let greatest = entries.lazy.map(\.number).max() else {
      return []
    }
    let range = UInt64(bitPattern: greatest &- least)
    // No more memory than the digits take.
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
    // Not copied: nobody else has it.
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

  /// No row has this key, but in forged files.
  private static let none = UInt64.max

  /// The row of each number from the least on, and none where there is no such number; nil where a row can't be told from
  /// none.
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
