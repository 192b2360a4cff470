/// The rules by which values are compared in queries, sorted, and found equal in a set.
///
/// Numbers of all types are compared by their values. A whole number or decimal has its exact value. A float is
/// compared as the double that equals it. If a double that is not a whole number of 64 bits is compared with a decimal,
/// it counts as the decimal that its shortest text names: 0.1 is a tenth. So all numbers have one order, in which two
/// numbers that equal a third are equal.
package enum ValueOrder {
  /// Returns -1, 0 or 1 if the left value is less than, equal to or greater than the right one; nil if the two do not
  /// compare. A null compares with no value, not even with null.
  static func compare(_ left: Value, _ right: Value) -> Int? {
    switch (left, right) {
    case (.bool(let left), .bool(let right)): order(left ? 1 : 0, right ? 1 : 0)
    case (.int(let left), .int(let right)): order(left, right)
    case (.date(let left), .date(let right)): order(left, right)
    case (.string(let left), .string(let right)): order(left.utf8, right.utf8)
    case (.data(let left), .data(let right)): order(left, right)
    case (.objectID(let left), .objectID(let right)): order(left.bytes, right.bytes)
    case (.uuid(let left), .uuid(let right)): order(left.bytes, right.bytes)
    case (.link(let left), .link(let right)): left == right ? 0 : nil
    case (.typedLink, .typedLink), (.list, .list), (.map, .map): left == right ? 0 : nil
    case (.float(let left), .float(let right)): order(Double(left), Double(right))
    case (.double(let left), .double(let right)): order(left, right)
    case (.float(let left), .double(let right)): order(Double(left), right)
    case (.double(let left), .float(let right)): order(left, Double(right))
    case (.int(let left), .float(let right)): order(left, Double(right))
    case (.int(let left), .double(let right)): order(left, right)
    case (.float(let left), .int(let right)): order(right, Double(left)).map { -$0 }
    case (.double(let left), .int(let right)): order(right, left).map { -$0 }
    case (.decimal128(let left), _):
      DecimalNumber(right).flatMap { DecimalNumber(left).order($0) }
    case (_, .decimal128(let right)):
      DecimalNumber(left).flatMap { $0.order(DecimalNumber(right)) }
    default: nil
    }
  }

  /// Whether the two values are equal in a query. Null equals null; NaN does not equal itself.
  package static func areEqual(_ left: Value, _ right: Value) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    default: compare(left, right) == 0
    }
  }

  private static func order<Number: Comparable>(_ left: Number, _ right: Number) -> Int {
    left < right ? -1 : left == right ? 0 : 1
  }

  static func order(_ left: Double, _ right: Double) -> Int? {
    left < right ? -1 : left == right ? 0 : left > right ? 1 : nil
  }

  /// Compares without rounding.
  static func order(_ left: Int64, _ right: Double) -> Int? {
    if right.isNaN { return nil }
    if right >= 0x1p63 { return -1 }
    if right < -0x1p63 { return 1 }
    let whole = right.rounded(.down)
    let order = order(left, Int64(whole))
    return order == 0 && right > whole ? -1 : order
  }

  private static func order<Bytes: Sequence<UInt8>>(_ left: Bytes, _ right: Bytes) -> Int {
    var (left, right) = (left.makeIterator(), right.makeIterator())
    while true {
      switch (left.next(), right.next()) {
      case (nil, nil): return 0
      case (nil, _): return -1
      case (_, nil): return 1
      case (let left?, let right?): if left != right { return left < right ? -1 : 1 }
      }
    }
  }
}

extension ValueOrder {
  /// The order of sorts, which all values of a column have: null, then NaN, then the values that compare. In a
  /// mixed column booleans come after null, before NaN; then numbers, strings, data, dates, object ids, UUIDs,
  /// links, lists and maps.
  static func sort(_ left: Value, _ right: Value) -> Int {
    let (leftRank, rightRank) = (rank(left), rank(right))
    guard leftRank == rightRank else { return leftRank < rightRank ? -1 : 1 }
    return within(left, right)
  }

  /// Whether the elements are in the order of a set: each is greater than the one before.
  static func isSet(_ elements: [Value]) -> Bool {
    zip(elements, elements.dropFirst()).allSatisfy { sort($0, $1) < 0 }
  }

  /// The places of the types in sorts. Indexes of mixed values store these numbers, so never renumber them.
  enum Rank {
    static let null: UInt8 = 0
    static let bool: UInt8 = 1
    static let nan: UInt8 = 2
    static let number: UInt8 = 3
    static let string: UInt8 = 4
    static let data: UInt8 = 5
    static let date: UInt8 = 6
    static let objectID: UInt8 = 7
    static let uuid: UInt8 = 8
    static let link: UInt8 = 9
    static let list: UInt8 = 10
    static let map: UInt8 = 11
  }

  static func rank(_ value: Value) -> UInt8 {
    switch value {
    case .null: Rank.null
    case .bool: Rank.bool
    case .float(let number): number.isNaN ? Rank.nan : Rank.number
    case .double(let number): number.isNaN ? Rank.nan : Rank.number
    case .decimal128(let stored): DecimalNumber(stored).isNaN ? Rank.nan : Rank.number
    case .int: Rank.number
    case .string: Rank.string
    case .data: Rank.data
    case .date: Rank.date
    case .objectID: Rank.objectID
    case .uuid: Rank.uuid
    case .link, .typedLink: Rank.link
    case .list: Rank.list
    case .map: Rank.map
    }
  }

  /// The order of two values of one rank.
  private static func within(_ left: Value, _ right: Value) -> Int {
    switch (left, right) {
    case (.link(let left), .link(let right)): order(left, right)
    case (.typedLink(let left, let leftRow), .typedLink(let right, let rightRow)):
      left == right ? order(leftRow, rightRow) : order(left, right)
    case (.list(let left, _), .list(let right, _)): order(left, right)
    case (.map(let left, _), .map(let right, _)):
      switch order(left.keys.map { .string($0) }, right.keys.map { .string($0) }) {
      case 0: order(left.values, right.values)
      case let keys: keys
      }
    default: compare(left, right) ?? 0
    }
  }

  private static func order(_ left: [Value], _ right: [Value]) -> Int {
    for (left, right) in zip(left, right) {
      let order = sort(left, right)
      if order != 0 { return order }
    }
    return order(left.count, right.count)
  }
}
