import RealmStorage

extension FieldFilter {
  /// A set of objects that an index over one field can tell.
  package enum Route: Sendable, Hashable {
    /// The objects whose values have one of these keys in the field: see `key(_:)`.
    case values(field: String, [Value])
    /// The objects whose values stand between two bounds, both included; a bound that is nil bounds nothing,
    /// and one of them is there. Numbers of all types have one order, texts that of their bytes, and null has
    /// none.
    case range(field: String, from: Value?, to: Value?)
    /// The objects whose values are texts that begin with the bytes of this one.
    case prefix(field: String, Value)

    /// What an index has in place of a value: the same for values that filters take for equal, such as 1 and
    /// 1.0.
    ///
    /// It is nil of what equals nothing.
    package static func key(_ value: Value) -> Value? { FilterOrder.key(value) }

    /// Whether an object belongs to it.
    ///
    /// - Parameters:
    ///   - values: what the object has in the fields that filters may use.
    ///   - names: the names of these fields.
    package func covers(_ values: [Value], of names: [String]) -> Bool {
      guard let place = names.firstIndex(of: field), place < values.count else { return false }
      let value = values[place]
      switch self {
      case .values(_, let keys): return FilterOrder.key(value).map { keys.contains($0) } ?? false
      case .range(_, let from, let to):
        return (from.map { Comparison.greaterOrEqual.holds(value, $0) } ?? true)
          && (to.map { Comparison.lessOrEqual.holds(value, $0) } ?? true)
      case .prefix(_, let text): return Comparison.beginsWith.holds(value, text)
      }
    }

    private var field: String {
      switch self {
      case .values(let field, _), .range(let field, _, _), .prefix(let field, _): field
      }
    }

    /// How gladly it is taken: the less, the better.
    fileprivate var rank: Int {
      switch self {
      case .values(_, let keys): keys.count
      case .prefix: .max - 2
      case .range(_, let from, let to): from == nil || to == nil ? .max : .max - 1
      }
    }
  }

  /// Ways to find the objects that match by looking up one field each: an object that matches is covered by
  /// one of them.
  ///
  /// They may cover others too. A term that no object can match for this user is left out.
  ///
  /// - Returns: nil where an object may match that no index tells, so that all are to be looked at.
  package func routes(_ asking: Asking) -> [Route]? {
    var routes: [Route] = []
    for term in terms {
      var finder = RouteFinder()
      guard term.allSatisfy({ finder.add($0, asking) }) else { continue }
      guard let route = finder.best else { return nil }
      if !routes.contains(route) { routes.append(route) }
    }
    return routes
  }
}

/// Looks for the best route of a term.
private struct RouteFinder {
  private(set) var candidate: FieldFilter.Route?
  private var ranges: [(field: String, from: Value?, to: Value?)] = []

  var best: FieldFilter.Route? {
    let all = ranges.map { FieldFilter.Route.range(field: $0.field, from: $0.from, to: $0.to) }
    return (all + (candidate.map { [$0] } ?? [])).min { $0.rank < $1.rank }
  }

  /// Adds a condition of the term; false where nothing can meet it.
  mutating func add(_ condition: FieldFilter.Condition, _ asking: FieldFilter.Asking) -> Bool {
    guard case .field(let field) = condition.subject else {
      guard case .user(let name) = condition.subject else { return true }
      return condition.holds(asking.values(ofUser: name), asking)
    }
    guard !condition.comparison.isNegated else { return true }
    let values = condition.operands.flatMap { $0.values(asking) }
    if condition.comparison == .equal {
      var seen: Set<Value> = []
      let keys = values.compactMap { FilterOrder.key($0) }.filter { seen.insert($0).inserted }
      take(.values(field: field, keys))
      return !keys.isEmpty
    }
    guard values.count == 1 else { return !values.isEmpty }
    return add(field, condition.comparison, values[0])
  }

  private mutating func add(_ field: String, _ comparison: FieldFilter.Comparison, _ value: Value) -> Bool {
    switch comparison {
    case .beginsWith, .endsWith, .contains:
      guard case .string = value else { return false }
      if comparison == .beginsWith { take(.prefix(field: field, value)) }
      return true
    default:
      guard FilterOrder.isOrdered(value) else { return false }
      let isLower = comparison == .greater || comparison == .greaterOrEqual
      bound(field, isLower: isLower, value)
      return true
    }
  }

  private mutating func bound(_ field: String, isLower: Bool, _ value: Value) {
    guard let place = ranges.firstIndex(where: { $0.field == field }) else {
      return ranges.append((field, isLower ? value : nil, isLower ? nil : value))
    }
    // Of two bounds on one side the first is as right as any.
    if isLower {
      ranges[place].from = ranges[place].from ?? value
    } else {
      ranges[place].to = ranges[place].to ?? value
    }
  }

  private mutating func take(_ route: FieldFilter.Route) {
    if candidate.map({ route.rank < $0.rank }) ?? true { candidate = route }
  }
}
