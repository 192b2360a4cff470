import RealmStorage

/// The tests by the rules of the format of `NSPredicate`.
extension BindingRun {
  /// A test of a path against constants, or against another path.
  struct FormatTest {
    var path: ResolvedPath
    var quantifier: Relation.Quantifier?
    var testOperator: QuerySyntax.TestOperator
    var options: QuerySyntax.TestOptions
    /// Whether the test means ANY if no quantifier is written.
    var impliesAny: Bool
    /// The place of the path in the text.
    var pathRange: SourceRange
    var range: SourceRange
  }

  func formatTest(_ test: TestSyntax) throws(QueryError) -> Predicate {
    for side in [test.left, test.right] {
      if case .arithmetic = nodes[side].kind {
        throw invalid("Arithmetic can't be compared in a format", nodes[side].range)
      }
    }
    let (left, right) = (try operand(test.left), try operand(test.right))
    if left.quantifier == .all {
      throw invalid("Formats have no ALL: use NOT ANY with the opposite condition", left.range)
    }
    func made(_ path: ResolvedPath, _ range: SourceRange, _ testOperator: QuerySyntax.TestOperator)
      -> FormatTest
    {
      FormatTest(
        path: path, quantifier: left.quantifier, testOperator: testOperator, options: test.options,
        impliesAny: scope(of: test.left) != 0, pathRange: range, range: test.range)
    }
    switch (left.content, right.content) {
    case (.path(let path), .path(let other)):
      return try compare(made(path, left.range, test.testOperator), other, right.range)
    case (.path(let path), _):
      return try constantTest(made(path, left.range, test.testOperator), right)
    case (_, .path(let path)):
      if left.quantifier != nil {
        throw invalid("A word such as ANY must be followed by a key path", left.range)
      }
      let (mirrored, quantifier) = try mirrored(test, left, path, right.range)
      var found = made(path, right.range, mirrored)
      found.quantifier = quantifier
      if quantifier != nil { found.options = [] }
      return try constantTest(found, left)
    default: throw invalid("Two constants are compared without a property", test.range)
    }
  }

  /// The operator and the quantifier of a test whose constant is on the left, for the same test with the path on the
  /// left.
  private func mirrored(
    _ test: TestSyntax, _ constant: TestOperand, _ path: ResolvedPath, _ range: SourceRange
  ) throws(QueryError) -> (QuerySyntax.TestOperator, Relation.Quantifier?) {
    guard path.form != .inner, path.form != .subquery else {
      throw invalid("A key path with brackets, or a SUBQUERY, must be on the left of the operator", range)
    }
    switch test.testOperator {
    case .compare(let comparison): return (.compare(comparison.mirrored), nil)
    case .isIn:
      guard path.isMany, path.form == .value || path.form == .row || path.form == .keys else {
        throw invalid("IN needs a collection on its right, and \(path.label) is not one", range)
      }
      guard constant.list == nil else {
        throw invalid(
          "Only a single value can be searched for in a collection, and not a list of values", constant.range)
      }
      return (.compare(.equal), .any)
    default:
      throw invalid(
        "This operator needs the key path on its left and the value on its right", test.range)
    }
  }

  // MARK: Checks

  /// Throws if ANY or NONE is missing before several values, or is written where it is not allowed.
  private func checkQuantifier(_ test: FormatTest) throws(QueryError) {
    let path = test.path
    switch path.form {
    case .value, .row:
      if path.isMany, test.quantifier == nil, !test.impliesAny {
        throw invalid("\(path.label) leads to several values: put ANY or NONE before it", test.pathRange)
      }
      if !path.isMany, test.quantifier != nil, path.type != .mixed {
        throw invalid(
          "\(path.label) is one value: ANY and NONE can only be used before several values", test.pathRange)
      }
    case .inner:
      if path.isOverMany, test.quantifier == nil, !test.impliesAny {
        throw invalid("\(path.label) leads to several values: put ANY or NONE before it", test.pathRange)
      }
    case .subquery where test.quantifier != nil:
      throw invalid("ANY and NONE can't be used before a SUBQUERY", test.pathRange)
    case .keys, .count, .length, .type, .aggregate, .subquery: break
    }
  }

  /// Throws if values of the path's type can't be tested by the operator with its options.
  private func checkOperator(_ test: FormatTest) throws(QueryError) {
    let type = test.path.type
    let isText = type == .string || type == .data
    let takes: Bool
    switch test.testOperator {
    case .compare(let comparison):
      takes =
        !comparison.isOrder || type == .mixed
        || !(type == .bool || type == .objectID || type == .uuid || type == .link)
    case .isIn: takes = test.path.form != .keys
    case .between: takes = type.isNumber || type == .date || type == .mixed
    case .contains, .beginsWith, .endsWith, .like: takes = isText || type == .mixed
    case .matches, .fullText, .geoWithin: takes = false
    }
    guard takes else {
      throw invalid(
        "\(test.path.label) is \(test.path.typeName), which this operator can't test", test.range)
    }
    guard type == .string || type == .mixed else { return }
    let ignoresDiacritics = test.options.contains(.ignoringDiacritics)
    switch test.testOperator {
    case .compare(let comparison) where comparison.isOrder && !test.options.isEmpty:
      throw invalid("Comparisons of the order of strings have no options", test.range)
    case .like where ignoresDiacritics:
      throw invalid("LIKE has only the option [c]", test.range)
    default: break
    }
  }

  /// The constant as a value of the type of the path. Throws if the path does not accept it.
  private func checked(_ constant: BoundConstant, _ test: FormatTest) throws(QueryError) -> Value {
    let path = test.path
    if case .null = constant.value {
      if path.isOptional && !(path.isCollection && path.form == .row) { return .null }
      throw error(
        constant.errorKind, "\(path.label) is never null", constant.range)
    }
    if path.type == .link {
      if case .typedLink(path.target, let row) = constant.value { return .link(row) }
    } else if let value = FormatRules.checked(constant, path.type) {
      return value
    }
    let expected =
      path.type == .link
      ? "an object of \(binder.names.find(path.target)?.name ?? "its class")" : path.type.messageName
    let what =
      path.form == .count || path.form == .subquery ? "The number of elements of \(path.label)" : path.label
    throw error(
      constant.errorKind, "\(what) takes \(expected), and this value is none", constant.range)
  }

  // MARK: Constants

  private func constantTest(_ test: FormatTest, _ constant: TestOperand) throws(QueryError) -> Predicate {
    try checkQuantifier(test)
    if test.path.form == .subquery {
      guard case .compare = test.testOperator, case .int? = constant.constant?.value else {
        throw invalid("The number of objects of a SUBQUERY can only be compared with an integer", test.range)
      }
    }
    try checkOperator(test)
    let found: Predicate
    switch test.testOperator {
    case .isIn: found = try isIn(test, constant)
    case .between: found = try between(test, constant)
    default:
      guard let single = try single(constant, test) else {
        throw error(
          constant.isArgument ? .invalidArgument : .invalidQuery,
          "A list stands where one value is needed: use IN", constant.range)
      }
      found = try oneTest(test, try checked(single, test))
    }
    return test.quantifier == Relation.Quantifier.none ? .not(found) : found
  }

  /// The constant of one side; nil if it is a list. A list in an argument is one constant if the path has values of any
  /// type, because such a value may equal a list.
  private func single(_ operand: TestOperand, _ test: FormatTest) throws(QueryError) -> BoundConstant? {
    if let constant = operand.constant { return constant }
    guard let list = operand.list, operand.isArgument, test.path.type == .mixed else { return nil }
    return BoundConstant(value: .list(list.map(\.value)), isArgument: true, range: operand.range)
  }

  private func side(_ test: FormatTest) -> Relation.Side {
    Relation.Side(test.path.expression, test.path.isMany ? .any : nil)
  }

  /// The condition that a value of the path passes the test against one constant.
  private func oneTest(_ test: FormatTest, _ value: Value) throws(QueryError) -> Predicate {
    let engineTest: Relation.Test
    var isNegated = false
    switch test.testOperator {
    case .compare(let comparison):
      isNegated = comparison == .notEqual
      if !test.options.isEmpty, !comparison.isOrder, case .string = value, test.path.type != .data {
        engineTest = .text(isNegated ? .notEqual : .equal, options: TextOptions(test.options))
      } else {
        engineTest = .compare(comparison)
      }
      if comparison.isOrder { return made(test, engineTest, value) }
    default:
      guard let match = TextMatch(test.testOperator) else {
        throw invalid("The operator is not supported", test.range)
      }
      let options = test.path.type == .data ? [] : TextOptions(test.options)
      engineTest = .text(match, options: options)
    }
    // Data with the bytes of a string counts as equal to the string if the path has values of any type.
    guard test.path.type == .mixed, case .string(let text) = value else {
      return made(test, engineTest, value)
    }
    let data = Value.data(Array(text.utf8))
    if !isNegated { return .or([made(test, engineTest, value), made(test, engineTest, data)]) }
    if !test.path.isMany { return .and([made(test, engineTest, value), made(test, engineTest, data)]) }
    return .relation(Relation(side(test), engineTest, .init(.list([value, data]), .all)))
  }

  private func made(_ test: FormatTest, _ engineTest: Relation.Test, _ value: Value) -> Predicate {
    if case .text = engineTest, test.path.form != .value {
      return .relation(Relation(side(test), engineTest, .init(.constant(value))))
    }
    return .test(side(test), engineTest, .init(.constant(value)))
  }

  private func elements(_ operand: TestOperand) -> (list: [BoundConstant], kind: QueryError.Kind)? {
    if let list = operand.list { return (list, operand.isArgument ? .invalidArgument : .invalidQuery) }
    guard let constant = operand.constant, case .list(let values, _) = constant.value else { return nil }
    let list = values.map { BoundConstant(value: $0, isArgument: constant.isArgument, range: constant.range) }
    return (list, constant.errorKind)
  }

  private func isIn(_ test: FormatTest, _ constant: TestOperand) throws(QueryError) -> Predicate {
    guard let (list, _) = elements(constant) else {
      throw error(
        constant.constant?.errorKind ?? .invalidQuery,
        "IN needs a list or a collection on its right", constant.range)
    }
    var equal = test
    equal.testOperator = .compare(.equal)
    var (plain, others): ([Value], [Predicate]) = ([], [])
    for element in list {
      let value = try checked(element, test)
      if case .string(let text) = value {
        if !test.options.isEmpty {
          others.append(try oneTest(equal, value))
          continue
        }
        if test.path.type == .mixed { plain.append(.data(Array(text.utf8))) }
      }
      plain.append(value)
    }
    if plain.isEmpty, others.isEmpty { return .never }
    if !plain.isEmpty {
      others.append(
        .test(
          .init(test.path.expression, .any), .compare(.equal), .init(.list(plain))))
    }
    return others.count == 1 ? others[0] : .or(others)
  }

  private func between(_ test: FormatTest, _ constant: TestOperand) throws(QueryError) -> Predicate {
    guard let (list, _) = elements(constant), list.count == 2 else {
      throw error(
        elements(constant)?.kind ?? constant.constant?.errorKind ?? .invalidQuery,
        "BETWEEN needs a list of two values", constant.range)
    }
    let (low, high) = (try checked(list[0], test), try checked(list[1], test))
    let path = test.path
    if !path.isCollection, let column = path.columnPath { return .between(column, low, high) }
    if !path.isCollection, path.form == .value, case .value(let column) = path.end {
      // The same object must meet both bounds, so a subquery counts the objects that do.
      let found = Predicate.between(ColumnPath(column), low, high)
      let count = ValuePath([], .subquery(path.steps, found))
      return .test(.init(.path(count)), .compare(.greater), .init(.constant(.int(0))))
    }
    return .and([
      made(test, .compare(.greaterOrEqual), low), made(test, .compare(.lessOrEqual), high),
    ])
  }

  // MARK: Two paths

  private func compare(
    _ test: FormatTest, _ other: ResolvedPath, _ otherRange: SourceRange
  ) throws(QueryError) -> Predicate {
    let path = test.path
    for (path, range, isLeft) in [(path, test.pathRange, true), (other, otherRange, false)] {
      if path.form == .subquery {
        throw invalid("The number of objects of a SUBQUERY can only be compared with an integer", range)
      }
      if path.form == .inner, !isLeft {
        throw invalid("A key path with brackets must be on the left of the operator", range)
      }
      if path.isMany || path.form == .inner {
        throw invalid(
          "\(path.label) leads to several values, which can only be compared with constants", range)
      }
    }
    if test.quantifier != nil {
      throw invalid("ANY and NONE can only be used in a comparison with a constant", test.pathRange)
    }
    let (isNumber, isOtherNumber) = (path.isComputed, other.isComputed)
    if isNumber || isOtherNumber {
      guard !(isNumber && isOtherNumber) else {
        throw invalid(
          "The numbers of elements of two collections can't be compared: one side must be a property or a constant",
          test.range)
      }
      guard path.type.isNumber, other.type.isNumber, case .compare = test.testOperator else {
        throw invalid("A number of a collection is compared with a property of numbers", test.range)
      }
    } else {
      guard path.type == other.type, path.target == other.target else {
        throw invalid(
          "\(path.label) and \(other.label) have different types, and properties can only be compared with properties of the same type",
          test.range)
      }
    }
    try checkOperator(test)
    let (left, right) = (side(test), Relation.Side(other.expression))
    switch test.testOperator {
    case .compare(let comparison):
      if path.type == .mixed, comparison.isOrder {
        throw invalid("Two values of any type can only be compared by == and !=", test.range)
      }
      if !test.options.isEmpty, path.type == .string, !comparison.isOrder {
        return .relation(
          Relation(
            left, .text(comparison == .equal ? .equal : .notEqual, options: TextOptions(test.options)), right)
        )
      }
      return .test(left, .compare(comparison), right)
    default:
      guard let match = TextMatch(test.testOperator), path.type != .mixed else {
        throw invalid("This operator can't have a key path on its right", test.range)
      }
      let options = path.type == .data ? [] : TextOptions(test.options)
      return .relation(Relation(left, .text(match, options: options), right))
    }
  }
}

extension ResolvedPath {
  /// Whether the path ends in a number that is computed from a collection.
  fileprivate var isComputed: Bool {
    switch form {
    case .count, .aggregate: true
    default: false
    }
  }
}
