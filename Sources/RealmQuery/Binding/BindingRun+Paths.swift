import RealmStorage

extension BindingRun {
  /// The columns and links that the names of a path stand for.
  func resolve(_ path: QuerySyntax.Path, _ scope: Int) throws(QueryError) -> ResolvedPath {
    var walk = PathWalk(self, path.range, from: scopes[scope].table)
    var steps = path.steps
    switch path.start {
    case .object: break
    case .selfWord:
      if steps.isEmpty {
        throw invalid("SELF can't be compared: name a property of \(walk.table.name)", path.range)
      }
    case .variable(let name):
      if try !isElement(name, scope, path.range) { steps.insert(.name(name), at: 0) }
    case .argument(let position):
      steps = try keyPath(position, path.range) + steps
    }
    guard steps.count <= ValuePath.maximumSteps else { throw tooLong(path.range) }
    var index = 0
    if isFormat { try checkOperators(steps, walk) }
    while index < steps.count {
      let next = index + 1 < steps.count ? steps[index + 1] : nil
      index += try follow(steps[index], next, isLast: index + 1 >= steps.count, &walk)
    }
    if case .row = walk.place, steps.isEmpty, isFormat {
      throw invalid(
        "The variable of a SUBQUERY can't be compared: name a property of \(walk.table.name)",
        path.range)
    }
    return walk.finished()
  }

  /// Whether a name that begins with `$` stands for the element of the scope, and not for a property.
  private func isElement(_ name: String, _ scope: Int, _ range: SourceRange) throws(QueryError) -> Bool {
    if scopes[scope].variable == name { return true }
    var outer = scopes[scope].parent
    while let next = outer {
      if scopes[next].variable == name {
        throw invalid(
          "\(QueryError.shown(name)) is an object of an outer query, which this SUBQUERY can't use",
          range)
      }
      outer = scopes[next].parent
    }
    if !isFormat, scopes[scope].table.find(name) != nil { return false }
    throw invalid("There is no variable \(QueryError.shown(name)) in this place", range)
  }

  /// The steps of the key path that an argument of an RQL query gives.
  private func keyPath(_ position: Int, _ range: SourceRange) throws(QueryError) -> [QuerySyntax.Step] {
    let text: String
    switch try argument(position, range) {
    case .value(.string(let found)), .keyPath(let found): text = found
    default:
      throw error(
        .invalidArgument, "Argument \(position) is not a key path: a key path is a string of names and dots",
        range)
    }
    var steps: [QuerySyntax.Step] = []
    var names = text.split(separator: ".", omittingEmptySubsequences: false)[...]
    while let name = names.popFirst() {
      switch name {
      case "":
        throw error(.invalidArgument, "The key path \(QueryError.shown(text)) has an empty name", range)
      case "@links":
        if names.count >= 2, names.first?.hasPrefix("@") == false, let from = names.popFirst(),
          let property = names.popFirst()
        {
          steps.append(.links(from: String(from), property: String(property)))
        } else {
          steps.append(.allLinks)
        }
      case "@keys": steps.append(.keys)
      case "@values": steps.append(.values)
      case "@count", "@size": steps.append(.count)
      case "@type": steps.append(.type)
      default:
        if name.hasPrefix("@") {
          guard let aggregate = QuerySyntax.Aggregate(rawValue: String(name.dropFirst())) else {
            throw error(
              .invalidArgument, "The key path \(QueryError.shown(text)) has an unknown operator", range)
          }
          steps.append(.aggregate(aggregate))
        } else {
          steps.append(.name(String(name)))
        }
      }
    }
    return steps
  }

  /// Follows a step.
  ///
  /// - Returns: the number of steps that were taken: 2 if the step includes the next one, otherwise 1.
  private func follow(
    _ step: QuerySyntax.Step, _ next: QuerySyntax.Step?, isLast: Bool, _ walk: inout PathWalk
  ) throws(QueryError) -> Int {
    switch step {
    case .name(let name): try walk.name(name)
    case .index(let index): try walk.subscripted(.index(Int(clamping: index)))
    case .key(let key): try walk.subscripted(.key(key))
    case .argument(let position): try walk.subscripted(try subscripted(position, walk.range))
    case .first where !isFormat: try walk.subscripted(.first)
    case .last where !isFormat: try walk.subscripted(.last)
    case .size where !isFormat: try walk.count(isSize: true)
    case .first, .last, .size, .computed:
      throw walk.invalid("In a format, brackets can only hold a number, a key or an argument")
    case .all: try walk.subscripted(.all)
    case .keys: try walk.keys()
    case .values: try walk.values()
    case .count: try walk.count(isSize: false)
    case .type: try walk.type()
    case .links(let className, let property): try walk.links(from: className, property: property)
    case .allLinks:
      guard next == .count else { throw walk.invalid("@links alone has a number only: @links.@count") }
      try walk.enterRow("@links")
      var path = walk.finished()
      (path.end, path.form, path.type, path.target) = (.linkCount, .count, .int64, 0)
      path.isCollection = false
      walk.place = .end(path)
      return 2
    case .aggregate(let aggregate):
      guard case .name(let name)? = next else {
        try walk.aggregate(aggregate, of: nil)
        return 1
      }
      try walk.aggregate(aggregate, of: name)
      return 2
    case .unknownOperator(let name):
      throw walk.invalid(
        "There is no operator \(QueryError.shown("@" + name))",
        suggestion: Misspelling.nearest(
          to: name, among: ["count", "min", "max", "sum", "avg", "allKeys", "allValues"]
        ).map { "@" + $0 })
    }
    return 1
  }

  private func subscripted(
    _ position: Int, _ range: SourceRange
  ) throws(QueryError) -> ValuePath.InnerStep {
    switch try argument(position, range) {
    case .value(.int(let index)): return .index(Int(clamping: index))
    case .value(.string(let key)), .keyPath(let key): return .key(key)
    default:
      throw error(
        .invalidArgument, "Argument \(position) is used in brackets, but is neither an integer nor a string",
        range)
    }
  }

  /// Throws if a key path of a format has more than one operator.
  private func checkOperators(_ steps: [QuerySyntax.Step], _ walk: PathWalk) throws(QueryError) {
    var count = 0
    for step in steps {
      switch step {
      case .count, .aggregate, .keys, .values: count += 1
      default: break
      }
    }
    if count > 1 { throw walk.invalid("A key path can have only one operator") }
  }

  // MARK: Descriptors

  func step(_ descriptor: QuerySyntax.Descriptor) throws(QueryError) -> RowPlan.Step {
    switch descriptor {
    case .limit(let count): return .limit(Int(clamping: max(count, 0)))
    case .sort(let keys):
      var sorted: [SortKey] = []
      for key in keys {
        sorted.append(SortKey(try columnPath(key.path, "SORT"), ascending: key.isAscending))
      }
      return .sort(sorted)
    case .distinct(let paths):
      var columns: [ColumnPath] = []
      for path in paths { columns.append(try columnPath(path, "DISTINCT")) }
      return .distinct(columns)
    }
  }

  private func columnPath(_ path: QuerySyntax.Path, _ word: String) throws(QueryError) -> ColumnPath {
    let found = try resolve(path, 0)
    if found.form == .inner {
      throw invalid("\(word) by a key or an index is not supported yet", path.range)
    }
    guard let columns = found.columnPath, !found.isMany, word == "DISTINCT" || found.type != .link else {
      throw invalid(
        "\(word) needs a property with one value for each object, and \(found.label) is not one", path.range)
    }
    return columns
  }
}
