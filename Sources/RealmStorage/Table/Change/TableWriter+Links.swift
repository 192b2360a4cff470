/// Changes of the links between rows. The row at one end has the link in a value, and the table at the other end has it
/// in its link index.
extension TableWriter {
  /// Changes the link indexes after a value was replaced. It changes only the entries that differ, because a row to
  /// which both values link may be missing in a damaged file.
  func changeLinks(from old: Value, to new: Value, _ column: Column, row: UInt64) throws(StorageError) {
    if column.holdsAbsentLinks { return try changeAbsentLinks(from: old, to: new, column, row: row) }
    var counts: [LinkTarget: Int] = [:]
    for target in new.linkTargets(of: column) { counts[target, default: 0] += 1 }
    for target in old.linkTargets(of: column) { counts[target, default: 0] -= 1 }
    for target in old.linkTargets(of: column) where counts[target] == 0 { counts[target] = nil }
    for (target, count) in counts.sorted(by: { ($0.key.table, $0.key.row) < ($1.key.table, $1.key.row) }) {
      let targets = Array(repeating: target, count: abs(count))
      if count > 0 { try add(targets, column, row: row) } else { try remove(targets, column, row: row) }
    }
  }

  func addLinks(_ value: Value, _ column: Column, row: UInt64) throws(StorageError) {
    if column.holdsAbsentLinks { return try changeAbsentLinks(from: .null, to: value, column, row: row) }
    try add(value.linkTargets(of: column), column, row: row)
  }

  func removeLinks(_ value: Value, _ column: Column, row: UInt64) throws(StorageError) {
    if column.holdsAbsentLinks { return try changeAbsentLinks(from: value, to: .null, column, row: row) }
    try remove(value.linkTargets(of: column), column, row: row)
  }

  private func add(_ targets: [LinkTarget], _ column: Column, row: UInt64) throws(StorageError) {
    for target in targets {
      guard !isReplaying else {
        guard let table = try tables.writer(id: target.table) else {
          throw mismatch(.noTarget, column: column.id, row: row)
        }
        // `ChangeReplay` checks after the last change whether the row exists.
        tables.replay?.addLink(target)
        try table.links.add(target: target.row, table: schema.id, column: column.id, source: row)
        continue
      }
      if column.type == .mixed {
        let isThere = try tables.writer(id: target.table) != nil
        precondition(isThere, "\(schema.name).\(column.name): there is no table \(target.table)")
      }
      let table = try tables.writer(of: target, linkedBy: schema)
      let exists = try table.contains(target.row)
      precondition(
        exists, "\(schema.name).\(column.name): there is no row \(target.row) in \(table.schema.name)")
      try table.links.add(target: target.row, table: schema.id, column: column.id, source: row)
    }
  }

  private func remove(_ targets: [LinkTarget], _ column: Column, row: UInt64) throws(StorageError) {
    for target in targets {
      let table = try tables.writer(of: target, linkedBy: schema)
      try table.links.remove(target: target.row, table: schema.id, column: column.id, source: row)
      if table.schema.isEmbedded { tables.noteOrphan(target) }
    }
  }

  /// The place of a value that links to rows.
  private struct Source: Hashable {
    var table: UInt32
    var column: UInt16
    var row: UInt64
  }

  /// Removes all links to rows, except the links from the rows `spared` of this table. A value that links to several of
  /// the rows is changed once.
  func unlink(_ rows: [UInt64], from spared: NumberSet = NumberSet()) throws(StorageError) {
    var targets: [Source: [LinkTarget: UInt64]] = [:]
    for row in rows {
      for link in try links.links(to: row)
      where link.table != schema.id || !spared.contains(Int64(bitPattern: link.source)) {
        targets[Source(table: link.table, column: link.column, row: link.source), default: [:]][
          LinkTarget(table: schema.id, row: row)] = link.count
      }
    }
    // The order does not depend on hashes, so that the same changes are recorded each time.
    for (place, targets) in targets.sorted(by: {
      ($0.key.table, $0.key.column, $0.key.row) < ($1.key.table, $1.key.column, $1.key.row)
    }) {
      guard let source = try tables.writer(id: place.table),
        let column = source.schema.columns.first(where: { $0.id == place.column }),
        try tables.deriving({ () throws(StorageError) in
          try source.unlink(targets, column, ofRow: place.row)
        })
      else { throw editor.store.corrupted(.structure, root.links) }
    }
    try dropBuffer()
  }

  /// Removes links to rows from a value. Returns false if the value does not have all of them.
  func unlink(
    _ targets: [LinkTarget: UInt64], _ column: Column, ofRow row: UInt64
  ) throws(StorageError) -> Bool {
    switch column.collection {
    case .list where column.type == .link: return try removeLinks(targets, fromList: column, ofRow: row)
    case .set: return try removeLinks(targets, fromSorted: column, ofRow: row)
    case .map where column.type == .link: return try removeLinks(targets, fromSorted: column, ofRow: row)
    default: break
    }
    guard let value = try self.value(column, ofRow: row) else { return false }
    let rows = Set(targets.keys)
    guard rows.isSubset(of: value.linkTargets(of: column)) else { return false }
    let new = value.unlinked(rows, of: column)
    let isDone = try setUntold(new, column, ofRow: row)
    if isRecorded { try noteUnlink(from: value, to: new, column, row) }
    return isDone
  }

  /// Reports which elements of a cell have lost a link.
  private func noteUnlink(
    from old: Value, to new: Value, _ column: Column, _ row: UInt64
  ) throws(StorageError) {
    let cell = CellPlace(row: row, column: column.id)
    switch (column.collection, old, new) {
    case (.list, .list(let before, _), .list(let after, _)) where before.count == after.count:
      for place in before.indices where before[place] != after[place] {
        try note(
          .setElement(after[place], at: place, ElementsPlace(cell: cell)), before: .value(before[place]))
      }
    case (.map, .map(let before, _), .map(let after, _)) where before.count == after.count:
      for place in before.values.indices where before.values[place] != after.values[place] {
        try note(
          .setValue(after.values[place], key: before.keys[place], ElementsPlace(cell: cell)),
          before: .value(before.values[place]))
      }
    default: try note(.set(new, cell), before: .value(old))
    }
  }
}
