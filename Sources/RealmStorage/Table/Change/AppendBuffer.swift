/// The cluster that rows are added to, with unpacked columns. Most rows of a table are made one after another; without this
/// buffer each new row would pack a cluster of up to 512 rows.
final class AppendBuffer {
  let editor: NodeEditor
  private let dictionaries: DictionaryWriters
  private let nestedIDs: NestedIDs
  /// The columns, in the order of the schema.
  let columns: FixedArray<ColumnBuffer>
  @exclusivity(unchecked) private(set) var keys: [UInt64] = []
  private let limit: Int

  /// The values of a column that are not in a piece yet, and the pieces before them.
  struct ColumnBuffer {
    let column: Column
    /// The id of `column`, stored here because a copy of `column` would count references.
    let id: UInt16
    var fixed: FixedBuffer
    var varying = PieceBuffer()
    var pieces: [(firstRow: Int, ref: Ref)] = []
    /// The row of the first value in `varying`.
    var firstVarying = 0
    /// The piece in the transaction that `varying` was written to last, or read from.
    var lastPiece: Ref?
    /// The collections that are trees, in the order of their rows.
    var trees: [CollectionTree] = []
    /// The codes of the values, if no more rows will be added and the values repeat.
    var codes: FixedBuffer?
    let isVarying: Bool
    /// The type of the values, if each row has a single value; nil for collections.
    let single: ColumnType?
    /// The column's position in `AppendBuffer.watched`; nil if it is not there.
    fileprivate(set) var watched: Int?
    /// Whether the column has an index whose entries are made for many rows at once. These are the indexes of texts that are no
    /// primary key, because nothing needs their entries earlier.
    let isIndexedLate: Bool

    var rows: Int { isVarying ? firstVarying + varying.rows : fixed.rows }

    init(_ column: Column) {
      self.column = column
      id = column.id
      isVarying = column.storage.hasPieces
      single = column.isCollection ? nil : column.type
      isIndexedLate = column.index == .plain && column.type == .string
      fixed = FixedBuffer(absent: column, rows: 0)
    }
  }

  /// The places of the columns in the order of their ids.
  private let placesByID: [Int]
  /// The layout of the node that is being written. It is kept so that the memory of its lists is used again.
  @exclusivity(unchecked) private var layout = ClusterLayout()
  /// The node that the buffer was read from or written to last.
  @exclusivity(unchecked) private(set) var node = Ref.null
  /// The number of columns without a value in the row that was begun last.
  @exclusivity(unchecked) private var unset = 0
  /// Whether the buffer has rows or codes that `node` does not have.
  @exclusivity(unchecked) private(set) var isChanged = false

  /// The values of the row that was begun last in the watched columns, which must be known when the row ends. Watched are columns
  /// with links, with companions, or with an index whose entries are made row by row.
  let watched: FixedArray<Watched>
  /// The positions of the columns whose index entries are made for many rows at once.
  let indexedLate: [Int]
  /// The number of rows that have their entries in the indexes of these columns.
  @exclusivity(unchecked) private var indexedRows = 0

  struct Watched {
    let column: Column
    // Properties of the column, stored here because a copy of a column counts references.
    let canLink: Bool
    let isUnique: Bool
    /// The writer of the column's index. The table keeps it alive for longer than the buffer.
    let writer: UncountedReference<IndexWriter>?
    let defaultValue: Value
    var value: Value

    init(_ column: Column, _ writer: IndexWriter?) {
      self.column = column
      self.writer = writer.map { UncountedReference($0) }
      canLink = column.canLink
      isUnique = column.index == .unique
      defaultValue = column.defaultValue
      value = defaultValue
    }
  }

  var rows: Int { keys.count }

  /// Whether there is surely room for another row, and nothing must be done before it is added.
  @inline(__always)
  var isRoomy: Bool { rows < min(roomyRows, joinRows) }

  /// Whether the buffer has no room for another row.
  var isFull: Bool {
    guard rows >= roomyRows else { return false }
    guard rows < limit else { return true }
    let pieces = pieceCount
    // A row needs at most one piece in each column.
    roomyRows = min(limit, rows + max(0, (Self.maximumPieces - pieces) / max(1, columns.count)))
    return pieces > Self.maximumPieces
  }

  /// If the buffer has fewer rows than this, there is surely room for another one.
  @exclusivity(unchecked) private var roomyRows = 0

  /// From this number of rows on, the rows of a tail must be joined with those of the cluster before it.
  @exclusivity(unchecked) var joinRows = Int.max

  /// The number of pieces above which the buffer is full, because their refs would leave little room in the cluster's
  /// node.
  private static let maximumPieces = 3000

  /// The greatest number of pieces that the rows may need.
  private var pieceCount: Int {
    columns.indices.reduce(0) { sum, index in
      guard columns[index].isVarying else { return sum }
      let heapBytes = columns[index].varying.heapBytes
      return sum + columns[index].pieces.count + columns[index].trees.count + heapBytes * 2
        / PieceBuffer.Shape.ofCluster.heapBytes + 1
    }
  }

  /// - Parameters:
  ///   - rowLimit: see `rowLimit(_:)`.
  ///   - indexes: the indexes of the schema, which live longer than the buffer.
  init(
    schema: TableSchema, rowLimit: Int, indexes: [IndexWriter], dictionaries: DictionaryWriters,
    nestedIDs: NestedIDs, editor: NodeEditor
  ) {
    self.editor = editor
    self.nestedIDs = nestedIDs
    self.dictionaries = dictionaries
    var columns = schema.columns.map { ColumnBuffer($0) }
    var watched: [Watched] = []
    let withIDs = Set(schema.columns.compactMap(\.role.owner))
    for place in columns.indices {
      let (column, isIndexedLate) = (columns[place].column, columns[place].isIndexedLate)
      guard !isIndexedLate && column.index != .none || column.canLink || withIDs.contains(column.id)
      else { continue }
      columns[place].watched = watched.count
      watched.append(Watched(column, indexes.first { $0.columnID == column.id }))
    }
    self.columns = FixedArray(columns)
    self.watched = FixedArray(watched)
    limit = rowLimit
    indexedLate = columns.indices.filter { columns[$0].isIndexedLate }
    placesByID = columns.indices.sorted { columns[$0].id < columns[$1].id }
  }

  /// The number of rows that a cluster may have: 512, or as many as take 48 KiB.
  static func rowLimit(_ schema: TableSchema) -> Int {
    let bytes = schema.columns.reduce(0) { sum, column in
      switch column.storage {
      case .integers: sum + 8
      case .dates: sum + 12
      case .fixed(let size): sum + size
      case .varying, .composite: sum
      }
    }
    return min(ClusterNode.maximumRows, max(1, 48 * 1024 / max(1, bytes)))
  }

  /// Makes a buffer of a cluster that has room for more rows.
  convenience init(
    _ node: Ref, schema: TableSchema, rowLimit: Int, indexes: [IndexWriter],
    dictionaries: DictionaryWriters, nestedIDs: NestedIDs, editor: NodeEditor
  ) throws(StorageError) {
    self.init(
      schema: schema, rowLimit: rowLimit, indexes: indexes, dictionaries: dictionaries, nestedIDs: nestedIDs,
      editor: editor)
    self.node = node
    let access = editor.access()
    let cluster = try Cluster(node, access)
    keys = cluster.keys
    indexedRows = keys.count
    for index in columns.indices {
      let column = columns[index].column
      guard columns[index].isVarying else {
        columns[index].fixed = try cluster.unpack(column, editor)
        continue
      }
      if let codes = try cluster.codes(column, editor) {
        columns[index].varying = try dictionaries.writer(of: column).values(of: codes)
        continue
      }
      guard var pieces = cluster.pieces(column), let last = pieces.popLast() else {
        for _ in keys { try append(index, column.absentValue) }
        continue
      }
      columns[index].varying = try PieceBuffer(last.ref, access)
      columns[index].pieces = pieces
      columns[index].firstVarying = last.firstRow
      columns[index].lastPiece = last.ref
      columns[index].trees = cluster.trees(column)
      guard last.firstRow + columns[index].varying.rows == rows else {
        throw editor.store.corrupted(.rows, last.ref)
      }
    }
  }

  // MARK: - Rows

  /// Begins a row. Columns that are not set before `endRow` get their default.
  func beginRow(_ key: UInt64) {
    keys.append(key)
    unset = columns.count
    for slot in watched.indices { watched[slot].value = watched[slot].defaultValue }
    isChanged = true
  }

  func endRow() throws(StorageError) {
    guard unset > 0 else { return }
    for index in columns.indices where columns[index].rows < rows {
      try append(index, columns[index].column.defaultValue)
    }
  }

  func removeLastRow() throws(StorageError) {
    for index in columns.indices where columns[index].rows == rows { try removeLast(index) }
    keys.removeLast()
  }

  private func removeLast(_ index: Int) throws(StorageError) {
    if columns[index].isVarying {
      let row = columns[index].rows - 1
      if let long = columns[index].varying.removeLast() { try editor.freeTree(long) }
      if columns[index].trees.last?.row == row, let tree = columns[index].trees.popLast() {
        try editor.freeTree(tree.ref)
      }
    } else {
      columns[index].fixed.removeLast()
    }
  }

  /// Makes room for a value of the row that was begun last, and removes the value that it may have already.
  @inline(__always)
  private func prepare(_ index: Int) throws(StorageError) {
    guard columns[index].rows == rows else { return }
    unset += 1
    if let slot = columns[index].watched { watched[slot].value = watched[slot].defaultValue }
    try removeLast(index)
  }

  /// Notes that the value was set. It is called when nothing can be refused any more.
  @inline(__always)
  private func didSet(_ index: Int, _ value: @autoclosure () -> Value) {
    if let slot = columns[index].watched { watched[slot].value = value() }
    unset -= 1
  }

  func set(_ index: Int, _ value: Value) throws(StorageError) {
    try prepare(index)
    let value = value.isNested ? nestedIDs.identify(value, of: columns[index].column) : value
    try append(index, value)
    didSet(index, value)
  }

  private func append(_ index: Int, _ value: Value) throws(StorageError) {
    guard columns[index].isVarying else { return columns[index].fixed.append(value) }
    if columns[index].single == nil {
      let row = columns[index].rows
      switch try CollectionForm.content(of: value, columns[index].column, editor) {
      case .inline(let bytes): try columns[index].varying.append(bytes.span.bytes, editor: editor)
      case .tree(let tree):
        columns[index].varying.appendTree()
        columns[index].trees.append(CollectionTree(row: row, ref: tree))
      }
      return
    }
    guard let bytes = value.varyingBytes(of: columns[index].column) else {
      return columns[index].varying.appendNull()
    }
    try columns[index].varying.append(bytes.span.bytes, editor: editor)
  }

  @inline(__always)
  func set(_ index: Int, _ number: Int64) throws(StorageError) {
    try prepare(index)
    columns[index].fixed.append(number)
    didSet(index, columns[index].column.type == .bool ? .bool(number != 0) : .int(number))
  }

  @inline(__always)
  func set(_ index: Int, _ number: Double) throws(StorageError) {
    try prepare(index)
    columns[index].fixed.append(number)
    // Doubles are neither indexed nor linked.
    unset -= 1
  }

  @inline(__always)
  func set(_ index: Int, _ date: Timestamp) throws(StorageError) {
    try prepare(index)
    columns[index].fixed.append(date)
    didSet(index, .date(date))
  }

  @inline(__always)
  func set(_ index: Int, _ text: String) throws(StorageError) {
    try prepare(index)
    try columns[index].varying.append(text, editor: editor)
    didSet(index, .string(text))
  }

  /// Sets a text or data by its bytes.
  ///
  /// - Precondition: the bytes of a text are UTF-8.
  func set(_ index: Int, bytes: RawSpan) throws(StorageError) {
    try prepare(index)
    try columns[index].varying.append(bytes, editor: editor)
    if let slot = columns[index].watched {
      watched[slot].value =
        columns[index].column.type == .data ? .data(bytes.array) : .string(TextMaker().text(bytes) ?? "")
    }
    unset -= 1
  }

  // MARK: - Joining

  /// Whether there is room for all rows of another buffer.
  func hasRoom(for other: AppendBuffer) -> Bool {
    rows + other.rows <= limit && pieceCount + other.pieceCount <= Self.maximumPieces
  }

  /// Appends the rows of a tail, and frees the nodes that they were written to.
  func join(_ tail: AppendBuffer) throws(StorageError) {
    for index in columns.indices {
      if columns[index].isVarying {
        try columns[index].join(tail.columns[index], editor)
        // Only the first row of each earlier piece was known.
        guard columns[index].rows == rows + tail.rows else { throw editor.store.corrupted(.rows, tail.node) }
      } else {
        columns[index].fixed.append(contentsOf: tail.columns[index].fixed)
      }
    }
    if !tail.node.isNull { editor.free(tail.node) }
    indexedRows = rows + tail.indexedRows
    keys += tail.keys
    isChanged = true
  }

  // MARK: - Indexes

  /// Returns the keys of the last rows that have no entries yet in the indexes of `indexedLate`, and counts these entries as
  /// made.
  func takeUnindexed() -> ArraySlice<UInt64> {
    defer { indexedRows = rows }
    return keys[indexedRows...]
  }

  /// Makes the entries of the last rows in the index of a column of `indexedLate`.
  func insert(_ keys: ArraySlice<UInt64>, _ position: Int, into index: IndexWriter) throws(StorageError) {
    if let codes = columns[position].codes {
      let known = try dictionaries.writer(of: columns[position].column).values
      try index.insert(codes, of: known, last: keys)
    } else {
      // Values are indexed before they are written to pieces.
      try index.insert(columns[position].varying, last: keys)
    }
  }

  // MARK: - Writing

  /// Takes the refs that the transaction's nodes have in the file, after the transaction was committed.
  func settle(_ named: (Ref) -> Ref) {
    node = named(node)
    for index in columns.indices where columns[index].isVarying {
      columns[index].lastPiece = columns[index].lastPiece.map(named)
      for place in columns[index].trees.indices {
        columns[index].trees[place].ref = named(columns[index].trees[place].ref)
      }
      for place in columns[index].pieces.indices {
        columns[index].pieces[place].ref = named(columns[index].pieces[place].ref)
      }
      columns[index].varying.settle(named)
    }
  }

  /// The most bytes of a cluster's node that codes may take, since the node has other columns too.
  private static let maximumCodeBytes = 48 * 1024

  /// Prepares texts and data that repeat to be stored as codes. No row may be added afterwards.
  func encode() throws(StorageError) {
    var room = Self.maximumCodeBytes
    for index in columns.indices where columns[index].isVarying && room >= 2 * rows {
      columns[index].codes = try codes(index)
      guard columns[index].codes != nil else { continue }
      room -= 2 * rows
      isChanged = true
    }
  }

  /// Writes the rows as a cluster in place of `node`, and frees the nodes of `node`.
  ///
  /// - Parameter isLast: whether no row will be added, and nothing read, afterwards.
  func write(isLast: Bool = false) throws(StorageError) -> KeyedChild {
    guard isChanged || node.isNull else {
      return KeyedChild(leastKey: keys[0], rows: UInt64(rows), ref: node)
    }
    layout.begin(keys)
    for index in placesByID { try describe(index, isLast: isLast) }
    if !node.isNull { editor.free(node) }
    node = pack()
    isChanged = false
    return KeyedChild(leastKey: keys[0], rows: UInt64(rows), ref: node)
  }

  /// Adds a column to the layout. The pieces of a column of varying size are written.
  private func describe(_ index: Int, isLast: Bool) throws(StorageError) {
    let id = columns[index].id
    guard columns[index].isVarying else {
      let (values, rest) = columns[index].fixed.describe(as: id)
      layout.add(values)
      if let rest { layout.add(rest) }
      return
    }
    if let codes = columns[index].codes { return layout.add(codes.describeCodes(of: id)) }
    if let last = columns[index].lastPiece { editor.free(last) }
    var made: (count: Int, last: (firstRow: Int, ref: Ref)?) = (0, nil)
    layout.addPieces(of: id) { pieces in
      pieces += columns[index].pieces
      let before = pieces.count
      columns[index].varying.makePieces(from: columns[index].firstVarying, editor: editor, into: &pieces)
      made = (pieces.count - before, pieces.last)
      if made.count > 1, !isLast { columns[index].pieces += pieces[before...].dropLast() }
    }
    layout.addTrees(of: id, columns[index].trees)
    if !isLast, made.count > 0, let last = made.last {
      try columns[index].keepLast(last, isOnly: made.count == 1, editor)
    }
  }

  /// Makes the node by the layout, with the values of all columns.
  private func pack() -> Ref {
    let arena = editor.arena
    let made = layout.make(keys, in: arena)
    var place = layout.firstColumn
    for index in placesByID {
      while place < layout.descriptors.count, layout.descriptors[place].column == columns[index].id {
        let descriptor = layout.descriptors[place]
        if !descriptor.encoding.hasRefs {
          let offset = layout.offset(place)
          if let codes = columns[index].codes {
            codes.pack(descriptor, to: made, at: offset)
          } else {
            columns[index].fixed.pack(descriptor, to: made, at: offset)
          }
        }
        place += 1
      }
    }
    return made.ref
  }

  /// The codes of a column's values; the pieces of the values are freed then. Nil if the values are better stored as they are.
  private func codes(_ index: Int) throws(StorageError) -> FixedBuffer? {
    let buffer = columns[index]
    // Unique values do not repeat, and only a piece with long values has a level.
    guard buffer.column.storage == .varying, buffer.column.index != .unique,
      !buffer.pieces.contains(where: { $0.ref.level > 0 })
    else { return nil }
    var values = buffer.varying
    if !buffer.pieces.isEmpty {
      values = PieceBuffer()
      for piece in buffer.pieces { try values.append(piece: piece.ref, editor.access()) }
      values.append(contentsOf: buffer.varying)
      // Only the first row of each earlier piece was known.
      guard values.rows == rows else { throw editor.store.corrupted(.rows, node) }
    }
    guard let codes = try dictionaries.writer(of: buffer.column).codes(of: values) else { return nil }
    for piece in buffer.pieces { editor.free(piece.ref) }
    if let last = buffer.lastPiece { editor.free(last) }
    return codes
  }
}

extension AppendBuffer.ColumnBuffer {
  /// Appends the values of a tail's column. They are cut into pieces again, together with the values of the last piece.
  fileprivate mutating func join(_ tail: Self, _ editor: NodeEditor) throws(StorageError) {
    let before = rows
    trees += tail.trees.map { CollectionTree(row: before + $0.row, ref: $0.ref) }
    for piece in tail.pieces {
      try varying.append(piece: piece.ref, editor.access())
      editor.free(piece.ref)
    }
    varying.append(contentsOf: tail.varying)
    if let piece = tail.lastPiece { editor.free(piece) }
  }

  /// Keeps the values of the last piece after all values were written as pieces, because more values may be added to it.
  fileprivate mutating func keepLast(
    _ last: (firstRow: Int, ref: Ref), isOnly: Bool, _ editor: NodeEditor
  ) throws(StorageError) {
    lastPiece = last.ref
    guard !isOnly else { return }
    firstVarying = last.firstRow
    varying = try PieceBuffer(last.ref, editor.access())
  }
}
