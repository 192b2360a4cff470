/// The elements of a list as a column of varying size stores them (FORMAT.md, "Lists").
///
/// Numbers are varints: 7 bits a byte, lowest first, bit 7 set on all but the last byte; signed ones are zigzag (0, -1,
/// 1, -2 …). First the count; where elements may be null a bit for each that is, lowest first; then the elements that
/// are not null: integers and links as varints, booleans as 0 or 1, dates as seconds and nanoseconds, strings and data
/// as their length and bytes, all else as its bytes.
enum ListCell {
  static func encode(_ elements: [Value], of column: Column) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.appendVarint(UInt64(elements.count))
    if column.isOptional {
      var bits = [UInt8](repeating: 0, count: (elements.count + 7) / 8)
      for (index, element) in elements.enumerated() where element == .null {
        bits[index / 8] |= 1 << UInt8(index % 8)
      }
      bytes += bits
    }
    for element in elements { append(element, to: &bytes) }
    return bytes
  }

  private static func append(_ element: Value, to bytes: inout [UInt8]) {
    switch element {
    case .null, .list: break
    case .bool(let flag): bytes.append(flag ? 1 : 0)
    case .int(let number): bytes.appendVarint(zigzag(number))
    case .link(let key): bytes.appendVarint(key)
    case .float(let number): bytes.appendInteger(number.bitPattern)
    case .double(let number): bytes.appendInteger(number.bitPattern)
    case .string(let text):
      bytes.appendVarint(UInt64(text.utf8.count))
      bytes += text.utf8
    case .data(let data):
      bytes.appendVarint(UInt64(data.count))
      bytes += data
    case .date(let date):
      bytes.appendVarint(zigzag(date.seconds))
      bytes.appendVarint(UInt64(date.nanoseconds))
    case .objectID(let id): bytes += id.bytes
    case .uuid(let id), .decimal128(let id): bytes += id.bytes
    }
  }

  /// Nil for bytes that are no list of that column.
  static func decode(_ bytes: [UInt8], of column: Column) -> [Value]? {
    var reader = ByteReader(bytes)
    // Each element takes a byte, or a bit where it is null.
    guard let count = reader.varint(), count <= UInt64(bytes.count) * (column.isOptional ? 8 : 1) else {
      return nil
    }
    var bits: [UInt8] = []
    if column.isOptional {
      guard let found = reader.bytes((Int(count) + 7) / 8) else { return nil }
      bits = Array(found)
    }
    var elements: [Value] = []
    elements.reserveCapacity(min(Int(count), bytes.count))
    for index in 0..<Int(count) {
      if !bits.isEmpty, bits[index / 8] & (1 << UInt8(index % 8)) != 0 {
        elements.append(.null)
      } else {
        guard let element = element(column.type, &reader), column.type.accepts(element) else { return nil }
        elements.append(element)
      }
    }
    return reader.isAtEnd ? elements : nil
  }

  private static func element(_ type: ColumnType, _ reader: inout ByteReader) -> Value? {
    switch type {
    case .bool: reader.integer(UInt8.self).flatMap { $0 <= 1 ? .bool($0 == 1) : nil }
    case .int8, .int16, .int32, .int64: reader.varint().map { .int(unzigzag($0)) }
    case .link: reader.varint().map { .link($0) }
    case .float: reader.integer(UInt32.self).map { .float(Float(bitPattern: $0)) }
    case .double: reader.integer(UInt64.self).map { .double(Double(bitPattern: $0)) }
    case .string:
      reader.counted().flatMap { String(validating: $0, as: UTF8.self) }.map { .string($0) }
    case .data: reader.counted().map { .data(Array($0)) }
    case .date: date(&reader)
    case .objectID: reader.bytes(12).map { .objectID(ObjectIDBytes(Array($0))) }
    case .uuid: reader.bytes(16).map { .uuid(SixteenBytes(Array($0))) }
    case .decimal128: reader.bytes(16).map { .decimal128(SixteenBytes(Array($0))) }
    }
  }

  private static func date(_ reader: inout ByteReader) -> Value? {
    guard let seconds = reader.varint(), let rest = reader.varint(), rest < 1_000_000_000 else { return nil }
    return .date(Timestamp(seconds: unzigzag(seconds), nanoseconds: Int32(rest)))
  }

  private static func zigzag(_ number: Int64) -> UInt64 { UInt64(bitPattern: number << 1 ^ number >> 63) }
  private static func unzigzag(_ word: UInt64) -> Int64 {
    Int64(bitPattern: word >> 1) ^ -Int64(bitPattern: word & 1)
  }
}
