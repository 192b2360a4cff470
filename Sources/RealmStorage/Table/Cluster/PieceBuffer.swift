/// Values of varying size in memory, for changes. Their bytes are in one heap, as in the pieces that they are read from
/// and written to.
struct PieceBuffer: Sendable {
  private var heap: [UInt8] = []
  /// For each value its end in the heap and, in the two lowest bits, its kind.
  private var cells: [UInt32] = []
  /// The refs of the long values, in the order of their rows.
  private(set) var longRefs: [Ref] = []

  /// The kind of a value, as in the two flag bits of a piece.
  private enum Kind: UInt32 {
    case inline = 0
    case null = 1
    case long = 2
    /// A collection whose tree the cluster names.
    case tree = 3
  }

  private static func cell(_ end: Int, _ kind: Kind) -> UInt32 { UInt32(end) << 2 | kind.rawValue }
  private func end(_ row: Int) -> Int { Int(cells[row] >> 2) }
  private func isLong(_ row: Int) -> Bool { cells[row] & 3 == Kind.long.rawValue }
  private mutating func moveEnds(from row: Int, by change: Int) {
    for later in row..<cells.count { cells[later] = UInt32(Int(cells[later]) + change << 2) }
  }

  var rows: Int { cells.count }
  /// The number of bytes that the values take in the heaps of pieces.
  var heapBytes: Int { heap.count }

  init() {}

  init(_ ref: Ref, _ access: borrowing NodeAccess) throws(StorageError) {
    try append(piece: ref, access)
  }

  /// Appends the values of a piece.
  mutating func append(piece ref: Ref, _ access: borrowing NodeAccess) throws(StorageError) {
    let piece = PieceNode(try access.node(ref, .piece))
    let base = heap.count
    let (content, refs) = (piece.heapBytes.array, piece.view.refCount)
    heap += content
    cells.reserveCapacity(cells.count + piece.rows)
    for row in 0..<piece.rows {
      let kind: Kind =
        piece.isTree(row) ? .tree : piece.isNull(row) ? .null : piece.isLong(row) ? .long : .inline
      cells.append(Self.cell(base + piece.end(row), kind))
    }
    for index in 0..<refs { longRefs.append(piece.view.ref(index)) }
  }

  mutating func settle(_ named: (Ref) -> Ref) {
    for index in longRefs.indices { longRefs[index] = named(longRefs[index]) }
  }

  // MARK: - Changing

  /// Appends a value. A value that is too long for a piece is written apart from it.
  ///
  /// - Throws: `.limitExceeded` if the value is longer than `LongValue.maximumLength`, or if the arena has no room for
  ///   it.
  mutating func append(_ bytes: RawSpan, editor: NodeEditor) throws(StorageError) {
    if bytes.byteCount <= PieceNode.maximumInline {
      heap.append(bytes)
      cells.append(Self.cell(heap.count, .inline))
    } else {
      let length = bytes.byteCount
      guard length <= LongValue.maximumLength else {
        throw .limitExceeded(
          .valueLength(length, maximum: LongValue.maximumLength), path: editor.store.storage.path)
      }
      try editor.checkRoom(for: length)
      appendLong(LongValue.write(bytes, editor: editor), length: bytes.byteCount)
    }
  }

  /// Appends a text. A text that fits into a piece is not copied to an array.
  mutating func append(_ text: String, editor: NodeEditor) throws(StorageError) {
    guard text.utf8.count <= PieceNode.maximumInline else {
      let bytes = Array(text.utf8)
      return try append(bytes.span.bytes, editor: editor)
    }
    heap.append(utf8: text)
    cells.append(Self.cell(heap.count, .inline))
  }

  mutating func append(_ value: Value, of column: Column, editor: NodeEditor) throws(StorageError) {
    if let bytes = value.varyingBytes(of: column) {
      try append(bytes.span.bytes, editor: editor)
    } else {
      appendNull()
    }
  }

  /// Appends the values of another buffer.
  mutating func append(contentsOf other: PieceBuffer) {
    let base = heap.count
    heap += other.heap
    cells += other.cells.map { $0 + UInt32(base) << 2 }
    longRefs += other.longRefs
  }

  mutating func appendNull() { cells.append(Self.cell(heap.count, .null)) }

  /// Appends a collection whose tree the cluster names.
  mutating func appendTree() { cells.append(Self.cell(heap.count, .tree)) }

  private mutating func appendLong(_ ref: Ref, length: Int) {
    heap.append(contentsOf: [0, 0])
    heap.appendInteger(UInt64(length))
    cells.append(Self.cell(heap.count, .long))
    longRefs.append(ref)
  }

  /// Replaces the value of a row. Returns the ref of the old value if it was a long one. The caller has to free that
  /// value.
  mutating func replace(_ row: Int, with value: Value, of column: Column, editor: NodeEditor)
    throws(StorageError) -> Ref?
  {
    var one = PieceBuffer()
    try one.append(value, of: column, editor: editor)
    return replace(row, with: one)
  }

  /// Replaces the value of a row with the only value of another buffer. Returns the ref of the old value if it was a
  /// long one. The caller has to free that value.
  mutating func replace(_ row: Int, with one: PieceBuffer) -> Ref? {
    let start = start(row)
    let change = one.heap.count - (end(row) - start)
    heap.replaceSubrange(start..<end(row), with: one.heap)
    let refIndex = refIndex(before: row)
    let old = isLong(row) ? longRefs[refIndex] : nil
    longRefs.replaceSubrange(refIndex..<refIndex + (old == nil ? 0 : 1), with: one.longRefs)
    cells[row] = cells[row] & ~3 | one.cells[0] & 3
    if change != 0 { moveEnds(from: row, by: change) }
    return old
  }

  /// Inserts a value before that of a row, or appends it if there is no such row.
  mutating func insert(_ value: Value, at row: Int, of column: Column, editor: NodeEditor)
    throws(StorageError)
  {
    guard row < rows else { return try append(value, of: column, editor: editor) }
    var one = PieceBuffer()
    try one.append(value, of: column, editor: editor)
    let start = start(row)
    heap.insert(contentsOf: one.heap, at: start)
    longRefs.insert(contentsOf: one.longRefs, at: refIndex(before: row))
    moveEnds(from: row, by: one.heap.count)
    cells.insert(Self.cell(start + one.heap.count, Kind(rawValue: one.cells[0] & 3) ?? .null), at: row)
  }

  /// Sets the value of each row that is null.
  mutating func replaceNulls(with value: Value, of column: Column, editor: NodeEditor) throws(StorageError) {
    var changed = PieceBuffer()
    var refs = longRefs[...]
    for row in 0..<rows {
      if isNull(row) {
        try changed.append(value, of: column, editor: editor)
        continue
      }
      changed.heap += heap[start(row)..<end(row)]
      changed.cells.append(UInt32(changed.heap.count) << 2 | cells[row] & 3)
      if isLong(row), let ref = refs.popFirst() { changed.longRefs.append(ref) }
    }
    self = changed
  }

  /// Removes the value of a row. Returns the ref of the value if it was a long one. The caller has to free that value.
  mutating func remove(_ row: Int) -> Ref? {
    let start = start(row)
    let length = end(row) - start
    heap.removeSubrange(start..<end(row))
    let old = isLong(row) ? longRefs.remove(at: refIndex(before: row)) : nil
    cells.remove(at: row)
    moveEnds(from: row, by: -length)
    return old
  }

  /// Removes consecutive values. Returns the refs of the long ones, which the caller has to free.
  mutating func remove(_ rows: Range<Int>) -> [Ref] {
    guard !rows.isEmpty else { return [] }
    let (start, end) = (start(rows.lowerBound), end(rows.upperBound - 1))
    let first = refIndex(before: rows.lowerBound)
    let old = Array(longRefs[first..<refIndex(before: rows.upperBound)])
    longRefs.removeSubrange(first..<first + old.count)
    heap.removeSubrange(start..<end)
    cells.removeSubrange(rows)
    moveEnds(from: rows.lowerBound, by: start - end)
    return old
  }

  /// Removes the last value, if there is one. Returns its ref if it was a long one. The caller has to free that value.
  mutating func removeLast() -> Ref? {
    guard !cells.isEmpty else { return nil }
    let last = rows - 1
    let wasLong = isLong(last)
    heap.removeLast(end(last) - start(last))
    cells.removeLast()
    return wasLong ? longRefs.removeLast() : nil
  }

  /// Removes all values except those of the rows. The long values among the removed ones are not freed.
  mutating func keep(_ rows: Range<Int>) {
    let (base, refs) = (start(rows.lowerBound), refIndex(before: rows.lowerBound))
    longRefs = Array(longRefs[refs..<refIndex(before: rows.upperBound)])
    heap = Array(heap[base..<(rows.isEmpty ? base : end(rows.upperBound - 1))])
    cells = cells[rows].map { $0 - UInt32(base) << 2 }
  }

  /// Removes all values except those of the rows, which are in ascending order. Returns the refs of the long values
  /// among the removed ones, which the caller has to free.
  mutating func keep(_ rows: [Int]) -> [Ref] {
    var kept = PieceBuffer()
    var (dropped, next, refIndex): ([Ref], Int, Int) = ([], 0, 0)
    for row in 0..<self.rows {
      let isKept = next < rows.count && rows[next] == row
      if isKept {
        next += 1
        kept.heap += heap[start(row)..<end(row)]
        kept.cells.append(UInt32(kept.heap.count) << 2 | cells[row] & 3)
      }
      guard isLong(row) else { continue }
      if isKept { kept.longRefs.append(longRefs[refIndex]) } else { dropped.append(longRefs[refIndex]) }
      refIndex += 1
    }
    self = kept
    return dropped
  }

  private func start(_ row: Int) -> Int { row == 0 ? 0 : end(row - 1) }

  private func refIndex(before row: Int) -> Int {
    longRefs.isEmpty ? 0 : (0..<row).reduce(0) { $0 + (isLong($1) ? 1 : 0) }
  }

  // MARK: - Reading

  func isNull(_ row: Int) -> Bool { cells[row] & 3 == Kind.null.rawValue }
  func isTree(_ row: Int) -> Bool { cells[row] & 3 == Kind.tree.rawValue }
  /// The ref of a long value; nil for any other value.
  func long(_ row: Int) -> Ref? { isLong(row) ? longRefs[refIndex(before: row)] : nil }

  /// The bytes of a value that is not long. They are empty for null and for a tree. For a long value they are the bytes
  /// that a piece has in its place.
  @_lifetime(borrow self)
  func bytes(_ row: Int) -> RawSpan { heap.span.bytes.extracting(start(row)..<end(row)) }

  /// The bytes of a value, also of a long one; nil for null.
  func content(_ row: Int, _ access: borrowing NodeAccess) throws(StorageError) -> [UInt8]? {
    if isNull(row) { return nil }
    if let long = long(row) { return try LongValue.read(long, access) }
    return Array(heap[start(row)..<end(row)])
  }

  /// Whether the heap has all values: none is long, and none is a collection whose tree the cluster names.
  var isWhole: Bool { longRefs.isEmpty && !cells.contains { $0 & 3 == Kind.tree.rawValue } }

  /// Whether the value of a row is neither long nor a collection whose tree the cluster names.
  func isWhole(_ row: Int) -> Bool { cells[row] & 3 <= Kind.null.rawValue }

  /// The value of a row of a column.
  ///
  /// - Precondition: `isWhole`, and this library made the values.
  func wholeValue(_ row: Int, of column: Column) -> Value {
    if isNull(row) { return .null }
    let bytes = heap[start(row)..<end(row)]
    if column.storage == .varying, column.type == .string {
      return .string(String(decoding: bytes, as: UTF8.self))
    }
    guard let value = column.value(varying: Array(bytes)) else {
      preconditionFailure("a value that was just written can't be read")
    }
    return value
  }

  func text(_ row: Int, _ access: borrowing NodeAccess) throws(StorageError) -> Value {
    if isNull(row) { return .null }
    if isLong(row) {
      return .string(
        String(decoding: try LongValue.read(longRefs[refIndex(before: row)], access), as: UTF8.self))
    }
    return .string(String(decoding: heap[start(row)..<end(row)], as: UTF8.self))
  }

  // MARK: - Writing

  /// The limit for the size of pieces.
  struct Shape {
    /// The greatest size of a heap in bytes, unless it has a single value. A piece ends before the value that would
    /// exceed it.
    var heapBytes: Int

    static let ofCluster = Shape(heapBytes: 8 * 1024)
    /// The limit is lower than that of a cluster, because a commit that adds one value writes the last piece.
    static let ofDictionary = Shape(heapBytes: 2 * 1024)
  }

  /// Makes as many pieces as the values need. Returns each piece with its first row, counted from `firstRow`.
  func makePieces(
    from firstRow: Int, shape: Shape = .ofCluster, editor: NodeEditor
  ) -> [(firstRow: Int, ref: Ref)] {
    var pieces: [(firstRow: Int, ref: Ref)] = []
    makePieces(from: firstRow, shape: shape, editor: editor, into: &pieces)
    return pieces
  }

  /// Makes as many pieces as the values need, and appends them to a list, each with its first row, counted from
  /// `firstRow`.
  func makePieces(
    from firstRow: Int, shape: Shape = .ofCluster, editor: NodeEditor,
    into pieces: inout [(firstRow: Int, ref: Ref)]
  ) {
    var (first, refIndex) = (0, 0)
    while first < cells.count {
      let base = start(first)
      var end = first + 1
      while end < rows, self.end(end) - base <= shape.heapBytes, end - first < ClusterNode.maximumRows {
        end += 1
      }
      pieces.append((firstRow: firstRow + first, ref: write(first..<end, &refIndex, editor)))
      first = end
    }
  }

  private func write(_ rows: Range<Int>, _ refIndex: inout Int, _ editor: NodeEditor) -> Ref {
    let base = start(rows.lowerBound)
    let heapBytes = end(rows.upperBound - 1) - base
    let refCount = longRefs.isEmpty ? 0 : rows.reduce(0) { $0 + (isLong($1) ? 1 : 0) }
    let refs = longRefs[refIndex..<refIndex + refCount]
    refIndex += refCount
    let level = refs.map { $0.level + 1 }.max() ?? 0
    let arena = editor.arena
    let start = 2 + 2 * rows.count
    let piece = arena.make(kind: .piece, level: level, refCount: refCount, bodyLength: start + heapBytes)
    piece.store(UInt16(rows.count), at: 0)
    piece.copy(heap.span.bytes.extracting(base..<base + heapBytes), at: start)
    for (index, ref) in refs.enumerated() { piece.setRef(index, to: ref) }
    let ends = cells.span.extracting(rows)
    piece.storeWords(rows.count, at: 2) { place in
      let cell = ends[unchecked: place]
      return UInt16(truncatingIfNeeded: cell >> 2 &- UInt32(base) | (cell & 3) << PieceNode.Layout.endBits)
    }
    guard refCount > 0 else { return piece.ref }
    for (index, row) in rows.lazy.filter({ isLong($0) }).enumerated() {
      piece.store(UInt16(index), at: start + self.start(row) - base)
    }
    return piece.ref
  }
}
