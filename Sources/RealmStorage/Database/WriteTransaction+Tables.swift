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
    // The companions that lists of a synced file have just got are columns, too.
    try checkColumns(schema.columns.count)
    let exists = try tables().writer(schema.name, isHidden: schema.isHidden) != nil
    precondition(!exists, "there is a table \(schema.name) already")
    return WritableTable(transaction: self, writer: try tables().create(schema))
  }

  /// Gives a table another name. O(1).
  ///
  /// - Precondition: there is such a table, and none of the new name.
  /// - Throws: `.limitExceeded` for a name that is empty or too long; `.notSyncable`, `.schemaChangeWhileRecording`.
  public func renameTable(_ name: String, to new: String) throws(StorageError) {
    try checkName(new)
    let table = try existing(name, "renamed")
    guard !name.utf8.elementsEqual(new.utf8) else { return }
    let isTaken = try tables().writer(new) != nil
    precondition(!isTaken, "table \(name) can't be renamed: there is a table \(new) already")
    try table.checkNotRecorded()
    try table.changeSchema { $0.name = new }
  }

  /// Takes a table away with all its rows.
  ///
  /// Takes O(log n) for each link from and to its rows, and else no time in proportion to them: what they held is given back by later commits, about
  /// 128 KiB by each (`StorageReport.droppedBytes`).
  ///
  /// - Precondition: there is such a table, and no column of another table links to it.
  /// - Throws: `.notSyncable`, `.schemaChangeWhileRecording`; `.corrupted`: then the transaction can't be committed any more.
  public func dropTable(_ name: String) throws(StorageError) {
    let table = try existing(name, "dropped")
    let linking = try tables().allSchemas.first { schema in
      schema.id != table.schema.id
        && schema.columns.contains { $0.type == .link && $0.target == table.schema.id }
    }
    precondition(linking == nil, "table \(name) can't be dropped: \(linking?.name ?? "") links to it")
    try table.checkNotRecorded()
    try tables().dropTable(table)
  }

  private func existing(_ name: String, _ word: String) throws(StorageError) -> TableWriter {
    precondition(isOpen, "table \(name) can't be \(word): the transaction has ended")
    let tables = try tables()
    try tables.closeCells()
    guard let table = try tables.writer(name) else {
      preconditionFailure("table \(name) can't be \(word): there is none")
    }
    return table
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

  func checkName(_ name: String) throws(StorageError) {
    guard (1...TableSchema.maximumNameLength).contains(name.utf8.count) else {
      throw .limitExceeded(
        .nameLength(name.utf8.count, maximum: TableSchema.maximumNameLength), path: editor.store.storage.path)
    }
  }
}
