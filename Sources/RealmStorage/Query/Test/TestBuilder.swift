/// Makes tests of predicates.
struct TestBuilder {
  let tables: any TableFinder
  /// The number of subqueries that contain the predicate.
  var depth = 0
  /// The bounds of the search, for tests that follow many links.
  var bounds = QueryBounds()

  /// A builder for the condition of a subquery.
  var inner: TestBuilder {
    var inner = self
    inner.depth += 1
    return inner
  }

  func test(_ predicate: Predicate, of table: TableForm) throws(StorageError) -> ClusterTest {
    try LogicBuilder.test(
      predicate,
      texts: { (texts) throws(StorageError) in
        try test(texts.path, .isFolded(FoldedTexts(texts.values, texts.options)), of: table)
      },
      condition: { (condition) throws(StorageError) in try test(condition: condition, of: table) })
  }

  private func test(condition: Predicate, of table: TableForm) throws(StorageError) -> ClusterTest {
    switch condition {
    case .always: return ConstantTest(true)
    case .never: return ConstantTest(false)
    case .and, .or, .not: preconditionFailure("a predicate that is joined of others is no condition")
    case .compare(let path, let comparison, let value):
      return try test(path, .compare(comparison, value), of: table)
    case .isIn(let path, let values): return try test(path, .isIn(values), of: table)
    case .between(let path, let low, let high): return try test(path, .between(low, high), of: table)
    case .count(let path, let comparison, let number):
      guard try column(path, of: table).isCollection else {
        let count = ValuePath(path.links.map { .links($0) }, .property(.count, of: .value(path.column)))
        return try RelationTest(
          Relation(.init(.path(count)), .compare(comparison), .init(.constant(.int(Int64(number))))),
          of: table, self)
      }
      return try test(path, .count(comparison, number), of: table)
    case .relation(let relation):
      if let test = try linkCount(relation, of: table) { return test }
      return try RelationTest(relation, of: table, self)
    case .text(let path, let match, let value, let options):
      let isString: Bool
      switch try column(path, of: table).type {
      case .string: isString = true
      case .mixed: if case .data = value { isString = false } else { isString = true }
      default: isString = false
      }
      let text = TextTest(match, value, options, isString: isString)
      return try test(path, .text(text), of: table)
    }
  }

  /// A test that compares the number of objects in a collection of the row that meet a condition with a number; nil for
  /// other relations.
  private func linkCount(_ relation: Relation, of table: TableForm) throws(StorageError) -> ClusterTest? {
    guard let path = relation.left.expression.path, path.steps.isEmpty, relation.left.quantifier == nil,
      case .subquery(let steps, let predicate) = path.end, steps.count == 1,
      case .links(let position) = steps[0],
      case .int(let wide)? = relation.right.expression.constant, let number = Int(exactly: wide),
      relation.right.quantifier == nil, case .compare(let comparison) = relation.test
    else { return nil }
    let column = table.schema.columns[position]
    guard column.type == .link, column.isCollection else { return nil }
    precondition(
      depth <= ValuePath.maximumSteps, "more than \(ValuePath.maximumSteps) subqueries stand in each other")
    let target = column.target == table.schema.id ? table : try tables.form(ofTable: column.target)
    let test = try inner.test(predicate, of: target)
    return LinkCountTest(column, TargetTest(test, of: target.root, within: bounds), comparison, number)
  }

  private func column(_ path: ColumnPath, of table: TableForm) throws(StorageError) -> Column {
    try BoundPath(path, of: table, tables).column
  }

  private func test(
    _ path: ColumnPath, _ test: ValueTest, of table: TableForm
  ) throws(StorageError) -> ClusterTest {
    let bound = try BoundPath(path, of: table, tables)
    let column = bound.column
    switch test {
    case .text, .isFolded:
      precondition(
        column.type == .string || column.type == .data || column.type == .mixed,
        "\(table.schema.name): column \(column.name) holds neither strings nor data")
    case .count:
      precondition(column.isCollection, "\(table.schema.name): column \(column.name) is no collection")
    default: break
    }
    var made = Self.test(column, bound.dictionary, test, ordersNull: bound.ordersNull)
    // The tests are made from the last link back to the first. A null link passes or fails in the same way at each of
    // them.
    let isMany = bound.steps.contains { $0.column.isCollection }
    let nullPasses: Bool
    if test.isCount {
      nullPasses = column.type != .link && !isMany && test.holds(.list([]), ordersNull: false)
    } else {
      nullPasses = !bound.isMany && test.holds(.null, ordersNull: false)
    }
    for step in bound.steps.reversed() {
      made = LinkTest(step.column, TargetTest(made, of: step.target, within: bounds), nullPasses: nullPasses)
    }
    return made
  }

  private static func test(
    _ column: Column, _ dictionary: Ref, _ test: ValueTest, ordersNull: Bool
  ) -> ClusterTest {
    if column.type == .string, column.collection == .list, !column.isOptional, !test.isCount {
      let (search, isNegated) = TextSearch.solve(test, isString: true, ordersNull: false)
      return TextListTest(column, search, isNegated: isNegated)
    }
    if column.storage == .composite || column.type == .decimal128 {
      guard case .isIn(let values) = test, values.count >= SortedValues.least else {
        return ValuesTest(column, test)
      }
      return ValuesTest(column, .isAmong(SortedValues(values)))
    }
    let nullPasses = test.holds(.null, ordersNull: ordersNull)
    guard let domain = OrderedDomain(column.type) else {
      let isString = column.type == .string
      let (search, isNegated) = TextSearch.solve(test, isString: isString, ordersNull: ordersNull)
      return TextColumnTest(column, dictionary, search, Verdict(isNegated: isNegated, nullPasses: nullPasses))
    }
    let (ranges, isNegated) = domain.solve(test)
    let verdict = Verdict(isNegated: isNegated, nullPasses: nullPasses)
    switch column.type {
    case .float, .double: return RealTest(column, ranges, verdict)
    case .date: return DateTest(column, ranges, verdict)
    case .objectID, .uuid: return IdentifierTest(column, ranges, verdict)
    default: return IntegerTest(column, ranges, verdict)
    }
  }
}
