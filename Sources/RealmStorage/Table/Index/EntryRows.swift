/// Reads the rows of the entries of an index, leaf by leaf. The bytes that entries have in common are read only once.
struct EntryRows {
  private let column: Column
  /// The number of bytes of the value of the entry that was read last, and its index in the leaf.
  private var last: (value: Int, place: Int)?
  private var scratch: [UInt8] = []

  init(of column: Column) { self.column = column }

  /// Appends the row of each entry of a leaf, in order. Returns false if one of them is no valid entry.
  mutating func read(_ leaf: borrowing LeafNode, to rows: inout [UInt64]) -> Bool {
    rows.reserveCapacity(rows.count + leaf.count)
    guard let width = rowWidth(leaf), let first = row(leaf, 0) else {
      for place in 0..<leaf.count {
        guard let row = row(leaf, place) else { return false }
        rows.append(row)
      }
      return true
    }
    let suffixes = leaf.suffixes(0..<leaf.count)
    let high = width < 8 ? first & ~0 << UInt64(8 * width) : 0
    for place in 0..<leaf.count {
      rows.append(high | suffixes.number(at: place * width, count: width))
    }
    return true
  }

  /// The number of bytes of each suffix, if the suffixes are the ends of row keys and so the value is the same in
  /// all entries; else nil.
  private mutating func rowWidth(_ leaf: borrowing LeafNode) -> Int? {
    guard let width = leaf.keyWidth, (1...8).contains(width), let value = valueLength(leaf, 0),
      leaf.prefixLength > value
    else { return nil }
    return width
  }

  /// The row of an entry; nil if it is no valid entry. The entries of one leaf must be read in order.
  mutating func row(_ leaf: borrowing LeafNode, _ place: Int) -> UInt64? {
    let (suffix, prefix) = (leaf.suffix(place), leaf.prefix)
    guard let value = valueLength(leaf, place) else { return nil }
    last = (value, place)
    let count = prefix.byteCount + suffix.byteCount - value - 1
    guard (1...8).contains(count) else { return nil }
    // The number of bytes of the row's key, and these bytes, may stand in the prefix and in the suffix.
    guard value < prefix.byteCount else {
      let start = value - prefix.byteCount
      guard suffix.unsafeLoad(fromByteOffset: start, as: UInt8.self) == count else { return nil }
      return suffix.number(at: start + 1, count: count)
    }
    guard prefix.unsafeLoad(fromByteOffset: value, as: UInt8.self) == count else { return nil }
    var row: UInt64 = 0
    for index in value + 1..<prefix.byteCount {
      row = row << 8 | UInt64(prefix.unsafeLoad(fromByteOffset: index, as: UInt8.self))
    }
    for index in 0..<suffix.byteCount {
      row = row << 8 | UInt64(suffix.unsafeLoad(fromByteOffset: index, as: UInt8.self))
    }
    return row
  }

  /// The number of bytes of the value of an entry.
  private mutating func valueLength(_ leaf: borrowing LeafNode, _ place: Int) -> Int? {
    if let last {
      // Check whether the value is the same as that of the last entry.
      let own = last.value - leaf.prefixLength
      if own <= 0 { return last.value }
      let (before, suffix) = (leaf.suffix(last.place), leaf.suffix(place))
      if suffix.byteCount >= own, suffix.commonPrefix(before) >= own { return last.value }
    }
    scratch.removeAll(keepingCapacity: true)
    scratch.append(leaf.prefix)
    scratch.append(leaf.suffix(place))
    return IndexKey.valueLength(scratch.span.bytes, of: column)
  }
}
