import RealmStorage

/// Lists that a transaction changed and has not written to their rows yet.
///
/// To change one element writes the whole list, so changes collect here, and a list is written once: before anything is
/// read that could depend on it, before objects are deleted, and at commit. Until then every handle of the list reads it
/// from here.
struct PendingLists {
  struct Cell: Hashable {
    let binding: Int
    let row: UInt64
    let position: Int
  }

  private var values: [Cell: [Value]] = [:]

  subscript(cell: Cell) -> [Value]? {
    get { values.isEmpty ? nil : values[cell] }
    set { values[cell] = newValue }
  }

  /// Changes a list that was put here before.
  mutating func change(_ cell: Cell, _ body: (inout [Value]) -> Void) { body(&values[cell, default: []]) }

  mutating func removeAll() -> [Cell: [Value]] {
    defer { values = [:] }
    return values
  }
}

extension RealmSession {
  /// Writes the lists that were changed to their rows.
  func writeLists() throws(StorageError) {
    for (cell, values) in pendingLists.removeAll() {
      let binding = file.schema.bindings[cell.binding]
      try writable(binding)?.set(.list(values), binding.columns[cell.position], ofRow: cell.row)
    }
  }
}
