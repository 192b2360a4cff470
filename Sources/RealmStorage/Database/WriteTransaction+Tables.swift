extension WriteTransaction {
  /// The schemas of the tables as changed so far, without hidden tables.
  ///
  /// - Precondition: the transaction is open.
  public func schemas() throws(StorageError) -> [TableSchema] {
    precondition(isOpen, "WriteTransaction.schemas: the transaction has ended")
    return try tables().allSchemas.filter { !$0.isHidden }
  }

  /// The hidden table with a name; nil if there is none.
  package func hiddenTable(_ name: String) throws(StorageError) -> WritableTable? {
    try tables().writer(name, isHidden: true).map { WritableTable(transaction: self, writer: $0) }
  }

  /// The table with a name; nil if there is none.
  ///
  /// - Precondition: the transaction is open.
  public func table(_ name: String) throws(StorageError) -> WritableTable? {
    let tables = try tables()
    try tables.closeCells()
    return try tables.writer(name).map { WritableTable(transaction: self, writer: $0) }
  }

  /// Removes all rows of tables. Names of tables that do not exist are ignored. The keys of the rows are not given again.
  ///
  /// Takes time in proportion to the nodes of the tables if they link only to one another and no other table links to them;
  /// otherwise in proportion to their rows and links.
  ///
  /// - Precondition: the transaction is open.
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
  /// - Precondition: no table has the name (for a hidden table: no hidden table has it); the names of its columns differ, at most
  ///   one of them is unique, and columns of links name a table that exists, or by 0 the new table itself.
  /// - Throws: `.limitExceeded` for a name that is empty or too long, or too many columns; in a synced file `.notSyncable` if the
  ///   table is not embedded and has no primary key, or has one of another type than whole number, text, UUID or object id.
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
    // In a synced file the lists have just got companions, which count as columns.
    try checkColumns(schema.columns.count)
    let exists = try tables().writer(schema.name, isHidden: schema.isHidden) != nil
    precondition(!exists, "there is a table \(schema.name) already")
    return WritableTable(transaction: self, writer: try tables().create(schema))
  }

  /// Gives a table another name. O(1).
  ///
  /// - Precondition: the table exists, and no other table has the new name.
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

  /// Removes a table with all its rows.
  ///
  /// Takes O(log n) for each link from and to its rows, and otherwise no time in proportion to them: later commits give their
  /// space back, about 128 KiB each (`StorageReport.droppedBytes`).
  ///
  /// - Precondition: the table exists, and no column of another table links to it.
  /// - Throws: `.notSyncable`, `.schemaChangeWhileRecording`; `.corrupted`: then the transaction can't be committed.
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
