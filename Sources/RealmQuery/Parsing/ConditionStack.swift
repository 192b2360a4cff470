/// Joins values, tests and conditions by the precedence of their operators, which is the same in both languages.
///
/// The parts that are not complete yet are in stacks of this type. So brackets of any depth need no room on the stack
/// of the thread. A chain of operators takes time in proportion to its length, because its parts stay in one stack
/// until the chain ends.
struct ConditionStack {
  /// The most parentheses, NOTs and subqueries that may be open at the same time.
  static let maximumDepth = 10_000

  /// A complete value or condition.
  struct Operand {
    var node: Int
    var range: SourceRange
    /// Whether there are parentheses around it.
    var isBracketed = false
  }

  /// The part of a subquery before its condition.
  struct SubqueryHead {
    var collection: QuerySyntax.Path
    var variable: String
    var range: SourceRange
  }

  struct Test {
    var left: Operand
    var testOperator: QuerySyntax.TestOperator
    var options: QuerySyntax.TestOptions
    /// The place of the operator.
    var range: SourceRange
  }

  /// A part of the query that is not complete yet.
  enum Frame {
    case parenthesis(SourceRange)
    case subquery(SubqueryHead)
    case not(SourceRange)
    /// AND or OR. Its parts are in `parts`, from an index on.
    case join(isAnd: Bool, start: Int, range: SourceRange)
    case test(Test)
    /// A chain of arithmetic. Its steps are in `operations`, from an index on. The last step has no operand yet.
    case arithmetic(first: Operand, start: Int, isMultiplicative: Bool)

    /// The precedence of the part: a part with a greater level binds more tightly. Open brackets have the level 0.
    var level: Int {
      switch self {
      case .parenthesis, .subquery: 0
      case .join(let isAnd, _, _): isAnd ? 2 : 1
      case .not: 3
      case .test: 4
      case .arithmetic(_, _, let isMultiplicative): isMultiplicative ? 6 : 5
      }
    }
  }

  let source: SourceText
  /// Checks a test, and throws if the language does not allow it.
  let check: (Test, Operand, QuerySyntax.Builder) throws(QueryError) -> Void
  var builder = QuerySyntax.Builder()
  private var frames: [Frame] = []
  private var parts: [Int] = []
  private var operations: [QuerySyntax.Operation] = []
  private var depth = 0
  /// The value or condition that was read last, which an operator may follow; nil if a value or a condition has to
  /// follow.
  private(set) var current: Operand?

  init(
    _ source: SourceText,
    check: @escaping (Test, Operand, QuerySyntax.Builder) throws(QueryError) -> Void
  ) {
    self.source = source
    self.check = check
  }

  /// Whether the next operand is the right side of a test, or a part of arithmetic.
  var isInsideTest: Bool { (frames.last?.level ?? 0) >= 4 }

  /// Whether the current operand ends a test, so that only what can follow a condition can follow it.
  var endsTest: Bool {
    for frame in frames.reversed() {
      switch frame {
      case .arithmetic: continue
      case .test: return true
      default: return false
      }
    }
    return false
  }

  func isCondition(_ operand: Operand) -> Bool { builder.nodes[operand.node].kind.isCondition }

  // MARK: What the text has, in its order

  mutating func operand(
    _ kind: QuerySyntax.Kind, quantifier: QuerySyntax.Quantifier? = nil, range: SourceRange
  ) {
    current = Operand(node: builder.add(kind, quantifier: quantifier, range: range), range: range)
  }

  mutating func open(_ range: SourceRange) throws(QueryError) { try push(.parenthesis(range), range) }
  mutating func open(_ head: SubqueryHead) throws(QueryError) { try push(.subquery(head), head.range) }
  mutating func not(_ range: SourceRange) throws(QueryError) { try push(.not(range), range) }

  private mutating func push(_ frame: Frame, _ range: SourceRange) throws(QueryError) {
    depth += 1
    guard depth <= Self.maximumDepth else {
      throw source.syntaxError(
        "No more than \(Self.maximumDepth) parentheses, NOTs and subqueries may be open at a time", at: range)
    }
    frames.append(frame)
  }

  mutating func join(isAnd: Bool, _ range: SourceRange) throws(QueryError) {
    let level = isAnd ? 2 : 1
    try reduce(above: level)
    let part = try condition(before: range)
    if frames.last?.level != level {
      frames.append(.join(isAnd: isAnd, start: parts.count, range: part.range))
    }
    parts.append(part.node)
    current = nil
  }

  mutating func test(
    _ testOperator: QuerySyntax.TestOperator, _ options: QuerySyntax.TestOptions, _ range: SourceRange
  ) throws(QueryError) {
    try reduce(above: 4)
    if case .test(let test) = frames.last {
      throw source.syntaxError(
        "Tests can't be chained: join two tests by AND", at: test.range.to(range), expected: ["AND", "OR"])
    }
    let left = try value(range)
    frames.append(.test(Test(left: left, testOperator: testOperator, options: options, range: range)))
    current = nil
  }

  mutating func arithmetic(
    _ operation: QuerySyntax.ArithmeticOperator, _ range: SourceRange
  ) throws(QueryError) {
    let level = operation.isMultiplicative ? 6 : 5
    try reduce(above: level)
    let operand = try value(range)
    if case .arithmetic(_, _, operation.isMultiplicative) = frames.last {
      operations[operations.count - 1].operand = operand.node
    } else {
      frames.append(
        .arithmetic(
          first: operand, start: operations.count, isMultiplicative: operation.isMultiplicative))
    }
    operations.append(.init(operation, -1))
    current = nil
  }

  /// Closes the innermost parentheses or subquery. The current operand is then the content of the parentheses, or the
  /// condition of the subquery.
  ///
  /// - Returns: the head of the subquery; nil if parentheses were closed.
  mutating func close(_ range: SourceRange) throws(QueryError) -> SubqueryHead? {
    try reduce(above: 0)
    guard var content = current else { throw source.syntaxError("A value is missing here", at: range) }
    switch frames.popLast() {
    case .parenthesis(let start)?:
      content.range = start.to(range)
      content.isBracketed = true
      current = content
      depth -= 1
      return nil
    case .subquery(let head)?:
      current = try condition(before: range)
      depth -= 1
      return head
    default:
      throw source.syntaxError("This parenthesis closes none that is open", at: range)
    }
  }

  mutating func subquery(_ head: SubqueryHead, isCounted: Bool, end: SourceRange) throws(QueryError) {
    let part = try condition(before: end)
    operand(
      .subquery(
        .init(
          collection: head.collection, variable: head.variable, condition: part.node, isCounted: isCounted)),
      range: head.range.to(end))
  }

  /// Ends the whole condition, and returns the index of its node.
  mutating func finish(_ end: SourceRange) throws(QueryError) -> Int {
    try reduce(above: 0)
    switch frames.last {
    case .parenthesis(let range)?:
      throw source.syntaxError("The parenthesis is not closed", at: range, expected: [")"])
    case .subquery(let head)?:
      throw source.syntaxError("The SUBQUERY is not closed", at: head.range, expected: [")"])
    default: return try condition(before: end).node
    }
  }

  // MARK: Completing

  private func condition(before range: SourceRange) throws(QueryError) -> Operand {
    guard let current else {
      throw source.syntaxError("A condition is missing before this", at: range)
    }
    guard isCondition(current) else {
      throw source.syntaxError(
        "A condition is needed here, and this is only a value: compare it with something",
        at: current.range, expected: ["==", "!=", "<", ">", "IN", "CONTAINS", "BEGINSWITH", "..."])
    }
    return current
  }

  private func value(_ range: SourceRange) throws(QueryError) -> Operand {
    guard let current else { throw source.syntaxError("A value is missing before this", at: range) }
    guard !isCondition(current) else {
      throw source.syntaxError(
        "The operator needs a value, and this is a condition", at: current.range,
        expected: ["AND", "OR"])
    }
    return current
  }

  /// Completes all parts whose level is greater than `level`.
  private mutating func reduce(above level: Int) throws(QueryError) {
    while let frame = frames.last, frame.level > level {
      try complete(frame)
    }
  }

  private mutating func complete(_ frame: Frame) throws(QueryError) {
    switch frame {
    case .parenthesis, .subquery: break
    case .not(let range):
      let part = try condition(before: range)
      operand(.not(part.node), range: range.to(part.range))
      depth -= 1
    case .join(let isAnd, let start, let range):
      let last = try condition(before: range)
      let joined = Array(parts[start...]) + [last.node]
      parts.removeLast(parts.count - start)
      operand(isAnd ? .and(joined) : .or(joined), range: range.to(last.range))
    case .test(let test):
      let right = try value(test.range)
      try check(test, right, builder)
      operand(
        .test(
          left: test.left.node, operator: test.testOperator, options: test.options, right: right.node),
        range: test.left.range.to(right.range))
    case .arithmetic(let first, let start, _):
      let last = try value(first.range)
      operations[operations.count - 1].operand = last.node
      let rest = Array(operations[start...])
      operations.removeLast(operations.count - start)
      operand(.arithmetic(first: first.node, rest: rest), range: first.range.to(last.range))
    }
    frames.removeLast()
  }
}
