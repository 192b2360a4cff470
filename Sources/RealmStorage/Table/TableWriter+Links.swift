/// The links from and to rows, of which each end knows.
extension TableWriter {
  /// Counts only what differs: what both link to may be a row that a damaged file lacks.
  func changeLinks(from old: Value, to new: Value, _ column: Column, row: UInt64) throws(StorageError) {
    var counts: [UInt64: Int] = [:]
    for target in new.linkTargets { counts[target, default: 0] += 1 }
    for target in old.linkTargets { counts[target, default: 0] -= 1 }
    for (target, count) in counts.sorted(by: { $0.key < $1.key }) where count != 0 {
      let links = Value.list(Array(repeating: .link(target), count: abs(count)))
      if count > 0 { try addLinks(links, column, row: row) } else { try removeLinks(links, column, row: row) }
    }
  }

  func addLinks(_ value: Value, _ column: Column, row: UInt64) throws(StorageError) {
    let targets = value.linkTargets
    guard !targets.isEmpty else { return }
    let table = try tables.writer(linkedBy: column, of: schema)
    for target in targets {
      let exists = try table.contains(target)
      precondition(exists, "\(schema.name).\(column.name): there is no row \(target) in \(table.schema.name)")
      try table.links.add(target: target, table: schema.id, column: column.id, source: row)
    }
  }

  func removeLinks(_ value: Value, _ column: Column, row: UInt64) throws(StorageError) {
    let targets = value.linkTargets
    guard !targets.isEmpty else { return }
    let table = try tables.writer(linkedBy: column, of: schema)
    for target in targets {
      try table.links.remove(target: target, table: schema.id, column: column.id, source: row)
    }
  }

  /// Takes all links to a row away, but those from some rows of the same table.
  func unlink(_ row: UInt64, from spared: NumberSet = NumberSet()) throws(StorageError) {
    for link in try links.links(to: row)
    where link.table != schema.id || !spared.contains(Int64(bitPattern: link.source)) {
      guard let source = try tables.writer(id: link.table),
        let column = source.schema.columns.first(where: { $0.id == link.column }),
        column.target == schema.id, let value = try source.value(column, ofRow: link.source),
        value.linkTargets.contains(row)
      else { throw editor.store.corrupted(.structure, root.links) }
      if case .list(let elements) = value {
        _ = try source.set(.list(elements.filter { $0 != .link(row) }), column, ofRow: link.source)
      } else {
        _ = try source.set(.null, column, ofRow: link.source)
      }
    }
    try dropBuffer()
  }
}
