/// The values of a column of varying size for some rows of a cluster: strings or data.
///
/// Body, after the refs of long values (FORMAT.md, "Piece"):
///
///     offset  size  field
///          0     2  rows   at least 1
///          2   2·n  ends   where each value ends in the heap, 14 bits; bit 14: null; bit 15: long
///             ...   heap
///
/// A value longer than 4,096 bytes stands apart: the heap then holds the 2-byte index of its ref and its length in 8
/// bytes. Only pieces with such values have refs, so that walks of a version's nodes need not read the others.
struct PieceNode: ~Escapable {
  static let nullFlag: UInt16 = 0x4000
  static let longFlag: UInt16 = 0x8000
  static let endMask: UInt16 = 0x3fff
  static let longCellBytes = 10
  /// Values longer than this stand apart.
  static let maximumInline = 4096
  /// A piece is cut when its heap passes this.
  static let targetBytes = 8 * 1024

  let view: NodeView
  let rows: Int

  @_lifetime(copy view)
  init(_ view: NodeView) {
    self.view = view
    rows = Int(view.load(UInt16.self, at: 0))
  }

  /// See `NodeValidators`.
  static func isValid(_ view: NodeView) -> Bool {
    guard view.bodyLength >= 2 else { return false }
    let rows = Int(view.load(UInt16.self, at: 0))
    let heap = 2 + 2 * rows
    guard (1...ClusterNode.maximumRows).contains(rows), heap <= view.bodyLength else { return false }
    var last = 0
    var nextRef = 0
    for row in 0..<rows {
      let word = view.load(UInt16.self, at: 2 + 2 * row)
      let end = Int(word & endMask)
      guard end >= last, heap + end <= view.bodyLength else { return false }
      if word & nullFlag != 0, end != last || word & longFlag != 0 { return false }
      if word & longFlag != 0 {
        guard end - last == longCellBytes, Int(view.load(UInt16.self, at: heap + last)) == nextRef else {
          return false
        }
        nextRef += 1
      }
      last = end
    }
    return nextRef == view.refCount
  }

  func isNull(_ row: Int) -> Bool { word(row) & Self.nullFlag != 0 }

  /// The ref of a long value, and its length; nil for others.
  func long(_ row: Int) -> (ref: Ref, length: Int)? {
    guard word(row) & Self.longFlag != 0 else { return nil }
    let at = heap + start(row)
    return (
      view.ref(Int(view.load(UInt16.self, at: at))),
      Int(truncatingIfNeeded: view.load(UInt64.self, at: at + 2))
    )
  }

  /// The bytes of a value that stands here.
  @_lifetime(copy self)
  func bytes(_ row: Int) -> RawSpan {
    view.bytes(at: heap + start(row), count: Int(word(row) & Self.endMask) - start(row))
  }

  private var heap: Int { 2 + 2 * rows }
  private func word(_ row: Int) -> UInt16 { view.load(UInt16.self, at: 2 + 2 * row) }
  private func start(_ row: Int) -> Int { row == 0 ? 0 : Int(word(row - 1) & Self.endMask) }
}

/// Values of varying size being changed.
struct PieceBuffer {
  enum Cell {
    case null
    case inline([UInt8])
    case long(Ref, length: Int)
  }

  var cells: [Cell] = []

  init() {}

  init(_ ref: Ref, _ access: borrowing NodeAccess) throws(StorageError) {
    let piece = PieceNode(try access.node(ref, .piece))
    cells.reserveCapacity(piece.rows + 1)
    for row in 0..<piece.rows {
      if let (ref, length) = piece.long(row) {
        cells.append(.long(ref, length: length))
      } else if piece.isNull(row) {
        cells.append(.null)
      } else {
        let bytes = piece.bytes(row)
        cells.append(.inline(bytes.array))
      }
    }
  }

  /// A cell for a value, which is written apart when it is long.
  static func cell(_ value: Value, editor: NodeEditor) -> Cell {
    guard let bytes = value.varyingBytes else { return .null }
    if bytes.count <= PieceNode.maximumInline { return .inline(bytes) }
    return .long(LongValue.write(bytes.span.bytes, editor: editor), length: bytes.count)
  }

  /// Makes as many pieces as the cells need; answers each with its first row, counted from `firstRow`.
  func makePieces(from firstRow: Int, editor: NodeEditor) -> [(firstRow: Int, ref: Ref)] {
    var pieces: [(Int, Ref)] = []
    var start = 0
    while start < cells.count {
      var (end, bytes) = (start, 0)
      while end < cells.count, end == start || bytes + Self.length(cells[end]) <= PieceNode.targetBytes {
        bytes += Self.length(cells[end])
        end += 1
      }
      pieces.append((firstRow + start, Self.write(cells[start..<end], heapBytes: bytes, editor)))
      start = end
    }
    return pieces
  }

  private static func length(_ cell: Cell) -> Int {
    switch cell {
    case .null: 0
    case .inline(let bytes): bytes.count
    case .long: PieceNode.longCellBytes
    }
  }

  private static func write(_ cells: ArraySlice<Cell>, heapBytes: Int, _ editor: NodeEditor) -> Ref {
    let refs: [Ref] = cells.compactMap { if case .long(let ref, _) = $0 { ref } else { nil } }
    let level = refs.map { $0.level + 1 }.max() ?? 0
    let arena = editor.arena
    let heap = 2 + 2 * cells.count
    let piece = arena.make(kind: .piece, level: level, refCount: refs.count, bodyLength: heap + heapBytes)
    piece.store(UInt16(cells.count), at: 0)
    var (end, refIndex) = (0, 0)
    for (row, cell) in cells.enumerated() {
      var flags: UInt16 = 0
      switch cell {
      case .null: flags = PieceNode.nullFlag
      case .inline(let bytes): piece.copy(bytes, at: heap + end)
      case .long(let ref, let length):
        piece.setRef(refIndex, to: ref)
        piece.store(UInt16(refIndex), at: heap + end)
        piece.store(UInt64(length), at: heap + end + 2)
        refIndex += 1
        flags = PieceNode.longFlag
      }
      end += length(cell)
      piece.store(UInt16(end) | flags, at: 2 + 2 * row)
    }
    return piece.ref
  }
}

extension Value {
  /// As a column of varying size stores it; nil for null.
  var varyingBytes: [UInt8]? {
    switch self {
    case .string(let text): Array(text.utf8)
    case .data(let data): data
    default: nil
    }
  }
}
