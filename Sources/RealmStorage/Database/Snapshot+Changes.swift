extension Snapshot {
  /// How a table of this snapshot differs from that of another one, older or newer.
  ///
  /// Takes time in proportion to the clusters that only one of the two has, not to what exists; the versions between them
  /// cost nothing. A table that a version lacks has no rows in it. For the elements of a collection that is among the columns
  /// of a modification see `collectionChanges(inTable:column:ofRow:since:)`.
  ///
  /// - Precondition: both snapshots are of one file.
  /// - Throws: `StorageError`, as all reading does.
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
    // Only a table of the same id has the same rows.
    var changes = TableChanges()
    if let old { changes.deletions = try TableDiff.changes(from: old, to: .empty(self)).deletions }
    if let new { changes.insertions = try TableDiff.changes(from: .empty(other), to: new).insertions }
    return changes
  }

  /// How a collection of a row differs from that of another version: which elements were deleted, inserted and modified; nil
  /// where one of the versions lacks the row or the column, or the column is of another type there.
  ///
  /// Takes time in proportion to what changed in a large collection: of a list to the stretch from the first difference to the last
  /// one. Of a small collection, of one that became large or small in between, and of a set or map in which entries of more than 1000 bytes changed,
  /// it takes time in proportion to the whole.
  ///
  /// - Parameter column: the position in the schema of this version; the column is one of collections.
  /// - Precondition: both snapshots are of one file.
  /// - Throws: `StorageError`, as all reading does.
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

/// What differs, as changes of rows that can be applied.
extension Snapshot {
  /// The changes that lead from an older version to this one. See `forEachRowChange(since:tables:_:)`.
  ///
  /// Takes memory in proportion to them.
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

  /// Calls `body` with the changes that lead from an older version to this one, until it answers false.
  ///
  /// The older version with the changes applied in their order has what this version has, and this version with their inverses applied
  /// in the opposite order has what the older one had, but for the tables and columns that were added, which stay. Each change fits what those before it
  /// leave; only links may lead to rows that come by a later change, or that went by an earlier one: links are complete behind the last
  /// change. Nothing is derived: a link that went with its row is a change of its own, and an embedded object is a row.
  ///
  /// Tables and columns that were added come first. Then come, table by table, rows that went, values that differ, and rows that came; of
  /// several rows of a cluster `deleteMany` and `createMany` tell. A value of a cell, of mixed ones also a whole list or map, differs by `set`; a
  /// collection by changes of its elements, as few as `collectionChanges(inTable:column:ofRow:since:)` finds. A row whose primary key another row
  /// takes comes before that one; where rows swap their keys, one of them has another key meanwhile. Hidden tables are not told, nor are
  /// indexes that were made or removed, but for primary keys.
  ///
  /// Takes time in proportion to the clusters that only one version has, as `changes(inTable:since:)` does. Takes memory for what differs of
  /// one cluster, and for the primary keys that rows have changed.
  ///
  /// - Parameters:
  ///   - older: the version to begin with, which may also be one that is newer by its number.
  ///   - tables: the names of the tables that are compared; all where it is nil.
  /// - Precondition: both snapshots are of one file.
  /// - Throws: `.schemaChanged` where a table or column of the older version is not there, or is another: nothing was told then. Else as all
  ///   reading does, and what `body` throws.
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
      // A table that was made has all of its columns before its first row.
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
