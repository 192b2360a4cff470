/// Compares a table in two versions of one file, at a cost that depends on the differences only.
///
/// An object is the same as long as its row is the same. If its row was removed and it was made again with the same
/// primary key, it is reported as changed.
struct VersionComparison {
  typealias Body = RowComparison.Body

  let rows: RowComparison
  private let oldTable: ComparedSide.TableOfSide
  private let newTable: ComparedSide.TableOfSide
  private let primaryKey: (old: Column, new: Column)?
  /// The rows of the table that own embedded objects which differ.
  private let owners: Set<UInt64>

  /// Nil if one of the versions does not have the table.
  init?(_ rows: RowComparison, primaryKey: (old: Column, new: Column)?, owners: Set<UInt64>) {
    guard let old = rows.oldTable, let new = rows.newTable else { return nil }
    (oldTable, newTable) = (old, new)
    self.rows = rows
    self.primaryKey = primaryKey
    self.owners = owners
  }

  func forEach(_ body: Body) throws(StorageError) -> Bool {
    var walk = try DiffWalk(oldTable.side, newTable.side)
    while var stretch = try walk.next() {
      try leaveOwnersOut(of: &stretch)
      guard let primaryKey, !stretch.deletions.isEmpty || !stretch.insertions.isEmpty else {
        guard try rows.tell(stretch, body) else { return false }
        continue
      }
      for key in try rows.keys(stretch.deletions, of: stretch.old, oldTable) {
        let again = try row(
          withKeyOf: key, primaryKey.old, in: oldTable, rows.old, as: primaryKey.new, newTable)
        if let again {
          guard try rows.tellChanged(key, again, body) else { return false }
        } else {
          guard try rows.tellRemoved(key, body) else { return false }
        }
      }
      let added = try rows.keys(stretch.insertions, of: stretch.new, newTable)
      (stretch.deletions, stretch.insertions) = ([], [])
      guard try rows.tell(stretch, body) else { return false }
      for key in added {
        // If the key existed before, the object was reported when its old row was found removed.
        let earlier = try row(
          withKeyOf: key, primaryKey.new, in: newTable, rows.new, as: primaryKey.old, oldTable)
        if earlier == nil, try !rows.tellAdded(key, body) { return false }
      }
    }
    return try tellRest(body)
  }

  /// The row of the other version that has the primary key of `key`, if this version does not have that row.
  @inline(never)
  private func row(
    withKeyOf key: UInt64, _ column: Column, in table: ComparedSide.TableOfSide, _ side: ComparedSide,
    as otherColumn: Column, _ other: ComparedSide.TableOfSide
  ) throws(StorageError) -> UInt64? {
    let value = try side.value(column, ofRow: key, in: table)
    let reader = other.side.reader
    let found = try IndexTree.row(with: value, of: otherColumn, table: other.side.root, reader.access())
    guard let found, try !contains(found, table) else { return nil }
    return found
  }

  @inline(never)
  private func contains(_ key: UInt64, _ table: ComparedSide.TableOfSide) throws(StorageError) -> Bool {
    let reader = table.side.reader
    return try TableReading.contains(key, in: table.side.root.clusters, reader.access())
  }

  // MARK: - Embedded objects

  /// Leaves the owners of changed embedded objects out of a stretch. `tellRest` compares them in all columns, after all
  /// stretches.
  private func leaveOwnersOut(of stretch: inout DiffWalk.Stretch) throws(StorageError) {
    guard !owners.isEmpty, !stretch.pairs.isEmpty else { return }
    let keys = try rows.keys(stretch.pairs.map(\.new), of: stretch.new, newTable)
    stretch.pairs = zip(stretch.pairs, keys).filter { !owners.contains($1) }.map(\.0)
  }

  private func tellRest(_ body: Body) throws(StorageError) -> Bool {
    for key in owners.sorted() {
      // An owner that was made since is reported as added.
      guard try contains(key, oldTable) else { continue }
      guard try rows.tellChanged(key, key, body) else { return false }
    }
    return true
  }
}
