import RealmStorage

/// The rules by which a constant of RQL becomes a value of the type that it is compared with.
enum ConstantRules {
  /// The constant as a value of a type, or as its own value if that compares with the type as it is; nil if the two do
  /// not compare.
  static func adapted(_ constant: BoundConstant, to type: ColumnType) -> Value? {
    switch (type, constant.value) {
    case (_, .null): .null
    case (.mixed, _): constant.value
    case (.int64, _): integer(constant)
    case (.float, .double(let number)): .float(Float(number))
    case (.float, .string(let text)): leadingNumber(text).map { .float(Float($0)) }
    case (.double, .string(let text)): leadingNumber(text).map { .double($0) }
    case (.float, .int), (.float, .float), (.float, .decimal128), (.double, .int), (.double, .float),
      (.double, .double), (.double, .decimal128):
      constant.value
    case (.decimal128, _): decimal(constant)
    case (.bool, .bool), (.string, .string), (.data, .data), (.date, .date), (.objectID, .objectID),
      (.uuid, .uuid):
      constant.value
    default: nil
    }
  }

  private static func integer(_ constant: BoundConstant) -> Value? {
    switch constant.value {
    case .int, .decimal128: constant.value
    case .double(let number): integer(number)
    case .float(let number): integer(Double(number))
    case .string(let text): leadingInteger(text).map { .int($0) }
    default: nil
    }
  }

  private static func integer(_ number: Double) -> Value? {
    guard number.isFinite else { return nil }
    return Int64(exactly: number).map { .int($0) } ?? .double(number)
  }

  /// The constant as a decimal; nil if it is not a number. If its digits are known, they are read again as a decimal,
  /// so that no digit is lost to a double.
  static func decimal(_ constant: BoundConstant) -> Value? {
    let number: DecimalNumber? =
      switch constant.value {
      case .decimal128(let stored): DecimalNumber(stored)
      case .int(let number): DecimalNumber(number)
      case .double(let number):
        constant.literal.flatMap { DecimalNumber(parsing: $0.text) } ?? DecimalNumber(number)
      case .float(let number):
        constant.literal.flatMap { DecimalNumber(parsing: $0.text) } ?? DecimalNumber(number)
      case .string(let text): DecimalNumber(parsing: leadingDigits(text))
      default: nil
      }
    return number.map { .decimal128($0.stored) }
  }

  // MARK: Numbers in strings

  /// The longest start of a text, after blanks, that is a number; empty if no number starts there.
  private static func leadingDigits(_ text: String) -> String {
    let bytes = Array(text.utf8.drop { $0 == 0x20 || (0x09...0x0d).contains($0) })
    func digits(_ start: Int) -> Int {
      var end = start
      while end < bytes.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[end]) { end += 1 }
      return end
    }
    func isSign(_ place: Int) -> Bool {
      place < bytes.count && (bytes[place] == UInt8(ascii: "-") || bytes[place] == UInt8(ascii: "+"))
    }
    let start = isSign(0) ? 1 : 0
    var end = digits(start)
    var count = end - start
    if end < bytes.count, bytes[end] == UInt8(ascii: ".") {
      let fraction = digits(end + 1)
      count += fraction - end - 1
      if count > 0 { end = fraction }
    }
    guard count > 0 else { return "" }
    if end < bytes.count, bytes[end] | 0x20 == UInt8(ascii: "e") {
      let first = isSign(end + 1) ? end + 2 : end + 1
      let exponent = digits(first)
      if exponent > first { end = exponent }
    }
    return String(decoding: bytes[..<end], as: UTF8.self)
  }

  private static func leadingNumber(_ text: String) -> Double? {
    var digits = leadingDigits(text)
    if digits.hasSuffix(".") { digits.removeLast() }
    return Double(digits.replacing(".e", with: "e").replacing(".E", with: "e"))
  }

  private static func leadingInteger(_ text: String) -> Int64? {
    let digits = leadingDigits(text).prefix { $0 != "." && $0 != "e" && $0 != "E" }
    return Int64(digits)
  }

  // MARK: UUIDs

  /// The UUID that a text of 36 characters gives in the usual form; nil if the text has another form.
  static func uuid(_ text: String) -> SixteenBytes? {
    let characters = Array(text.utf8)
    guard characters.count == 36 else { return nil }
    var (bytes, half): ([UInt8], UInt8?) = ([], nil)
    for (place, character) in characters.enumerated() {
      if [8, 13, 18, 23].contains(place) {
        guard character == UInt8(ascii: "-") else { return nil }
        continue
      }
      guard let digit = Character(UnicodeScalar(character)).hexDigitValue else { return nil }
      if let high = half {
        bytes.append(high << 4 | UInt8(digit))
        half = nil
      } else {
        half = UInt8(digit)
      }
    }
    return SixteenBytes(bytes)
  }
}
