/// A number of 256 bits, which has at most 77 digits as it is used here. It holds products and sums of coefficients
/// before they are rounded.
struct WideNumber {
  var high: UInt128
  var low: UInt128

  init(high: UInt128, low: UInt128) {
    self.high = high
    self.low = low
  }

  init(_ left: UInt128, times right: UInt128) {
    let product = left.multipliedFullWidth(by: right)
    self.init(high: product.high, low: product.low)
  }

  var isZero: Bool { high == 0 && low == 0 }

  /// - Precondition: the product fits.
  func times(_ factor: UInt128) -> WideNumber {
    let product = low.multipliedFullWidth(by: factor)
    return WideNumber(high: high * factor + product.high, low: product.low)
  }

  /// Multiplies the number by ten to a power.
  ///
  /// - Precondition: the product fits.
  func shifted(_ power: Int) -> WideNumber {
    var (number, left) = (self, power)
    while left > 0 {
      let step = min(left, 38)
      number = number.times(DecimalNumber.powers[step])
      left -= step
    }
    return number
  }

  func divided(by divisor: UInt128) -> (quotient: WideNumber, remainder: UInt128) {
    let (upper, rest) = high.quotientAndRemainder(dividingBy: divisor)
    let (lower, remainder) = divisor.dividingFullWidth((rest, low))
    return (WideNumber(high: upper, low: lower), remainder)
  }

  /// - Precondition: the sum fits.
  static func + (left: WideNumber, right: WideNumber) -> WideNumber {
    let (low, carry) = left.low.addingReportingOverflow(right.low)
    return WideNumber(high: left.high + right.high + (carry ? 1 : 0), low: low)
  }

  /// - Precondition: `right` is not greater than `left`.
  static func - (left: WideNumber, right: WideNumber) -> WideNumber {
    let (low, borrow) = left.low.subtractingReportingOverflow(right.low)
    return WideNumber(high: left.high - right.high - (borrow ? 1 : 0), low: low)
  }

  static func < (left: WideNumber, right: WideNumber) -> Bool {
    (left.high, left.low) < (right.high, right.low)
  }

  /// The number of decimal digits; 0 for zero.
  var digitCount: Int {
    if high == 0 { return Self.digitCount(low) }
    let upper = divided(by: DecimalNumber.powers[38]).quotient
    return upper.high == 0
      ? 38 + Self.digitCount(upper.low)
      : 76 + Self.digitCount(upper.divided(by: DecimalNumber.powers[38]).quotient.low)
  }

  static func digitCount(_ number: UInt128) -> Int {
    guard number > 0 else { return 0 }
    // log10(2) is a little more than 1233/4096.
    let guess = ((128 - number.leadingZeroBitCount) * 1233) >> 12
    return guess > 38 || number < DecimalNumber.powers[guess] ? guess : guess + 1
  }
}
