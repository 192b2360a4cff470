/// A value of a column.
///
/// Two are equal when they are stored alike: strings by their UTF-8 bytes, floating-point numbers by their bits. The ids of
/// lists and maps do not count.
public enum Value: Sendable {
  case null
  case bool(Bool)
  /// Of every integer column, whatever its width.
  case int(Int64)
  case float(Float)
  case double(Double)
  case string(String)
  case data([UInt8])
  case date(Timestamp)
  case objectID(ObjectIDBytes)
  case uuid(SixteenBytes)
  /// IEEE 754-2008 decimal128, as its 16 bytes, lowest first.
  case decimal128(SixteenBytes)
  /// A row of the column's target table, by its key.
  case link(UInt64)
  /// A row of any table, by the table's id and its key: in mixed columns.
  case typedLink(table: UInt32, row: UInt64)
  /// Of a column of lists, in order; of sets, in the order that `Value.set(_:)` gives; or in a mixed value.
  ///
  /// A list that is read from a mixed value has an id, by which it is found however the collections around it change:
  /// see `NestedPlace`. Others have 0, and a writer gives what it stores an id of its own.
  case list([Value], id: UInt64 = 0)
  /// Of a column of maps, or in a mixed value; the id is as of lists.
  indirect case map(ValueMap, id: UInt64 = 0)
}

extension Value: Hashable {
  public static func == (left: Value, right: Value) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.bool(let left), .bool(let right)): left == right
    case (.int(let left), .int(let right)): left == right
    case (.float(let left), .float(let right)): left.bitPattern == right.bitPattern
    case (.double(let left), .double(let right)): left.bitPattern == right.bitPattern
    case (.string(let left), .string(let right)): left.utf8.elementsEqual(right.utf8)
    case (.data(let left), .data(let right)): left == right
    case (.date(let left), .date(let right)): left == right
    case (.objectID(let left), .objectID(let right)): left == right
    case (.uuid(let left), .uuid(let right)): left == right
    case (.decimal128(let left), .decimal128(let right)): left == right
    case (.link(let left), .link(let right)): left == right
    case (.typedLink(let left, let leftRow), .typedLink(let right, let rightRow)):
      left == right && leftRow == rightRow
    case (.list(let left, _), .list(let right, _)): left == right
    case (.map(let left, _), .map(let right, _)): left == right
    default: false
    }
  }

  public func hash(into hasher: inout Hasher) {
    // Values of different types differ, also where they have the same bits.
    hasher.combine(kindNumber)
    switch self {
    case .null: break
    case .bool(let flag): hasher.combine(flag)
    case .int(let number): hasher.combine(number)
    case .float(let number): hasher.combine(number.bitPattern)
    case .double(let number): hasher.combine(number.bitPattern)
    case .string(let text): hasher.combine(Array(text.utf8))
    case .data(let bytes): hasher.combine(bytes)
    case .date(let date): hasher.combine(date)
    case .objectID(let id): hasher.combine(id)
    case .uuid(let id), .decimal128(let id): hasher.combine(id)
    case .link(let row): hasher.combine(row)
    case .typedLink(let table, let row):
      hasher.combine(table)
      hasher.combine(row)
    case .list(let elements, _): hasher.combine(elements)
    case .map(let map, _): hasher.combine(map)
    }
  }

  private var kindNumber: UInt8 {
    switch self {
    case .null: 0
    case .bool: 1
    case .int: 2
    case .float: 3
    case .double: 4
    case .string: 5
    case .data: 6
    case .date: 7
    case .objectID: 8
    case .uuid: 9
    case .decimal128: 10
    case .link: 11
    case .typedLink: 12
    case .list: 13
    case .map: 14
    }
  }
}

/// A moment: whole seconds since 1970, and nanoseconds after them.
public struct Timestamp: Sendable, Hashable, Comparable {
  public var seconds: Int64
  /// 0..<1,000,000,000.
  public internal(set) var nanoseconds: Int32

  static let nanosecondRange: Range<Int64> = 0..<1_000_000_000

  /// - Precondition: `nanoseconds` is in its range.
  public init(seconds: Int64, nanoseconds: Int32 = 0) {
    precondition(
      Self.nanosecondRange.contains(Int64(nanoseconds)), "Timestamp: nanoseconds are 0 to 999,999,999")
    self.seconds = seconds
    self.nanoseconds = nanoseconds
  }

  public static func < (left: Timestamp, right: Timestamp) -> Bool {
    (left.seconds, left.nanoseconds) < (right.seconds, right.nanoseconds)
  }
}

/// The 12 bytes of an object id.
public struct ObjectIDBytes: Sendable, Hashable {
  /// The first 8, of which the first is the highest.
  public let high: UInt64
  /// The last 4, in the same order.
  public let low: UInt32

  public init(high: UInt64, low: UInt32) {
    self.high = high
    self.low = low
  }

  /// - Precondition: there are 12.
  public init(_ bytes: [UInt8]) {
    precondition(bytes.count == 12, "an object id has 12 bytes")
    self.init(number: bytes.reduce(0) { $0 << 8 | UInt128($1) })
  }

  public var bytes: [UInt8] { (0..<12).map { UInt8(truncatingIfNeeded: number >> UInt128(88 - 8 * $0)) } }

  init(number: UInt128) {
    self.init(high: UInt64(truncatingIfNeeded: number >> 32), low: UInt32(truncatingIfNeeded: number))
  }

  /// The number that the bytes make, the first the highest.
  var number: UInt128 { UInt128(high) << 32 | UInt128(low) }
}

/// The 16 bytes of a UUID or a decimal.
public struct SixteenBytes: Sendable, Hashable {
  /// The first 8, of which the first is the highest.
  public let high: UInt64
  /// The last 8, in the same order.
  public let low: UInt64

  public init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// - Precondition: there are 16.
  public init(_ bytes: [UInt8]) {
    precondition(bytes.count == 16, "there are 16 bytes")
    self.init(number: bytes.reduce(0) { $0 << 8 | UInt128($1) })
  }

  public var bytes: [UInt8] { (0..<16).map { UInt8(truncatingIfNeeded: number >> UInt128(120 - 8 * $0)) } }

  init(number: UInt128) {
    self.init(high: UInt64(truncatingIfNeeded: number >> 64), low: UInt64(truncatingIfNeeded: number))
  }

  /// The number that the bytes make, the first the highest.
  var number: UInt128 { UInt128(high) << 64 | UInt128(low) }
}
