import RealmStorage

extension RQLLexer {
  /// Reads a number with its sign at the current offset; nil if there is none.
  mutating func number() throws(QueryError) -> RQLToken? {
    let start = offset
    let hasSign = source[start] == UInt8(ascii: "-") || source[start] == UInt8(ascii: "+")
    let digits = start + (hasSign ? 1 : 0)
    if let end = endOfSpecial(digits) {
      let text = source.string(SourceRange(start, end)).lowercased()
      return take(.real(.init(text: text.replacing("infinity", with: "inf"), isFloat: false)), to: end)
    }
    if !hasSign, source[start] == UInt8(ascii: "0"), source[start + 1] | 0x20 == UInt8(ascii: "x"),
      source[start + 2].hexDigit != nil
    {
      return hexadecimal()
    }
    let end = source.skipDigits(digits)
    if let fraction = source.skipFraction(end, hasDigits: end > digits) {
      return real(to: fraction)
    }
    guard end > digits else { return nil }
    if source[end] == UInt8(ascii: "f") { return real(to: end) }
    return take(.integer(try integer(digits..<end), hasSign: hasSign), to: end)
  }

  private mutating func real(to end: Int) -> RQLToken {
    let isFloat = source[end] == UInt8(ascii: "f")
    let literal = QuerySyntax.RealLiteral(text: source.string(SourceRange(offset, end)), isFloat: isFloat)
    return take(.real(literal), to: end + (isFloat ? 1 : 0))
  }

  /// The offset behind `inf`, `infinity` or `nan` after a sign; nil if there is none. Without a sign, these are words.
  private func endOfSpecial(_ start: Int) -> Int? {
    guard start > offset else { return nil }
    for length in [8, 3] {
      guard start + length <= source.bytes.count else { continue }
      let text = source.string(SourceRange(start, start + length)).lowercased()
      if text == "infinity" || text == "inf" || text == "nan" { return start + length }
    }
    return nil
  }

  /// Reads hexadecimal digits behind `0x`. A number that does not fit in a signed integer of 64 bits becomes the
  /// greatest one.
  private mutating func hexadecimal() -> RQLToken {
    var (end, value, isOver) = (offset + 2, UInt64(0), false)
    while let digit = source[end].hexDigit {
      isOver = isOver || value >> 59 != 0
      value = value << 4 | UInt64(digit)
      end += 1
    }
    return take(.integer(isOver ? .max : Int64(clamping: value), hasSign: false), to: end)
  }

  /// The integer that digits and the sign before them give, clamped to 64 bits. If the first of several digits is a
  /// zero, the digits are octal.
  private func integer(_ digits: Range<Int>) throws(QueryError) -> Int64 {
    let magnitude: UInt64
    if source[digits.lowerBound] == UInt8(ascii: "0"), digits.count > 1 {
      guard !digits.contains(where: { source[$0] >= UInt8(ascii: "8") }) else {
        throw source.syntaxError(
          "A number that begins with 0 is octal and can only have the digits 0 to 7",
          at: SourceRange(offset, digits.upperBound))
      }
      magnitude = digits.reduce(UInt64(0)) { number, offset in
        number >> 61 != 0 ? .max : number << 3 | UInt64(source[offset] - UInt8(ascii: "0"))
      }
    } else {
      magnitude = decimal(digits)
    }
    guard source[offset] == UInt8(ascii: "-") else { return Int64(clamping: magnitude) }
    return magnitude > UInt64(Int64.max) ? .min : -Int64(magnitude)
  }
}
