/// The writer of one column's dictionary: its tree, and the values that are not in the tree yet.
final class DictionaryWriter {
  /// The tree. It lacks the values that were not flushed.
  @exclusivity(unchecked) var root: Ref
  private let editor: NodeEditor
  /// The number of codes in the tree.
  private var stored: Int
  /// All values of the dictionary if they are hashed, as they are after `load`; otherwise only the values that the tree
  /// lacks.
  @exclusivity(unchecked) private(set) var values: ValueCodes
  private var searches = 0
  private var waiting = 0
  private var wait = 0

  /// Clusters are stored as codes only while the dictionary has at most this number of values.
  private static let maximumPacked = 4096
  /// Up to this number of values are searched for in the tree, because that is faster than reading the whole tree.
  private static let maximumSearches = 8
  /// The greatest number of clusters that are not tried, after some clusters whose values differed.
  private static let maximumWait = 64

  init(root: Ref, editor: NodeEditor) throws(StorageError) {
    self.root = root
    self.editor = editor
    stored = try ColumnDictionary.count(root, editor.access())
    values = ValueCodes(first: stored, isHashed: false)
  }

  // MARK: - Codes

  /// The codes of a full cluster's values; nil if the values do not repeat, so that they are better stored as they are.
  func codes(of cluster: PieceBuffer) throws(StorageError) -> FixedBuffer? {
    guard cluster.longRefs.isEmpty else { return nil }
    guard waiting == 0 else {
      waiting -= 1
      return nil
    }
    if !values.isHashed { try load() }
    // A local variable is faster, because a property of a class is loaded and stored at each access.
    var known = values
    values = ValueCodes(first: 0, isHashed: true)
    defer { values = known }
    let before = known.next
    var room = cluster.heapBytes / 8 * 7
    var codes = FixedBuffer(codesOf: cluster.rows)
    for row in 0..<cluster.rows {
      guard !cluster.isNull(row) else {
        codes.append(.null)
        continue
      }
      let value = cluster.bytes(row)
      if let code = known.code(of: value) {
        codes.append(Int64(code))
        continue
      }
      room -= value.byteCount
      guard room >= 0, known.next < Self.maximumPacked else {
        known.forget(from: before)
        wait = min(2 * wait + 1, Self.maximumWait)
        waiting = wait
        return nil
      }
      codes.append(Int64(known.add(value)))
    }
    wait = 0
    return codes
  }

  /// The code of a value; a value without a code gets the next one. Nil if the value needs a code but `limit` codes
  /// were given, or if it is too long.
  func code(of value: RawSpan, limit: Int) throws(StorageError) -> Int64? {
    guard value.byteCount <= PieceNode.maximumInline else { return nil }
    if !values.isHashed {
      searches += 1
      if searches > Self.maximumSearches {
        try load()
      } else if let code = try ColumnDictionary.code(of: value, in: root, editor.access()) {
        return Int64(code)
      }
    }
    if let code = values.code(of: value) { return Int64(code) }
    guard values.next < min(limit, ColumnDictionary.maximumCount) else { return nil }
    return Int64(values.add(value))
  }

  private func load() throws(StorageError) {
    var all = ValueCodes(first: 0, isHashed: true)
    try ColumnDictionary.forEachPiece(of: root, editor.access()) { (piece) throws(StorageError) in
      for row in 0..<piece.rows { _ = all.add(piece.bytes(row)) }
      return true
    }
    guard all.next == stored else { throw editor.store.corrupted(.rows, root) }
    let fresh = values
    for code in stored..<fresh.next { _ = all.add(fresh.value(code)) }
    values = all
  }

  /// The values of codes.
  func values(of codes: FixedBuffer) throws(StorageError) -> PieceBuffer {
    try flush()
    var buffer = PieceBuffer()
    let access = editor.access()
    let reader = DictionaryReader(root, access.lent)
    for row in 0..<codes.rows {
      if let code = codes.code(row) {
        try buffer.append(reader.bytes(code), editor: editor)
      } else {
        buffer.appendNull()
      }
    }
    return buffer
  }

  // MARK: - Writing

  /// Puts all values into the tree.
  func flush() throws(StorageError) {
    guard values.next > stored else { return }
    if root.isNull {
      root = try KeyedTree.append(leaves(after: PieceBuffer()), to: .null, editor: editor)
    } else {
      root = try KeyedTree.update(UInt64(stored), in: root, editor: editor) { (leaf) throws(StorageError) in
        let last = try PieceBuffer(leaf, editor.access())
        guard last.rows <= stored else { throw editor.store.corrupted(.rows, leaf) }
        editor.free(leaf)
        return .list(try leaves(after: last))
      }
    }
    stored = values.next
    if !values.isHashed { values = ValueCodes(first: stored, isHashed: false) }
  }

  /// The leaves for the values in `last`, which the tree has, and for the values that the tree lacks.
  private func leaves(after last: PieceBuffer) throws(StorageError) -> [KeyedChild] {
    let values = values
    var buffer = last
    let first = stored - last.rows
    for code in stored..<values.next { try buffer.append(values.value(code), editor: editor) }
    let pieces = buffer.makePieces(from: first, shape: .ofDictionary, editor: editor)
    return pieces.indices.map { index in
      let end = index + 1 < pieces.count ? pieces[index + 1].firstRow : values.next
      let (code, ref) = pieces[index]
      return KeyedChild(leastKey: UInt64(code), rows: UInt64(end - code), ref: ref)
    }
  }
}

/// The writers of the dictionaries of a table.
final class DictionaryWriters {
  @exclusivity(unchecked) private var trees: ColumnTrees
  private let editor: NodeEditor
  @exclusivity(unchecked) private var writers: [UInt16: DictionaryWriter] = [:]

  init(_ trees: ColumnTrees, editor: NodeEditor) {
    self.trees = trees
    self.editor = editor
  }

  /// Continues with other trees, such as those that a committed transaction has written. All values that were read are
  /// forgotten.
  func settle(_ trees: ColumnTrees) {
    self.trees = trees
    writers = [:]
  }

  func writer(of column: Column) throws(StorageError) -> DictionaryWriter {
    if let open = writers[column.id] { return open }
    let writer = try DictionaryWriter(root: trees[column.id], editor: editor)
    writers[column.id] = writer
    return writer
  }

  /// The trees of all dictionaries, with each code that was given.
  func flushed() throws(StorageError) -> ColumnTrees {
    for (column, writer) in writers {
      try writer.flush()
      trees[column] = writer.root
    }
    return trees
  }

  /// - Precondition: no row has a code of the column any more.
  func remove(of column: Column) throws(StorageError) {
    let root = try flushed()[column.id]
    if !root.isNull { try editor.freeTree(root) }
    trees[column.id] = .null
    writers[column.id] = nil
  }

  func removeAll() throws(StorageError) {
    for entry in try flushed().all { try editor.freeTree(entry.root) }
    trees = ColumnTrees()
    writers = [:]
  }
}
