/// The links from and to rows, of which each end knows.
extension TableWriter {
  /// Counts only what differs: what both link to may be a row that a damaged file lacks.
  func changeLinks(from old: Value, to new: Value, _ column: Column, row: UInt64) throws(StorageError) {
    var counts: [LinkTarget: Int] = [:]
    for target in new.linkTargets(of: column) { counts[target, default: 0] += 1 }
    for target in old.linkTargets(of: column) { counts[target, default: 0] -= 1 }
    for (target, count) in counts.sorted(by: { ($0.key.table, $0.key.row) < ($1.key.table, $1.key.row) }) {
      let targets = Array(repeating: target, count: abs(count))
      if count > 0 { try add(targets, column, row: row) } else { try remove(targets, column, row: row) }
    }
  }

  func addLinks(_ value: Value, _ column: Column, row: UInt64) throws(StorageError) {
    try add(value.linkTargets(of: column), column, row: row)
  }

  func removeLinks(_ value: Value, _ column: Column, row: UInt64) throws(StorageError) {
    try remove(value.linkTargets(of: column), column, row: row)
  }

  private func add(_ targets: [LinkTarget], _ column: Column, row: UInt64) throws(StorageError) {
    for target in targets {
      let table = try tables.writer(of: target, linkedBy: column, of: schema)
      let exists = try table.contains(target.row)
      precondition(
        exists, "\(schema.name).\(column.name): there is no row \(target.row) in \(table.schema.name)")
      try table.links.add(target: target.row, table: schema.id, column: column.id, source: row)
    }
  }

  private func remove(_ targets: [LinkTarget], _ column: Column, row: UInt64) throws(StorageError) {
    for target in targets {
      let table = try tables.writer(of: target, linkedBy: column, of: schema)
      try table.links.remove(target: target.row, table: schema.id, column: column.id, source: row)
      if table.schema.isEmbedded { tables.noteOrphan(target) }
    }
  }

  /// Takes all links to a row away, but those from some rows of the same table.
  func unlink(_ row: UInt64, from spared: NumberSet = NumberSet()) throws(StorageError) {
    let target = LinkTarget(table: schema.id, row: row)
    for link in try links.links(to: row)
    where link.table != schema.id || !spared.contains(Int64(bitPattern: link.source)) {
      guard let source = try tables.writer(id: link.table),
        let column = source.schema.columns.first(where: { $0.id == link.column }),
        let value = try source.value(column, ofRow: link.source),
        value.linkTargets(of: column).contains(target)
      else { throw editor.store.corrupted(.structure, root.links) }
      _ = try source.set(value.unlinked(target, of: column), column, ofRow: link.source)
    }
    try dropBuffer()
  }
}
