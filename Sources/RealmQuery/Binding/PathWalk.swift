import RealmStorage

/// Follows a path name by name, from a table on.
struct PathWalk {
  /// The place that the steps so far lead to.
  enum Place {
    /// A row, or several rows.
    case row
    /// A column of the row, by its position in the schema.
    case column(Int)
    case inside(Inside)
    /// The end of a path that no step can follow.
    case end(ResolvedPath)
  }

  /// A place inside a collection or inside a value of any type.
  struct Inside {
    var column: Int
    var steps: [ValuePath.InnerStep]
    var type: ColumnType
    var target: UInt32
    var isMany = false
  }

  let run: BindingRun
  let range: SourceRange
  var table: QueryTable
  var steps: [ValuePath.Step] = []
  /// The number of steps that lead to several rows.
  var manySteps = 0
  var place = Place.row

  var isFormat: Bool { run.isFormat }

  init(_ run: BindingRun, _ range: SourceRange, from table: QueryTable) {
    (self.run, self.range, self.table) = (run, range, table)
  }

  func invalid(_ message: String, suggestion: String? = nil) -> QueryError {
    run.invalid(message, range, suggestion: suggestion)
  }

  func column(_ position: Int) -> Column { table.schema.columns[position] }
  func label(_ position: Int) -> String { "`\(table.name).\(column(position).name)`" }

  // MARK: Rows

  /// Follows the links of a column to the rows that they lead to.
  mutating func hop(_ position: Int) throws(QueryError) {
    let column = column(position)
    guard let next = run.binder.names.find(column.target) else {
      throw invalid("The class that \(label(position)) links to is not in the schema")
    }
    steps.append(.links(position))
    if column.isCollection { manySteps += 1 }
    table = next
    place = .row
  }

  mutating func hop(_ inverse: QueryNames.Inverse) throws(QueryError) {
    guard let source = run.binder.names.find(inverse.table) else {
      throw invalid("The class that links to \(table.name) is not in the schema")
    }
    steps.append(.backlinks(table: inverse.table, column: inverse.column))
    manySteps += 1
    table = source
    place = .row
  }

  /// Goes to the linked rows if the path has led to a column of links. Throws if the place is neither a row nor such a
  /// column.
  mutating func enterRow(_ what: String) throws(QueryError) {
    switch place {
    case .row: return
    case .column(let position) where column(position).type == .link: try hop(position)
    case .column(let position):
      throw invalid(
        "\(what) can only follow an object, and \(label(position)) is \(column(position).type.messageName)")
    case .inside(let inside):
      throw invalid("\(what) can't follow an index or a key in \(label(inside.column))")
    case .end(let path): throw invalid("Nothing can follow this part of the path to \(path.label)")
    }
  }

  /// Goes to a property of the row: a column, or an inverse link.
  mutating func property(_ name: String) throws(QueryError) {
    switch table.find(name) {
    case .column(let position): place = .column(position)
    case .inverse(let inverse): try hop(inverse)
    case .loop: throw invalid("The name \(QueryError.shown(name)) of \(table.name) stands for itself")
    case nil: throw unknown(name, in: table)
    }
  }

  func unknown(_ name: String, in table: QueryTable) -> QueryError {
    invalid(
      "`\(table.name)` has no property \(QueryError.shown(name))", suggestion: table.nearest(to: name))
  }

  /// Goes to the objects that link to this row by a property of their class.
  mutating func links(from className: String, property: String) throws(QueryError) {
    try enterRow("@links")
    guard let source = run.binder.names.find(className) else {
      throw invalid(
        "There is no class \(QueryError.shown(className))",
        suggestion: run.binder.names.nearest(to: className))
    }
    guard case .column(let position)? = source.find(property) else { throw unknown(property, in: source) }
    let column = source.schema.columns[position]
    guard column.type == .link, column.target == table.id else {
      throw invalid("`\(source.name).\(column.name)` does not link to \(table.name)")
    }
    try hop(QueryNames.Inverse(table: source.id, column: column.id))
  }

  // MARK: Names

  mutating func name(_ name: String) throws(QueryError) {
    switch place {
    case .row: try property(name)
    case .column(let position): try self.name(name, after: position)
    case .inside(let inside): try self.name(name, in: inside)
    case .end(let path): throw invalid("Nothing can follow this part of the path to \(path.label)")
    }
  }

  private mutating func name(_ name: String, after position: Int) throws(QueryError) {
    let column = column(position)
    if column.type == .link {
      guard let target = run.binder.names.find(column.target) else { return try hop(position) }
      if target.find(name) == nil, column.collection == .map, !isFormat {
        return try subscripted(.key(name), position)
      }
      try hop(position)
      return try property(name)
    }
    if isFormat {
      throw invalid(
        "\(label(position)) is \(column.type.messageName), which has no property \(QueryError.shown(name))")
    }
    if column.collection == .map || column.collection == .none && column.type == .mixed {
      return try subscripted(.key(name), position)
    }
    guard column.isCollection, column.type.mayBeText, name.lowercased() == "length" else {
      throw invalid(
        "\(label(position)) holds \(column.isCollection ? "values, each of them " : "")\(column.type.messageName), which has no property \(QueryError.shown(name))"
      )
    }
    var path = finished()
    path.end = .property(.length, of: path.end)
    (path.form, path.type, path.isOptional) = (.length, .int64, false)
    place = .end(path)
  }

  private mutating func name(_ name: String, in inside: Inside) throws(QueryError) {
    var inside = inside
    guard !isFormat else {
      throw invalid("No property can follow an index or a key in \(label(inside.column))")
    }
    if inside.type == .mixed {
      inside.steps.append(.key(name))
      place = .inside(inside)
      return
    }
    guard inside.type == .link, let target = run.binder.names.find(inside.target) else {
      throw invalid(
        "\(label(inside.column)) holds \(inside.type.messageName), which has no property \(QueryError.shown(name))"
      )
    }
    switch target.find(name) {
    case .column(let position):
      let column = target.schema.columns[position]
      inside.steps.append(.key(column.name))
      if column.isCollection {
        inside.steps.append(.all)
        inside.isMany = true
      }
      (inside.type, inside.target) = (column.type, column.target)
      place = .inside(inside)
    case .inverse: throw invalid("Inverse links can't follow an index or a key yet")
    case .loop: throw invalid("The name \(QueryError.shown(name)) of \(target.name) stands for itself")
    case nil: throw unknown(name, in: target)
    }
  }

  // MARK: The end

  /// The whole path that the steps so far give.
  func finished() -> ResolvedPath {
    var path = ResolvedPath(end: .row, type: .link, form: .row, owner: table)
    path.steps = steps
    path.isOverMany = manySteps > 0
    switch place {
    case .row:
      path.target = table.id
      path.isCollection = if case .backlinks? = steps.last { true } else { false }
    case .column(let position):
      let column = column(position)
      (path.end, path.form) = (.value(position), .value)
      (path.type, path.target) = (column.type, column.type == .link ? column.target : 0)
      (path.isCollection, path.isOptional) = (column.isCollection, column.isOptional)
    case .inside(let inside):
      (path.end, path.form) = (.inner(inside.column, inside.steps), .inner)
      (path.type, path.target) = (inside.type, inside.type == .link ? inside.target : 0)
      (path.isInnerMany, path.isOptional) = (inside.isMany, true)
    case .end(let found): path = found
    }
    return path
  }
}
