/// The cell of a row in a column of strings, data, collections or mixed values: null, bytes in the node that stores
/// them, a long value apart from its piece, or a collection that is a tree.
struct VaryingCell: ~Escapable, BitwiseCopyable {
  let isNull: Bool
  /// Whether the cell is a collection that is a tree, whose root is `long`.
  private let isTree: Bool
  /// The length of the value in bytes, also if it is stored apart from its piece; 0 for null and for a tree.
  let length: Int
  /// The ref of a long value, which is stored apart from its piece, or the root of a collection that is a tree; nil for
  /// any other value.
  let long: Ref?
  /// The bytes of a value that is in its piece or in a dictionary. They are empty for null and for a tree. For a long
  /// value they are the bytes that the piece has in its place.
  let bytes: RawSpan
  /// The node that is damaged if the bytes are no value of the column.
  let source: Ref

  @inline(__always)
  @_lifetime(copy bytes)
  init(_ bytes: RawSpan, _ long: (ref: Ref, length: Int)? = nil, in source: Ref) {
    isNull = false
    isTree = false
    self.bytes = bytes
    self.long = long?.ref
    length = long?.length ?? bytes.byteCount
    self.source = source
  }

  @inline(__always)
  @_lifetime(copy view)
  init(none view: NodeView) {
    isNull = true
    isTree = false
    bytes = view.bytes(at: 0, count: 0)
    long = nil
    length = 0
    source = .null
  }

  /// Makes the cell of a collection that is a tree.
  @_lifetime(copy view)
  init(tree: Ref, none view: NodeView, in source: Ref) {
    isNull = false
    isTree = true
    bytes = view.bytes(at: 0, count: 0)
    long = tree
    length = 0
    self.source = source
  }

  /// The tree of a collection; nil for any other value.
  var tree: Ref? { isTree ? long : nil }

  /// Returns what `body` makes of the bytes of a value that is neither null nor a tree.
  ///
  /// - Parameter body: returns nil for bytes that are no value of the column.
  /// - Throws: `.corrupted` if `body` returns nil, or if the value is a tree.
  @inline(__always)
  func content<Content>(
    _ access: borrowing NodeAccess, _ body: (RawSpan) -> Content?
  ) throws(StorageError) -> Content {
    let content: Content?
    if let long {
      let bytes = try longBytes(long, access)
      content = body(bytes.span.bytes)
    } else {
      content = body(bytes)
    }
    guard let content else { throw access.corrupted(.structure, source) }
    return content
  }

  /// The bytes of a value that is neither null nor a tree.
  ///
  /// - Throws: `.corrupted`, also for a tree, which only a forged file has in a column without collections.
  func array(_ access: borrowing NodeAccess) throws(StorageError) -> [UInt8] {
    if let long { try longBytes(long, access) } else { bytes.array }
  }

  @inline(never)
  private func longBytes(_ long: Ref, _ access: borrowing NodeAccess) throws(StorageError) -> [UInt8] {
    guard !isTree else { throw access.corrupted(.structure, source) }
    let bytes = try LongValue.read(long, access)
    guard bytes.count == length else { throw access.corrupted(.rows, long) }
    return bytes
  }
}

extension ClusterNode {
  /// The cell of a row. This function decides whether a value is null, a code, in a piece or apart from it. Every
  /// reader of single rows calls it.
  ///
  /// - Parameters:
  ///   - part: the descriptor of a column of varying size.
  ///   - dictionary: the column's dictionary, which is evaluated only if values have codes.
  /// - Throws: `.corrupted` for a code that was not given, for a row that the piece lacks, and for a tree that the
  ///   cluster lacks.
  @inline(__always)
  @_lifetime(copy self, copy access)
  func cell(
    _ part: Descriptor, _ row: Int, dictionary: @autoclosure () -> Ref, _ access: LentAccess
  ) throws(StorageError) -> VaryingCell {
    if part.encoding == .codes {
      if isNull(part, row) { return VaryingCell(none: view) }
      let dictionary = dictionary()
      return VaryingCell(try DictionaryReader(dictionary, access).bytes(integer(part, row)), in: dictionary)
    }
    let (ref, index) = piece(part, row)
    let piece = PieceNode(try access.node(ref, .piece))
    guard index < piece.rows else { throw access.corrupted(.rows, ref) }
    if piece.isNull(index), piece.isTree(index) {
      guard let tree = tree(of: part.column, row) else { throw access.corrupted(.structure, ref) }
      return VaryingCell(tree: tree, none: view, in: ref)
    }
    return piece.cell(index, in: ref)
  }
}

extension PieceNode {
  /// The cell of a row of this piece, if it is not a tree.
  ///
  /// - Parameter source: the ref of this piece.
  @inline(__always)
  @_lifetime(copy self)
  func cell(_ row: Int, in source: Ref) -> VaryingCell {
    if isNull(row) { return VaryingCell(none: view) }
    return VaryingCell(bytes(row), long(row), in: source)
  }
}
