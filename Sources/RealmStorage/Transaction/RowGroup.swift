/// Rows of a table that are stored together: up to 512, column by column.
///
/// The fast way to read much of a table, for the length of a function. Columns are named by their position in the
/// schema.
///
/// - Precondition: of all methods, the table has the column, and it is of that type.
public struct RowGroup: ~Copyable {
  private let access: NodeAccess
  private let cluster: Ref
  private let columns: [Column]
  private let dictionaries: ColumnTrees
  public let count: Int

  init(_ cluster: Ref, of table: borrowing Table, _ access: consuming NodeAccess) throws(StorageError) {
    self.cluster = cluster
    columns = table.schema.columns
    dictionaries = table.dictionaries
    count = ClusterNode(try access.node(cluster, .cluster)).rows
    self.access = access
  }

  var node: ClusterNode {
    @_lifetime(borrow self) get throws(StorageError) { ClusterNode(try access.node(cluster, .cluster)) }
  }

  /// The key of a row.
  public func key(_ row: Int) throws(StorageError) -> UInt64 { try node.key(row) }

  /// The row of a key, or nil.
  func row(of key: UInt64) throws(StorageError) -> Int? { try node.row(of: key) }

  /// A value of any column.
  public func value(_ column: Int, _ row: Int) throws(StorageError) -> Value {
    try TableReading.value(columns[column], row, of: node, dictionaries, access)
  }

  /// The values of an integer column, of a boolean one as 0 and 1, of links as keys.
  @_lifetime(borrow self)
  public func integers(_ column: Int) throws(StorageError) -> IntegerColumn {
    check(column, .integers)
    let node = try node
    return IntegerColumn(
      node, node.find(columns[column].id, .integers), isOptional: columns[column].isOptional)
  }

  /// The values of a double column.
  @_lifetime(borrow self)
  public func doubles(_ column: Int) throws(StorageError) -> DoubleColumn {
    check(column, .fixed(8))
    return DoubleColumn(try node, columns[column].id, isOptional: columns[column].isOptional)
  }

  /// The bytes of texts or data, from a row on; of as many rows as stand together.
  @_lifetime(borrow self)
  public func texts(_ column: Int, from row: Int) throws(StorageError) -> TextColumn {
    check(column, .varying)
    let node = try node
    guard let descriptor = node.findVarying(columns[column]) else {
      return TextColumn(absent: node.view, rows: 0..<count, isNull: columns[column].isOptional)
    }
    if descriptor.encoding == .codes {
      let codes = IntegerColumn(node, descriptor, isOptional: columns[column].isOptional)
      return TextColumn(codes, DictionaryReader(dictionaries[columns[column].id], access.lent), node.view)
    }
    let (ref, index) = node.piece(descriptor, row)
    let piece = PieceNode(try access.node(ref, .piece))
    guard index < piece.rows, row - index + piece.rows <= count else { throw access.corrupted(.rows, ref) }
    return TextColumn(piece, first: row - index)
  }

  private func check(_ column: Int, _ storage: ColumnStorage) {
    precondition(
      columns[column].storage == storage && !columns[column].isList,
      "column \(columns[column].name) is of type \(columns[column].type)")
  }
}

/// An integer column of a group of rows.
public struct IntegerColumn: ~Escapable {
  private let packed: RawSpan
  private let nulls: NullBits
  private let least: Int64
  private let width: Int
  public let count: Int

  @_lifetime(copy node)
  init(_ node: ClusterNode, _ descriptor: ClusterNode.Descriptor?, isOptional: Bool) {
    count = node.rows
    nulls = NullBits(node, descriptor, isOptional: isOptional)
    if let descriptor, !nulls.isAll {
      packed = node.data(descriptor)
      least = descriptor.least
      width = Int(descriptor.width)
    } else {
      packed = node.noBytes
      least = 0
      width = 0
    }
  }

  public func isNull(_ row: Int) -> Bool { nulls[row] }

  /// The value of a row; of one that is null, any.
  @inline(__always)
  public subscript(row: Int) -> Int64 {
    least &+ Int64(bitPattern: PackedIntegers.load(packed, row, width: width))
  }
}

/// A double column of a group of rows.
public struct DoubleColumn: ~Escapable {
  private let bytes: RawSpan
  private let nulls: NullBits
  public let count: Int

  @_lifetime(copy node)
  init(_ node: ClusterNode, _ column: UInt16, isOptional: Bool) {
    count = node.rows
    let descriptor = node.find(column, .fixed)
    nulls = NullBits(node, descriptor, isOptional: isOptional)
    if let descriptor, !nulls.isAll, descriptor.width == 8 {
      bytes = node.data(descriptor)
    } else {
      bytes = node.noBytes
    }
  }

  public func isNull(_ row: Int) -> Bool { nulls[row] }

  /// The value of a row; of one that is null, any.
  @inline(__always)
  public subscript(row: Int) -> Double {
    bytes.byteCount == 0 ? 0 : Double(bitPattern: PackedIntegers.load(bytes, row, width: 64))
  }
}

/// Texts or data of rows that stand together.
public struct TextColumn: ~Escapable {
  private let piece: PieceNode?
  private let codes: Codes?
  private let none: RawSpan
  private let isAbsentNull: Bool
  /// The rows of the group it has.
  public let rows: Range<Int>

  @_lifetime(copy piece)
  init(_ piece: PieceNode, first: Int) {
    self.piece = piece
    codes = nil
    none = piece.view.bytes(at: 0, count: 0)
    rows = first..<first + piece.rows
    isAbsentNull = false
  }

  @_lifetime(copy absent)
  init(absent: NodeView, rows: Range<Int>, isNull: Bool) {
    piece = nil
    codes = nil
    none = absent.bytes(at: 0, count: 0)
    self.rows = rows
    isAbsentNull = isNull
  }

  /// Values that stand in the dictionary of their column.
  private struct Codes: ~Escapable {
    let values: IntegerColumn
    let dictionary: DictionaryReader

    @_lifetime(copy values, copy dictionary)
    init(_ values: IntegerColumn, _ dictionary: DictionaryReader) {
      self.values = values
      self.dictionary = dictionary
    }
  }

  @_lifetime(copy codes, copy dictionary, copy node)
  init(_ codes: IntegerColumn, _ dictionary: DictionaryReader, _ node: NodeView) {
    piece = nil
    none = node.bytes(at: 0, count: 0)
    rows = 0..<codes.count
    isAbsentNull = false
    self.codes = Codes(codes, dictionary)
  }

  public func isNull(_ row: Int) -> Bool {
    if let codes { return codes.values.isNull(row) }
    return piece?.isNull(row - rows.lowerBound) ?? isAbsentNull
  }

  /// The value stands apart, since it is long: read it by `RowGroup.value`.
  public func isLong(_ row: Int) -> Bool { piece?.isLong(row - rows.lowerBound) ?? false }

  /// The bytes of a row's value; none of one that is null or stands apart.
  ///
  /// - Throws: `StorageError.corrupted`, where the value stands in the column's dictionary.
  @_lifetime(copy self)
  public func bytes(_ row: Int) throws(StorageError) -> RawSpan {
    guard let piece else { return try bytesOfCode(row) }
    let index = row - rows.lowerBound
    precondition(index >= 0 && index < piece.rows, "TextColumn: row \(row) is not in \(rows)")
    return piece.isLong(index) ? none : piece.bytes(index)
  }

  @_lifetime(copy self)
  @inline(never)
  private func bytesOfCode(_ row: Int) throws(StorageError) -> RawSpan {
    precondition(rows.contains(row), "TextColumn: row \(row) is not in \(rows)")
    guard let codes, !codes.values.isNull(row) else { return none }
    return try codes.dictionary.bytes(codes.values[row])
  }
}

/// Which rows of a column are null.
struct NullBits: ~Escapable {
  private let bits: RawSpan
  let isAll: Bool
  private let isNone: Bool

  @_lifetime(copy node)
  init(_ node: ClusterNode, _ descriptor: ClusterNode.Descriptor?, isOptional: Bool) {
    let nullCount = descriptor.map { Int($0.nullCount) } ?? (isOptional ? node.rows : 0)
    isAll = nullCount == node.rows
    isNone = nullCount == 0
    if let descriptor, nullCount > 0, nullCount < node.rows {
      bits = node.view.bytes(at: descriptor.offset, count: (node.rows + 7) / 8)
    } else {
      bits = node.noBytes
    }
  }

  subscript(row: Int) -> Bool {
    isAll || (!isNone && PackedIntegers.load(bits, row, width: 1) != 0)
  }
}

extension ClusterNode {
  var noBytes: RawSpan { @_lifetime(copy self) get { view.bytes(at: 0, count: 0) } }
}

extension Table {
  /// Calls `body` with the rows in the order they were made, as they are stored together, until it answers false.
  public func forEachGroup(
    _ body: (borrowing RowGroup) throws(StorageError) -> Bool
  ) throws(StorageError) {
    var next: UInt64? = 0
    while let key = next, !clusters.isNull {
      let access = beginReading()
      let (leaf, following) = try KeyedTree.leafAndNext(for: key, in: clusters, access)
      guard try body(RowGroup(leaf, of: self, access)) else { return }
      next = following
    }
  }

  /// The same for the row with a number as its primary key, which is of whole numbers and never null.
  ///
  /// - Precondition: the table has such a primary key.
  public func withRow<Result>(
    primaryKey number: Int64, _ body: (borrowing RowGroup, Int) throws(StorageError) -> Result
  ) throws(StorageError) -> Result? {
    let access = beginReading()
    guard let key = try IntegerIndex.row(of: number, in: integerIndex, access) else { return nil }
    let group = try RowGroup(KeyedTree.leaf(for: key, in: clusters, access), of: self, access)
    guard let row = try group.row(of: key) else { throw corruptedIndex }
    return try body(group, row)
  }

  /// Calls `body` with the group that holds a row, and its place there; answers nil when there is no such row. O(log n).
  public func withRow<Result>(
    _ key: UInt64, _ body: (borrowing RowGroup, Int) throws(StorageError) -> Result
  ) throws(StorageError) -> Result? {
    guard !clusters.isNull else { return nil }
    let access = beginReading()
    let group = try RowGroup(KeyedTree.leaf(for: key, in: clusters, access), of: self, access)
    guard let row = try group.row(of: key) else { return nil }
    return try body(group, row)
  }
}
