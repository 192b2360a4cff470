/// The checks that are made after the last of the recorded changes that are applied together.
///
/// Changes that derive from a recorded change are recorded, too. So nothing derives from a recorded change when it is
/// applied: a deletion leaves the links to its row, and a link may lead to a row that a later change makes. After the
/// last change, each link must lead to a row, and each embedded row that the changes concern must have one owner.
final class ChangeReplay {
  private var targets: Set<LinkTarget> = []
  private var removed: Set<LinkTarget> = []
  private var embedded: Set<LinkTarget> = []
  private var tables: Set<UInt32> = []
  /// The rows whose companions may have changed, or to which absent links may lead.
  private var touched: Set<LinkTarget> = []
  /// The ids of the tables that got companions.
  private var extended: Set<UInt32> = []

  func addLink(_ target: LinkTarget) { targets.insert(target) }

  /// Notes that a new column links to a table, which a later change may make.
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

  /// Notes embedded rows that lost a link to them.
  func note(_ orphans: [UInt32: [UInt64]]) {
    for (table, rows) in orphans { for row in rows { embedded.insert(LinkTarget(table: table, row: row)) } }
  }

  /// Makes the checks. Throws `.changeDoesNotFit` if one fails.
  func finish(_ all: OpenTables) throws(StorageError) {
    for table in tables.sorted() where try all.writer(id: table) == nil {
      throw all.mismatch(.noTable, LinkTarget(table: table, row: 0), hasRow: false)
    }
    for row in targets.union(removed).inOrder {
      guard let table = try all.writer(id: row.table), try !table.contains(row.row) else { continue }
      // The rows that linked to it may be removed, too.
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

  /// Whether an embedded row has exactly one owner. An owner that is embedded needs exactly one owner, too, and so on
  /// up to a row that is not embedded.
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

  /// Applies recorded changes. They have to include the changes that derive from them.
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

  /// The greatest difference between the id of a new table and the last id. Without this limit, one change could leave
  /// no ids for others.
  private static let mostAhead: UInt32 = 1 << 16

  /// Makes a table with the id that the schema has.
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
  /// Whether the names, the columns and their number, the companions and the primary key are allowed in a table.
  fileprivate var isWellFormed: Bool {
    let names = properties.map(\.name)
    return (1...Self.maximumNameLength).contains(name.utf8.count) && columns.allSatisfy(\.hasUsualName)
      && Set(names.map { Array($0.utf8) }).count == names.count && hasUsualCompanions
      && columns.count <= Self.maximumColumns && columns.count { $0.index == .unique } < 2
      && columns.allSatisfy(\.isWellFormed)
  }
}
