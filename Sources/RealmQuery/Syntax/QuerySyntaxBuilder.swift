extension QuerySyntax {
  /// Joins a tree from its nodes, children first.
  ///
  /// Nodes may be added in any order that puts children before their parents; those that the root does not reach are left
  /// out of the tree.
  public struct Builder: Sendable {
    private(set) var nodes: [Node] = []
    /// Whether a node stands in another one.
    private var isUsed: [Bool] = []

    /// Makes a builder without nodes.
    public init() {}

    /// A node that was added.
    public subscript(node: Int) -> Node { nodes[node] }

    /// Whether a node stands in another one, and may stand in no more.
    public func isPart(_ node: Int) -> Bool { isUsed[node] }

    /// Adds a copy of the tree below a node, of this builder or another one. The answer has the index of the copy of each node, by the node's own.
    ///
    /// - Parameter change: is given each node with its index before a copy of it is added. The children of the node are copies by then.
    public mutating func add(
      copyOf root: Int, in other: Builder, _ change: (Int, Node) -> Node = { $1 }
    ) -> [Int: Int] {
      // A node comes behind its children.
      var (reached, rest): (Set<Int>, [Int]) = ([], [root])
      while let next = rest.popLast() {
        reached.insert(next)
        rest += other.nodes[next].kind.children
      }
      var copies: [Int: Int] = [:]
      for index in reached.sorted() {
        var node = other.nodes[index]
        node.kind = node.kind.withChildren(node.kind.children.map { copies[$0] ?? $0 }[...])
        node = change(index, node)
        copies[index] = add(node.kind, quantifier: node.quantifier, range: node.range)
      }
      return copies
    }

    /// Adds a node and returns its index, by which other nodes name it.
    ///
    /// - Precondition: its children were added before and stand in no other node; all operators of a chain of arithmetic
    ///   bind equally tightly.
    public mutating func add(
      _ kind: Kind, quantifier: Quantifier? = nil, range: SourceRange = .none
    ) -> Int {
      kind.forEachChild { child in
        precondition(nodes.indices.contains(child), "QuerySyntax.Builder: add children before their parents")
        precondition(!isUsed[child], "QuerySyntax.Builder: a node stands in one other node only")
        isUsed[child] = true
      }
      if case .arithmetic(_, let rest) = kind {
        precondition(
          Set(rest.map(\.operation.isMultiplicative)).count == 1,
          "QuerySyntax.Builder: `+` and `-` stand in one chain, `*` and `/` in another")
      }
      if nodes.isEmpty { nodes.reserveCapacity(32) }
      nodes.append(Node(kind, quantifier: quantifier, range: range))
      isUsed.append(false)
      return nodes.count - 1
    }

    /// Sets what the parser learns of a node after it was added.
    mutating func set(quantifier: Quantifier, of node: Int) { nodes[node].quantifier = quantifier }

    /// The tree below a node. It takes time in proportion to the number of nodes.
    ///
    /// - Precondition: `root` is the index of a condition.
    public func syntax(root: Int, descriptors: [Descriptor] = []) -> QuerySyntax {
      precondition(nodes[root].kind.isCondition, "QuerySyntax.Builder: the root is a condition")
      // The parser adds nodes in the order that they have in the end, where no brackets stand in the way.
      if isOrdered(root) { return QuerySyntax(nodes: nodes, descriptors: descriptors) }
      let stands = standIns()
      var (ordered, results): ([Node], [Int]) = ([], [])
      ordered.reserveCapacity(nodes.count)
      var tasks: [(node: Int, parts: Int?)] = [(stands[root], nil)]
      while let task = tasks.popLast() {
        guard let parts = task.parts else {
          let children = flatChildren(of: task.node, stands)
          tasks.append((task.node, children.count))
          for child in children.reversed() { tasks.append((child, nil)) }
          continue
        }
        var node = nodes[task.node]
        node.kind = node.kind.withChildren(results[(results.count - parts)...])
        results.removeLast(parts)
        results.append(ordered.count)
        ordered.append(node)
      }
      return QuerySyntax(nodes: ordered, descriptors: descriptors)
    }

    /// Whether the nodes are those of the tree already, in its order.
    private func isOrdered(_ root: Int) -> Bool {
      guard root == nodes.count - 1 else { return false }
      // The first node of the tree below each node.
      var starts = Array(nodes.indices)
      for index in nodes.indices {
        let kind = nodes[index].kind
        let children = kind.children
        var next = index
        for child in children.reversed() {
          guard child == next - 1, !(kind.isJoin && kind.isJoin(like: nodes[child].kind)) else {
            return false
          }
          next = starts[child]
        }
        guard !kind.isJoin || children.count > 1 else { return false }
        starts[index] = next
      }
      return starts[root] == 0
    }

    /// For each node the one that stands in its place: of an AND or OR that has one part in the end, that part; else itself.
    private func standIns() -> [Int] {
      var stands = Array(nodes.indices)
      // So many parts a join has in the end, with those of like joins in it.
      var counts = Array(repeating: 0, count: nodes.count)
      for (index, node) in nodes.enumerated() where node.kind.isJoin {
        var last = index
        for part in node.kind.children.lazy.map({ stands[$0] }) {
          let count = nodes[part].kind.isJoin(like: node.kind) ? counts[part] : 1
          counts[index] += count
          if count > 0 { last = part }
        }
        if counts[index] == 1 { stands[index] = last }
      }
      return stands
    }

    /// The children of a node; of an AND the parts of ANDs in it in their place, and so of an OR.
    private func flatChildren(of node: Int, _ stands: [Int]) -> [Int] {
      let kind = nodes[node].kind
      let children = kind.children.map { stands[$0] }
      guard kind.isJoin, children.contains(where: { nodes[$0].kind.isJoin(like: kind) }) else {
        return children
      }
      var (rest, flat): ([Int], [Int]) = (children.reversed(), [])
      while let next = rest.popLast() {
        if nodes[next].kind.isJoin(like: kind) {
          rest += nodes[next].kind.children.reversed().lazy.map { stands[$0] }
        } else {
          flat.append(next)
        }
      }
      return flat
    }
  }
}

extension QuerySyntax.Kind {
  /// Whether it is a condition, and not a value.
  public var isCondition: Bool {
    switch self {
    case .always, .never, .and, .or, .not, .test: true
    default: false
    }
  }

  /// The nodes that stand in it, from left to right.
  public var children: [Int] {
    var children: [Int] = []
    forEachChild { children.append($0) }
    return children
  }

  func forEachChild(_ body: (Int) -> Void) {
    switch self {
    case .and(let parts), .or(let parts), .list(let parts): parts.forEach(body)
    case .not(let part): body(part)
    case .test(let left, _, _, let right):
      body(left)
      body(right)
    case .arithmetic(let first, let rest):
      body(first)
      rest.forEach { body($0.operand) }
    case .path(let path): path.forEachChild(body)
    case .subquery(let subquery):
      subquery.collection.forEachChild(body)
      body(subquery.condition)
    case .always, .never, .constant, .argument, .shape: break
    }
  }

  var isJoin: Bool {
    switch self {
    case .and, .or: true
    default: false
    }
  }

  func isJoin(like other: Self) -> Bool {
    switch (self, other) {
    case (.and, .and), (.or, .or): true
    default: false
    }
  }

  /// The same with other nodes in it, one for each that `forEachChild` gives; of ANDs and ORs, any number.
  func withChildren(_ children: ArraySlice<Int>) -> Self {
    var rest = children
    switch self {
    case .and: return children.isEmpty ? .always : .and(Array(children))
    case .or: return children.isEmpty ? .never : .or(Array(children))
    case .list: return .list(Array(children))
    case .not: return .not(rest.removeFirst())
    case .test(_, let testOperator, let options, _):
      return .test(
        left: rest.removeFirst(), operator: testOperator, options: options, right: rest.removeFirst())
    case .arithmetic(_, let operations):
      let first = rest.removeFirst()
      return .arithmetic(first: first, rest: operations.map { .init($0.operation, rest.removeFirst()) })
    case .path(let path): return .path(path.withChildren(&rest))
    case .subquery(var subquery):
      subquery.collection = subquery.collection.withChildren(&rest)
      subquery.condition = rest.removeFirst()
      return .subquery(subquery)
    case .always, .never, .constant, .argument, .shape: return self
    }
  }
}

extension QuerySyntax.Path {
  func forEachChild(_ body: (Int) -> Void) {
    for case .computed(let node) in steps { body(node) }
  }

  func withChildren(_ children: inout ArraySlice<Int>) -> Self {
    guard steps.contains(where: { if case .computed = $0 { true } else { false } }) else { return self }
    var path = self
    path.steps = steps.map { if case .computed = $0 { .computed(children.removeFirst()) } else { $0 } }
    return path
  }
}
