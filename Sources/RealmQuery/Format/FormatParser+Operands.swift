import RealmStorage

extension FormatParser {
  /// Reads the start of a condition or a value.
  mutating func operand() throws(QueryError) {
    let range = token.range
    switch token.kind {
    case .symbol(.openParenthesis): try stack.open(advance())
    case .symbol(.not), .word(.not): try stack.not(advance())
    case .word(.truepredicate): try stack.operand(.always, range: advance())
    case .word(.falsepredicate): try stack.operand(.never, range: advance())
    case .word(.subquery): try subquery()
    case .word(.any), .word(.all), .word(.noneOf):
      guard !stack.isInsideTest else {
        throw error("A word such as ANY can only be used on the left of the operator")
      }
      let quantifier = token.keyword?.quantifier
      try advance()
      let kind = try value()
      stack.operand(kind, quantifier: quantifier, range: range.to(previous))
    default:
      let kind = try value()
      stack.operand(kind, range: range.to(previous))
    }
  }

  private mutating func value() throws(QueryError) -> QuerySyntax.Kind {
    switch token.kind {
    case .symbol(.openBrace): return try list()
    case .argument: return .argument(try argument())
    default: break
    }
    if let constant = try constant() { return .constant(constant) }
    guard isPathStart else { throw valueNeeded() }
    let path = try path()
    if token.isSymbol(.openParenthesis) {
      throw invalid("Queries can't call functions", at: path.range.to(token.range))
    }
    return .path(path)
  }

  private func valueNeeded() -> QueryError {
    if let keyword = token.keyword {
      let text = source.string(token.range)
      switch keyword {
      case .cast, .ternary, .function, .fetch:
        return invalid("\(text.uppercased()) can't be used in queries", at: token.range)
      default:
        return error(
          "The word `\(text)` is a keyword: write a property of this name as `#\(text)`",
          expected: ["a key path", "a constant", "an argument such as %@"])
      }
    }
    return error(
      "A value is needed here",
      expected: ["a key path", "a constant", "an argument such as %@", "a list in braces"])
  }

  /// Reads the argument specifier at the current token, and returns the position of its argument.
  private mutating func argument() throws(QueryError) -> Int {
    guard case .argument(let position) = token.kind else { return 0 }
    guard position < arguments.count else { throw missingArgument(position) }
    try advance()
    return position
  }

  func missingArgument(_ position: Int) -> QueryError {
    let passed = arguments.count == 1 ? "1 was passed" : "\(arguments.count) were passed"
    return invalid(
      "The format needs more arguments than there are: this is number \(position + 1), and \(passed)",
      at: token.range, kind: .invalidArgument)
  }

  private mutating func subquery() throws(QueryError) {
    let start = try advance()
    try expect(.openParenthesis, "SUBQUERY needs a key path, a variable and a condition in parentheses")
    guard isPathStart else { throw error("SUBQUERY needs a key path first", expected: ["a key path"]) }
    let collection = try path()
    try expect(.comma, "A comma is needed after the key path of a SUBQUERY")
    guard token.kind == .variable else {
      throw error("The variable of a SUBQUERY must start with `$`", expected: ["a variable such as $x"])
    }
    let variable = source.string(try advance())
    try expect(.comma, "A comma is needed after the variable of a SUBQUERY")
    try stack.open(
      ConditionStack.SubqueryHead(
        collection: collection, variable: variable, range: start.to(previous)))
  }

  // MARK: Lists

  /// Reads a list in braces. A list in a list is refused, so the depth of braces needs no room on the thread's stack.
  private mutating func list() throws(QueryError) -> QuerySyntax.Kind {
    try advance()
    var elements: [Int] = []
    if !token.isSymbol(.closeBrace) {
      repeat {
        if !elements.isEmpty { try advance() }
        if token.isSymbol(.openBrace) {
          throw invalid("No query has a list in a list", at: token.range)
        }
        let range = token.range
        let kind = try value()
        elements.append(stack.builder.add(kind, range: range.to(previous)))
      } while token.isSymbol(.comma)
    }
    try expect(.closeBrace, "The list is not closed here", expected: [",", "}"])
    return .list(elements)
  }

  // MARK: Constants

  /// Reads a constant; nil if the current token starts none.
  private mutating func constant() throws(QueryError) -> QuerySyntax.Constant? {
    let constant: QuerySyntax.Constant
    switch token.kind {
    case .symbol(.minus), .symbol(.plus): return try signed()
    case .integer(let magnitude): constant = .value(.int(try integer(magnitude, isNegative: false)))
    case .real: constant = .real(.init(text: source.string(token.range), isFloat: false))
    case .string(let text): constant = .value(.string(text))
    case .word(.isTrue): constant = .value(.bool(true))
    case .word(.isFalse): constant = .value(.bool(false))
    case .word(.null): constant = .value(.null)
    default: return nil
    }
    try advance()
    return constant
  }

  /// Reads a sign and the number behind it.
  private mutating func signed() throws(QueryError) -> QuerySyntax.Constant {
    let isNegative = token.isSymbol(.minus)
    try advance()
    let constant: QuerySyntax.Constant
    switch token.kind {
    case .integer(let magnitude): constant = .value(.int(try integer(magnitude, isNegative: isNegative)))
    case .real:
      let digits = source.string(token.range)
      constant = .real(.init(text: isNegative ? "-" + digits : digits, isFloat: false))
    default: throw error("A sign can only be used before a number", expected: ["a number"])
    }
    try advance()
    return constant
  }

  private func integer(_ magnitude: UInt64, isNegative: Bool) throws(QueryError) -> Int64 {
    if !isNegative, let number = Int64(exactly: magnitude) { return number }
    if isNegative, magnitude <= UInt64(Int64.max) + 1 { return Int64(truncatingIfNeeded: 0 &- magnitude) }
    throw error("The integer does not fit in 64 bits")
  }
}
