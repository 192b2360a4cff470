/// Making rows and columns again as they were recorded, with the key or the id that they had.
extension TableWriter {
  /// Makes rows, or sets many cells, as they were recorded.
  ///
  /// - Precondition: the changes fit, and recorded changes are being applied.
  @inline(never)
  func replay(_ change: RowChange.Kind) throws(StorageError) -> Outcome {
    switch change {
    case .create(let row, let values): try create([RowBatch.Row(key: row, values: values)])
    case .createMany(let batch): try create(batch.rows)
    case .setMany(let column, let rows, let values):
      let position = position(of: column)
      for (row, value) in zip(rows, values) where try !set(value, at: position, ofRow: row) {
        throw mismatch(.noRow, column: column, row: row)
      }
    default: preconditionFailure("\(change) is no change that only a record makes")
    }
    return .done
  }

  /// Adds a column with the id with which it was recorded.
  func addRecorded(_ column: Column) throws(StorageError) {
    guard column.id == 0 || UInt32(column.id) >= schema.nextColumnID,
      column.isCompanion || schema.column(column.name) == nil
    else { throw mismatch(.columnExists, column: column.id) }
    guard column.hasUsualName, !column.isCompanion || canAdd(companion: column),
      schema.columns.count < TableSchema.maximumColumns,
      column.index != .unique || schema.primaryKey == nil, column.isWellFormed
    else { throw mismatch(.invalidSchema, column: column.id) }
    if column.type == .link {
      tables.replay?.addTarget(table: column.target == 0 ? schema.id : column.target)
    }
    try add(column, keepsID: column.id != 0)
  }

  private func canAdd(companion: Column) -> Bool {
    var schema = schema
    schema.add(companion, keepsID: true)
    return companion.id != 0 && schema.hasUsualCompanions
  }

  /// Throws `.changeDoesNotFit` if the companions of a row's cells do not fit them, or if there are absent links to the
  /// row, although it exists.
  func checkCompanions(ofRow row: UInt64) throws(StorageError) {
    guard try contains(row) else { return }
    if !absentLinks.isEmpty, let column = schema.primaryKey, let key = try value(column, ofRow: row) {
      guard try !waits(forPrimaryKey: key) else { throw mismatch(.absentLinks, row: row) }
    }
    for (position, column) in schema.columns.enumerated() {
      guard let id = column.role.owner else { continue }
      let owner = self.position(of: id)
      switch column.role {
      case .property: break
      case .elementIDs:
        let count = try listCount(position, ofRow: row)
        var companions = Companions(owner: owner)
        companions.absentLinks = schema.position(of: .absentLinks(of: id))
        let links = try absentLinks(companions, row)
        guard try listCount(owner, ofRow: row) == count, try haveOwnIDs(links, owner, row) else {
          throw mismatch(.elementIDs, column: id, row: row)
        }
      case .elementPlaces:
        let count = try listCount(position, ofRow: row)
        let elements = try listCount(owner, ofRow: row)
        guard count == 0 || count == elements else {
          throw mismatch(.elementIDs, column: id, row: row)
        }
      case .absentLinks:
        guard try areAbsent(Companions(owner: owner, absentLinks: position), row) else {
          throw mismatch(.absentLinks, column: id, row: row)
        }
      }
    }
  }

  /// Adds a row with a key. Returns nil if the key may have been given before, or if it is so great that few keys would
  /// be left.
  func insert(
    ahead key: UInt64, _ fill: (inout NewRow) throws(StorageError) -> Void
  ) throws(StorageError) -> UInt64? {
    guard key >= root.nextKey, key < min(TableRoot.maximumKey, root.nextKey + Self.mostAhead) else {
      return nil
    }
    return try insert(key, fill)
  }

  private func create(_ rows: [RowBatch.Row]) throws(StorageError) {
    let first = root.nextKey
    let new = rows.partitioningIndex { $0.key >= first }
    try restore(Array(rows[..<new]))
    for row in rows[new...] {
      _ = try insert(row.key) { (made: inout NewRow) throws(StorageError) in
        for (position, value) in row.values.enumerated() { try made.set(position, value) }
      }
      tables.replay?.create(row.key, of: self)
    }
  }

  /// Puts back rows whose keys were given before: they are less than the next key.
  private func restore(_ rows: [RowBatch.Row]) throws(StorageError) {
    guard !rows.isEmpty else { return }
    var rows = rows
    for place in rows.indices {
      guard try !contains(rows[place].key) else { throw mismatch(.rowExists, row: rows[place].key) }
      for column in schema.columns[rows[place].values.count...] {
        rows[place].values.append(column.defaultValue)
      }
      for (position, column) in schema.columns.enumerated() {
        rows[place].values[position] = nestedIDs.identify(rows[place].values[position], of: column)
      }
    }
    do throws(StorageError) {
      try dropBuffer()
      let change = clusterChange
      if clusters.isNull {
        clusters = try change.insert(rows, rowLimit: rowLimit)
      } else {
        clusters = try KeyedTree.update(rows.map(\.key), in: clusters, editor: editor, spills: true) {
          (leaf, range) throws(StorageError) in
          try change.insert(Array(rows[range]), into: leaf, rowLimit: rowLimit)
        }
      }
      root.rows += UInt64(rows.count)
      for row in rows { try addEntries(of: row) }
      if isRecorded { try noteRestored(rows) }
    } catch {
      throw tables.fail(error)
    }
  }

  private func addEntries(of row: RowBatch.Row) throws(StorageError) {
    for (column, value) in zip(schema.columns, row.values) {
      if column.canLink { try addLinks(value, column, row: row.key) }
      guard let index = index(of: column) else { continue }
      if column.index == .unique { try checkUnique(value, column, nil) }
      try index.insert(value, row: row.key)
    }
    tables.replay?.create(row.key, of: self)
  }

  private func noteRestored(_ rows: [RowBatch.Row]) throws(StorageError) {
    guard rows.count > 1, tables.recording?.takesRowsApart == false else {
      for row in rows { try note(.create(row: row.key, values: row.values)) }
      return
    }
    try note(.createMany(RowBatch(rows)))
  }
}

extension Column {
  /// Whether the parts of the column fit each other, as they do if it was made by its initializer and changed by a
  /// table.
  var isWellFormed: Bool {
    let isAlwaysOptional = type == .mixed || (type == .link && (collection == .none || collection == .map))
    let isNeverOptional = type == .link && !isAlwaysOptional
    return type.canHave(index) && (index == .none || !isCollection)
      && (isOptional ? !isNeverOptional : !isAlwaysOptional)
      && (!isAbsentNull || (!isCollection && isOptional))
      && (isAbsentNull || isCollection || !isAlwaysOptional)
      && (storedDefault.map(canStoreDefault) ?? true)
  }
}

extension ClusterChange {
  /// Makes a tree of rows. The keys of the rows are in ascending order.
  fileprivate func insert(_ rows: [RowBatch.Row], rowLimit: Int) throws(StorageError) -> Ref {
    var children: [KeyedChild] = []
    for cluster in try clusters(of: rows[...], rowLimit) { children += try write(cluster) }
    // If a tree has only one leaf, the leaf is its root.
    while children.count > 1 { children = KeyedTree.makeBranches(children, editor) }
    return children.first?.ref ?? .null
  }

  /// Adds rows to a cluster. Writes it as one cluster if that has room for them, or else as several.
  fileprivate func insert(
    _ rows: [RowBatch.Row], into leaf: Ref, rowLimit: Int
  ) throws(StorageError) -> [KeyedChild] {
    var cluster = try Cluster(leaf, editor.access())
    try removeDropped(from: &cluster)
    var parts: [Cluster] = []
    var (start, next) = (0, 0)
    while next < rows.count {
      let place = cluster.keys.partitioningIndex { $0 > rows[next].key }
      if place > start { parts.append(try part(start..<place, of: cluster)) }
      start = max(start, place)
      let end =
        place < cluster.rows
        ? rows[next...].partitioningIndex { $0.key > cluster.keys[place] } : rows.count
      parts += try clusters(of: rows[next..<end], rowLimit)
      next = end
    }
    if start < cluster.rows { parts.append(try part(start..<cluster.rows, of: cluster)) }
    editor.free(leaf)
    var made: [Cluster] = []
    for part in parts {
      if let last = made.last, last.rows + part.rows <= rowLimit {
        made[made.count - 1] = try joined(last, part)
      } else {
        made.append(part)
      }
    }
    var children: [KeyedChild] = []
    for cluster in made { children += try write(cluster) }
    return children
  }

  private func clusters(of rows: ArraySlice<RowBatch.Row>, _ rowLimit: Int) throws(StorageError) -> [Cluster]
  {
    var made: [Cluster] = []
    var start = rows.startIndex
    while start < rows.endIndex {
      let some = rows[start..<min(start + rowLimit, rows.endIndex)]
      var cluster = Cluster(keys: some.map(\.key), columns: schema.columns.count)
      for (position, column) in schema.columns.enumerated() {
        try store(some.map { $0.values[position] }, as: column, in: &cluster)
      }
      made.append(cluster)
      start = some.endIndex
    }
    return made
  }

  /// One cluster with the rows of two clusters. The rows of the right one come after those of the left one.
  private func joined(_ left: Cluster, _ right: Cluster) throws(StorageError) -> Cluster {
    var cluster = Cluster(keys: left.keys + right.keys, columns: schema.columns.count)
    for column in schema.columns where left.has(column) || right.has(column) {
      guard column.storage.hasPieces else {
        var values = try left.unpack(column, editor)
        values.append(contentsOf: try right.unpack(column, editor))
        cluster.pack(values, as: column)
        continue
      }
      if var codes = try left.codes(column, editor), let others = try right.codes(column, editor) {
        codes.append(contentsOf: others)
        cluster.setCodes(codes, of: column)
        continue
      }
      let offset = left.rows
      cluster.setPieces(
        try pieces(of: column, in: left)
          + pieces(of: column, in: right).map { (firstRow: $0.firstRow + offset, ref: $0.ref) }, of: column)
      cluster.setTrees(
        left.trees(column)
          + right.trees(column).map { CollectionTree(row: $0.row + offset, ref: $0.ref) }, of: column)
    }
    return cluster
  }

  private func pieces(of column: Column, in cluster: Cluster) throws(StorageError) -> [(
    firstRow: Int, ref: Ref
  )] {
    if let pieces = cluster.pieces(column) { return pieces }
    guard let codes = try cluster.codes(column, editor) else {
      return try absentPieces(column, rows: cluster.rows)
    }
    return try dictionaries.writer(of: column).values(of: codes).makePieces(from: 0, editor: editor)
  }
}
