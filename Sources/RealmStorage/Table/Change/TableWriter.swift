/// The writer of a table in a transaction. It changes the rows, and keeps the indexes and the links in step with them.
///
/// New rows are collected in a buffer, and new index entries in runs. The writer puts both into their trees before the
/// table is read, and before the transaction commits.
final class TableWriter {
  @exclusivity(unchecked) private(set) var schema: TableSchema
  /// The forms of the columns, by the position of the column in the schema.
  @exclusivity(unchecked) private(set) var forms: [ColumnForm]
  /// The root of the table. It lacks what is still in the buffer, in runs and in open collections.
  @exclusivity(unchecked) var root: TableRoot
  @exclusivity(unchecked) private var stored: TableRoot
  /// The cluster in which a value was replaced last; nil if the tree of clusters has changed since. It is kept because
  /// programs that change many rows mostly do so in the order of their keys.
  @exclusivity(unchecked) var lastChanged: ClusterChange.OwnCluster?
  private(set) var schemaChanged: Bool
  let editor: NodeEditor
  // It is not counted, because the tables own this writer. No writer is used after its transaction has ended.
  private let openTables: UncountedReference<OpenTables>
  var tables: OpenTables { openTables.counted }
  @exclusivity(unchecked) private(set) var isHidden: Bool
  /// The first key whose row has not been reported to the recorder yet.
  @exclusivity(unchecked) var toldRows: UInt64
  var hasRecorder: Bool { openTables.use { $0.recording != nil } }
  /// Whether recorded changes are being applied. Then no change derives others, because the record has them, too.
  var isReplaying: Bool { openTables.use { $0.replay != nil } }

  @exclusivity(unchecked) var buffer: AppendBuffer?
  /// Whether the node of the buffer is in the tree already.
  private var bufferIsInTree = false
  @exclusivity(unchecked) private(set) var isInserting = false
  @exclusivity(unchecked) var lists = OpenCollections<OpenList>()
  @exclusivity(unchecked) var sorted = OpenCollections<OpenSorted>()
  @exclusivity(unchecked) var nested = OpenNestedValues()
  let openChanges = OpenChanges()
  let nestedIDs: NestedIDs
  /// The first id that the transaction gives to a list or map in a mixed value.
  private var firstNestedID: UInt64
  /// The clusters that are written but not in the tree yet. They come after all clusters of the tree.
  @exclusivity(unchecked) var full: [KeyedChild] = []
  @exclusivity(unchecked) var indexes: [IndexWriter] = []
  @exclusivity(unchecked) private var primaryKey: Column?
  let links: LinkIndexWriter
  let absentLinks: AbsentLinkIndexWriter
  @exclusivity(unchecked) private(set) var hasCompanions: Bool
  /// The primary key of the row that was made last, until the absent links to that row are looked up.
  var madeKey: Value?
  /// Whether a change of a cell leaves its companions as they are, because the caller changes them itself.
  var areCompanionsKept = false
  let dictionaries: DictionaryWriters
  /// The greatest number of rows to which a cluster grows when rows are added.
  private(set) var rowLimit: Int
  /// The number of rows from which on a tail is joined with the cluster before it. Fewer rows stay in a cluster of
  /// their own, so that a program that adds few rows at a time does not rewrite the rows before them each time.
  private var tailRows: Int { max(1, rowLimit / 8) }

  init(schema: TableSchema, root: TableRoot, isNew: Bool, tables: OpenTables) {
    self.schema = schema
    self.root = root
    openTables = UncountedReference(tables)
    isHidden = schema.isHidden
    toldRows = root.nextKey
    stored = root
    schemaChanged = isNew
    nestedIDs = tables.givenNestedIDs.ids(ofTable: schema.id)
    nestedIDs.follow(root.nextNested)
    nestedIDs.forgetKept()
    firstNestedID = nestedIDs.next
    primaryKey = schema.primaryKey
    forms = schema.columns.map { ColumnForm($0) }
    editor = tables.editor
    links = LinkIndexWriter(root: root.links, editor: tables.editor)
    absentLinks = AbsentLinkIndexWriter(root: root.absentLinks, editor: tables.editor)
    hasCompanions = schema.columns.contains { $0.isCompanion }
    dictionaries = DictionaryWriters(root.dictionaries, editor: tables.editor)
    rowLimit = min(tables.clusterRows, AppendBuffer.rowLimit(schema))
    indexes = schema.columns.filter { $0.index != .none }
      .map { IndexWriter(column: $0, root: root.index(of: $0), editor: tables.editor) }
  }

  var clusters: Ref {
    get { root.clusters }
    set {
      root.clusters = newValue
      lastChanged = nil
    }
  }

  /// Throws the error that interrupted a change halfway, so that nothing reads or changes the incomplete table.
  func checkWhole() throws(StorageError) {
    if openTables.use({ $0.failure != nil }), let failure = tables.failure { throw failure }
  }

  /// Puts everything into the trees. Returns the root of the table as changed so far.
  func flushed() throws(StorageError) -> TableRoot {
    try flushRows()
    for index in indexes {
      try index.flush()
      root.indexes[index.indexID] = index.root
    }
    try links.flush()
    root.links = links.root
    root.absentLinks = absentLinks.root
    // The ids that a cancelled transaction gave are stored only when this transaction gives ids, too.
    if nestedIDs.next != firstNestedID { root.nextNested = nestedIDs.next }
    root.nextNested = max(root.nextNested, nestedIDs.kept)
    guard root.nextNested <= TableRoot.maximumNested else {
      throw .limitExceeded(.nestedCollections, path: editor.store.storage.path)
    }
    return root
  }

  /// The root to store; nil if the table has not changed.
  func changedRoot() throws(StorageError) -> TableRoot? {
    let root = try flushed()
    guard (root.rows == 0) == root.clusters.isNull else { throw editor.store.corrupted(.rows, root.clusters) }
    return root == stored ? nil : root
  }

  /// The number of rows by which the table has grown in the transaction. It is negative if the table has shrunk.
  var addedRows: Int { Int(clamping: root.rows) - Int(clamping: stored.rows) }

  /// Prepares for the next transaction after a commit. `named` returns the ref that a node has in the file.
  func settle(_ named: (Ref) -> Ref) {
    // The other owners of the root's lists release them here, so that `changeRefs` changes the lists in place.
    stored = TableRoot()
    dictionaries.settle(ColumnTrees())
    root.changeRefs(named)
    dropCollections()
    lastChanged = nil
    stored = root
    firstNestedID = nestedIDs.next
    nestedIDs.forgetKept()
    buffer?.settle(named)
    for index in indexes { index.settle(named) }
    links.settle(named)
    absentLinks.settle(named)
    dictionaries.settle(root.dictionaries)
  }

  // MARK: - Adding

  /// Adds a row. Returns its key.
  func insert(_ fill: (inout NewRow) throws(StorageError) -> Void) throws(StorageError) -> UInt64 {
    try insert(root.nextKey, fill)
  }

  /// Adds a row with a key.
  ///
  /// - Precondition: the key was not given yet: it is at least `root.nextKey`.
  @inline(__always)
  func insert(
    _ key: UInt64, _ fill: (inout NewRow) throws(StorageError) -> Void
  ) throws(StorageError) -> UInt64 {
    let key = try insertAlone(key, fill)
    if !absentLinks.isEmpty { try resolveAbsentLinks(to: key) }
    if openTables.use({ !$0.rowsToResolve.isEmpty }) { try tables.resolveRows() }
    return key
  }

  /// Adds a row with a key, but does not resolve the absent links to it.
  @inline(__always)
  private func insertAlone(
    _ key: UInt64, _ fill: (inout NewRow) throws(StorageError) -> Void
  ) throws(StorageError) -> UInt64 {
    guard key < TableRoot.maximumKey else { throw .limitExceeded(.rows, path: editor.store.storage.path) }
    checkNotInserting()
    isInserting = true
    defer { isInserting = false }
    let isRoomy = try bufferWithRoom().use { (buffer) throws(StorageError) in
      try insert(fill, into: buffer, key)
      return buffer.isRoomy
    }
    do throws(StorageError) {
      if !isRoomy { try makeRoom() }
    } catch {
      throw tables.fail(error)
    }
    return key
  }

  @inline(__always)
  private func insert(
    _ fill: (inout NewRow) throws(StorageError) -> Void, into buffer: AppendBuffer, _ key: UInt64
  ) throws(StorageError) {
    buffer.beginRow(key)
    do throws(StorageError) {
      var row = NewRow(buffer)
      defer { precondition(row.isOf(buffer), "table \(schema.name): its new row was swapped with another's") }
      try fill(&row)
      if hasCompanions { try giveElementIDs(buffer) }
      try buffer.endRow()
      if primaryKey != nil { try checkUnique(buffer) }
    } catch {
      try buffer.removeLastRow()
      throw error
    }
    root.nextKey = key + 1
    root.rows += 1
    if !absentLinks.isEmpty { noteMadeKey(buffer) }
    do throws(StorageError) {
      for slot in buffer.watched.indices {
        if buffer.watched[slot].canLink {
          try addLinks(buffer.watched[slot].value, buffer.watched[slot].column, row: key)
        }
        try buffer.watched[slot].writer?.use { (index) throws(StorageError) in
          try index.insert(buffer.watched[slot].value, row: key)
        }
      }
    } catch {
      throw tables.fail(error)
    }
  }

  func index(of column: Column) -> IndexWriter? { indexes.first { $0.columnID == column.id } }

  private func checkUnique(_ buffer: AppendBuffer) throws(StorageError) {
    for slot in buffer.watched.indices where buffer.watched[slot].isUnique {
      // In nearly all cases no row has the value, and this test finds that out.
      let mayContain = try buffer.watched[slot].writer?.use { (index) throws(StorageError) in
        try index.mayContain(buffer.watched[slot].value)
      }
      guard mayContain != false else { continue }
      try checkUnique(buffer.watched[slot].value, buffer.watched[slot].column, buffer)
    }
  }

  /// Throws `.duplicateKey` if a row has the value. `buffer` may hold rows that are in no tree yet.
  func checkUnique(_ value: Value, _ column: Column, _ buffer: AppendBuffer?) throws(StorageError) {
    guard let index = index(of: column), try index.mayContain(value) else { return }
    let encoded = IndexKey.encode(value, of: column)
    if IndexKey.isCut(encoded, of: column) {
      // The index has only a part of this value, which other values may share, so the rows' values are compared.
      try index.flush()
      try appendFull()
      var isTaken = false
      try IndexTree.forEachRow(encoded, in: index.root, editor.access()) { (row) throws(StorageError) in
        var found = try buffer?.text(column, ofRow: row)
        if found == nil {
          found = try TableReading.value(column, ofRow: row, in: root, editor.access())
        }
        isTaken = found == value
        return !isTaken
      }
      guard isTaken else { return }
    }
    throw .duplicateKey(table: schema.name, column: column.name, path: editor.store.storage.path)
  }

  private func checkNotInserting() {
    precondition(!isInserting, "table \(schema.name): it is used while a row is made")
  }

  /// The buffer to which rows are added. It has room for another row.
  @inline(__always)
  private func bufferWithRoom() throws(StorageError) -> UncountedReference<AppendBuffer> {
    if let buffer { return UncountedReference(buffer) }
    return UncountedReference(try makeBuffer())
  }

  @inline(never)
  private func makeBuffer() throws(StorageError) -> AppendBuffer {
    try editor.checkRoom(for: 1 << 20)
    // The new buffer may take over the cluster that has the cells of open collections.
    try forgetCollections()
    var (made, isTail): (AppendBuffer?, Bool) = (nil, false)
    if full.isEmpty, !root.clusters.isNull {
      let access = editor.access()
      let last = try KeyedTree.leaf(for: UInt64.max, in: root.clusters, access)
      let cluster = ClusterNode(try access.node(last, .cluster))
      guard cluster.key(cluster.rows - 1) < root.nextKey else { throw access.corrupted(.keyOrder, last) }
      if cluster.rows < tailRows, last.length < Self.longestGrowing,
        !cluster.has(anyOf: schema.droppedColumns)
      {
        made = try buffer(of: last)
      }
      isTail = cluster.rows < rowLimit
    }
    bufferIsInTree = made != nil
    let buffer =
      made
      ?? AppendBuffer(
        schema: schema, rowLimit: rowLimit, indexes: indexes, dictionaries: dictionaries,
        nestedIDs: nestedIDs,
        editor: editor)
    if isTail { buffer.joinRows = tailRows }
    self.buffer = buffer
    return buffer
  }

  /// A cluster whose node has this length or more gets no more rows.
  private static let longestGrowing = Ref.maximumLength / 4

  private func buffer(of cluster: Ref) throws(StorageError) -> AppendBuffer {
    try AppendBuffer(
      cluster, schema: schema, rowLimit: rowLimit, indexes: indexes, dictionaries: dictionaries,
      nestedIDs: nestedIDs, editor: editor)
  }

  @inline(never)
  private func makeRoom() throws(StorageError) {
    if let tail = buffer, tail.rows >= tail.joinRows {
      tail.joinRows = .max
      try join(tail)
    }
    if let buffer, buffer.isFull { try finishBuffer() }
  }

  /// Joins the rows of the tail with those of the cluster before it. If that has no room for them, it is finished.
  private func join(_ tail: AppendBuffer) throws(StorageError) {
    // The buffer takes over a cluster that may have the cells of open collections.
    try forgetCollections()
    guard let last = try clusterBefore(tail) else { return }
    let complete = try buffer(of: last)
    guard complete.keys[complete.rows - 1] < tail.keys[0] else {
      throw editor.store.corrupted(.keyOrder, last)
    }
    guard complete.hasRoom(for: tail) else { return try finish(complete) }
    if bufferIsInTree {
      clusters = try KeyedTree.update(tail.keys[0], in: root.clusters, editor: editor) {
        (leaf) throws(StorageError) in
        guard leaf == tail.node else { throw editor.store.corrupted(.keyOrder, leaf) }
        return .list([])
      }
    }
    try complete.join(tail)
    buffer = complete
    bufferIsInTree = true
  }

  /// Writes a cluster of the tree in its final form, because it gets no more rows.
  private func finish(_ complete: AppendBuffer) throws(StorageError) {
    let old = complete.node
    try complete.encode()
    var cluster = try complete.write(isLast: true)
    cluster.ref = try editor.spillIfLarge([cluster.ref])[0]
    if cluster.ref != old { try replaceCluster(old, with: cluster) }
  }

  /// The cluster before the tail; nil if there is none, or if it gets no more rows.
  private func clusterBefore(_ tail: AppendBuffer) throws(StorageError) -> Ref? {
    guard full.isEmpty, !root.clusters.isNull, tail.keys[0] > 0 else { return nil }
    let access = editor.access()
    let last = try KeyedTree.leaf(for: tail.keys[0] - 1, in: root.clusters, access)
    guard last != tail.node, last.length < Self.longestGrowing else { return nil }
    let cluster = ClusterNode(try access.node(last, .cluster))
    guard cluster.rows < rowLimit, !cluster.has(anyOf: schema.droppedColumns) else { return nil }
    let isComplete = (0..<cluster.columnCount).contains { cluster.descriptor($0).encoding == .codes }
    return isComplete && cluster.rows + tail.rows > rowLimit ? nil : last
  }

  private func finishBuffer() throws(StorageError) {
    guard let complete = buffer else { return }
    try noteCreatedRows()
    let old = complete.node
    try complete.encode()
    try indexTexts(complete)
    var cluster = try complete.write(isLast: true)
    buffer = nil
    if bufferIsInTree {
      cluster.ref = try editor.spillIfLarge([cluster.ref])[0]
      try replaceCluster(old, with: cluster)
    } else {
      full.append(cluster)
    }
    if full.count >= KeyedTree.fanOut || editor.hasGrownLarge { try appendFull() }
  }

  private func replaceCluster(_ old: Ref, with cluster: KeyedChild) throws(StorageError) {
    clusters = try KeyedTree.update(cluster.leastKey, in: root.clusters, editor: editor) {
      (leaf) throws(StorageError) in
      // Only a forged branch leads to another leaf.
      guard leaf == old else { throw editor.store.corrupted(.keyOrder, leaf) }
      return .one(cluster)
    }
  }

  func appendFull() throws(StorageError) {
    guard !full.isEmpty else { return }
    // The cluster that is in the tree stays in memory, because open collections know the trees that it names.
    var first = 0
    if !root.clusters.isNull, !root.clusters.isKeyedBranch {
      first = 1
      let access = editor.access()
      let only = ClusterNode(try access.node(root.clusters, .cluster))
      full.insert(
        KeyedChild(leastKey: only.firstKey, rows: UInt64(only.rows), ref: root.clusters), at: 0)
      clusters = .null
    }
    // The buffer's cluster stays in memory, because the buffer may write it again.
    let complete = full.last?.ref == buffer?.node ? full.count - 1 : full.count
    if first < complete {
      let refs = try editor.spillIfLarge(full[first..<complete].map { $0.ref })
      for index in first..<complete { full[index].ref = refs[index - first] }
    }
    clusters = try KeyedTree.append(full, to: root.clusters, editor: editor)
    full = []
  }

  /// Makes the index entries for the texts in the buffer that get none row by row. They are made this late because the
  /// texts lie in one place by now, and texts that repeat may have a code.
  private func indexTexts(_ buffer: AppendBuffer) throws(StorageError) {
    guard !buffer.indexedLate.isEmpty else { return }
    let keys = buffer.takeUnindexed()
    guard !keys.isEmpty else { return }
    do throws(StorageError) {
      for position in buffer.indexedLate {
        guard let index = index(of: buffer.columns[position].column) else { continue }
        try buffer.insert(keys, position, into: index)
      }
    } catch {
      throw tables.fail(error)
    }
  }

  /// Puts all rows and the open collections into the tree. A buffer with few rows is kept for the next rows.
  func flushRows() throws(StorageError) {
    checkNotInserting()
    try storeCollections()
    try putRowsIntoTree()
  }

  /// Puts all rows into the tree. Open collections stay as they are, because their rows are in the tree already.
  private func putRowsIntoTree() throws(StorageError) {
    checkNotInserting()
    try noteCreatedRows()
    if let buffer { try indexTexts(buffer) }
    if let buffer, buffer.isChanged, buffer.rows > 0 {
      let old = buffer.node
      let cluster = try buffer.write()
      if bufferIsInTree {
        try replaceCluster(old, with: cluster)
      } else {
        full.append(cluster)
        bufferIsInTree = true
      }
    }
    try appendFull()
    root.dictionaries = try dictionaries.flushed()
    if let buffer, buffer.rows >= tailRows { self.buffer = nil }
  }

  /// Puts all rows into the tree. Drops the buffer and the open collections, because what they hold will change.
  func dropBuffer() throws(StorageError) {
    try flushRows()
    buffer = nil
    dropCollections()
  }

  /// Puts a row into the tree, so that its cells can be changed there.
  func putIntoTree(_ row: UInt64) throws(StorageError) {
    if let first = buffer?.keys.first, row >= first { return try dropBuffer() }
    try appendFull()
  }

  // MARK: - Reading

  func contains(_ row: UInt64) throws(StorageError) -> Bool {
    if let keys = buffer?.keys, let first = keys.first, row >= first { return keys.contains(row) }
    if let first = full.first?.leastKey, row >= first { try appendFull() }
    return try TableReading.contains(row, in: root.clusters, editor.access())
  }

  /// The key of the row with a value of the primary key; nil if there is no such row, or no primary key.
  func row(withPrimaryKey value: Value) throws(StorageError) -> UInt64? {
    guard let primaryKey, primaryKey.accepts(value), let index = index(of: primaryKey) else { return nil }
    // The index may have only the beginning of so long a text, which other texts may share: rows are read, too.
    if case .string(let text) = value, text.utf8.count >= IndexKey.maximumText / 2 {
      return try IndexTree.row(with: value, of: primaryKey, table: flushed(), editor.access())
    }
    return try index.row(with: value)
  }

  func value(_ column: Column, ofRow row: UInt64) throws(StorageError) -> Value? {
    if let open = nested.find(CellPlace(row: row, column: column.id)), open.part == nil {
      return open.value
    }
    // Other columns have no open collections. An open mixed value of the cell was returned above.
    if column.isCollection { try storeCollections() }
    try putRowsIntoTree()
    // Only one ref of the root is passed on, because a copy of the root would count references.
    let dictionary = column.storage == .varying ? root.dictionaries[column.id] : .null
    return try TableReading.value(
      column, ofRow: row, in: root.clusters, dictionary: dictionary, editor.access())
  }

  // MARK: - Columns

  /// Changes the schema, and the properties that depend on it. Before that, it puts the rows of the buffer into the
  /// tree, because the buffer knows columns by their position.
  func changeSchema(_ change: (inout TableSchema) -> Void) throws(StorageError) {
    try dropBuffer()
    change(&schema)
    forms = schema.columns.map { ColumnForm($0) }
    rowLimit = min(tables.clusterRows, AppendBuffer.rowLimit(schema))
    schemaChanged = true
    primaryKey = schema.primaryKey
    hasCompanions = schema.columns.contains { $0.isCompanion }
    isHidden = schema.isHidden
  }
}
