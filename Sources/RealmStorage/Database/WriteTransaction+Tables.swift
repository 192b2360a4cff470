extension WriteTransaction {
  /// The tables there are, as changed so far; hidden ones are not told.
  public func schemas() throws(StorageError) -> [TableSchema] {
    precondition(isOpen, "WriteTransaction.schemas: the transaction has ended")
    return try tables().allSchemas.filter { !$0.isHidden }
  }

  /// The hidden table of that name, or nil.
  package func hiddenTable(_ name: String) throws(StorageError) -> WritableTable? {
    try tables().writer(name, isHidden: true).map { WritableTable(transaction: self, writer: $0) }
  }

  /// The table of that name, or nil.
  public func table(_ name: String) throws(StorageError) -> WritableTable? {
    let tables = try tables()
    try tables.closeCells()
    return try tables.writer(name).map { WritableTable(transaction: self, writer: $0) }
  }

  /// Removes all rows of tables, those that are there. Keys given before are not given again.
  ///
  /// Takes time in proportion to their nodes where the tables link to one another only, and no other table links to them;
  /// else to their rows and links.
  public func removeAllRows(of names: [String]) throws(StorageError) {
    precondition(isOpen, "WriteTransaction.removeAllRows: the transaction has ended")
    var ids: Set<UInt32> = []
    for name in names {
      if let table = try table(name) { ids.insert(table.schema.id) }
    }
    try tables().removeAll(of: ids)
  }

  /// Makes a table.
  ///
  /// - Precondition: no table has that name, of hidden tables where this is one; its columns' names differ, one of them at most is unique, and those that
  ///   link name a table there is, or by 0 the table itself.
  /// - Throws: `.limitExceeded` for a name that is empty or too long, or too many columns.
  @discardableResult
  public func createTable(_ schema: TableSchema) throws(StorageError) -> WritableTable {
    precondition(
      Set(schema.properties.map { Array($0.name.utf8) }).count == schema.properties.count,
      "table \(schema.name) has two columns of one name")
    precondition(
      schema.columns.count { $0.index == .unique } < 2, "table \(schema.name) has two primary keys")
    try checkName(schema.name)
    try checkColumns(schema.columns.count)
    for column in schema.properties { try check(column) }
    var schema = schema
    if try isSynced, !schema.isHidden {
      guard schema.isEmbedded || schema.primaryKey != nil else {
        throw .notSyncable(
          .noPrimaryKey, table: schema.name, column: nil, path: editor.store.storage.path)
      }
      if let key = schema.primaryKey, ![.int64, .string, .uuid, .objectID].contains(key.type) {
        throw .notSyncable(
          .primaryKeyType, table: schema.name, column: key.name, path: editor.store.storage.path)
      }
      schema.giveElementIDs()
    }
    let exists = try tables().writer(schema.name, isHidden: schema.isHidden) != nil
    precondition(!exists, "there is a table \(schema.name) already")
    return WritableTable(transaction: self, writer: try tables().create(schema))
  }

  func check(_ column: Column) throws(StorageError) {
    try checkName(column.name)
    guard column.type == .link, column.target != 0 else { return }
    let exists = try tables().writer(id: column.target) != nil
    precondition(exists, "column \(column.name) links to a table that is not there")
  }

  func checkColumns(_ count: Int) throws(StorageError) {
    guard count <= TableSchema.maximumColumns else {
      throw .limitExceeded(
        .columns(count, maximum: TableSchema.maximumColumns), path: editor.store.storage.path)
    }
  }

  private func checkName(_ name: String) throws(StorageError) {
    guard (1...TableSchema.maximumNameLength).contains(name.utf8.count) else {
      throw .limitExceeded(
        .nameLength(name.utf8.count, maximum: TableSchema.maximumNameLength), path: editor.store.storage.path)
    }
  }
}
