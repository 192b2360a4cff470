/// A decimal as it is stored: IEEE 754-2008 decimal128 with a binary coefficient.
struct Decimal128 {
  private enum Form { case number, infinity, nan }
  private var form = Form.number
  private var isNegative = false
  /// Below 10^34.
  private var coefficient: UInt128 = 0
  private var exponent = 0

  private static let bias = 6176
  private static let greatest: UInt128 = powers[34] - 1
  /// Powers of ten, from 10^0 to 10^38.
  private static let powers: [UInt128] = (0..<38).reduce(into: [1]) { powers, _ in
    powers.append(powers[powers.count - 1] * 10)
  }

  init(_ stored: SixteenBytes) {
    let word = stored.number.byteSwapped
    isNegative = word >> 127 != 0
    let combination = Int(word >> 110 & 0x1ffff)
    if combination >> 12 == 0b11111 {
      form = .nan
    } else if combination >> 12 == 0b11110 {
      form = .infinity
    } else if combination >> 15 == 0b11 {
      // Coefficients so long are not canonical and count as zero.
      exponent = Int(word >> 111 & 0x3fff) - Self.bias
    } else {
      exponent = Int(word >> 113 & 0x3fff) - Self.bias
      let bits = word & (1 << 113 - 1)
      coefficient = bits > Self.greatest ? 0 : bits
    }
  }

  /// Nil for what is no number. Of doubles the shortest text that names them counts, so that 0.1 equals 0.1.
  init?(_ value: Value) {
    switch value {
    case .int(let number):
      isNegative = number < 0
      coefficient = UInt128(number.magnitude)
    case .float(let number): self = Decimal128(number.description, isNegative: number.sign == .minus)
    case .double(let number): self = Decimal128(number.description, isNegative: number.sign == .minus)
    case .decimal128(let stored): self = Decimal128(stored)
    default: return nil
    }
  }

  private init(_ text: String, isNegative: Bool) {
    self.isNegative = isNegative
    if text.hasSuffix("inf") {
      form = .infinity
    } else if text.hasSuffix("nan") {
      form = .nan
    } else {
      let parts = text.split(separator: "e")
      if parts.count == 2 { exponent = Int(parts[1]) ?? 0 }
      var isFraction = false
      for byte in parts[0].utf8 {
        if byte == UInt8(ascii: ".") { isFraction = true }
        guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { continue }
        coefficient = coefficient * 10 + UInt128(byte - UInt8(ascii: "0"))
        if isFraction { exponent -= 1 }
      }
    }
  }

  var isNaN: Bool { form == .nan }

  /// -1, 0 or 1; nil where one is no number.
  func order(_ other: Decimal128) -> Int? {
    guard form != .nan, other.form != .nan else { return nil }
    let (left, right) = (sign, other.sign)
    if left != right { return left < right ? -1 : 1 }
    return left * magnitudeOrder(other)
  }

  private var sign: Int {
    form == .number && coefficient == 0 ? 0 : isNegative ? -1 : 1
  }

  /// - Precondition: both have one sign, or are zero.
  private func magnitudeOrder(_ other: Decimal128) -> Int {
    switch (form, other.form) {
    case (.infinity, .infinity): return 0
    case (.infinity, _): return 1
    case (_, .infinity): return -1
    default: break
    }
    if exponent < other.exponent { return -other.magnitudeOrder(self) }
    // Further apart than a coefficient has digits, the greater exponent decides.
    let distance = exponent - other.exponent
    guard distance <= 34 else { return coefficient == 0 ? (other.coefficient == 0 ? 0 : -1) : 1 }
    let scaled = coefficient.multipliedFullWidth(by: Self.powers[distance])
    if scaled.high != 0 { return 1 }
    return scaled.low < other.coefficient ? -1 : scaled.low == other.coefficient ? 0 : 1
  }

  /// The same for all that are equal, and for all that are no numbers.
  var canonical: SixteenBytes {
    var (digits, power) = (coefficient, exponent)
    if digits == 0 { power = 0 }
    while digits != 0, digits % 10 == 0 { (digits, power) = (digits / 10, power + 1) }
    var word = digits
    switch form {
    case .number: word |= UInt128(UInt64(bitPattern: Int64(power + Self.bias)) & 0x3fff) << 113
    case .infinity: word = 0b11110 << 122
    case .nan: word = 0b11111 << 122
    }
    if isNegative, sign != 0, form != .nan { word |= 1 << 127 }
    return SixteenBytes(number: word.byteSwapped)
  }
}
