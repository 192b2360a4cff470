/// Changes rows of a table. Each change answers what the table's root is to be.
struct TableChange {
  let schema: TableSchema
  let editor: NodeEditor
  private(set) var root: TableRoot

  init(schema: TableSchema, root: TableRoot, editor: NodeEditor) {
    self.schema = schema
    self.root = root
    self.editor = editor
  }

  /// Adds a row; columns without a value get their default. Answers its key.
  ///
  /// The keys and types of the values were checked.
  mutating func insert(_ values: [UInt16: Value]) throws(StorageError) -> UInt64 {
    let key = root.nextKey
    guard key < TableRoot.maximumKey else { throw .limitExceeded(.rows, path: editor.store.storage.path) }
    try checkRoom(for: values.values)
    if root.clusters.isNull {
      root.clusters = try makeCluster(key, values).ref
    } else {
      let last = try lastCluster()
      if last.rows < ClusterNode.maximumRows, last.fixedBytes < 48 * 1024 {
        root.clusters = try updateCluster(of: key) { (cluster) throws(StorageError) in
          try append(key, values, to: &cluster)
        }
      } else if root.clusters.isKeyedBranch {
        root.clusters = try KeyedTree.append([makeCluster(key, values)], to: root.clusters, editor: editor)
      } else {
        let first = root.clusters
        let made = try makeCluster(key, values)
        root.clusters = try KeyedTree.update(key, in: first, editor: editor) { (leaf) throws(StorageError) in
          [KeyedChild(leastKey: last.leastKey, rows: UInt64(last.rows), ref: leaf), made]
        }
      }
    }
    root.nextKey = key + 1
    root.rows += 1
    return key
  }

  private func checkRoom(for values: some Sequence<Value>) throws(StorageError) {
    for value in values {
      let length = value.varyingBytes?.count ?? 0
      guard length <= LongValue.maximumLength else {
        throw .limitExceeded(
          .valueLength(length, maximum: LongValue.maximumLength), path: editor.store.storage.path)
      }
      try editor.checkRoom(for: length)
    }
  }

  /// Sets a value of a row that exists.
  mutating func set(_ value: Value, _ column: Column, ofRow key: UInt64) throws(StorageError) {
    try checkRoom(for: [value])
    root.clusters = try updateCluster(of: key) { (cluster) throws(StorageError) in
      guard let row = cluster.keys.firstIndex(of: key) else { return }
      if column.type.storage == .varying {
        try setVarying(value, column, row, of: &cluster)
      } else {
        var buffer = cluster.unpack(column)
        buffer.set(value, at: row)
        cluster.pack(buffer, as: column)
      }
    }
  }

  /// Removes a row that exists.
  mutating func remove(_ key: UInt64) throws(StorageError) {
    root.clusters = try updateCluster(of: key) { (cluster) throws(StorageError) in
      guard let row = cluster.keys.firstIndex(of: key) else { return }
      for column in schema.columns {
        if column.type.storage == .varying {
          try changePiece(of: row, column, of: &cluster) { cells, index in cells.remove(at: index) }
        } else {
          var buffer = cluster.unpack(column)
          buffer.remove(row)
          cluster.pack(buffer, as: column)
        }
      }
      cluster.keys.remove(at: row)
    }
    root.rows -= 1
  }

  /// Removes all rows.
  mutating func removeAll() throws(StorageError) {
    try editor.freeTree(root.clusters)
    root.clusters = .null
    root.rows = 0
  }

  // MARK: - Clusters

  private func lastCluster() throws(StorageError) -> (rows: Int, fixedBytes: Int, leastKey: UInt64) {
    let access = editor.access()
    let leaf = try KeyedTree.leaf(for: UInt64.max, in: root.clusters, access)
    let cluster = ClusterNode(try access.node(leaf, .cluster))
    return (cluster.rows, cluster.view.bodyLength, cluster.firstKey)
  }

  private func makeCluster(_ key: UInt64, _ values: [UInt16: Value]) throws(StorageError) -> KeyedChild {
    var cluster = Cluster()
    try append(key, values, to: &cluster)
    return KeyedChild(leastKey: key, rows: 1, ref: cluster.write(editor))
  }

  /// Changes the cluster that may hold `key`; answers the new root of the tree.
  private func updateCluster(
    of key: UInt64, _ body: (inout Cluster) throws(StorageError) -> Void
  ) throws(StorageError) -> Ref {
    try KeyedTree.update(key, in: root.clusters, editor: editor) { (leaf) throws(StorageError) in
      var cluster = try Cluster(leaf, editor.access())
      try body(&cluster)
      editor.free(leaf)
      guard cluster.rows > 0 else { return [] }
      return [KeyedChild(leastKey: cluster.keys[0], rows: UInt64(cluster.rows), ref: cluster.write(editor))]
    }
  }

  private func append(_ key: UInt64, _ values: [UInt16: Value], to cluster: inout Cluster)
    throws(StorageError)
  {
    let row = cluster.rows
    for column in schema.columns {
      let value = values[column.id] ?? column.defaultValue
      if column.type.storage == .varying {
        if row == 0 {
          var buffer = PieceBuffer()
          buffer.cells = [PieceBuffer.cell(value, editor: editor)]
          cluster.setPieces(buffer.makePieces(from: 0, editor: editor), of: column)
        } else {
          let cell = PieceBuffer.cell(value, editor: editor)
          try changePiece(of: row - 1, column, of: &cluster) { cells, _ in cells.append(cell) }
        }
      } else {
        var buffer = cluster.unpack(column)
        buffer.insert(value, at: row)
        cluster.pack(buffer, as: column)
      }
    }
    cluster.keys.append(key)
  }

  // MARK: - Columns of varying size

  private func setVarying(
    _ value: Value, _ column: Column, _ row: Int, of cluster: inout Cluster
  ) throws(StorageError) {
    let cell = PieceBuffer.cell(value, editor: editor)
    try changePiece(of: row, column, of: &cluster) { cells, index in cells[index] = cell }
  }

  /// Changes the piece that holds a row, and writes it anew as one piece or several.
  private func changePiece(
    of row: Int, _ column: Column, of cluster: inout Cluster,
    _ body: (inout [PieceBuffer.Cell], _ index: Int) -> Void
  ) throws(StorageError) {
    var pieces = cluster.pieces(column) ?? defaultPieces(column, rows: cluster.rows)
    guard let position = pieces.lastIndex(where: { $0.firstRow <= row }) else { return }
    let old = pieces[position]
    var buffer = try PieceBuffer(old.ref, editor.access())
    let before = buffer
    let count = buffer.cells.count
    guard row - old.firstRow < count else { throw editor.store.corrupted(.rows, old.ref) }
    body(&buffer.cells, row - old.firstRow)
    try freeLongValues(of: before, notIn: buffer)
    editor.free(old.ref)
    let made = buffer.makePieces(from: old.firstRow, editor: editor)
    for later in pieces.indices where later > position {
      pieces[later].firstRow += buffer.cells.count - count
    }
    pieces.replaceSubrange(position...position, with: made)
    cluster.setPieces(pieces, of: column)
  }

  /// The pieces of a column that was added after the cluster was written.
  private func defaultPieces(_ column: Column, rows: Int) -> [(firstRow: Int, ref: Ref)] {
    var buffer = PieceBuffer()
    buffer.cells = Array(repeating: PieceBuffer.cell(column.defaultValue, editor: editor), count: rows)
    return buffer.makePieces(from: 0, editor: editor)
  }

  private func freeLongValues(of old: PieceBuffer, notIn new: PieceBuffer) throws(StorageError) {
    let kept = Set(new.cells.compactMap(\.longRef))
    for ref in old.cells.compactMap(\.longRef) where !kept.contains(ref) { try editor.freeTree(ref) }
  }
}

extension PieceBuffer.Cell {
  fileprivate var longRef: Ref? {
    if case .long(let ref, _) = self { ref } else { nil }
  }
}
