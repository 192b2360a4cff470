/// Dropping columns and tables. The schema changes at once. The values stay in clusters, where nothing reads them, and
/// each later commit gives back the space of some of them (`giveBack`). A cluster that is written for another reason
/// loses its dropped columns, too (`ClusterChange.write`).
extension TableWriter {
  // MARK: - Columns

  /// Drops a column. Its companions, its links, its index and its dictionary are removed at once, and so are the
  /// embedded rows that it owned.
  func drop(at position: Int) throws(StorageError) {
    let column = schema.columns[position]
    // Companions come after their owner, so `position` stays right.
    while let companion = schema.columns.lastIndex(where: { $0.role.owner == column.id }) {
      try drop(at: companion)
    }
    do throws(StorageError) {
      try dropBuffer()
      if column.canLink { try removeLinks(of: column) }
      try removeIndex(of: column)
      try dictionaries.remove(of: column)
      root.dictionaries[column.id] = .null
      let isHeld = !root.clusters.isNull
      try changeSchema { $0.remove(at: position, isHeld: isHeld) }
      root.swept = 0
      if isHeld { tables.hasDropped = true }
    } catch {
      throw tables.fail(error)
    }
    try tables.removeOrphans()
  }

  /// Removes the links that all rows have in a column.
  func removeLinks(of column: Column) throws(StorageError) {
    // If there are many links to one table, whose rows stay, one walk over all links to that table removes them.
    if column.type == .link, root.rows > Self.fewLinks, let target = try tables.writer(id: column.target),
      !target.schema.isEmbedded
    {
      return try target.links.removeAll(table: schema.id, column: column.id)
    }
    for key in try allKeys() {
      if let value = try value(column, ofRow: key) { try removeLinks(value, column, row: key) }
    }
  }

  private static let fewLinks: UInt64 = 64

  // MARK: - The table

  /// Removes everything but the clusters, and hides the table.
  ///
  /// - Precondition: no column of another table links to this one.
  func beginDropping() throws(StorageError) {
    try dropBuffer()
    for column in schema.columns where column.canLink { try removeLinks(of: column) }
    try removeAbsentLinksHere()
    try tables.removeOrphans()
    // Only mixed values of other tables still link to this table.
    try unlink(try linkedRows())
    for index in indexes { try index.removeAll() }
    indexes = []
    try links.removeAll()
    try dictionaries.removeAll()
    (root.indexes, root.dictionaries) = (ColumnTrees(), ColumnTrees())
    try changeSchema { schema in
      schema.columns = []
      schema.droppedColumns = []
      (schema.isHidden, schema.isDropped) = (true, true)
    }
    tables.hasDropped = true
  }

  /// Removes the absent links of all cells to rows of this table.
  private func removeAbsentLinksHere() throws(StorageError) {
    for source in try absentLinks.sources() {
      guard let table = try tables.writer(id: source.table),
        let owner = table.schema.columns.firstIndex(where: { $0.id == source.column }),
        let position = table.schema.position(of: .absentLinks(of: source.column))
      else { throw editor.store.corrupted(.structure, absentLinks.root) }
      let id = schema.id
      let companions = Companions(owner: owner, absentLinks: position)
      try table.changeAbsentLinks(companions, source.row) { links in links.removeAll { $0.table == id } }
    }
  }

  /// The keys of the rows to which links lead, each once.
  private func linkedRows() throws(StorageError) -> [UInt64] {
    var rows: [UInt64] = []
    guard try !links.isEmpty() else { return rows }
    try LinkIndex.forEach([], in: links.root, editor.access()) { entry in
      if rows.last != entry.target { rows.append(entry.target) }
      return true
    }
    return rows
  }

  // MARK: - Giving back

  /// Gives back what was dropped from the next cluster, or frees the next cluster of a dropped table.
  ///
  /// - Parameter budget: the bytes that may be written or read. The approximate cost is subtracted.
  /// - Precondition: `checkNextDropped` has found no damage.
  func giveBack(_ budget: inout Int) throws(StorageError) {
    try dropBuffer()
    guard !root.clusters.isNull else { return try endGivingBack() }
    if schema.isDropped {
      budget -= Self.costOfFreeing
      return try freeFirstCluster()
    }
    let (leaf, next) = try KeyedTree.leafAndNext(for: root.swept, in: root.clusters, editor.access())
    budget -= Self.costOfLooking
    if let key = try firstKeyIfHeld(leaf) {
      budget -= leaf.length
      let change = clusterChange
      clusters = try KeyedTree.update(key, in: root.clusters, editor: editor) {
        (leaf) throws(StorageError) in
        .list(try change.replace(leaf, by: Cluster(leaf, editor.access())))
      }
    }
    guard let next else { return try endGivingBack() }
    root.swept = next
  }

  /// Reads everything of the next cluster that `giveBack` will free. If `giveBack` found damage halfway, it would have
  /// freed some nodes already, and would free them once more later.
  ///
  /// - Throws: `.corrupted`. Nothing has changed then.
  func checkNextDropped() throws(StorageError) {
    try dropBuffer()
    guard !root.clusters.isNull else { return }
    let access = editor.access()
    let leaf = try KeyedTree.leaf(for: schema.isDropped ? 0 : root.swept, in: root.clusters, access)
    if schema.isDropped {
      let cluster = ClusterNode(try access.node(leaf, .cluster))
      guard UInt64(cluster.rows) <= root.rows else { throw editor.store.corrupted(.rows, leaf) }
      try checkTree(leaf)
    } else if try firstKeyIfHeld(leaf) != nil {
      var cluster = try Cluster(leaf, access)
      for id in schema.droppedColumns { for ref in cluster.remove(id) { try checkTree(ref) } }
    }
  }

  /// Reads those nodes of a tree that `freeTree` reads.
  private func checkTree(_ ref: Ref) throws(StorageError) {
    for child in try editor.access().children(of: ref) { try checkTree(child) }
  }

  /// The bytes of a budget that it costs to read the head of a cluster, and to free a cluster with its pieces.
  private static var costOfLooking: Int { 256 }
  private static var costOfFreeing: Int { 2048 }

  /// The first key of a cluster; nil if the cluster has nothing of dropped columns.
  private func firstKeyIfHeld(_ leaf: Ref) throws(StorageError) -> UInt64? {
    let access = editor.access()
    let cluster = ClusterNode(try access.node(leaf, .cluster))
    return cluster.has(anyOf: schema.droppedColumns) ? cluster.firstKey : nil
  }

  private func freeFirstCluster() throws(StorageError) {
    let access = editor.access()
    let first = try KeyedTree.leaf(for: 0, in: root.clusters, access)
    let cluster = ClusterNode(try access.node(first, .cluster))
    let (key, rows) = (cluster.firstKey, UInt64(cluster.rows))
    clusters = try KeyedTree.update(key, in: root.clusters, editor: editor) { (leaf) throws(StorageError) in
      try editor.freeTree(leaf)
      return .list([])
    }
    root.rows -= min(root.rows, rows)
    if root.clusters.isNull { try endGivingBack() }
  }

  private func endGivingBack() throws(StorageError) {
    if schema.isDropped { return tables.drop(self) }
    try changeSchema { $0.droppedColumns = [] }
    root.swept = 0
  }
}

extension ClusterNode {
  /// Whether the cluster has one of the columns with these ids, which are in ascending order.
  func has(anyOf columns: [UInt16]) -> Bool {
    guard !columns.isEmpty else { return false }
    for index in 0..<columnCount {
      let id = descriptor(index).column
      let place = columns.partitioningIndex { $0 >= id }
      if place < columns.count, columns[place] == id { return true }
    }
    return false
  }
}
