extension RQLParser {
  /// The kinds of steps that may end a path.
  enum PathEnds {
    /// No number of elements, type or aggregate, as in SORT.
    case nothing
    /// A number of elements, a type or an aggregate.
    case ends
  }

  /// Whether a path starts with the current token.
  var isPathStart: Bool {
    switch token.kind {
    case .word(let keyword): keyword?.isName ?? true
    case .keyPathArgument, .pathOperator(.links), .pathOperator(.keys), .pathOperator(.values): true
    default: false
    }
  }

  mutating func path(with ends: PathEnds) throws(QueryError) -> QuerySyntax.Path {
    guard isPathStart else { throw nameNeeded() }
    let start = token.range
    var path = QuerySyntax.Path(steps: [])
    switch token.kind {
    case .keyPathArgument(let position):
      path.start = .argument(position)
      try advance()
      if ends == .nothing {
        throw QueryError(
          .invalidQuery, "A key path argument can't be used here", range: previous, in: source)
      }
    case .word:
      let text = RQLLexer.name(source.string(token.range))
      if text.utf8.first == UInt8(ascii: "$") {
        path.start = .variable(text)
      } else {
        path.steps = [.name(text)]
      }
      try advance()
    default: path.steps = [try named()]
    }
    while try step(&path, ends) {}
    path.range = start.to(previous)
    return path
  }

  private func nameNeeded() -> QueryError {
    if let keyword = token.keyword, !keyword.isName {
      return error(
        "The word \(QueryError.shown(source.string(token.range))) is a keyword and can't name a property: "
          + "pass the name as an argument, $K0", expected: ["the name of a property"])
    }
    return error("The name of a property is needed here")
  }

  /// Reads a step.
  ///
  /// - Returns: false if the path ends.
  private mutating func step(_ path: inout QuerySyntax.Path, _ ends: PathEnds) throws(QueryError) -> Bool {
    let range = token.range
    if token.isSymbol(.openBracket) {
      try advance()
      let step = try bracketed()
      try expect(.closeBracket, "The bracket is not closed here")
      if step == .size && ends == .nothing {
        throw source.syntaxError("The number of elements can't be used here", at: range.to(previous))
      }
      try checkNotArgument(path, range)
      path.steps.append(step)
      return step != .size
    }
    guard token.isSymbol(.dot) else { return false }
    try advance()
    if case .pathOperator(let found) = token.kind, found.isEnd {
      guard ends == .ends else {
        throw error("\(found.rawValue) can't stand here", expected: ["the name of a property"])
      }
      try end(&path, found)
      return false
    }
    try checkNotArgument(path, token.range)
    path.steps.append(try named())
    return true
  }

  /// Throws if the path starts with a key path argument, which is a whole path.
  private func checkNotArgument(_ path: QuerySyntax.Path, _ range: SourceRange) throws(QueryError) {
    guard case .argument = path.start else { return }
    throw QueryError(
      .invalidQuery, "A key path argument is a whole path: only an operator such as @count can follow it",
      range: range, in: source)
  }

  /// Reads `@count`, `@size`, `@type`, or an aggregate with the name behind it.
  private mutating func end(
    _ path: inout QuerySyntax.Path, _ found: RQLToken.PathOperator
  ) throws(QueryError) {
    try advance()
    guard let aggregate = found.aggregate else {
      path.steps.append(found == .type ? .type : .count)
      return
    }
    path.steps.append(.aggregate(aggregate))
    guard token.isSymbol(.dot) else { return }
    try advance()
    guard case .word = token.kind, isPathStart else { throw nameNeeded() }
    path.steps.append(.name(RQLLexer.name(source.string(token.range))))
    try advance()
  }

  /// Reads a name, or `@links`, `@keys` or `@values`.
  private mutating func named() throws(QueryError) -> QuerySyntax.Step {
    switch token.kind {
    case .pathOperator(.keys):
      try advance()
      return .keys
    case .pathOperator(.values):
      try advance()
      return .values
    case .pathOperator(.links):
      try advance()
      return try links()
    case .word where isPathStart:
      let name = RQLLexer.name(source.string(token.range))
      try advance()
      return .name(name)
    default: throw nameNeeded()
    }
  }

  /// Reads what follows `@links`: a class and a property. If neither follows, the step is `@links` alone.
  private mutating func links() throws(QueryError) -> QuerySyntax.Step {
    guard token.isSymbol(.dot), let className = try nameBehindDot() else { return .allLinks }
    guard token.isSymbol(.dot), let property = try nameBehindDot() else {
      throw QueryError(
        .invalidQuery, "@links needs a class and a property that links to this class",
        range: previous, in: source, expected: ["@links.Class.property"])
    }
    return .links(from: className, property: property)
  }

  /// Reads a dot and the name behind it. Reads nothing and returns nil if no name is behind the dot.
  private mutating func nameBehindDot() throws(QueryError) -> String? {
    var ahead = lexer
    let next = try ahead.next()
    guard case .word(let keyword) = next.kind, keyword?.isName ?? true else { return nil }
    try advance()
    try advance()
    return RQLLexer.name(source.string(next.range))
  }

  /// Reads the subscript inside brackets.
  private mutating func bracketed() throws(QueryError) -> QuerySyntax.Step {
    let step: QuerySyntax.Step
    switch token.kind {
    case .integer(let index, hasSign: false): step = .index(index)
    case .string(let key): step = .key(key)
    case .argument(let position): step = .argument(position)
    case .word(.first): step = .first
    case .word(.last): step = .last
    case .word(.size): step = .size
    case .symbol(.times): step = .all
    default:
      throw error(
        "An index or a key is needed in the brackets",
        expected: ["a number", "'key'", "FIRST", "LAST", "SIZE", "*", "an argument such as $0"],
        words: ["FIRST", "LAST", "SIZE"])
    }
    try advance()
    return step
  }
}

extension RQLToken.PathOperator {
  /// Whether the operator can only be at the end of a path.
  fileprivate var isEnd: Bool {
    switch self {
    case .keys, .values, .links: false
    default: true
    }
  }
}
