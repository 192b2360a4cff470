import RealmStorage

extension PathWalk {
  // MARK: Subscripts

  /// Goes to one element of the place that the path has led to, or to all its elements.
  mutating func subscripted(_ step: ValuePath.InnerStep) throws(QueryError) {
    switch place {
    case .column(let position): try subscripted(step, position)
    case .inside(var inside):
      if isFormat, inside.type != .mixed {
        throw invalid("\(label(inside.column)) can have only one key")
      }
      if step == .all, inside.isMany, inside.type != .mixed { return }
      guard inside.type == .mixed else {
        throw invalid(
          "A second index or key can only follow a value of any type, and \(label(inside.column)) has none")
      }
      inside.steps.append(step)
      if step == .all { inside.isMany = true }
      place = .inside(inside)
    case .row:
      throw invalid("An index or a key can't follow \(steps.isEmpty ? "the object" : "inverse links")")
    case .end(let path): throw invalid("Nothing can follow this part of the path to \(path.label)")
    }
  }

  mutating func subscripted(_ step: ValuePath.InnerStep, _ position: Int) throws(QueryError) {
    let column = column(position)
    if step == .all, column.isCollection, !isFormat { return }
    if let message = refusal(of: step, column) { throw invalid("\(label(position)) \(message)") }
    place = .inside(
      Inside(
        column: position, steps: [step], type: column.type, target: column.target, isMany: step == .all))
  }

  /// The reason why a subscript can't follow a column, in words; nil if it can follow.
  private func refusal(of step: ValuePath.InnerStep, _ column: Column) -> String? {
    let isKey = if case .key = step { true } else { false }
    switch column.collection {
    case .none: return column.type == .mixed ? nil : "is one value, which has neither indexes nor keys"
    case .list:
      if isFormat {
        return "is a list: in formats only maps and values of any type can have an index or a key"
      }
      return isKey ? "is a list, which has indexes but no keys" : nil
    case .set: return "is a set, which has neither indexes nor keys"
    case .map: return isKey ? nil : "is a map, which has keys but no indexes"
    }
  }

  // MARK: Keys, numbers and types

  /// Goes to the keys of a map.
  mutating func keys() throws(QueryError) {
    switch place {
    case .column(let position) where column(position).collection == .map:
      var path = finished()
      (path.end, path.form, path.type, path.target) = (.keys(position), .keys, .string, 0)
      path.isOptional = false
      place = .end(path)
    case .column(let position)
    where column(position).type == .mixed && !column(position).isCollection && !isFormat:
      try subscripted(.keys, position)
      if case .inside(var inside) = place {
        inside.isMany = true
        place = .inside(inside)
      }
      end(of: .inner, .string)
    case .inside(var inside) where inside.type == .mixed && !isFormat:
      inside.steps.append(.keys)
      inside.isMany = true
      place = .inside(inside)
      end(of: .inner, .string)
    default: throw invalid("\(finished().label) is not a map: only maps have keys")
    }
  }

  /// Goes to the values of a map. In RQL, this also goes to the elements of other collections.
  mutating func values() throws(QueryError) {
    switch place {
    case .column(let position) where column(position).collection == .map: return
    case .column(let position) where column(position).isCollection && !isFormat: return
    case .column where !isFormat, .inside where !isFormat:
      try subscripted(.all)
    default: throw invalid("\(finished().label) is not a map: only maps have values")
    }
  }

  /// Ends the path at the current place, so that no step can follow.
  private mutating func end(of form: ResolvedPath.Form, _ type: ColumnType) {
    var path = finished()
    (path.form, path.type, path.target) = (form, type, 0)
    place = .end(path)
  }

  /// Goes to the number of elements, bytes or links.
  mutating func count(isSize: Bool) throws(QueryError) {
    var path = finished()
    switch place {
    case .row:
      guard case .backlinks? = steps.last, !isSize else {
        throw invalid("An object has no number of elements: @count can only follow a collection")
      }
      path.steps.removeLast()
      path.end = .rowCount([steps[steps.count - 1]])
      path.isOverMany = manySteps > 1
    case .column(let position):
      let column = column(position)
      let takesSize = column.isCollection || column.type == .mixed
      guard takesSize || !isFormat && !isSize && (column.type.mayBeText || column.type == .link) else {
        throw invalid("\(label(position)) is \(column.type.messageName), which has no number of elements")
      }
      path.end = .property(.count, of: path.end)
    case .inside(let inside):
      guard inside.type.mayBeText || inside.type == .link, !isFormat else {
        throw invalid(
          "\(label(inside.column)) holds \(inside.type.messageName), which has no number of elements")
      }
      path.end = .property(.count, of: path.end)
    case .end: throw invalid("@count can't follow this part of the path to \(path.label)")
    }
    if isFormat, case .column(let position) = place, !column(position).isCollection {
      throw invalid("\(label(position)) is not a collection: @count can only follow a collection")
    }
    (path.form, path.type, path.target, path.isCollection) = (.count, .int64, 0, false)
    path.isOptional = false
    place = .end(path)
  }

  /// Goes to the type of each value, which only values of any type have.
  mutating func type() throws(QueryError) {
    var path = finished()
    guard path.type == .mixed, path.form == .value || path.form == .inner else {
      throw invalid(
        "@type follows a value of any type, and the type of \(path.label) is always \(path.typeName)")
    }
    path.end = .property(.type, of: path.end)
    (path.form, path.type) = (.type, .int64)
    place = .end(path)
  }

  // MARK: Aggregates

  /// Goes to an aggregate of the values of a collection, or of a property of the objects of a collection.
  mutating func aggregate(_ aggregate: QuerySyntax.Aggregate, of name: String?) throws(QueryError) {
    guard let name else {
      guard case .column(let position) = place, column(position).isCollection,
        column(position).type != .link
      else {
        throw invalid(
          "@\(aggregate.rawValue) without a property can only follow a collection of numbers, and \(finished().label) is not one"
        )
      }
      var path = finished()
      path.end = .aggregate(PathAggregate(aggregate), [], of: .value(position))
      path.isCollection = false
      return try finish(aggregate, of: column(position), position, path)
    }
    if case .column(let position) = place, column(position).type == .link, column(position).isCollection {
      try hop(position)
    } else if case .row = place, case .backlinks? = steps.last {
    } else {
      throw invalid(
        "@\(aggregate.rawValue) with a property can only follow a collection of objects, and \(finished().label) is not one"
      )
    }
    try property(name)
    guard case .column(let position) = place, !column(position).isCollection else {
      throw invalid("@\(aggregate.rawValue) needs a property with one number for each object")
    }
    var path = finished()
    path.end = .aggregate(PathAggregate(aggregate), steps, of: .value(position))
    (path.steps, path.isOverMany) = ([], false)
    try finish(aggregate, of: column(position), position, path)
  }

  private mutating func finish(
    _ aggregate: QuerySyntax.Aggregate, of column: Column, _ position: Int, _ path: ResolvedPath
  ) throws(QueryError) {
    let isExtreme = aggregate == .min || aggregate == .max
    guard column.type.isNumber || column.type == .mixed && !isFormat || column.type == .date && isExtreme
    else {
      throw invalid(
        "\(label(position)) is \(column.type.messageName), which has no @\(aggregate.rawValue)")
    }
    var path = path
    path.form = .aggregate(aggregate)
    path.isOptional = aggregate != .sum
    (path.type, path.target) = (column.type, 0)
    // In formats, a constant has to fit the values that are aggregated, so the type stays theirs.
    if !isFormat {
      switch (aggregate, column.type) {
      case (.average, .int64), (.average, .float), (.sum, .float): path.type = .double
      default: break
      }
    }
    place = .end(path)
  }
}

extension PathAggregate {
  init(_ aggregate: QuerySyntax.Aggregate) {
    self =
      switch aggregate {
      case .min: .min
      case .max: .max
      case .sum: .sum
      case .average: .average
      }
  }
}
