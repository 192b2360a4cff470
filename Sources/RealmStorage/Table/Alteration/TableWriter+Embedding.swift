/// Making tables embedded, or no longer embedded.
extension TableWriter {
  /// Makes the table embedded: each row belongs to the one row that links to it. Rows without a link to them are
  /// removed. If several links lead to a row, the first link keeps it, and each other link gets a copy of it, with
  /// copies of the embedded rows that it owns. Links from mixed values to rows of the table become null.
  ///
  /// Takes time in proportion to the links, and for each copy the time that it takes to set a link.
  ///
  /// - Precondition: the table has no primary key, no column of its own links to it, and no column of sets links to it.
  func becomeEmbedded() throws(StorageError) {
    do throws(StorageError) {
      try dropBuffer()
      let owners = try owners()
      if !owners.mixed.isEmpty { try unlinkMixed(owners.mixed) }
      let kept = NumberSet(owners.owned)
      let orphans = try allKeys().filter { !kept.contains(Int64(bitPattern: $0)) }
      if !orphans.isEmpty { _ = try removeAlone(orphans) }
      for row in owners.shared { try giveCopies(of: row) }
      try changeSchema { $0.isEmbedded = true }
    } catch {
      throw tables.fail(error)
    }
    // The embedded rows that the removed rows owned are removed, too.
    try tables.removeOrphans()
  }

  /// Makes the table not embedded: its rows no longer need an owner.
  func becomeUnembedded() throws(StorageError) {
    do throws(StorageError) { try changeSchema { $0.isEmbedded = false } } catch { throw tables.fail(error) }
  }

  /// The keys of rows by the kind of links to them, each in ascending order.
  private struct Owners {
    /// The rows to which columns of links link.
    var owned: [UInt64] = []
    /// The rows to which more than one link of such columns leads.
    var shared: [UInt64] = []
    /// The rows to which mixed values link.
    var mixed: [UInt64] = []
  }

  private func owners() throws(StorageError) -> Owners {
    var owners = Owners()
    guard try !links.isEmpty() else { return owners }
    let areMixed = mixedColumns
    try LinkIndex.forEach([], in: links.root, editor.access()) { entry in
      if areMixed.contains(LinkingColumn(entry)) {
        if owners.mixed.last != entry.target { owners.mixed.append(entry.target) }
        return true
      }
      let isFirst = owners.owned.last != entry.target
      if isFirst { owners.owned.append(entry.target) }
      if !isFirst || entry.count > 1, owners.shared.last != entry.target {
        owners.shared.append(entry.target)
      }
      return true
    }
    return owners
  }

  private struct LinkingColumn: Hashable {
    let table: UInt32
    let column: UInt16

    init(table: UInt32, column: UInt16) { (self.table, self.column) = (table, column) }
    init(_ entry: LinkIndex.Entry) { self.init(table: entry.table, column: entry.column) }
  }

  /// The columns of all tables that may link to rows of any table.
  private var mixedColumns: Set<LinkingColumn> {
    var found: Set<LinkingColumn> = []
    for schema in tables.allSchemas {
      for column in schema.columns where column.type == .mixed {
        found.insert(LinkingColumn(table: schema.id, column: column.id))
      }
    }
    return found
  }

  /// Removes the links of mixed values to some rows.
  private func unlinkMixed(_ rows: [UInt64]) throws(StorageError) {
    let areMixed = mixedColumns
    for row in rows {
      for link in try links.links(to: row) where areMixed.contains(LinkingColumn(link)) {
        let (source, column) = try linking(link)
        let target = LinkTarget(table: schema.id, row: row)
        guard try source.unlink([target: link.count], column, ofRow: link.source) else {
          throw editor.store.corrupted(.structure, root.links)
        }
      }
    }
  }

  /// The table and the column that an entry of the link index names.
  private func linking(_ link: LinkIndex.Entry) throws(StorageError) -> (TableWriter, Column) {
    guard let source = try tables.writer(id: link.table),
      let column = source.schema.columns.first(where: { $0.id == link.column })
    else { throw editor.store.corrupted(.structure, root.links) }
    return (source, column)
  }

  // MARK: - Copies

  /// Makes each link to a row, except the first one, lead to a copy of the row.
  private func giveCopies(of row: UInt64) throws(StorageError) {
    var isFirst = true
    for link in try links.links(to: row) {
      let (source, column) = try linking(link)
      guard let value = try source.value(column, ofRow: link.source) else {
        throw editor.store.corrupted(.structure, root.links)
      }
      let new = try value.mapLinks { (target) throws(StorageError) in
        guard target == row else { return target }
        guard !isFirst else {
          isFirst = false
          return target
        }
        return try copy(of: row)
      }
      if new != value { _ = try source.setUntold(new, column, ofRow: link.source) }
    }
  }

  /// Makes a copy of a row, with copies of the embedded rows that it owns. Returns its key.
  private func copy(of row: UInt64) throws(StorageError) -> UInt64 {
    var values: [Value] = []
    for column in schema.columns {
      var value = try value(column, ofRow: row) ?? column.defaultValue
      if column.type == .link, let owned = try tables.writer(id: column.target), owned.schema.isEmbedded {
        value = try value.mapLinks { (target) throws(StorageError) in try owned.copy(of: target) }
      }
      values.append(value)
    }
    return try insert { (new) throws(StorageError) in
      for (position, value) in values.enumerated() { try new.set(position, value) }
    }
  }
}

extension Value {
  /// This value, with each linked row replaced by another one. It is a value of a column of links that is no set.
  fileprivate func mapLinks(_ change: (UInt64) throws(StorageError) -> UInt64) throws(StorageError) -> Value {
    switch self {
    case .link(let row): return .link(try change(row))
    case .list(let elements, let id):
      var changed: [Value] = []
      for element in elements { changed.append(try element.mapLinks(change)) }
      return .list(changed, id: id)
    case .map(let map, let id):
      return .map(try map.mapped { (value) throws(StorageError) in try value.mapLinks(change) }, id: id)
    default: return self
    }
  }
}
