// The texts of decimals are those of IEEE 754-2008 and the General Decimal Arithmetic Specification
// (speleotrove.com/decimal): digits with or without a point, then perhaps an E and an exponent.
extension DecimalNumber {
  /// Reads a text and rounds it to 34 digits. Returns nil if the text names no decimal.
  package init?(parsing text: String) {
    guard let (number, _) = Self.parse(text) else { return nil }
    self = number
  }

  /// Reads a text without rounding. Returns nil if the text names no decimal, or one that has more digits than fit.
  package init?(parsingExactly text: String) {
    guard let (number, isExact) = Self.parse(text), isExact else { return nil }
    self = number
  }

  private static func parse(_ text: String) -> (DecimalNumber, isExact: Bool)? {
    var rest = Substring(text).utf8
    let isNegative = rest.first == UInt8(ascii: "-")
    if isNegative || rest.first == UInt8(ascii: "+") { rest.removeFirst() }
    switch String(Substring(rest)).lowercased() {
    case "nan": return (.nan, true)
    case "inf", "infinity": return (DecimalNumber(.infinity, isNegative: isNegative), true)
    default: break
    }
    var digits = Digits()
    while let character = rest.first, digits.take(character) { rest.removeFirst() }
    guard digits.count > 0, let power = exponent(rest) else { return nil }
    // A zero may have any exponent. Any other number with an exponent that is out of range is rounded to a number
    // that fits, or to infinity.
    let number = rounded(
      isNegative: isNegative, digits.number, exponent: digits.exponent + power, isMore: digits.isMore)
    let isExact =
      !digits.isMore && (digits.number.isZero || (number.form == .number && number.isExactly(digits, power)))
    return (number, isExact)
  }

  private func isExactly(_ digits: Digits, _ power: Int) -> Bool {
    let dropped = exponent - (digits.exponent + power)
    if dropped <= 0 { return true }
    let (number, left) = (WideNumber(high: 0, low: coefficient), dropped)
    guard left <= 70 - Self.digits else { return false }
    let again = number.shifted(left)
    return again.high == digits.number.high && again.low == digits.number.low
  }

  /// The digits of a text with at most one point.
  private struct Digits {
    var number = WideNumber(high: 0, low: 0)
    var exponent = 0
    /// True if digits other than zero stand behind the digits that are kept.
    var isMore = false
    /// The number of all digits, including the zeros at the start.
    var count = 0
    private var kept = 0
    private var isFraction = false

    /// Takes the next character. Returns false if it is neither a digit nor the first point.
    mutating func take(_ character: UInt8) -> Bool {
      if character == UInt8(ascii: "."), !isFraction {
        isFraction = true
        return true
      }
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(character) else { return false }
      let digit = UInt128(character - UInt8(ascii: "0"))
      count += 1
      // 70 digits are enough to round correctly.
      if kept < 70 {
        number = number.times(10) + WideNumber(high: 0, low: digit)
        if kept > 0 || digit > 0 { kept += 1 }
        if isFraction { exponent -= 1 }
      } else {
        isMore = isMore || digit > 0
        if !isFraction { exponent += 1 }
      }
      return true
    }
  }

  /// Reads the text behind the digits, which is empty or has an E and a whole number. Returns the exponent, limited to
  /// 2^40, because all exponents that are so great are out of range alike. Returns nil for any other text.
  private static func exponent(_ text: Substring.UTF8View) -> Int? {
    guard let mark = text.first else { return 0 }
    guard mark == UInt8(ascii: "e") || mark == UInt8(ascii: "E") else { return nil }
    var rest = text.dropFirst()
    let isNegative = rest.first == UInt8(ascii: "-")
    if isNegative || rest.first == UInt8(ascii: "+") { rest.removeFirst() }
    guard !rest.isEmpty else { return nil }
    var power = 0
    for character in rest {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(character) else { return nil }
      power = min(power * 10 + Int(character - UInt8(ascii: "0")), 1 << 40)
    }
    return isNegative ? -power : power
  }

  /// A text that is the same for all equal decimals. It has no zeros at the end of the coefficient and no plus before
  /// the exponent. 1.50 is `1.5`, and 150 is `1.5E2`.
  package var shortText: String {
    guard form == .number else { return text }
    var short = self
    while short.coefficient != 0, short.coefficient.isMultiple(of: 10) {
      short.coefficient /= 10
      short.exponent += 1
    }
    if short.coefficient == 0 { short.exponent = 0 }
    return short.text.replacing("E+", with: "E")
  }

  /// A text from which the same number is read, with the same exponent: `1.50` and `1.5` are different texts.
  package var text: String {
    let sign = isNegative ? "-" : ""
    switch form {
    case .nan: return "NaN"
    case .infinity: return sign + "Infinity"
    case .number: break
    }
    let digits = String(coefficient)
    let leading = exponent + digits.utf8.count - 1
    if exponent <= 0, leading >= -6 {
      guard exponent < 0 else { return sign + digits }
      let whole = digits.utf8.count + exponent
      if whole > 0 { return sign + digits.prefix(whole) + "." + digits.suffix(-exponent) }
      return sign + "0." + String(repeating: "0", count: -whole) + digits
    }
    let fraction = digits.dropFirst()
    return sign + digits.prefix(1) + (fraction.isEmpty ? "" : "." + fraction) + (leading < 0 ? "E" : "E+")
      + String(leading)
  }
}
