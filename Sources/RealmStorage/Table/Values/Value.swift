/// A value of a column.
///
/// Two values are equal if they are stored in the same way: strings are compared by their UTF-8 bytes, floating-point numbers by
/// their bits. The ids of lists and maps are ignored.
public enum Value: Sendable {
  /// No value.
  case null
  /// A boolean.
  case bool(Bool)
  /// A whole number, whatever the width that the program gives it.
  case int(Int64)
  /// A floating-point number of 32 bits.
  case float(Float)
  /// A floating-point number of 64 bits.
  case double(Double)
  /// A text.
  case string(String)
  /// Bytes.
  case data([UInt8])
  /// A point in time.
  case date(Timestamp)
  /// An object id of 12 bytes.
  case objectID(ObjectIDBytes)
  /// A UUID of 16 bytes.
  case uuid(SixteenBytes)
  /// A decimal number: the 16 bytes of an IEEE 754-2008 decimal128, the lowest byte first.
  case decimal128(SixteenBytes)
  /// A link to a row of the column's target table, by the key of the row.
  case link(UInt64)
  /// A link in a mixed value to a row of any table, by the id of the table and the key of the row.
  case typedLink(table: UInt32, row: UInt64)
  /// The elements of a list in order, those of a set in the order of `Value.set(_:)`, or those of a list that is part of a mixed
  /// value.
  ///
  /// A list that was read as part of a mixed value has an id, by which it is found even if the collections around it change: see
  /// `NestedPlace`. Other lists have the id 0. The writer gives each list that it stores as part of a mixed value a new id.
  case list([Value], id: UInt64 = 0)
  /// The values of a map by their keys: of a column of maps, or as part of a mixed value. The id is as with lists.
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
    // Values of different types differ, even if they have the same bits.
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

/// A point in time: whole seconds since 1970, and nanoseconds after them.
public struct Timestamp: Sendable, Hashable, Comparable {
  /// The whole seconds since the beginning of 1970; negative before that.
  public var seconds: Int64
  /// The nanoseconds after the whole seconds, in 0..<1,000,000,000.
  public internal(set) var nanoseconds: Int32

  static let nanosecondRange: Range<Int64> = 0..<1_000_000_000

  /// Makes a point in time.
  ///
  /// - Precondition: `nanoseconds` is in 0..<1,000,000,000. Otherwise the program stops.
  public init(seconds: Int64, nanoseconds: Int32 = 0) {
    precondition(
      Self.nanosecondRange.contains(Int64(nanoseconds)), "Timestamp: nanoseconds are 0 to 999,999,999")
    self.seconds = seconds
    self.nanoseconds = nanoseconds
  }

  /// Whether the first point in time is earlier.
  public static func < (left: Timestamp, right: Timestamp) -> Bool {
    (left.seconds, left.nanoseconds) < (right.seconds, right.nanoseconds)
  }
}

/// The 12 bytes of an object id.
public struct ObjectIDBytes: Sendable, Hashable {
  /// The first 8 bytes; the first of them is the highest byte of the number.
  public let high: UInt64
  /// The last 4 bytes, in the same order.
  public let low: UInt32

  /// Makes an id of two numbers.
  public init(high: UInt64, low: UInt32) {
    self.high = high
    self.low = low
  }

  /// Makes an id of its bytes.
  ///
  /// - Precondition: there are 12 bytes. Otherwise the program stops.
  public init(_ bytes: [UInt8]) {
    precondition(bytes.count == 12, "an object id has 12 bytes")
    self.init(number: bytes.reduce(0) { $0 << 8 | UInt128($1) })
  }

  /// The 12 bytes, in order.
  public var bytes: [UInt8] { (0..<12).map { UInt8(truncatingIfNeeded: number >> UInt128(88 - 8 * $0)) } }

  init(number: UInt128) {
    self.init(high: UInt64(truncatingIfNeeded: number >> 32), low: UInt32(truncatingIfNeeded: number))
  }

  /// The number of the 12 bytes, the first of which is the highest.
  var number: UInt128 { UInt128(high) << 32 | UInt128(low) }
}

/// The 16 bytes of a UUID or a decimal.
public struct SixteenBytes: Sendable, Hashable {
  /// The first 8 bytes; the first of them is the highest byte of the number.
  public let high: UInt64
  /// The last 8 bytes, in the same order.
  public let low: UInt64

  /// Makes a value of two numbers.
  public init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// Makes a value of its bytes.
  ///
  /// - Precondition: there are 16 bytes. Otherwise the program stops.
  public init(_ bytes: [UInt8]) {
    precondition(bytes.count == 16, "there are 16 bytes")
    self.init(number: bytes.reduce(0) { $0 << 8 | UInt128($1) })
  }

  /// The 16 bytes, in order.
  public var bytes: [UInt8] { (0..<16).map { UInt8(truncatingIfNeeded: number >> UInt128(120 - 8 * $0)) } }

  init(number: UInt128) {
    self.init(high: UInt64(truncatingIfNeeded: number >> 64), low: UInt64(truncatingIfNeeded: number))
  }

  /// The number of the 16 bytes, the first of which is the highest.
  var number: UInt128 { UInt128(high) << 64 | UInt128(low) }
}
