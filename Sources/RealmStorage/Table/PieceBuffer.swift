/// Values of varying size being changed: one heap, as in the pieces it is read from and written to.
struct PieceBuffer {
  private var heap: [UInt8] = []
  /// Where each value ends in the heap, and what it is.
  private var cells: [Cell] = []
  /// Of the long values, in the order of their rows.
  private(set) var longRefs: [Ref] = []

  private struct Cell {
    var end: Int
    var kind: Kind
  }

  private enum Kind {
    case null, inline, long
  }

  var rows: Int { cells.count }
  /// Bytes the values take in pieces.
  var heapBytes: Int { heap.count }

  init() {}

  init(_ ref: Ref, _ access: borrowing NodeAccess) throws(StorageError) {
    try append(piece: ref, access)
  }

  /// Adds the values of a piece.
  mutating func append(piece ref: Ref, _ access: borrowing NodeAccess) throws(StorageError) {
    let piece = PieceNode(try access.node(ref, .piece))
    let base = heap.count
    let (content, refs) = (piece.heapBytes.array, piece.view.refCount)
    heap += content
    cells.reserveCapacity(cells.count + piece.rows)
    for row in 0..<piece.rows {
      let kind: Kind = piece.isNull(row) ? .null : piece.isLong(row) ? .long : .inline
      cells.append(Cell(end: base + piece.end(row), kind: kind))
    }
    for index in 0..<refs { longRefs.append(piece.view.ref(index)) }
  }

  mutating func settle(_ named: (Ref) -> Ref) {
    for index in longRefs.indices { longRefs[index] = named(longRefs[index]) }
  }

  // MARK: - Changing

  /// Adds a value; one longer than a piece takes is written apart.
  mutating func append(_ bytes: RawSpan, editor: NodeEditor) throws(StorageError) {
    if bytes.byteCount <= PieceNode.maximumInline {
      heap.append(bytes)
      cells.append(Cell(end: heap.count, kind: .inline))
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

  /// Adds a text without making an array of it.
  mutating func append(_ text: String, editor: NodeEditor) throws(StorageError) {
    guard text.utf8.count <= PieceNode.maximumInline else {
      let bytes = Array(text.utf8)
      return try append(bytes.span.bytes, editor: editor)
    }
    heap.append(contentsOf: text.utf8)
    cells.append(Cell(end: heap.count, kind: .inline))
  }

  mutating func append(_ value: Value, of column: Column, editor: NodeEditor) throws(StorageError) {
    if let bytes = value.varyingBytes(of: column) {
      try append(bytes.span.bytes, editor: editor)
    } else {
      appendNull()
    }
  }

  /// Adds the values of another, after those that are here.
  mutating func append(contentsOf other: PieceBuffer) {
    let base = heap.count
    heap += other.heap
    cells += other.cells.map { Cell(end: base + $0.end, kind: $0.kind) }
    longRefs += other.longRefs
  }

  /// Adds some of the values of another, which are in order; answers the refs of the long ones among the rest, which are
  /// the caller's to free.
  mutating func append(_ rows: [Int], of other: PieceBuffer) -> [Ref] {
    guard other.longRefs.isEmpty else { return appendWithLong(rows, of: other) }
    for row in rows {
      heap.append(other.bytes(row))
      cells.append(Cell(end: heap.count, kind: other.cells[row].kind))
    }
    return []
  }

  private mutating func appendWithLong(_ rows: [Int], of other: PieceBuffer) -> [Ref] {
    var (dropped, next, refIndex): ([Ref], Int, Int) = ([], 0, 0)
    for row in 0..<other.rows {
      let isKept = next < rows.count && rows[next] == row
      if isKept {
        next += 1
        heap.append(other.bytes(row))
        cells.append(Cell(end: heap.count, kind: other.cells[row].kind))
      }
      guard other.cells[row].kind == .long else { continue }
      if isKept {
        longRefs.append(other.longRefs[refIndex])
      } else {
        dropped.append(other.longRefs[refIndex])
      }
      refIndex += 1
    }
    return dropped
  }

  mutating func appendNull() { cells.append(Cell(end: heap.count, kind: .null)) }

  private mutating func appendLong(_ ref: Ref, length: Int) {
    heap.append(contentsOf: [0, 0])
    heap.appendInteger(UInt64(length))
    cells.append(Cell(end: heap.count, kind: .long))
    longRefs.append(ref)
  }

  /// Answers the ref of a long value that it takes the place of, which is the caller's to free.
  mutating func replace(_ row: Int, with value: Value, of column: Column, editor: NodeEditor)
    throws(StorageError) -> Ref?
  {
    var one = PieceBuffer()
    try one.append(value, of: column, editor: editor)
    let start = start(row)
    let change = one.heap.count - (cells[row].end - start)
    heap.replaceSubrange(start..<cells[row].end, with: one.heap)
    let refIndex = refIndex(before: row)
    let old = cells[row].kind == .long ? longRefs[refIndex] : nil
    longRefs.replaceSubrange(refIndex..<refIndex + (old == nil ? 0 : 1), with: one.longRefs)
    cells[row].kind = one.cells[0].kind
    if change != 0 { for later in row..<cells.count { cells[later].end += change } }
    return old
  }

  /// Answers the ref of a long value, which is the caller's to free.
  mutating func remove(_ row: Int) -> Ref? {
    let start = start(row)
    let length = cells[row].end - start
    heap.removeSubrange(start..<cells[row].end)
    let old = cells[row].kind == .long ? longRefs.remove(at: refIndex(before: row)) : nil
    cells.remove(at: row)
    for later in row..<cells.count { cells[later].end -= length }
    return old
  }

  /// Takes the last value away; answers the ref of a long one, which is the caller's to free.
  mutating func removeLast() -> Ref? {
    guard let cell = cells.popLast() else { return nil }
    heap.removeLast(cell.end - (cells.last?.end ?? 0))
    return cell.kind == .long ? longRefs.removeLast() : nil
  }

  /// Forgets all other values.
  mutating func keep(_ rows: Range<Int>) {
    let (base, refs) = (start(rows.lowerBound), refIndex(before: rows.lowerBound))
    longRefs = Array(longRefs[refs..<refIndex(before: rows.upperBound)])
    heap = Array(heap[base..<(rows.isEmpty ? base : cells[rows.upperBound - 1].end)])
    cells = cells[rows].map { Cell(end: $0.end - base, kind: $0.kind) }
  }

  private func start(_ row: Int) -> Int { row == 0 ? 0 : cells[row - 1].end }

  private func refIndex(before row: Int) -> Int {
    longRefs.isEmpty ? 0 : cells[..<row].reduce(0) { $0 + ($1.kind == .long ? 1 : 0) }
  }

  // MARK: - Reading

  func isNull(_ row: Int) -> Bool { cells[row].kind == .null }

  /// The bytes of a value that is not long, none of one that is null; of a long one what stands in its place.
  @_lifetime(borrow self)
  func bytes(_ row: Int) -> RawSpan { heap.span.bytes.extracting(start(row)..<cells[row].end) }

  func text(_ row: Int, _ access: borrowing NodeAccess) throws(StorageError) -> Value {
    switch cells[row].kind {
    case .null: .null
    case .inline: .string(String(decoding: heap[start(row)..<cells[row].end], as: UTF8.self))
    case .long:
      .string(String(decoding: try LongValue.read(longRefs[refIndex(before: row)], access), as: UTF8.self))
    }
  }

  // MARK: - Writing

  /// How large pieces grow.
  struct Shape {
    /// A piece is cut when its heap would pass this.
    var heapBytes: Int

    static let ofCluster = Shape(heapBytes: 8 * 1024)
    /// A commit that adds one value writes the last piece.
    static let ofDictionary = Shape(heapBytes: 2 * 1024)
  }

  /// Makes as many pieces as the values need; answers each with its first row, counted from `firstRow`.
  func makePieces(
    from firstRow: Int, shape: Shape = .ofCluster, editor: NodeEditor
  ) -> [(firstRow: Int, ref: Ref)] {
    var pieces: [(Int, Ref)] = []
    var (first, refIndex) = (0, 0)
    while first < cells.count {
      let base = start(first)
      var end = first + 1
      while end < cells.count, cells[end].end - base <= shape.heapBytes,
        end - first < ClusterNode.maximumRows
      { end += 1 }
      pieces.append((firstRow + first, write(first..<end, &refIndex, editor)))
      first = end
    }
    return pieces
  }

  private func write(_ rows: Range<Int>, _ refIndex: inout Int, _ editor: NodeEditor) -> Ref {
    let base = start(rows.lowerBound)
    let heapBytes = cells[rows.upperBound - 1].end - base
    let refCount = longRefs.isEmpty ? 0 : cells[rows].reduce(0) { $0 + ($1.kind == .long ? 1 : 0) }
    let refs = longRefs[refIndex..<refIndex + refCount]
    refIndex += refCount
    let level = refs.map { $0.level + 1 }.max() ?? 0
    let arena = editor.arena
    let start = 2 + 2 * rows.count
    let piece = arena.make(kind: .piece, level: level, refCount: refCount, bodyLength: start + heapBytes)
    piece.store(UInt16(rows.count), at: 0)
    piece.copy(heap.span.bytes.extracting(base..<base + heapBytes), at: start)
    for (index, ref) in refs.enumerated() { piece.setRef(index, to: ref) }
    var (next, last) = (0, 0)
    for row in rows {
      let cell = cells[row]
      var word = UInt16(truncatingIfNeeded: cell.end - base)
      if cell.kind == .null { word |= PieceNode.Layout.nullFlag }
      if cell.kind == .long {
        word |= PieceNode.Layout.longFlag
        piece.store(UInt16(next), at: start + last)
        next += 1
      }
      piece.store(word, at: 2 + 2 * (row - rows.lowerBound))
      last = cell.end - base
    }
    return piece.ref
  }
}

extension Value {
  /// As a column of varying size stores it; nil for null.
  func varyingBytes(of column: Column) -> [UInt8]? {
    if column.storage == .composite { return CompositeCell.encode(self, of: column) }
    return switch self {
    case .string(let text): Array(text.utf8)
    case .data(let data): data
    default: nil
    }
  }
}
