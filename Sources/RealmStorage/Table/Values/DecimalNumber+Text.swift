// Texts as IEEE 754-2008 and the General Decimal Arithmetic Specification (speleotrove.com/decimal) have them: digits with
// or without a point, an exponent behind an E where there is one.
extension DecimalNumber {
  /// Digits beyond 34 are rounded. Nil for a text that names no decimal.
  package init?(parsing text: String) {
    guard let (number, _) = Self.parse(text) else { return nil }
    self = number
  }

  /// Nil for a number of more digits than fit, too.
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
    // A zero may have any exponent, all else is beyond what fits where its exponent is.
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

  /// Digits of a text with at most one point.
  private struct Digits {
    var number = WideNumber(high: 0, low: 0)
    var exponent = 0
    /// Digits other than zero stand behind those that are kept.
    var isMore = false
    /// All digits, zeros in front too.
    var count = 0
    private var kept = 0
    private var isFraction = false

    /// False for what is none, or a second point.
    mutating func take(_ character: UInt8) -> Bool {
      if character == UInt8(ascii: "."), !isFraction {
        isFraction = true
        return true
      }
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(character) else { return false }
      let digit = UInt128(character - UInt8(ascii: "0"))
      count += 1
      // 70 are enough to round by.
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

  /// What follows the digits: nothing, or an E and a whole number, of which more than a few thousand are as good as any.
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

  /// The text of the number alone, which is that of all decimals that are equal: without zeros at the end of the coefficient,
  /// and without a plus before the exponent. 1.50 is `1.5`, and 150 is `1.5E2`.
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

  /// A text from which the same number is parsed, with its exponent: `1.50` and `1.5` are two.
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
