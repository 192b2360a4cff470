/// A leaf of a table: up to 512 rows, with the values of all of their fixed-size columns. For each other column the
/// node has the refs of the pieces that hold the values, or codes of values in the column's dictionary. If a cluster
/// lacks a column, the column was added later, and the cluster's rows have the default.
///
/// The body follows the refs of the pieces, which are in the order of the columns (FORMAT.md, "Cluster"):
///
///     offset  size  field
///          0     2  rows         at least 1
///          2     2  columnCount
///          4     4  zero
///          8     8  firstKey
///         16  32·n  descriptors  by column id; column 0 is the keys, and is absent if they have no gaps
///             ...   data         the data of the columns, at the offsets in their descriptors
///
/// A descriptor has this form. Scans also use its bounds to skip clusters.
///
///          0     2  column
///          2     1  encoding     1 integers, 2 nanoseconds, 3 fixed bytes, 4 pieces, 5 codes, 6 trees
///          3     1  width        1, 2, 5: bits of each value; 3: bytes of each value; 4, 6: zero
///          4     2  nullCount
///          6     2  zero
///          8     8  least        1, 2, 5: the least value not null, the base of the packing; 4, 6: the first ref
///         16     8  greatest     1, 2, 5: the greatest value not null; 4: the number of pieces; 6: of trees
///         24     4  offset       the start of the data in the body
///         28     4  length       the bytes of the data
///
/// The data of values begin with a bit for each row, the lowest bit first, that is set if the row is null. These bits
/// are absent if no row or each row is null. Then there are the values of all rows; for null rows, integers have the
/// least value and fixed bytes are zero. If all rows are null there are no data. The data of pieces are the first row
/// of each piece, in 2 bytes. The data of trees are the row of each tree, in 2 bytes: the collection of that row is in
/// the tree.
struct ClusterNode: ~Escapable, BitwiseCopyable {
  enum Layout {
    static let rows = 0
    static let columnCount = 2
    static let firstKey = 8
    static let descriptors = 16
    static let descriptorSize = 32
  }

  static let maximumRows = 512
  static let keyColumn: UInt16 = 0

  enum Encoding: UInt8 {
    case integers = 1
    case nanoseconds = 2
    case fixed = 3
    case pieces = 4
    /// Integers, each of which is the code of a value in the column's dictionary.
    case codes = 5
    /// The trees of the collections that are too large for the pieces of their column.
    case trees = 6

    /// Whether the data are row numbers of 2 bytes, one for each of several consecutive refs.
    var hasRefs: Bool { self == .pieces || self == .trees }
  }

  let view: NodeView
  private let rowCount: UInt16
  private let descriptorCount: UInt16
  /// Whether the first descriptor is that of the keys. The keys are stored only if they have gaps.
  private let hasKeys: Bool

  @inline(__always)
  var rows: Int { Int(rowCount) }
  @inline(__always)
  var columnCount: Int { Int(descriptorCount) }
  @inline(__always)
  var firstKey: UInt64 { view.load(UInt64.self, at: Layout.firstKey) }

  @inline(__always)
  @_lifetime(copy view)
  init(_ view: NodeView) {
    self.view = view
    rowCount = view.load(UInt16.self, at: Layout.rows)
    descriptorCount = view.load(UInt16.self, at: Layout.columnCount)
    hasKeys = descriptorCount > 0 && view.load(UInt16.self, at: Layout.descriptors) == Self.keyColumn
  }

  /// A cluster without rows and columns.
  @_lifetime(copy none)
  init(none: NodeView) {
    view = none
    rowCount = 0
    descriptorCount = 0
    hasKeys = false
  }

  struct Descriptor: Equatable {
    var column: UInt16
    var encoding: Encoding
    var width: UInt8
    var nullCount: UInt16
    var least: Int64
    var greatest: Int64
    var offset: Int
    var length: Int
  }

  @inline(__always)
  func descriptor(_ index: Int) -> Descriptor {
    descriptor(index, Encoding(rawValue: encodingByte(index)) ?? .integers)
  }

  @inline(__always)
  private func descriptor(_ index: Int, _ encoding: Encoding) -> Descriptor {
    let (head, least, greatest, place) = view.fourWords(
      at: Layout.descriptors &+ index &* Layout.descriptorSize)
    return Descriptor(
      column: UInt16(truncatingIfNeeded: head), encoding: encoding,
      width: UInt8(truncatingIfNeeded: head >> 24),
      nullCount: UInt16(truncatingIfNeeded: head >> 32), least: Int64(bitPattern: least),
      greatest: Int64(bitPattern: greatest), offset: Int(UInt32(truncatingIfNeeded: place)),
      length: Int(UInt32(truncatingIfNeeded: place >> 32)))
  }

  // MARK: - Where a column stands

  // Every reader of a column asks one of these functions where the column's values stand. They answer nil when the cluster
  // lacks the column: then each row has `Column.absentValue`. There is a function for each kind of column, because the
  // compiler does not see through a switch on the kind where it inlines them.

  /// The descriptor of a column of integers, truth values or links, or of the seconds of a column of dates.
  @inline(__always)
  func integers(of column: UInt16) -> Descriptor? { find(column, .integers, or: .integers) }

  /// The descriptor of the nanoseconds of a column of dates. It is also nil if all nanoseconds are zero.
  @inline(__always)
  func nanoseconds(of column: UInt16) -> Descriptor? { find(column, .nanoseconds, or: .nanoseconds) }

  /// The descriptor of a column whose values have `size` bytes each. The answer is nil for a descriptor of another size,
  /// which only a forged file has.
  @inline(__always)
  func fixed(of column: UInt16, size: UInt8) -> Descriptor? {
    guard let part = find(column, .fixed, or: .fixed), part.width == size else { return nil }
    return part
  }

  /// The descriptor of the pieces or the codes of a column of strings or data.
  @inline(__always)
  func varying(of column: UInt16) -> Descriptor? { find(column, .pieces, or: .codes) }

  /// The descriptor of the pieces of a column of lists, sets, maps or mixed values.
  @inline(__always)
  func composite(of column: UInt16) -> Descriptor? { find(column, .pieces, or: .pieces) }

  /// The descriptor of a column of any kind.
  func part(of form: ColumnForm) -> Descriptor? {
    switch form.kind {
    case .integers, .dates: integers(of: form.id)
    case .fixed: fixed(of: form.id, size: form.size)
    case .varying: varying(of: form.id)
    case .composite: composite(of: form.id)
    }
  }

  /// The descriptor of a column of any kind.
  func part(of column: Column) -> Descriptor? {
    switch column.storage {
    case .integers, .dates: integers(of: column.id)
    case .fixed(let size): fixed(of: column.id, size: UInt8(truncatingIfNeeded: size))
    case .varying: varying(of: column.id)
    case .composite: composite(of: column.id)
    }
  }

  /// The descriptor of the pieces or the codes of a column of strings or data, and its place among the descriptors.
  @inline(__always)
  func placeOfVarying(_ column: UInt16) -> (place: Int, Descriptor)? {
    guard let place = place(of: column, .pieces, or: .codes) else { return nil }
    let isCodes = encodingByte(place) == Encoding.codes.rawValue
    return (place, descriptor(place, isCodes ? .codes : .pieces))
  }

  @inline(__always)
  func find(_ column: UInt16, _ encoding: Encoding, or other: Encoding) -> Descriptor? {
    guard let place = place(of: column, encoding, or: other) else { return nil }
    return descriptor(place, encodingByte(place) == encoding.rawValue ? encoding : other)
  }

  @inline(__always)
  private func place(of column: UInt16, _ encoding: Encoding, or other: Encoding) -> Int? {
    // The ids of columns begin with 1, so most descriptors are at the place that the column's id gives.
    let guess = Int(column) &- (hasKeys ? 0 : 1)
    if guess >= 0, guess < columnCount, isDescriptor(guess, of: column, encoding, or: other) { return guess }
    return search(column, encoding, or: other)
  }

  /// The places of all descriptors of a column. There are none if the cluster lacks the column, and two for dates with
  /// nanoseconds and for collections with trees.
  func places(of column: UInt16) -> Range<Int> {
    var first = Int(column) &- (hasKeys ? 0 : 1)
    if first >= columnCount || id(first) != column {
      first = 0
      while first < columnCount, id(first) != column { first += 1 }
    }
    while first > 0, first < columnCount, id(first - 1) == column { first -= 1 }
    var end = first
    while end < columnCount, id(end) == column { end += 1 }
    return first..<end
  }

  private func id(_ index: Int) -> UInt16 {
    view.load(UInt16.self, at: Layout.descriptors &+ index &* Layout.descriptorSize)
  }

  @inline(never)
  private func search(_ column: UInt16, _ encoding: Encoding, or other: Encoding) -> Int? {
    for index in 0..<columnCount where isDescriptor(index, of: column, encoding, or: other) { return index }
    return nil
  }

  /// Whether the descriptor at `index` is one of the column with one of the encodings.
  @inline(__always)
  private func isDescriptor(
    _ index: Int, of column: UInt16, _ encoding: Encoding, or other: Encoding
  ) -> Bool {
    let head = view.load(UInt32.self, at: Layout.descriptors &+ index &* Layout.descriptorSize) & 0xff_ffff
    return head == UInt32(column) | UInt32(encoding.rawValue) << 16
      || head == UInt32(column) | UInt32(other.rawValue) << 16
  }

  @inline(__always)
  private func encodingByte(_ index: Int) -> UInt8 {
    view.load(UInt8.self, at: Layout.descriptors &+ index &* Layout.descriptorSize &+ 2)
  }

  // MARK: - Keys

  /// Whether each key is one more than the key before it.
  var isDense: Bool { !hasKeys }

  func key(_ row: Int) -> UInt64 {
    guard hasKeys else { return firstKey + UInt64(row) }
    return UInt64(bitPattern: integer(descriptor(0), row))
  }

  /// The keys of all rows.
  func keys() -> [UInt64] {
    let first = firstKey
    guard hasKeys else { return (0..<UInt64(rowCount)).map { first &+ $0 } }
    return integers(descriptor(0)).map { UInt64(bitPattern: $0) }
  }

  @inline(__always)
  func row(of key: UInt64) -> Int? {
    guard hasKeys else {
      let distance = key &- firstKey
      return distance < UInt64(rows) ? Int(truncatingIfNeeded: distance) : nil
    }
    let row = lowerBound(key)
    return row < rows && self.key(row) == key ? row : nil
  }

  /// The first row whose key is not less than `key`, or the number of rows if there is none.
  func lowerBound(_ key: UInt64) -> Int {
    var (low, high) = (0, rows)
    while low < high {
      let middle = (low + high) / 2
      if self.key(middle) < key { low = middle + 1 } else { high = middle }
    }
    return low
  }

  // MARK: - Values

  func isNull(_ descriptor: Descriptor, _ row: Int) -> Bool {
    if descriptor.nullCount == 0 { return false }
    if Int(descriptor.nullCount) == rows { return true }
    return view.load(UInt8.self, at: descriptor.offset + row / 8) & (1 << UInt8(row % 8)) != 0
  }

  /// The number of bytes of the bits that mark nulls.
  @inline(__always)
  func nullBytes(_ descriptor: Descriptor) -> Int {
    descriptor.nullCount == 0 || Int(descriptor.nullCount) == rows ? 0 : (rows + 7) / 8
  }

  /// The bytes of a column's values, without the bits that mark nulls.
  @inline(__always)
  @_lifetime(copy self)
  func data(_ descriptor: Descriptor) -> RawSpan { part(descriptor).span }

  /// The bytes of a column's values, without the bits that mark nulls, in a form that can be stored.
  @inline(__always)
  @_lifetime(copy self)
  func part(_ descriptor: Descriptor) -> NodeBytes {
    let nulls = nullBytes(descriptor)
    return view.part(at: descriptor.offset &+ nulls, count: descriptor.length &- nulls)
  }

  @inline(__always)
  func integer(_ descriptor: Descriptor, _ row: Int) -> Int64 {
    descriptor.least
      &+ Int64(bitPattern: PackedIntegers.load(data(descriptor), row, width: Int(descriptor.width)))
  }

  /// The numbers of all rows. The number of a row that is null can be any number.
  func integers(_ descriptor: Descriptor) -> [Int64] {
    PackedIntegers.unpack(
      data(descriptor), count: rows, width: Int(descriptor.width), base: descriptor.least)
  }

  /// The date of a row that is not null.
  ///
  /// - Parameter descriptor: the descriptor of the column's seconds.
  @inline(__always)
  func date(_ column: UInt16, _ descriptor: Descriptor, _ row: Int) -> Timestamp {
    let rest = nanoseconds(of: column).map { integer($0, row) } ?? 0
    // The integrity check reports nanoseconds that are out of range.
    let nanoseconds = Timestamp.nanosecondRange.contains(rest) ? Int32(rest) : 0
    return Timestamp(seconds: integer(descriptor, row), nanoseconds: nanoseconds)
  }

  /// Prefetches the value of a row, or the bytes of its piece that a reader of the value is likely to read.
  @inline(__always)
  func prefetch(_ column: ColumnForm, _ row: Int, _ access: LentAccess) {
    switch column.kind {
    case .varying, .composite:
      guard let descriptor = composite(of: column.id) else { return }
      let (piece, index) = piece(descriptor, row)
      PieceNode.prefetch(index, of: rowsOfPiece(descriptor), in: piece, access)
    case .integers, .dates:
      guard let descriptor = integers(of: column.id) else { return }
      view.prefetch(at: descriptor.offset &+ nullBytes(descriptor) &+ (row &* Int(descriptor.width)) &>> 3)
    case .fixed:
      guard let descriptor = fixed(of: column.id, size: column.size) else { return }
      view.prefetch(at: descriptor.offset &+ nullBytes(descriptor) &+ row &* Int(descriptor.width))
    }
  }

  /// The approximate number of rows in each piece of a column.
  @inline(__always)
  func rowsOfPiece(_ descriptor: Descriptor) -> Int {
    // Most columns have one piece, and a division takes as long as the rest of the prefetch.
    descriptor.greatest == 1 ? rows : rows / Int(descriptor.greatest)
  }

  /// The piece that holds the value of a row, and the place of the row in the piece.
  @inline(__always)
  func piece(_ descriptor: Descriptor, _ row: Int) -> (ref: Ref, index: Int) {
    var piece = Int(descriptor.greatest) - 1
    // The first row of the only piece is 0, so the data need not be read.
    if piece == 0 { return (view.ref(Int(descriptor.least)), row) }
    while piece > 0, firstRow(descriptor, piece) > row { piece -= 1 }
    return (view.ref(Int(descriptor.least) + piece), row - firstRow(descriptor, piece))
  }

  /// All pieces of a column.
  func pieces(_ descriptor: Descriptor) -> [(firstRow: Int, ref: Ref)] {
    var pieces: [(firstRow: Int, ref: Ref)] = []
    pieces.reserveCapacity(Int(descriptor.greatest))
    for piece in 0..<Int(descriptor.greatest) {
      pieces.append((firstRow(descriptor, piece), view.ref(Int(descriptor.least) + piece)))
    }
    return pieces
  }

  /// The first row of a piece, or the row of a tree.
  func firstRow(_ descriptor: Descriptor, _ piece: Int) -> Int {
    Int(view.load(UInt16.self, at: descriptor.offset + 2 * piece))
  }

  /// The place of a value's bytes, if a new value can be written there without any other change of the node. For that the old and
  /// the new value must not be null, and for integers neither may be the least or the greatest value of the column. Nil if more
  /// would change.
  func place(of value: Value, _ row: Int, _ column: ColumnForm) -> (offset: Int, cell: FixedCell)? {
    if case .null = value { return nil }
    switch column.kind {
    case .fixed:
      let size = Int(column.size)
      guard let descriptor = fixed(of: column.id, size: column.size), !isNull(descriptor, row)
      else { return nil }
      return (descriptor.offset + nullBytes(descriptor) + row * size, FixedCell(value, size: size))
    case .integers:
      guard let descriptor = integers(of: column.id), descriptor.width >= 8, !isNull(descriptor, row)
      else { return nil }
      let (least, greatest, new, old) = (
        descriptor.least, descriptor.greatest, value.integer, integer(descriptor, row)
      )
      guard least < new, new < greatest, least < old, old < greatest else { return nil }
      let size = Int(descriptor.width) / 8
      return (
        descriptor.offset + nullBytes(descriptor) + row * size,
        FixedCell(UInt64(bitPattern: new &- least), size: size)
      )
    case .dates, .varying, .composite: return nil
    }
  }

  // MARK: - Validation

  /// See `NodeValidators`.
  static func isValid(_ view: NodeView) -> Bool {
    guard view.bodyLength >= Layout.descriptors else { return false }
    let cluster = ClusterNode(unchecked: view)
    let head = Layout.descriptors + cluster.columnCount * Layout.descriptorSize
    guard (1...maximumRows).contains(cluster.rows), head <= view.bodyLength,
      cluster.firstKey <= UInt64.max - UInt64(maximumRows)
    else { return false }
    var (nextRef, nextData) = (0, head)
    var last: (column: UInt16, encoding: UInt8)?
    for index in 0..<cluster.columnCount {
      let at = Layout.descriptors + index * Layout.descriptorSize
      guard let encoding = Encoding(rawValue: view.load(UInt8.self, at: at + 2)) else { return false }
      let descriptor = cluster.descriptor(index)
      if let last, (descriptor.column, encoding.rawValue) <= last { return false }
      // Codes are the only descriptor of their column, and the descriptor of trees follows that of the column's pieces.
      let before = descriptor.column == last?.column ? last?.encoding : nil
      if encoding == .codes && before != nil || before == Encoding.codes.rawValue { return false }
      if encoding == .trees, before != Encoding.pieces.rawValue { return false }
      last = (descriptor.column, encoding.rawValue)
      // Data of two columns never overlap, so that a value stored in one changes no other.
      guard descriptor.offset >= nextData, descriptor.length >= 0,
        descriptor.offset + descriptor.length <= view.bodyLength, Int(descriptor.nullCount) <= cluster.rows,
        cluster.isValid(descriptor, nextRef: &nextRef)
      else { return false }
      nextData = descriptor.offset + descriptor.length
    }
    return nextRef == view.refCount && cluster.keysGrow()
  }

  @_lifetime(copy view)
  private init(unchecked view: NodeView) {
    self.view = view
    rowCount = view.load(UInt16.self, at: Layout.rows)
    descriptorCount = view.load(UInt16.self, at: Layout.columnCount)
    hasKeys =
      descriptorCount > 0 && view.bodyLength >= Layout.descriptors + Layout.descriptorSize
      && view.load(UInt16.self, at: Layout.descriptors) == Self.keyColumn
  }

  private func isValid(_ descriptor: Descriptor, nextRef: inout Int) -> Bool {
    let stored = descriptor.nullCount == rows ? 0 : rows
    switch descriptor.encoding {
    case .codes
    where descriptor.width > 16 || descriptor.least < 0
      || descriptor.greatest >= Int64(ColumnDictionary.maximumCount):
      return false
    case .integers, .nanoseconds, .codes:
      return PackedIntegers.isWidth(Int(descriptor.width)) && descriptor.least <= descriptor.greatest
        && (descriptor.encoding != .nanoseconds || descriptor.nullCount == 0)
        && descriptor.length == nullBytes(descriptor)
          + PackedIntegers.byteCount(stored, width: Int(descriptor.width))
    case .fixed:
      return [4, 8, 12, 16].contains(descriptor.width)
        && descriptor.length == nullBytes(descriptor) + stored * Int(descriptor.width)
    case .pieces, .trees:
      guard descriptor.width == 0, descriptor.nullCount == 0, descriptor.least == Int64(nextRef),
        descriptor.greatest >= 1, descriptor.greatest <= Int64(rows),
        descriptor.length == 2 * Int(descriptor.greatest), nextRef + Int(descriptor.greatest) <= view.refCount
      else { return false }
      nextRef += Int(descriptor.greatest)
      var last = -1
      for piece in 0..<Int(descriptor.greatest) {
        let first = firstRow(descriptor, piece)
        guard first > last, piece > 0 || first == 0 || descriptor.encoding == .trees, first < rows else {
          return false
        }
        last = first
      }
      return true
    }
  }

  private func keysGrow() -> Bool {
    guard hasKeys else { return true }
    let descriptor = descriptor(0)
    guard descriptor.encoding == .integers, descriptor.nullCount == 0 else { return false }
    var last: UInt64?
    for row in 0..<rows {
      let key = UInt64(bitPattern: integer(descriptor, row))
      if let last, key <= last { return false }
      last = key
    }
    return key(0) == firstKey
  }
}
