/// The entries of an index between two places: those of the values between two bounds, or of the
/// strings with a common prefix.
struct IndexSpan {
  private enum Bounds {
    /// The numbers of an integer index; nil if there are none.
    case numbers(ClosedRange<Int64>?)
    /// The entries that are not less than the first bytes and less than the second.
    case bytes(from: [UInt8], below: [UInt8])
  }

  let column: Column
  private let bounds: Bounds
  /// Whether all rows of the entries have a value of the span. It is false if the encoding of a bound is cut; then the
  /// values of the rows have to be tested.
  let isExact: Bool

  /// A bound of values. If `isClosed` is true, the bound itself is one of the values.
  struct Bound {
    var value: Value
    var isClosed: Bool
  }

  /// Bytes that are greater than each entry of a column that is never null. No value of fixed length is as long, and
  /// behind it follows a length from 1 to 8. No text begins with ff.
  private static let end = [UInt8](repeating: 0xff, count: 24)

  /// Whether the entries of a column are in the order of its values. In a mixed column numbers of several
  /// types share an encoding.
  static func serves(_ column: Column) -> Bool {
    column.index != .none && !column.isCollection && column.type != .mixed
  }

  /// Makes the span of the values from one bound to another; nil stands for no bound.
  ///
  /// - Parameter withNull: if it is true, null is less than all values, and is included if there is no lower bound.
  /// - Precondition: `serves` returns true for the column; the bounds are values of the column, and not null.
  init(_ column: Column, from low: Bound?, to high: Bound?, withNull: Bool = false) {
    self.column = column
    if IntegerIndex.serves(column) {
      bounds = .numbers(Self.numbers(from: low, to: high))
      isExact = true
      return
    }
    var from = column.isOptional && !(low == nil && withNull) ? [UInt8(1)] : []
    var below = column.isOptional ? [2] : Self.end
    var isCut = false
    if let low {
      from = IndexKey.encode(low.value, of: column)
      if IndexKey.isCut(from, of: column) { isCut = true } else if !low.isClosed { from.append(0xff) }
    }
    if let high {
      below = IndexKey.encode(high.value, of: column)
      let isHighCut = IndexKey.isCut(below, of: column)
      isCut = isCut || isHighCut
      // The byte behind a value in an entry is less than ff.
      if isHighCut || high.isClosed { below.append(0xff) }
    }
    bounds = .bytes(from: from, below: below)
    isExact = !isCut
  }

  /// Makes the span of the strings that begin with `prefix`; nil if the prefix is so long that
  /// entries do not contain it.
  ///
  /// - Precondition: `serves` returns true for the column, and it is a column of strings.
  init?(_ column: Column, prefix: String) {
    self.column = column
    var from: [UInt8] = column.isOptional ? [1] : []
    let start = from.count
    for byte in prefix.utf8 {
      from.append(byte)
      if byte == 0 { from.append(0xff) }
    }
    // An entry contains at most this number of bytes of a text, in which each byte 0 counts as two.
    guard from.count - start < IndexKey.maximumText else { return nil }
    bounds = .bytes(from: from, below: from + [0xff])
    isExact = true
  }

  private init(_ column: Column, _ bounds: Bounds, isExact: Bool) {
    (self.column, self.bounds, self.isExact) = (column, bounds, isExact)
  }

  /// The entries that are in this span and in another one of the same column.
  func common(with other: IndexSpan) -> IndexSpan {
    let both: Bounds
    switch (bounds, other.bounds) {
    case (.numbers(let one?), .numbers(let two?)):
      let (least, greatest) = (max(one.lowerBound, two.lowerBound), min(one.upperBound, two.upperBound))
      both = .numbers(least <= greatest ? least...greatest : nil)
    case (.bytes(let one, let end), .bytes(let two, let otherEnd)):
      both = .bytes(
        from: one.span.bytes.compare(two.span.bytes) < 0 ? two : one,
        below: end.span.bytes.compare(otherEnd.span.bytes) < 0 ? end : otherEnd)
    default: both = .numbers(nil)
    }
    return IndexSpan(column, both, isExact: isExact && other.isExact)
  }

  private static func numbers(from low: Bound?, to high: Bound?) -> ClosedRange<Int64>? {
    var (least, greatest) = (Int64.min, Int64.max)
    if let low, case .int(let number) = low.value {
      guard low.isClosed || number < .max else { return nil }
      least = low.isClosed ? number : number + 1
    }
    if let high, case .int(let number) = high.value {
      guard high.isClosed || number > .min else { return nil }
      greatest = high.isClosed ? number : number - 1
    }
    return least <= greatest ? least...greatest : nil
  }

  /// The number of entries in the span. Takes O(log n).
  func count(_ root: Ref, _ access: borrowing NodeAccess) throws(StorageError) -> UInt64 {
    switch bounds {
    case .numbers(nil): return 0
    case .numbers(let range?):
      let below = try IntegerIndex.rank(of: range.lowerBound, in: root, access)
      let through = try IntegerIndex.rank(of: range.upperBound, in: root, access)
      let last = try IntegerIndex.row(of: range.upperBound, in: root, access) == nil ? 0 : 1
      return through &- below &+ UInt64(last)
    case .bytes(let from, let below):
      guard from.span.bytes.compare(below.span.bytes) < 0 else { return 0 }
      return try OrderedTree.count(from: from.span.bytes, below: below.span.bytes, in: root, access)
    }
  }

  /// The rows of the entries, in the order of their values.
  func rows(_ root: Ref, _ access: borrowing NodeAccess) throws(StorageError) -> [UInt64] {
    guard !root.isNull else { return [] }
    let (from, below): ([UInt8], [UInt8])
    switch bounds {
    case .numbers(let range):
      return try range.map { (range) throws(StorageError) in
        try IntegerIndex.rows(in: range, of: root, access)
      } ?? []
    case .bytes(let first, let last): (from, below) = (first, last)
    }
    guard from.span.bytes.compare(below.span.bytes) < 0 else { return [] }
    var rows: [UInt64] = []
    var cursor = TreeCursor(root)
    try cursor.seek(from.span.bytes, access)
    try cursor.forEachLeaf(access) { (leaf, start) throws(StorageError) in
      let end = Self.place(of: below, in: leaf)
      guard Self.read(leaf, start..<max(start, end), of: column, to: &rows) else {
        throw access.corrupted(.structure, root)
      }
      return end == leaf.count
    }
    return rows
  }

  private static func place(of bytes: [UInt8], in leaf: borrowing LeafNode) -> Int {
    leaf.search(bytes.span.bytes).index
  }

  /// Appends the rows of some entries of a leaf. Returns false if one of them is no valid entry.
  private static func read(
    _ leaf: borrowing LeafNode, _ places: Range<Int>, of column: Column, to rows: inout [UInt64]
  ) -> Bool {
    var entries = EntryRows(of: column)
    if places == 0..<leaf.count { return entries.read(leaf, to: &rows) }
    for place in places {
      guard let row = entries.row(leaf, place) else { return false }
      rows.append(row)
    }
    return true
  }
}
