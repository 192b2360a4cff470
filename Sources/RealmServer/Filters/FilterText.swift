import RealmQuery
import RealmStorage

extension FieldFilter {
  /// What a predicate is for.
  package enum Purpose: Sendable {
    /// A query of a client. It can't refer to users.
    case query
    /// A rule of the server. It may refer to `$user.id`, `$user.roles`, `$user.custom_data.<name>` and `$partition`.
    case rule
  }

  /// The greatest size of a predicate in bytes.
  package static let mostTextBytes = 8192

  /// Makes a filter from a predicate in Realm's query language.
  ///
  /// Filters know AND, OR, NOT, comparisons, IN, BETWEEN, BEGINSWITH, ENDSWITH and CONTAINS of the object's own
  /// properties with constants. They mean what the language means elsewhere: in a property of strings, null comes
  /// before all strings, so `name < "b"` matches null.
  ///
  /// - Parameters:
  ///   - text: the predicate; an empty one matches everything.
  ///   - table: the name of the class, for messages.
  ///   - fields: the properties that filters may use.
  ///   - purpose: what the predicate is for.
  ///   - type: the type of such a property; nil if it is not known yet. Then constants keep the type in which they are
  ///     written, and a property that is compared with a string is taken for one of strings.
  /// - Throws: `FilterProblem`, with a text that says what to do.
  package static func parse(
    _ text: String, of table: String, fields: [String], purpose: Purpose, type: (String) -> ColumnType?
  ) throws(FilterProblem) -> FieldFilter {
    guard text.utf8.count <= mostTextBytes else {
      throw FilterProblem(
        code: FilterProblem.Code.tooLong,
        text: "The predicate for \(FilterProblem.shown(table)) has \(text.utf8.count) bytes, and may have "
          + "\(mostTextBytes): shorten it, or use several queries")
    }
    let blanks: Set<Character> = [" ", "\t", "\n", "\r", "\r\n"]
    if text.allSatisfy({ blanks.contains($0) }) { return .everything }
    let syntax: QuerySyntax
    do throws(QueryError) {
      syntax = try QueryParser.rql(text)
    } catch {
      throw FilterProblem(
        code: FilterProblem.Code.unreadable,
        text: "The predicate for \(FilterProblem.shown(table)) can't be read. \(error.description)")
    }
    return try withoutActuallyEscaping(type) { type throws(FilterProblem) in
      let reader = FilterReader(
        syntax: syntax, source: Array(text.utf8), table: table, fields: fields, purpose: purpose, type: type)
      return FieldFilter(terms: try reader.terms())
    }
  }
}

/// Makes the terms of a filter from a syntax tree. It loops over the nodes and does not call itself, so that deep
/// brackets can't exhaust the stack of the thread.
struct FilterReader {
  let syntax: QuerySyntax
  let source: [UInt8]
  let table: String
  let fields: [String]
  let purpose: FieldFilter.Purpose
  let type: (String) -> ColumnType?

  func terms() throws(FilterProblem) -> [[FieldFilter.Condition]] {
    guard syntax.descriptors.isEmpty else {
      throw problem(
        "Filters have no SORT, DISTINCT and LIMIT: leave them out, and sort what is found", at: .none)
    }
    let signs = try signs()
    var made: [FilterTerms] = Array(repeating: .never, count: syntax.nodes.count)
    for (place, node) in syntax.nodes.enumerated() {
      guard let sign = signs[place] else { continue }
      made[place] = try terms(node, sign, &made)
    }
    return made[syntax.root].terms
  }

  /// For each node, true if its terms are those of its condition, and false if they are those of the opposite; nil for
  /// nodes that are not conditions of the object itself.
  ///
  /// A NOT is pushed down to the tests in this way. Each node is a part of one other node only, so it has one sign.
  private func signs() throws(FilterProblem) -> [Bool?] {
    var signs: [Bool?] = Array(repeating: nil, count: syntax.nodes.count)
    signs[syntax.root] = true
    for (place, node) in syntax.nodes.enumerated().reversed() {
      guard let sign = signs[place] else { continue }
      switch node.kind {
      case .and(let parts), .or(let parts): for part in parts { signs[part] = sign }
      case .not(let part): signs[part] = !sign
      case .always, .never, .test: break
      default: throw problem("A comparison is needed here, such as `name == \"x\"`", at: node.range)
      }
    }
    return signs
  }

  private func terms(
    _ node: QuerySyntax.Node, _ sign: Bool, _ made: inout [FilterTerms]
  ) throws(FilterProblem) -> FilterTerms {
    /// Returns the terms of parts, and removes them, because they are needed only once.
    func take(_ parts: [Int]) -> [FilterTerms] {
      parts.map { part in
        defer { made[part] = .never }
        return made[part]
      }
    }
    switch node.kind {
    case .always: return sign ? .always : .never
    case .never: return sign ? .never : .always
    case .not(let part): return take([part])[0]
    case .and(let parts):
      let parts = take(parts)
      if sign { return try .all(parts) }
      return try .any(parts)
    case .or(let parts):
      let parts = take(parts)
      if sign { return try .any(parts) }
      return try .all(parts)
    case .test(let left, let testOperator, let options, let right):
      let test = FilterTest(
        left: try operand(left), right: try operand(right), testOperator: testOperator, isWanted: sign,
        range: node.range)
      guard options.isEmpty else {
        throw problem("Filters compare texts by their bytes: leave out `[c]`", at: node.range)
      }
      return try terms(test)
    default: return .never
    }
  }

  func problem(
    _ message: String, code: UInt32 = FilterProblem.Code.unreadable, at range: SourceRange
  ) -> FilterProblem {
    FilterProblem(
      code, "The predicate for \(FilterProblem.shown(table)) does not fit. \(message)", at: range, in: source)
  }
}
