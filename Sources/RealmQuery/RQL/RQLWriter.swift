import RealmStorage

/// Writes a syntax tree as RQL. The parts that are not written yet are in a stack of the writer, so that depth needs no
/// recursion.
struct RQLWriter {
  private enum Task {
    case text(String)
    case node(Int)
    case bracketed(Int)
  }

  private let syntax: QuerySyntax
  private var tasks: [Task] = []
  private var output = ""

  init(_ syntax: QuerySyntax) { self.syntax = syntax }

  mutating func write() throws(QueryError) -> String {
    tasks = [.node(syntax.root)]
    while let task = tasks.popLast() {
      switch task {
      case .text(let part): output += part
      case .node(let node): try write(node)
      case .bracketed(let node): tasks += [.text(")"), .node(node), .text("(")]
      }
    }
    for descriptor in syntax.descriptors { output += try text(descriptor) }
    return output
  }

  private mutating func write(_ index: Int) throws(QueryError) {
    let node = syntax.nodes[index]
    if let quantifier = node.quantifier { output += quantifier.rawValue + " " }
    switch node.kind {
    case .always: output += "TRUEPREDICATE"
    case .never: output += "FALSEPREDICATE"
    case .and(let parts): push(parts, " AND ") { [syntax] in syntax.isOr($0) ? .bracketed($0) : .node($0) }
    case .or(let parts): push(parts, " OR ") { .node($0) }
    case .not(let part):
      output += "NOT "
      tasks.append(syntax.nodes[part].kind.isJoin ? .bracketed(part) : .node(part))
    case .test(let left, let testOperator, let options, let right):
      let word = try word(testOperator, options, node)
      tasks += [.node(right), .text(" \(word) "), .node(left)]
    case .constant(let constant): output += try text(constant, node)
    case .path(let path): output += try text(path)
    case .argument(let position): output += "$\(position)"
    case .list(let elements):
      output += "{"
      tasks.append(.text("}"))
      push(elements, ", ") { .node($0) }
    case .arithmetic(let first, let rest): push(first, rest)
    case .subquery(let subquery):
      guard subquery.isCounted else { throw lacks("a SUBQUERY without its number of objects", node) }
      output += "SUBQUERY(\(try text(subquery.collection)), \(try name(subquery.variable, node)), "
      tasks += [.text(").@count"), .node(subquery.condition)]
    case .shape(let shape): output += text(shape)
    }
  }

  /// Writes nodes with a text between them, after what is written now.
  private mutating func push(_ nodes: [Int], _ separator: String, _ task: (Int) -> Task) {
    for (place, node) in nodes.enumerated().reversed() {
      tasks.append(task(node))
      if place > 0 { tasks.append(.text(separator)) }
    }
  }

  private mutating func push(_ first: Int, _ rest: [QuerySyntax.Operation]) {
    let isMultiplicative = rest[0].operation.isMultiplicative
    func task(_ node: Int) -> Task {
      guard case .arithmetic(_, let inner) = syntax.nodes[node].kind else { return .node(node) }
      return !isMultiplicative && inner[0].operation.isMultiplicative ? .node(node) : .bracketed(node)
    }
    for step in rest.reversed() {
      tasks += [task(step.operand), .text(" \(step.operation.rawValue) ")]
    }
    tasks.append(task(first))
  }

  private func word(
    _ testOperator: QuerySyntax.TestOperator, _ options: QuerySyntax.TestOptions, _ node: QuerySyntax.Node
  ) throws(QueryError) -> String {
    guard !options.contains(.ignoringDiacritics) else { throw lacks("the option [d]", node) }
    let word =
      switch testOperator {
      case .compare(.equal): "=="
      case .compare(.notEqual): "!="
      case .compare(.less): "<"
      case .compare(.lessOrEqual): "<="
      case .compare(.greater): ">"
      case .compare(.greaterOrEqual): ">="
      case .isIn: "IN"
      case .contains: "CONTAINS"
      case .beginsWith: "BEGINSWITH"
      case .endsWith: "ENDSWITH"
      case .like: "LIKE"
      case .matches: throw lacks("MATCHES", node)
      case .fullText: "TEXT"
      case .between: "BETWEEN"
      case .geoWithin: "GEOWITHIN"
      }
    if options.contains(.latin1Case) { return word + "[c1]" }
    return options.contains(.ignoringCase) ? word + "[c]" : word
  }

  private func lacks(_ what: String, _ node: QuerySyntax.Node) -> QueryError { lacks(what, node.range) }

  private func lacks(_ what: String, _ range: SourceRange) -> QueryError {
    QueryError(lacking: what, range)
  }

  // MARK: Paths

  private func text(_ descriptor: QuerySyntax.Descriptor) throws(QueryError) -> String {
    var parts: [String] = []
    switch descriptor {
    case .sort(let keys):
      for key in keys { parts.append(try text(key.path) + (key.isAscending ? " ASC" : " DESC")) }
      return " SORT(\(parts.joined(separator: ", ")))"
    case .distinct(let paths):
      for path in paths { parts.append(try text(path)) }
      return " DISTINCT(\(parts.joined(separator: ", ")))"
    case .limit(let number): return " LIMIT(\(number))"
    }
  }

  private func text(_ path: QuerySyntax.Path) throws(QueryError) -> String {
    let node = QuerySyntax.Node(.path(path), range: path.range)
    var text =
      switch path.start {
      case .object: ""
      case .selfWord: throw lacks("SELF", path.range)
      case .variable(let name): try self.name(name, node)
      case .argument(let position): "$K\(position)"
      }
    for step in path.steps {
      let part = try self.text(step, node)
      text += text.isEmpty || part.utf8.first == UInt8(ascii: "[") ? part : "." + part
    }
    return text
  }

  private func text(_ step: QuerySyntax.Step, _ node: QuerySyntax.Node) throws(QueryError) -> String {
    switch step {
    case .name(let name): try self.name(name, node)
    case .index(let index): "[\(index)]"
    case .key(let key): "[\(try quoted(key, node))]"
    case .argument(let position): "[$\(position)]"
    case .computed: throw lacks("an index that is computed", node)
    case .first: "[FIRST]"
    case .last: "[LAST]"
    case .all: "[*]"
    case .size: "[SIZE]"
    case .keys: "@keys"
    case .values: "@values"
    case .count: "@count"
    case .type: "@type"
    case .links(let from, let property): "@links.\(try name(from, node)).\(try name(property, node))"
    case .allLinks: "@links"
    case .aggregate(let aggregate): "@\(aggregate.rawValue)"
    case .unknownOperator(let name): throw lacks("the operator @\(name)", node)
    }
  }

  /// The text of a name, with its blanks escaped.
  private func name(_ name: String, _ node: QuerySyntax.Node) throws(QueryError) -> String {
    let escapes: [Character: String] = [" ": "\\ ", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\r\n": "\\r\\n"]
    let text = name.map { escapes[$0] ?? String($0) }.joined()
    guard let token = RQLWriter.onlyToken(text), case .word(let keyword) = token,
      keyword?.isName ?? true, RQLLexer.name(text) == name
    else { throw lacks("the name \(QueryError.shown(name))", node) }
    return text
  }
}

extension QuerySyntax {
  fileprivate func isOr(_ node: Int) -> Bool {
    if case .or = nodes[node].kind { true } else { false }
  }
}
