/// The coding of values that stand one after another in bytes (FORMAT.md, "Collections" and "Mixed values").
///
/// Numbers are varints: 7 bits in each byte, the lowest first, with bit 7 set in all bytes but the last. Signed numbers
/// are zigzag varints (0, -1, 1, -2 …). Integers are zigzag varints, links are varints, and booleans are the byte 0 or
/// 1. A date is its seconds and its nanoseconds. Strings and data are their length and their bytes, and all other
/// values are their bytes. A mixed value has a byte before it that tells its type.
package enum ValueCoding {
  /// The first bytes of mixed values whose type is not a column type.
  private enum Tag {
    static let null: UInt8 = 0
    static let list: UInt8 = 16
    static let map: UInt8 = 17
  }

  // MARK: - Writing

  /// - Precondition: the value is neither null nor a list or map.
  static func append(_ value: Value, to bytes: inout [UInt8]) {
    switch value {
    case .null, .list, .map: break
    case .bool(let flag): bytes.append(flag ? 1 : 0)
    case .int(let number): bytes.appendVarint(zigzag(number))
    case .link(let key): bytes.appendVarint(key)
    case .typedLink(let table, let key):
      bytes.appendVarint(UInt64(table))
      bytes.appendVarint(key)
    case .float(let number): bytes.appendInteger(number.bitPattern)
    case .double(let number): bytes.appendInteger(number.bitPattern)
    case .string(let text): append(text, to: &bytes)
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

  package static func append(_ text: String, to bytes: inout [UInt8]) {
    bytes.appendVarint(UInt64(text.utf8.count))
    bytes += text.utf8
  }

  package static func appendMixed(_ value: Value, to bytes: inout [UInt8]) {
    bytes.append(tag(value))
    switch value {
    case .list(let elements, let id):
      bytes.appendVarint(id)
      bytes.appendVarint(UInt64(elements.count))
      for element in elements { appendMixed(element, to: &bytes) }
    case .map(let map, let id):
      bytes.appendVarint(id)
      bytes.appendVarint(UInt64(map.count))
      for (key, value) in zip(map.keys, map.values) {
        append(key, to: &bytes)
        appendMixed(value, to: &bytes)
      }
    default: append(value, to: &bytes)
    }
  }

  private static func tag(_ value: Value) -> UInt8 {
    switch value {
    case .null: Tag.null
    case .bool: ColumnType.bool.rawValue
    case .int: ColumnType.int64.rawValue
    case .float: ColumnType.float.rawValue
    case .double: ColumnType.double.rawValue
    case .string: ColumnType.string.rawValue
    case .data: ColumnType.data.rawValue
    case .date: ColumnType.date.rawValue
    case .objectID: ColumnType.objectID.rawValue
    case .uuid: ColumnType.uuid.rawValue
    case .decimal128: ColumnType.decimal128.rawValue
    case .link, .typedLink: ColumnType.link.rawValue
    case .list: Tag.list
    case .map: Tag.map
    }
  }

  // MARK: - Reading

  /// Reads a value of a type; nil if the bytes are no such value.
  static func value(_ type: ColumnType, _ reader: inout ByteReader) -> Value? {
    switch type {
    case .bool: reader.integer(UInt8.self).flatMap { $0 <= 1 ? .bool($0 == 1) : nil }
    case .int64: reader.varint().map { .int(unzigzag($0)) }
    case .link: reader.varint().map { .link($0) }
    case .float: reader.integer(UInt32.self).map { .float(Float(bitPattern: $0)) }
    case .double: reader.integer(UInt64.self).map { .double(Double(bitPattern: $0)) }
    case .string: reader.text().map { .string($0) }
    case .data: reader.counted().map { .data(Array($0)) }
    case .date: date(&reader)
    case .objectID: reader.bytes(12).map { .objectID(ObjectIDBytes(Array($0))) }
    case .uuid: reader.bytes(16).map { .uuid(SixteenBytes(Array($0))) }
    case .decimal128: reader.bytes(16).map { .decimal128(SixteenBytes(Array($0))) }
    case .mixed: mixed(&reader)
    }
  }

  /// - Parameter levels: the greatest number of lists and maps that may be nested.
  package static func mixed(_ reader: inout ByteReader, levels: Int = Value.mostLevels) -> Value? {
    guard let tag = reader.integer(UInt8.self) else { return nil }
    switch tag {
    case Tag.null: return .null
    case Tag.list: return levels > 0 ? list(&reader, levels - 1) : nil
    case Tag.map: return levels > 0 ? map(&reader, levels - 1) : nil
    case ColumnType.link.rawValue:
      guard let table = reader.varint(), let table = UInt32(exactly: table), let row = reader.varint() else {
        return nil
      }
      return .typedLink(table: table, row: row)
    default:
      guard let type = ColumnType(rawValue: tag), type != .mixed else { return nil }
      return value(type, &reader)
    }
  }

  private static func list(_ reader: inout ByteReader, _ levels: Int) -> Value? {
    // Each element takes at least one byte.
    guard let id = reader.varint(), id > 0, let count = reader.varint(), count <= UInt64(reader.count) else {
      return nil
    }
    var elements: [Value] = []
    for _ in 0..<count {
      guard let element = mixed(&reader, levels: levels) else { return nil }
      elements.append(element)
    }
    return .list(elements, id: id)
  }

  private static func map(_ reader: inout ByteReader, _ levels: Int) -> Value? {
    guard let id = reader.varint(), id > 0, let count = reader.varint(), count <= UInt64(reader.count) else {
      return nil
    }
    var (keys, values): ([String], [Value]) = ([], [])
    for _ in 0..<count {
      guard let key = reader.text(), let value = mixed(&reader, levels: levels) else { return nil }
      keys.append(key)
      values.append(value)
    }
    return ValueMap(ascending: keys, values).map { .map($0, id: id) }
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
