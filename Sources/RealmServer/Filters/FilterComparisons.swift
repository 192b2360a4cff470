import RealmQuery
import RealmStorage

/// The conversion of tests to conditions.
extension FilterReader {
  typealias Condition = FieldFilter.Condition
  typealias Operand = FieldFilter.Operand

  /// Returns the terms of a test, or of its opposite if the test must not hold.
  func terms(_ test: FilterTest) throws(FilterProblem) -> FilterTerms {
    switch test.testOperator {
    case .compare(let comparison): return try compare(test, comparison)
    case .isIn: return try isIn(test)
    case .between: return try between(test)
    case .beginsWith: return try text(test, .beginsWith)
    case .endsWith: return try text(test, .endsWith)
    case .contains: return try text(test, .contains)
    case .like: throw notKnown("LIKE", test)
    case .matches: throw notKnown("MATCHES", test)
    case .fullText: throw notKnown("TEXT", test)
    case .geoWithin: throw notKnown("GEOWITHIN", test)
    }
  }

  private func notKnown(_ word: String, _ test: FilterTest) -> FilterProblem {
    problem(
      "Filters have no \(word): use ==, !=, <, <=, >, >=, IN, BETWEEN, BEGINSWITH, ENDSWITH or CONTAINS",
      at: test.range)
  }

  // MARK: - Comparisons

  private func compare(
    _ test: FilterTest, _ comparison: Comparison
  ) throws(FilterProblem) -> FilterTerms {
    var (test, comparison) = (test, FieldFilter.Comparison(comparison))
    // The field goes to the left side. If there is no field, a value of the user goes there.
    if test.left.rank < test.right.rank {
      (test.left, test.right) = (test.right, test.left)
      comparison = comparison.mirrored
    }
    let subject = try subject(test)
    if comparison == .notEqual, test.left.isAny || test.right.isAny {
      throw problem(
        "ANY does not go with `!=`: write NOT and `==`, which says that none is equal", at: test.range)
    }
    if case .list = test.right.content {
      throw problem("A list stands behind IN: write IN in place of the operator", at: test.range)
    }
    let operands = try operands(test)
    let found = condition(subject, comparison, operands, test.isWanted)
    guard comparison != .equal, comparison != .notEqual else { return found }
    if operands == [.value(.null)] {
      throw problem("Null has no order: compare it by == or !=", at: test.range)
    }
    // In a property of strings, null comes before all strings.
    guard comparison == .less || comparison == .lessOrEqual, case .field(_, let type) = test.left.content,
      type == nil || type == .string, case .value(.string)? = operands.first
    else { return found }
    let null = condition(subject, .equal, [.value(.null)], test.isWanted)
    if test.isWanted { return try .any([found, null]) }
    return try .all([found, null])
  }

  private func condition(
    _ subject: FieldFilter.Subject, _ comparison: FieldFilter.Comparison, _ operands: [Operand],
    _ isWanted: Bool
  ) -> FilterTerms {
    FilterTerms(Condition(subject, isWanted ? comparison : comparison.negated, operands))
  }

  /// Returns the left side as a subject: a field, or a value that the server knows of the user.
  private func subject(_ test: FilterTest) throws(FilterProblem) -> FieldFilter.Subject {
    switch (test.left.content, test.right.content) {
    case (.field, .field):
      throw problem("Filters do not compare two properties: compare one with a constant", at: test.range)
    case (.field(let name, _), _): return .field(name)
    case (.user(let name), _): return .user(name)
    case (.partition, _):
      throw problem("$partition is compared with a property, or with what a user has", at: test.range)
    case (.constant, _), (.list, _):
      throw problem("Two constants are compared: compare a property with one of them", at: test.range)
    }
  }

  /// Returns the right side as operands.
  private func operands(_ test: FilterTest) throws(FilterProblem) -> [Operand] {
    var (field, type): (String?, ColumnType?) = (nil, nil)
    if case .field(let name, let known) = test.left.content { (field, type) = (name, known) }
    switch test.right.content {
    case .user(let name): return [.user(name)]
    case .partition: return [.partition]
    case .constant(let constant): return [.value(try value(constant, for: field, type, test.range))]
    case .list(let constants):
      var operands: [Operand] = []
      for constant in constants { operands.append(.value(try value(constant, for: field, type, test.range))) }
      return operands
    case .field: throw problem("A property stands on the left of the operator", at: test.range)
    }
  }

  private func isIn(_ test: FilterTest) throws(FilterProblem) -> FilterTerms {
    var test = test
    switch (test.left.content, test.right.content) {
    case (_, .list), (.field, .user), (.user, .user), (.field, .partition), (.user, .partition): break
    case (.constant, .user), (.partition, .user): (test.left, test.right) = (test.right, test.left)
    default:
      throw problem(
        "IN takes a list in braces on its right, such as `team IN {\"a\", \"b\"}`, or what a user has, and a "
          + "property with one value on its left", at: test.range)
    }
    return condition(try subject(test), .equal, try operands(test), test.isWanted)
  }

  private func between(_ test: FilterTest) throws(FilterProblem) -> FilterTerms {
    guard case .field(let name, _) = test.left.content, case .list(let bounds) = test.right.content else {
      throw problem("BETWEEN takes a property on its left and `{low, high}` on its right", at: test.range)
    }
    let operands = try operands(test)
    guard bounds.count == 2, !operands.contains(.value(.null)) else {
      throw problem("BETWEEN takes two values that have an order: `{low, high}`", at: test.range)
    }
    let low = condition(.field(name), .greaterOrEqual, [operands[0]], test.isWanted)
    let high = condition(.field(name), .lessOrEqual, [operands[1]], test.isWanted)
    if test.isWanted { return try .all([low, high]) }
    return try .any([low, high])
  }

  private func text(
    _ test: FilterTest, _ comparison: FieldFilter.Comparison
  ) throws(FilterProblem) -> FilterTerms {
    let subject = try subject(test)
    switch test.left.content {
    case .field(_, nil), .field(_, .string?), .field(_, .mixed?), .user: break
    default:
      throw problem(
        "BEGINSWITH, ENDSWITH and CONTAINS take a property of strings on their left", at: test.range)
    }
    switch test.right.content {
    case .constant(.value(.string)), .user, .partition: break
    default:
      throw problem(
        "BEGINSWITH, ENDSWITH and CONTAINS take a text in quotes on their right", at: test.range)
    }
    return condition(subject, comparison, try operands(test), test.isWanted)
  }
}

extension FilterSide {
  /// The side with the higher rank stands on the left.
  fileprivate var rank: Int {
    switch content {
    case .field: 2
    case .user: 1
    case .partition, .constant, .list: 0
    }
  }
}

extension FieldFilter.Comparison {
  fileprivate init(_ comparison: Comparison) {
    self =
      switch comparison {
      case .equal: .equal
      case .notEqual: .notEqual
      case .less: .less
      case .lessOrEqual: .lessOrEqual
      case .greater: .greater
      case .greaterOrEqual: .greaterOrEqual
      }
  }

  /// The comparison that says the same with its sides exchanged.
  fileprivate var mirrored: Self {
    switch self {
    case .less: .greater
    case .lessOrEqual: .greaterOrEqual
    case .greater: .less
    case .greaterOrEqual: .lessOrEqual
    default: self
    }
  }
}
