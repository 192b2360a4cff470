import RealmStorage

/// The terms of a filter while it is made: for each term its conditions, all of which have to hold; and the number of
/// bytes that they take.
///
/// The functions that join terms count before they copy, so that no text makes them take much time or memory.
struct FilterTerms {
  typealias Condition = FieldFilter.Condition

  private(set) var terms: [[Condition]]
  /// The size of all conditions in bytes, about.
  private var size: Int

  /// The greatest size of the conditions of a filter in bytes, about.
  static let mostBytes = 1 << 16

  static let always = FilterTerms(terms: [[]], size: 0)
  static let never = FilterTerms(terms: [], size: 0)

  private init(terms: [[Condition]], size: Int) { (self.terms, self.size) = (terms, size) }

  init(_ condition: Condition) { self.init(terms: [[condition]], size: condition.size) }

  private var isAlways: Bool { terms.contains([]) }

  /// The terms of the objects that match at least one of some parts.
  ///
  /// Terms that only compare the same subject by `equal` become one term.
  static func any(_ parts: [FilterTerms]) throws(FilterProblem) -> FilterTerms {
    if parts.contains(where: { $0.isAlways }) { return always }
    var joined = never
    var equals: [FieldFilter.Subject: Int] = [:]
    for part in parts {
      joined.size += part.size
      try joined.check()
      for term in part.terms {
        guard term.count == 1, term[0].comparison == .equal else {
          joined.terms.append(term)
          continue
        }
        if let place = equals[term[0].subject] {
          joined.terms[place][0].operands += term[0].operands
        } else {
          equals[term[0].subject] = joined.terms.count
          joined.terms.append(term)
        }
      }
      try joined.check()
    }
    return joined
  }

  /// The terms of the objects that match all parts.
  static func all(_ parts: [FilterTerms]) throws(FilterProblem) -> FilterTerms {
    if parts.contains(where: { $0.terms.isEmpty }) { return never }
    var joined = always
    for part in parts where !part.isAlways {
      let count = joined.terms.count * part.terms.count
      joined.size = joined.size * part.terms.count + part.size * joined.terms.count
      guard count <= FieldFilter.mostTerms else { throw tooMany }
      try joined.check()
      if part.terms.count == 1 {
        for place in joined.terms.indices { joined.terms[place] += part.terms[0] }
      } else {
        joined.terms = joined.terms.flatMap { term in part.terms.map { term + $0 } }
      }
    }
    return joined
  }

  private func check() throws(FilterProblem) {
    guard terms.count <= FieldFilter.mostTerms else { throw Self.tooMany }
    guard size <= Self.mostBytes else {
      throw FilterProblem(
        code: FilterProblem.Code.tooLong,
        text:
          "The predicate takes more than \(Self.mostBytes) bytes when each of its alternatives is written "
          + "out: use fewer conditions, shorter lists, or several queries")
    }
  }

  private static let tooMany = FilterProblem(
    code: FilterProblem.Code.tooLong,
    text:
      "The predicate has more than \(FieldFilter.mostTerms) alternatives when AND is distributed over OR: "
      + "use fewer ORs inside ANDs, write `a IN {1, 2}` in place of `a == 1 OR a == 2`, or use "
      + "several queries"
  )
}

extension FieldFilter.Condition {
  /// The size of the condition in bytes, about.
  var size: Int {
    let name =
      switch subject {
      case .field(let name), .user(let name): name.utf8.count
      }
    return operands.reduce(name + 4) { size, operand in
      switch operand {
      case .value(.string(let text)): size + 4 + text.utf8.count
      case .value(.data(let bytes)): size + 4 + bytes.count
      case .value: size + 10
      case .user(let name): size + 2 + name.utf8.count
      case .partition: size + 1
      }
    }
  }
}
