import RealmStorage
import RealmTestSupport

/// The plainest implementation of relations: both sides are lists of groups of values.
extension QueryModel {
  struct Side {
    var groups: [[Value]] = []
    var isMany = false
    var isDirectText = false
    var isConstant = false
  }

  func holds(_ relation: Relation, _ table: UInt32, _ key: UInt64) -> Bool {
    let left = side(relation.left.expression, table, key)
    let right = side(relation.right.expression, table, key)
    let ordersNull =
      (left.isDirectText || right.isDirectText) && (left.isDirectText || left.isConstant)
      && (right.isDirectText || right.isConstant)
    func passes(_ left: Value, _ right: Value) -> Bool {
      switch relation.test {
      case .compare(let comparison): Self.compare(left, comparison, right, ordersNull)
      case .text(let match, let options):
        PlainText.matches(left, match, right, options)
      }
    }
    func some(_ quantifier: Relation.Quantifier?, _ values: [Value], _ test: (Value) -> Bool) -> Bool {
      switch quantifier {
      case nil, .any: values.contains(where: test)
      case .all: values.allSatisfy(test)
      case .some(.none): !values.contains(where: test)
      }
    }
    let isPlain = relation.left.quantifier == nil && relation.right.quantifier == nil
    return left.groups.contains { ones in
      right.groups.contains { twos in
        if isPlain, left.isMany, right.isMany {
          guard ones.count == twos.count else { return relation.test == .compare(.notEqual) }
          return zip(ones, twos).allSatisfy(passes)
        }
        return some(relation.left.quantifier, ones) { one in
          some(relation.right.quantifier, twos) { passes(one, $0) }
        }
      }
    }
  }

  private func side(_ expression: Expression, _ table: UInt32, _ key: UInt64) -> Side {
    var stack: [Side] = []
    for part in expression.parts {
      switch part {
      case .constant(let value): stack.append(Side(groups: [[value]], isConstant: true))
      case .list(let values): stack.append(Side(groups: [values], isMany: true, isConstant: true))
      case .path(let path): stack.append(side(path, table, key))
      case .arithmetic(let operation):
        let (right, left) = (stack.removeLast(), stack.removeLast())
        var groups: [[Value]] = []
        for one in left.groups {
          for two in right.groups {
            if one.count == 1 {
              groups.append(two.map { Self.computed(operation, one[0], $0) })
            } else if two.count == 1 {
              groups.append(one.map { Self.computed(operation, $0, two[0]) })
            } else {
              groups.append(zip(one, two).map { Self.computed(operation, $0, $1) })
            }
          }
        }
        stack.append(Side(groups: groups, isMany: left.isMany || right.isMany))
      }
    }
    return stack[0]
  }

  /// The result of an operation on whole numbers and doubles. For other values it is null here, because the sample does
  /// not compute with them.
  static func computed(_ operation: Expression.Arithmetic, _ left: Value, _ right: Value) -> Value {
    if case .int(let left) = left, case .int(let right) = right {
      let (one, two) = (Int128(left), Int128(right))
      let result: Int128
      switch operation {
      case .plus: result = one + two
      case .minus: result = one - two
      case .times: result = one * two
      case .divided: result = two == 0 ? (one < 0 ? Int128.min : Int128.max) : one / two
      }
      return .int(Int64(clamping: result))
    }
    func double(_ value: Value) -> Double? {
      switch value {
      case .int(let number): Double(number)
      case .double(let number): number
      default: nil
      }
    }
    guard let left = double(left), let right = double(right) else { return .null }
    switch operation {
    case .plus: return .double(left + right)
    case .minus: return .double(left - right)
    case .times: return .double(left * right)
    case .divided: return .double(left / right)
    }
  }

  // MARK: - Paths

  private func side(_ path: ValuePath, _ table: UInt32, _ key: UInt64) -> Side {
    let (rows, target, isMany) = walk(path.steps, table, key)
    var side = Side(isMany: isMany)
    let schema = tables[target]!.schema
    if case .value(let column) = path.end {
      let column = schema.columns[column]
      side.isDirectText = path.steps.isEmpty && !column.isCollection && column.type == .string
      if column.isCollection { side.isMany = true }
    }
    if case .keys = path.end { side.isMany = true }
    if case .inner(_, let steps) = path.end, steps.contains(.all) { side.isMany = true }
    if rows.isEmpty, !isMany { return unreached(path, schema, side) }
    let found = rows.map { ends(path.end, target, $0) }
    switch path.end {
    case .value(let column) where schema.columns[column].isCollection:
      side.groups = rows.isEmpty ? [[]] : found.flatMap { $0 }
    case .keys: side.groups = rows.isEmpty ? [[]] : found.flatMap { $0 }
    case .inner(_, let steps) where steps.contains(.all):
      side.groups = found.flatMap { $0 }
      if rows.isEmpty { side.groups = [[]] }
    default: side.groups = isMany ? [found.flatMap { $0.flatMap { $0 } }] : found.flatMap { $0 }
    }
    return side
  }

  /// The side for a path on which a link is null.
  private func unreached(_ path: ValuePath, _ schema: TableSchema, _ side: Side) -> Side {
    var side = side
    switch path.end {
    case .rowCount, .linkCount, .subquery: side.groups = []
    case .property(.count, of: .value(let column)) where schema.columns[column].isCollection:
      side.groups = schema.columns[column].type == .link ? [] : [[.int(0)]]
    case .aggregate(.sum, _, _): side.groups = [[.int(0)]]
    default: side.groups = side.isMany ? [[]] : [[.null]]
    }
    return side
  }

  private func walk(
    _ steps: [ValuePath.Step], _ table: UInt32, _ key: UInt64
  ) -> (rows: [UInt64], table: UInt32, isMany: Bool) {
    var (rows, table, isMany) = ([key], table, false)
    for step in steps {
      switch step {
      case .links(let position):
        let column = tables[table]!.schema.columns[position]
        rows = rows.flatMap { row in
          let value = tables[table]!.values[row]![position]
          return (value.elements ?? [value]).compactMap { if case .link(let row) = $0 { row } else { nil } }
        }
        if column.isCollection { isMany = true }
        table = column.target
      case .backlinks(let source, let id):
        let origin = tables[source]!
        let position = origin.schema.columns.firstIndex { $0.id == id }!
        rows = rows.flatMap { row in
          origin.keys.flatMap { other in
            let value = origin.values[other]![position]
            return (value.elements ?? [value]).filter { $0 == .link(row) }.map { _ in other }
          }
        }
        (table, isMany) = (source, true)
      }
    }
    return (rows, table, isMany)
  }

  /// The groups of values that the end of a path takes from one row.
  private func ends(_ end: ValuePath.End, _ table: UInt32, _ key: UInt64) -> [[Value]] {
    let rows = tables[table]!
    switch end {
    case .row: return [[.link(key)]]
    case .value(let column):
      let value = rows.values[key]![column]
      return rows.schema.columns[column].isCollection ? [value.elements ?? []] : [[value]]
    case .keys(let column):
      guard case .map(let map, _) = rows.values[key]![column] else { return [[]] }
      return [map.keys.map { .string($0) }]
    case .inner(let column, let steps):
      let found = inner(rows.values[key]![column], steps)
      return found.isEmpty && steps.contains(.all) ? [[]] : found
    case .property(.count, of: .value(let column)):
      let value = rows.values[key]![column]
      if let elements = value.elements { return [[.int(Int64(elements.count))]] }
      switch value {
      case .null: return [[rows.schema.columns[column].type == .link ? .int(0) : .null]]
      case .link: return [[.int(1)]]
      case .string(let text): return [[.int(Int64(text.utf8.count))]]
      case .data(let bytes): return [[.int(Int64(bytes.count))]]
      default: return []
      }
    case .property(.type, of: .value(let column)):
      return [[.int(ValueType(rows.values[key]![column]).rawValue)]]
    case .property: return []
    case .rowCount(let steps): return [[.int(Int64(walk(steps, table, key).rows.count))]]
    case .linkCount:
      var count = 0
      for (_, origin) in tables {
        for row in origin.values.values {
          for (column, value) in zip(origin.schema.columns, row)
          where column.type == .link && column.target == table {
            count += (value.elements ?? [value]).filter { $0 == .link(key) }.count
          }
        }
      }
      return [[.int(Int64(count))]]
    case .aggregate(let aggregate, let steps, let end):
      let found = walk(steps, table, key)
      let values = found.rows.flatMap { ends(end, found.table, $0).flatMap { $0 } }
      return [[Self.aggregate(aggregate, values)]]
    case .subquery(let steps, let predicate):
      let found = walk(steps, table, key)
      return [[.int(Int64(found.rows.filter { holds(predicate, found.table, $0) }.count))]]
    }
  }

  private func inner(_ value: Value, _ steps: [ValuePath.InnerStep]) -> [[Value]] {
    guard let step = steps.first else { return [[value]] }
    switch (step, value) {
    case (.all, _): return value.elements.map { [$0] } ?? []
    case (.index(let index), .list(let elements, _)):
      return elements.isEmpty ? [] : [[elements.indices.contains(index) ? elements[index] : .null]]
    case (.first, .list(let elements, _)): return elements.first.map { [[$0]] } ?? []
    case (.last, .list(let elements, _)): return elements.last.map { [[$0]] } ?? []
    case (.key(let key), .map(let map, _)): return map.isEmpty ? [] : [[map[key] ?? .null]]
    default: return []
    }
  }

  /// The aggregate of the whole numbers among the values.
  private static func aggregate(_ aggregate: PathAggregate, _ values: [Value]) -> Value {
    let numbers = values.compactMap { if case .int(let number) = $0 { number } else { nil } }
    let sum = numbers.reduce(Int128(0)) { $0 + Int128($1) }
    switch aggregate {
    case .min: return numbers.min().map { .int($0) } ?? .null
    case .max: return numbers.max().map { .int($0) } ?? .null
    case .average: return numbers.isEmpty ? .null : .double(Double(sum) / Double(numbers.count))
    case .sum:
      if let whole = Int64(exactly: sum) { return .int(whole) }
      return .double(numbers.reduce(0) { $0 + Double($1) })
    }
  }
}

extension QuerySample {
  /// A random relation of two random sides.
  mutating func relation(_ table: UInt32, _ model: QueryModel) -> Predicate {
    let columns = model.tables[table]!.schema.columns
    switch generator.below(10) {
    case 0: return arithmetic(table, model)
    case 1:
      return test(count(table, model), .compare(comparison()), .constant(.int(Int64(generator.below(4)))))
    case 2, 3: return aggregate(table, model)
    case 4:
      let (steps, target) = steps(table, model, length: 1 + generator.below(2))
      let link = columns.indices.filter { columns[$0].type == .link && columns[$0].target == target }
      let row = model.tables[target]!.keys.randomElement(using: &generator).map { Value.link($0) } ?? .null
      let left = Expression.path(ValuePath(steps, .row))
      // The right side is a link of the row itself, or a constant.
      guard let link = link.randomElement(using: &generator), generator.chance(50) else {
        return test(left, .compare(generator.chance(50) ? .equal : .notEqual), .constant(row))
      }
      return test(left, .compare(.equal), .path(ValuePath([], .value(link))))
    case 5: return inner(table, model)
    case 6:
      let (steps, target) = steps(table, model, length: 1)
      let predicate = predicate(target, model, depth: 1)
      return test(
        .path(ValuePath([], .subquery(steps, predicate))), .compare(comparison()),
        .constant(.int(Int64(generator.below(3)))))
    default:
      let (left, column) = value(table, model)
      let (right, _) = value(table, model, like: column)
      if [.string, .data].contains(column.type), generator.chance(40) {
        let match = TextMatch.allCases.randomElement(using: &generator)!
        return test(left, .text(match, options: generator.chance(50) ? .ignoringCase : []), right)
      }
      return test(left, .compare(comparison()), right)
    }
  }

  private mutating func test(_ left: Expression, _ test: Relation.Test, _ right: Expression) -> Predicate {
    let quantifiers: [Relation.Quantifier?] = [nil, nil, .any, .all, Relation.Quantifier.none]
    let quantifier = quantifiers.randomElement(using: &generator)!
    return .test(
      Relation.Side(left, quantifier), test, Relation.Side(right, generator.chance(15) ? .all : nil))
  }

  private mutating func comparison() -> Comparison { Comparison.allCases.randomElement(using: &generator)! }

  /// Random steps along links and against them.
  private mutating func steps(
    _ table: UInt32, _ model: QueryModel, length: Int
  ) -> (steps: [ValuePath.Step], target: UInt32) {
    var (steps, table): ([ValuePath.Step], UInt32) = ([], table)
    for _ in 0..<length {
      let columns = model.tables[table]!.schema.columns
      var choices = columns.indices.filter { columns[$0].type == .link }.map {
        (ValuePath.Step.links($0), columns[$0].target)
      }
      for (id, source) in model.tables.sorted(by: { $0.key < $1.key }) {
        for column in source.schema.columns where column.type == .link && column.target == table {
          choices.append((.backlinks(table: id, column: column.id), id))
        }
      }
      guard let (step, target) = choices.randomElement(using: &generator) else { break }
      steps.append(step)
      table = target
    }
    return (steps, table)
  }

  /// A path to a column, a constant, or a list of constants.
  ///
  /// - Parameter other: The column on the other side, if there is one.
  private mutating func value(
    _ table: UInt32, _ model: QueryModel, like other: Column? = nil
  ) -> (Expression, Column) {
    if let other, generator.chance(50) {
      if generator.chance(50) { return (.constant(constant(other, model)), other) }
      return (.list((0..<generator.below(4)).map { _ in constant(other, model) }), other)
    }
    let (steps, target) = steps(table, model, length: [0, 0, 1, 2][generator.below(4)])
    let columns = model.tables[target]!.schema.columns
    let fit = columns.indices.filter { other == nil || columns[$0].type == other?.type }
    let position = (fit.isEmpty ? Array(columns.indices) : fit).randomElement(using: &generator)!
    return (.path(ValuePath(steps, .value(position))), columns[position])
  }

  private mutating func integers(_ table: UInt32, _ model: QueryModel) -> [Int] {
    let columns = model.tables[table]!.schema.columns
    return columns.indices.filter { columns[$0].type == .int64 }
  }

  private mutating func arithmetic(_ table: UInt32, _ model: QueryModel) -> Predicate {
    var parts: [Expression.Part] = []
    for place in 0..<3 {
      let numbers = integers(table, model)
      if let number = numbers.randomElement(using: &generator), generator.chance(60) {
        parts.append(.path(ValuePath([], .value(number))))
      } else {
        parts.append(.constant(generator.chance(70) ? .int(Int64(generator.below(5)) - 1) : .double(1.5)))
      }
      if place > 0 { parts.append(.arithmetic(.allCases.randomElement(using: &generator)!)) }
    }
    let numbers: [Value] = [.int(0), .int(3), .double(2.5), .null]
    return test(
      .computed(parts), .compare(comparison()), .constant(numbers.randomElement(using: &generator)!))
  }

  private mutating func count(_ table: UInt32, _ model: QueryModel) -> Expression {
    let columns = model.tables[table]!.schema.columns
    if generator.chance(30) { return .path(ValuePath([], .linkCount)) }
    if generator.chance(40) {
      let counted = columns.indices.filter {
        columns[$0].isCollection || [.string, .data, .link].contains(columns[$0].type)
      }
      return .path(
        ValuePath([], .property(.count, of: .value(counted.randomElement(using: &generator)!))))
    }
    let (prefix, target) = steps(table, model, length: generator.below(2))
    return .path(ValuePath(prefix, .rowCount(steps(target, model, length: 1).steps)))
  }

  private mutating func aggregate(_ table: UInt32, _ model: QueryModel) -> Predicate {
    let (prefix, middle) = steps(table, model, length: generator.below(2))
    let (steps, target) = steps(middle, model, length: 1 + generator.below(2))
    guard let number = integers(target, model).randomElement(using: &generator) else { return .always }
    let aggregate = PathAggregate.allCases.randomElement(using: &generator)!
    let constants: [Value] = [.int(0), .int(3), .double(1.5), .null]
    return test(
      .path(ValuePath(prefix, .aggregate(aggregate, steps, of: .value(number)))), .compare(comparison()),
      .constant(constants.randomElement(using: &generator)!))
  }

  /// A condition on the element at a place or on all elements of a list or map, or on the keys of a map.
  private mutating func inner(_ table: UInt32, _ model: QueryModel) -> Predicate {
    let columns = model.tables[table]!.schema.columns
    let lists = columns.indices.filter {
      columns[$0].type != .link && [.list, .map].contains(columns[$0].collection)
    }
    guard let list = lists.randomElement(using: &generator) else { return .never }
    let isMap = columns[list].collection == .map
    if isMap, generator.chance(30) {
      return test(
        .path(ValuePath([], .keys(list))), .compare(comparison()), .constant(.string("\(generator.below(3))"))
      )
    }
    let step: ValuePath.InnerStep =
      isMap
      ? [.key("0"), .key("2"), .all].randomElement(using: &generator)!
      : [.index(0), .index(2), .first, .last, .all].randomElement(using: &generator)!
    return test(
      .path(ValuePath([], .inner(list, [step]))), .compare(comparison()),
      .constant(constant(columns[list], model)))
  }
}
