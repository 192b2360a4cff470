/// The values of a column's type in their order, each with a number. The values for which a comparison holds are then a
/// range of numbers, whatever the type of the constant is.
struct OrderedDomain {
  typealias Range = ClosedRange<UInt128>

  let type: ColumnType

  /// Makes a domain; nil for types whose values are not compared by number.
  init?(_ type: ColumnType) {
    switch type {
    case .string, .data, .decimal128: return nil
    default: self.type = type
    }
  }

  private var range: Range {
    switch type {
    case .bool: 0...1
    case .int64: 0...UInt128(UInt64.max)
    case .link: 0...UInt128(Int64.max)
    case .float: UInt128((-Float.infinity).order)...UInt128(Float.infinity.order)
    case .double: UInt128((-Double.infinity).order)...UInt128(Double.infinity.order)
    case .date: Self.number(of: Timestamp(seconds: .min))...Self.number(of: Self.lastDate)
    case .objectID: 0...(1 << 96 - 1)
    default: 0...UInt128.max
    }
  }

  private static let lastDate = Timestamp(seconds: .max, nanoseconds: 999_999_999)

  func value(_ number: UInt128) -> Value {
    switch type {
    case .bool: .bool(number != 0)
    case .int64: .int(Self.integer(number))
    case .link: .link(UInt64(number))
    case .float: .float(Float(order: UInt32(number)))
    case .double: .double(Double(order: UInt64(number)))
    case .date: .date(Self.date(number))
    case .objectID: .objectID(ObjectIDBytes(number: number))
    default: .uuid(SixteenBytes(number: number))
    }
  }

  // MARK: - Numbers of values

  static func integer(_ number: UInt128) -> Int64 {
    Int64(bitPattern: UInt64(truncatingIfNeeded: number) ^ 1 << 63)
  }

  static func number(of integer: Int64) -> UInt128 { UInt128(UInt64(bitPattern: integer) ^ 1 << 63) }

  static func date(_ number: UInt128) -> Timestamp {
    let (seconds, rest) = number.quotientAndRemainder(dividingBy: 1_000_000_000)
    return Timestamp(seconds: integer(seconds), nanoseconds: Int32(rest))
  }

  static func number(of date: Timestamp) -> UInt128 {
    number(of: date.seconds) * 1_000_000_000 + UInt128(date.nanoseconds)
  }

  private static func bytes(_ number: UInt128, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: number >> UInt128(8 * (count - 1 - $0))) }
  }

  static func number(of bytes: [UInt8]) -> UInt128 { bytes.reduce(0) { $0 << 8 | UInt128($1) } }

  /// The number of a value; nil for values of other types, for NaN, and for floating-point zero, which has two forms.
  private func number(of value: Value) -> UInt128? {
    switch (type, value) {
    case (.bool, .bool(let flag)): flag ? 1 : 0
    case (.int64, .int(let number)): Self.number(of: number)
    case (.link, .link(let key)): key <= UInt64(Int64.max) ? UInt128(key) : nil
    case (.float, .float(let number)): number.isNaN || number == 0 ? nil : UInt128(number.order)
    case (.double, .double(let number)): number.isNaN || number == 0 ? nil : UInt128(number.order)
    case (.date, .date(let date)): Self.number(of: date)
    case (.objectID, .objectID(let id)): id.number
    case (.uuid, .uuid(let id)): id.number
    default: nil
    }
  }

  // MARK: - Conditions

  /// The numbers of the values for which a comparison with a constant holds; for `notEqual`, of the values for which it
  /// does not hold. It is nil if there are none, or if the values do not compare with the constant.
  func range(_ comparison: Comparison, _ constant: Value) -> Range? {
    var (least, next): (UInt128?, UInt128?)
    if let number = number(of: constant) {
      (least, next) = (number, number < range.upperBound ? number + 1 : nil)
    } else {
      guard ValueOrder.compare(value(range.lowerBound), constant) != nil else { return nil }
      (least, next) = (first(constant) { $0 >= 0 }, first(constant) { $0 > 0 })
    }
    if type == .link {
      return comparison == .less || comparison == .greater ? nil : Self.range(from: least, below: next, range)
    }
    return switch comparison {
    case .equal, .notEqual: Self.range(from: least, below: next, range)
    case .less: Self.range(from: range.lowerBound, below: least, range)
    case .lessOrEqual: Self.range(from: range.lowerBound, below: next, range)
    case .greater: Self.range(from: next, below: nil, range)
    case .greaterOrEqual: Self.range(from: least, below: nil, range)
    }
  }

  func range(from low: Value, through high: Value) -> Range? {
    guard let from = range(.greaterOrEqual, low), let through = range(.lessOrEqual, high) else { return nil }
    let (first, last) = (
      max(from.lowerBound, through.lowerBound), min(from.upperBound, through.upperBound)
    )
    return first <= last ? first...last : nil
  }

  /// The first number whose value has an order against the constant for which `holds` is true; nil if there is none.
  private func first(_ constant: Value, where holds: (Int) -> Bool) -> UInt128? {
    func passes(_ number: UInt128) -> Bool { ValueOrder.compare(value(number), constant).map(holds) ?? false }
    var (low, high) = (range.lowerBound, range.upperBound)
    guard passes(high) else { return nil }
    while low < high {
      let middle = low + (high - low) / 2
      if passes(middle) { high = middle } else { low = middle + 1 }
    }
    return low
  }

  private static func range(from first: UInt128?, below end: UInt128?, _ all: Range) -> Range? {
    guard let first else { return nil }
    guard let end else { return first...all.upperBound }
    return first < end ? first...(end - 1) : nil
  }

  /// The numbers of the values that a test finds, and whether exactly the other values pass.
  ///
  /// - Precondition: the test is not a test of texts or of counts.
  func solve(_ test: ValueTest) -> (ranges: [Range], isNegated: Bool) {
    switch test {
    case .compare(let comparison, let constant):
      (range(comparison, constant).map { [$0] } ?? [], comparison == .notEqual)
    case .isIn(let constants): (Self.merged(constants.compactMap { range(.equal, $0) }), false)
    case .between(let low, let high): (range(from: low, through: high).map { [$0] } ?? [], false)
    case .text, .count, .isAmong, .isFolded: ([], false)
    }
  }

  /// The ranges in order. Ranges that touch are joined.
  private static func merged(_ ranges: [Range]) -> [Range] {
    var merged: [Range] = []
    for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      guard let last = merged.last,
        range.lowerBound <= last.upperBound || range.lowerBound == last.upperBound &+ 1
      else {
        merged.append(range)
        continue
      }
      merged[merged.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
    }
    return merged
  }
}

extension Double {
  /// An integer that grows with the number.
  var order: UInt64 { bitPattern >> 63 == 0 ? bitPattern | 1 << 63 : ~bitPattern }
  init(order: UInt64) { self.init(bitPattern: order >> 63 == 0 ? ~order : order ^ 1 << 63) }
}

extension Float {
  /// An integer that grows with the number.
  var order: UInt32 { bitPattern >> 31 == 0 ? bitPattern | 1 << 31 : ~bitPattern }
  init(order: UInt32) { self.init(bitPattern: order >> 31 == 0 ? ~order : order ^ 1 << 31) }
}
