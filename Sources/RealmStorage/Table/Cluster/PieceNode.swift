/// The values of a column of varying size for consecutive rows of a cluster: strings, data, collections or mixed
/// values; or consecutive values of a dictionary.
///
/// The body follows the refs of long values (FORMAT.md, "Piece"):
///
///     offset  size  field
///          0     2  rows   at least 1
///          2   2·n  ends   bits 0–13: the end of each value in the heap; bit 14: null; bit 15: long; both: a tree
///             ...   heap
///
/// A value longer than 4,096 bytes is long: it is stored apart from the piece. The heap then holds the 2-byte index of
/// its ref, and its length in 8 bytes. Only pieces with long values have refs, so that walks of a version's nodes need
/// not read the other pieces.
///
/// A collection that is a tree takes no bytes of the heap. The ref of its tree is in the cluster's node, so that a
/// change of the tree writes no piece.
@usableFromInline
struct PieceNode: ~Escapable, BitwiseCopyable {
  @usableFromInline
  enum Layout {
    /// The offset of the ends.
    @inlinable static var ends: Int { 2 }
    @inlinable static var nullFlag: UInt16 { 0x4000 }
    @inlinable static var longFlag: UInt16 { 0x8000 }
    static var treeFlags: UInt16 { nullFlag | longFlag }
    @inlinable static var endMask: UInt16 { 0x3fff }
    static var endBits: Int { 14 }
  }

  static let longCellBytes = 10
  /// The greatest length of a value in the heap, in bytes. Longer values are stored apart from the piece.
  static let maximumInline = 4096

  let view: NodeView
  private let rowCount: UInt16
  @inline(__always)
  var rows: Int { Int(rowCount) }

  @inline(__always)
  @_lifetime(copy view)
  init(_ view: NodeView) {
    self.view = view
    rowCount = view.load(UInt16.self, at: 0)
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
      let end = Int(word & Layout.endMask)
      guard end >= last, heap + end <= view.bodyLength else { return false }
      if word & Layout.nullFlag != 0 {
        // A value that is null, or a collection that is a tree, takes no bytes.
        guard end == last else { return false }
      } else if word & Layout.longFlag != 0 {
        guard end - last == longCellBytes, Int(view.load(UInt16.self, at: heap + last)) == nextRef else {
          return false
        }
        nextRef += 1
      }
      last = end
    }
    return nextRef == view.refCount
  }

  /// Prefetches the bytes that a reader of a value is likely to read, all at once: the ends, and the place of the
  /// value's bytes if the values are about equally long.
  @inline(__always)
  static func prefetch(_ row: Int, of rows: Int, in piece: Ref, _ access: LentAccess) {
    guard let bytes = access.upcoming(piece) else { return }
    let body = NodeView.bodyOffset(refCount: 0)
    let heap = body &+ 2 &+ 2 &* rows
    bytes.prefetch(body)
    // These are the end of the value before it, and its own end.
    let ends = body &+ 2 &* row
    bytes.prefetch(ends)
    if ends & 63 > 60 { bytes.prefetch(ends &+ 4) }
    guard piece.level == 0, rows > 0, piece.length > heap else { return }
    let spread = (piece.length &- heap) &* row
    // A division takes as long as the rest of this function, and most pieces have as many rows as a full cluster.
    let guess =
      heap &+ (rows == ClusterNode.maximumRows ? spread / ClusterNode.maximumRows : spread / rows) &- 48
    bytes.prefetch(guess)
    bytes.prefetch(guess &+ 64)
  }

  /// Whether a value is null. This is also true for a collection that is a tree; `isTree` tells them apart.
  @inline(__always)
  func isNull(_ row: Int) -> Bool { word(row) & Layout.nullFlag != 0 }

  /// Whether a value is a collection whose tree the cluster's node names.
  func isTree(_ row: Int) -> Bool { word(row) & Layout.treeFlags == Layout.treeFlags }

  /// The ref and the length of a long value; nil for any other value.
  func long(_ row: Int) -> (ref: Ref, length: Int)? {
    guard isLong(row) else { return nil }
    let at = heap + start(row)
    return (
      view.ref(Int(view.load(UInt16.self, at: at))),
      Int(truncatingIfNeeded: view.load(UInt64.self, at: at + 2))
    )
  }

  /// The bytes of a value in the heap.
  @inline(__always)
  @_lifetime(copy self)
  func bytes(_ row: Int) -> RawSpan {
    view.bytes(at: heap + start(row), count: Int(word(row) & Layout.endMask) - start(row))
  }

  @inline(__always)
  func isLong(_ row: Int) -> Bool { word(row) & Layout.treeFlags == Layout.longFlag }

  /// The end of a value in the heap.
  func end(_ row: Int) -> Int { Int(word(row) & Layout.endMask) }

  /// The words with the end and the flags of each value.
  var words: RawSpan {
    @_lifetime(copy self) get { view.bytes(at: Layout.ends, count: 2 * rows) }
  }

  /// All values, one after another.
  var heapBytes: RawSpan {
    @_lifetime(copy self) get { view.bytes(at: heap, count: end(rows - 1)) }
  }

  private var heap: Int { 2 + 2 * rows }
  @inline(__always)
  private func word(_ row: Int) -> UInt16 { view.load(UInt16.self, at: 2 + 2 * row) }
  @inline(__always)
  private func start(_ row: Int) -> Int { row == 0 ? 0 : Int(word(row - 1) & Layout.endMask) }
}
