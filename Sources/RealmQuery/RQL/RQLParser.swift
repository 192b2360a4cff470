import RealmStorage

/// Parses RQL, Realm's own query language.
struct RQLParser {
  var lexer: RQLLexer
  var token: RQLToken
  /// The place of the token before the current one.
  var previous = SourceRange.none
  var stack: ConditionStack

  var source: SourceText { lexer.source }

  init(_ source: SourceText) throws(QueryError) {
    lexer = RQLLexer(source)
    token = try lexer.next()
    stack = ConditionStack(source) { test, right, builder throws(QueryError) in
      try RQLParser.check(test, right, builder, source)
    }
  }

  mutating func parse() throws(QueryError) -> QuerySyntax {
    if token.kind == .end {
      throw error("The query is empty", expected: ["a condition", "TRUEPREDICATE"])
    }
    while try step() {}
    let root = try stack.finish(token.range)
    var descriptors: [QuerySyntax.Descriptor] = []
    while token.kind != .end { descriptors.append(try descriptor()) }
    return stack.builder.syntax(root: root, descriptors: descriptors)
  }

  /// Reads an operand or an operator.
  ///
  /// - Returns: false if the condition ends.
  private mutating func step() throws(QueryError) -> Bool {
    guard let current = stack.current else {
      try operand()
      return true
    }
    switch token.kind {
    case .symbol(.and), .word(.and): try stack.join(isAnd: true, advance())
    case .symbol(.or), .word(.or): try stack.join(isAnd: false, advance())
    case .symbol(.closeParenthesis): try close()
    case .symbol(let symbol):
      if let operation = symbol.arithmeticOperator {
        try stack.arithmetic(operation, advance())
      } else if let testOperator = symbol.testOperator {
        try test(testOperator)
      } else {
        throw unexpectedOperator(current)
      }
    case .word(let keyword?):
      guard let testOperator = keyword.testOperator else { return try endsHere(keyword, current) }
      try test(testOperator)
    case .end: return false
    default: throw unexpectedOperator(current)
    }
    return true
  }

  private func endsHere(
    _ keyword: Keyword, _ current: ConditionStack.Operand
  ) throws(QueryError) -> Bool {
    switch keyword {
    case .sort, .distinct, .limit: return false
    default: throw unexpectedOperator(current)
    }
  }

  private mutating func close() throws(QueryError) {
    guard let head = try stack.close(advance()) else { return }
    try expect(.dot, "A SUBQUERY must be followed by its number of objects", expected: [".@count", ".@size"])
    guard token.kind == .pathOperator(.count) || token.kind == .pathOperator(.size) else {
      throw error(
        "A SUBQUERY must be followed by its number of objects", expected: ["@count", "@size"])
    }
    try stack.subquery(head, isCounted: true, end: advance())
  }

  private mutating func test(_ testOperator: QuerySyntax.TestOperator) throws(QueryError) {
    let range = try advance()
    var options: QuerySyntax.TestOptions = []
    if case .caseOption(let option) = token.kind {
      guard Self.takesCase(testOperator) else {
        throw error("The operator before this has no option `\(source.string(token.range))`")
      }
      options = option
      try advance()
    }
    try stack.test(testOperator, options, range)
    if testOperator == .geoWithin { try geoOperand() }
  }

  private static func takesCase(_ testOperator: QuerySyntax.TestOperator) -> Bool {
    switch testOperator {
    case .compare(.equal), .compare(.notEqual), .isIn, .beginsWith, .endsWith, .contains, .like: true
    default: false
    }
  }

  /// Throws if the grammar does not allow the operands of a test.
  private static func check(
    _ test: ConditionStack.Test, _ right: ConditionStack.Operand, _ builder: QuerySyntax.Builder,
    _ source: SourceText
  ) throws(QueryError) {
    if case .compare = test.testOperator { return }
    if test.testOperator == .isIn { return }
    for operand in [test.left, right] {
      if case .arithmetic = builder.nodes[operand.node].kind {
        throw source.syntaxError("This operator can't be used with arithmetic", at: operand.range)
      }
      if operand.isBracketed {
        throw source.syntaxError(
          "The operator takes no value in parentheses: leave them out", at: operand.range)
      }
    }
    if test.testOperator == .between {
      guard case .list = builder.nodes[right.node].kind else {
        throw source.syntaxError(
          "BETWEEN needs two values in braces", at: right.range, expected: ["{low, high}"])
      }
    }
    if test.testOperator == .geoWithin {
      guard case .path(let path) = builder.nodes[test.left.node].kind,
        !path.steps.contains(where: \.isAggregate)
      else {
        throw source.syntaxError(
          "GEOWITHIN needs a property on its left", at: test.left.range, expected: ["a property"])
      }
    }
  }

  // MARK: Tokens

  /// Goes on to the next token, and returns the place of the token that it leaves.
  @discardableResult
  mutating func advance() throws(QueryError) -> SourceRange {
    previous = token.range
    token = try lexer.next()
    return previous
  }

  mutating func expect(
    _ symbol: Symbol, _ message: String, expected: [String]? = nil
  ) throws(QueryError) {
    guard token.isSymbol(symbol) else { throw error(message, expected: expected ?? [symbol.rawValue]) }
    try advance()
  }

  /// An error about the current token.
  func error(_ message: String, expected: [String] = [], words: [String] = []) -> QueryError {
    let isEnd = token.kind == .end && !source.bytes.isEmpty
    let text = source.string(token.range)
    return source.syntaxError(
      isEnd ? message + ", but the text ends" : message, at: token.range, expected: expected,
      suggestion: Misspelling.nearest(to: text, among: words))
  }

  private func unexpectedOperator(_ current: ConditionStack.Operand) -> QueryError {
    let name = QueryError.shown(source.string(token.range))
    let number = if case .integer(_, hasSign: true) = token.kind { true } else { false }
    if number {
      return source.syntaxError(
        "The sign belongs to the number \(name): put a space after it for arithmetic", at: token.range)
    }
    if stack.isCondition(current) || stack.endsTest {
      return error(
        "\(name) can't follow a condition", expected: ["AND", "OR", "SORT", "DISTINCT", "LIMIT", "the end"],
        words: ["AND", "OR", "SORT", "DISTINCT", "LIMIT"])
    }
    let words = [
      "IN", "CONTAINS", "BEGINSWITH", "ENDSWITH", "LIKE", "TEXT", "BETWEEN", "GEOWITHIN", "AND", "OR",
    ]
    return error(
      "\(name) can't follow a value",
      expected: ["an operator such as ==, <, IN or CONTAINS", "AND", "OR"], words: words)
  }
}
