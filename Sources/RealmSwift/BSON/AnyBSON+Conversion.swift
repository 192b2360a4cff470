import Foundation
import RealmStorage

extension AnyBSON {
  /// The value as an `Int`. Numbers of every type are converted; nil if the value is not a number, has a fraction, or does not
  /// fit an `Int`.
  public func asInt() -> Int? { asInt64().flatMap { Int(exactly: $0) } }

  /// The value as an `Int32`. Numbers of every type are converted; nil if the value is not a number, has a fraction, or does not
  /// fit 32 bits.
  public func asInt32() -> Int32? { asInt64().flatMap { Int32(exactly: $0) } }

  /// The value as an `Int64`. Numbers of every type are converted; nil if the value is not a number, has a fraction, or does not
  /// fit 64 bits.
  public func asInt64() -> Int64? {
    switch self {
    case .int32(let number): Int64(number)
    case .int64(let number): number
    case .double(let number): Int64(exactly: number)
    case .decimal128(let number): number.whole
    default: nil
    }
  }

  /// The value as a `Double`. Numbers of every type are converted; nil if the value is not a number, or if no double equals it.
  ///
  /// A double equals the decimal that its shortest text shows: the decimal 0.1 becomes the double 0.1.
  public func asDouble() -> Double? {
    switch self {
    case .int32(let number): return Double(number)
    case .int64(let number): return Double(exactly: number)
    case .double(let number): return number
    case .decimal128(let number):
      let double = number.doubleValue
      return number.isNaN || Decimal128(equalTo: double) == number ? double : nil
    default: return nil
    }
  }

  /// The value as a `Decimal128`. Numbers of every type are converted; nil if the value is not a number.
  ///
  /// A double becomes the decimal that its shortest text shows: the double 0.1 becomes a tenth. A double that is a whole number
  /// of 64 bits becomes that number.
  public func asDecimal128() -> Decimal128? {
    switch self {
    case .int32(let number): Decimal128(DecimalNumber(number))
    case .int64(let number): Decimal128(DecimalNumber(number))
    case .double(let number): Decimal128(equalTo: number)
    case .decimal128(let number): number
    default: nil
    }
  }

  /// The content as the requested type; nil if it has another type.
  ///
  /// An `int32` or `int64` can be requested as an `Int`, a `datetime` or `timestamp` as a `Date`, and `null` as `NSNull`. Other
  /// numbers are not converted: use `asInt()` and the other `as` methods for that.
  public func value<T: BSON>() -> T? {
    if let value = self as? T { return value }
    func given<Content: BSON>(_ content: Content) -> T? { content as? T }
    switch self {
    case .double(let number): return given(number)
    case .string(let text): return given(text)
    case .document(let document): return given(document)
    case .array(let values): return given(values)
    case .binary(let data): return given(data)
    case .objectId(let id): return given(id)
    case .bool(let flag): return given(flag)
    case .datetime(let date), .timestamp(let date): return given(date)
    case .regex(let expression): return given(expression)
    case .int32(let number): return given(number) ?? given(Int(number))
    case .int64(let number): return given(number) ?? Int(exactly: number).flatMap { given($0) }
    case .decimal128(let number): return given(number)
    case .uuid(let id): return given(id)
    case .minKey: return given(MinKey())
    case .maxKey: return given(MaxKey())
    case .null: return given(NSNull())
    }
  }
}

extension Decimal128 {
  /// The decimal that equals a double by the rule for comparisons of numbers of different types.
  fileprivate init(equalTo number: Double) {
    self.init(Int64(exactly: number).map { DecimalNumber($0) } ?? DecimalNumber(number))
  }

  /// The number as an `Int64`; nil if it has a fraction or does not fit 64 bits.
  fileprivate var whole: Int64? {
    // The short text of a whole number has no negative exponent. The sum of that number and 0 has the exponent 0, if 34 digits
    // are enough, and its text has only digits.
    guard let short = DecimalNumber(parsing: number.shortText) else { return nil }
    return Int64((short + DecimalNumber(0 as Int)).text)
  }
}
