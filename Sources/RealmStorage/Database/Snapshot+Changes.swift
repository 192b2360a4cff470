extension Snapshot {
  /// The changes of a table from another snapshot, older or newer, to this one.
  ///
  /// Takes time in proportion to the clusters that only one of the two snapshots has, and not to the whole table; the versions
  /// between them cost nothing. A table that one of the snapshots does not have counts as one without rows.
  /// `collectionChanges(inTable:column:ofRow:since:)` tells which elements of a modified collection differ.
  ///
  /// - Precondition: both snapshots are of one file. Otherwise the program stops.
  /// - Throws: what all functions that read throw.
  public func changes(inTable name: String, since other: Snapshot) throws(StorageError) -> TableChanges {
    try changes(inTable: name, isHidden: false, since: other)
  }

  package func changes(
    inTable name: String, isHidden: Bool, since other: Snapshot
  ) throws(StorageError) -> TableChanges {
    precondition(
      other.database.store.storage.identity == database.store.storage.identity,
      "Snapshot.changes(inTable:since:): the snapshots are of two files; take both from one")
    let (old, new) = (try other.side(name, isHidden: isHidden), try side(name, isHidden: isHidden))
    if let old, let new, old.schema.id == new.schema.id { return try TableDiff.changes(from: old, to: new) }
    // Rows of two tables are the same only if the tables have the same id.
    var changes = TableChanges()
    if let old { changes.deletions = try TableDiff.changes(from: old, to: .empty(self)).deletions }
    if let new { changes.insertions = try TableDiff.changes(from: .empty(other), to: new).insertions }
    return changes
  }

  /// The changes of a row's collection from another snapshot to this one: which elements were deleted, inserted and modified. Nil
  /// if one of the snapshots does not have the row or the column, or the column has another type there.
  ///
  /// For a large collection it takes time in proportion to the changes: for a list to the stretch from the first difference to
  /// the last one. It takes time in proportion to the whole for a small collection, for one that became large or small in
  /// between, and for a set or map in which entries of more than 1000 bytes changed.
  ///
  /// - Parameter column: the position of the column in the schema of this version.
  /// - Precondition: both snapshots are of one file, and the column is one of collections. Otherwise the program stops.
  /// - Throws: what all functions that read throw.
  public func collectionChanges(
    inTable name: String, column: Int, ofRow key: UInt64, since other: Snapshot
  ) throws(StorageError) -> CollectionChanges? {
    precondition(
      other.database.store.storage.identity == database.store.storage.identity,
      "Snapshot.collectionChanges: the snapshots are of two files; take both from one")
    guard let old = try other.side(name), let new = try side(name), old.schema.id == new.schema.id else {
      return nil
    }
    let stored = new.schema.columns[column]
    precondition(stored.isCollection, "\(name).\(stored.name) is no collection")
    guard old.schema.columns.contains(where: { $0.id == stored.id && $0.hasValues(like: stored) }) else {
      return nil
    }
    let access = access()
    let otherAccess = other.access()
    guard let before = try Self.collection(stored, ofRow: key, in: old.root, otherAccess),
      let after = try Self.collection(stored, ofRow: key, in: new.root, access)
    else { return nil }
    return try CollectionDiff(column: stored).changes(from: before, otherAccess, to: after, access)
  }

  private static func collection(
    _ column: Column, ofRow key: UInt64, in table: TableRoot, _ access: borrowing NodeAccess
  ) throws(StorageError) -> CollectionDiff.Side? {
    guard !table.clusters.isNull else { return nil }
    let leaf = try KeyedTree.leaf(for: key, in: table.clusters, access)
    let cluster = ClusterNode(try access.node(leaf, .cluster))
    guard let row = cluster.row(of: key) else { return nil }
    return try CollectionDiff.Side(column, row, of: cluster, access)
  }

  private func side(_ name: String, isHidden: Bool = false) throws(StorageError) -> TableDiff.Side? {
    try table(name, isHidden: isHidden).map {
      TableDiff.Side(schema: $0.schema, root: $0.form.root, reader: self)
    }
  }
}

/// The difference between two versions as changes of rows that can be applied.
extension Snapshot {
  /// The changes of rows that lead from an older version to this one; see `forEachRowChange(since:tables:_:)`.
  ///
  /// Takes memory in proportion to the changes.
  public func rowChanges(
    since older: Snapshot, tables: [String]? = nil
  ) throws(StorageError) -> [RecordedChange] {
    var changes: [RecordedChange] = []
    try forEachRowChange(since: older, tables: tables) { change in
      changes.append(change)
      return true
    }
    return changes
  }

  /// Calls `body` with the changes of rows that lead from an older version to this one, until it returns false.
  ///
  /// Applying the changes in their order turns the older version into this one. Applying their inverses in the opposite order
  /// turns this version into the older one, except that added tables and columns stay. Each change fits the state that the
  /// changes before it leave; only links may lead to rows that a later change makes, or that an earlier one deleted: all links
  /// are complete after the last change. Changes do not follow from others: a link that was lost with its row is a change of its
  /// own, and an embedded object is a row.
  ///
  /// Added tables and columns come first. Then come, table by table, deleted rows, changed values and new rows; several rows of a
  /// cluster are one `deleteMany` or `createMany`. A changed value of a cell is a `set`, for a mixed value also if it
  /// is a whole list or map. A changed collection is reported by changes of its elements, as few as
  /// `collectionChanges(inTable:column:ofRow:since:)` finds. A row whose primary key another row takes comes before that row; if
  /// rows swap their keys, one of them has another key in between. Hidden tables are left out, and so are added and removed
  /// indexes, except primary keys.
  ///
  /// Takes time in proportion to the clusters that only one version has, as `changes(inTable:since:)` does. Takes memory for the
  /// differences of one cluster, and for the primary keys that rows have changed.
  ///
  /// - Parameters:
  ///   - older: the version to start from. It may have a greater number than this one.
  ///   - tables: the names of the tables to compare; nil for all.
  /// - Precondition: both snapshots are of one file. Otherwise the program stops.
  /// - Throws: `.schemaChanged` if a table or column of the older version is missing or changed: `body` was not called then. Also
  ///   what all functions that read throw, and what `body` throws.
  public func forEachRowChange(
    since older: Snapshot, tables: [String]? = nil,
    _ body: (RecordedChange) throws(StorageError) -> Bool
  ) throws(StorageError) {
    precondition(
      older.database.store.storage.identity == database.store.storage.identity,
      "Snapshot.forEachRowChange: the snapshots are of two files; take both from one")
    let isAskedFor = { (schema: TableSchema) in
      tables?.contains { $0.utf8.elementsEqual(schema.name.utf8) } ?? true
    }
    let schemas = try SchemaDiff(
      from: older.schemas(), to: schemas(), path: database.store.storage.path, isAskedFor)
    for change in schemas.changes {
      guard try body(RecordedChange(change)) else { return }
    }
    for pair in schemas.pairs {
      let new = try side(of: pair.new)
      let old = try pair.old.map { (schema) throws(StorageError) in try older.side(of: schema) }
      // A new table has all of its columns before its first row.
      let empty = TableDiff.Side(schema: pair.new, root: TableRoot(), reader: older)
      guard try RowDiff(old ?? empty, new).forEach(body) else { return }
    }
  }

  private func side(of schema: TableSchema) throws(StorageError) -> TableDiff.Side {
    let access = access()
    let root = try Tables.root(of: schema.id, Catalogue(self.root, access), access)
    return TableDiff.Side(schema: schema, root: root, reader: self)
  }
}

extension TableDiff.Side {
  /// A table without rows.
  fileprivate static func empty(_ reader: Snapshot) -> Self {
    Self(schema: TableSchema("", columns: []), root: TableRoot(), reader: reader)
  }
}
