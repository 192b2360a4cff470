/// Hidden tables in which objects are prepared: each is the twin of the table of a class, with the same columns of the same ids, so that its rows can become those of the class as they stand.
///
/// A twin gets its indexes when all objects are there: to add entries in each of many transactions would write most leaves of an index in each.
extension OpenTables {
  /// The table in which objects of a class are prepared; made where there is none. Nil of a class whose objects can't be prepared: it has objects, or properties of more than one value, or that link.
  func preparedTable(of name: String) throws(StorageError) -> TableWriter? {
    guard let table = try writer(name), try table.canTakeRows else { return nil }
    if let twin = try writer(name, isHidden: true) {
      return table.hasTwin(twin, isIndexed: false) ? twin : nil
    }
    let twin = try create(table.schema.twin(isIndexed: false))
    // No row of the class gets a key that another one had.
    twin.root.nextKey = table.root.nextKey
    return twin
  }

  /// Makes one of the indexes that a class has and its twin lacks. Takes time in proportion to the rows.
  ///
  /// - Returns: false, with nothing done, where it lacks none, or the class has changed.
  /// - Throws: `.duplicateKey` where two rows have one primary key.
  func indexPrepared(_ twin: TableWriter) throws(StorageError) -> Bool {
    guard let table = try writer(twin.schema.name), try table.canTakeRows,
      twin.schema.columns.count == table.schema.columns.count
    else { return false }
    for (position, column) in table.schema.columns.enumerated() where column.index != .none {
      let known = twin.schema.columns[position]
      guard known.index == .none, known.id == column.id else { continue }
      try twin.changeSchema { $0.columns[position] = column }
      try twin.fillIndex(of: column)
      return true
    }
    return false
  }

  /// Shows the rows of a twin as those of its class, and drops it. Links that wait for the rows take their places.
  ///
  /// Takes time in proportion to the links that wait, and not to the rows.
  ///
  /// - Returns: false, with nothing done, where the class has objects meanwhile, or other columns, or the twin lacks an index; or where a recorder is to be told each change.
  func showPrepared(_ twin: TableWriter) throws(StorageError) -> Bool {
    guard recording?.recorder == nil, let table = try writer(twin.schema.name), try table.canTakeRows,
      table.hasTwin(twin, isIndexed: true), try twin.hasOnlyRows(from: table.root.nextKey)
    else { return false }
    do throws(StorageError) {
      try table.takeRows(of: twin)
      drop(twin)
      try knowing { () throws(StorageError) in
        try deriving { () throws(StorageError) in try table.resolveAllAbsentLinks() }
      }
    } catch {
      throw fail(error)
    }
    return true
  }
}

extension TableWriter {
  /// Whether the rows of another table may become its own: it has none, and what belongs to a row stands in its cells and in indexes.
  fileprivate var canTakeRows: Bool {
    get throws(StorageError) {
      guard root.rows == 0, !schema.isEmbedded, schema.primaryKey != nil, try links.isEmpty() else {
        return false
      }
      return schema.unknown == UnknownAttributes()
        && schema.columns.allSatisfy { !$0.isCompanion && !$0.isCollection && !$0.canLink }
    }
  }

  fileprivate func hasTwin(_ other: TableWriter, isIndexed: Bool) -> Bool {
    schema.twin(isIndexed: isIndexed).numbered(other.schema.id) == other.schema
  }

  /// Whether it has rows only, and no row has a lesser key than this one. The class has given the lesser keys itself.
  fileprivate func hasOnlyRows(from key: UInt64) throws(StorageError) -> Bool {
    let root = try flushed()
    guard root.links.isNull, root.absentLinks.isNull,
      root.indexes.all.allSatisfy({ entry in schema.columns.contains { $0.indexID == entry.id } })
    else { return false }
    guard root.rows > 0 else { return true }
    return try TableReading.key(at: 0, in: root.clusters, editor.access()) >= key
  }

  /// - Precondition: the other table is a twin with all indexes; this one has no rows.
  fileprivate func takeRows(of other: TableWriter) throws(StorageError) {
    let taken = try other.flushed()
    try dropBuffer()
    // Without rows these have no entries, but a tree may have a node.
    try dictionaries.removeAll()
    for index in indexes { try index.removeAll() }
    (root.rows, root.nextKey, clusters) = (taken.rows, max(root.nextKey, taken.nextKey), taken.clusters)
    (root.indexes, root.dictionaries) = (taken.indexes, taken.dictionaries)
    dictionaries.settle(taken.dictionaries)
    indexes = schema.columns.filter { $0.index != .none }
      .map { IndexWriter(column: $0, root: taken.index(of: $0), editor: editor) }
    toldRows = root.nextKey
  }
}
