/// What is looked at after the last of the recorded changes that are applied together.
///
/// What follows from a recorded change is recorded beside it, so nothing follows from it when it is applied: a deletion leaves the links to its row, and a link
/// may lead to a row that a later change makes. After the last change no link leads nowhere, and each embedded row that was concerned has one owner.
final class ChangeReplay {
  private var targets: Set<LinkTarget> = []
  private var removed: Set<LinkTarget> = []
  private var embedded: Set<LinkTarget> = []
  private var tables: Set<UInt32> = []
  /// Rows whose companions may have changed, or to which links may wait.
  private var touched: Set<LinkTarget> = []
  /// Tables that got companions.
  private var extended: Set<UInt32> = []

  func addLink(_ target: LinkTarget) { targets.insert(target) }

  /// Columns of a new table link to another one, which may be made later.
  func addTarget(table: UInt32) { tables.insert(table) }

  func remove(_ row: UInt64, of table: TableWriter) {
    removed.insert(LinkTarget(table: table.schema.id, row: row))
  }

  func create(_ row: UInt64, of table: TableWriter) {
    if table.schema.isEmbedded { embedded.insert(LinkTarget(table: table.schema.id, row: row)) }
  }

  func note(_ change: RowChange.Kind, of table: TableWriter) {
    switch change {
    case .create(let row, _): touch(row, table)
    case .createMany(let batch): for row in batch.keys { touch(row, table) }
    case .setMany(_, let rows, _): for row in rows { touch(row, table) }
    case .addColumn(let column):
      if column.isCompanion { extended.insert(table.schema.id) }
    default: if let cell = RowChange(table: 0, change).cell { touch(cell.row, table) }
    }
  }

  private func touch(_ row: UInt64, _ table: TableWriter) {
    touched.insert(LinkTarget(table: table.schema.id, row: row))
  }

  /// Rows lost a link to them.
  func note(_ orphans: [UInt32: [UInt64]]) {
    for (table, rows) in orphans { for row in rows { embedded.insert(LinkTarget(table: table, row: row)) } }
  }

  /// Throws where the changes are no whole.
  func finish(_ all: OpenTables) throws(StorageError) {
    for table in tables.sorted() where try all.writer(id: table) == nil {
      throw all.mismatch(.noTable, LinkTarget(table: table, row: 0), hasRow: false)
    }
    for row in targets.union(removed).inOrder {
      guard let table = try all.writer(id: row.table), try !table.contains(row.row) else { continue }
      // What linked to it may be gone too.
      guard try table.links.links(to: row.row).isEmpty else {
        throw all.mismatch(removed.contains(row) ? .isLinked : .noTarget, row)
      }
    }
    for id in extended.sorted() {
      guard let table = try all.writer(id: id) else { continue }
      for row in try table.allKeys() { touch(row, table) }
    }
    for row in touched.inOrder { try all.writer(id: row.table)?.checkCompanions(ofRow: row.row) }
    for row in embedded.union(targets).inOrder {
      guard let table = try all.writer(id: row.table), table.schema.isEmbedded, try table.contains(row.row)
      else { continue }
      guard try isOwned(row, all) else { throw all.mismatch(.noOwner, row) }
    }
  }

  /// Whether an embedded row has one owner, that one too where it is embedded, and so on up to a row that is not.
  private func isOwned(_ row: LinkTarget, _ all: OpenTables) throws(StorageError) -> Bool {
    var (row, seen): (LinkTarget, Set<LinkTarget>) = (row, [])
    while let table = try all.writer(id: row.table), table.schema.isEmbedded {
      let owners = try table.links.links(to: row.row)
      guard owners.count == 1, owners[0].count == 1, seen.insert(row).inserted else { return false }
      row = LinkTarget(table: owners[0].table, row: owners[0].source)
    }
    return true
  }
}

extension Set<LinkTarget> {
  fileprivate var inOrder: [LinkTarget] { sorted { ($0.table, $0.row) < ($1.table, $1.row) } }
}

extension OpenTables {
  fileprivate func mismatch(
    _ reason: ChangeMismatch.Reason, _ place: LinkTarget, hasRow: Bool = true
  ) -> StorageError {
    .changeDoesNotFit(
      ChangeMismatch(
        reason: reason, index: nil, table: place.table,
        tableName: allSchemas.first { $0.id == place.table }?.name, column: nil,
        row: hasRow ? place.row : nil),
      path: editor.store.storage.path)
  }

  /// Applies recorded changes, with all that follows from them among them.
  func apply(_ changes: some Sequence<RowChange>) throws(StorageError) {
    precondition(replay == nil, "recorded changes are being applied already")
    if let failure { throw failure }
    let replay = ChangeReplay()
    self.replay = replay
    defer { self.replay = nil }
    do throws(StorageError) {
      for (index, change) in changes.enumerated() {
        do throws(StorageError) {
          try apply(change)
        } catch {
          guard case .changeDoesNotFit(var mismatch, let path) = error else { throw error }
          mismatch.index = index
          throw .changeDoesNotFit(mismatch, path: path)
        }
      }
      try removeOrphans()
      try replay.finish(self)
    } catch {
      throw fail(error)
    }
  }

  private func apply(_ change: RowChange) throws(StorageError) {
    if case .createTable(let schema) = change.kind { return try replay(schema) }
    guard let table = try writer(id: change.table), !table.isHidden else {
      throw mismatch(.noTable, LinkTarget(table: change.table, row: 0), hasRow: false)
    }
    try table.nestedIDs.keeping { () throws(StorageError) in try table.applyRecorded(change.kind) }
  }

  /// So far ahead of the last id may that of a table be: else one change could leave no ids for others.
  private static let mostAhead: UInt32 = 1 << 16

  /// Makes a table of the id that the schema has.
  private func replay(_ schema: TableSchema) throws(StorageError) {
    let place = LinkTarget(table: schema.id, row: 0)
    let exists = try writer(schema.name) != nil
    guard !exists, schema.id > lastTable else { throw mismatch(.tableExists, place, hasRow: false) }
    guard !schema.isHidden, schema.isWellFormed, schema.id - lastTable <= Self.mostAhead else {
      throw mismatch(.invalidSchema, place, hasRow: false)
    }
    for column in schema.columns where column.type == .link { replay?.addTarget(table: column.target) }
    _ = try create(schema, id: schema.id)
  }
}

extension TableSchema {
  /// Whether the names, the number of columns and the primary key are as a table's may be.
  fileprivate var isWellFormed: Bool {
    let names = properties.map(\.name)
    return (1...Self.maximumNameLength).contains(name.utf8.count) && columns.allSatisfy(\.hasUsualName)
      && Set(names.map { Array($0.utf8) }).count == names.count && hasUsualCompanions
      && columns.count <= Self.maximumColumns && columns.count { $0.index == .unique } < 2
      && columns.allSatisfy(\.isWellFormed)
  }
}
