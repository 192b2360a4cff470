import RealmStorage

/// The comparison of values in filters. It is the comparison of queries, except that null has no order.
enum FilterOrder {
  /// The order of two values: -1 for less, 0 for equal, 1 for greater; nil if the values have no order.
  static func order(_ left: Value, _ right: Value) -> Int? {
    switch (left, right) {
    case (.bool(let left), .bool(let right)): order(left ? 1 : 0, right ? 1 : 0)
    case (.int(let left), .int(let right)): order(left, right)
    case (.date(let left), .date(let right)): order(left, right)
    case (.string(let left), .string(let right)): order(left.utf8, right.utf8)
    case (.data(let left), .data(let right)): order(left, right)
    case (.objectID(let left), .objectID(let right)): order(left.bytes, right.bytes)
    case (.uuid(let left), .uuid(let right)): order(left.bytes, right.bytes)
    default: orderOfNumbers(left, right)
    }
  }

  /// Whether a value has an order with any values.
  static func isOrdered(_ value: Value) -> Bool { order(value, value) != nil }

  private static func orderOfNumbers(_ left: Value, _ right: Value) -> Int? {
    if let left = binary(left), let right = binary(right) {
      return left < right ? -1 : left == right ? 0 : left > right ? 1 : nil
    }
    guard let left = decimal(left), let right = decimal(right) else { return nil }
    return left.order(right)
  }

  private static func binary(_ value: Value) -> Double? {
    switch value {
    case .float(let number): Double(number)
    case .double(let number): number
    default: nil
    }
  }

  /// The decimal that stands for a number when numbers of different types are compared; see `ValueOrder`.
  private static func decimal(_ value: Value) -> DecimalNumber? {
    switch value {
    case .int(let number): return DecimalNumber(number)
    case .decimal128(let stored): return DecimalNumber(stored)
    default:
      guard let number = binary(value) else { return nil }
      return Int64(exactly: number).map { DecimalNumber($0) } ?? DecimalNumber(number)
    }
  }

  private static func order<Ordered: Comparable>(_ left: Ordered, _ right: Ordered) -> Int {
    left < right ? -1 : left == right ? 0 : 1
  }

  private static func order<Bytes: Sequence<UInt8>>(_ left: Bytes, _ right: Bytes) -> Int {
    if left.lexicographicallyPrecedes(right) { return -1 }
    return right.lexicographicallyPrecedes(left) ? 1 : 0
  }

  // MARK: - Keys

  /// The key of a value. It is the same for all values that filters take for equal, and different for others; nil for a
  /// value that equals nothing.
  static func key(_ value: Value) -> Value? {
    guard let number = decimal(value) else { return value }
    return number.isNaN ? nil : .decimal128(number.canonical)
  }

  // MARK: - Texts

  /// Whether a condition holds for two texts; false for other values.
  static func texts(_ left: Value, _ right: Value, _ holds: (String.UTF8View, String.UTF8View) -> Bool)
    -> Bool
  {
    guard case .string(let left) = left, case .string(let right) = right else { return false }
    return holds(left.utf8, right.utf8)
  }

  /// Whether a text contains the bytes of another one. It takes time in proportion to the lengths of both, whatever
  /// they contain (the algorithm of Knuth, Morris and Pratt).
  static func contains(_ text: String.UTF8View, _ part: String.UTF8View) -> Bool {
    let part = Array(part)
    guard !part.isEmpty else { return true }
    guard part.count <= text.count else { return false }
    // For each number of bytes that were found, how many of the last of them begin the part again.
    var again = [0]
    var found = 0
    for place in part.indices.dropFirst() {
      while found > 0, part[place] != part[found] { found = again[found - 1] }
      if part[place] == part[found] { found += 1 }
      again.append(found)
    }
    found = 0
    for byte in text {
      while found > 0, byte != part[found] { found = again[found - 1] }
      if byte == part[found] { found += 1 }
      if found == part.count { return true }
    }
    return false
  }
}
