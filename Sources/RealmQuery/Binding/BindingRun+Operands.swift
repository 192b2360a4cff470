import RealmStorage

extension BindingRun {
  func argument(_ position: Int, _ range: SourceRange) throws(QueryError) -> QueryArgument {
    guard binder.arguments.indices.contains(position) else {
      let count = binder.arguments.count
      throw error(
        .invalidArgument,
        "There is no argument \(position): \(count == 1 ? "1 argument was" : "\(count) arguments were") passed, and they count from 0",
        range)
    }
    return binder.arguments[position]
  }

  /// The operand that a node on one side of a test stands for.
  func operand(_ index: Int) throws(QueryError) -> TestOperand {
    let node = nodes[index]
    let quantifier = node.quantifier.map { Relation.Quantifier($0) }
    func operand(_ content: TestOperand.Content) -> TestOperand {
      TestOperand(content: content, quantifier: quantifier, range: node.range)
    }
    switch node.kind {
    case .constant(let constant): return operand(.constant(try bound(constant, node.range)))
    case .path(let path): return operand(.path(try resolve(path, scope(of: index))))
    case .argument(let position):
      if case .list(let elements) = try argument(position, node.range) {
        var list: [BoundConstant] = []
        list.reserveCapacity(elements.count)
        for element in elements { list.append(try bound(element, node.range)) }
        var found = operand(.list(list))
        found.isArgument = true
        return found
      }
      return operand(.constant(try bound(argument(position, node.range), node.range)))
    case .list(let elements):
      var list: [BoundConstant] = []
      list.reserveCapacity(elements.count)
      for element in elements { list.append(try listElement(element)) }
      return operand(.list(list))
    case .arithmetic: return operand(.arithmetic(try arithmetic(index)))
    case .subquery(let subquery):
      guard subquery.isCounted else {
        throw invalid("A SUBQUERY can only be compared by its number of objects: add .@count", node.range)
      }
      return operand(.path(count(subquery, index)))
    case .shape: throw shapesNotSupported(node.range)
    case .always, .never, .and, .or, .not, .test:
      throw invalid("A condition can't be compared", node.range)
    }
  }

  func shapesNotSupported(_ range: SourceRange) -> QueryError {
    invalid("Places on the globe are not supported yet", range)
  }

  /// An element of a list in braces.
  private func listElement(_ index: Int) throws(QueryError) -> BoundConstant {
    let node = nodes[index]
    switch node.kind {
    case .constant(let constant): return try bound(constant, node.range)
    case .argument(let position):
      let found = try argument(position, node.range)
      if case .list = found {
        throw error(
          .invalidArgument, "Argument \(position) is a list, and one value is needed here", node.range)
      }
      if node.quantifier != nil {
        throw invalid(
          "A word such as ANY stands before a list, and argument \(position) is one value", node.range)
      }
      return try bound(found, node.range)
    default: throw invalid("A list in braces can only hold constants and arguments", node.range)
    }
  }

  // MARK: Constants

  func bound(_ constant: QuerySyntax.Constant, _ range: SourceRange) throws(QueryError) -> BoundConstant {
    switch constant {
    case .value(let value): return BoundConstant(value: value, range: range)
    case .real(let literal):
      let value = literal.isFloat ? Value.float(Float(literal.number)) : .double(literal.number)
      return BoundConstant(value: value, literal: literal, range: range)
    case .object(let className, let key): return try object(className, key, range)
    }
  }

  func bound(_ argument: QueryArgument, _ range: SourceRange) throws(QueryError) -> BoundConstant {
    switch argument {
    case .value(let value): return BoundConstant(value: value, isArgument: true, range: range)
    case .keyPath(let text): return BoundConstant(value: .string(text), isArgument: true, range: range)
    case .list(let elements):
      // Only a value of any type can equal a list inside a list.
      return BoundConstant(value: try value(elements, range), isArgument: true, range: range)
    case .object: throw shapesNotSupported(range)
    }
  }

  /// An argument that is a list, with the lists inside it, as one value.
  private func value(_ elements: [QueryArgument], _ range: SourceRange) throws(QueryError) -> Value {
    /// The lists that are not complete, the outermost first. `values` has the elements that are done.
    var open: [(elements: [QueryArgument], values: [Value])] = [(elements, [])]
    while true {
      let last = open.count - 1
      let next = open[last].values.count
      if next == open[last].elements.count {
        let list = Value.list(open.removeLast().values)
        if open.isEmpty { return list }
        open[last - 1].values.append(list)
        continue
      }
      switch open[last].elements[next] {
      case .list(let inner):
        guard open.count < Value.mostLevels else {
          throw error(
            .invalidArgument, "An argument has more than \(Value.mostLevels) nested lists", range)
        }
        open.append((inner, []))
      case let other: open[last].values.append(try bound(other, range).value)
      }
    }
  }

  /// The object that `obj('Class', key)` names. The value is null if there is no such object.
  private func object(
    _ className: String, _ key: QuerySyntax.ObjectKey, _ range: SourceRange
  ) throws(QueryError) -> BoundConstant {
    guard let table = binder.names.find(className) else {
      throw invalid(
        "There is no class \(QueryError.shown(className))", range,
        suggestion: binder.names.nearest(to: className))
    }
    guard let lookup = binder.object else {
      throw invalid("Objects can't be looked up here: pass the object as an argument", range)
    }
    let value: Value
    switch key {
    case .value(let found): value = found
    case .argument(let position):
      guard case .value(let found) = try argument(position, range) else {
        throw error(.invalidArgument, "Argument \(position) is no primary key", range)
      }
      value = found
    }
    guard table.schema.primaryKey != nil else {
      throw invalid("\(table.name) has no primary key by which an object could be found", range)
    }
    let row = lookup(table.id, value)
    return BoundConstant(value: row.map { .typedLink(table: table.id, row: $0) } ?? .null, range: range)
  }

  // MARK: Arithmetic

  /// The steps that compute a chain of arithmetic and all chains inside it. The method does not recurse.
  private func arithmetic(_ index: Int) throws(QueryError) -> BoundArithmetic {
    enum Task {
      case node(Int)
      case operation(Expression.Arithmetic)
    }
    var arithmetic = BoundArithmetic(parts: [], type: .int64, hasPaths: false, isMany: false)
    var tasks = [Task.node(index)]
    while let task = tasks.popLast() {
      switch task {
      case .operation(let operation): arithmetic.parts.append(.arithmetic(operation))
      case .node(let index):
        guard case .arithmetic(let first, let rest) = nodes[index].kind else {
          try add(try operand(index), to: &arithmetic)
          continue
        }
        guard nodes[index].quantifier == nil else {
          throw invalid("A word such as ANY can't be used before arithmetic", nodes[index].range)
        }
        for step in rest.reversed() {
          tasks.append(.operation(Expression.Arithmetic(step.operation)))
          tasks.append(.node(step.operand))
        }
        tasks.append(.node(first))
      }
    }
    return arithmetic
  }

  private func add(_ operand: TestOperand, to arithmetic: inout BoundArithmetic) throws(QueryError) {
    guard operand.quantifier == nil else {
      throw invalid("A word such as ANY can't be used inside arithmetic", operand.range)
    }
    let type: ColumnType
    switch operand.content {
    case .constant(let constant):
      switch constant.value {
      case .int, .null: type = .int64
      case .float: type = .float
      case .double: type = .double
      case .decimal128: type = .decimal128
      default: throw error(.invalidArgument, "Arithmetic is only possible with numbers", operand.range)
      }
      arithmetic.parts.append(.constant(constant.value))
    case .list:
      throw error(.invalidArgument, "Arithmetic takes numbers and no lists", operand.range)
    case .path(let path):
      guard path.type.isNumber || path.type == .mixed, path.form != .type else {
        throw error(
          .invalidArgument, "Arithmetic is only possible with numbers, and \(path.label) is \(path.typeName)",
          operand.range)
      }
      guard !(path.isMany && arithmetic.isMany) else {
        throw invalid("Arithmetic can use at most one collection", operand.range)
      }
      type = path.type
      arithmetic.hasPaths = true
      arithmetic.isMany = arithmetic.isMany || path.isMany
      arithmetic.parts.append(.path(ValuePath(path.steps, path.end)))
    case .arithmetic: preconditionFailure("arithmetic in arithmetic is taken apart before")
    }
    arithmetic.type = ColumnType.widest(arithmetic.type, type)
  }
}

extension Expression.Arithmetic {
  init(_ operation: QuerySyntax.ArithmeticOperator) {
    self =
      switch operation {
      case .plus: .plus
      case .minus: .minus
      case .times: .times
      case .divided: .divided
      }
  }
}

extension ColumnType {
  /// The type in which a number of type `left` and a number of type `right` are computed.
  fileprivate static func widest(_ left: ColumnType, _ right: ColumnType) -> ColumnType {
    let order: [ColumnType] = [.mixed, .decimal128, .double, .float]
    return order.first { $0 == left || $0 == right } ?? .int64
  }
}
