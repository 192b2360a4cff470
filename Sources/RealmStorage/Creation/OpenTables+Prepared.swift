/// Hidden tables in which objects are prepared. Each is the twin of the table of a class. It has the same columns with
/// the same ids, so that its rows can become rows of the class without a change.
///
/// A twin gets its indexes when all objects are there. If each of many transactions added entries, each would write
/// most leaves of an index.
extension OpenTables {
  /// The table in which objects of a class are prepared; it is made if it does not exist. Nil for a class whose objects
  /// can't be prepared, because it has objects already, or properties that are collections or links.
  func preparedTable(of name: String) throws(StorageError) -> TableWriter? {
    guard let table = try writer(name), try table.canTakeRows else { return nil }
    if let twin = try writer(name, isHidden: true) {
      return table.hasTwin(twin, isIndexed: false) ? twin : nil
    }
    let twin = try create(table.schema.twin(isIndexed: false))
    // A row of the class must never get a key that another row had.
    twin.root.nextKey = table.root.nextKey
    return twin
  }

  /// Makes one index that a class has and its twin lacks. Takes time in proportion to the rows.
  ///
  /// - Returns: False, without any change, if the twin lacks no index or the class has changed.
  /// - Throws: `.duplicateKey` if two rows have the same primary key.
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

  /// Moves the rows of a twin to its class, and drops the twin. Links that wait for the rows are set.
  ///
  /// Takes time in proportion to the waiting links, and not to the rows.
  ///
  /// - Returns: False, without any change, if the class has objects or other columns by now, if the twin lacks an
  ///   index, or if a recorder must get each change.
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
  /// True if the table can take over the rows of its twin: it has no rows, and all content of a row would be in its
  /// cells and in indexes.
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

  /// True if the table has nothing but rows, and no row has a smaller key than `key`. Rows of the class itself may have
  /// had the smaller keys.
  fileprivate func hasOnlyRows(from key: UInt64) throws(StorageError) -> Bool {
    let root = try flushed()
    guard root.links.isNull, root.absentLinks.isNull,
      root.indexes.all.allSatisfy({ entry in schema.columns.contains { $0.indexID == entry.id } })
    else { return false }
    guard root.rows > 0 else { return true }
    return try TableReading.key(at: 0, in: root.clusters, editor.access()) >= key
  }

  /// Takes over the rows of a twin.
  ///
  /// - Precondition: The twin has all indexes, and this table has no rows.
  fileprivate func takeRows(of other: TableWriter) throws(StorageError) {
    let taken = try other.flushed()
    try dropBuffer()
    // Without rows these trees have no entries, but a tree may have a node.
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
