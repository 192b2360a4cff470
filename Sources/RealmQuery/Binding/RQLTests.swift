import RealmStorage

/// The tests by the rules of RQL.
extension BindingRun {
  func rqlTest(_ test: TestSyntax) throws(QueryError) -> Predicate {
    switch test.testOperator {
    case .fullText:
      throw invalid("The operator TEXT is not supported yet: no column has an index of words", test.range)
    case .geoWithin: throw shapesNotSupported(test.range)
    case .matches: throw invalid("RQL has no operator MATCHES: use LIKE", test.range)
    default: break
    }
    let left = try operand(test.left)
    var right = try operand(test.right)
    if test.testOperator == .isIn || test.testOperator == .between { right = right.unfolded }
    if left.isConstant, right.isConstant {
      throw invalid(
        "Two constants are compared without a property: the result is the same for all objects", test.range)
    }
    try checkQuantifier(left)
    try checkQuantifier(right)
    if case .path(let one) = left.content, case .path(let two) = right.content, one.holdsValues,
      two.holdsValues
    {
      throw invalid("Two collections of values can't be compared: \(one.label) and \(two.label)", test.range)
    }
    switch test.testOperator {
    case .between: return try rqlBetween(left, right, test)
    case .contains: return try rqlText(left, .contains, right, test)
    case .beginsWith: return try rqlText(left, .begins, right, test)
    case .endsWith: return try rqlText(left, .ends, right, test)
    case .like: return try rqlText(left, .like, right, test)
    case .isIn:
      guard right.isMany else {
        throw error(
          .invalidArgument, "IN takes a collection or a list on its right", right.range)
      }
      return try rqlCompare(left, .equal, right, test)
    case .compare(let comparison): return try rqlCompare(left, comparison, right, test)
    case .matches, .fullText, .geoWithin: throw shapesNotSupported(test.range)
    }
  }

  private func checkQuantifier(_ operand: TestOperand) throws(QueryError) {
    guard let quantifier = operand.quantifier else { return }
    let word = quantifier == .any ? "ANY" : quantifier == .all ? "ALL" : "NONE"
    switch operand.content {
    case .path(let path):
      guard path.isMany || path.isIndexed else {
        throw invalid(
          "\(word) can only be used before several values, and \(path.label) is one value", operand.range)
      }
    case .list: break
    case .constant, .arithmetic:
      throw invalid("\(word) must be followed by a path to several values or by a list", operand.range)
    }
  }

  // MARK: Comparisons

  private func rqlCompare(
    _ left: TestOperand, _ comparison: Comparison, _ right: TestOperand, _ test: TestSyntax
  ) throws(QueryError) -> Predicate {
    // The engine's fast tests need the property on the left.
    if left.constant != nil || left.list != nil && left.isAny && right.isAny {
      return try rqlCompare(right, comparison.mirrored, left, test)
    }
    if left.path?.form == .type || right.path?.form == .type {
      return try typeTest(left, comparison, right, test)
    }
    try checkTypes(left, comparison, right, test)
    var (left, right) = (left, right)
    let rightSide = try expression(right, comparedWith: left, test)
    let leftSide = try expression(left, comparedWith: right, test)
    if !test.options.isDisjoint(with: [.ignoringCase, .latin1Case]) {
      if let found = try ignoringCase(left, comparison, right, test) { return found }
    }
    if right.list != nil, !left.isMany, left.quantifier == nil { left.quantifier = .any }
    if right.list != nil, left.quantifier != nil, right.quantifier == .any { right.quantifier = nil }
    return .test(
      Relation.Side(leftSide, left.quantifier), .compare(comparison),
      Relation.Side(rightSide, right.quantifier))
  }

  private func checkTypes(
    _ left: TestOperand, _ comparison: Comparison, _ right: TestOperand, _ test: TestSyntax
  ) throws(QueryError) {
    for (side, other) in [(left, right), (right, left)] {
      guard side.type == .link, let path = side.path else { continue }
      if comparison.isOrder {
        throw invalid("\(path.label) is an object, and objects have no order: use == or !=", test.range)
      }
      if path.isToManyLink, case .null? = other.constant?.value {
        throw invalid(
          "\(path.label) leads to several objects and is never null: compare its @count", test.range)
      }
    }
    guard let one = left.type, let two = right.type else { return }
    if one == .mixed && two == .link || one == .link && two == .mixed {
      throw invalid(
        "A link and a property with values of any type can't be compared with each other yet", test.range)
    }
    let isSame =
      one == two && (one != .link || left.path?.target == right.path?.target)
      || one.isNumber && two.isNumber || one == .mixed || two == .mixed
    guard isSame else {
      throw invalid(
        "\(one.messageName.capitalizedFirst) does not compare with \(two == one ? "one of another class" : two.messageName)",
        test.range)
    }
  }

  /// The expression that the engine computes for a side. Constants become values of the other side's type.
  private func expression(
    _ side: TestOperand, comparedWith other: TestOperand, _ test: TestSyntax
  ) throws(QueryError) -> Expression {
    switch side.content {
    case .path(let path): return path.expression
    case .arithmetic(let arithmetic): return .computed(arithmetic.parts)
    case .constant(let constant):
      return .constant(try adapted(constant, comparedWith: other))
    case .list(let elements):
      guard let type = other.type else { return .list(elements.map(\.value)) }
      let target = other.path?.target ?? 0
      // An element of a type that does not compare with the other side equals nothing.
      return .list(elements.map { element in foreignOrAdapted(element, to: type, target: target) })
    }
  }

  private func foreignOrAdapted(
    _ element: BoundConstant, to type: ColumnType, target: UInt32
  ) -> Value {
    if type == .link {
      if case .typedLink(target, let row) = element.value { return .link(row) }
      return element.value
    }
    // A string in a list is not read as a number. Only a string alone is.
    if case .string = element.value { return element.value }
    return ConstantRules.adapted(element, to: type) ?? element.value
  }

  private func adapted(
    _ constant: BoundConstant, comparedWith other: TestOperand
  ) throws(QueryError) -> Value {
    guard let type = other.type else { return constant.value }
    if type == .link {
      switch constant.value {
      case .null, .link: return constant.value
      case .typedLink(other.path?.target ?? 0, let row): return .link(row)
      case .typedLink:
        throw error(.invalidArgument, "\(other.label) does not link to objects of this class", constant.range)
      default: break
      }
    } else if let value = ConstantRules.adapted(constant, to: type) {
      return value
    }
    throw error(
      constant.errorKind, "\(other.label) is \(type.messageName), which does not compare with this value",
      constant.range)
  }

  /// The test that ignores case; nil if case makes no difference.
  private func ignoringCase(
    _ left: TestOperand, _ comparison: Comparison, _ right: TestOperand, _ test: TestSyntax
  ) throws(QueryError) -> Predicate? {
    let match: TextMatch = comparison == .equal ? .equal : .notEqual
    guard let type = left.type, type.mayBeText, right.type.map(\.mayBeText) ?? true, let path = left.path
    else {
      if left.path?.isDirect == true, right.constant != nil { return nil }
      if right.list != nil { return nil }
      throw invalid("The option [c] can only be used with strings and data", test.range)
    }
    let options = TextOptions(test.options)
    func made(_ value: Value) -> Predicate {
      switch value {
      case .string, .data:
        .test(
          .init(path.expression, left.quantifier), .text(match, options: options), .init(.constant(value)))
      default: .test(.init(path.expression, left.quantifier), .compare(comparison), .init(.constant(value)))
      }
    }
    if let constant = right.constant { return made(constant.value) }
    if let list = right.list, match == .equal,
      left.quantifier == nil && !left.isMany || left.quantifier == .any,
      right.isAny
    {
      return .or(list.map { made($0.value) })
    }
    let other: Expression = right.path.map(\.expression) ?? .list(right.list?.map(\.value) ?? [])
    return .relation(
      Relation(
        .init(path.expression, left.quantifier), .text(match, options: options),
        .init(other, right.quantifier)))
  }

  // MARK: BETWEEN

  private func rqlBetween(_ left: TestOperand, _ right: TestOperand, _ test: TestSyntax) throws(QueryError)
    -> Predicate
  {
    guard let bounds = right.list, bounds.count == 2 else {
      throw invalid("BETWEEN needs a list of two values: {low, high}", right.range)
    }
    guard let path = left.path else {
      throw invalid("BETWEEN takes a property on its left", left.range)
    }
    guard path.type.isOrdered, path.form != .type else {
      throw invalid("\(path.label) is \(path.typeName), which has no order", left.range)
    }
    if path.holdsValues, left.quantifier != .all {
      throw invalid("BETWEEN needs ALL before a collection of values such as \(path.label)", left.range)
    }
    var values: [Value] = []
    for bound in bounds {
      let value = try adapted(bound, comparedWith: left)
      switch (path.type, value) {
      case (.int64, .int), (.date, .date): break
      case (.int64, _), (.date, _):
        throw error(
          bound.errorKind,
          "\(path.label) is \(path.type.messageName), so the bounds of BETWEEN must be of that type",
          bound.range)
      default: break
      }
      values.append(value)
    }
    if !path.isMany, let column = path.columnPath { return .between(column, values[0], values[1]) }
    let side = Relation.Side(path.expression, left.quantifier)
    return .and([
      .test(side, .compare(.greaterOrEqual), .init(.constant(values[0]))),
      .test(side, .compare(.lessOrEqual), .init(.constant(values[1]))),
    ])
  }
}

extension TestOperand {
  /// The name of the operand in messages.
  fileprivate var label: String { path?.label ?? "the arithmetic" }

  /// Whether it is enough that one of several values passes.
  fileprivate var isAny: Bool { quantifier == nil || quantifier == .any }

  /// This operand, but if an argument gives a list as one value, the operand is that list.
  fileprivate var unfolded: TestOperand {
    guard let constant, case .list(let elements, _) = constant.value else { return self }
    var operand = self
    operand.content = .list(
      elements.map { BoundConstant(value: $0, isArgument: constant.isArgument, range: constant.range) })
    return operand
  }
}

extension ResolvedPath {
  /// Whether the path ends in a collection of values that are not objects.
  var holdsValues: Bool {
    isCollection && type != .link && (form == .value || form == .length || form == .keys)
  }

  /// Whether the path has a further step after its first index or key.
  var isIndexed: Bool {
    if case .inner(_, let steps) = end { steps.count > 1 } else { false }
  }
}

extension String {
  var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
