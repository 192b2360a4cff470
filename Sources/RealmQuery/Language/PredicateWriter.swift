import RealmStorage

/// Makes the syntax tree of a query, with names and constants, from a condition with columns and values. This is the
/// inverse of `QueryBinder`.
///
/// Some conditions have a tree that RQL can't express but another language could. `QueryPrinter` throws an error for
/// such a tree.
struct PredicateWriter {
  /// The thing that conditions test: an object, or an element in a subquery.
  struct Scope {
    var table: TableSchema
    /// The variable of an element; nil for the tested object.
    var variable: String?
  }

  let names: QueryNames
  var builder = QuerySyntax.Builder()
  /// The number of subqueries so far, by which their variables are numbered.
  private var subqueries = 0

  init(_ names: QueryNames) { self.names = names }

  /// Makes the tree of a condition.
  ///
  /// - Parameter predicate: the condition in its plain form (`PlainForm`).
  mutating func syntax(_ predicate: Predicate, _ table: TableSchema) throws(QueryError) -> QuerySyntax {
    let root = try node(predicate, Scope(table: table))
    return builder.syntax(root: root)
  }

  func lacking(_ message: String) -> QueryError {
    QueryError(.invalidQuery, message, range: .none, in: nil)
  }

  // MARK: - Joins

  private enum Task {
    case visit(Predicate)
    case and(start: Int)
    case or(start: Int)
    case not
  }

  /// Adds the node of a condition, and returns its index. Conditions that are not written yet are in a stack of their
  /// own, so that depth needs no recursion. Only subqueries recurse, and at most `ValuePath.maximumSteps` of them are
  /// nested.
  private mutating func node(_ predicate: Predicate, _ scope: Scope) throws(QueryError) -> Int {
    var tasks: [Task] = [.visit(predicate)]
    var nodes: [Int] = []
    /// Replaces the nodes from an index on by one node.
    func replace(from start: Int, _ kind: ([Int]) -> QuerySyntax.Kind, _ builder: inout QuerySyntax.Builder) {
      let parts = Array(nodes[start...])
      nodes.removeSubrange(start...)
      nodes.append(builder.add(kind(parts)))
    }
    while let task = tasks.popLast() {
      switch task {
      case .visit(.and(let parts)):
        tasks.append(.and(start: nodes.count))
        for part in parts.reversed() { tasks.append(.visit(part)) }
      case .visit(.or(let parts)):
        tasks.append(.or(start: nodes.count))
        for part in parts.reversed() { tasks.append(.visit(part)) }
      case .visit(.not(let parts)):
        tasks.append(.not)
        for part in parts.prefix(1) { tasks.append(.visit(part)) }
      case .visit(let condition): nodes.append(try self.condition(condition, scope))
      case .and(let start): replace(from: start, { .and($0) }, &builder)
      case .or(let start): replace(from: start, { .or($0) }, &builder)
      case .not: replace(from: nodes.count - 1, { .not($0[0]) }, &builder)
      }
    }
    return nodes[0]
  }

  // MARK: - Conditions

  private mutating func condition(_ predicate: Predicate, _ scope: Scope) throws(QueryError) -> Int {
    switch predicate {
    case .always, .and, .or, .not: return builder.add(.always)
    case .never: return builder.add(.never)
    case .compare(let path, let comparison, let value):
      let words = try words(path, scope)
      return test(words, .compare(comparison), try constant(value, beside: words))
    case .text(let path, let match, let value, let options):
      let words = try words(path, scope)
      return test(words, match.testOperator, try constant(value, beside: words), options)
    case .isIn(let path, let values):
      let words = try words(path, scope)
      return test(words, .isIn, try list(values, beside: words), quantifier: words.isMany ? .any : nil)
    case .between(let path, let low, let high):
      let words = try words(path, scope)
      return test(words, .between, try list([low, high], beside: words))
    case .count(let path, let comparison, let number):
      let elements = ValuePath.End.value(path.column)
      let words = try words(
        ValuePath(path.links.map { .links($0) }, .property(.count, of: elements)), scope)
      return test(words, .compare(comparison), builder.add(.constant(.value(.int(Int64(number))))))
    case .relation(let relation): return try self.relation(relation, scope)
    }
  }

  private mutating func test(
    _ words: PathWords, _ testOperator: QuerySyntax.TestOperator, _ right: Int, _ options: TextOptions = [],
    quantifier: QuerySyntax.Quantifier? = nil
  ) -> Int {
    let left = builder.add(.path(words.path), quantifier: quantifier)
    return builder.add(
      .test(left: left, operator: testOperator, options: .init(options), right: right))
  }

  private func words(_ path: ColumnPath, _ scope: Scope) throws(QueryError) -> PathWords {
    try words(ValuePath(path.links.map { .links($0) }, .value(path.column)), scope)
  }

  // MARK: - Relations

  private mutating func relation(_ relation: Relation, _ scope: Scope) throws(QueryError) -> Int {
    let left = try operand(relation.left, beside: relation.right, scope)
    let right = try operand(relation.right, beside: relation.left, scope)
    let testOperator: QuerySyntax.TestOperator
    var options: TextOptions = []
    switch relation.test {
    case .compare(.equal) where relation.right.expression.list != nil && relation.left.quantifier != nil:
      testOperator = .isIn
    case .compare(let comparison): testOperator = .compare(comparison)
    case .text(let match, let given): (testOperator, options) = (match.testOperator, given)
    }
    return builder.add(.test(left: left, operator: testOperator, options: .init(options), right: right))
  }

  private mutating func operand(
    _ side: Relation.Side, beside other: Relation.Side, _ scope: Scope
  ) throws(QueryError) -> Int {
    let expression = side.expression
    let quantifier = side.quantifier.map { QuerySyntax.Quantifier($0) }
    if let path = expression.path {
      if case .subquery = path.end { return try subquery(path, scope) }
      let words = try words(path, scope)
      // RQL has no quantifier before one value. If the other side is a list, ANY is meant without the word.
      return builder.add(.path(words.path), quantifier: words.isMany || words.isIndexed ? quantifier : nil)
    }
    var beside: PathWords?
    if let path = other.expression.path {
      if case .subquery = path.end {} else { beside = try words(path, scope) }
    }
    if let value = expression.constant { return try constant(value, beside: beside) }
    if let values = expression.list {
      return try list(values, beside: beside, quantifier: quantifier == .any ? nil : quantifier)
    }
    return try arithmetic(expression.parts, scope)
  }

  /// Adds the node of the number of elements that meet a condition.
  private mutating func subquery(_ path: ValuePath, _ scope: Scope) throws(QueryError) -> Int {
    guard path.steps.isEmpty, case .subquery(let steps, let condition) = path.end else {
      throw lacking("RQL has no SUBQUERY behind links")
    }
    let elements = try words(steps, scope)
    subqueries += 1
    let variable = "$x\(subqueries)"
    let root = try node(condition, Scope(table: elements.table, variable: variable))
    return builder.add(
      .subquery(.init(collection: elements.path, variable: variable, condition: root)))
  }

  /// Adds the node of a chain of arithmetic. Operations of equal precedence in a row are in one node.
  private mutating func arithmetic(_ parts: [Expression.Part], _ scope: Scope) throws(QueryError) -> Int {
    var stack: [(first: Int, rest: [QuerySyntax.Operation])] = []
    /// The chain that was made last, as the index of one node.
    func take(_ builder: inout QuerySyntax.Builder) -> Int {
      let chain = stack.removeLast()
      return chain.rest.isEmpty ? chain.first : builder.add(.arithmetic(first: chain.first, rest: chain.rest))
    }
    for part in parts {
      switch part {
      case .constant(let value): stack.append((try constant(value, beside: nil), []))
      case .list: throw lacking("RQL has no arithmetic with lists")
      case .path(let path):
        if case .subquery = path.end {
          stack.append((try subquery(path, scope), []))
        } else {
          stack.append((builder.add(.path(try words(path, scope).path)), []))
        }
      case .arithmetic(let arithmetic):
        let operation = QuerySyntax.ArithmeticOperator(arithmetic)
        let right = take(&builder)
        var left = stack[stack.count - 1]
        if left.rest.first?.operation.isMultiplicative != operation.isMultiplicative {
          left = (take(&builder), [])
          stack.append(left)
        }
        left.rest.append(.init(operation, right))
        stack[stack.count - 1] = left
      }
    }
    return take(&builder)
  }

  // MARK: - Constants

  private mutating func list(
    _ values: [Value], beside words: PathWords?, quantifier: QuerySyntax.Quantifier? = nil
  ) throws(QueryError) -> Int {
    var nodes: [Int] = []
    for value in values { nodes.append(try constant(value, beside: words)) }
    return builder.add(.list(nodes), quantifier: quantifier)
  }

  private mutating func constant(_ value: Value, beside words: PathWords?) throws(QueryError) -> Int {
    let constant: QuerySyntax.Constant
    switch value {
    case .float(let number): constant = .real(.init(number))
    case .double(let number): constant = .real(.init(number))
    case .decimal128(let stored) where words?.type == .decimal128: constant = Self.decimal(stored)
    case .int(let code) where words?.isType ?? false:
      guard let name = ValueType(rawValue: code)?.rqlName else { throw lacking("RQL has no such type") }
      constant = .value(.string(name))
    case .null, .bool, .int, .string, .data, .date, .objectID, .uuid: constant = .value(value)
    case .link, .typedLink, .list, .map, .decimal128:
      let label = words?.label ?? "A query"
      throw lacking(
        "\(label) is compared with \(value.constantName), which RQL has no text for: \(value.remedy)")
    }
    return builder.add(.constant(constant))
  }

  /// A decimal as a constant with its digits. A whole number that no integer can hold gets an exponent, so that it is
  /// not read as an integer.
  private static func decimal(_ stored: SixteenBytes) -> QuerySyntax.Constant {
    let number = DecimalNumber(stored)
    if number.isNaN { return .real(.init(text: "nan", isFloat: false)) }
    let text = number.shortText
    if number.isInfinite { return .real(.init(text: text.hasPrefix("-") ? "-inf" : "inf", isFloat: false)) }
    if let whole = Int64(text) { return .value(.int(whole)) }
    return .real(.init(text: text.contains(".") || text.contains("E") ? text : text + "E0", isFloat: false))
  }
}

extension TextMatch {
  fileprivate var testOperator: QuerySyntax.TestOperator {
    switch self {
    case .equal: .compare(.equal)
    case .notEqual: .compare(.notEqual)
    case .contains: .contains
    case .begins: .beginsWith
    case .ends: .endsWith
    case .like: .like
    }
  }
}

extension QuerySyntax.TestOptions {
  fileprivate init(_ options: TextOptions) {
    self = []
    if options.contains(.ignoringCase) { insert(.ignoringCase) }
    if options.contains(.latin1Case) { insert(.latin1Case) }
    if options.contains(.ignoringDiacritics) { insert(.ignoringDiacritics) }
  }
}

extension QuerySyntax.Quantifier {
  fileprivate init(_ quantifier: Relation.Quantifier) {
    self =
      switch quantifier {
      case .any: .any
      case .all: .all
      case .none: .none
      }
  }
}

extension QuerySyntax.ArithmeticOperator {
  fileprivate init(_ arithmetic: Expression.Arithmetic) {
    self =
      switch arithmetic {
      case .plus: .plus
      case .minus: .minus
      case .times: .times
      case .divided: .divided
      }
  }
}

extension Value {
  /// The description in messages of a constant that no text can express.
  fileprivate var constantName: String {
    switch self {
    case .link, .typedLink: "an object"
    case .list: "a list"
    case .map: "a dictionary"
    default: "a decimal that no double equals"
    }
  }

  fileprivate var remedy: String {
    switch self {
    case .link, .typedLink: "store the key of the object in a property of its own, and compare that"
    case .list, .map: "compare its elements"
    default: "give the property the type Decimal128, or compare it with a double"
    }
  }
}

extension ValueType {
  /// One of the names that RQL has for the type.
  fileprivate var rqlName: String {
    switch self {
    case .null: "null"
    case .bool: "bool"
    case .int: "int"
    case .float: "float"
    case .double: "double"
    case .decimal128: "decimal"
    case .string: "string"
    case .data: "binary"
    case .date: "date"
    case .objectID: "objectid"
    case .uuid: "uuid"
    case .link: "link"
    case .list: "list"
    case .map: "dictionary"
    }
  }
}
