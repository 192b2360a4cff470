import RealmQuery
import RealmStorage

/// The parts of a query that its closure has made so far: the nodes of its conditions, and the values with which they
/// compare.
///
/// All parts of one query share one draft and name their nodes by index. A condition can therefore be joined to many
/// others in constant time, and no code recurses, however deep conditions are nested.
final class QueryDraft {
  private(set) var builder = QuerySyntax.Builder()
  private(set) var values: [QueryValue] = []
  /// The positions of those steps in a path that lead to collections, by the node of the path.
  private var collections: [Int: [Int]] = [:]
  private var subqueries = 0
  /// The conditions that are printed as others: the node that is printed, by the node of the condition.
  private(set) var printed: [Int: Int] = [:]

  /// Lets a condition be printed as another one.
  func print(_ node: Int, as other: Int) { printed[node] = other }

  // MARK: - Adding

  func add(_ kind: QuerySyntax.Kind) -> Int { builder.add(kind) }

  /// - Parameter isQuantified: whether it is enough that a condition holds for one of the values, if the path may lead
  ///   to several.
  func add(_ path: QueryPath, isQuantified: Bool = true) -> Int {
    let isMany = isQuantified && !path.collections.isEmpty && !path.isOneNumber
    let node = builder.add(
      .path(QuerySyntax.Path(steps: path.steps)), quantifier: isMany ? .any : nil)
    if !path.collections.isEmpty { collections[node] = path.collections }
    return node
  }

  func add(_ value: QueryValue) -> Int { builder.add(.argument(keep(value))) }

  /// Keeps a value, and returns its position among the arguments.
  func keep(_ value: QueryValue) -> Int {
    values.append(value)
    return values.count - 1
  }

  /// Makes a node of a draft usable as a part of another node of this draft. A node that is a part already is copied.
  func own(_ node: Int, of draft: QueryDraft) -> Int {
    if draft === self {
      guard builder.isPart(node) else { return node }
      return copy(node, of: builder, collections) { $1 }
    }
    let offset = values.count
    values += draft.values
    return copy(node, of: draft.builder, draft.collections) { _, node in
      var node = node
      node.kind = node.kind.withArguments(movedBy: offset)
      return node
    }
  }

  private func copy(
    _ root: Int, of other: QuerySyntax.Builder, _ collections: [Int: [Int]],
    _ change: (Int, QuerySyntax.Node) -> QuerySyntax.Node
  ) -> Int {
    let copies = builder.add(copyOf: root, in: other, change)
    for (node, copy) in copies where collections[node] != nil { self.collections[copy] = collections[node] }
    return copies[root] ?? root
  }

  /// The nodes. If both are the same node, the second one becomes a copy.
  func distinct(_ nodes: [Int]) -> [Int] {
    guard nodes.count == 2, nodes[0] == nodes[1] else { return nodes }
    return [nodes[0], copy(nodes[1], of: builder, collections) { $1 }]
  }

  // MARK: - Subqueries

  /// Makes the node for the number of elements of a collection that meet a condition. The collection is the first one
  /// to which a path of the condition leads.
  func subquery(_ condition: Int) -> Int {
    guard let collection = collection(of: condition) else {
      raise(
        "Invalid subquery",
        "count asks how many elements of a collection meet a condition, and this condition names no collection; "
          + "write it with a property of the collection's objects, as in ($0.dogs.age > 3).count.")
    }
    subqueries += 1
    // No other name in a query starts with this character and a digit.
    let variable = "$\(subqueries)"
    var shortened: [Int: [Int]] = [:]
    let copies = builder.add(copyOf: condition, in: builder) { index, node in
      guard case .path(var path) = node.kind, path.start == .object, path.steps.starts(with: collection)
      else { return node }
      var node = node
      path.start = .variable(variable)
      path.steps.removeFirst(collection.count)
      node.kind = .path(path)
      // The variable stands for a single object.
      let rest = (self.collections[index] ?? []).filter { $0 >= collection.count }.map {
        $0 - collection.count
      }
      if rest.isEmpty { node.quantifier = nil } else { shortened[index] = rest }
      return node
    }
    for (node, rest) in shortened { if let copy = copies[node] { collections[copy] = rest } }
    return builder.add(
      .subquery(
        .init(
          collection: .init(steps: collection), variable: variable, condition: copies[condition] ?? condition)
      ))
  }

  /// The steps to the first collection to which a path of the condition leads.
  private func collection(of condition: Int) -> [QuerySyntax.Step]? {
    var rest = [condition]
    while let next = rest.popLast() {
      switch builder[next].kind {
      case .path(let path):
        if path.start == .object, let first = collections[next]?.first { return Array(path.steps[...first]) }
      case .subquery(let inner): return inner.collection.steps
      default: break
      }
      rest += builder[next].kind.children.reversed()
    }
    return nil
  }
}

/// A path from the object that a query tests to a value.
struct QueryPath {
  private(set) var steps: [QuerySyntax.Step] = []
  /// The positions of the steps that lead to collections whose elements are tested.
  private(set) var collections: [Int] = []
  /// Whether the end of the path is a number of elements, or a number that is computed from them.
  private(set) var isOneNumber = false

  func adding(_ names: [String]) -> QueryPath {
    var path = self
    for name in names { path.steps.append(.name(name)) }
    return path
  }

  func adding(_ step: QuerySyntax.Step) -> QueryPath {
    var path = self
    path.steps.append(step)
    return path
  }

  /// This path, changed so that its last step leads to a collection whose elements are tested.
  var elements: QueryPath {
    var path = self
    if !steps.isEmpty, collections.last != steps.count - 1 { path.collections.append(steps.count - 1) }
    return path
  }

  var count: QueryPath {
    var path = adding(.count)
    path.isOneNumber = true
    return path
  }

  /// A path to one number that is computed from the values at the end of this path. The operator is placed behind the
  /// last collection of the path, or at the end if there is none.
  func aggregate(_ aggregate: QuerySyntax.Aggregate) -> QueryPath {
    var path = self
    path.steps.insert(.aggregate(aggregate), at: collections.last.map { $0 + 1 } ?? steps.count)
    path.isOneNumber = true
    return path
  }
}

extension QuerySyntax.Kind {
  /// This kind, with the positions of its arguments increased by `offset`.
  fileprivate func withArguments(movedBy offset: Int) -> Self {
    switch self {
    case .argument(let place): return .argument(place + offset)
    case .path(var path):
      path.moveArguments(by: offset)
      return .path(path)
    case .subquery(var subquery):
      subquery.collection.moveArguments(by: offset)
      return .subquery(subquery)
    default: return self
    }
  }
}

extension QuerySyntax.Path {
  fileprivate mutating func moveArguments(by offset: Int) {
    for (place, step) in steps.enumerated() {
      if case .argument(let argument) = step { steps[place] = .argument(argument + offset) }
    }
  }
}
