/// A decimal of IEEE 754-2008 (decimal128) with a binary coefficient, 34 digits and an exponent, which is
/// how decimals are stored.
package struct DecimalNumber: Sendable {
  enum Form { case number, infinity, nan }
  var form = Form.number
  package var isNegative = false
  /// The coefficient, which is less than 10^34.
  var coefficient: UInt128 = 0
  /// The exponent, which lies in `exponents`.
  var exponent = 0

  static let digits = 34
  static let exponents = -6176...6111
  static let bias = 6176
  static let greatest: UInt128 = powers[digits] - 1
  /// Powers of ten, from 10^0 to 10^38.
  static let powers: [UInt128] = (0..<38).reduce(into: [1]) { powers, _ in
    powers.append(powers[powers.count - 1] * 10)
  }

  package static let nan = DecimalNumber(Form.nan)

  init(_ form: Form, isNegative: Bool = false) {
    self.form = form
    self.isNegative = isNegative
  }

  /// - Precondition: the coefficient and the exponent are in their ranges.
  init(isNegative: Bool, coefficient: UInt128, exponent: Int) {
    self.isNegative = isNegative
    self.coefficient = coefficient
    self.exponent = exponent
  }

  package init(_ number: some FixedWidthInteger) {
    // The magnitude has at most 128 bits.
    self = .rounded(
      isNegative: number < 0, WideNumber(high: 0, low: UInt128(clamping: number.magnitude)), exponent: 0)
  }

  /// The decimal that the shortest text of the double names, so that the double 0.1 equals the decimal 0.1.
  package init(_ number: Double) { self.init(text: number.description, isNegative: number.sign == .minus) }
  package init(_ number: Float) { self.init(text: number.description, isNegative: number.sign == .minus) }

  private init(text: String, isNegative: Bool) {
    self = DecimalNumber(parsing: text) ?? .nan
    self.isNegative = isNegative
  }

  /// The decimal that stands for a number if numbers of all types are compared (`ValueOrder`); nil for a
  /// value that is not a number.
  init?(_ value: Value) {
    switch value {
    case .int(let number): self.init(number)
    case .float(let number): self.init(comparing: Double(number))
    case .double(let number): self.init(comparing: number)
    case .decimal128(let stored): self.init(stored)
    default: return nil
    }
  }

  /// The shortest text does not name whole numbers above 2^53 exactly, so they are converted as integers.
  private init(comparing number: Double) {
    if let whole = Int64(exactly: number) { self.init(whole) } else { self.init(number) }
  }

  package var isNaN: Bool { form == .nan }
  package var isInfinite: Bool { form == .infinity }
  package var isZero: Bool { form == .number && coefficient == 0 }

  package var negated: DecimalNumber {
    var negated = self
    negated.isNegative.toggle()
    return negated
  }

  package var magnitude: DecimalNumber {
    var magnitude = self
    magnitude.isNegative = false
    return magnitude
  }

  // MARK: - As it is stored

  package init(_ stored: SixteenBytes) {
    let word = stored.number.byteSwapped
    // The 16 bytes of zero are the values of a column that was added later. They count as zero with the exponent 0, not
    // with the exponent -6176.
    if word == 0 { return }
    isNegative = word >> 127 != 0
    let combination = Int(word >> 110 & 0x1ffff)
    if combination >> 12 == 0b11111 {
      form = .nan
    } else if combination >> 12 == 0b11110 {
      form = .infinity
    } else if combination >> 15 == 0b11 {
      // A coefficient in this form is too long, so it is not canonical and counts as zero.
      exponent = Int(word >> 111 & 0x3fff) - Self.bias
    } else {
      exponent = Int(word >> 113 & 0x3fff) - Self.bias
      let bits = word & (1 << 113 - 1)
      coefficient = bits > Self.greatest ? 0 : bits
    }
    // The exponent can be too great only if the bits are not canonical. Then the coefficient is zero.
    exponent = min(exponent, Self.exponents.upperBound)
  }

  package var stored: SixteenBytes {
    var word = coefficient
    switch form {
    case .number: word |= UInt128(UInt64(bitPattern: Int64(exponent + Self.bias)) & 0x3fff) << 113
    case .infinity: word = 0b11110 << 122
    case .nan: word = 0b11111 << 122
    }
    if isNegative { word |= 1 << 127 }
    return SixteenBytes(number: word.byteSwapped)
  }

  /// The stored form that all equal decimals have in common, and that all NaN have in common.
  package var canonical: SixteenBytes {
    guard form == .number else { return isNaN ? Self.nan.stored : stored }
    var plain = DecimalNumber(
      isNegative: isNegative && coefficient != 0, coefficient: coefficient, exponent: exponent)
    if coefficient == 0 { plain.exponent = 0 }
    while plain.coefficient != 0, plain.coefficient % 10 == 0, plain.exponent < Self.exponents.upperBound {
      plain.coefficient /= 10
      plain.exponent += 1
    }
    return plain.stored
  }

  /// The whole number that the decimal equals; nil for any other decimal, and if the number needs more than 64 bits.
  var whole: Int64? {
    guard form == .number, (0..<19).contains(exponent) else { return nil }
    let (magnitude, overflow) = coefficient.multipliedReportingOverflow(by: Self.powers[exponent])
    guard !overflow, let number = Int128(exactly: magnitude) else { return nil }
    return Int64(exactly: isNegative ? -number : number)
  }

  // MARK: - Order

  /// Returns -1, 0 or 1 if this decimal is less than, equal to or greater than the other one; nil
  /// if one of them is NaN.
  package func order(_ other: DecimalNumber) -> Int? {
    guard form != .nan, other.form != .nan else { return nil }
    let (left, right) = (sign, other.sign)
    if left != right { return left < right ? -1 : 1 }
    return left * magnitudeOrder(other)
  }

  private var sign: Int {
    form == .number && coefficient == 0 ? 0 : isNegative ? -1 : 1
  }

  /// - Precondition: both have the same sign, or are zero.
  private func magnitudeOrder(_ other: DecimalNumber) -> Int {
    switch (form, other.form) {
    case (.infinity, .infinity): return 0
    case (.infinity, _): return 1
    case (_, .infinity): return -1
    default: break
    }
    if exponent < other.exponent { return -other.magnitudeOrder(self) }
    // If the exponents differ by more than the digits of a coefficient, the greater exponent decides.
    let distance = exponent - other.exponent
    guard distance <= Self.digits else { return coefficient == 0 ? (other.coefficient == 0 ? 0 : -1) : 1 }
    let scaled = coefficient.multipliedFullWidth(by: Self.powers[distance])
    if scaled.high != 0 { return 1 }
    return scaled.low < other.coefficient ? -1 : scaled.low == other.coefficient ? 0 : 1
  }
}
