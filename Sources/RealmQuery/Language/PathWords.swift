import RealmStorage

/// A path by the names of its properties, with what is known of the values at its end.
struct PathWords {
  /// The table that the steps so far lead to.
  fileprivate(set) var table: TableSchema
  fileprivate var start: QuerySyntax.Path.Start
  fileprivate var steps: [QuerySyntax.Step] = []
  /// The type of the values; nil if they do not all have the same type.
  fileprivate(set) var type: ColumnType?
  /// Whether the path ends in the types of values.
  fileprivate(set) var isType = false
  /// Whether an object may have several values at the end of the path.
  fileprivate(set) var isMany = false
  /// Whether the path has a further step after its first index or key.
  fileprivate(set) var isIndexed = false
  /// The name of the path in messages.
  fileprivate(set) var label: String

  var path: QuerySyntax.Path { QuerySyntax.Path(start, steps: steps) }

  fileprivate init(_ scope: PredicateWriter.Scope) {
    table = scope.table
    start = scope.variable.map { .variable($0) } ?? .object
    label = "`\(scope.table.name)`"
  }
}

extension PredicateWriter {
  func words(_ path: ValuePath, _ scope: Scope) throws(QueryError) -> PathWords {
    var words = try words(path.steps, scope)
    try end(path.end, &words)
    return words
  }

  /// The path to the rows that steps lead to.
  func words(_ steps: [ValuePath.Step], _ scope: Scope) throws(QueryError) -> PathWords {
    var words = PathWords(scope)
    try follow(steps, &words)
    return words
  }

  private func follow(_ steps: [ValuePath.Step], _ words: inout PathWords) throws(QueryError) {
    for step in steps {
      switch step {
      case .links(let position):
        let column = try name(position, &words)
        words.table = try target(of: column, words.table)
      case .backlinks(let id, let columnID):
        guard let source = names.table(id: id),
          let column = source.columns.first(where: { $0.id == columnID })
        else { throw lacking("\(words.label) has a link from a class that is not in the schema") }
        words.steps.append(.links(from: source.name, property: column.name))
        words.isMany = true
        words.table = source
      }
    }
  }

  /// Goes to a property, and returns its column.
  private func name(_ position: Int, _ words: inout PathWords) throws(QueryError) -> Column {
    guard let column = words.table.column(position) else {
      throw lacking("\(words.table.name) has no column \(position)")
    }
    words.steps.append(.name(column.name))
    words.label = "`\(words.table.name).\(column.name)`"
    if column.collection != .none { words.isMany = true }
    return column
  }

  private func target(of column: Column, _ table: TableSchema) throws(QueryError) -> TableSchema {
    if column.target == 0 { return table }
    guard let target = names.table(id: column.target) else {
      throw lacking("The class that `\(table.name).\(column.name)` links to is not in the schema")
    }
    return target
  }

  // MARK: - Ends

  private func end(_ end: ValuePath.End, _ words: inout PathWords) throws(QueryError) {
    switch end {
    case .row: words.type = .link
    case .value(let position): words.type = try name(position, &words).type
    case .keys(let position):
      _ = try name(position, &words)
      words.steps.append(.keys)
      words.type = .string
    case .inner(let position, let steps): try inner(position, steps, &words)
    case .property(let property, let values): try self.property(property, of: values, &words)
    case .rowCount(let steps):
      let isMany = words.isMany
      try follow(steps, &words)
      words.steps.append(.count)
      (words.type, words.isMany) = (.int64, isMany)
    case .linkCount:
      words.steps += [.allLinks, .count]
      words.type = .int64
    case .aggregate(let aggregate, let steps, let values):
      let isMany = words.isMany
      try follow(steps, &words)
      // The operator is between the objects and their property, or behind a collection of values.
      let step = QuerySyntax.Step.aggregate(QuerySyntax.Aggregate(aggregate))
      if !steps.isEmpty { words.steps.append(step) }
      try self.end(values, &words)
      if steps.isEmpty { words.steps.append(step) }
      words.isMany = isMany
    case .subquery: throw lacking("RQL has no SUBQUERY in this place")
    }
  }

  private func property(
    _ property: ValuePath.ValueProperty, of values: ValuePath.End, _ words: inout PathWords
  ) throws(QueryError) {
    let isMany = words.isMany
    try end(values, &words)
    switch property {
    case .count:
      words.steps.append(.count)
      // A collection has one count for each object.
      if case .value = values { words.isMany = isMany }
    case .length: words.steps.append(.name("length"))
    case .type:
      words.steps.append(.type)
      words.isType = true
    }
    words.type = .int64
  }

  /// Goes to an index or a key of a collection, or of a value of any type.
  private func inner(
    _ position: Int, _ steps: [ValuePath.InnerStep], _ words: inout PathWords
  ) throws(QueryError) {
    let isMany = words.isMany
    let column = try name(position, &words)
    // An index or a key leads to one element, so the collection itself does not make the path one of many values.
    words.isMany = isMany
    words.isIndexed = steps.count > 1
    words.type = column.type
    var table = column.type == .link ? try target(of: column, words.table) : words.table
    var isSpread = false
    for (place, step) in steps.enumerated() {
      switch step {
      case .index(let index): words.steps.append(.index(Int64(index)))
      case .first: words.steps.append(.first)
      case .last: words.steps.append(.last)
      case .keys:
        words.steps.append(.keys)
        (words.isMany, words.type) = (true, .string)
      case .all:
        // A collection behind a link means all its elements without `[*]`.
        if !isSpread { words.steps.append(.all) }
        words.isMany = true
      case .key(let key):
        // The first key is a key of the column's own collection. A later key may be the name of a property of an
        // object.
        guard place > 0, words.type == .link, let property = table.column(key) else {
          words.steps.append(.key(key))
          break
        }
        words.steps.append(.name(key))
        words.type = property.type
        isSpread = property.collection != .none
        if property.type == .link { table = try target(of: property, table) }
        continue
      }
      isSpread = false
    }
  }
}

extension QuerySyntax.Aggregate {
  fileprivate init(_ aggregate: PathAggregate) {
    self =
      switch aggregate {
      case .min: .min
      case .max: .max
      case .sum: .sum
      case .average: .average
      }
  }
}
