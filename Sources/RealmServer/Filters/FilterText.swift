import RealmQuery
import RealmStorage

extension FieldFilter {
  /// What a predicate is for.
  package enum Purpose: Sendable {
    /// A query of a client, which knows nothing of users.
    case query
    /// A rule of the server: it may say `$user.id`, `$user.roles`, `$user.custom_data.<name>` and
    /// `$partition`.
    case rule
  }

  /// A text has so many bytes at most.
  package static let mostTextBytes = 8192

  /// Makes a filter from a predicate in Realm's query language.
  ///
  /// Filters know AND, OR, NOT, comparisons, IN, BETWEEN, BEGINSWITH, ENDSWITH and CONTAINS of the object's
  /// own properties with constants. They mean what the language means elsewhere: where a property is of
  /// strings, null comes before all strings, so that `name < "b"` finds it.
  ///
  /// - Parameters:
  ///   - text: the predicate; an empty one matches everything.
  ///   - table: the name of the class, for messages.
  ///   - fields: the properties that filters may use.
  ///   - purpose: what the predicate is for.
  ///   - type: the type of such a property; nil where it is not known yet. Constants are then kept as they
  /// read, and a
  ///     property that is compared with a string is taken for one of strings.
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

/// Makes the terms of a filter from a tree, by loops over its nodes: no depth of brackets needs the stack of
/// the thread.
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

  /// By node whether its terms are those of what it says, or of the opposite; nil of nodes that are no
  /// conditions of the object itself.
  ///
  /// A NOT is pushed down to the tests in this way: each node stands in one other node, and has one sign.
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
    /// The terms of parts, which are needed no more.
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
