/// Tests of the text at one path against many constants with the same options: the text must equal one of them.
struct EqualTexts {
  let path: ColumnPath
  let options: TextOptions
  private(set) var values: [Value]

  private struct Place: Hashable {
    let path: ColumnPath
    let options: TextOptions
  }

  /// Joins the tests of equal texts among predicates of which one must hold. If there are only a few tests for a path
  /// and options, they remain as they are.
  ///
  /// - Returns: the joined tests, and the other predicates; nothing at all if no tests were joined.
  static func found(among parts: PredicateParts) -> (alike: [EqualTexts], rest: [Predicate]) {
    guard parts.count >= FoldedTexts.least else { return ([], []) }
    var found: [Place: EqualTexts] = [:]
    for case .text(let path, .equal, let value, let options) in parts {
      let place = Place(path: path, options: options)
      found[place, default: EqualTexts(path: path, options: options, values: [])].values.append(value)
    }
    let many = found.filter { $0.value.values.count >= FoldedTexts.least }
    if many.isEmpty { return ([], []) }
    let rest = parts.filter { part in
      guard case .text(let path, .equal, _, let options) = part else { return true }
      return many[Place(path: path, options: options)] == nil
    }
    return (Array(many.values), rest)
  }
}
