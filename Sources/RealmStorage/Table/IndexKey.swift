/// Values as index trees order them: bytes that compare as the values do (FORMAT.md, "Indexes").
///
/// In a column that may hold null, null is the byte 0 and all else follows a byte 1. Integers have the bytes of their
/// type, highest first, with the sign bit flipped; a date is seconds and then nanoseconds in 4 bytes. In a text each
/// byte 0 becomes 0 and ff, and two bytes 0 end it; of one of 248 bytes or more the first 248 stand, and ff, which is
/// in no UTF-8: rows that share them are told apart by reading them.
///
/// An entry of an index is such a value and the row's key: how many bytes it takes, and these, highest first.
enum IndexKey {
  static let maximumText = 248

  /// Whether the encoding leaves something out, so that values that differ may have one.
  static func isCut(_ encoded: [UInt8]) -> Bool { encoded.last == 0xff && encoded.count >= maximumText }

  static func encode(_ value: Value, of column: Column) -> [UInt8] {
    var bytes: [UInt8] = []
    append(value, of: column, to: &bytes)
    return bytes
  }

  static func append(_ value: Value, of column: Column, to bytes: inout [UInt8]) {
    if case .null = value { return bytes.append(0) }
    if column.isOptional { bytes.append(1) }
    switch value {
    case .bool(let flag): bytes.append(flag ? 1 : 0)
    case .int(let number): append(number, column.type, to: &bytes)
    case .date(let date):
      appendOrdered(date.seconds, to: &bytes)
      for shift in stride(from: 24, through: 0, by: -8) {
        bytes.append(UInt8(truncatingIfNeeded: date.nanoseconds >> Int32(shift)))
      }
    case .string(let text): append(text, to: &bytes)
    case .objectID(let id): bytes += id.bytes
    case .uuid(let id): bytes += id.bytes
    case .null, .float, .double, .data, .decimal128, .link, .list: break
    }
  }

  private static func append(_ number: Int64, _ type: ColumnType, to bytes: inout [UInt8]) {
    switch type {
    case .int8: appendOrdered(Int8(truncatingIfNeeded: number), to: &bytes)
    case .int16: appendOrdered(Int16(truncatingIfNeeded: number), to: &bytes)
    case .int32: appendOrdered(Int32(truncatingIfNeeded: number), to: &bytes)
    default: appendOrdered(number, to: &bytes)
    }
  }

  private static func appendOrdered<Number: FixedWidthInteger & SignedInteger>(
    _ number: Number, to bytes: inout [UInt8]
  ) {
    let word = UInt64(bitPattern: Int64(number ^ Number.min))
    for shift in stride(from: Number.bitWidth - 8, through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: word >> UInt64(shift)))
    }
  }

  private static func append(_ text: String, to bytes: inout [UInt8]) {
    let start = bytes.count
    if text.utf8.count < maximumText { bytes.append(contentsOf: text.utf8) }
    if text.utf8.count >= maximumText || bytes[start...].contains(0) {
      bytes.removeLast(bytes.count - start)
      for byte in text.utf8 {
        bytes.append(byte)
        if byte == 0 { bytes.append(0xff) }
        if bytes.count - start >= maximumText { break }
      }
      if bytes.count - start >= maximumText {
        bytes.removeLast(bytes.count - start - maximumText)
        return bytes.append(0xff)
      }
    }
    bytes.append(contentsOf: [0, 0])
  }

  // MARK: - Entries

  static func appendRow(_ key: UInt64, to bytes: inout [UInt8]) {
    let length = max(1, (71 - key.leadingZeroBitCount) / 8)
    bytes.append(UInt8(length))
    for index in stride(from: length - 1, through: 0, by: -1) {
      bytes.append(UInt8(truncatingIfNeeded: key >> UInt64(8 * index)))
    }
  }

  /// The row of an entry whose value takes `skipped` bytes; nil for what is no entry.
  static func row(_ entry: [UInt8], after skipped: Int) -> UInt64? {
    guard entry.count > skipped + 1, (1...8).contains(entry[skipped]),
      entry.count == skipped + 1 + Int(entry[skipped])
    else { return nil }
    return entry[(skipped + 1)...].reduce(0) { $0 << 8 | UInt64($1) }
  }
}
