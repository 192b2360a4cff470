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
    if let part = cluster.composite(of: column.id),
      let tree = try cluster.cell(part, row, dictionary: .null, access.lent).tree
    {
      return .tree(tree)
    }
    return .value(try TableReading.value(column, row, of: cluster, dictionary: .null, access))
  }

  private func side(_ name: String, isHidden: Bool = false) throws(StorageError) -> TableDiff.Side? {
    try table(name, isHidden: isHidden).map {
      TableDiff.Side(schema: $0.schema, root: $0.form.root, reader: self)
    }
  }
}

extension TableDiff.Side {
  /// A table without rows.
  fileprivate static func empty(_ reader: Snapshot) -> Self {
    Self(schema: TableSchema("", columns: []), root: TableRoot(), reader: reader)
  }
}
