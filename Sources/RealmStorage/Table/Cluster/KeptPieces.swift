/// The pieces of a column after rows of its cluster are removed. A piece that loses no row stays as it is. Neighbours
/// among the other pieces become one piece while their values fit into it. The values of pieces without long values are
/// copied directly from the old nodes to the new one.
struct KeptPieces {
  typealias Pieces = [(firstRow: Int, ref: Ref)]

  private(set) var pieces: Pieces = []
  /// The places in the cluster of the rows that stay, in ascending order.
  private let rows: [UInt16]
  private let editor: NodeEditor
  /// The number of rows in `rows` that the pieces taken so far have.
  private var passed = 0

  /// A piece that becomes a part of a new one.
  private struct Source {
    let ref: Ref
    let firstRow: Int
    /// The rows of the piece that stay, as positions in `rows`.
    let kept: Range<Int>
  }

  /// The pieces that become the next new piece, and the bytes that their values take in its heap.
  private var sources: [Source] = []
  private var heapBytes = 0
  /// The values of pieces that have long values, and the position in `rows` of the first of them. They become one or
  /// more pieces.
  private var longer = PieceBuffer()
  private var firstOfLonger = 0

  init(_ rows: [UInt16], editor: NodeEditor) {
    self.rows = rows
    self.editor = editor
  }

  /// Processes the next piece, whose rows end before `end`.
  ///
  /// - Throws: `.corrupted`, also if the number of its rows is not the one that the cluster gives.
  mutating func take(_ piece: (firstRow: Int, ref: Ref), end: Int) throws(StorageError) {
    let kept = passed..<firstPlace(atLeast: end)
    passed = kept.upperBound
    if kept.isEmpty { return try editor.freeTree(piece.ref) }
    if kept.count == end - piece.firstRow {
      try finish()
      return pieces.append((kept.lowerBound, piece.ref))
    }
    try take(piece, kept, end: end, editor.access())
  }

  private mutating func take(
    _ piece: (firstRow: Int, ref: Ref), _ kept: Range<Int>, end: Int, _ access: borrowing NodeAccess
  ) throws(StorageError) {
    let node = PieceNode(try access.node(piece.ref, .piece))
    guard piece.firstRow + node.rows == end else { throw access.corrupted(.rows, piece.ref) }
    guard node.view.refCount == 0 else { return try takeLonger(piece, kept) }
    finishLonger()
    let bytes = Gather.length(
      rows[kept], from: piece.firstRow, words: node.words, endBits: PieceNode.Layout.endBits)
    if heapBytes + bytes > PieceBuffer.Shape.ofCluster.heapBytes { try finishSources() }
    sources.append(Source(ref: piece.ref, firstRow: piece.firstRow, kept: kept))
    heapBytes += bytes
  }

  private func firstPlace(atLeast row: Int) -> Int {
    var (low, high) = (passed, rows.count)
    while low < high {
      let middle = (low + high) / 2
      if rows[middle] < row { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Writes the pieces that are not written yet.
  mutating func finish() throws(StorageError) {
    finishLonger()
    try finishSources()
  }

  private mutating func finishSources() throws(StorageError) {
    guard let first = sources.first?.kept.lowerBound, let end = sources.last?.kept.upperBound else { return }
    let heap = PieceNode.Layout.ends + 2 * (end - first)
    let arena = editor.arena
    let access = editor.access()
    let piece = arena.make(kind: .piece, level: 0, refCount: 0, bodyLength: heap + heapBytes)
    piece.store(UInt16(end - first), at: 0)
    var bytes = piece.bytes(at: heap, count: heapBytes)
    var filled = 0
    for source in sources {
      let node = PieceNode(try access.node(source.ref, .piece))
      let kept = source.kept
      var words = piece.bytes(
        at: PieceNode.Layout.ends + 2 * (kept.lowerBound - first), count: 2 * kept.count)
      filled = Gather.varying(
        rows[kept], from: source.firstRow, words: node.words, endBits: PieceNode.Layout.endBits,
        of: node.heapBytes, to: &bytes, at: filled, words: &words)
    }
    pieces.append((first, piece.ref))
    for source in sources { editor.free(source.ref) }
    sources.removeAll(keepingCapacity: true)
    heapBytes = 0
  }

  private mutating func takeLonger(_ piece: (firstRow: Int, ref: Ref), _ kept: Range<Int>)
    throws(StorageError)
  {
    try finishSources()
    var values = try PieceBuffer(piece.ref, editor.access())
    for long in values.keep(rows[kept].map { Int($0) - piece.firstRow }) { try editor.freeTree(long) }
    editor.free(piece.ref)
    if longer.rows == 0 { firstOfLonger = kept.lowerBound }
    longer.append(contentsOf: values)
  }

  private mutating func finishLonger() {
    guard longer.rows > 0 else { return }
    pieces += longer.makePieces(from: firstOfLonger, editor: editor)
    longer = PieceBuffer()
  }
}
