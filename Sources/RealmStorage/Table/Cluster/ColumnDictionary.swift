/// The values that a column has had in rows which hold codes for them: a keyed tree whose leaves are pieces
/// (FORMAT.md, "Dictionaries").
///
/// The key of a value is its code. Codes are given in order from 0, and a code means one value for as long as the
/// dictionary lives: values are only added.
enum ColumnDictionary {
  /// Codes have 16 bits.
  static let maximumCount = 1 << 16

  /// How many codes were given.
  static func count(_ root: Ref, _ access: borrowing NodeAccess) throws(StorageError) -> Int {
    guard !root.isNull else { return 0 }
    let count = try KeyedTree.count(root, access) { (leaf) throws(StorageError) in
      UInt64(PieceNode(try access.node(leaf, .piece)).rows)
    }
    guard count <= UInt64(maximumCount) else { throw access.corrupted(.rows, root) }
    return Int(count)
  }

  /// The code of a value, which is looked for one by one; nil where it has none.
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

  /// Calls `body` with the pieces in order, until it answers false; they hold no more than there may be codes.
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

  /// Verifies a dictionary as a whole: codes without a gap, and no value that is null, stands apart, is another one's
  /// twin or, in a column of strings, no text. Answers how many there are.
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

/// A dictionary being read, for as long as the access it was made with.
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
  /// - Throws: `.corrupted` for one that was not given.
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
  /// The first row whose value stands here and has these bytes.
  fileprivate func firstRow(with bytes: RawSpan) -> Int? {
    for row in 0..<rows where self.bytes(row).byteCount == bytes.byteCount {
      if !isNull(row), !isLong(row), self.bytes(row).compare(bytes) == 0 { return row }
    }
    return nil
  }
}
