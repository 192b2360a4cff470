import RealmStorage

/// Collections that a transaction changed and has not written to their rows yet.
///
/// To change one element writes the whole collection, so changes collect here, and a collection is written once: before
/// anything is read that could depend on it, before objects are deleted, and at commit. Until then every handle of the
/// collection reads it from here.
struct PendingCollections {
  struct Cell: Hashable {
    let binding: Int
    let row: UInt64
    let position: Int
  }

  private var values: [Cell: Value] = [:]
  /// The embedded objects that a collection was given, some of which it may have let go of again: their rows.
  private var parts: [Cell: [UInt64]] = [:]

  /// What the cell will hold; nil where nothing waits to be written.
  func value(_ cell: Cell) -> Value? { values.isEmpty ? nil : values[cell] }

  func has(_ cell: Cell) -> Bool { values[cell] != nil }

  /// Changes what a cell will hold.
  ///
  /// - Parameter before: what it holds, where nothing is here yet.
  mutating func change(_ cell: Cell, from before: Value, _ body: (inout Value) -> Void) {
    body(&values[cell, default: before])
  }

  /// The cell gets another value, and what was to be written is not.
  mutating func forget(_ cell: Cell) { if !values.isEmpty { values[cell] = nil } }

  /// The collection was given embedded objects.
  mutating func add(parts values: [Value], to cell: Cell) {
    parts[cell, default: []] += values.compactMap { if case .link(let row) = $0 { row } else { nil } }
  }

  /// What waits to be written, with the parts that were given.
  mutating func removeAll() -> [(cell: Cell, value: Value, parts: [UInt64])] {
    if values.isEmpty { return [] }
    defer { (values, parts) = ([:], [:]) }
    return values.map { ($0, $1, parts[$0] ?? []) }
  }
}

extension Value {
  /// Of a collection of links.
  fileprivate var linkedRows: [UInt64] {
    (elements ?? []).compactMap { if case .link(let row) = $0 { row } else { nil } }
  }
}

extension RealmSession {
  /// Writes the collections that were changed to their rows.
  func writePending() throws(StorageError) {
    for (cell, value, parts) in pending.removeAll() {
      let binding = file.schema.bindings[cell.binding]
      guard let table = try writable(binding) else { continue }
      let isThere = try table.set(value, binding.columns[cell.position], ofRow: cell.row)
      guard !parts.isEmpty, let part = binding.model.properties[cell.position].type.target else { continue }
      // What a collection was given and does not hold any more has no owner; so has all of it without the collection's.
      let owned = isThere ? Set(value.linkedRows) : []
      try writable(self.binding(part))?.remove(parts.filter { !owned.contains($0) })
    }
  }
}
