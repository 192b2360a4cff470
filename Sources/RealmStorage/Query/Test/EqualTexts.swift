/// Tests of the text at one place against many others, by the same options: it must equal one of them.
struct EqualTexts {
  let path: ColumnPath
  let options: TextOptions
  private(set) var values: [Value]

  private struct Place: Hashable {
    let path: ColumnPath
    let options: TextOptions
  }

  /// Those that some predicates are, of which one must hold, and the predicates that are none: few of one place remain as they are.
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
