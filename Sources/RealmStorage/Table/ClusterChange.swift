/// Changes rows within their clusters. Each change answers the new root of the tree.
struct ClusterChange {
  let schema: TableSchema
  let editor: NodeEditor

  /// Sets a value of a row that exists.
  func set(_ value: Value, _ column: Column, ofRow key: UInt64, in clusters: Ref) throws(StorageError) -> Ref
  {
    try update(key, in: clusters) { (cluster, row) throws(StorageError) in
      if column.storage == .varying {
        try changePiece(of: row, column, of: &cluster) { (piece, index) throws(StorageError) in
          try piece.replace(index, with: value, of: column, editor: editor)
        }
      } else {
        var buffer = cluster.unpack(column)
        buffer.set(value, at: row)
        cluster.pack(buffer, as: column)
      }
    }
  }

  /// Removes a row that exists.
  func remove(_ key: UInt64, from clusters: Ref) throws(StorageError) -> Ref {
    try update(key, in: clusters) { (cluster, row) throws(StorageError) in
      for column in schema.columns {
        if column.storage == .varying {
          try changePiece(of: row, column, of: &cluster) { piece, index in piece.remove(index) }
        } else {
          var buffer = cluster.unpack(column)
          buffer.remove(row)
          cluster.pack(buffer, as: column)
        }
      }
      cluster.keys.remove(at: row)
    }
  }

  private func update(
    _ key: UInt64, in clusters: Ref, _ body: (inout Cluster, _ row: Int) throws(StorageError) -> Void
  ) throws(StorageError) -> Ref {
    try KeyedTree.update(key, in: clusters, editor: editor) { (leaf) throws(StorageError) in
      var cluster = try Cluster(leaf, editor.access())
      guard let row = cluster.keys.firstIndex(of: key) else {
        throw editor.store.corrupted(.rows, leaf)
      }
      try body(&cluster, row)
      editor.free(leaf)
      guard cluster.rows > 0 else { return [] }
      return [KeyedChild(leastKey: cluster.keys[0], rows: UInt64(cluster.rows), ref: cluster.write(editor))]
    }
  }

  /// Changes the piece that holds a row, and writes it anew as one piece or several. `body` answers the ref of a long
  /// value that nothing names any more.
  private func changePiece(
    of row: Int, _ column: Column, of cluster: inout Cluster,
    _ body: (inout PieceBuffer, _ index: Int) throws(StorageError) -> Ref?
  ) throws(StorageError) {
    var pieces: [(firstRow: Int, ref: Ref)]
    if let known = cluster.pieces(column) {
      pieces = known
    } else {
      pieces = try defaultPieces(column, rows: cluster.rows)
    }
    guard let position = pieces.lastIndex(where: { $0.firstRow <= row }) else { return }
    let old = pieces[position]
    var buffer = try PieceBuffer(old.ref, editor.access())
    let count = buffer.rows
    guard row - old.firstRow < count else { throw editor.store.corrupted(.rows, old.ref) }
    if let long = try body(&buffer, row - old.firstRow) { try editor.freeTree(long) }
    editor.free(old.ref)
    let made = buffer.makePieces(from: old.firstRow, editor: editor)
    for later in pieces.indices where later > position { pieces[later].firstRow += buffer.rows - count }
    pieces.replaceSubrange(position...position, with: made)
    cluster.setPieces(pieces, of: column)
  }

  /// The pieces of a column that was added after the cluster was written.
  private func defaultPieces(_ column: Column, rows: Int) throws(StorageError) -> [(firstRow: Int, ref: Ref)]
  {
    var buffer = PieceBuffer()
    for _ in 0..<rows { try buffer.append(column.defaultValue, of: column, editor: editor) }
    return buffer.makePieces(from: 0, editor: editor)
  }
}
