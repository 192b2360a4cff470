import Foundation
import RealmStorage

extension AnyBSON {
  /// The whole number that a number of any type is; nil of a number with a fraction, of one that an `Int` can't tell, and of
  /// what is no number.
  public func asInt() -> Int? { asInt64().flatMap { Int(exactly: $0) } }

  /// The whole number that a number of any type is; nil of a number with a fraction, of one beyond 32 bits, and of what is no
  /// number.
  public func asInt32() -> Int32? { asInt64().flatMap { Int32(exactly: $0) } }

  /// The whole number that a number of any type is; nil of a number with a fraction, of one beyond 64 bits, and of what is no
  /// number.
  public func asInt64() -> Int64? {
    switch self {
    case .int32(let number): Int64(number)
    case .int64(let number): number
    case .double(let number): Int64(exactly: number)
    case .decimal128(let number): number.whole
    default: nil
    }
  }

  /// The number as a double; nil of a number that no double is equal to, and of what is no number.
  ///
  /// A double is equal to the decimal that its shortest text names: the decimal 0.1 becomes the double 0.1.
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

  /// The number as a decimal; nil of what is no number.
  ///
  /// A double becomes the decimal that its shortest text names: the double 0.1 becomes a tenth. A double that is a whole number
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

  /// What it holds, where that is of the type that is asked for; nil else.
  ///
  /// An `Int` is given for `int32` and for `int64`, a `Date` for `datetime` and for `timestamp`, an `NSNull` for `null`. Other
  /// numbers are not converted: the methods `asInt()` and so on do that.
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
  /// The decimal that a double is equal to, wherever numbers of several types compare.
  fileprivate init(equalTo number: Double) {
    self.init(Int64(exactly: number).map { DecimalNumber($0) } ?? DecimalNumber(number))
  }

  /// The whole number it is; nil of any other, and beyond 64 bits.
  fileprivate var whole: Int64? {
    // The short text of a whole number has no negative exponent. The sum with 0 then has the exponent 0, if 34 digits are
    // enough for that, and its text has nothing but digits.
    guard let short = DecimalNumber(parsing: number.shortText) else { return nil }
    return Int64((short + DecimalNumber(0 as Int)).text)
  }
}
