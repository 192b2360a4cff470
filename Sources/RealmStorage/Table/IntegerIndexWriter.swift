/// An integer index being changed: its tree, and the entries not in it yet.
final class IntegerIndexWriter {
  @exclusivity(unchecked) private(set) var root: Ref
  private let editor: NodeEditor
  @exclusivity(unchecked) private var entries: [IntegerIndex.Entry] = []
  /// Those of `entries`; where `isComplete` those of the tree too, so that nothing is looked up there.
  @exclusivity(unchecked) private var numbers = NumberSet()
  @exclusivity(unchecked) private var isComplete: Bool
  /// Nothing was in the tree when the transaction began: what there is too much of in memory becomes trees of their own,
  /// joined when the index is read, or they are many. So each entry is made part of a tree a few times, however many there are.
  @exclusivity(unchecked) private var fills: Bool
  @exclusivity(unchecked) private var parts: [Ref] = []

  /// To sort them takes as much again.
  private let maximumEntries: Int

  init(root: Ref, editor: NodeEditor) {
    self.root = root
    self.editor = editor
    maximumEntries =
      min(EntryRun.maximumBytes, editor.spillBytes) / 2 / MemoryLayout<IntegerIndex.Entry>.stride
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
    guard !isComplete else { return false }
    if try IntegerIndex.row(of: number, in: root, editor.access()) != nil { return true }
    for part in parts where try IntegerIndex.row(of: number, in: part, editor.access()) != nil { return true }
    return false
  }

  /// The row of a number; nil where there is none.
  func row(of number: Int64) throws(StorageError) -> UInt64? {
    if numbers.contains(number) || (!isComplete && !parts.isEmpty) { try flush() }
    guard !root.isNull else { return nil }
    return try IntegerIndex.row(of: number, in: root, editor.access())
  }

  /// - Precondition: the index has no such number.
  func insert(_ number: Int64, row: UInt64) throws(StorageError) {
    entries.append(IntegerIndex.Entry(number: number, row: row))
    numbers.insert(number)
    if entries.count >= maximumEntries { if fills { try part() } else { try flush() } }
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
    for tree in [root] + parts { try editor.freeTree(tree) }
    (root, parts) = (.null, [])
    numbers = NumberSet()
    isComplete = true
  }

  /// Puts all entries into the tree.
  func flush() throws(StorageError) {
    guard parts.isEmpty else {
      try part()
      root = try IntegerIndex.join((root.isNull ? [] : [root]) + parts, editor)
      parts = []
      return
    }
    guard !entries.isEmpty else { return }
    try editor.checkRoom(for: 32 * entries.count)
    root = try IntegerIndex.insert(takeSorted(), in: root, editor)
    if !isComplete || !numbers.isCompact { forgetNumbers() }
  }

  /// Makes a tree of the entries.
  private func part() throws(StorageError) {
    guard !entries.isEmpty else { return }
    try editor.checkRoom(for: 32 * entries.count)
    parts.append(try IntegerIndex.insert(takeSorted(), in: .null, editor))
    if parts.count >= EntryRun.mostParts { parts = [try IntegerIndex.join(parts, editor)] }
    if !isComplete || !numbers.isCompact { forgetNumbers() }
  }

  /// From now on those of the tree are looked up there.
  private func forgetNumbers() {
    numbers = NumberSet()
    isComplete = false
  }

  /// Many numbers that stand close together are sorted by their digits: each pass takes them to where they belong by
  /// eleven bits.
  private func takeSorted() -> [IntegerIndex.Entry] {
    var entries: [IntegerIndex.Entry] = []
    swap(&entries, &self.entries)
    guard let least = entries.lazy.map(\.number).min(), let greatest = entries.lazy.map(\.number).max() else {
      return []
    }
    let range = UInt64(bitPattern: greatest &- least)
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

  @inline(__always)
  private static func digit(_ entry: IntegerIndex.Entry, _ least: Int64, _ shift: UInt64) -> Int {
    Int(truncatingIfNeeded: UInt64(bitPattern: entry.number &- least) >> shift & 0x7ff)
  }
}
