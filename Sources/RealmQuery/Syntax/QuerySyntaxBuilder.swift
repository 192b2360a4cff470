extension QuerySyntax {
  /// Builds a tree of nodes, children first.
  ///
  /// Nodes may be added in any order in which children come before their parents. Nodes that the root does not reach
  /// are left out of the tree.
  public struct Builder: Sendable {
    private(set) var nodes: [Node] = []
    /// For each node, whether it is part of another one.
    private var isUsed: [Bool] = []

    /// Makes a builder without nodes.
    public init() {}

    /// The node with an index.
    public subscript(node: Int) -> Node { nodes[node] }

    /// Whether a node is part of another one, so that it may be part of no further one.
    public func isPart(_ node: Int) -> Bool { isUsed[node] }

    /// Adds a copy of the tree below a node of this or another builder.
    ///
    /// - Parameters:
    ///   - root: the index of the node in `other`.
    ///   - other: the builder that has the node.
    ///   - change: gets each node with its index in `other`, and returns the node to add. The children of the node are
    ///     the copies already.
    /// - Returns: the index of the copy of each node, by the index of the node in `other`.
    public mutating func add(
      copyOf root: Int, in other: Builder, _ change: (Int, Node) -> Node = { $1 }
    ) -> [Int: Int] {
      // A node comes after its children.
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

    /// Adds a node.
    ///
    /// - Returns: the index of the node, by which other nodes refer to it.
    /// - Precondition: its children were added before and are part of no other node; a chain of arithmetic has only `+`
    ///   and `-`, or only `*` and `/`. Otherwise the program stops.
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

    /// Sets the quantifier of a node, which the parser learns after it has added the node.
    mutating func set(quantifier: Quantifier, of node: Int) { nodes[node].quantifier = quantifier }

    /// Makes the tree below a node. Takes time in proportion to the number of nodes.
    ///
    /// - Precondition: `root` is the index of a condition. Otherwise the program stops.
    public func syntax(root: Int, descriptors: [Descriptor] = []) -> QuerySyntax {
      precondition(nodes[root].kind.isCondition, "QuerySyntax.Builder: the root is a condition")
      // Unless there are brackets, the parser adds nodes in their final order.
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

    /// Whether the nodes are those of the tree already, in the right order.
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

    /// For each node the index of the node that replaces it: the only remaining part of an AND or OR that has one,
    /// otherwise the node itself.
    private func standIns() -> [Int] {
      var stands = Array(nodes.indices)
      // The number of parts that each join has in the end, including those of joins of the same kind in it.
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

    /// The children of a node. For an AND, the parts of ANDs in it take their place, and for an OR likewise.
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
  /// Whether the node is a condition, and not a value.
  public var isCondition: Bool {
    switch self {
    case .always, .never, .and, .or, .not, .test: true
    default: false
    }
  }

  /// The indexes of the nodes that are its parts, from left to right.
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

  /// The same kind of node with other children: one for each that `forEachChild` visits, and any number for ANDs and
  /// ORs.
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
