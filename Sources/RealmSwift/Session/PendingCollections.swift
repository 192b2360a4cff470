import RealmStorage

/// The collections of any values in a transaction, those in properties of `AnyRealmValue` with them: those that it changed and
/// has not written to their rows yet, and some that it read.
///
/// Such a collection is a part of a value that is written whole, so changes collect here, and it is written once: before
/// anything is read that could depend on it, before objects are deleted, and at commit. Until then every handle of the
/// collection reads it from here. All other collections are changed by the engine, element by element.
struct PendingCollections {
  struct Cell: Hashable {
    /// `ClassBinding.slot`: classes that share a table share its cells.
    let table: Int
    let row: UInt64
    let column: Int
  }

  private var changed: [Cell: Value] = [:]
  /// As their rows have them: to read one decodes all of it.
  private var read: [Cell: Value] = [:]

  /// So many at most are kept as they were read.
  private static let mostRead = 64

  /// What the cell holds, where that is known.
  func value(_ cell: Cell) -> Value? {
    if let value = changed.isEmpty ? nil : changed[cell] { return value }
    return read.isEmpty ? nil : read[cell]
  }

  /// The cell's row holds this.
  mutating func note(_ value: Value, of cell: Cell) {
    guard value.form != nil else { return }
    if read.count >= Self.mostRead { read = [:] }
    read[cell] = value
  }

  /// Changes what a cell will hold; of one that was not noted, null.
  mutating func change(_ cell: Cell, _ body: (inout Value) -> Void) {
    // So that no other reference is left to what is changed.
    if let known = read.removeValue(forKey: cell), changed[cell] == nil { changed[cell] = known }
    body(&changed[cell, default: .null])
  }

  /// The cell gets another value, and what was to be written is not.
  mutating func forget(_ cell: Cell) {
    if !changed.isEmpty { changed[cell] = nil }
    if !read.isEmpty { read[cell] = nil }
  }

  /// Some are kept as they were read.
  var hasRead: Bool { !read.isEmpty }

  /// Rows were removed, or changed together.
  mutating func forgetRead() { if !read.isEmpty { read = [:] } }

  typealias Change = (cell: Cell, value: Value)

  /// What waits to be written.
  mutating func takeAll() -> [Change] {
    if changed.isEmpty { return [] }
    defer { changed = [:] }
    return changed.map { ($0, $1) }
  }

  /// The same of one cell.
  mutating func take(_ cell: Cell) -> Change? {
    guard !changed.isEmpty, let value = changed.removeValue(forKey: cell) else { return nil }
    return (cell, value)
  }
}

extension RealmSession {
  /// Writes the collections that were changed to their rows.
  func writePending() throws(StorageError) {
    for change in pending.takeAll() { try write(change) }
  }

  /// The same of one object.
  func writePending(of row: UInt64, _ binding: ClassBinding) throws(StorageError) {
    for column in binding.columns where column >= 0 {
      let cell = PendingCollections.Cell(table: binding.slot, row: row, column: column)
      if let change = pending.take(cell) { try write(change) }
    }
  }

  private func write(_ change: PendingCollections.Change) throws(StorageError) {
    guard let binding = binding(ofSlot: change.cell.table), let table = try writable(binding) else { return }
    let isThere = try table.set(change.value, change.cell.column, ofRow: change.cell.row)
    if isThere { pending.note(change.value, of: change.cell) }
  }
}
