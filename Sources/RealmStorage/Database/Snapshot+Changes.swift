extension Snapshot {
  /// How a table of this snapshot differs from that of another one, older or newer.
  ///
  /// Takes time in proportion to the clusters that only one of the two has, not to what exists; the versions between them
  /// cost nothing. A table that a version lacks has no rows in it. For the values of a list that is among the columns of a
  /// modification see `ListChanges`.
  ///
  /// - Precondition: both snapshots are of one file.
  /// - Throws: `StorageError`, as all reading does.
  public func changes(inTable name: String, since other: Snapshot) throws(StorageError) -> TableChanges {
    precondition(
      other.database.store.storage.identity == database.store.storage.identity,
      "Snapshot.changes(inTable:since:): the snapshots are of two files; take both from one")
    let (old, new) = (try other.side(name), try side(name))
    if let old, let new, old.schema.id == new.schema.id { return try TableDiff.changes(from: old, to: new) }
    // Only a table of the same id has the same rows.
    var changes = TableChanges()
    if let old { changes.deletions = try TableDiff.changes(from: old, to: .empty(self)).deletions }
    if let new { changes.insertions = try TableDiff.changes(from: .empty(other), to: new).insertions }
    return changes
  }

  private func side(_ name: String) throws(StorageError) -> TableDiff.Side? {
    try table(name).map { TableDiff.Side(schema: $0.schema, root: $0.form.root, reader: self) }
  }
}

extension TableDiff.Side {
  /// A table without rows.
  fileprivate static func empty(_ reader: Snapshot) -> Self {
    Self(schema: TableSchema("", columns: []), root: TableRoot(), reader: reader)
  }
}
