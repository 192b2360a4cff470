import RealmStorage

/// Cuts a text of RQL into tokens. At each place, it takes the longest token that fits.
struct RQLLexer {
  let source: SourceText
  private(set) var offset = 0

  init(_ source: SourceText) { self.source = source }

  mutating func next() throws(QueryError) -> RQLToken {
    offset = source.skipBlanks(offset)
    guard offset < source.bytes.count else {
      return RQLToken(kind: .end, range: SourceRange(offset, offset))
    }
    let byte = source[offset]
    if byte.isQuote {
      let end = try endOfString(offset)
      return token(.string(source.string(SourceRange(offset + 1, end - 1))), to: end)
    }
    if byte.startsName || byte == UInt8(ascii: "$") { return try word() }
    if byte == UInt8(ascii: "@") { return try pathOperator() }
    if let token = try dateByDigits() { return token }
    if let token = try number() { return token }
    if source.has("[c]", at: offset) { return token(.caseOption(.ignoringCase), to: offset + 3) }
    if source.has("[c1]", at: offset) { return token(.caseOption(.latin1Case), to: offset + 4) }
    if let (symbol, length) = Symbol.scan(source, at: offset) {
      return token(.symbol(symbol), to: offset + length)
    }
    throw unknownCharacter()
  }

  private mutating func token(_ kind: RQLToken.Kind, to end: Int) -> RQLToken {
    defer { offset = end }
    return RQLToken(kind: kind, range: SourceRange(offset, end))
  }

  private func unknownCharacter() -> QueryError {
    let range = SourceRange(offset, offset + 1)
    return switch UnicodeScalar(source[offset]) {
    case "&": source.syntaxError("A single `&` has no meaning", at: range, suggestion: "&&")
    case "|": source.syntaxError("A single `|` has no meaning", at: range, suggestion: "||")
    default: source.syntaxError("This character has no meaning outside of quotation marks", at: range)
    }
  }

  /// The offset behind the closing quote of the string that starts at an offset. Escapes are checked.
  private func endOfString(_ start: Int) throws(QueryError) -> Int {
    let quote = source[start]
    var end = start + 1
    while end < source.bytes.count {
      if source[end] == quote { return end + 1 }
      if source[end] == UInt8(ascii: "\\") {
        let length = escapeLength(end)
        guard length > 0 else {
          throw source.syntaxError(
            "Strings do not have this escape", at: SourceRange(end, end + 2),
            expected: [
              "one of \\\" \\' \\\\ \\/ \\b \\f \\n \\r \\t \\0", "\\u and four hexadecimal digits",
            ])
        }
        end += length
      } else {
        end += 1
      }
    }
    throw source.syntaxError("The string has no closing quotation mark", at: SourceRange(start, start + 1))
  }

  private func escapeLength(_ offset: Int) -> Int {
    switch UnicodeScalar(source[offset + 1]) {
    case "\"", "'", "\\", "/", "b", "f", "n", "r", "t", "0": 2
    case "u": (2..<6).allSatisfy { source[offset + $0].hexDigit != nil } ? 6 : 0
    default: 0
    }
  }

  // MARK: Words

  private mutating func word() throws(QueryError) -> RQLToken {
    let start = offset
    let end = endOfName(start)
    if let literal = try literalWord(end) { return literal }
    return token(.word(Keyword.rql(source, SourceRange(start, end))), to: end)
  }

  /// The offset behind the name that starts at an offset; the same offset if there is none.
  private func endOfName(_ start: Int) -> Int {
    var end = start
    while true {
      let byte = source[end]
      if byte.startsName || byte == UInt8(ascii: "$") {
        end += 1
      } else if end > start, byte.isDigit || byte == UInt8(ascii: "-") {
        end += 1
      } else if end > start, Self.escapedBlank(byte, source[end + 1]) != nil {
        end += 2
      } else {
        return end
      }
    }
  }

  /// Reads a literal that starts like a name and is at least as long as the name, which ends at `nameEnd`; nil if there
  /// is none.
  private mutating func literalWord(_ nameEnd: Int) throws(QueryError) -> RQLToken? {
    switch UnicodeScalar(source[offset]) {
    case "$":
      let isKeyPath = source[offset + 1] == UInt8(ascii: "K")
      let digits = offset + (isKeyPath ? 2 : 1)
      let end = source.skipDigits(digits)
      guard end == nameEnd, end > digits else { return nil }
      let position = Int(clamping: decimal(digits..<end))
      return token(isKeyPath ? .keyPathArgument(position) : .argument(position), to: end)
    case "O":
      let end = source.skipDigits(offset + 1)
      guard end == nameEnd, end > offset + 1 else { return nil }
      return token(.constant(.link(try number(offset + 1..<end, as: UInt64.self))), to: end)
    case "L": return try typedLink(nameEnd)
    case "T": return try dateBySeconds(nameEnd)
    case "B" where source.has("B64\"", at: offset) && nameEnd == offset + 3: return try base64()
    case "u" where source.has("uuid(", at: offset) && nameEnd == offset + 4:
      let digits = try hexDigits("uuid(".utf8.count, groups: [8, 4, 4, 4, 12], "A UUID")
      return token(.constant(.uuid(SixteenBytes(digits.bytes))), to: digits.end)
    case "o" where source.has("oid(", at: offset) && nameEnd == offset + 3:
      let digits = try hexDigits("oid(".utf8.count, groups: [24], "An object id")
      return token(.constant(.objectID(ObjectIDBytes(digits.bytes))), to: digits.end)
    default: return nil
    }
  }

  private mutating func typedLink(_ nameEnd: Int) throws(QueryError) -> RQLToken? {
    let table = source.skipDigits(offset + 1)
    guard table > offset + 1, source[table] == UInt8(ascii: ":") else { return nil }
    let end = source.skipDigits(table + 1)
    guard end > table + 1, end >= nameEnd else { return nil }
    let link = Value.typedLink(
      table: try number(offset + 1..<table, as: UInt32.self),
      row: try number(table + 1..<end, as: UInt64.self))
    return token(.constant(link), to: end)
  }

  private mutating func pathOperator() throws(QueryError) -> RQLToken {
    var end = offset + 1
    while source[end].startsName { end += 1 }
    // The operator is the whole word behind `@`, because the grammar allows no name directly behind an operator.
    let text = source.string(SourceRange(offset, end))
    if let found = RQLToken.PathOperator(rawValue: text) { return token(.pathOperator(found), to: end) }
    let words = RQLToken.PathOperator.allCases.map(\.rawValue)
    throw source.syntaxError(
      "There is no operator of paths with this name", at: SourceRange(offset, end), expected: words,
      suggestion: Misspelling.nearest(to: text, among: words))
  }

  // MARK: Bytes

  private mutating func base64() throws(QueryError) -> RQLToken {
    let start = offset + 4
    guard let quote = source.bytes[start...].firstIndex(of: UInt8(ascii: "\"")) else {
      throw source.syntaxError(
        "The string has no closing quotation mark", at: SourceRange(offset, offset + 4))
    }
    guard let bytes = Base64.decode(source.bytes[start..<quote]) else {
      throw source.syntaxError(
        "This is not base64, which has groups of four of the characters A to Z, a to z, 0 to 9, `+` and `/`, the last one filled up with `=`",
        at: SourceRange(start, quote))
    }
    return token(.base64(bytes), to: quote + 1)
  }

  /// The bytes of hexadecimal digits in groups, which may be separated by `-`, with `)` behind them. The prefix of the
  /// literal has `prefix` bytes.
  private func hexDigits(
    _ prefix: Int, groups: [Int], _ what: String
  ) throws(QueryError) -> (bytes: [UInt8], end: Int) {
    var (digits, end): ([UInt8], Int) = ([], offset + prefix)
    for (index, count) in groups.enumerated() {
      if index > 0, source[end] == UInt8(ascii: "-") { end += 1 } else if index > 0 { break }
      let group = (0..<count).compactMap { source[end + $0].hexDigit }
      guard group.count == count else { break }
      digits += group
      end += count
    }
    guard digits.count == groups.reduce(0, +), source[end] == UInt8(ascii: ")") else {
      throw source.syntaxError(
        "\(what) has \(groups.map(String.init).joined(separator: "-")) hexadecimal digits and no blanks",
        at: SourceRange(offset, end))
    }
    let bytes = stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    return (bytes, end + 1)
  }

  // MARK: Names

  /// The name that a word of the text stands for: escaped blanks become blanks.
  static func name(_ text: String) -> String {
    guard text.utf8.contains(UInt8(ascii: "\\")) else { return text }
    var (bytes, rest): ([UInt8], [UInt8]) = ([], Array(text.utf8.reversed()))
    while let byte = rest.popLast() {
      if let next = rest.last, let blank = escapedBlank(byte, next) {
        bytes.append(blank)
        rest.removeLast()
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func escapedBlank(_ first: UInt8, _ second: UInt8) -> UInt8? {
    guard first == UInt8(ascii: "\\") else { return nil }
    return switch UnicodeScalar(second) {
    case " ": UInt8(ascii: " ")
    case "n": UInt8(ascii: "\n")
    case "r": UInt8(ascii: "\r")
    case "t": UInt8(ascii: "\t")
    default: nil
    }
  }
}

extension RQLLexer {
  /// Makes a token and goes on behind it. The other files of the lexer, which read numbers and dates, call this method.
  mutating func take(_ kind: RQLToken.Kind, to end: Int) -> RQLToken { token(kind, to: end) }

  /// The number of decimal digits, or the greatest number if they do not fit in 64 bits.
  func decimal(_ digits: Range<Int>) -> UInt64 {
    var number: UInt64 = 0
    for offset in digits {
      let (product, isOver) = number.multipliedReportingOverflow(by: 10)
      let (sum, isOverToo) = product.addingReportingOverflow(UInt64(source[offset] - UInt8(ascii: "0")))
      if isOver || isOverToo { return .max }
      number = sum
    }
    return number
  }

  /// The number of decimal digits, as a value of a type.
  ///
  /// - Throws: `QueryError` if the type can't hold the number.
  func number<Number: FixedWidthInteger>(
    _ digits: Range<Int>, as type: Number.Type
  ) throws(QueryError) -> Number {
    let value = decimal(digits)
    guard let number = Number(exactly: value), value < .max else {
      throw source.syntaxError(
        "The number is too large here", at: SourceRange(digits.lowerBound, digits.upperBound))
    }
    return number
  }
}
