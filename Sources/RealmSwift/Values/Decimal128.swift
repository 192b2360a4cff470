public import Foundation
public import RealmStorage

/// A decimal number of 34 digits, by IEEE 754-2008 (decimal128). Sums of amounts of money are exact to the cent.
///
/// The exponent of the 34-digit coefficient is -6,176 to 6,111. A result is rounded to the nearest number, and a tie to the
/// even digit. A result that is too large is infinite. A result without a meaning is NaN, which equals nothing, not even
/// itself. Numbers are equal if their values are, whatever the number of zeros at their ends: 1.5 equals 1.50, and 0 equals
/// -0.
public struct Decimal128: Sendable {
  let number: DecimalNumber

  init(_ number: DecimalNumber) { self.number = number }

  /// Makes zero.
  public init() { number = DecimalNumber(0 as Int) }

  /// Makes the number of a value.
  ///
  /// - Parameter value: a number, or a text that names one. Nil and NSNull become NaN. Anything else stops the program, and
  ///   so do a text that names no number and a truth value.
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

  /// Makes the value of a Foundation number. A float or double is taken by the shortest text that names it, so 0.1 becomes a
  /// tenth.
  public init(number: NSNumber) { self.init(DecimalNumber(of: number)) }

  /// Makes the number that a text names, such as `-1.50`, `6.02E+23`, `Infinity` or `NaN`. Digits beyond 34 are rounded.
  ///
  /// - Throws: `Realm.Error.invalidInput` if the text names no number.
  public init(string: String) throws {
    guard let number = DecimalNumber(parsing: string) else {
      throw Realm.Error(
        .invalidInput, "'\(string)' names no decimal: it takes digits, as in -1.50 or 6.02E+23.")
    }
    self.number = number
  }

  /// Makes the value of a whole number; nil if 34 digits with zeros behind them can't represent it exactly.
  public init?<T: BinaryInteger>(exactly source: T) {
    guard let number = DecimalNumber(parsingExactly: source.description) else { return nil }
    self.number = number
  }

  /// The least finite number, `-max`.
  public static var min: Decimal128 { -max }
  /// The greatest finite number.
  public static var max: Decimal128 { "9.999999999999999999999999999999999E+6144" }

  // MARK: - Other forms

  /// A text that names the number. Equal numbers have the same text: the coefficient has no zeros at its end, and the
  /// exponent no plus sign. 1.50 is "1.5", and 150 is "1.5E2".
  public var stringValue: String { number.shortText }
  /// The nearest double.
  public var doubleValue: Double { Double(number.text) ?? .nan }
  /// The nearest `Decimal` of Foundation; NaN if there is none. `Decimal` has more digits and a smaller range of exponents.
  public var decimalValue: Decimal { number.isInfinite ? .nan : Decimal(string: number.text) ?? .nan }

  /// Whether it is NaN, as the result of zero divided by zero is.
  public var isNaN: Bool { number.isNaN }
  /// Whether it is a signaling NaN. It is always false: a signaling NaN of a file is read as a quiet one.
  public var isSignaling: Bool { false }
  /// Whether it is a signaling NaN. It is always false.
  public var isSignalingNaN: Bool { false }
  /// The absolute value.
  public var magnitude: Magnitude { Decimal128(number.magnitude) }

  /// Changes the sign, also of zero.
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
  /// Whether the values are equal; false if one is NaN.
  public static func == (left: Decimal128, right: Decimal128) -> Bool { left.number.order(right.number) == 0 }
  /// Whether the left value is less; false if one is NaN.
  public static func < (left: Decimal128, right: Decimal128) -> Bool { left.number.order(right.number) == -1 }
  /// Whether the left value is less or equal; false if one is NaN.
  public static func <= (left: Decimal128, right: Decimal128) -> Bool {
    left.number.order(right.number).map { $0 <= 0 } ?? false
  }
  /// Whether the left value is greater; false if one is NaN.
  public static func > (left: Decimal128, right: Decimal128) -> Bool { right < left }
  /// Whether the left value is greater or equal; false if one is NaN.
  public static func >= (left: Decimal128, right: Decimal128) -> Bool { right <= left }
  /// Adds the value to the hasher; equal numbers have equal hashes.
  public func hash(into hasher: inout Hasher) { hasher.combine(number.canonical) }

  /// Whether it is greater than another number; false if one is NaN.
  public func isGreaterThan(_ other: Decimal128) -> Bool { self > other }
  /// Whether it is greater than another number or equal to it; false if one is NaN.
  public func isGreaterThanOrEqual(to other: Decimal128) -> Bool { self >= other }
  /// Whether it is less than another number; false if one is NaN.
  public func isLessThan(_ other: Decimal128) -> Bool { self < other }
  /// Whether it is less than another number or equal to it; false if one is NaN.
  public func isLessThanOrEqual(to other: Decimal128) -> Bool { self <= other }
}

extension Decimal128: SignedNumeric, Strideable {
  public typealias Magnitude = Decimal128
  public typealias Stride = Decimal128

  /// The sum, rounded to 34 digits. It is NaN if one number is NaN, and for infinities with different signs.
  public static func + (left: Decimal128, right: Decimal128) -> Decimal128 {
    Decimal128(left.number + right.number)
  }
  /// The difference, rounded to 34 digits. It is NaN if one number is NaN, and for infinities with the same sign.
  public static func - (left: Decimal128, right: Decimal128) -> Decimal128 {
    Decimal128(left.number - right.number)
  }
  /// The product, rounded to 34 digits. It is NaN if one number is NaN, and for zero and an infinity.
  public static func * (left: Decimal128, right: Decimal128) -> Decimal128 {
    Decimal128(left.number * right.number)
  }
  /// The quotient, rounded to 34 digits. It is infinite if a number other than zero is divided by zero. It is NaN if one
  /// number is NaN, for two zeros and for two infinities.
  public static func / (left: Decimal128, right: Decimal128) -> Decimal128 {
    Decimal128(left.number / right.number)
  }
  /// Multiplies the left number by the right one, as `*` does.
  public static func *= (left: inout Decimal128, right: Decimal128) { left = left * right }
  /// Divides the left number by the right one, as `/` does.
  public static func /= (left: inout Decimal128, right: Decimal128) { left = left / right }
  /// The number with the opposite sign, also for zero.
  public static prefix func - (operand: Decimal128) -> Decimal128 { Decimal128(operand.number.negated) }

  /// The difference `other - self`, rounded to 34 digits.
  public func distance(to other: Decimal128) -> Decimal128 { other - self }
  /// The sum of this number and a distance, rounded to 34 digits.
  public func advanced(by distance: Decimal128) -> Decimal128 { self + distance }

  /// The sum, as `+` computes it.
  public func decimalNumber(byAdding other: Decimal128) -> Decimal128 { self + other }
  /// The difference, as `-` computes it.
  public func decimalNumber(bySubtracting other: Decimal128) -> Decimal128 { self - other }
  /// The product, as `*` computes it.
  public func decimalNumberByMultiplying(by other: Decimal128) -> Decimal128 { self * other }
  /// The quotient, as `/` computes it.
  public func decimalNumberByDividing(by other: Decimal128) -> Decimal128 { self / other }
}

extension Decimal128: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByStringLiteral {
  /// Makes the exact value of a whole number.
  public init(integerLiteral value: Int64) { self.init(DecimalNumber(value)) }
  /// Makes the number that the shortest text of the double names, so 0.1 becomes a tenth.
  public init(floatLiteral value: Double) { self.init(DecimalNumber(value)) }
  /// Makes the number that a text names. A text that names no number stops the program; `init(string:)` throws instead.
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
  /// The same text as `stringValue`.
  public var description: String { number.shortText }
}

extension Decimal128: Codable {
  /// Decodes a number from a text, or from an encoded number with the precision that the decoder gives.
  ///
  /// - Throws: `Realm.Error.invalidInput` if a text names no number; what the decoder throws.
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

  /// Encodes the number as its `stringValue`, which keeps every digit.
  ///
  /// - Throws: what the encoder throws.
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
    // Whole numbers and `Decimal` come before NSNumber, which a cast may take them for.
    case let number as any BinaryInteger: DecimalNumber(parsing: number.description).map { Decimal128($0) }
    case let number as Decimal: DecimalNumber(parsing: number.description).map { Decimal128($0) }
    // NSNumber comes before the number types, because a truth value would pass for a number.
    case let number as NSNumber: isTruthValue(number) ? nil : Decimal128(number: number)
    case is Bool: nil
    case let number as Double: Decimal128(DecimalNumber(number))
    case let number as Float: Decimal128(DecimalNumber(number))
    default: nil
    }
  }
}
