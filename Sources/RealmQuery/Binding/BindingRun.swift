import RealmStorage

/// Binds one query. Two loops go over its nodes. The first loop goes backwards and finds the table in which the names
/// of each node are looked up. The second loop goes forwards and makes the predicate of each condition.
final class BindingRun {
  /// The object or the element that conditions are about.
  struct Scope {
    var table: QueryTable
    /// The name of the element in the condition of a subquery; nil in the scope of the whole query.
    var variable: String?
    /// The index of the scope around this one; nil for the scope of the whole query.
    var parent: Int?
    /// The number of subqueries around the conditions of this scope.
    var depth = 0
  }

  let binder: QueryBinder
  let nodes: [QuerySyntax.Node]
  private(set) var scopes: [Scope]
  /// The scope of each node, by the index of the node. It is empty if there is only one scope.
  private var scopeOfNode: [Int] = []
  /// The links that lead to the elements of each subquery, by the index of its node.
  private var collections: [Int: [ValuePath.Step]] = [:]
  /// The predicate of each node that is a condition, by the index of the node. Other nodes have `.always`.
  private var results: [Predicate] = []

  var isFormat: Bool { binder.language == .predicateFormat }

  init(_ binder: QueryBinder, _ nodes: [QuerySyntax.Node]) throws(QueryError) {
    guard let table = binder.names.find(binder.table) else {
      throw QueryError(
        .invalidQuery, "There is no table with the id \(binder.table)", range: .none, in: nil)
    }
    (self.binder, self.nodes) = (binder, nodes)
    scopes = [Scope(table: table, variable: nil, parent: nil)]
  }

  func scope(of node: Int) -> Int { scopeOfNode.isEmpty ? 0 : scopeOfNode[node] }

  // MARK: Errors

  func error(
    _ kind: QueryError.Kind, _ message: String, _ range: SourceRange, suggestion: String? = nil
  ) -> QueryError {
    QueryError(kind, message, range: range, in: binder.text.map { SourceText($0) }, suggestion: suggestion)
  }

  func invalid(_ message: String, _ range: SourceRange, suggestion: String? = nil) -> QueryError {
    error(.invalidQuery, message, range, suggestion: suggestion)
  }

  // MARK: The two loops

  func condition() throws(QueryError) -> Predicate {
    try findScopes()
    results = Array(repeating: .always, count: nodes.count)
    for index in nodes.indices {
      switch nodes[index].kind {
      case .always: break
      case .never: results[index] = .never
      case .and(let parts): results[index] = .and(parts.map { results[$0] })
      case .or(let parts): results[index] = .or(parts.map { results[$0] })
      case .not(let part): results[index] = .not(results[part])
      case .test(let left, let testOperator, let options, let right):
        let test = TestSyntax(
          left: left, testOperator: testOperator, options: options, right: right,
          range: nodes[index].range)
        if let found = simpleTest(test) {
          results[index] = found
        } else {
          results[index] = isFormat ? try formatTest(test) : try rqlTest(test)
        }
      case .constant, .path, .argument, .list, .arithmetic, .subquery, .shape: break
      }
    }
    return results[nodes.count - 1]
  }

  private func findScopes() throws(QueryError) {
    let hasSubqueries = nodes.contains { if case .subquery = $0.kind { true } else { false } }
    guard hasSubqueries else { return }
    scopeOfNode = Array(repeating: 0, count: nodes.count)
    for index in nodes.indices.reversed() {
      let scope = scopeOfNode[index]
      nodes[index].kind.forEachChild { scopeOfNode[$0] = scope }
      guard case .subquery(let subquery) = nodes[index].kind else { continue }
      scopeOfNode[subquery.condition] = try enter(subquery, index, from: scope)
    }
  }

  /// Makes the scope of a subquery's condition, and returns its index.
  private func enter(
    _ subquery: QuerySyntax.Subquery, _ node: Int, from scope: Int
  ) throws(QueryError) -> Int {
    let range = subquery.collection.range
    guard scopes[scope].depth < ValuePath.maximumSteps else {
      throw invalid("No more than \(ValuePath.maximumSteps) subqueries may stand in each other", range)
    }
    let (steps, table) = try elements(subquery.collection, scope)
    var outer: Int? = scope
    while let next = outer {
      if scopes[next].variable == subquery.variable, scopes[next].table.id == table.id {
        throw invalid(
          "The variable \(QueryError.shown(subquery.variable)) stands for an object of \(table.name) in an outer query already: use another name",
          range)
      }
      outer = scopes[next].parent
    }
    collections[node] = steps
    scopes.append(
      Scope(
        table: table, variable: subquery.variable, parent: scope, depth: scopes[scope].depth + 1))
    return scopes.count - 1
  }

  /// The links to the elements of a subquery's collection, and the table of these elements.
  private func elements(
    _ path: QuerySyntax.Path, _ scope: Int
  ) throws(QueryError) -> ([ValuePath.Step], QueryTable) {
    let found = try resolve(path, scope)
    var (steps, kinds) = (found.steps, ColumnCollection.list)
    switch found.end {
    case .row: break
    case .value(let position) where found.type == .link:
      kinds = found.owner.schema.columns[position].collection
      steps.append(.links(position))
    default: kinds = .none
    }
    let isMany = if case .backlinks? = steps.last { true } else { found.isCollection }
    guard found.type == .link, isMany, isFormat || kinds == .list,
      let table = binder.names.find(found.target)
    else {
      throw invalid(
        "SUBQUERY needs a \(isFormat ? "collection" : "list") of objects or inverse links, and \(found.label) is not one",
        path.range)
    }
    guard steps.count <= ValuePath.maximumSteps else { throw tooLong(path.range) }
    return (steps, table)
  }

  func tooLong(_ range: SourceRange) -> QueryError {
    invalid("A path has no more than \(ValuePath.maximumSteps) steps", range)
  }

  // MARK: Subqueries

  /// The path whose value is the number of elements that meet the condition of a subquery.
  func count(_ subquery: QuerySyntax.Subquery, _ node: Int) -> ResolvedPath {
    ResolvedPath(
      end: .subquery(collections[node] ?? [], results[subquery.condition]), type: .int64, form: .subquery,
      owner: scopes[scope(of: node)].table)
  }
}

/// A test in the syntax tree. The sides are the indexes of their nodes.
struct TestSyntax {
  var left: Int
  var testOperator: QuerySyntax.TestOperator
  var options: QuerySyntax.TestOptions
  var right: Int
  var range: SourceRange
}
