/// Changes of a table's columns. Each is a part of the open transaction, as changes of rows are.
extension TableWriter {
  /// Adds a column. The rows that exist have its default.
  ///
  /// - Parameter keepsID: whether the column has its id already. That id was not given yet.
  /// - Throws: `.limitExceeded` if all ids of columns, or of indexes, were given.
  func add(_ column: Column, keepsID: Bool = false) throws(StorageError) {
    guard schema.hasColumnIDs(keepsID ? 1 : schema.addedColumns(with: column)) else {
      throw .limitExceeded(.columnIDs, path: editor.store.storage.path)
    }
    if column.index != .none { try checkIndexIDs() }
    let count = schema.columns.count
    try changeSchema { $0.add(column, keepsID: keepsID) }
    for added in schema.columns[count...] {
      if added.index != .none { try fillIndex(of: added) }
      if added.index == .unique { try resolveAllAbsentLinks() }
      if isRecorded { try note(.addColumn(added)) }
    }
  }

  /// Gives ids to the elements of all lists of the table from now on.
  ///
  /// - Precondition: the table has no rows.
  /// - Throws: `.limitExceeded` if the table can't have so many columns.
  func useElementIDs() throws(StorageError) {
    guard !schema.hasElementIDs else { return }
    let lists = schema.columns.filter { $0.collection == .list && !$0.isCompanion }
    // Either all lists get a companion or none, so the limits are checked first.
    guard schema.columns.count + lists.count <= TableSchema.maximumColumns else {
      throw .limitExceeded(
        .columns(schema.columns.count + lists.count, maximum: TableSchema.maximumColumns),
        path: editor.store.storage.path)
    }
    guard schema.hasColumnIDs(lists.count) else {
      throw .limitExceeded(.columnIDs, path: editor.store.storage.path)
    }
    try changeSchema { $0.hasElementIDs = true }
    for list in lists { _ = try companion(.elementIDs(of: list.id)) }
  }

  private func checkIndexIDs() throws(StorageError) {
    guard schema.hasIndexIDs else { throw .limitExceeded(.indexIDs, path: editor.store.storage.path) }
  }

  /// Gives a column another index, or removes its index.
  ///
  /// - Throws: `.limitExceeded` if all ids of indexes were given.
  func setIndex(_ index: ColumnIndex, at position: Int) throws(StorageError) {
    // The buffer uses the index, so its rows are put into the tree first.
    try dropBuffer()
    let column = schema.columns[position]
    guard column.index != index else { return }
    if index != .none { try checkIndexIDs() }
    do throws(StorageError) {
      try removeIndex(of: column)
      try changeSchema { $0.setIndex(index, at: position) }
    } catch {
      throw tables.fail(error)
    }
    if index != .none { try fillIndex(of: schema.columns[position]) }
    if index == .unique { try resolveAllAbsentLinks() }
  }

  /// Makes a column optional or required. If it becomes required, `value` replaces each null.
  ///
  /// - Precondition: the column has one value for each row, which is no link and not mixed; `value` fits the column and
  ///   is not null.
  func setOptional(_ isOptional: Bool, at position: Int, nullsBecome value: Value) throws(StorageError) {
    let column = schema.columns[position]
    guard column.isOptional != isOptional else { return }
    do throws(StorageError) {
      try dropBuffer()
      // The index is made anew, because only the keys of an optional column have a byte that tells null from other
      // values.
      if column.index != .none { try removeIndex(of: column) }
      if !isOptional {
        clusters = try KeyedTree.updateAll(in: clusters, editor: editor, spills: true) {
          [clusterChange] (leaf) throws(StorageError) in
          try clusterChange.replaceNulls(of: column, with: value, leaf)
        }
      }
      try changeSchema { schema in
        if isOptional {
          schema.makeOptional(at: position)
        } else {
          schema.makeRequired(at: position, nullsBecome: value)
        }
      }
    } catch {
      throw tables.fail(error)
    }
    if column.index != .none { try fillIndex(of: schema.columns[position]) }
    if column.index == .unique { try resolveAllAbsentLinks() }
  }

  func removeIndex(of column: Column) throws(StorageError) {
    guard let place = indexes.firstIndex(where: { $0.columnID == column.id }) else { return }
    try indexes[place].removeAll()
    indexes.remove(at: place)
    root.indexes[column.indexID] = .null
  }

  /// Makes the index of a column, with an entry for each row.
  ///
  /// - Throws: `.duplicateKey` if the column is unique and two rows have the same value.
  func fillIndex(of column: Column) throws(StorageError) {
    let index = IndexWriter(column: column, root: .null, editor: editor)
    indexes.append(index)
    let dictionary = column.storage == .varying ? root.dictionaries[column.id] : .null
    do throws(StorageError) {
      var leaves: [Ref] = []
      _ = try KeyedTree.forEachLeaf(of: root.clusters, editor.access()) { leaf in
        leaves.append(leaf)
        return true
      }
      var found: [(row: UInt64, value: Value)] = []
      // Ascending numbers go to the end of the tree. They are put there a few at a time, so that they need not all be
      // in memory.
      var (greatest, grow, waiting) = (Int64.min, true, 0)
      for leaf in leaves {
        // All values of the leaf are read before any is inserted, because the index may move the bytes from which they
        // are read.
        found.removeAll(keepingCapacity: true)
        try appendValues(of: column, in: leaf, dictionary: dictionary, to: &found)
        for (row, value) in found {
          if column.index == .unique { try checkUnique(value, column, nil) }
          try index.insert(value, row: row)
          if case .int(let number) = value, number >= greatest { greatest = number } else { grow = false }
        }
        waiting += found.count
        guard grow, waiting >= Self.mostWaiting else { continue }
        try index.flush()
        waiting = 0
      }
    } catch {
      throw tables.fail(error)
    }
  }
}

extension TableWriter {
  private static let mostWaiting = 1 << 15

  private func appendValues(
    of column: Column, in leaf: Ref, dictionary: Ref, to found: inout [(row: UInt64, value: Value)]
  ) throws(StorageError) {
    let access = editor.access()
    let cluster = ClusterNode(try access.node(leaf, .cluster))
    for row in 0..<cluster.rows {
      let value = try TableReading.value(column, row, of: cluster, dictionary: dictionary, access)
      found.append((cluster.key(row), value))
    }
  }
}

extension ClusterChange {
  /// Writes a cluster with a value in place of each null of a column; nil if it has no null there, or lacks the column.
  ///
  /// - Precondition: the column has one value for each row.
  fileprivate func replaceNulls(
    of column: Column, with value: Value, _ leaf: Ref
  ) throws(StorageError) -> [KeyedChild]? {
    var cluster = try Cluster(leaf, editor.access())
    guard cluster.has(column) else { return nil }
    let isChanged: Bool
    if let codes = try cluster.codes(column, editor) {
      isChanged = try replaceNulls(codes, of: column, with: value, &cluster)
    } else if let pieces = cluster.pieces(column) {
      isChanged = try replaceNulls(pieces, of: column, with: value, &cluster)
    } else {
      var buffer = try cluster.unpack(column, editor)
      isChanged = buffer.replaceNulls(with: value)
      cluster.pack(buffer, as: column)
    }
    return isChanged ? try replace(leaf, by: cluster) : nil
  }

  private func replaceNulls(
    _ codes: FixedBuffer, of column: Column, with value: Value, _ cluster: inout Cluster
  ) throws(StorageError) -> Bool {
    let rows = (0..<codes.rows).filter { codes.code($0) == nil }
    guard !rows.isEmpty, let bytes = value.varyingBytes(of: column) else { return false }
    let dictionary = try dictionaries.writer(of: column)
    if let code = try dictionary.code(of: bytes.span.bytes, limit: codeLimit) {
      var codes = codes
      for row in rows { codes.set(.int(code), at: row) }
      cluster.setCodes(codes, of: column)
    } else {
      // The dictionary is full.
      var plain = try dictionary.values(of: codes)
      try plain.replaceNulls(with: value, of: column, editor: editor)
      cluster.setPieces(plain.makePieces(from: 0, editor: editor), of: column)
    }
    return true
  }

  private func replaceNulls(
    _ pieces: [(firstRow: Int, ref: Ref)], of column: Column, with value: Value, _ cluster: inout Cluster
  ) throws(StorageError) -> Bool {
    var made: [(firstRow: Int, ref: Ref)] = []
    var isChanged = false
    for piece in pieces {
      var buffer = try PieceBuffer(piece.ref, editor.access())
      let nulls = (0..<buffer.rows).filter { buffer.isNull($0) }
      guard !nulls.isEmpty else {
        made.append(piece)
        continue
      }
      isChanged = true
      try buffer.replaceNulls(with: value, of: column, editor: editor)
      editor.free(piece.ref)
      made += buffer.makePieces(from: piece.firstRow, editor: editor)
    }
    cluster.setPieces(made, of: column)
    return isChanged
  }
}
