// The arithmetic is that of IEEE 754-2008 for decimal128. Each result is the exact one, rounded to 34 digits with
// halves to the even digit. Its exponent is as near as possible to the one that the operation prefers.
extension DecimalNumber {
  /// Rounds a number that may have more digits than fit.
  ///
  /// - Parameter isMore: true if the exact number is greater than `coefficient` by less than one. Then the coefficient
  ///   has more than 34 digits.
  static func rounded(
    isNegative: Bool, _ coefficient: WideNumber, exponent: Int, isMore: Bool = false
  ) -> DecimalNumber {
    let count = coefficient.digitCount
    if count == 0, !isMore {
      return DecimalNumber(
        isNegative: isNegative, coefficient: 0,
        exponent: min(max(exponent, exponents.lowerBound), exponents.upperBound))
    }
    let drop = max(0, count - digits, exponents.lowerBound - exponent)
    guard drop <= count else {
      return DecimalNumber(isNegative: isNegative, coefficient: 0, exponent: exponents.lowerBound)
    }
    var (number, power) = (dropping(drop, of: coefficient, isMore: isMore), exponent + drop)
    if number > greatest { (number, power) = (number / 10, power + 1) }
    return fitted(isNegative: isNegative, number, exponent: power)
  }

  private static func dropping(_ count: Int, of coefficient: WideNumber, isMore: Bool) -> UInt128 {
    guard count > 0 else { return coefficient.low }
    var (number, isMore, left) = (coefficient, isMore, count - 1)
    while left > 0 {
      let step = min(left, 38)
      let (quotient, remainder) = number.divided(by: powers[step])
      isMore = isMore || remainder != 0
      (number, left) = (quotient, left - step)
    }
    let (quotient, last) = number.divided(by: 10)
    let isUp = last > 5 || last == 5 && (isMore || quotient.low & 1 == 1)
    return quotient.low + (isUp ? 1 : 0)
  }

  /// Makes a decimal. If the exponent is too great, it is lowered by adding zeros to the coefficient, if there is room
  /// for them; else the result is infinity.
  private static func fitted(isNegative: Bool, _ coefficient: UInt128, exponent: Int) -> DecimalNumber {
    guard exponent > exponents.upperBound, coefficient > 0 else {
      return DecimalNumber(
        isNegative: isNegative, coefficient: coefficient, exponent: min(exponent, exponents.upperBound))
    }
    let zeros = exponent - exponents.upperBound
    guard WideNumber.digitCount(coefficient) + zeros <= digits else {
      return DecimalNumber(.infinity, isNegative: isNegative)
    }
    return DecimalNumber(
      isNegative: isNegative, coefficient: coefficient * powers[zeros], exponent: exponents.upperBound)
  }

  package static func + (left: DecimalNumber, right: DecimalNumber) -> DecimalNumber {
    guard left.form == .number, right.form == .number else { return sum(ofSpecial: left, right) }
    let (upper, lower) = left.exponent >= right.exponent ? (left, right) : (right, left)
    guard upper.coefficient != 0 else {
      return sum(
        WideNumber(high: 0, low: 0), of: upper, WideNumber(high: 0, low: lower.coefficient), of: lower,
        lower.exponent)
    }
    // With 70 digits, a part that is less than one unit of the last digit decides only how the last
    // of 34 digits is rounded.
    let distance = upper.exponent - lower.exponent
    let shift = min(distance, 70 - WideNumber.digitCount(upper.coefficient))
    let scaled = WideNumber(high: 0, low: upper.coefficient).shifted(shift)
    let rest = distance - shift
    guard rest > 0, lower.coefficient > 0 else {
      return sum(
        scaled, of: upper, WideNumber(high: 0, low: lower.coefficient), of: lower, upper.exponent - shift)
    }
    let (quotient, remainder) =
      rest > 38 ? (0, lower.coefficient) : lower.coefficient.quotientAndRemainder(dividingBy: powers[rest])
    return sum(
      scaled, of: upper, WideNumber(high: 0, low: quotient), of: lower, upper.exponent - shift,
      isMore: remainder > 0)
  }

  /// - Parameter isMore: true if the second number is greater by less than one, and far less than the first number.
  private static func sum(
    _ first: WideNumber, of left: DecimalNumber, _ second: WideNumber, of right: DecimalNumber,
    _ exponent: Int,
    isMore: Bool = false
  ) -> DecimalNumber {
    if left.isNegative == right.isNegative {
      return rounded(isNegative: left.isNegative, first + second, exponent: exponent, isMore: isMore)
    }
    if first < second {
      return rounded(isNegative: right.isNegative, second - first, exponent: exponent)
    }
    var difference = first - second
    if isMore { difference = difference - WideNumber(high: 0, low: 1) }
    let isNegative = left.isNegative && !(difference.isZero && !isMore)
    return rounded(isNegative: isNegative, difference, exponent: exponent, isMore: isMore)
  }

  private static func sum(ofSpecial left: DecimalNumber, _ right: DecimalNumber) -> DecimalNumber {
    if left.isNaN || right.isNaN { return .nan }
    if left.isInfinite, right.isInfinite { return left.isNegative == right.isNegative ? left : .nan }
    return left.isInfinite ? left : right
  }

  package static func - (left: DecimalNumber, right: DecimalNumber) -> DecimalNumber { left + right.negated }

  package static func * (left: DecimalNumber, right: DecimalNumber) -> DecimalNumber {
    if left.isNaN || right.isNaN { return .nan }
    let isNegative = left.isNegative != right.isNegative
    if left.isInfinite || right.isInfinite {
      return left.isZero || right.isZero ? .nan : DecimalNumber(.infinity, isNegative: isNegative)
    }
    return rounded(
      isNegative: isNegative, WideNumber(left.coefficient, times: right.coefficient),
      exponent: left.exponent + right.exponent)
  }

  package static func / (left: DecimalNumber, right: DecimalNumber) -> DecimalNumber {
    if left.isNaN || right.isNaN || left.isInfinite && right.isInfinite || left.isZero && right.isZero {
      return .nan
    }
    let isNegative = left.isNegative != right.isNegative
    if left.isInfinite || right.isZero { return DecimalNumber(.infinity, isNegative: isNegative) }
    if right.isInfinite {
      return DecimalNumber(isNegative: isNegative, coefficient: 0, exponent: exponents.lowerBound)
    }
    let preferred = left.exponent - right.exponent
    guard !left.isZero else {
      return rounded(isNegative: isNegative, WideNumber(high: 0, low: 0), exponent: preferred)
    }
    // The quotient gets 36 or 37 digits: two more than are kept. The remainder tells whether more digits follow.
    let shift = 36 + WideNumber.digitCount(right.coefficient) - WideNumber.digitCount(left.coefficient)
    let scaled = WideNumber(high: 0, low: left.coefficient).shifted(shift)
    var (quotient, remainder) = scaled.divided(by: right.coefficient)
    var exponent = preferred - shift
    while remainder == 0, exponent < preferred {
      let (shorter, last) = quotient.divided(by: 10)
      guard last == 0 else { break }
      (quotient, exponent) = (shorter, exponent + 1)
    }
    return rounded(isNegative: isNegative, quotient, exponent: exponent, isMore: remainder != 0)
  }
}
