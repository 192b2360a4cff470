/// The entries of an index that are not in its tree yet, ordered by their values.
///
/// Each value is stored once and has a code, which stands for it in the entries. So only the values have to be sorted.
/// The rows most often come in their order already, and a counting sort puts them in the order of their values.
struct IndexRun {
  private var values = ValueCodes(first: 0, isHashed: true)
  /// The code of the value of each entry, in the order in which the entries were added.
  private var codes: [UInt32] = []
  private var rows: [UInt64] = []
  private var areRowsSorted = true
  private var valueBytes = 0
  /// For each value that has a code elsewhere, by that code: its code here plus one; zero if the value
  /// was not looked up yet.
  private var codesOfKnown: [UInt32] = []
  /// An empty array whose memory is used again.
  private var scratch: [UInt8] = []

  var count: Int { rows.count }
  /// The memory that the entries take, in bytes; at least the number of bytes of all entries.
  var bytes: Int {
    max(values.bytes + 4 * codesOfKnown.count + 12 * rows.count, valueBytes + 9 * rows.count)
  }

  mutating func append(_ value: Value, of column: Column, row: UInt64) {
    append(row, codeOf { IndexKey.append(value, of: column, to: &$0) })
  }

  /// Appends an entry for the bytes of a text.
  mutating func append(text: RawSpan, of column: Column, row: UInt64) {
    append(row, codeOf { IndexKey.append(text: text, of: column, to: &$0) })
  }

  /// Appends an entry for a value that has a code in `known`, which must keep that code as long as there are entries
  /// here. Each value is looked up here only once.
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

  /// Removes all entries. If they took little memory, it is kept for the next entries, because most transactions that
  /// change one row add one entry.
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

  /// Whether there is an entry with an encoded value.
  func contains(_ encoded: RawSpan) -> Bool { values.code(of: encoded) != nil }

  /// Replaces the content of `entry` by the only entry of the run.
  func putOnly(into entry: inout [UInt8]) {
    precondition(count == 1, "more than one entry")
    Self.put(values.value(Int(codes[0])), rows[0], into: &entry)
  }

  /// All entries, in ascending order.
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

  /// Adds all entries in ascending order to a tree that is being built. Of equal entries it adds only one.
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
  /// The greatest number of rows that are added one by one, because adding more at once computes the common
  /// prefix of the leaf anew.
  private static let fewRows = 16
  /// The number of rows that are added at once, which is about half a leaf.
  private static let rowsAtOnce = 256

  private static func put(_ value: RawSpan, _ row: UInt64, into entry: inout [UInt8]) {
    entry.removeAll(keepingCapacity: true)
    entry.append(value)
    IndexKey.appendRow(row, to: &entry)
  }

  /// Calls `body` with each value and its rows. The values are in ascending order, and so are the rows of each value.
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

  /// The end of the rows of each value, if the rows are in the order of the codes of their values.
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

  /// The codes of the values, in the order of the values.
  private func valuesInOrder() -> [Int] {
    // The first 8 bytes decide most comparisons.
    let heads = (0..<values.next).map { (head: Self.head(values.value($0)), code: $0) }
    let sorted = heads.sorted { left, right in
      left.head != right.head
        ? left.head < right.head : values.value(left.code).compare(values.value(right.code)) < 0
    }
    return sorted.map { $0.code }
  }

  /// The first 8 bytes as a number, the first byte highest. A shorter value is filled up with zeros.
  private static func head(_ value: RawSpan) -> UInt64 {
    if value.byteCount >= 8 { return value.unsafeLoadUnaligned(as: UInt64.self).bigEndian }
    var head: UInt64 = 0
    for index in 0..<value.byteCount {
      head |= UInt64(value.unsafeLoad(fromByteOffset: index, as: UInt8.self)) << UInt64(56 - 8 * index)
    }
    return head
  }
}
