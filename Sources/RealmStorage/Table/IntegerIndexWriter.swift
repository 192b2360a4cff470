/// An integer index being changed: its tree, and the entries not in it yet, which are found by hashing.
final class IntegerIndexWriter {
  private(set) var root: Ref
  private let editor: NodeEditor
  private var entries: [IntegerIndex.Entry] = []
  /// By the hash of the number: its upper half, and the place in `entries`, one more; zero where there is none.
  private var table: [UInt64] = []

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
    let hash = Self.hash(number)
    var slot = Int(hash & UInt64(table.count - 1))
    while table[slot] != 0 {
      if table[slot] >> 32 == hash >> 32, entries[Int(table[slot] & 0xffff_ffff) - 1].number == number {
        return true
      }
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
    let hash = Self.hash(entries[index].number)
    var slot = Int(hash & UInt64(table.count - 1))
    while table[slot] != 0 { slot = (slot + 1) & (table.count - 1) }
    table[slot] = (hash & ~0xffff_ffff) | UInt64(index + 1)
  }

  private static func hash(_ number: Int64) -> UInt64 {
    let mixed = (UInt64(bitPattern: number) ^ seed) &* 0x9e37_79b9_7f4a_7c15
    return mixed ^ mixed >> 32
  }

  /// So that nobody can choose numbers that share a slot.
  private static let seed = UInt64.random(in: 0...UInt64.max)
}
