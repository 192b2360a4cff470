/// The values of a column of whole numbers, booleans or links in a group of rows. Positions of rows are those in the group.
public struct IntegerColumn: ~Escapable, BitwiseCopyable {
  @usableFromInline let packed: NodeBytes
  private let nulls: NullBits
  /// The value to which each packed number is added; the value of all rows if the cluster does not have the column.
  @usableFromInline let least: Int64
  /// The number of bits of each packed number.
  @usableFromInline let width: Int
  /// The number of rows in the group.
  public let count: Int

  @inline(__always)
  @_lifetime(copy node)
  init(_ node: ClusterNode, _ descriptor: ClusterNode.Descriptor?, _ form: ColumnForm) {
    count = node.rows
    nulls = NullBits(node, descriptor, isAbsentNull: form.isAbsentNull)
    if let descriptor, !nulls.isAll {
      packed = node.part(descriptor)
      least = descriptor.least
      width = Int(descriptor.width)
    } else {
      packed = node.noBytes
      least = Int64(bitPattern: form.absentBits)
      width = 0
    }
  }

  /// Whether the value of a row is null.
  ///
  /// - Precondition: `row` is in `0..<count`.
  public func isNull(_ row: Int) -> Bool { nulls[row] }

  /// The value of a row. It has no meaning if the row is null.
  ///
  /// - Precondition: `row` is in `0..<count`.
  @inlinable
  @inline(__always)
  public subscript(row: Int) -> Int64 {
    // Most columns have this width.
    if width == 8 { return least &+ Int64(PackedIntegers.load(packed.span, row, as: UInt8.self)) }
    return least &+ Int64(bitPattern: PackedIntegers.load(packed.span, row, width: width))
  }
}

/// The values of a column of doubles in a group of rows. Positions of rows are those in the group.
public struct DoubleColumn: ~Escapable, BitwiseCopyable {
  @usableFromInline let bytes: NodeBytes
  private let nulls: NullBits
  /// The value of all rows if the cluster does not have the column.
  @usableFromInline let absent: Double
  /// The number of rows in the group.
  public let count: Int

  @inline(__always)
  @_lifetime(copy node)
  init(_ node: ClusterNode, _ descriptor: ClusterNode.Descriptor?, _ form: ColumnForm) {
    count = node.rows
    nulls = NullBits(node, descriptor, isAbsentNull: form.isAbsentNull)
    absent = Double(bitPattern: form.absentBits)
    if let descriptor, !nulls.isAll {
      bytes = node.part(descriptor)
    } else {
      bytes = node.noBytes
    }
  }

  /// Whether the value of a row is null.
  ///
  /// - Precondition: `row` is in `0..<count`.
  public func isNull(_ row: Int) -> Bool { nulls[row] }

  /// The value of a row. It has no meaning if the row is null.
  ///
  /// - Precondition: `row` is in `0..<count`.
  @inlinable
  public subscript(row: Int) -> Double {
    bytes.isEmpty ? absent : Double(bitPattern: PackedIntegers.load(bytes.span, row, as: UInt64.self))
  }
}

/// The texts or data of some rows of a group: those that are stored together. Positions of rows are those in the group.
public struct TextColumn: ~Escapable, BitwiseCopyable {
  private enum Form: UInt8 {
    case piece, codes, absent, absentNull
  }

  /// The piece that has the values; the cluster if there is no piece.
  private let view: NodeView
  /// The end of each value in the heap of the piece; empty if there is no piece.
  @usableFromInline let ends: NodeBytes
  @usableFromInline let heap: NodeBytes
  @usableFromInline let first: Int32
  private let end: Int32
  private let form: Form
  /// The position of the descriptor of codes in the cluster; for a column that the cluster does not have, the column's position
  /// in the schema.
  private let place: UInt16
  private let content: Lent<TableContent>
  private let access: LentAccess

  /// The positions of the rows that it has.
  public var rows: Range<Int> { Int(first)..<Int(end) }

  @inline(__always)
  @_lifetime(copy piece, copy content, copy access)
  init(_ piece: PieceNode, first: Int, _ content: Lent<TableContent>, _ access: LentAccess) {
    view = piece.view
    let start = PieceNode.Layout.ends &+ 2 &* piece.rows
    ends = piece.view.part(at: PieceNode.Layout.ends, count: 2 &* piece.rows)
    heap = piece.view.part(at: start, count: piece.view.bodyLength &- start)
    self.first = Int32(truncatingIfNeeded: first)
    end = Int32(truncatingIfNeeded: first &+ piece.rows)
    form = .piece
    place = 0
    self.content = content
    self.access = access
  }

  /// Makes the column at a position of the schema, which the cluster does not have: all rows are null, or have the same value.
  @_lifetime(copy node, copy content, copy access)
  init(
    absent column: Int, isNull: Bool, _ node: ClusterNode, _ content: Lent<TableContent>, _ access: LentAccess
  ) {
    self.init(node, isNull ? .absentNull : .absent, place: UInt16(column), content, access)
  }

  /// Makes a column whose values are in the column's dictionary.
  @_lifetime(copy node, copy content, copy access)
  init(codesAt place: Int, _ node: ClusterNode, _ content: Lent<TableContent>, _ access: LentAccess) {
    self.init(node, .codes, place: UInt16(place), content, access)
  }

  @_lifetime(copy node, copy content, copy access)
  private init(
    _ node: ClusterNode, _ form: Form, place: UInt16, _ content: Lent<TableContent>, _ access: LentAccess
  ) {
    view = node.view
    ends = node.noBytes
    heap = node.noBytes
    first = 0
    end = Int32(node.rows)
    self.form = form
    self.place = place
    self.content = content
    self.access = access
  }

  /// Whether the value of a row is null.
  ///
  /// - Precondition: `row` is in `rows`.
  public func isNull(_ row: Int) -> Bool {
    switch form {
    case .piece: return PieceNode(view).isNull(row - Int(first))
    case .codes:
      let node = ClusterNode(view)
      return node.isNull(node.descriptor(Int(place)), row)
    case .absent: return false
    case .absentNull: return true
    }
  }

  /// Whether the value of a row is stored apart, because it is long. Read it by `RowGroup.value`.
  ///
  /// - Precondition: `row` is in `rows`.
  public func isLong(_ row: Int) -> Bool {
    form == .piece && PieceNode(view).isLong(row - Int(first))
  }

  /// The bytes of a row's value. They are empty if the value is null or stored apart.
  ///
  /// - Precondition: `row` is in `rows`. Otherwise the program stops.
  /// - Throws: `StorageError.corrupted` if the value is in a damaged dictionary of the column.
  @_lifetime(copy self)
  @inlinable
  public func bytes(_ row: Int) throws(StorageError) -> RawSpan {
    // Values of most rows are read here, so that the code can be inlined.
    let index = row &- Int(first)
    guard UInt(bitPattern: index) < UInt(bitPattern: ends.count) / 2 else { return try bytesElsewhere(row) }
    let word = ends.word(index)
    guard word & PieceNode.Layout.longFlag == 0 else { return try bytesElsewhere(row) }
    let start = index == 0 ? 0 : ends.word(index &- 1) & PieceNode.Layout.endMask
    return heap.part(from: Int(start), to: Int(word & PieceNode.Layout.endMask))
  }

  @_lifetime(copy self)
  @usableFromInline
  func bytesElsewhere(_ row: Int) throws(StorageError) -> RawSpan {
    precondition(rows.contains(row), "TextColumn: row \(row) is not in \(rows)")
    switch form {
    case .codes: return try bytesOfCode(row)
    case .absent:
      let position = Int(place)
      return content.bytes { $0.absentBytes[position] }
    case .piece, .absentNull: return noBytes
    }
  }

  private var noBytes: RawSpan { @_lifetime(copy self) get { view.bytes(at: 0, count: 0) } }

  @_lifetime(copy self)
  @inline(never)
  private func bytesOfCode(_ row: Int) throws(StorageError) -> RawSpan {
    let node = ClusterNode(view)
    let descriptor = node.descriptor(Int(place))
    guard !node.isNull(descriptor, row) else { return noBytes }
    let dictionary = content.use { $0.root.dictionaries[descriptor.column] }
    return try DictionaryReader(dictionary, access).bytes(node.integer(descriptor, row))
  }
}

/// Says which rows of a column are null.
struct NullBits: ~Escapable, BitwiseCopyable {
  private let bits: NodeBytes
  let isAll: Bool
  private let isNone: Bool

  @inline(__always)
  @_lifetime(copy node)
  init(_ node: ClusterNode, _ descriptor: ClusterNode.Descriptor?, isAbsentNull: Bool) {
    let nullCount = descriptor.map { Int($0.nullCount) } ?? (isAbsentNull ? node.rows : 0)
    isAll = nullCount == node.rows
    isNone = nullCount == 0
    if let descriptor, nullCount > 0, nullCount < node.rows {
      bits = node.view.part(at: descriptor.offset, count: (node.rows + 7) / 8)
    } else {
      bits = node.noBytes
    }
  }

  @inline(__always)
  subscript(row: Int) -> Bool {
    isAll || (!isNone && PackedIntegers.load(bits.span, row, width: 1) != 0)
  }
}

extension ClusterNode {
  var noBytes: NodeBytes { @_lifetime(copy self) get { view.part(at: 0, count: 0) } }
}
