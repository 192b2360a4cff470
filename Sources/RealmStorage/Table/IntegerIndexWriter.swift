/// An integer index being changed: its tree, and the entries not in it yet, which are found by hashing.
final class IntegerIndexWriter {
  private(set) var root: Ref
  private let editor: NodeEditor
  private var entries: [IntegerIndex.Entry] = []
  /// Places in `entries`, one more each, by the hash of the number; zero where there is none.
  private var table: [UInt32] = []

  private static let maximumEntries = 1 << 20

  init(root: Ref, editor: NodeEditor) {
    self.root = root
    self.editor = editor
  }

  func contains(_ number: Int64) throws(StorageError) -> Bool {
    if isPending(number) { return true }
    guard !root.isNull else { return false }
    return try IntegerIndex.row(of: number, in: root, editor.access()) != nil
  }

  private func isPending(_ number: Int64) -> Bool {
    guard !table.isEmpty else { return false }
    var slot = Self.slot(number, table.count)
    while table[slot] != 0 {
      if entries[Int(table[slot]) - 1].number == number { return true }
      slot = (slot + 1) & (table.count - 1)
    }
    return false
  }

  /// - Precondition: the index has no such number.
  func insert(_ number: Int64, row: UInt64) throws(StorageError) {
    entries.append(IntegerIndex.Entry(number: number, row: row))
    if entries.count * 2 > table.count { rehash() } else { note(entries.count - 1) }
    if entries.count >= Self.maximumEntries { try flush() }
  }

  func remove(_ number: Int64) throws(StorageError) {
    try flush()
    root = try IntegerIndex.remove(number, from: root, editor)
  }

  func removeAll() throws(StorageError) {
    forget()
    try editor.freeTree(root)
    root = .null
  }

  /// Puts all entries into the tree.
  func flush() throws(StorageError) {
    guard !entries.isEmpty else { return }
    try editor.checkRoom(for: 32 * entries.count)
    entries.sort { $0.number < $1.number }
    root = try IntegerIndex.insert(entries, in: root, editor)
    forget()
  }

  private func forget() {
    entries = []
    table = []
  }

  private func rehash() {
    table = Array(repeating: 0, count: max(16, table.count * 2))
    for index in entries.indices { note(index) }
  }

  private func note(_ index: Int) {
    var slot = Self.slot(entries[index].number, table.count)
    while table[slot] != 0 { slot = (slot + 1) & (table.count - 1) }
    table[slot] = UInt32(index + 1)
  }

  private static func slot(_ number: Int64, _ count: Int) -> Int {
    let mixed = (UInt64(bitPattern: number) ^ seed) &* 0x9e37_79b9_7f4a_7c15
    return Int((mixed ^ mixed >> 32) & UInt64(count - 1))
  }

  /// So that nobody can choose numbers that share a slot.
  private static let seed = UInt64.random(in: 0...UInt64.max)
}
