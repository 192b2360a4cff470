public import Foundation
public import RealmStorage

/// A decimal number of 34 digits, by IEEE 754-2008 (decimal128): sums of money come out to the cent.
///
/// Its exponent is -6,176 to 6,111. Results are rounded to the nearest, halves to the even digit; what is too great is infinite,
/// and what has no meaning is NaN, which equals nothing, itself included. Numbers are equal by their value, however many
/// zeros they end on: 1.5 and 1.50, 0 and -0.
public struct Decimal128: Sendable {
  let number: DecimalNumber

  init(_ number: DecimalNumber) { self.number = number }

  /// Zero.
  public init() { number = DecimalNumber(0 as Int) }

  /// A number, or a text that names one; of nil and NSNull NaN. Anything else stops the program.
  public init(value: Any) {
    if isNull(value) {
      self.init(.nan)
      return
    }
    guard let converted = Self._converted(value) else {
      raise(
        "Invalid Decimal128",
        "\(value) of type \(type(of: value)) is no decimal: give a number, or a text that names one.")
    }
    self = converted
  }

  /// A number of Foundation's; a float or double by the shortest text that names it: 0.1 is a tenth.
  public init(number: NSNumber) { self.init(DecimalNumber(of: number)) }

  /// The number that a text names: `-1.50`, `6.02E+23`, `Infinity`, `NaN`. Digits beyond 34 are rounded.
  ///
  /// - Throws: `Realm.Error.invalidInput` where the text names none.
  public init(string: String) throws {
    guard let number = DecimalNumber(parsing: string) else {
      throw Realm.Error(
        .invalidInput, "'\(string)' names no decimal: it takes digits, as in -1.50 or 6.02E+23.")
    }
    self.number = number
  }

  /// A whole number; nil of one that 34 digits and zeros behind them can't tell.
  public init?<T: BinaryInteger>(exactly source: T) {
    guard let number = DecimalNumber(parsingExactly: source.description) else { return nil }
    self.number = number
  }

  /// The least number there is, which is not infinite.
  public static var min: Decimal128 { -max }
  /// The greatest number there is, which is not infinite.
  public static var max: Decimal128 { "9.999999999999999999999999999999999E+6144" }

  // MARK: - Other forms

  /// A text that names it, the same for all equal decimals: without zeros at the end of the coefficient, and without a plus sign
  /// before the exponent. 150 is "1.5E2", 1.50 is "1.5".
  public var stringValue: String { number.shortText }
  /// The nearest double.
  public var doubleValue: Double { Double(number.text) ?? .nan }
  /// The nearest number of Foundation's, which has more digits and a smaller exponent; NaN for what has none.
  public var decimalValue: Decimal { number.isInfinite ? .nan : Decimal(string: number.text) ?? .nan }

  /// It has no value, as zero divided by zero has none.
  public var isNaN: Bool { number.isNaN }
  /// No number signals, nor does NaN: what a file holds of such is read as NaN.
  public var isSignaling: Bool { false }
  /// The same.
  public var isSignalingNaN: Bool { false }
  /// The number without its sign.
  public var magnitude: Magnitude { Decimal128(number.magnitude) }

  /// Changes the sign, of zero too.
  public mutating func negate() { self = -self }
}

extension DecimalNumber {
  fileprivate init(of number: NSNumber) {
    if let decimal = number as? NSDecimalNumber {
      self = DecimalNumber(parsing: decimal.stringValue) ?? .nan
      return
    }
    switch String(cString: number.objCType) {
    case "d": self.init(number.doubleValue)
    case "f": self.init(number.floatValue)
    case "Q": self.init(number.uint64Value)
    default: self.init(number.int64Value)
    }
  }
}

extension Decimal128: Hashable, Comparable {
  public static func == (left: Decimal128, right: Decimal128) -> Bool { left.number.order(right.number) == 0 }
  public static func < (left: Decimal128, right: Decimal128) -> Bool { left.number.order(right.number) == -1 }
  public static func <= (left: Decimal128, right: Decimal128) -> Bool {
    left.number.order(right.number).map { $0 <= 0 } ?? false
  }
  public static func > (left: Decimal128, right: Decimal128) -> Bool { right < left }
  public static func >= (left: Decimal128, right: Decimal128) -> Bool { right <= left }
  public func hash(into hasher: inout Hasher) { hasher.combine(number.canonical) }

  /// Whether it is greater than another; false where one is NaN.
  public func isGreaterThan(_ other: Decimal128) -> Bool { self > other }
  /// Whether it is greater than another, or equal; false where one is NaN.
  public func isGreaterThanOrEqual(to other: Decimal128) -> Bool { self >= other }
  /// Whether it is less than another; false where one is NaN.
  public func isLessThan(_ other: Decimal128) -> Bool { self < other }
  /// Whether it is less than another, or equal; false where one is NaN.
  public func isLessThanOrEqual(to other: Decimal128) -> Bool { self <= other }
}

extension Decimal128: SignedNumeric, Strideable {
  public typealias Magnitude = Decimal128
  public typealias Stride = Decimal128

  /// The sum, rounded to 34 digits. NaN where one is, and of infinities with different signs.
  public static func + (left: Decimal128, right: Decimal128) -> Decimal128 {
    Decimal128(left.number + right.number)
  }
  /// The difference, rounded to 34 digits. NaN where one is, and of infinities with the same sign.
  public static func - (left: Decimal128, right: Decimal128) -> Decimal128 {
    Decimal128(left.number - right.number)
  }
  /// The product, rounded to 34 digits. NaN where one is, and of zero and an infinity.
  public static func * (left: Decimal128, right: Decimal128) -> Decimal128 {
    Decimal128(left.number * right.number)
  }
  /// The quotient, rounded to 34 digits. Infinite where the divisor is zero; NaN where one is, of two zeros
  /// and of two infinities.
  public static func / (left: Decimal128, right: Decimal128) -> Decimal128 {
    Decimal128(left.number / right.number)
  }
  /// Multiplies by another, and rounds to 34 digits.
  public static func *= (left: inout Decimal128, right: Decimal128) { left = left * right }
  /// Divides by another, as `/` does.
  public static func /= (left: inout Decimal128, right: Decimal128) { left = left / right }
  /// The number with the other sign, of zero too.
  public static prefix func - (operand: Decimal128) -> Decimal128 { Decimal128(operand.number.negated) }

  /// What another has more than this, rounded to 34 digits.
  public func distance(to other: Decimal128) -> Decimal128 { other - self }
  /// The sum of this and a distance, rounded to 34 digits.
  public func advanced(by distance: Decimal128) -> Decimal128 { self + distance }

  /// The same as `+`.
  public func decimalNumber(byAdding other: Decimal128) -> Decimal128 { self + other }
  /// The same as `-`.
  public func decimalNumber(bySubtracting other: Decimal128) -> Decimal128 { self - other }
  /// The same as `*`.
  public func decimalNumberByMultiplying(by other: Decimal128) -> Decimal128 { self * other }
  /// The same as `/`.
  public func decimalNumberByDividing(by other: Decimal128) -> Decimal128 { self / other }
}

extension Decimal128: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByStringLiteral {
  /// A whole number, exactly.
  public init(integerLiteral value: Int64) { self.init(DecimalNumber(value)) }
  /// By the shortest text that names the double: 0.1 is a tenth.
  public init(floatLiteral value: Double) { self.init(DecimalNumber(value)) }
  /// A text that names no decimal stops the program.
  public init(stringLiteral value: String) {
    guard let number = DecimalNumber(parsing: value) else {
      raise(
        "Invalid Decimal128",
        "'\(value)' names no decimal: it takes digits, as in -1.50; Decimal128(string:) throws for others.")
    }
    self.number = number
  }
}

extension Decimal128: CustomStringConvertible {
  /// The same as `stringValue`.
  public var description: String { number.shortText }
}

extension Decimal128: Codable {
  /// From a text, or from a number as far as the decoder tells it.
  ///
  /// - Throws: `Realm.Error.invalidInput` where a text names none; what the decoder throws.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let text = try? container.decode(String.self) {
      try self.init(string: text)
    } else if let whole = try? container.decode(Int64.self) {
      self.init(DecimalNumber(whole))
    } else if let whole = try? container.decode(UInt64.self) {
      self.init(DecimalNumber(whole))
    } else {
      self.init(DecimalNumber(try container.decode(Double.self)))
    }
  }

  /// As a text, which keeps every digit.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(stringValue)
  }
}

extension Decimal128: _Scalar, _QueryNumeric, MinMaxType, AddableType, SortableType {
  public typealias PersistedType = Decimal128
  public static var _column: ColumnType { .decimal128 }
  public static func _initial() -> Decimal128 { Decimal128() }
  public static func _load(_ value: Value) -> Decimal128? {
    guard case .decimal128(let stored) = value else { return nil }
    return Decimal128(DecimalNumber(stored))
  }
  public var _value: Value { .decimal128(number.stored) }
  public static func _converted(_ any: Any) -> Decimal128? {
    switch any {
    case let number as Decimal128: number
    case let text as String: DecimalNumber(parsing: text).map { Decimal128($0) }
    // Before NSNumber, which they may be taken for.
    case let number as any BinaryInteger: DecimalNumber(parsing: number.description).map { Decimal128($0) }
    case let number as Decimal: DecimalNumber(parsing: number.description).map { Decimal128($0) }
    // Before numbers that Foundation knows, of which a truth value is one.
    case let number as NSNumber: isTruthValue(number) ? nil : Decimal128(number: number)
    case is Bool: nil
    case let number as Double: Decimal128(DecimalNumber(number))
    case let number as Float: Decimal128(DecimalNumber(number))
    default: nil
    }
  }
}
