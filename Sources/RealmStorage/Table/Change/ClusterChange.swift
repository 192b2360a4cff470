/// Changes rows within their clusters. Each change returns the new root of the tree.
struct ClusterChange {
  let schema: TableSchema
  let dictionaries: DictionaryWriters
  /// The greatest number of codes of a dictionary. It is the number that the rows may need, so that values that no row
  /// has take no more space than the rows.
  let codeLimit: Int
  let editor: NodeEditor

  /// Sets a value of an existing row.
  func set(_ value: Value, _ column: Column, ofRow key: UInt64, in clusters: Ref) throws(StorageError) -> Ref
  {
    try update(key, in: clusters) { (cluster, row) throws(StorageError) in
      if let codes = try cluster.codes(column, editor) {
        try set(value, column, row, of: &cluster, codes)
      } else if column.isCollection {
        try set(CollectionForm.content(of: value, column, editor), column, row, of: &cluster)
      } else if column.storage.hasPieces {
        try changePiece(of: row, column, of: &cluster) { (piece, index) throws(StorageError) in
          try piece.replace(index, with: value, of: column, editor: editor)
        }
      } else {
        var buffer = try cluster.unpack(column, editor)
        buffer.set(value, at: row)
        cluster.pack(buffer, as: column)
      }
    }
  }

  /// Stores the encoding of a collection that is no tree in the cell of an existing row. The tree that the cell had
  /// stays, and belongs to the caller.
  func set(
    inline bytes: [UInt8], _ column: Column, ofRow key: UInt64, in clusters: Ref
  ) throws(StorageError) -> Ref {
    try update(key, in: clusters) { (cluster, row) throws(StorageError) in
      _ = try setCell(.inline(bytes), column, row, of: &cluster)
    }
  }

  /// Stores the ref of a collection's tree in the cell of an existing row. The tree that the cell had stays, and
  /// belongs to the caller.
  func setTree(
    _ tree: Ref, _ column: Column, ofRow key: UInt64, in clusters: Ref
  ) throws(StorageError) -> Ref {
    var isDone = false
    let root = try KeyedTree.replace(leafOf: key, in: clusters, editor: editor) {
      (leaf, access) throws(StorageError) in
      let cluster = ClusterNode(try access.node(leaf, .cluster))
      guard let row = cluster.row(of: key), let part = cluster.trees(of: column.id),
        let place = cluster.placeOfTree(part, row), cluster.view.ref(place).level == tree.level
      else { return nil }
      isDone = true
      return editor.change(leaf, cluster.view) { $0.setRef(place, to: tree) }
    }
    if isDone { return root }
    return try update(key, in: clusters) { (cluster, row) throws(StorageError) in
      _ = try setCell(.tree(tree), column, row, of: &cluster)
    }
  }

  /// Stores a collection in a cell, and frees the tree that it replaces.
  private func set(
    _ content: CollectionForm.Content, _ column: Column, _ row: Int, of cluster: inout Cluster
  ) throws(StorageError) {
    if let old = try setCell(content, column, row, of: &cluster) { try editor.freeTree(old) }
  }

  /// Stores a collection in a cell. Returns the tree that the cell had.
  private func setCell(
    _ content: CollectionForm.Content, _ column: Column, _ row: Int, of cluster: inout Cluster
  ) throws(StorageError) -> Ref? {
    let wasTree = cluster.trees(column).contains { $0.row == row }
    var one = PieceBuffer()
    var tree: Ref?
    switch content {
    case .inline(let bytes): try one.append(bytes.span.bytes, editor: editor)
    case .tree(let ref):
      tree = ref
      one.appendTree()
    }
    // If the cell had a tree and gets a tree, its piece does not change.
    if tree == nil || !wasTree {
      try changePiece(of: row, column, of: &cluster) { piece, index in piece.replace(index, with: one) }
    }
    return cluster.setTree(tree, row, of: column)
  }

  /// A cluster that belongs to the transaction, so that its values can be replaced in place.
  struct OwnCluster {
    let ref: Ref
    /// The keys from its first row to its last.
    let keys: ClosedRange<UInt64>
  }

  /// Sets a value by writing only the value's own bytes into the row's cluster.
  ///
  /// - Returns: the new root, and the cluster if it was changed; the old root if the row has the value already; nil if more than
  ///   these bytes would change (see `ClusterNode.place`), or if the row does not exist.
  static func replace(
    _ value: Value, _ column: ColumnForm, ofRow key: UInt64, in clusters: Ref, _ editor: NodeEditor
  ) throws(StorageError) -> (root: Ref, cluster: OwnCluster?)? {
    var isPossible = false
    var own: OwnCluster?
    let root = try KeyedTree.replace(leafOf: key, in: clusters, editor: editor) {
      (leaf, access) throws(StorageError) in
      let cluster = ClusterNode(try access.node(leaf, .cluster))
      guard let row = cluster.row(of: key), let place = cluster.place(of: value, row, column) else {
        return nil
      }
      isPossible = true
      guard !place.cell.stands(at: place.offset, of: cluster.view) else { return nil }
      let keys = cluster.firstKey...cluster.key(cluster.rows - 1)
      let ref = editor.change(leaf, cluster.view) { place.cell.store(at: place.offset, of: $0) }
      own = OwnCluster(ref: ref, keys: keys)
      return ref
    }
    return isPossible ? (root, own) : nil
  }

  /// Sets a value in a cluster that belongs to the transaction, by writing only the value's own bytes. The cluster keeps its ref.
  ///
  /// - Returns: false if more than these bytes would change, or if the row is not in the cluster.
  static func replace(
    _ value: Value, _ column: ColumnForm, ofRow key: UInt64, in cluster: OwnCluster, _ editor: NodeEditor
  ) -> Bool {
    editor.arena.edit(cluster.ref) { (view, writer) in
      let node = ClusterNode(view)
      guard let row = node.row(of: key), let place = node.place(of: value, row, column) else { return false }
      place.cell.store(at: place.offset, of: writer)
      return true
    }
  }

  /// Removes an existing row.
  func remove(_ key: UInt64, from clusters: Ref) throws(StorageError) -> Ref {
    try update(key, in: clusters) { (cluster, row) throws(StorageError) in
      let others = (0..<cluster.rows).compactMap { $0 == row ? nil : UInt16($0) }
      for column in schema.columns where cluster.has(column) {
        if cluster.pieces(column) != nil {
          try changePiece(of: row, column, of: &cluster) { piece, index in piece.remove(index) }
          if let tree = cluster.removeTree(row, of: column) { try editor.freeTree(tree) }
        } else if !others.isEmpty, let kept = try cluster.kept(others, of: column, editor) {
          cluster.set(kept, of: column.id)
        }
      }
      cluster.keys.remove(at: row)
    }
  }

  /// Removes rows. Keys that have no row are ignored. Each cluster is written once.
  ///
  /// - Parameters:
  ///   - keys: the keys of the rows, in ascending order.
  ///   - set: the same keys.
  /// - Returns: the new root, and the number of rows that were removed.
  func remove(
    _ keys: [UInt64], _ set: NumberSet, from clusters: Ref
  ) throws(StorageError) -> (root: Ref, removed: Int) {
    var removed = 0
    let root = try KeyedTree.update(keys, in: clusters, editor: editor, spills: true) {
      (leaf, _) throws(StorageError) in
      try remove(set, from: leaf, editor.access(), &removed)
    }
    return (root, removed)
  }

  /// Writes a cluster without some rows; nil if it has none of them.
  private func remove(
    _ rows: NumberSet, from leaf: Ref, _ access: borrowing NodeAccess, _ removed: inout Int
  ) throws(StorageError) -> [KeyedChild]? {
    let node = ClusterNode(try access.node(leaf, .cluster))
    let keys = node.keys()
    var kept: [UInt16] = []
    rows.appendPlacesOfOthers(keys, to: &kept)
    removed += keys.count - kept.count
    guard kept.count < keys.count else { return nil }
    guard !kept.isEmpty else {
      try editor.freeTree(leaf)
      return []
    }
    if !schema.droppedColumns.isEmpty {
      var whole = try Cluster(leaf, access)
      try removeDropped(from: &whole)
    }
    var part = try Cluster(kept, keys: keys, of: node, at: leaf, schema, editor)
    for column in schema.columns {
      guard let pieces = part.pieces(column) else { continue }
      part.setPieces(try self.pieces(of: kept, from: pieces, end: keys.count), of: column)
    }
    return try replace(leaf, by: part)
  }

  /// Writes a cluster in place of the node from which it was made, and frees that node.
  func replace(_ leaf: Ref, by cluster: Cluster) throws(StorageError) -> [KeyedChild] {
    let made = try write(cluster)
    editor.free(leaf)
    return made
  }

  private func pieces(
    of rows: [UInt16], from pieces: Pieces, end: Int
  ) throws(StorageError) -> Pieces {
    var kept = KeptPieces(rows, editor: editor)
    for (index, piece) in pieces.enumerated() {
      try kept.take(piece, end: index + 1 < pieces.count ? pieces[index + 1].firstRow : end)
    }
    try kept.finish()
    return kept.pieces
  }

  /// Sets a value in a column of codes. If the value gets no code, all values of the column are stored in pieces.
  private func set(
    _ value: Value, _ column: Column, _ row: Int, of cluster: inout Cluster, _ codes: FixedBuffer
  ) throws(StorageError) {
    let dictionary = try dictionaries.writer(of: column)
    var codes = codes
    guard let bytes = value.varyingBytes(of: column) else {
      codes.set(.null, at: row)
      return cluster.setCodes(codes, of: column)
    }
    if let code = try dictionary.code(of: bytes.span.bytes, limit: codeLimit) {
      codes.set(.int(code), at: row)
      return cluster.setCodes(codes, of: column)
    }
    var plain = try dictionary.values(of: codes)
    if let long = try plain.replace(row, with: value, of: column, editor: editor) {
      try editor.freeTree(long)
    }
    cluster.setPieces(plain.makePieces(from: 0, editor: editor), of: column)
  }

  private func update(
    _ key: UInt64, in clusters: Ref, _ body: (inout Cluster, _ row: Int) throws(StorageError) -> Void
  ) throws(StorageError) -> Ref {
    try KeyedTree.update(key, in: clusters, editor: editor) { (leaf) throws(StorageError) in
      .list(try change(key, leaf, body))
    }
  }

  private func change(
    _ key: UInt64, _ leaf: Ref, _ body: (inout Cluster, _ row: Int) throws(StorageError) -> Void
  ) throws(StorageError) -> [KeyedChild] {
    var cluster = try Cluster(leaf, editor.access())
    guard let row = cluster.keys.firstIndex(of: key) else {
      throw editor.store.corrupted(.rows, leaf)
    }
    try body(&cluster, row)
    editor.free(leaf)
    try removeDropped(from: &cluster)
    guard cluster.rows > 0 else { return [] }
    return try write(cluster)
  }

  /// Removes the dropped columns from a cluster, and frees what it holds of them. The caller has to free the node from
  /// which the cluster was read.
  func removeDropped(from cluster: inout Cluster) throws(StorageError) {
    for id in schema.droppedColumns {
      for ref in cluster.remove(id) { try editor.freeTree(ref) }
    }
  }

  /// Writes a cluster as one node. If the refs of its pieces are too many for one node, the cluster is halved until
  /// they fit. Dropped columns are not written.
  func write(_ cluster: Cluster) throws(StorageError) -> [KeyedChild] {
    guard !schema.droppedColumns.isEmpty else { return try writeAll(of: cluster) }
    var cluster = cluster
    try removeDropped(from: &cluster)
    return try writeAll(of: cluster)
  }

  private func writeAll(of cluster: Cluster) throws(StorageError) -> [KeyedChild] {
    guard cluster.rows > 1, cluster.nodeBytes(editor.store.refWidth) > Self.largestNode else {
      return [KeyedChild(leastKey: cluster.keys[0], rows: UInt64(cluster.rows), ref: cluster.write(editor))]
    }
    let middle = cluster.rows / 2
    return try writeAll(of: part(0..<middle, of: cluster))
      + writeAll(of: part(middle..<cluster.rows, of: cluster))
  }

  private static let largestNode = Ref.maximumLength / 2

  private typealias Pieces = [(firstRow: Int, ref: Ref)]

  /// A cluster with only some rows of another one.
  func part(_ rows: Range<Int>, of cluster: Cluster) throws(StorageError) -> Cluster {
    var part = Cluster(keys: Array(cluster.keys[rows]), columns: schema.columns.count)
    let places = rows.map { UInt16($0) }
    for column in schema.columns where cluster.has(column) {
      if let kept = try cluster.kept(places, of: column, editor) {
        part.set(kept, of: column.id)
      } else if let pieces = cluster.pieces(column) {
        part.setPieces(try cut(pieces, to: rows, end: cluster.rows), of: column)
        part.setTrees(
          cluster.trees(column).filter { rows.contains($0.row) }
            .map { CollectionTree(row: $0.row - rows.lowerBound, ref: $0.ref) }, of: column)
      }
    }
    return part
  }

  /// The pieces of some rows. If a piece is cut, a new piece is written for these rows. The old piece is freed with its
  /// last rows, so parts of a cluster have to be cut in ascending order.
  private func cut(
    _ pieces: [(firstRow: Int, ref: Ref)], to rows: Range<Int>, end: Int
  ) throws(StorageError) -> [(firstRow: Int, ref: Ref)] {
    var made: [(firstRow: Int, ref: Ref)] = []
    for (index, piece) in pieces.enumerated() {
      let pieceRows = piece.firstRow..<(index + 1 < pieces.count ? pieces[index + 1].firstRow : end)
      guard pieceRows.overlaps(rows) else { continue }
      if rows.lowerBound <= pieceRows.lowerBound, pieceRows.upperBound <= rows.upperBound {
        made.append((piece.firstRow - rows.lowerBound, piece.ref))
        continue
      }
      var buffer = try PieceBuffer(piece.ref, editor.access())
      guard buffer.rows == pieceRows.count else { throw editor.store.corrupted(.rows, piece.ref) }
      let kept = rows.clamped(to: pieceRows)
      buffer.keep(kept.lowerBound - piece.firstRow..<kept.upperBound - piece.firstRow)
      if kept.upperBound == pieceRows.upperBound { editor.free(piece.ref) }
      made += buffer.makePieces(from: kept.lowerBound - rows.lowerBound, editor: editor)
    }
    return made
  }

  /// Changes the piece that holds a row, and writes it again as one piece or several. `body` returns the ref of a long
  /// value that is no longer used.
  private func changePiece(
    of row: Int, _ column: Column, of cluster: inout Cluster,
    _ body: (inout PieceBuffer, _ index: Int) throws(StorageError) -> Ref?
  ) throws(StorageError) {
    var pieces: [(firstRow: Int, ref: Ref)]
    if let known = cluster.pieces(column) {
      pieces = known
    } else {
      pieces = try absentPieces(column, rows: cluster.rows)
    }
    guard let position = pieces.lastIndex(where: { $0.firstRow <= row }) else { return }
    let old = pieces[position]
    var buffer = try PieceBuffer(old.ref, editor.access())
    let count = buffer.rows
    let end = position + 1 < pieces.count ? pieces[position + 1].firstRow : cluster.rows
    guard old.firstRow + count == end else { throw editor.store.corrupted(.rows, old.ref) }
    if let long = try body(&buffer, row - old.firstRow) { try editor.freeTree(long) }
    editor.free(old.ref)
    let made = buffer.makePieces(from: old.firstRow, editor: editor)
    for later in pieces.indices where later > position { pieces[later].firstRow += buffer.rows - count }
    pieces.replaceSubrange(position...position, with: made)
    cluster.setPieces(pieces, of: column)
  }

  /// The pieces of a column that was added after the cluster was written.
  func absentPieces(_ column: Column, rows: Int) throws(StorageError) -> [(firstRow: Int, ref: Ref)] {
    var buffer = PieceBuffer()
    let value = column.absentValue
    for _ in 0..<rows { try buffer.append(value, of: column, editor: editor) }
    return buffer.makePieces(from: 0, editor: editor)
  }

  /// Stores the values of a column that the cluster lacks.
  func store(_ values: [Value], as column: Column, in cluster: inout Cluster) throws(StorageError) {
    guard column.storage.hasPieces else {
      var buffer = FixedBuffer(absent: column, rows: 0)
      for value in values { buffer.append(value) }
      return cluster.pack(buffer, as: column)
    }
    var (pieces, trees): (PieceBuffer, [CollectionTree]) = (PieceBuffer(), [])
    for (row, value) in values.enumerated() {
      guard column.isCollection else {
        try pieces.append(value, of: column, editor: editor)
        continue
      }
      switch try CollectionForm.content(of: value, column, editor) {
      case .inline(let bytes): try pieces.append(bytes.span.bytes, editor: editor)
      case .tree(let ref):
        pieces.appendTree()
        trees.append(CollectionTree(row: row, ref: ref))
      }
    }
    cluster.setPieces(pieces.makePieces(from: 0, editor: editor), of: column)
    cluster.setTrees(trees, of: column)
  }
}
