/// The dictionary of a column: the values for which rows of the column hold codes, or once held them. It is a keyed
/// tree whose leaves are pieces (FORMAT.md, "Dictionaries").
///
/// The key of a value is its code. Codes are given in order from 0. A code means the same value as long as the
/// dictionary exists, because values are only added.
enum ColumnDictionary {
  /// The greatest number of codes, which have 16 bits.
  static let maximumCount = 1 << 16

  /// The number of codes that were given.
  static func count(_ root: Ref, _ access: borrowing NodeAccess) throws(StorageError) -> Int {
    guard !root.isNull else { return 0 }
    let count = try KeyedTree.count(root, access) { (leaf) throws(StorageError) in
      UInt64(PieceNode(try access.node(leaf, .piece)).rows)
    }
    guard count <= UInt64(maximumCount) else { throw access.corrupted(.rows, root) }
    return Int(count)
  }

  /// The code of a value; nil if it has none. Compares the value with each value of the dictionary in turn.
  static func code(
    of bytes: RawSpan, in root: Ref, _ access: borrowing NodeAccess
  ) throws(StorageError) -> Int? {
    var (before, found) = (0, Int?.none)
    try forEachPiece(of: root, access) { (piece) throws(StorageError) in
      if let row = piece.firstRow(with: bytes) {
        found = before + row
        return false
      }
      before += piece.rows
      return true
    }
    return found
  }

  /// Calls `body` with the pieces in order, until it returns false.
  ///
  /// - Throws: `.corrupted`, also if the pieces have more values than there may be codes.
  static func forEachPiece(
    of root: Ref, _ access: borrowing NodeAccess, _ body: (PieceNode) throws(StorageError) -> Bool
  ) throws(StorageError) {
    var rows = 0
    try KeyedTree.forEachLeaf(of: root, access) { (leaf) throws(StorageError) in
      let piece = PieceNode(try access.node(leaf, .piece))
      rows += piece.rows
      guard rows <= maximumCount else { throw access.corrupted(.rows, root) }
      return try body(piece)
    }
  }

  /// Verifies a whole dictionary: the codes have no gap; no value is null or stored apart from its piece; no two values
  /// are equal; in a column of strings each value is valid UTF-8. Returns the number of values.
  static func check(
    _ root: Ref, of column: Column, _ reader: any NodeReader
  ) throws(StorageError) -> UInt64 {
    var values: Set<[UInt8]> = []
    return try KeyedTree.check(root, reader) { (leaf, access) throws(StorageError) in
      let piece = PieceNode(try access.node(leaf, .piece))
      let first = UInt64(values.count)
      for row in 0..<piece.rows {
        guard !piece.isNull(row), !piece.isLong(row) else { throw access.corrupted(.structure, leaf) }
        let value = piece.bytes(row).array
        guard column.type != .string || String(validating: value, as: UTF8.self) != nil,
          values.insert(value).inserted, values.count <= maximumCount
        else { throw access.corrupted(.structure, leaf) }
      }
      return (UInt64(piece.rows), first...first + UInt64(piece.rows) - 1)
    }
  }
}

/// Reads a dictionary, as long as the access that it was made with is valid.
struct DictionaryReader: ~Escapable {
  private let root: Ref
  private let access: LentAccess

  @_lifetime(copy access)
  init(_ root: Ref, _ access: LentAccess) {
    self.root = root
    self.access = access
  }

  /// The value of a code.
  ///
  /// - Throws: `.corrupted`, also for a code that was not given.
  @_lifetime(copy self)
  func bytes(_ code: Int64) throws(StorageError) -> RawSpan {
    guard !root.isNull, code >= 0 else { throw access.corrupted(.code, root) }
    let key = UInt64(code)
    var (ref, least) = (root, UInt64(0))
    while ref.isKeyedBranch {
      let branch = KeyedBranch(try access.node(ref))
      let index = branch.search(key)
      (ref, least) = (branch.child(index), branch.leastKey(index))
    }
    let piece = PieceNode(try access.node(ref, .piece))
    guard key >= least, key - least < UInt64(piece.rows) else { throw access.corrupted(.code, ref) }
    let row = Int(key - least)
    guard !piece.isNull(row), !piece.isLong(row) else { throw access.corrupted(.structure, ref) }
    return piece.bytes(row)
  }
}

extension PieceNode {
  /// The first row whose value is in the piece and has these bytes.
  fileprivate func firstRow(with bytes: RawSpan) -> Int? {
    for row in 0..<rows where self.bytes(row).byteCount == bytes.byteCount {
      if !isNull(row), !isLong(row), self.bytes(row).compare(bytes) == 0 { return row }
    }
    return nil
  }
}
