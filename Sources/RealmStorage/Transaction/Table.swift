/// A table of a snapshot: rows by key, each with a value for each column.
///
/// Keys are given in order and never again, so rows stand in the order they were made. A row is found in O(log n);
/// what is read of it is all that is looked at.
public struct Table {
  public let schema: TableSchema
  private let root: TableRoot
  private let reader: any NodeReader

  init(schema: TableSchema, root: TableRoot, reader: any NodeReader) {
    self.schema = schema
    self.root = root
    self.reader = reader
  }

  /// Rows in the table. O(1).
  public var count: Int { Int(clamping: root.rows) }

  /// The value of a column in the row of `key`; nil when there is no such row.
  ///
  /// - Throws: `StorageError.corrupted`, as all reading does.
  public func value(_ column: Column, ofRow key: UInt64) throws(StorageError) -> Value? {
    try TableReading.value(column, ofRow: key, in: root.clusters, reader.access())
  }

  public func contains(_ key: UInt64) throws(StorageError) -> Bool {
    try TableReading.contains(key, in: root.clusters, reader.access())
  }

  /// The key of the row with `position` rows before it.
  ///
  /// - Precondition: `position` is in `0..<count`.
  public func key(at position: Int) throws(StorageError) -> UInt64 {
    precondition((0..<count).contains(position), "Table.key(at:): there is no row \(position) of \(count)")
    return try TableReading.key(at: UInt64(position), in: root.clusters, reader.access())
  }

  /// How many rows have a key less than `key`.
  public func rank(of key: UInt64) throws(StorageError) -> Int {
    Int(clamping: try TableReading.rank(of: key, in: root.clusters, reader.access()))
  }

  /// Calls `body` with the key of each row and its values, in the order of the schema's columns, until it answers false.
  public func forEach(
    _ body: (_ key: UInt64, _ values: [Value]) throws(StorageError) -> Bool
  ) throws(StorageError) {
    var next: UInt64? = 0
    while let key = next, !root.clusters.isNull {
      // One cluster at a time, so that decrypted nodes can be forgotten behind it.
      let access = reader.access()
      let (leaf, following) = try KeyedTree.leafAndNext(for: key, in: root.clusters, access)
      let cluster = ClusterNode(try access.node(leaf, .cluster))
      for row in 0..<cluster.rows {
        var values: [Value] = []
        values.reserveCapacity(schema.columns.count)
        for column in schema.columns {
          values.append(try TableReading.value(column, row, of: cluster, access))
        }
        guard try body(cluster.key(row), values) else { return }
      }
      next = following
    }
  }
}

/// A table of a transaction, with its changes.
///
/// Used by the transaction's thread, while it is open.
public struct WritableTable {
  private let transaction: WriteTransaction
  private let id: UInt32

  init(transaction: WriteTransaction, id: UInt32) {
    self.transaction = transaction
    self.id = id
  }

  public var schema: TableSchema { transaction.openTables[id]!.schema }

  /// The table as changed so far. What is read of it later does not show later changes.
  public var reading: Table {
    Table(schema: schema, root: transaction.openTables[id]!.root, reader: transaction)
  }

  /// Adds a row; columns without a value get null, or the zero of their type. O(log n). Answers the row's key.
  ///
  /// - Precondition: each value fits its column, which the table has.
  /// - Throws: `.limitExceeded`, `.corrupted`.
  public func insert(_ values: [String: Value]) throws(StorageError) -> UInt64 {
    var byID: [UInt16: Value] = [:]
    for (name, value) in values { byID[column(name, for: value).id] = value }
    return try change { (change) throws(StorageError) in try change.insert(byID) }
  }

  /// Sets a value. O(log n). Answers whether there is such a row.
  ///
  /// - Precondition: the value fits the column, which the table has.
  @discardableResult
  public func set(_ value: Value, _ name: String, ofRow key: UInt64) throws(StorageError) -> Bool {
    let column = column(name, for: value)
    guard let old = try reading.value(column, ofRow: key) else { return false }
    guard old != value else { return true }
    try change { (change) throws(StorageError) in try change.set(value, column, ofRow: key) }
    return true
  }

  /// Removes a row. O(log n). Answers whether there was one.
  @discardableResult
  public func remove(_ key: UInt64) throws(StorageError) -> Bool {
    guard try reading.contains(key) else { return false }
    try change { (change) throws(StorageError) in try change.remove(key) }
    return true
  }

  /// Removes all rows. Keys given before are not given again.
  public func removeAll() throws(StorageError) {
    try change { (change) throws(StorageError) in try change.removeAll() }
  }

  /// Adds a column; the rows there are have its default. O(1) in the number of rows.
  ///
  /// - Precondition: no column has that name.
  public func addColumn(_ column: Column) throws(StorageError) {
    precondition(
      schema.column(column.name) == nil, "table \(schema.name) has a column \(column.name) already")
    try transaction.check(column)
    transaction.openTables[id]?.schema.add(column)
    transaction.openTables[id]?.schemaChanged = true
  }

  private func column(_ name: String, for value: Value) -> Column {
    guard let column = schema.column(name) else {
      preconditionFailure("table \(schema.name) has no column \(name)")
    }
    precondition(
      column.accepts(value), "\(schema.name).\(name) is of type \(column.type) and can't hold that value")
    return column
  }

  private func change<Result>(
    _ body: (inout TableChange) throws(StorageError) -> Result
  ) throws(StorageError) -> Result {
    var change = TableChange(
      schema: schema, root: transaction.openTables[id]!.root, editor: transaction.editor)
    let result = try body(&change)
    transaction.openTables[id]?.root = change.root
    return result
  }
}

extension Snapshot {
  /// The tables there are, by id.
  public func schemas() throws(StorageError) -> [TableSchema] {
    let access = access()
    return try Tables.schemas(Catalogue(root, access), access)
  }

  /// The table of that name, or nil.
  public func table(_ name: String) throws(StorageError) -> Table? {
    let access = access()
    let catalogue = try Catalogue(root, access)
    guard
      let schema = try Tables.schemas(catalogue, access).first(where: {
        $0.name.utf8.elementsEqual(name.utf8)
      })
    else { return nil }
    return Table(schema: schema, root: try Tables.root(of: schema.id, catalogue, access), reader: self)
  }
}

extension WriteTransaction {
  struct OpenTable {
    var schema: TableSchema
    var root: TableRoot
    /// As it stands in the catalogue.
    let oldRoot: TableRoot
    var schemaChanged: Bool
  }

  /// The table of that name, or nil.
  public func table(_ name: String) throws(StorageError) -> WritableTable? {
    if let open = openTables.values.first(where: { $0.schema.name.utf8.elementsEqual(name.utf8) }) {
      return WritableTable(transaction: self, id: open.schema.id)
    }
    let access = access()
    let catalogue = try Catalogue(root, access)
    guard
      let schema = try Tables.schemas(catalogue, access).first(where: {
        $0.name.utf8.elementsEqual(name.utf8)
      })
    else { return nil }
    let root = try Tables.root(of: schema.id, catalogue, access)
    openTables[schema.id] = OpenTable(schema: schema, root: root, oldRoot: root, schemaChanged: false)
    return WritableTable(transaction: self, id: schema.id)
  }

  /// Makes a table.
  ///
  /// - Precondition: no table has that name, and its columns' names differ.
  /// - Throws: `.limitExceeded` for a name that is empty or too long.
  public func createTable(_ schema: TableSchema) throws(StorageError) -> WritableTable {
    precondition(
      Set(schema.columns.map { Array($0.name.utf8) }).count == schema.columns.count,
      "table \(schema.name) has two columns of one name")
    try checkName(schema.name)
    for column in schema.columns { try check(column) }
    let exists = try table(schema.name) != nil
    precondition(!exists, "there is a table \(schema.name) already")
    var schema = schema
    schema.id = try max(Catalogue(root, access()).lastTable, openTables.keys.max() ?? 0) + 1
    openTables[schema.id] = OpenTable(
      schema: schema, root: TableRoot(), oldRoot: TableRoot(), schemaChanged: true)
    return WritableTable(transaction: self, id: schema.id)
  }

  func check(_ column: Column) throws(StorageError) { try checkName(column.name) }

  private func checkName(_ name: String) throws(StorageError) {
    guard (1...TableSchema.maximumNameLength).contains(name.utf8.count) else {
      throw .limitExceeded(
        .nameLength(name.utf8.count, maximum: TableSchema.maximumNameLength), path: editor.store.storage.path)
    }
  }

  /// Puts what changed of the open tables into the catalogue.
  func storeTables(in catalogue: inout Catalogue) throws(StorageError) -> Bool {
    var changed = false
    for (id, table) in openTables.sorted(by: { $0.key < $1.key }) {
      if table.schemaChanged {
        try Tables.setSchema(table.schema, in: &catalogue, editor)
        catalogue.lastTable = max(catalogue.lastTable, id)
        changed = true
      }
      if table.root != table.oldRoot {
        try Tables.setRoot(table.root, of: id, in: &catalogue, editor)
        changed = true
      }
    }
    return changed
  }
}
