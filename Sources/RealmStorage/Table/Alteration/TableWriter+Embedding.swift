/// Tables that become embedded, or embedded no more.
extension TableWriter {
  /// Each row belongs to the one row that links to it from now on. Rows that nobody links to are removed. If several links lead to a row, the first one keeps it, and
  /// each other one gets a copy of it, with copies of the embedded rows that it owns. Mixed values that link to rows become null.
  ///
  /// Takes time in proportion to the links, and for each copy the time that it takes to set a link.
  ///
  /// - Precondition: the table has no primary key, no column of its own links to it, and no column of sets.
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
    // Rows that the removed rows owned go, too.
    try tables.removeOrphans()
  }

  /// The rows stand for themselves from now on.
  func becomeUnembedded() throws(StorageError) {
    do throws(StorageError) { try changeSchema { $0.isEmbedded = false } } catch { throw tables.fail(error) }
  }

  /// Rows by who links to them, each in order.
  private struct Owners {
    /// A column of links links to them.
    var owned: [UInt64] = []
    /// More than one link of such columns leads to them.
    var shared: [UInt64] = []
    /// Mixed values link to them.
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

  /// Takes the links of mixed values to some rows away.
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

  /// Lets each link to a row but the first lead to a copy.
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

  /// Makes a row with the values of another one; answers its key.
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
  /// This value with other rows in place of those that it links to. It is a value of a column of links that is no set.
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
