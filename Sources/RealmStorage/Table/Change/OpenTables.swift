/// An object that holds back the new values of some cells until something reads these cells.
protocol OpenCells: AnyObject {
  /// Stores the held values in the cells.
  func close() throws(StorageError)
}

/// The tables of a transaction, with a writer for each table that the transaction has used.
final class OpenTables {
  let editor: NodeEditor
  let givenNestedIDs: GivenNestedIDs
  /// The greatest number of rows of a cluster.
  let clusterRows: Int
  @exclusivity(unchecked) private var catalogue: Catalogue
  /// The schemas of the tables that existed when the transaction began, without the tables that were dropped since.
  @exclusivity(unchecked) private var schemas: [TableSchema]
  @exclusivity(unchecked) private var dropped: [UInt32] = []
  @exclusivity(unchecked) private var writers: [TableWriter] = []
  private(set) var lastTable: UInt32
  /// Whether there may be dropped columns or dropped tables whose space was not given back yet.
  @exclusivity(unchecked) var hasDropped: Bool
  /// The receivers of the transaction's changes; nil if there are none.
  @exclusivity(unchecked) private(set) var recording: ChangeRecording?
  /// The state of the recorded changes that are being applied; nil if none are.
  @exclusivity(unchecked) var replay: ChangeReplay?
  /// The embedded rows that lost a link to them in the present change, by the id of their table.
  @exclusivity(unchecked) private var orphans: [UInt32: [UInt64]] = [:]
  /// Rows that are new or have got another primary key, and to which absent links may lead. These links are resolved
  /// later, because a row is being made or `gatheringRows` runs.
  @exclusivity(unchecked) var rowsToResolve: [(table: TableWriter, row: UInt64, key: Value)] = []
  /// The number of `gatheringRows` calls that are running. Until the last of them ends, absent links to new rows are
  /// not resolved.
  @exclusivity(unchecked) private var gatherings = 0
  /// The new values that the edited objects of a synced file hold back from their cells; nil if there are none.
  @exclusivity(unchecked) var openCells: (any OpenCells)?
  /// The number of elements and links that edits of lists, sets and maps of links have looked at. It measures what such
  /// edits cost.
  @exclusivity(unchecked) var elementSteps = 0
  /// The error that interrupted a change halfway. The transaction can't be committed then.
  @exclusivity(unchecked) private(set) var failure: StorageError?

  init(
    catalogue: Catalogue, schemas: [TableSchema], clusterRows: Int, givenNestedIDs: GivenNestedIDs,
    editor: NodeEditor
  ) {
    self.givenNestedIDs = givenNestedIDs
    self.clusterRows = clusterRows
    self.catalogue = catalogue
    self.schemas = schemas
    self.editor = editor
    hasDropped = schemas.contains { $0.hasDropped }
    lastTable = max(catalogue.lastTable, schemas.map { $0.id }.max() ?? 0)
  }

  /// Whether the next transaction may use the same tables, without reading them again.
  var canSettle: Bool {
    failure == nil && dropped.isEmpty && writers.count <= Self.mostSettled
      && !writers.contains { $0.schemaChanged }
  }
  private static let mostSettled = 16

  /// Prepares the tables for the next transaction after a commit, so that it need not read them again.
  ///
  /// - Parameter written: the refs that the transaction's nodes have in the file; nil if the refs stay as they are.
  /// - Returns: false if `written` lacks a node; then the tables can't be used again.
  func settle(_ written: WrittenRefs?) -> Bool {
    recording = nil
    elementSteps = 0
    var isComplete = true
    let named = { (ref: Ref) -> Ref in
      guard let written, ref.isDirty else { return ref }
      if let found = written.find(ref) { return found }
      isComplete = false
      return .null
    }
    catalogue.changeRefs(named)
    for writer in writers { writer.settle(named) }
    return isComplete
  }

  /// Whether the version has more than tables and trees.
  var hasNamedSlots: Bool { !catalogue.namedSlots.isNull }

  // MARK: - Recording

  /// Reports each change from now on to the recorder.
  func record(into recorder: any ChangeRecorder) throws(StorageError) {
    if recording != nil { try noteCreatedRows() }
    for writer in writers { writer.tellFromNowOn() }
    recording = ChangeRecording(recorder, recording?.changelog)
  }

  /// Reports each change of the transaction to the changelog.
  ///
  /// - Precondition: nothing has been changed yet.
  func record(into changelog: any Changelog) {
    for writer in writers { writer.tellFromNowOn() }
    recording = ChangeRecording(nil, changelog)
  }

  /// Calls `body`, whose changes are not reported to the changelog.
  func knowing<Result>(_ body: () throws(StorageError) -> Result) throws(StorageError) -> Result {
    guard let recording else { return try body() }
    // New rows are reported as late as possible. So the rows that were made before are reported here, as the program's
    // own, and those that `body` makes are reported before it ends.
    try noteCreatedRows()
    return try recording.knowing { () throws(StorageError) in
      let result = try body()
      try noteCreatedRows()
      return result
    }
  }

  /// Reports the changes that have not been reported yet.
  func completeRecording() throws(StorageError) {
    try closeCells()
    guard recording != nil else { return }
    if !rowsToResolve.isEmpty { try resolveRows() }
    try noteCreatedRows()
  }

  /// Reports the rows that were added and have not been reported yet.
  func noteCreatedRows() throws(StorageError) {
    for writer in writers { try writer.noteCreatedRows() }
  }

  /// Calls `body`, whose changes derive from another change.
  func deriving<Result>(_ body: () throws(StorageError) -> Result) throws(StorageError) -> Result {
    guard let recording else { return try body() }
    return try recording.deriving(body)
  }

  // MARK: - Links to rows that were not there

  /// Whether a row of a table is being made. That table can't be used meanwhile.
  var isMakingRow: Bool { writers.contains { $0.isInserting } }

  /// Whether absent links to new rows wait for the end of a row that is being made, or of `gatheringRows`.
  var areLinksWaiting: Bool { isMakingRow || gatherings > 0 }

  /// Calls `body`. Absent links to the rows that it makes are resolved when it has ended, or earlier if there are many
  /// such rows. So a cell with many links is read and written once for all of them. Code that looks for a link
  /// meanwhile has to look among the absent links, too.
  func gatheringRows<Result>(_ body: () throws(StorageError) -> Result) throws(StorageError) -> Result {
    gatherings += 1
    let result: Result
    do throws(StorageError) {
      result = try body()
    } catch {
      gatherings -= 1
      throw error
    }
    gatherings -= 1
    if !rowsToResolve.isEmpty { try resolveRows() }
    return result
  }

  /// The number of new rows from which on `resolveRows` does not wait for the end of `gatheringRows`.
  private static let mostRows = 1 << 16

  /// Turns the absent links to the new rows into ordinary links.
  func resolveRows() throws(StorageError) {
    guard gatherings == 0 || rowsToResolve.count >= Self.mostRows, !isMakingRow else { return }
    try closeCells()
    let rows = rowsToResolve
    rowsToResolve = []
    var cells: [AbsentLinkIndex.Source] = []
    var targets: [AbsentLinkIndex.Source: [RowName: UInt64]] = [:]
    for (table, row, key) in rows {
      // The row may have been removed since, or have got another primary key.
      guard try table.row(withPrimaryKey: key) == row else { continue }
      for cell in try table.absentLinks.sources(of: key) {
        if targets[cell] == nil { cells.append(cell) }
        targets[cell, default: [:]][RowName(table: table.schema.id, key: key)] = row
      }
    }
    for cell in cells { try resolveLinks(of: cell, to: targets[cell] ?? [:]) }
  }

  /// Stores the values that `openCells` holds back. They are not reported to the changelog: it has the instructions
  /// from which they derive, or is not to have them.
  func closeCells() throws(StorageError) {
    guard let open = openCells else { return }
    openCells = nil
    do throws(StorageError) {
      try knowing { () throws(StorageError) in
        try deriving { () throws(StorageError) in try open.close() }
      }
    } catch {
      throw fail(error)
    }
  }

  // MARK: - Embedded rows

  /// Notes that an embedded row has lost a link to it.
  func noteOrphan(_ row: LinkTarget) { orphans[row.table, default: []].append(row.row) }

  /// Removes the noted embedded rows to which no link leads any more, and the embedded rows that these own.
  func removeOrphans() throws(StorageError) {
    if orphans.isEmpty { return }
    if let replay {
      replay.note(orphans)
      orphans = [:]
      return
    }
    do throws(StorageError) {
      // The order does not depend on hashes, so that the same changes are recorded each time.
      while let table = orphans.keys.min(), let rows = orphans.removeValue(forKey: table) {
        guard let writer = try writer(id: table) else { continue }
        var free: [UInt64] = []
        for row in rows where try writer.links.links(to: row).isEmpty { free.append(row) }
        try deriving { () throws(StorageError) in _ = try writer.removeAlone(free) }
      }
    } catch {
      throw fail(error)
    }
  }

  /// The schemas of all tables, hidden ones too, as changed so far.
  var allSchemas: [TableSchema] { schemas.filter { opened($0.id) == nil } + writers.map { $0.schema } }

  func fail(_ error: StorageError) -> StorageError {
    failure = failure ?? error
    return error
  }

  func writer(_ name: String, isHidden: Bool = false) throws(StorageError) -> TableWriter? {
    if let open = writers.first(where: { $0.schema.isNamed(name, isHidden: isHidden) }) { return open }
    // A table that is open may have got another name.
    guard let schema = schemas.first(where: { $0.isNamed(name, isHidden: isHidden) && opened($0.id) == nil })
    else { return nil }
    return try open(schema)
  }

  /// The table with an id; nil if there is none, or if it was dropped.
  func writer(id: UInt32) throws(StorageError) -> TableWriter? {
    guard let table = try writer(ofAny: id), !table.schema.isDropped else { return nil }
    return table
  }

  /// The table with an id, even if it was dropped but still has rows; nil if there is none.
  func writer(ofAny id: UInt32) throws(StorageError) -> TableWriter? {
    if let open = opened(id) { return open }
    guard let schema = schemas.first(where: { $0.id == id }) else { return nil }
    return try open(schema)
  }

  private func opened(_ id: UInt32) -> TableWriter? {
    for writer in writers where writer.schema.id == id { return writer }
    return nil
  }

  /// The table of a row that a row of `schema` links to.
  func writer(of target: LinkTarget, linkedBy schema: TableSchema) throws(StorageError) -> TableWriter {
    guard let table = try writer(id: target.table) else {
      throw .corrupted(
        Corruption(.structure, offset: nil, length: 0, birth: 0, nodeKind: "schema of \(schema.name)"),
        path: editor.store.storage.path)
    }
    return table
  }

  /// Removes all rows of tables. If these tables link only to one another, and no other table links to them, their
  /// links are not read.
  func removeAll(of ids: Set<UInt32>) throws(StorageError) {
    var writers: [TableWriter] = []
    for id in ids.sorted() {
      if let writer = try writer(id: id) { writers.append(writer) }
    }
    let known = allSchemas
    let areAll = known.allSatisfy { ids.contains($0.id) }
    let isClosed = known.allSatisfy { schema in
      schema.columns.allSatisfy { column in
        switch column.type {
        case .link: ids.contains(column.target) == ids.contains(schema.id)
        case .data: !column.holdsAbsentLinks
        case .mixed: areAll
        default: true
        }
      }
    }
    guard recording?.changelog == nil else {
      // Embedded tables come last: an owned object is removed with its owner, and the changelog can read it until then.
      for writer in writers where !writer.schema.isEmbedded { try writer.removeAll() }
      for writer in writers where writer.schema.isEmbedded { try writer.removeAll() }
      return
    }
    for writer in writers { try writer.removeAll(withLinks: isClosed) }
  }

  private func open(_ schema: TableSchema) throws(StorageError) -> TableWriter {
    let root = try Tables.root(of: schema.id, catalogue, editor.access())
    let writer = TableWriter(schema: schema, root: root, isNew: false, tables: self)
    writers.append(writer)
    return writer
  }

  func create(_ schema: TableSchema) throws(StorageError) -> TableWriter {
    guard lastTable < UInt32.max else { throw .limitExceeded(.tables, path: editor.store.storage.path) }
    return try create(schema, id: lastTable + 1)
  }

  /// Makes a table with an id that was not given yet.
  func create(_ schema: TableSchema, id: UInt32) throws(StorageError) -> TableWriter {
    lastTable = id
    var schema = schema.numbered(id)
    schema.droppedColumns = []
    let writer = TableWriter(schema: schema, root: TableRoot(), isNew: true, tables: self)
    writers.append(writer)
    try writer.note(.createTable(schema))
    return writer
  }

  /// Removes a table from the catalogue. Its id is never given again.
  ///
  /// - Precondition: the table is hidden, and its rows were removed, or taken over by another table.
  func drop(_ table: TableWriter) {
    precondition(table.isHidden, "table \(table.schema.name): only hidden tables are dropped")
    writers.removeAll { $0 === table }
    schemas.removeAll { $0.id == table.schema.id }
    dropped.append(table.schema.id)
  }

  /// Puts the changes into the catalogue. Returns the number of rows by which the tables have grown; nil if nothing
  /// changed.
  func store(in catalogue: inout Catalogue) throws(StorageError) -> Int? {
    try closeCells()
    if !rowsToResolve.isEmpty { try resolveRows() }
    try completeRecording()
    if let failure { throw failure }
    var changed = false
    var added = 0
    if writers.count > 1 { writers.sort { $0.schema.id < $1.schema.id } }
    for writer in writers {
      if writer.schemaChanged {
        try Tables.setSchema(writer.schema, in: &catalogue, editor)
        catalogue.lastTable = lastTable
        changed = true
      }
      if let root = try writer.changedRoot() {
        try Tables.setRoot(root, of: writer.schema.id, in: &catalogue, editor)
        changed = true
        added += writer.addedRows
      }
    }
    for table in dropped {
      try Tables.remove(table, from: &catalogue, editor)
      catalogue.lastTable = lastTable
      changed = true
    }
    self.catalogue = catalogue
    return changed ? added : nil
  }
}

extension TableSchema {
  /// Whether the table has the name and is not dropped. Hidden tables have names of their own.
  func isNamed(_ name: String, isHidden: Bool = false) -> Bool {
    self.isHidden == isHidden && !isDropped && self.name.utf8.elementsEqual(name.utf8)
  }
}
