/// Rows of a table that are stored together: up to 512, column by column.
///
/// The fast way to read much of a table, for the length of a function. Columns are named by their position in the
/// schema.
///
/// - Precondition: of all methods, the table has the column, and it is of that type.
public struct RowGroup: ~Copyable, ~Escapable {
  private let access: NodeAccess
  private let columns: Span<Column>
  private let dictionaries: ColumnTrees.View
  /// Notes what is read of a row that was found; absent where all rows are gone through.
  private let habit: Lent<ReadColumns>?
  let node: ClusterNode
  public var count: Int { node.rows }

  /// What is read of most clusters before any of their values.
  static let headBytes = 512

  @inline(__always)
  @_lifetime(borrow access, copy columns, copy dictionaries, copy habit)
  init(
    _ cluster: Ref, _ columns: Span<Column>, _ dictionaries: ColumnTrees.View, _ habit: Lent<ReadColumns>?,
    _ access: borrowing NodeAccess
  ) throws(StorageError) {
    node = ClusterNode(try access.node(cluster, .cluster))
    self.columns = columns
    self.dictionaries = dictionaries
    self.habit = habit
    self.access = NodeAccess(within: access)
  }

  /// Asks for what was read of the rows found before.
  @inline(__always)
  func prefetch(_ row: Int) {
    guard let habit else { return }
    var rest = habit.use { $0.mask }
    while rest != 0 {
      let column = rest.trailingZeroBitCount
      if column < columns.count {
        node.prefetch(columns[column].id, columns[column].storage, row, access)
      }
      rest &= rest &- 1
    }
  }

  /// The key of a row.
  public func key(_ row: Int) throws(StorageError) -> UInt64 { node.key(row) }

  /// A value of any column.
  public func value(_ column: Int, _ row: Int) throws(StorageError) -> Value {
    note(column)
    return try TableReading.value(columns[column], row, of: node, dictionaries, access)
  }

  /// The values of an integer column, of a boolean one as 0 and 1, of links as keys.
  @_lifetime(borrow self)
  public func integers(_ column: Int) throws(StorageError) -> IntegerColumn {
    check(column, .integers)
    note(column)
    return IntegerColumn(
      node, node.find(columns[column].id, .integers), isOptional: columns[column].isOptional)
  }

  /// The values of a double column.
  @_lifetime(borrow self)
  public func doubles(_ column: Int) throws(StorageError) -> DoubleColumn {
    check(column, .fixed(8))
    note(column)
    return DoubleColumn(node, columns[column].id, isOptional: columns[column].isOptional)
  }

  /// The bytes of texts or data, from a row on; of as many rows as stand together.
  @_lifetime(borrow self)
  public func texts(_ column: Int, from row: Int) throws(StorageError) -> TextColumn {
    check(column, .varying)
    guard let descriptor = node.findVarying(columns[column]) else {
      return TextColumn(absent: node.view, rows: 0..<count, isNull: columns[column].isOptional)
    }
    if descriptor.encoding == .codes {
      let codes = IntegerColumn(node, descriptor, isOptional: columns[column].isOptional)
      return TextColumn(codes, DictionaryReader(dictionaries[columns[column].id], access.lent), node.view)
    }
    let (ref, index) = node.piece(descriptor, row)
    if !note(column) {
      PieceNode.prefetch(index, of: count / Int(descriptor.greatest), in: ref, access)
    }
    let piece = PieceNode(try access.node(ref, .piece))
    guard index < piece.rows, row - index + piece.rows <= count else { throw access.corrupted(.rows, ref) }
    return TextColumn(piece, first: row - index)
  }

  /// Answers whether what is likely read of the column need not be asked for any more.
  @discardableResult
  @inline(__always)
  private func note(_ column: Int) -> Bool {
    guard let habit else { return true }
    return habit.use { $0.note(column) }
  }

  @inline(__always)
  private func check(_ column: Int, _ storage: ColumnStorage) {
    precondition(
      columns[column].storage == storage && !columns[column].isList,
      "column \(columns[column].name) is of type \(columns[column].type)")
  }
}

/// An integer column of a group of rows.
public struct IntegerColumn: ~Escapable, BitwiseCopyable {
  private let packed: RawSpan
  private let nulls: NullBits
  private let least: Int64
  private let width: Int
  public let count: Int

  @inline(__always)
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
public struct DoubleColumn: ~Escapable, BitwiseCopyable {
  private let bytes: RawSpan
  private let nulls: NullBits
  public let count: Int

  @inline(__always)
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
  private let first: Int
  private let end: Int

  /// The rows of the group it has.
  public var rows: Range<Int> { first..<end }

  @inline(__always)
  @_lifetime(copy piece)
  init(_ piece: PieceNode, first: Int) {
    self.piece = piece
    codes = nil
    none = piece.view.bytes(at: 0, count: 0)
    self.first = first
    end = first + piece.rows
    isAbsentNull = false
  }

  @_lifetime(copy absent)
  init(absent: NodeView, rows: Range<Int>, isNull: Bool) {
    piece = nil
    codes = nil
    none = absent.bytes(at: 0, count: 0)
    first = rows.lowerBound
    end = rows.upperBound
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
    first = 0
    end = codes.count
    isAbsentNull = false
    self.codes = Codes(codes, dictionary)
  }

  public func isNull(_ row: Int) -> Bool {
    if let codes { return codes.values.isNull(row) }
    return piece?.isNull(row - first) ?? isAbsentNull
  }

  /// The value stands apart, since it is long: read it by `RowGroup.value`.
  public func isLong(_ row: Int) -> Bool { piece?.isLong(row - first) ?? false }

  /// The bytes of a row's value; none of one that is null or stands apart.
  ///
  /// - Throws: `StorageError.corrupted`, where the value stands in the column's dictionary.
  @_lifetime(copy self)
  public func bytes(_ row: Int) throws(StorageError) -> RawSpan {
    guard let piece else { return try bytesOfCode(row) }
    let index = row - first
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
struct NullBits: ~Escapable, BitwiseCopyable {
  private let bits: RawSpan
  let isAll: Bool
  private let isNone: Bool

  @inline(__always)
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

  @inline(__always)
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
      guard try body(RowGroup(leaf, schema.columns.span, dictionaries, nil, access)) else { return }
      next = following
    }
  }

  /// The same for the row with a number as its primary key, which is of whole numbers and never null.
  ///
  /// - Precondition: the table has such a primary key.
  @inlinable
  public func withRow<Result>(
    primaryKey number: Int64, _ body: (borrowing RowGroup, Int) throws(StorageError) -> Result
  ) throws(StorageError) -> Result? {
    try find(primaryKey: number).lend(body)
  }

  /// Calls `body` with the group that holds a row, and its place there; answers nil when there is no such row. O(log n).
  public func withRow<Result>(
    _ key: UInt64, _ body: (borrowing RowGroup, Int) throws(StorageError) -> Result
  ) throws(StorageError) -> Result? {
    guard !clusters.isNull else { return nil }
    let access = beginReading()
    let group = try RowGroup(
      KeyedTree.leaf(for: key, in: clusters, access), schema.columns.span, dictionaries,
      Lent(habit, of: self), access)
    guard let row = group.node.row(of: key) else { return nil }
    group.prefetch(row)
    return try body(group, row)
  }

  @_lifetime(borrow self)
  @usableFromInline
  func find(primaryKey number: Int64) throws(StorageError) -> FoundRow {
    let access = beginReading()
    guard let key = try IntegerIndex.row(of: number, in: integerIndex, access) else {
      return FoundRow(access, .null, 0, schema.columns.span, dictionaries, Lent(habit, of: self))
    }
    let cluster = try KeyedTree.leaf(for: key, in: clusters, access)
    access.prefetch(cluster, count: RowGroup.headBytes)
    return FoundRow(access, cluster, key, schema.columns.span, dictionaries, Lent(habit, of: self))
  }
}

/// The row that an index names, and the right to read it.
@usableFromInline
struct FoundRow: ~Copyable, ~Escapable {
  private let access: NodeAccess
  private let columns: Span<Column>
  private let dictionaries: ColumnTrees.View
  private let habit: Lent<ReadColumns>
  private let cluster: Ref
  private let key: UInt64

  @inline(__always)
  @_lifetime(copy access, copy columns, copy dictionaries, copy habit)
  init(
    _ access: consuming NodeAccess, _ cluster: Ref, _ key: UInt64, _ columns: Span<Column>,
    _ dictionaries: ColumnTrees.View, _ habit: Lent<ReadColumns>
  ) {
    self.habit = habit
    self.access = access
    self.cluster = cluster
    self.key = key
    self.columns = columns
    self.dictionaries = dictionaries
  }

  @usableFromInline var isFound: Bool { !cluster.isNull }

  @inlinable
  func lend<Result>(
    _ body: (borrowing RowGroup, Int) throws(StorageError) -> Result
  ) throws(StorageError) -> Result? {
    guard isFound else { return nil }
    return try lend(group(), body)
  }

  @inlinable
  func lend<Result>(
    _ group: borrowing RowGroup, _ body: (borrowing RowGroup, Int) throws(StorageError) -> Result
  ) throws(StorageError) -> Result { try body(group, row(group)) }

  @_lifetime(borrow self)
  @usableFromInline
  func group() throws(StorageError) -> RowGroup {
    try RowGroup(cluster, columns, dictionaries, habit, access)
  }

  /// The place of the row in its group.
  @usableFromInline
  func row(_ group: borrowing RowGroup) throws(StorageError) -> Int {
    guard let row = group.node.row(of: key) else { throw access.corrupted(.index, cluster) }
    group.prefetch(row)
    return row
  }
}
