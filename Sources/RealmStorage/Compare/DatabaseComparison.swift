/// Finds the differences between the objects of two databases: two versions of one file, or two files.
///
/// Tables and columns are paired by their names. In two versions of one file an object is the same as long as its row is the
/// same, or if it was made again with its primary key. Objects of two files are paired by the primary key, if both tables have
/// the same one. Other objects of two files are paired by their rows if the files have the same file id, so that one is a copy or
/// an earlier state of the other; otherwise they are compared by their content, and a changed object counts as one that was
/// removed and one that was added.
///
/// Links are compared by the objects to which they lead: by their primary key, or by their row if there is none. An embedded
/// object is compared as a part of the object to which it belongs.
public struct DatabaseComparison {
  private let old: ComparedSide
  private let new: ComparedSide
  private let schemas: ComparedSchemas
  private let tables: [String]?
  private let areVersions: Bool
  private let haveSameRows: Bool

  /// The differences between the schemas of the compared tables.
  public var schemaDifferences: [SchemaDifference] { schemas.differences }

  /// Pairs the tables and columns of two snapshots.
  ///
  /// - Parameters:
  ///   - older: the snapshot that counts as the older one.
  ///   - newer: the snapshot that counts as the newer one.
  ///   - tables: the names of the tables to compare; nil for all tables and the named trees.
  /// - Throws: what all functions that read throw.
  public init(from older: Snapshot, to newer: Snapshot, tables: [String]? = nil) throws(StorageError) {
    self.tables = tables
    let schemas = try ComparedSchemas(from: older.schemas(), to: newer.schemas()) { name in
      tables?.contains { $0.utf8.elementsEqual(name.utf8) } ?? true
    }
    self.schemas = schemas
    old = try ComparedSide(older) { schema in schemas.columns(ofOlder: schema) }
    new = try ComparedSide(newer) { schema in schemas.columns(ofNewer: schema) }
    haveSameRows = try FileInfo(older.database).fileID == FileInfo(newer.database).fileID
    // Two databases in memory may have the same identity.
    areVersions =
      haveSameRows && older.database.store.storage.identity == newer.database.store.storage.identity
  }

  /// Calls `body` with each object that differs, table by table, until it returns false.
  ///
  /// For two versions of one file it takes time in proportion to the differences, otherwise to the content of both. It takes
  /// memory for a cluster of rows. For tables without a primary key in files of different origin it also takes memory for the
  /// objects that are at other places, and for versions of one file for the owners of embedded objects that differ.
  ///
  /// - Parameter tellsValues: whether the values of each object are told, and not only which objects differ.
  /// - Returns: false if `body` has ended it.
  /// - Throws: what all functions that read throw, and what `body` throws.
  @discardableResult
  public func forEachRow(
    tellsValues: Bool = true, _ body: (RowDifference) throws(StorageError) -> Bool
  ) throws(StorageError) -> Bool {
    let owners = areVersions ? try changedOwners() : [:]
    for pair in schemas.pairs where pair.hasRows && isAskedFor(pair.name) {
      let rows = RowComparison(pair, old, new, areVersions: areVersions, tellsValues: tellsValues)
      let ofTable = pair.new.flatMap { owners[$0.id] } ?? []
      guard try forEachRow(pair, rows, owners: ofTable, body) else { return false }
    }
    return true
  }

  private func isAskedFor(_ name: String) -> Bool {
    tables?.contains { $0.utf8.elementsEqual(name.utf8) } ?? true
  }

  private func forEachRow(
    _ pair: ComparedSchemas.Pair, _ rows: RowComparison, owners: Set<UInt64>,
    _ body: RowComparison.Body
  ) throws(StorageError) -> Bool {
    guard let oldTable = rows.oldTable, let newTable = rows.newTable else {
      return try forEachAlone(rows, body)
    }
    let key = pair.primaryKey
    if areVersions, oldTable.side.schema.id == newTable.side.schema.id,
      let versions = VersionComparison(rows, primaryKey: key, owners: owners)
    {
      return try versions.forEach(body)
    }
    if let key {
      let join = KeyJoin(
        old: oldTable.side, new: newTable.side, oldKey: key.old, newKey: key.new,
        forms: pair.columns.map { ColumnForm($0.new) })
      return try join.forEach { (stretch) throws(StorageError) in try rows.tell(stretch, body) }
    }
    if haveSameRows, oldTable.side.schema.id == newTable.side.schema.id {
      var walk = try DiffWalk(oldTable.side, newTable.side, skipsShared: false)
      while let stretch = try walk.next() { guard try rows.tell(stretch, body) else { return false } }
      return true
    }
    var multiset = MultisetComparison(rows, columns: pair.columns)
    return try multiset.forEach(body)
  }

  /// Tells the rows of a table that only one of the databases has.
  private func forEachAlone(_ rows: RowComparison, _ body: RowComparison.Body) throws(StorageError) -> Bool {
    guard let table = rows.oldTable ?? rows.newTable else { return true }
    return try Leaves.forEach(of: table.side) { (leaf) throws(StorageError) in
      let places = try Leaves.places(in: leaf, of: table.side)
      return try rows.tell(
        rows.oldTable == nil
          ? DiffWalk.Stretch(new: leaf, insertions: places) : DiffWalk.Stretch(old: leaf, deletions: places),
        body)
    }
  }

  /// The rows that own embedded objects which differ between two versions of one file, by the ids of their tables.
  private func changedOwners() throws(StorageError) -> [UInt32: Set<UInt64>] {
    var owners: [UInt32: Set<UInt64>] = [:]
    for pair in schemas.pairs where pair.isEmbedded {
      guard let before = pair.old.flatMap({ old[$0.id] }), let after = pair.new.flatMap({ new[$0.id] }),
        before.side.schema.id == after.side.schema.id
      else { continue }
      // An embedded object that was added or removed changes its owner's value.
      for change in try TableDiff.changes(from: before.side, to: after.side).modifications {
        let row = LinkTarget(table: after.side.schema.id, row: change.key)
        if let owner = try new.owner(of: row) { owners[owner.table, default: []].insert(owner.row) }
      }
    }
    return owners
  }

  // MARK: - Named trees

  /// Calls `body` with each entry of a named tree that differs, in the order of the trees' names and of the keys, until it
  /// returns false. It finds nothing if only some tables are compared.
  ///
  /// Takes memory for the keys of a tree that differ.
  ///
  /// - Returns: false if `body` has ended it.
  /// - Throws: what all functions that read throw, and what `body` throws.
  @discardableResult
  public func forEachTreeEntry(
    _ body: (TreeDifference) throws(StorageError) -> Bool
  ) throws(StorageError) -> Bool {
    guard tables == nil else { return true }
    let (older, newer) = (old.snapshot, new.snapshot)
    let names = try Set((older.treeNames() + newer.treeNames()).map { Array($0.utf8) })
    for bytes in names.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
      let name = String(decoding: bytes, as: UTF8.self)
      let (before, after) = (try older.tree(name), try newer.tree(name))
      for difference in try newer.treeDifferences(name, since: older) {
        let entry = TreeDifference(
          tree: name, key: difference.key, old: try before.value(for: difference.key),
          new: try after.value(for: difference.key))
        guard try body(entry) else { return false }
      }
    }
    return true
  }
}

extension ComparedSchemas {
  /// The columns of a table of the older database that are compared; all columns if the newer one does not have the table.
  fileprivate func columns(ofOlder schema: TableSchema) -> [Column] {
    guard let pair = pairs.first(where: { $0.old?.id == schema.id }), pair.new != nil else {
      return schema.properties
    }
    return pair.columns.map(\.old)
  }

  /// The columns of a table of the newer database that are compared; all columns if the older one does not have the table.
  fileprivate func columns(ofNewer schema: TableSchema) -> [Column] {
    guard let pair = pairs.first(where: { $0.new?.id == schema.id }), pair.old != nil else {
      return schema.properties
    }
    return pair.columns.map(\.new)
  }
}
