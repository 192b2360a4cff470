/// Cuts a predicate format into tokens.
struct FormatLexer {
  let source: SourceText
  private var offset = 0
  /// The number of specifiers that were read. Each of them takes an argument.
  private(set) var argumentCount = 0

  init(_ source: SourceText) { self.source = source }

  mutating func next() throws(QueryError) -> FormatToken {
    offset = source.skipBlanks(offset)
    guard offset < source.bytes.count else {
      return FormatToken(kind: .end, range: SourceRange(offset, offset))
    }
    let byte = source[offset]
    if byte.isQuote { return try string() }
    if byte.startsName { return word() }
    switch UnicodeScalar(byte) {
    case "#" where source[offset + 1].startsName:
      return token(.word(nil), to: endOfName(offset + 1))
    case "$" where source[offset + 1].startsName:
      return token(.variable, to: endOfName(offset + 1))
    case "@" where source[offset + 1].startsName:
      return token(.pathOperator, to: endOfName(offset + 1))
    case "%": return try specifier()
    default: break
    }
    if let token = try number() { return token }
    if let (symbol, length) = Symbol.scan(source, at: offset) {
      return token(.symbol(symbol), to: offset + length)
    }
    throw source.syntaxError(
      "This character has no meaning outside of quotation marks", at: SourceRange(offset, offset + 1))
  }

  private mutating func token(_ kind: FormatToken.Kind, to end: Int) -> FormatToken {
    defer { offset = end }
    return FormatToken(kind: kind, range: SourceRange(offset, end))
  }

  private func endOfName(_ start: Int) -> Int {
    var end = start
    while source[end].startsName || source[end].isDigit { end += 1 }
    return end
  }

  private mutating func word() -> FormatToken {
    let end = endOfName(offset)
    return token(.word(Keyword.format(source, SourceRange(offset, end))), to: end)
  }

  // MARK: Numbers

  private mutating func number() throws(QueryError) -> FormatToken? {
    if source[offset] == UInt8(ascii: "0"), source[offset + 1] | 0x20 == UInt8(ascii: "x"),
      source[offset + 2].hexDigit != nil
    {
      var end = offset + 2
      while source[end].hexDigit != nil { end += 1 }
      return try integer(digitsFrom: offset + 2, to: end, radix: 16)
    }
    let end = source.skipDigits(offset)
    if let fraction = source.skipFraction(end, hasDigits: end > offset) {
      return token(.real, to: fraction)
    }
    return end > offset ? try integer(digitsFrom: offset, to: end, radix: 10) : nil
  }

  private mutating func integer(
    digitsFrom start: Int, to end: Int, radix: Int
  ) throws(QueryError) -> FormatToken {
    // No integer needs more than 64 digits, unless it has many zeros in front. Such numbers are refused.
    guard end - start <= 64, let value = UInt64(source.string(SourceRange(start, end)), radix: radix) else {
      throw source.syntaxError("The integer does not fit in 64 bits", at: SourceRange(offset, end))
    }
    return token(.integer(value), to: end)
  }

  // MARK: Specifiers

  private mutating func specifier() throws(QueryError) -> FormatToken {
    var end = offset + 1
    while Self.lengths.contains(source[end]), end - offset <= 3 { end += 1 }
    let conversion = source[end]
    let hasLength = end > offset + 1
    if conversion == UInt8(ascii: "K"), !hasLength {
      argumentCount += 1
      return token(.keyPath(argumentCount - 1), to: end + 1)
    }
    if conversion == UInt8(ascii: "@") && !hasLength || Self.conversions.contains(conversion) {
      argumentCount += 1
      return token(.argument(argumentCount - 1), to: end + 1)
    }
    throw source.syntaxError(
      conversion == UInt8(ascii: "%") && !hasLength
        ? "`%%` is a percent sign, which has no meaning outside of quotation marks"
        : "This is not a specifier of an argument",
      at: SourceRange(offset, end + 1), expected: ["%@", "%K", "%d", "%f"])
  }

  private static let lengths = Array("hlqjztL".utf8)
  private static let conversions = Array("dDiuUxXoOcCfFeEgGaAsS".utf8)

  // MARK: Strings

  private mutating func string() throws(QueryError) -> FormatToken {
    let quote = source[offset]
    var (text, end): ([UInt8], Int) = ([], offset + 1)
    while end < source.bytes.count {
      let byte = source[end]
      if byte == quote {
        return token(.string(String(decoding: text, as: UTF8.self)), to: end + 1)
      }
      if byte == UInt8(ascii: "\\"), end + 1 < source.bytes.count {
        end = try escape(end + 1, into: &text)
      } else {
        text.append(byte)
        end += 1
      }
    }
    throw source.syntaxError("The string has no closing quotation mark", at: SourceRange(offset, offset + 1))
  }

  /// Decodes what follows a backslash, and returns the offset behind it. A character that has no meaning there stands
  /// for itself.
  private func escape(_ offset: Int, into text: inout [UInt8]) throws(QueryError) -> Int {
    switch UnicodeScalar(source[offset]) {
    case "n": text.append(UInt8(ascii: "\n"))
    case "r": text.append(UInt8(ascii: "\r"))
    case "t": text.append(UInt8(ascii: "\t"))
    case "b": text.append(0x08)
    case "f": text.append(0x0c)
    case "0": text.append(0)
    case "u", "U": return try unicodeEscape(offset, into: &text)
    default: text.append(source[offset])
    }
    return offset + 1
  }

  /// Decodes `u` and four hexadecimal digits. Two such escapes may give one character as a surrogate pair.
  private func unicodeEscape(_ offset: Int, into text: inout [UInt8]) throws(QueryError) -> Int {
    guard let unit = codeUnit(offset) else {
      throw source.syntaxError(
        "\\u must be followed by four hexadecimal digits", at: SourceRange(offset - 1, offset + 1))
    }
    var (units, end) = ([unit], offset + 5)
    if UTF16.isLeadSurrogate(unit), source[end] == UInt8(ascii: "\\"), let trail = codeUnit(end + 1) {
      units.append(trail)
      end += 6
    }
    guard let character = String(validating: units, as: UTF16.self) else {
      throw source.syntaxError(
        "Half of a surrogate pair is not a character", at: SourceRange(offset - 1, end))
    }
    text += character.utf8
    return end
  }

  private func codeUnit(_ offset: Int) -> UInt16? {
    guard source[offset] | 0x20 == UInt8(ascii: "u") else { return nil }
    var unit: UInt16 = 0
    for index in 1...4 {
      guard let digit = source[offset + index].hexDigit else { return nil }
      unit = unit << 4 | UInt16(digit)
    }
    return unit
  }
}
