/// The index of one column in a transaction that changes it: its tree, and the entries that are not in the tree yet.
final class IndexWriter {
  let column: Column
  /// The ids of the column and its index. They are stored here because copying the column counts references.
  let columnID: UInt16
  let indexID: UInt16
  private let integers: IntegerIndexWriter?
  /// The same writer as `integers`. It is stored again because unwrapping the optional counts a reference.
  private let integersOfRows: UncountedReference<IntegerIndexWriter>?
  @exclusivity(unchecked) private var tree: Ref
  private let editor: NodeEditor
  @exclusivity(unchecked) private var run = IndexRun()
  /// An empty array whose memory is used again.
  @exclusivity(unchecked) private var scratch: [UInt8] = []
  /// These have the meaning of `fills` and `parts` in `IntegerIndexWriter`. They are used for indexes in which no value
  /// is looked up before it is added.
  @exclusivity(unchecked) private var fills: Bool
  @exclusivity(unchecked) private var parts = IndexParts()

  init(column: Column, root: Ref, editor: NodeEditor) {
    self.column = column
    (columnID, indexID) = (column.id, column.indexID)
    self.editor = editor
    tree = root
    fills = root.isNull && column.index != .unique
    integers = IntegerIndex.serves(column) ? IntegerIndexWriter(root: root, editor: editor) : nil
    integersOfRows = integers.map { UncountedReference($0) }
  }

  /// The root of the tree. Entries that were not flushed are not in it.
  var root: Ref { integers?.root ?? tree }

  func settle(_ named: (Ref) -> Ref) {
    if integers == nil { tree = named(tree) }
    fills = tree.isNull && column.index != .unique
    integers?.settle(named)
  }

  func insert(_ value: Value, row: UInt64) throws(StorageError) {
    if let integersOfRows, case .int(let number) = value {
      return try integersOfRows.use { (integers) throws(StorageError) in
        try integers.insert(number, row: row)
      }
    }
    run.append(value, of: column, row: row)
    try flushIfLarge()
  }

  /// Adds the entries of new rows whose texts are at the end of `buffer`. `keys` has the keys of these rows.
  func insert(_ buffer: PieceBuffer, last keys: ArraySlice<UInt64>) throws(StorageError) {
    let first = buffer.rows - keys.count
    for (place, key) in keys.enumerated() {
      let row = first + place
      if buffer.isNull(row) {
        run.append(.null, of: column, row: key)
      } else if let long = buffer.long(row) {
        let access = editor.access()
        run.append(text: try LongValue.firstBytes(long, access), of: column, row: key)
      } else {
        run.append(text: buffer.bytes(row), of: column, row: key)
      }
    }
    try flushIfLarge()
  }

  /// Adds the entries of new rows whose texts have codes in the column's dictionary.
  func insert(_ codes: FixedBuffer, of known: ValueCodes, last keys: ArraySlice<UInt64>) throws(StorageError)
  {
    let first = codes.rows - keys.count
    for (place, key) in keys.enumerated() {
      if let code = codes.code(first + place) {
        run.append(Int(code), of: known, of: column, row: key)
      } else {
        run.append(.null, of: column, row: key)
      }
    }
    try flushIfLarge()
  }

  private func flushIfLarge() throws(StorageError) {
    guard run.bytes > EntryRun.room(spillingAbove: editor.spillBytes) else { return }
    if fills { try part() } else { try flush() }
  }

  func remove(_ value: Value, row: UInt64) throws(StorageError) {
    if let integers, case .int(let number) = value { return try integers.remove(number) }
    try flush()
    var entry = IndexKey.encode(value, of: column)
    IndexKey.appendRow(row, to: &entry)
    tree = try OrderedTree.remove(entry.span.bytes, from: tree, shape: .small, editor: editor)
  }

  /// Removes the entries of rows. Takes time in proportion to all entries.
  func remove(rows: NumberSet) throws(StorageError) {
    if let integers { return try integers.remove(rows: rows) }
    try flush()
    let (column, root) = (column, tree)
    var found: [UInt64] = []
    tree = try OrderedTree.filter(root, shape: .small, editor: editor) {
      (leaf, kept) throws(StorageError) in
      var entries = EntryRows(of: column)
      found.removeAll(keepingCapacity: true)
      guard entries.read(leaf, to: &found) else { throw editor.store.corrupted(.structure, root) }
      rows.appendPlacesOfOthers(found, to: &kept)
    }
  }

  func removeAll() throws(StorageError) {
    try integers?.removeAll()
    run.removeAll()
    guard integers == nil else { return }
    for tree in [tree] + parts.all { try editor.freeTree(tree) }
    (tree, parts) = (.null, IndexParts())
  }

  /// Whether a row of a unique column may have the value. If the encoding is cut, the answer is whether a row
  /// has the same encoding.
  func mayContain(_ value: Value) throws(StorageError) -> Bool {
    if let integersOfRows, case .int(let number) = value {
      return try integersOfRows.use { (integers) throws(StorageError) in try integers.contains(number) }
    }
    let encoded = IndexKey.encode(value, of: column)
    if run.contains(encoded.span.bytes) { return true }
    guard !tree.isNull else { return false }
    var found = false
    try IndexTree.forEachRow(encoded, in: tree, editor.access()) { _ in
      found = true
      return false
    }
    return found
  }

  /// The row of a unique column with a value; nil if there is none. The function flushes the entries only if one
  /// of them has the value.
  ///
  /// - Precondition: the encoding of the value is not cut.
  func row(with value: Value) throws(StorageError) -> UInt64? {
    if let integers {
      guard case .int(let number) = value else { return nil }
      return try integers.row(of: number)
    }
    let encoded = IndexKey.encode(value, of: column)
    if run.contains(encoded.span.bytes) { try flush() }
    var found: UInt64?
    try IndexTree.forEachRow(encoded, in: tree, editor.access()) { row in
      found = row
      return false
    }
    return found
  }

  /// Puts all entries into the tree.
  func flush() throws(StorageError) {
    try integers?.flush()
    try parts.check()
    guard parts.isEmpty else {
      try part()
      tree = try parts.takeJoined(tree, join)
      fills = false
      return
    }
    guard run.count > 1 else { return try flushOnly() }
    guard !tree.isNull else {
      tree = try takeTree()
      return
    }
    let entries = try takeSorted()
    guard entries.count <= Self.fewEntries else {
      tree = try OrderedTree.merge(entries, into: tree, shape: .small, editor: editor) { _, _ in [] }
      return
    }
    let nothing: [UInt8] = []
    for index in 0..<entries.count {
      tree = try OrderedTree.set(
        TreeValue(bytes: nothing.span.bytes), for: entries.key(index), in: tree, shape: .small, editor: editor
      )
    }
  }

  /// Puts at most one entry into the tree. A transaction that adds one row at a time needs no sorting.
  private func flushOnly() throws(StorageError) {
    guard run.count > 0 else { return }
    try editor.checkRoom(for: 2 * run.bytes)
    var entry: [UInt8] = []
    swap(&entry, &scratch)
    defer { scratch = entry }
    run.putOnly(into: &entry)
    run.removeAll()
    tree = try OrderedTree.set(
      TreeValue(bytes: RawSpan()), for: entry.span.bytes, in: tree, shape: .small, editor: editor)
  }

  private func takeSorted() throws(StorageError) -> SortedKeys {
    try editor.checkRoom(for: 2 * run.bytes)
    defer { run.removeAll() }
    return run.sorted()
  }

  /// Makes a tree of the entries and adds it to `parts`.
  private func part() throws(StorageError) {
    guard run.count > 0 else { return }
    try parts.add({ () throws(StorageError) in try takeTree() }, join: join)
  }

  /// Makes a tree of the entries that are not in a tree yet.
  private func takeTree() throws(StorageError) -> Ref {
    try editor.checkRoom(for: 2 * run.bytes)
    var builder = TreeBuilder(shape: .small, editor: editor)
    try run.append(to: &builder)
    run.removeAll()
    return try builder.finish()
  }

  private func join(_ trees: [Ref]) throws(StorageError) -> Ref {
    try OrderedTree.join(trees, shape: .small, editor: editor)
  }

  /// The most entries that are put into the tree one by one. A merge reads all keys of the leaves that it changes.
  private static let fewEntries = 4
}
