import RealmStorage

extension FieldFilter {
  /// A set of objects that an index over one field can find.
  package enum Route: Sendable, Hashable {
    /// The objects whose values in the field have one of these keys; see `key(_:)`.
    case values(field: String, [Value])
    /// The objects whose values are between two bounds, both included. A bound that is nil sets no limit, and at least
    /// one bound is not nil. Numbers of all types have a common order, texts have the order of their bytes, and null
    /// has no order.
    case range(field: String, from: Value?, to: Value?)
    /// The objects whose values are texts that begin with the bytes of a text.
    case prefix(field: String, Value)

    /// The key of a value in an index. Values that filters take for equal, such as 1 and 1.0, have the same key.
    ///
    /// It is nil for a value that equals nothing.
    package static func key(_ value: Value) -> Value? { FilterOrder.key(value) }

    /// Whether an object belongs to the set.
    ///
    /// - Parameters:
    ///   - values: the values of the object in the fields that filters may use.
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

    /// The rank of the route. The route with the lowest rank is taken.
    fileprivate var rank: Int {
      switch self {
      case .values(_, let keys): keys.count
      case .prefix: .max - 2
      case .range(_, let from, let to): from == nil || to == nil ? .max : .max - 1
      }
    }
  }

  /// The routes by which the objects that match can be found, each by a lookup of one field. Each object that matches
  /// is covered by at least one of them.
  ///
  /// The routes may cover other objects too. A term that no object can match for this user has no route.
  ///
  /// - Returns: nil if an object may match that no index finds, so that all objects have to be looked at.
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

  /// Adds a condition of the term. Returns false if no object can meet the condition.
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
    // If a field has two bounds on one side, each of them gives a valid route. The first one is kept.
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
