/// Holds what cells of tables are to get, until others read them.
protocol OpenCells: AnyObject {
  /// Puts it there.
  func close() throws(StorageError)
}

/// The tables a transaction has asked for.
final class OpenTables {
  let editor: NodeEditor
  let givenNestedIDs: GivenNestedIDs
  /// Rows of a cluster, at most.
  let clusterRows: Int
  @exclusivity(unchecked) private var catalogue: Catalogue
  /// All tables there were when the transaction began, but for those that were dropped since.
  @exclusivity(unchecked) private var schemas: [TableSchema]
  @exclusivity(unchecked) private var dropped: [UInt32] = []
  @exclusivity(unchecked) private var writers: [TableWriter] = []
  private(set) var lastTable: UInt32
  /// A table has columns that were dropped, or was dropped itself, and what they held is still there.
  @exclusivity(unchecked) var hasDropped: Bool
  /// Nil where nobody listens to the transaction's changes.
  @exclusivity(unchecked) private(set) var recording: ChangeRecording?
  /// Of recorded changes that are being applied.
  @exclusivity(unchecked) var replay: ChangeReplay?
  /// Embedded rows that lost the link to them in the change under way, by their table.
  @exclusivity(unchecked) private var orphans: [UInt32: [UInt64]] = [:]
  /// Rows that came while another row was made: links to them take their places when that one is there.
  @exclusivity(unchecked) var rowsToResolve: [(table: TableWriter, row: UInt64, key: Value)] = []
  /// Links to rows that come wait until the end of so many calls.
  @exclusivity(unchecked) private var gatherings = 0
  /// What an object that is being edited keeps back from its cells.
  @exclusivity(unchecked) var openCells: (any OpenCells)?
  /// How many elements and links were looked at to edit lists, sets and maps of links: what such edits cost, counted.
  @exclusivity(unchecked) var elementSteps = 0
  /// What interrupted a change half-way: such a transaction can't be committed.
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

  /// Whether the next transaction may go on with them.
  var canSettle: Bool {
    failure == nil && dropped.isEmpty && writers.count <= Self.mostSettled
      && !writers.contains { $0.schemaChanged }
  }
  private static let mostSettled = 16

  /// The transaction was committed: they are as the next one finds them, without reading them again; its nodes are named
  /// by `written`, or as before where it is nil. False where what they know is not all there.
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

  /// The version has other things than tables and trees.
  var hasNamedSlots: Bool { !catalogue.namedSlots.isNull }

  // MARK: - Recording

  /// Tells the recorder every change from now on.
  func record(into recorder: any ChangeRecorder) throws(StorageError) {
    if recording != nil { try noteCreatedRows() }
    for writer in writers { writer.tellFromNowOn() }
    recording = ChangeRecording(recorder, recording?.changelog)
  }

  /// Tells the changelog every change of the transaction.
  ///
  /// - Precondition: nothing was changed yet.
  func record(into changelog: any Changelog) {
    for writer in writers { writer.tellFromNowOn() }
    recording = ChangeRecording(nil, changelog)
  }

  /// Calls `body`, whose changes the changelog is not to be told.
  func knowing<Result>(_ body: () throws(StorageError) -> Result) throws(StorageError) -> Result {
    guard let recording else { return try body() }
    // Rows are told as late as can be: those that were made before are told as the program's own, those that are made now are not.
    try noteCreatedRows()
    return try recording.knowing { () throws(StorageError) in
      let result = try body()
      try noteCreatedRows()
      return result
    }
  }

  /// All changes are told.
  func completeRecording() throws(StorageError) {
    try closeCells()
    guard recording != nil else { return }
    if !rowsToResolve.isEmpty { try resolveRows() }
    try noteCreatedRows()
  }

  /// Tells the rows that were added and not told yet.
  func noteCreatedRows() throws(StorageError) {
    for writer in writers { try writer.noteCreatedRows() }
  }

  /// Calls `body`, whose changes follow from another one.
  func deriving<Result>(_ body: () throws(StorageError) -> Result) throws(StorageError) -> Result {
    guard let recording else { return try body() }
    return try recording.deriving(body)
  }

  // MARK: - Links to rows that were not there

  /// A row of a table is being made, which can't be used meanwhile.
  var isMakingRow: Bool { writers.contains { $0.isInserting } }

  /// Links to rows that come wait: for the row that is being made, or for others.
  var areLinksWaiting: Bool { isMakingRow || gatherings > 0 }

  /// Calls `body`. Links to the rows that it makes take their places when it has ended, or when these are many: a cell with many links is read and written once for all of them. What
  /// looks for a link meanwhile asks for those that wait, too.
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

  /// So many rows wait at most.
  private static let mostRows = 1 << 16

  /// Lets the links to the rows that have come take their places.
  func resolveRows() throws(StorageError) {
    guard gatherings == 0 || rowsToResolve.count >= Self.mostRows, !isMakingRow else { return }
    try closeCells()
    let rows = rowsToResolve
    rowsToResolve = []
    var cells: [AbsentLinkIndex.Source] = []
    var targets: [AbsentLinkIndex.Source: [RowName: UInt64]] = [:]
    for (table, row, key) in rows {
      // It may have gone since.
      guard try table.row(withPrimaryKey: key) == row else { continue }
      for cell in try table.absentLinks.sources(of: key) {
        if targets[cell] == nil { cells.append(cell) }
        targets[cell, default: [:]][RowName(table: table.schema.id, key: key)] = row
      }
    }
    for cell in cells { try resolveLinks(of: cell, to: targets[cell] ?? [:]) }
  }

  /// What an object that is being edited keeps back goes into its cells. The changelog is not told: it has the instructions that this follows from, or is not to have them.
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

  /// An embedded row has lost a link to it.
  func noteOrphan(_ row: LinkTarget) { orphans[row.table, default: []].append(row.row) }

  /// Removes the embedded rows that nobody owns any more, with those they own.
  func removeOrphans() throws(StorageError) {
    if orphans.isEmpty { return }
    if let replay {
      replay.note(orphans)
      orphans = [:]
      return
    }
    do throws(StorageError) {
      // In an order that does not depend on hashes, so that what is recorded is the same each time.
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

  /// Of all tables, hidden ones too, as changed so far.
  var allSchemas: [TableSchema] { schemas.filter { opened($0.id) == nil } + writers.map { $0.schema } }

  func fail(_ error: StorageError) -> StorageError {
    failure = failure ?? error
    return error
  }

  func writer(_ name: String, isHidden: Bool = false) throws(StorageError) -> TableWriter? {
    if let open = writers.first(where: { $0.schema.isNamed(name, isHidden: isHidden) }) { return open }
    // One that is open may have another name by now.
    guard let schema = schemas.first(where: { $0.isNamed(name, isHidden: isHidden) && opened($0.id) == nil })
    else { return nil }
    return try open(schema)
  }

  /// The table of an id; nil where there is none, or it was dropped.
  func writer(id: UInt32) throws(StorageError) -> TableWriter? {
    guard let table = try writer(ofAny: id), !table.schema.isDropped else { return nil }
    return table
  }

  /// The same, also of a table that was dropped.
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

  /// Removes all rows of tables. Where these link to one another only, and no other table to them, links go unread.
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
      // What an object owns goes with it: until then it can be read.
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

  /// Makes a table of an id that was not given yet.
  func create(_ schema: TableSchema, id: UInt32) throws(StorageError) -> TableWriter {
    lastTable = id
    var schema = schema.numbered(id)
    schema.droppedColumns = []
    let writer = TableWriter(schema: schema, root: TableRoot(), isNew: true, tables: self)
    writers.append(writer)
    try writer.note(.createTable(schema))
    return writer
  }

  /// Takes a table away. Its id is not given again.
  ///
  /// - Precondition: it is hidden, and its rows were removed, or taken over by another table.
  func drop(_ table: TableWriter) {
    precondition(table.isHidden, "table \(table.schema.name): only hidden tables are dropped")
    writers.removeAll { $0 === table }
    schemas.removeAll { $0.id == table.schema.id }
    dropped.append(table.schema.id)
  }

  /// Puts what changed into the catalogue; answers how many rows there are more than before; nil where nothing did.
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
  /// Whether it is the table of that name: hidden tables have names of their own.
  func isNamed(_ name: String, isHidden: Bool = false) -> Bool {
    self.isHidden == isHidden && !isDropped && self.name.utf8.elementsEqual(name.utf8)
  }
}
