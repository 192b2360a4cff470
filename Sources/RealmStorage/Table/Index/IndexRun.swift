/// Entries of an index that are not in its tree yet, by their values.
///
/// Each value stands once and its rows are told apart by its code. So only values are sorted: rows come in their order
/// most often, and are dealt out to the values by counting.
struct IndexRun {
  private var values = ValueCodes(first: 0, isHashed: true)
  /// Of each entry, in the order they came.
  private var codes: [UInt32] = []
  private var rows: [UInt64] = []
  private var areRowsSorted = true
  private var valueBytes = 0
  /// Of values that have codes elsewhere, by these: the code here, one more; zero where it was not looked for.
  private var codesOfKnown: [UInt32] = []
  /// Kept for its memory only.
  private var scratch: [UInt8] = []

  var count: Int { rows.count }
  /// What they take in memory, at least as much as the bytes of all entries.
  var bytes: Int {
    max(values.bytes + 4 * codesOfKnown.count + 12 * rows.count, valueBytes + 9 * rows.count)
  }

  mutating func append(_ value: Value, of column: Column, row: UInt64) {
    append(row, codeOf { IndexKey.append(value, of: column, to: &$0) })
  }

  /// The same of a text's bytes.
  mutating func append(text: RawSpan, of column: Column, row: UInt64) {
    append(row, codeOf { IndexKey.append(text: text, of: column, to: &$0) })
  }

  /// The same of one of some values that have codes elsewhere, and keep them as long as there are entries here: each is
  /// looked for once.
  mutating func append(_ code: Int, of known: ValueCodes, of column: Column, row: UInt64) {
    if code >= codesOfKnown.count {
      codesOfKnown.append(contentsOf: repeatElement(0, count: max(known.next, code + 1) - codesOfKnown.count))
    }
    if codesOfKnown[code] == 0 {
      let value = known.value(code)
      codesOfKnown[code] = 1 + codeOf { IndexKey.append(text: value, of: column, to: &$0) }
    }
    append(row, codesOfKnown[code] - 1)
  }

  @inline(__always)
  private mutating func append(_ row: UInt64, _ code: UInt32) {
    codes.append(code)
    areRowsSorted = areRowsSorted && (rows.last ?? 0) <= row
    rows.append(row)
    valueBytes += values.value(Int(code)).byteCount
  }

  @inline(__always)
  private mutating func codeOf(_ encode: (inout [UInt8]) -> Void) -> UInt32 {
    var encoded: [UInt8] = []
    swap(&encoded, &scratch)
    encoded.removeAll(keepingCapacity: true)
    encode(&encoded)
    let code = values.code(of: encoded.span.bytes) ?? values.add(encoded.span.bytes)
    scratch = encoded
    return UInt32(code)
  }

  /// Forgets all entries. What few of them took is kept for those to come: most transactions of one row have one.
  mutating func removeAll() {
    guard bytes <= Self.keptBytes else {
      self = IndexRun()
      return
    }
    values.removeAll()
    codes.removeAll(keepingCapacity: true)
    rows.removeAll(keepingCapacity: true)
    codesOfKnown.removeAll(keepingCapacity: true)
    (areRowsSorted, valueBytes) = (true, 0)
  }
  private static let keptBytes = 8 << 10

  /// Whether there is an entry of a value.
  func contains(_ encoded: RawSpan) -> Bool { values.code(of: encoded) != nil }

  /// The only entry, in the place of what was in `entry`.
  func putOnly(into entry: inout [UInt8]) {
    precondition(count == 1, "more than one entry")
    Self.put(values.value(Int(codes[0])), rows[0], into: &entry)
  }

  /// All entries, in their order.
  func sorted() -> SortedKeys {
    var sorted = SortedKeys(count: count, bytes: valueBytes + 5 * count)
    var entry: [UInt8] = []
    forEachValue { value, rows in
      for row in rows {
        Self.put(value, row, into: &entry)
        sorted.append(entry.span.bytes)
      }
    }
    return sorted
  }

  /// Puts all entries into a tree that is being made, in their order; of those that are alike one.
  func append(to tree: inout TreeBuilder) throws(StorageError) {
    var entry: [UInt8] = []
    var (entries, ends): ([UInt8], [Int]) = ([], [])
    try forEachValue { (value, rows) throws(StorageError) in
      var rows = rows
      var last: UInt64?
      while rows.count > Self.fewRows {
        entries.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
        for row in rows.prefix(Self.rowsAtOnce) where row != last {
          last = row
          entries.append(value)
          IndexKey.appendRow(row, to: &entries)
          ends.append(entries.count)
        }
        tree.append(keys: entries.span.bytes, ends: ends)
        rows = rows.dropFirst(Self.rowsAtOnce)
      }
      for row in rows where row != last {
        last = row
        Self.put(value, row, into: &entry)
        try tree.append(key: entry.span.bytes, value: TreeValue(bytes: RawSpan()))
      }
    }
  }
  /// What a leaf has in common is looked for anew where more are added at once.
  private static let fewRows = 16
  /// About half a leaf.
  private static let rowsAtOnce = 256

  private static func put(_ value: RawSpan, _ row: UInt64, into entry: inout [UInt8]) {
    entry.removeAll(keepingCapacity: true)
    entry.append(value)
    IndexKey.appendRow(row, to: &entry)
  }

  /// Calls with each value, in their order, and its rows, in theirs.
  private func forEachValue<Failure>(_ body: (RawSpan, ArraySlice<UInt64>) throws(Failure) -> Void)
    throws(Failure)
  {
    let ends = ends()
    var rows = rowsByValue(ends)
    for code in valuesInOrder() {
      let places = (code == 0 ? 0 : ends[code - 1])..<ends[code]
      if !areRowsSorted { rows[places].sort() }
      try body(values.value(code), rows[places])
    }
  }

  /// Where the rows of each value end, if those of the values before them stand before them.
  private func ends() -> [Int] {
    var ends = [Int](repeating: 0, count: values.next)
    for code in codes { ends[Int(code)] += 1 }
    var end = 0
    for code in ends.indices {
      end += ends[code]
      ends[code] = end
    }
    return ends
  }

  private func rowsByValue(_ ends: [Int]) -> [UInt64] {
    var (next, dealt) = (ends, rows)
    for place in codes.indices.reversed() {
      let code = Int(codes[place])
      next[code] -= 1
      dealt[next[code]] = rows[place]
    }
    return dealt
  }

  /// The codes of the values, in the order of these.
  private func valuesInOrder() -> [Int] {
    // The first bytes decide most comparisons.
    let heads = (0..<values.next).map { (head: Self.head(values.value($0)), code: $0) }
    let sorted = heads.sorted { left, right in
      left.head != right.head
        ? left.head < right.head : values.value(left.code).compare(values.value(right.code)) < 0
    }
    return sorted.map { $0.code }
  }

  /// The first 8 bytes, highest first, as if zeros followed a shorter value.
  private static func head(_ value: RawSpan) -> UInt64 {
    if value.byteCount >= 8 { return value.unsafeLoadUnaligned(as: UInt64.self).bigEndian }
    var head: UInt64 = 0
    for index in 0..<value.byteCount {
      head |= UInt64(value.unsafeLoad(fromByteOffset: index, as: UInt8.self)) << UInt64(56 - 8 * index)
    }
    return head
  }
}
