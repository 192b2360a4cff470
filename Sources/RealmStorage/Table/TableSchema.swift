/// A table's name and columns.
///
/// Stored in the schema tree under the table's id, 4 bytes with the highest first, as (FORMAT.md, "Schema"):
/// name, next column id in 2 bytes, count of columns in 2 bytes, and for each its id in 2 bytes, type, flags
/// (bit 0 optional), target table in 4 bytes, name. A name is its length in 2 bytes and its UTF-8.
public struct TableSchema: Sendable, Hashable {
  /// Given once, never again. Assigned by the engine.
  public internal(set) var id: UInt32 = 0
  public var name: String
  public internal(set) var columns: [Column]
  var nextColumnID: UInt16 = 1

  public init(_ name: String, columns: [Column]) {
    self.name = name
    self.columns = []
    for column in columns { add(column) }
  }

  static let maximumNameLength = 255
  /// Fixed-size bytes of a row at most.
  static let maximumRowBytes = 64 * 1024

  mutating func add(_ column: Column) {
    var column = column
    column.id = nextColumnID
    nextColumnID += 1
    columns.append(column)
  }

  public func column(_ name: String) -> Column? { columns.first { $0.name.utf8.elementsEqual(name.utf8) } }

  static func key(_ id: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: id >> (24 - 8 * UInt32($0))) }
  }

  // MARK: - Coding

  var encoded: [UInt8] {
    var bytes = Self.encoded(name)
    bytes.append(nextColumnID)
    bytes.append(UInt16(columns.count))
    for column in columns {
      bytes.append(column.id)
      bytes += [column.type.rawValue, column.isOptional ? 1 : 0]
      bytes.append(column.target)
      bytes += Self.encoded(column.name)
    }
    return bytes
  }

  private static func encoded(_ name: String) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(UInt16(name.utf8.count))
    return bytes + Array(name.utf8)
  }

  /// Nil for bytes that are no schema.
  init?(_ bytes: [UInt8], id: UInt32) {
    var reader = ByteReader(bytes)
    guard let name = reader.name(), let next = reader.integer(UInt16.self),
      let count = reader.integer(UInt16.self)
    else { return nil }
    self.id = id
    self.name = name
    nextColumnID = next
    columns = []
    for _ in 0..<count {
      guard let columnID = reader.integer(UInt16.self), let rawType = reader.integer(UInt8.self),
        let type = ColumnType(rawValue: rawType), let flags = reader.integer(UInt8.self), flags <= 1,
        let target = reader.integer(UInt32.self), let columnName = reader.name(), columnID > 0,
        columnID < next
      else { return nil }
      var column = Column(columnName, type, isOptional: flags & 1 != 0, target: target)
      column.id = columnID
      columns.append(column)
    }
    guard reader.isAtEnd, Set(columns.map(\.id)).count == columns.count else { return nil }
  }
}

/// Reads a record from bytes that may be anything.
private struct ByteReader {
  private let bytes: [UInt8]
  private var at = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  var isAtEnd: Bool { at == bytes.count }

  mutating func integer<Integer: FixedWidthInteger>(_ type: Integer.Type) -> Integer? {
    guard at + MemoryLayout<Integer>.size <= bytes.count else { return nil }
    defer { at += MemoryLayout<Integer>.size }
    return bytes.load(type, at: at)
  }

  mutating func name() -> String? {
    guard let length = integer(UInt16.self), at + Int(length) <= bytes.count else { return nil }
    defer { at += Int(length) }
    return String(validating: bytes[at..<at + Int(length)], as: UTF8.self)
  }
}

extension [UInt8] {
  fileprivate mutating func append<Integer: FixedWidthInteger>(_ value: Integer) {
    for byte in 0..<MemoryLayout<Integer>.size { append(UInt8(truncatingIfNeeded: value >> (8 * byte))) }
  }
}
