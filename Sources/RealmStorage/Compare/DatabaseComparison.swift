/// Finds how the objects of two databases differ: of two versions of one file, or of two files.
///
/// Tables are paired by their names and columns by theirs. Objects of two files are paired by the primary key, where a table has the same one in
/// both. Other objects are paired by their rows where the files have one file id, so that one is a copy or an earlier state of the other; else an
/// object is what it holds, and one that was changed counts as removed and added. Of two versions of one file an object is the same as long
/// as its row is, or one made again with its primary key.
///
/// Links are compared by what they lead to: the primary key of that object, or its row where it has none. Embedded objects are compared as
/// part of the object that they belong to.
public struct DatabaseComparison {
  private let old: ComparedSide
  private let new: ComparedSide
  private let schemas: ComparedSchemas
  private let tables: [String]?
  private let areVersions: Bool
  private let haveSameRows: Bool

  /// How the schemas differ, of the tables that are compared.
  public var schemaDifferences: [SchemaDifference] { schemas.differences }

  /// - Parameter tables: the names of the tables that are compared; all, and the named trees, where it is nil.
  /// - Throws: `StorageError`, as all reading does.
  public init(from older: Snapshot, to newer: Snapshot, tables: [String]? = nil) throws(StorageError) {
    self.tables = tables
    let schemas = try ComparedSchemas(from: older.schemas(), to: newer.schemas()) { name in
      tables?.contains { $0.utf8.elementsEqual(name.utf8) } ?? true
    }
    self.schemas = schemas
    old = try ComparedSide(older) { schema in schemas.columns(ofOlder: schema) }
    new = try ComparedSide(newer) { schema in schemas.columns(ofNewer: schema) }
    haveSameRows = try FileInfo(older.database).fileID == FileInfo(newer.database).fileID
    // Databases in memory may have one identity.
    areVersions =
      haveSameRows && older.database.store.storage.identity == newer.database.store.storage.identity
  }

  /// Calls `body` with each object that differs, table by table, until it answers false; answers whether it wanted all.
  ///
  /// Of two versions of one file it takes time in proportion to what differs, else to what both hold. Takes memory for a cluster of
  /// rows; beside that, of tables without a primary key in files that are not of one origin, for the objects that stand at other places, and
  /// of versions of one file for the owners of embedded objects that differ.
  ///
  /// - Parameter tellsValues: the values of each object are told, and not only which objects differ.
  /// - Throws: `StorageError`, as all reading does, and what `body` throws.
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

  /// The rows of a table that only one database has.
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

  /// The rows to which embedded objects belong that differ between two versions of one file, by their table.
  private func changedOwners() throws(StorageError) -> [UInt32: Set<UInt64>] {
    var owners: [UInt32: Set<UInt64>] = [:]
    for pair in schemas.pairs where pair.isEmbedded {
      guard let before = pair.old.flatMap({ old[$0.id] }), let after = pair.new.flatMap({ new[$0.id] }),
        before.side.schema.id == after.side.schema.id
      else { continue }
      // One that came or went changes its owner.
      for change in try TableDiff.changes(from: before.side, to: after.side).modifications {
        let row = LinkTarget(table: after.side.schema.id, row: change.key)
        if let owner = try new.owner(of: row) { owners[owner.table, default: []].insert(owner.row) }
      }
    }
    return owners
  }

  // MARK: - Named trees

  /// Calls `body` with each entry of a named tree that differs, by the names of the trees and by keys, until it answers false; answers
  /// whether it wanted all. Tells nothing where only some tables are compared.
  ///
  /// Takes memory for the keys of a tree that differ.
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
  /// The columns of a table of the older database that are compared; all where the newer one lacks the table.
  fileprivate func columns(ofOlder schema: TableSchema) -> [Column] {
    guard let pair = pairs.first(where: { $0.old?.id == schema.id }), pair.new != nil else {
      return schema.properties
    }
    return pair.columns.map(\.old)
  }

  /// The same of the newer database.
  fileprivate func columns(ofNewer schema: TableSchema) -> [Column] {
    guard let pair = pairs.first(where: { $0.new?.id == schema.id }), pair.old != nil else {
      return schema.properties
    }
    return pair.columns.map(\.new)
  }
}
