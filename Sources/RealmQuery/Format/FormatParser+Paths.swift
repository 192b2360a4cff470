import RealmStorage

extension FormatParser {
  /// Whether a key path starts with the current token.
  var isPathStart: Bool {
    switch token.kind {
    case .word(nil), .word(.selfWord), .variable, .keyPath, .pathOperator: true
    default: false
    }
  }

  mutating func path() throws(QueryError) -> QuerySyntax.Path {
    var path = try dottedPath()
    while token.isSymbol(.openBracket) {
      try advance()
      path.steps.append(try bracketed())
      try expect(.closeBracket, "The bracket is not closed here")
      try followDots(&path)
    }
    path.range = path.range.to(previous)
    return path
  }

  /// Reads a key path without brackets. Paths inside brackets have this form, so the depth of brackets needs no room on
  /// the thread's stack.
  private mutating func dottedPath() throws(QueryError) -> QuerySyntax.Path {
    let start = token.range
    var path = QuerySyntax.Path(steps: [])
    switch token.kind {
    case .word(.selfWord):
      path.start = .selfWord
      try advance()
    case .variable: path.start = .variable(source.string(try advance()))
    default: path.steps = try segment()
    }
    try followDots(&path)
    path.range = start.to(previous)
    return path
  }

  private mutating func followDots(_ path: inout QuerySyntax.Path) throws(QueryError) {
    while token.isSymbol(.dot) {
      try advance()
      path.steps += try segment()
    }
  }

  /// Reads a name, an operator, or the segments that the argument of `%K` has. Behind a dot, each word is a name.
  private mutating func segment() throws(QueryError) -> [QuerySyntax.Step] {
    switch token.kind {
    case .word:
      let text = source.string(try advance())
      return [.name(text.hasPrefix("#") ? String(text.dropFirst()) : text)]
    case .pathOperator: return [Self.step(ofOperator: source.string(try advance()).dropFirst())]
    case .keyPath(let position):
      let text = try keyPath(position)
      let range = try advance()
      return try steps(text, range)
    default: throw error("A key path goes on with a name here", expected: ["a name"])
    }
  }

  /// The text of the key path that the argument of `%K` has.
  private func keyPath(_ position: Int) throws(QueryError) -> String {
    guard position < arguments.count else { throw missingArgument(position) }
    switch arguments[position] {
    case .keyPath(let text), .value(.string(let text)): return text
    default:
      throw invalid(
        "%K needs a key path, and argument number \(position + 1) is not one", at: token.range,
        kind: .invalidArgument)
    }
  }

  private func steps(_ text: String, _ range: SourceRange) throws(QueryError) -> [QuerySyntax.Step] {
    var steps: [QuerySyntax.Step] = []
    for segment in text.split(separator: ".", omittingEmptySubsequences: false) {
      guard !segment.isEmpty, segment != "@" else {
        throw invalid("The key path \(QueryError.shown(text)) has an empty name", at: range)
      }
      if segment.hasPrefix("@") {
        steps.append(Self.step(ofOperator: segment.dropFirst()))
      } else {
        steps.append(
          .name(segment.hasPrefix("#") && segment.count > 1 ? String(segment.dropFirst()) : String(segment)))
      }
    }
    return steps
  }

  private static func step(ofOperator name: Substring) -> QuerySyntax.Step {
    if let aggregate = QuerySyntax.Aggregate(rawValue: String(name)) { return .aggregate(aggregate) }
    return switch name {
    case "count": .count
    case "allKeys": .keys
    case "allValues": .values
    default: .unknownOperator(String(name))
    }
  }

  // MARK: Brackets

  /// Reads the subscript inside brackets.
  private mutating func bracketed() throws(QueryError) -> QuerySyntax.Step {
    let step: QuerySyntax.Step
    switch token.kind {
    case .string(let key): step = .key(key)
    case .integer(let index) where index <= UInt64(Int64.max): step = .index(Int64(index))
    case .symbol(.minus): return try negativeIndex()
    case .argument(let position):
      guard position < arguments.count else { throw missingArgument(position) }
      step = .argument(position)
    case .word(.first): step = .first
    case .word(.last): step = .last
    case .word(.size): step = .size
    case .keyPath(let position) where try keyPath(position) == "#any": step = .all
    default: return .computed(try computedIndex())
    }
    try advance()
    return step
  }

  private mutating func negativeIndex() throws(QueryError) -> QuerySyntax.Step {
    try advance()
    guard case .integer(let index) = token.kind, let number = Int64(exactly: index) else {
      throw error("An index must be an integer", expected: ["a number"])
    }
    try advance()
    return .index(-number)
  }

  /// Reads a value that is neither an index nor a key, and returns the index of its node. Binding refuses such
  /// subscripts.
  private mutating func computedIndex() throws(QueryError) -> Int {
    let range = token.range
    let constant: QuerySyntax.Constant
    switch token.kind {
    case .real: constant = .real(.init(text: source.string(token.range), isFloat: false))
    case .word(.isTrue): constant = .value(.bool(true))
    case .word(.isFalse): constant = .value(.bool(false))
    case .word(.null): constant = .value(.null)
    case .word(nil), .word(.selfWord), .variable, .keyPath:
      let path = try dottedPath()
      return stack.builder.add(.path(path), range: path.range)
    default:
      throw error(
        "An index or a key is needed in the brackets",
        expected: ["a number", "'key'", "FIRST", "LAST", "SIZE", "an argument such as %@"],
        words: ["FIRST", "LAST", "SIZE"])
    }
    try advance()
    return stack.builder.add(.constant(constant), range: range)
  }
}
