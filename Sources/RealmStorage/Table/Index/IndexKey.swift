/// The form of values in index trees: bytes that compare as the values do (FORMAT.md, "Indexes").
///
/// In a column that may hold null, null is the byte 0, and all other values follow a byte 1. An integer has 8 bytes,
/// the highest first, with the sign bit inverted. A date is its seconds in that form, and then its nanoseconds in 4
/// bytes. In a text each byte 0 becomes 0 and ff, and two bytes 0 end it. If these bytes without the end are 248 or
/// more, only the first 248 are stored, and then ff, which is in no UTF-8. To tell rows with such equal bytes apart,
/// their values have to be read.
///
/// In a mixed column a value begins with the place of its type in sorts. Each number is stored as the double that is
/// nearest to it, so that equal numbers have one encoding whatever their types; some numbers that differ share an
/// encoding too. Lists and maps have no bytes behind the place of their type. To find the rows that have exactly one
/// value, their values have to be read.
///
/// An entry of an index is such a value and then the key of the row: the number of bytes of the key, and these
/// bytes, the highest first.
enum IndexKey {
  static let maximumText = 248

  /// Whether the encoding may be incomplete, so that different values may have the same encoding.
  static func isCut(_ encoded: [UInt8], of column: Column) -> Bool {
    column.type == .mixed || encoded.last == 0xff && encoded.count >= maximumText
  }

  static func encode(_ value: Value, of column: Column) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(40)
    append(value, of: column, to: &bytes)
    return bytes
  }

  static func append(_ value: Value, of column: Column, to bytes: inout [UInt8]) {
    if case .null = value { return bytes.append(0) }
    if column.isOptional { bytes.append(1) }
    if column.type == .mixed { bytes.append(ValueOrder.rank(value)) }
    switch value {
    case .bool(let flag): bytes.append(flag ? 1 : 0)
    case .int(let number) where column.type == .mixed: appendOrdered(Double(number), to: &bytes)
    case .int(let number): appendOrdered(number, to: &bytes)
    case .float(let number): appendOrdered(Double(number), to: &bytes)
    case .double(let number): appendOrdered(number, to: &bytes)
    case .decimal128(let stored):
      // Each text names one number, and reading the text rounds to the nearest double.
      appendOrdered(Double(DecimalNumber(stored).text) ?? .nan, to: &bytes)
    case .date(let date):
      appendOrdered(date.seconds, to: &bytes)
      bytes.appendHighestFirst(date.nanoseconds)
    case .string(let text): append(text, to: &bytes)
    case .data(let data):
      let start = bytes.count
      bytes.append(contentsOf: data.prefix(maximumText))
      endText(from: start, in: &bytes)
    case .objectID(let id):
      bytes.appendHighestFirst(id.high)
      bytes.appendHighestFirst(id.low)
    case .uuid(let id):
      bytes.appendHighestFirst(id.high)
      bytes.appendHighestFirst(id.low)
    case .typedLink(let table, let row):
      bytes.appendHighestFirst(table)
      bytes.appendHighestFirst(row)
    case .null, .link, .list, .map: break
    }
  }

  private static func appendOrdered(_ number: Int64, to bytes: inout [UInt8]) {
    bytes.appendHighestFirst(number ^ Int64.min)
  }

  /// Appends a double so that the bytes compare as the doubles do. All NaN have the same encoding, and
  /// both zeros have the same.
  private static func appendOrdered(_ number: Double, to bytes: inout [UInt8]) {
    guard !number.isNaN else { return }
    let bits = (number == 0 ? 0 : number).bitPattern
    bytes.appendHighestFirst(bits >> 63 == 0 ? bits | 1 << 63 : ~bits)
  }

  private static func append(_ text: String, to bytes: inout [UInt8]) {
    let start = bytes.count
    if text.utf8.count < maximumText {
      bytes.append(utf8: text)
    } else {
      bytes.append(contentsOf: text.utf8.prefix(maximumText))
    }
    endText(from: start, in: &bytes)
  }

  /// Appends the encoding of a text that is given as bytes.
  static func append(text: RawSpan, of column: Column, to bytes: inout [UInt8]) {
    if column.isOptional { bytes.append(1) }
    let start = bytes.count
    bytes.append(text.extracting(first: maximumText))
    endText(from: start, in: &bytes)
  }

  /// Completes the encoding of a text, of which the first bytes, at most `maximumText`, stand from `start` on.
  private static func endText(from start: Int, in bytes: inout [UInt8]) {
    if hasZero(bytes.span, from: start) {
      let text = bytes[start...]
      bytes.removeLast(text.count)
      for byte in text {
        bytes.append(byte)
        if byte == 0 { bytes.append(0xff) }
      }
    }
    guard bytes.count - start >= maximumText else {
      bytes.append(0)
      return bytes.append(0)
    }
    bytes.removeLast(bytes.count - start - maximumText)
    bytes.append(0xff)
  }

  private static func hasZero(_ bytes: Span<UInt8>, from start: Int) -> Bool {
    for index in start..<bytes.count where bytes[index] == 0 { return true }
    return false
  }

  // MARK: - Entries

  static func appendRow(_ key: UInt64, to bytes: inout [UInt8]) {
    let length = max(1, (71 - key.leadingZeroBitCount) / 8)
    guard length < 8 else {
      bytes.append(8)
      return bytes.appendHighestFirst(key)
    }
    bytes.appendHighestFirst(UInt64(length) << 56 | key << UInt64(56 - 8 * length), count: 1 + length)
  }

  /// The number of bytes that the value of an entry takes; nil if the value does not end.
  static func valueLength(_ entry: RawSpan, of column: Column) -> Int? {
    var start = 0
    if column.isOptional {
      guard entry.byteCount > 0 else { return nil }
      if entry.unsafeLoad(as: UInt8.self) == 0 { return 1 }
      start = 1
    }
    switch column.type {
    case .bool: return start + 1
    case .int64: return start + 8
    case .date, .objectID: return start + 12
    case .uuid: return start + 16
    case .string: return textEnd(entry, from: start)
    case .mixed:
      guard entry.byteCount > start else { return nil }
      return mixedLength(entry, entry.unsafeLoad(fromByteOffset: start, as: UInt8.self), start + 1)
    case .float, .double, .data, .decimal128, .link: return nil
    }
  }

  private static func mixedLength(_ entry: RawSpan, _ rank: UInt8, _ start: Int) -> Int? {
    switch rank {
    case ValueOrder.Rank.bool: start + 1
    case ValueOrder.Rank.nan, ValueOrder.Rank.list, ValueOrder.Rank.map: start
    case ValueOrder.Rank.number: start + 8
    case ValueOrder.Rank.string, ValueOrder.Rank.data: textEnd(entry, from: start)
    case ValueOrder.Rank.date, ValueOrder.Rank.objectID, ValueOrder.Rank.link: start + 12
    case ValueOrder.Rank.uuid: start + 16
    default: nil
    }
  }

  private static func textEnd(_ entry: RawSpan, from start: Int) -> Int? {
    var place = start
    while place + 1 < entry.byteCount {
      let byte = entry.unsafeLoad(fromByteOffset: place, as: UInt8.self)
      if place - start == maximumText { return byte == 0xff ? place + 1 : nil }
      // A byte 0 of the text itself is followed by ff.
      if byte == 0, entry.unsafeLoad(fromByteOffset: place + 1, as: UInt8.self) == 0 { return place + 2 }
      place += 1
    }
    return nil
  }

  /// The row of an entry whose value takes `skipped` bytes; nil if the bytes are no valid entry.
  static func row(_ entry: LeafKey, after skipped: Int) -> UInt64? {
    guard entry.count > skipped else { return nil }
    let length = Int(entry.byte(skipped))
    guard (1...8).contains(length), entry.count == skipped + 1 + length else { return nil }
    var row: UInt64 = 0
    for index in skipped + 1..<entry.count { row = row << 8 | UInt64(entry.byte(index)) }
    return row
  }
}
