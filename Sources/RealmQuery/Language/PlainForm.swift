import RealmStorage

/// Brings conditions that mean the same into the same form. It is the form that binding the text of a condition gives.
struct PlainForm {
  let names: QueryNames

  private enum Join { case and, or, not }

  private enum Task {
    /// A condition, and the join whose part it is.
    case visit(Predicate, Join?)
    /// A join whose parts are in `made`, from an index on.
    case join(Join, start: Int)
  }

  /// A condition on the rows of a table in the plain form. Parts that are joined by the same word are in one join, and
  /// constants that mean the same are the same.
  ///
  /// The method does not recurse for nested ANDs, ORs and NOTs.
  func plain(_ predicate: Predicate, _ table: TableSchema) -> Predicate {
    var tasks: [Task] = [.visit(predicate, nil)]
    var made: [Predicate] = []
    while let task = tasks.popLast() {
      switch task {
      case .visit(let next, let around):
        guard let (join, parts) = joined(next) else {
          made.append(condition(next, table))
          continue
        }
        if join == .not || join != around { tasks.append(.join(join, start: made.count)) }
        // A NOT with several parts means that they do not all hold, so the parts are joined by AND.
        for part in parts.reversed() { tasks.append(.visit(part, join == .or ? .or : .and)) }
      case .join(let join, let start):
        let parts = Array(made[start...])
        made.removeSubrange(start...)
        made.append(self.join(join, parts))
      }
    }
    return made[0]
  }

  private func joined(_ predicate: Predicate) -> (Join, PredicateParts)? {
    switch predicate {
    case .and(let parts): (.and, parts)
    case .or(let parts): (.or, parts)
    case .not(let parts): (.not, parts)
    default: nil
    }
  }

  private func join(_ join: Join, _ parts: [Predicate]) -> Predicate {
    switch join {
    case .not:
      if parts.isEmpty { return .never }
      return .not(self.join(.and, parts))
    case .and, .or:
      // A join of one part is the part itself, which may be a join of the same kind.
      let flat = parts.flatMap { part in
        if let (inner, parts) = joined(part), inner == join { Array(parts) } else { [part] }
      }
      if flat.count == 1 { return flat[0] }
      if join == .and { return flat.isEmpty ? .always : .and(flat) }
      return flat.isEmpty ? .never : .or(flat)
    }
  }

  // MARK: - Conditions

  private func condition(_ predicate: Predicate, _ table: TableSchema) -> Predicate {
    switch predicate {
    case .compare(let path, let comparison, let value):
      return .compare(path, comparison, constant(value, columnType(path, table)))
    case .text(let path, let match, let value, let given):
      let options = given.plain
      if match.isEquality, options.isEmpty || !value.isText {
        return .compare(path, match == .equal ? .equal : .notEqual, value)
      }
      return match.isPassed(with: value) ? .text(path, match, value, options: options) : .never
    case .isIn(let path, let values):
      let type = columnType(path, table)
      return values.isEmpty ? .never : .isIn(path, values.map { constant($0, type) })
    case .between(let path, let low, let high):
      let type = columnType(path, table)
      return between(path, constant(low, type), constant(high, type), table)
    case .relation(let relation): return self.relation(relation, table)
    case .always, .never, .count, .and, .or, .not: return predicate
    }
  }

  /// The condition that a value at the path is between two others. In RQL, BETWEEN tests one value of each object. If
  /// the path leads over a collection of links, the condition becomes a subquery: more than 0 of the linked objects
  /// have a value between the two.
  private func between(_ path: ColumnPath, _ low: Value, _ high: Value, _ table: TableSchema) -> Predicate {
    var last: Int?
    var current: TableSchema? = table
    for (place, link) in path.links.enumerated() {
      guard let column = current?.column(link) else { break }
      if column.collection != .none { last = place }
      current = target(of: column, current)
    }
    guard let last else { return .between(path, low, high) }
    let found = Predicate.between(
      ColumnPath(links: Array(path.links[(last + 1)...]), column: path.column), low, high)
    let count = ValuePath([], .subquery(path.links[...last].map { .links($0) }, found))
    return .test(.init(.path(count)), .compare(.greater), .init(.constant(.int(0))))
  }

  private func relation(_ relation: Relation, _ table: TableSchema) -> Predicate {
    let (left, right) = (relation.left, relation.right)
    var plain = relation
    plain.left.expression = expression(left.expression, beside: right.expression, table)
    plain.right.expression = expression(right.expression, beside: left.expression, table)
    if case .text(let match, let options) = relation.test {
      plain.test = .text(match, options: options.plain)
      if let value = right.expression.constant, left.quantifier ?? .any == .any,
        !match.isPassed(with: value)
      {
        return .never
      }
    }
    return .relation(plain)
  }

  private func expression(
    _ expression: Expression, beside other: Expression, _ table: TableSchema
  ) -> Expression {
    if let value = expression.constant { return .constant(constant(value, valueType(other, table))) }
    if let values = expression.list {
      let type = valueType(other, table)
      return .list(values.map { constant($0, type) })
    }
    if let path = expression.path { return .path(self.path(path, table)) }
    return .computed(
      expression.parts.map { part in
        if case .path(let path) = part { .path(self.path(path, table)) } else { part }
      })
  }

  private func path(_ path: ValuePath, _ table: TableSchema) -> ValuePath {
    guard case .subquery(let steps, let condition) = path.end,
      let elements = follow(path.steps + steps, table)
    else { return path }
    return ValuePath(path.steps, .subquery(steps, plain(condition, elements)))
  }

  // MARK: - Types

  private func target(of column: Column, _ table: TableSchema?) -> TableSchema? {
    column.target == 0 ? table : names.table(id: column.target)
  }

  /// The table that steps lead to; nil if a table or a column on the way does not exist.
  private func follow(_ steps: [ValuePath.Step], _ table: TableSchema) -> TableSchema? {
    var current: TableSchema? = table
    for step in steps {
      switch step {
      case .links(let position): current = current?.column(position).flatMap { target(of: $0, current) }
      case .backlinks(let table, _): current = names.table(id: table)
      }
    }
    return current
  }

  private func columnType(_ path: ColumnPath, _ table: TableSchema) -> ColumnType? {
    follow(path.links.map { .links($0) }, table)?.column(path.column)?.type
  }

  private func valueType(_ expression: Expression, _ table: TableSchema) -> ColumnType? {
    guard let path = expression.path else { return nil }
    switch path.end {
    case .value(let position), .aggregate(_, _, of: .value(let position)):
      var steps = path.steps
      if case .aggregate(_, let inner, _) = path.end { steps += inner }
      return follow(steps, table)?.column(position)?.type
    default: return nil
    }
  }

  // MARK: - Constants

  /// The constant in its plain form. Numbers compare by value, whatever their types, so a number that has no digits in
  /// RQL becomes an equal number that has some, if there is one.
  ///
  /// - Parameter type: the type of the values that the constant is compared with; nil if it is not known.
  private func constant(_ value: Value, _ type: ColumnType?) -> Value {
    switch value {
    case .float(let number) where !number.isFinite && type != .float:
      return .double(number.isNaN ? .nan : Double(number))
    case .float(let number) where number.isNaN: return .float(.nan)
    case .double(let number) where number.isNaN: return type == .float ? .float(.nan) : .double(.nan)
    case .decimal128(let stored):
      let decimal = DecimalNumber(stored)
      if type == .decimal128 { return .decimal128(decimal.canonical) }
      return number(decimal, type) ?? value
    default: return value
    }
  }

  /// An integer, a double or a float that equals a decimal; nil if there is none. The result is a float only if `type`
  /// is.
  private func number(_ decimal: DecimalNumber, _ type: ColumnType?) -> Value? {
    let value = Value.decimal128(decimal.stored)
    guard let double = Double(decimal.shortText) else { return nil }
    if let whole = Int64(exactly: double) ?? Int64(decimal.text), ValueOrder.areEqual(.int(whole), value) {
      return .int(whole)
    }
    guard ValueOrder.areEqual(.double(double), value) else { return nil }
    guard type == .float else { return .double(double) }
    return Double(Float(double)) == double ? .float(Float(double)) : nil
  }
}

extension TableSchema {
  /// The column at a position; nil if there is none.
  func column(_ position: Int) -> Column? { columns.indices.contains(position) ? columns[position] : nil }
}

extension TextOptions {
  /// The options without those that change nothing.
  fileprivate var plain: TextOptions { contains(.ignoringCase) ? subtracting(.latin1Case) : self }
}

extension TextMatch {
  fileprivate var isEquality: Bool { self == .equal || self == .notEqual }

  /// Whether a value may pass the test with this constant. The engine finds no value that contains null or an empty
  /// text.
  fileprivate func isPassed(with value: Value) -> Bool {
    switch (self, value) {
    case (.equal, _), (.notEqual, _), (.like, _): true
    case (_, .null): false
    case (_, .string(let text)): !text.isEmpty
    case (_, .data(let bytes)): !bytes.isEmpty
    default: true
    }
  }
}

extension Value {
  fileprivate var isText: Bool {
    switch self {
    case .string, .data: true
    default: false
    }
  }
}
