import RealmStorage

extension RQLParser {
  /// Reads the start of a condition or a value.
  mutating func operand() throws(QueryError) {
    let range = token.range
    switch token.kind {
    case .symbol(.openParenthesis): try stack.open(advance())
    case .symbol(.not), .word(.not): try stack.not(advance())
    case .word(.truepredicate): try stack.operand(.always, range: advance())
    case .word(.falsepredicate): try stack.operand(.never, range: advance())
    case .word(.any), .word(.all), .word(.noneOf): try quantified()
    case .word(.subquery): try subquery()
    default:
      let kind = try value(quantifier: nil)
      stack.operand(kind, range: range.to(previous))
    }
  }

  private mutating func quantified() throws(QueryError) {
    let (range, quantifier) = (token.range, token.keyword?.quantifier)
    try advance()
    let kind = try value(quantifier: quantifier)
    stack.operand(kind, quantifier: quantifier, range: range.to(previous))
  }

  /// Reads a value.
  ///
  /// - Parameter quantifier: the quantifier before the value. No constant and no aggregate can follow one.
  private mutating func value(
    quantifier: QuerySyntax.Quantifier?
  ) throws(QueryError) -> QuerySyntax.Kind {
    if token.isSymbol(.openBrace) { return .list(try list()) }
    if case .argument(let position) = token.kind {
      try advance()
      return .argument(position)
    }
    if quantifier == nil, let constant = try constant() { return .constant(constant) }
    guard isPathStart else {
      throw error(
        quantifier == nil
          ? "A value is needed here" : "A quantifier must be followed by a path, a list or an argument",
        expected: quantifier == nil
          ? ["a property", "a constant", "an argument such as $0", "a list in braces"]
          : ["a property", "a list in braces", "an argument such as $0"])
    }
    let path = try path(with: .ends)
    if quantifier != nil, path.steps.contains(where: \.isAggregate) {
      throw source.syntaxError("A quantifier can't be used before an aggregate", at: path.range)
    }
    return .path(path)
  }

  /// Reads a list in braces, and returns the nodes of its elements.
  private mutating func list() throws(QueryError) -> [Int] {
    try advance()
    var elements: [Int] = []
    if !token.isSymbol(.closeBrace) {
      repeat {
        if !elements.isEmpty { try advance() }
        elements.append(try element())
      } while token.isSymbol(.comma)
    }
    try expect(.closeBrace, "The list is not closed here", expected: [",", "}"])
    return elements
  }

  private mutating func element() throws(QueryError) -> Int {
    let range = token.range
    let quantifier = token.keyword?.quantifier
    if quantifier != nil { try advance() }
    if case .argument(let position) = token.kind {
      try advance()
      return stack.builder.add(.argument(position), quantifier: quantifier, range: range.to(previous))
    }
    guard quantifier == nil, let constant = try constant() else {
      throw error("A list can only hold constants and arguments", expected: ["a constant", "an argument"])
    }
    return stack.builder.add(.constant(constant), range: range.to(previous))
  }

  private mutating func subquery() throws(QueryError) {
    let start = try advance()
    try expect(.openParenthesis, "SUBQUERY needs a path, a variable and a condition in parentheses")
    let collection = try path(with: .nothing)
    try expect(.comma, "A comma is needed after the path of a SUBQUERY")
    let text = source.string(token.range)
    guard case .word = token.kind, text.utf8.first == UInt8(ascii: "$"), text.utf8.count > 1 else {
      throw error("The variable of a SUBQUERY must start with `$`", expected: ["a variable such as $x"])
    }
    try advance()
    try expect(.comma, "A comma is needed after the variable of a SUBQUERY")
    try stack.open(
      ConditionStack.SubqueryHead(
        collection: collection, variable: RQLLexer.name(text), range: start.to(previous)))
  }

  // MARK: Constants

  /// Reads a constant; nil if the current token starts none.
  private mutating func constant() throws(QueryError) -> QuerySyntax.Constant? {
    let constant: QuerySyntax.Constant
    switch token.kind {
    case .integer(let number, _): constant = .value(.int(number))
    case .real(let literal): constant = .real(literal)
    case .string(let text): constant = .value(.string(text))
    case .base64(let bytes): constant = .value(.string(try string(bytes)))
    case .constant(let value): constant = .value(value)
    case .word(.isTrue): constant = .value(.bool(true))
    case .word(.isFalse): constant = .value(.bool(false))
    case .word(.null): constant = .value(.null)
    case .word(.infinity): constant = .real(.init(text: "inf", isFloat: false))
    case .word(.nan): constant = .real(.init(text: "nan", isFloat: false))
    case .word(.binary): return try binary()
    case .word(.obj): return try object()
    default: return nil
    }
    try advance()
    return constant
  }

  private func string(_ bytes: [UInt8]) throws(QueryError) -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw error("The bytes of a string must be UTF-8: write binary(B64\"...\") for other bytes")
    }
    return text
  }

  /// Reads `binary(...)` or `bin(...)`; nil if the word is a name, because no parenthesis follows.
  private mutating func binary() throws(QueryError) -> QuerySyntax.Constant? {
    var ahead = lexer
    guard try ahead.next().isSymbol(.openParenthesis) else { return nil }
    try advance()
    try advance()
    let bytes: [UInt8]
    switch token.kind {
    case .string(let text): bytes = Array(text.utf8)
    case .base64(let decoded): bytes = decoded
    default: throw error("Data must be in quotation marks", expected: ["'text'", "B64\"...\""])
    }
    try advance()
    try expect(.closeParenthesis, "The data is not closed here")
    return .value(.data(bytes))
  }

  /// Reads `obj('Class', key)`.
  private mutating func object() throws(QueryError) -> QuerySyntax.Constant {
    try advance()
    try expect(.openParenthesis, "obj needs the name of a class and a primary key in parentheses")
    guard case .string(let name) = token.kind else {
      throw error("The name of a class must be in quotation marks", expected: ["'Class'"])
    }
    try advance()
    try expect(.comma, "A comma is needed after the name of the class")
    let key: QuerySyntax.ObjectKey
    switch token.kind {
    case .integer(let number, _): key = .value(.int(number))
    case .string(let text): key = .value(.string(text))
    case .base64(let bytes): key = .value(.string(try string(bytes)))
    case .constant(.uuid(let bytes)): key = .value(.uuid(bytes))
    case .constant(.objectID(let bytes)): key = .value(.objectID(bytes))
    case .argument(let position): key = .argument(position)
    default:
      throw error(
        "This is no primary key",
        expected: ["an integer", "a string", "a UUID", "an object id", "an argument"])
    }
    try advance()
    try expect(.closeParenthesis, "obj is not closed here")
    return .object(class: name, key: key)
  }
}

extension QuerySyntax.Step {
  var isAggregate: Bool { if case .aggregate = self { true } else { false } }
}
