import RealmStorage

extension BindingRun {
  /// The test of a property of the tested object against a constant, without the descriptions of both sides. Most tests
  /// have this form, and this method is the fast way for them.
  ///
  /// It returns nil if the test has another form, if the property holds objects, several values or values of any type,
  /// or if the constant does not fit. The general method then makes the test or throws an error. The result follows the
  /// same rules of the languages as that of the general method.
  func simpleTest(_ test: TestSyntax) -> Predicate? {
    guard case .compare(let comparison) = test.testOperator, test.options.isEmpty,
      nodes[test.left].quantifier == nil, nodes[test.right].quantifier == nil,
      case .path(let path) = nodes[test.left].kind, path.steps.count == 1, path.start == .object,
      case .name(let name) = path.steps[0],
      let constant = simpleConstant(test.right)
    else { return nil }
    let table = scopes[scope(of: test.left)].table
    guard case .column(let position)? = table.find(name) else { return nil }
    let (type, isOptional, collection) = table.form(of: position)
    guard collection == .none, type != .link, type != .mixed else { return nil }
    let value: Value?
    if isFormat {
      let isOrdered = type != .bool && type != .objectID && type != .uuid
      guard isOrdered || !comparison.isOrder else { return nil }
      if case .null = constant.value {
        value = isOptional ? .null : nil
      } else {
        value = FormatRules.checked(constant, type)
      }
    } else {
      value = ConstantRules.adapted(constant, to: type)
    }
    return value.map { .compare(ColumnPath(position), comparison, $0) }
  }

  private func simpleConstant(_ node: Int) -> BoundConstant? {
    switch nodes[node].kind {
    case .constant(.value(let value)): return BoundConstant(value: value, range: .none)
    case .constant(.real(let literal)):
      let value = literal.isFloat ? Value.float(Float(literal.number)) : .double(literal.number)
      return BoundConstant(value: value, literal: literal, range: .none)
    case .argument(let position) where position < binder.arguments.count && position >= 0:
      guard case .value(let value) = binder.arguments[position] else { return nil }
      if case .list = value { return nil }
      return BoundConstant(value: value, isArgument: true, range: .none)
    default: return nil
    }
  }
}
