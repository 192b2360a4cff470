import RealmStorage

/// Parses the format of `NSPredicate`.
struct FormatParser {
  var lexer: FormatLexer
  var token: FormatToken
  /// The place of the token before the current one.
  var previous = SourceRange.none
  var stack: ConditionStack
  let arguments: [QueryArgument]

  var source: SourceText { lexer.source }

  init(_ source: SourceText, _ arguments: [QueryArgument]) throws(QueryError) {
    lexer = FormatLexer(source)
    token = try lexer.next()
    stack = ConditionStack(source) { _, _, _ in }
    self.arguments = arguments
  }

  mutating func parse() throws(QueryError) -> QuerySyntax {
    if token.kind == .end {
      throw error("The format is empty", expected: ["a condition", "TRUEPREDICATE"])
    }
    while try step() {}
    let root = try stack.finish(token.range)
    return stack.builder.syntax(root: root)
  }

  /// Reads an operand or an operator.
  ///
  /// - Returns: false at the end of the format.
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
    case .word(let keyword):
      guard let testOperator = keyword?.testOperator else { throw unexpectedOperator(current) }
      try test(testOperator)
    case .end: return false
    default: throw unexpectedOperator(current)
    }
    return true
  }

  private mutating func close() throws(QueryError) {
    guard let head = try stack.close(advance()) else { return }
    guard token.isSymbol(.dot) else {
      try stack.subquery(head, isCounted: false, end: previous)
      return
    }
    try advance()
    guard token.kind == .pathOperator, source.string(token.range) == "@count" else {
      throw error("A SUBQUERY must be followed by its number of objects", expected: ["@count"])
    }
    try stack.subquery(head, isCounted: true, end: advance())
  }

  private mutating func test(_ testOperator: QuerySyntax.TestOperator) throws(QueryError) {
    let range = try advance()
    try stack.test(testOperator, try options(), range)
  }

  /// Reads the options behind an operator: letters in brackets.
  private mutating func options() throws(QueryError) -> QuerySyntax.TestOptions {
    guard token.isSymbol(.openBracket) else { return [] }
    try advance()
    var options: QuerySyntax.TestOptions = []
    guard case .word = token.kind else {
      throw error("Options must be letters", expected: ["[c]", "[d]", "[cd]"])
    }
    let letters = Array(source.string(token.range).lowercased().utf8)
    for (place, letter) in letters.enumerated() {
      switch UnicodeScalar(letter) {
      case "c":
        let isLatin1 = place + 1 < letters.count && letters[place + 1] == UInt8(ascii: "1")
        options.insert(isLatin1 ? .latin1Case : .ignoringCase)
      case "1" where place > 0 && letters[place - 1] == UInt8(ascii: "c"): break
      case "d": options.insert(.ignoringDiacritics)
      case "n", "l": break
      default:
        throw error(
          "The options are c, d, n, l and c1", expected: ["[c]", "[c1]", "[d]", "[cd]"])
      }
    }
    guard !options.isSuperset(of: [.ignoringCase, .latin1Case]) else {
      throw error("The options c and c1 exclude each other", expected: ["[c]", "[c1]"])
    }
    try advance()
    try expect(.closeBracket, "The options are not closed here")
    return options
  }

  // MARK: Tokens

  /// Goes on to the next token, and returns the place of the token that it leaves.
  @discardableResult
  mutating func advance() throws(QueryError) -> SourceRange {
    previous = token.range
    token = try lexer.next()
    return previous
  }

  mutating func expect(_ symbol: Symbol, _ message: String, expected: [String]? = nil) throws(QueryError) {
    guard token.isSymbol(symbol) else { throw error(message, expected: expected ?? [symbol.rawValue]) }
    try advance()
  }

  /// An error about the current token.
  func error(_ message: String, expected: [String] = [], words: [String] = []) -> QueryError {
    let isEnd = token.kind == .end && !source.bytes.isEmpty
    return source.syntaxError(
      isEnd ? message + ", but the text ends" : message, at: token.range, expected: expected,
      suggestion: Misspelling.nearest(to: source.string(token.range), among: words))
  }

  func invalid(_ message: String, at range: SourceRange, kind: QueryError.Kind = .invalidQuery) -> QueryError
  {
    QueryError(kind, message, range: range, in: source)
  }

  private func unexpectedOperator(_ current: ConditionStack.Operand) -> QueryError {
    let name = QueryError.shown(source.string(token.range))
    if stack.isCondition(current) || stack.endsTest {
      return error(
        "\(name) can't follow a condition", expected: ["AND", "OR", "the end"], words: ["AND", "OR"])
    }
    return error(
      "\(name) can't follow a value",
      expected: ["an operator such as ==, <, IN or CONTAINS", "AND", "OR"],
      words: [
        "IN", "CONTAINS", "BEGINSWITH", "ENDSWITH", "LIKE", "MATCHES", "BETWEEN", "AND", "OR",
      ])
  }
}
